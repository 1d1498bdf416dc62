#include "capi/table_plan.h"

#include <bit>
#include <string>
#include <string_view>

#include "capi/config_fields.h"
#include "roost/table/entry.h"
#include "roost/table/layout_choice.h"
#include "roost/table/table_image.h"

namespace roost::capi {
namespace {

constexpr std::string_view kType = "roost_config";

Error refusal(std::string_view field, const std::string& why) {
  return capi::refusal(kType, field, why);
}

Result<std::optional<Isa>> kernel_of(const char* name) {
  if (name == nullptr) return std::optional<Isa>{};
  std::string names;
  for (const Isa isa : isas_built()) {
    if (isa_name(isa) == name && isa_is_supported(isa)) return std::optional<Isa>{isa};
    if (isa_is_supported(isa)) names += (names.empty() ? "" : ", ") + std::string(isa_name(isa));
  }
  return refusal("kernel", "is \"" + std::string(name) + "\"; here it is one of " + names +
                               ", or NULL for the best");
}

Result<std::optional<PrefetchHint>> line_hint_of(const char* name) {
  if (name == nullptr) return std::optional<PrefetchHint>{};
  for (const PrefetchHint hint : kPrefetchHints) {
    if (hint_name(hint) == name) return std::optional{hint};
  }
  return refusal("line_hint",
                 "is \"" + std::string(name) + "\"; it is T0, T1 or NTA, or NULL for the fastest");
}

// Bits of a key that may be set.
unsigned key_bits_of(const roost_config& config) {
  return config.key_bits != 0 ? config.key_bits : 8 * config.key_bytes;
}

// Whether a packed table can be created; one that is asked for by itself may have too few slots.
bool packed_can_be(const roost_config& config) {
  return packed_fits(key_bits_of(config), config.value_bytes) && !config.expires;
}
bool packed_has_slots(const roost_config& config) {
  return config.capacity == 0 ||
         config.capacity >= packed_buckets_min(key_bits_of(config)) * kSlotsPerBucket;
}

Result<LayoutChoice> layout_of(const roost_config& config) {
  const std::string sizes =
      std::to_string(config.key_bytes) + " + " + std::to_string(config.value_bytes) + " bytes";
  switch (config.layout) {
    case ROOST_LAYOUT_AUTOMATIC:
      if (packed_can_be(config) && packed_has_slots(config)) return LayoutChoice::kPacked;
      return inline_costs_no_more(config.key_bytes, config.value_bytes) ? LayoutChoice::kInline
                                                                        : LayoutChoice::kSplit;
    case ROOST_LAYOUT_SPLIT:
      return LayoutChoice::kSplit;
    case ROOST_LAYOUT_INLINE:
      if (inline_slots(config.key_bytes, config.value_bytes) != 0) return LayoutChoice::kInline;
      return refusal("layout", "is ROOST_LAYOUT_INLINE, which has no room for " + sizes +
                                   " of key and value, but for keys of 4 to 16 bytes and 29 "
                                   "bytes in all (not 9 + 20); leave it 0");
    case ROOST_LAYOUT_PACKED:
      if (packed_can_be(config)) return LayoutChoice::kPacked;
      return refusal("layout", "is ROOST_LAYOUT_PACKED, which is not for " + sizes +
                                   " of key and value" + (config.expires ? " that expire" : "") +
                                   ", but for keys of 8 to 60 bits (key_bits says fewer than "
                                   "they have) and values of up to 2 bytes without expiry; leave "
                                   "it 0");
    default:
      return refusal("layout",
                     "is " + std::to_string(config.layout) + "; it is one of roost_layout");
  }
}

// Whether readers share the table; its layout is known.
Result<bool> is_shared(const roost_config& config, LayoutChoice layout) {
  if (config.access != ROOST_ACCESS_SHARED) {
    if (config.access != ROOST_ACCESS_EXCLUSIVE) {
      return refusal("access",
                     "is " + std::to_string(config.access) + "; it is one of roost_access");
    }
    if (config.version_counters == 0) return false;
    return refusal("version_counters",
                   "is set, but the table is one thread's; set access, or leave it 0");
  }
  if (layout != LayoutChoice::kPacked) {
    return refusal("access",
                   "is ROOST_ACCESS_SHARED, which is for packed tables: keys of 8 to 60 bits, "
                   "values of up to 2 bytes, without expiry; give each thread its own table, or "
                   "share one by roost::SharedTable of the C++ headers");
  }
  if (config.version_counters == 0 || std::has_single_bit(config.version_counters)) return true;
  return refusal("version_counters", "is " + std::to_string(config.version_counters) +
                                         "; it is a power of two, or 0 for 8,192");
}

BucketShape bucket_shape(const TablePlan& plan) {
  switch (plan.layout) {
    case LayoutChoice::kPacked:
      return {.slots = kSlotsPerBucket,
              .promised_load = kPackedPromisedLoad,
              .buckets_min = packed_buckets_min(plan.shape.key_bits)};
    case LayoutChoice::kInline:
      return plan.inline_slots == 2 ? BucketShape{2, InlineLine<2>::kPromisedLoad}
                                    : BucketShape{3, InlineLine<3>::kPromisedLoad};
    default:
      return {kSlotsPerBucket, kSplitPromisedLoad};
  }
}

// Fields that have no effect beside others are refused.
std::optional<Error> contradiction_in(const roost_config& config) {
  if (config.on_expiry != nullptr && !config.expires) {
    return refusal("on_expiry", "is set, but entries do not expire; set expires, or leave it NULL");
  }
  if (config.hash_seed != 0 && !config.has_hash_seed) {
    return refusal("hash_seed", "is set without has_hash_seed; set both, or leave it 0");
  }
  if ((config.memory == nullptr) != (config.memory_bytes == 0)) {
    return refusal("memory and memory_bytes",
                   "go together; set both, or neither, and the table maps its own");
  }
  if (config.memory != nullptr && (config.pages != 0 || config.numa_node != -1)) {
    return refusal("memory", "is lent, but pages or numa_node say what to map; leave them alone");
  }
  return std::nullopt;
}

std::optional<Error> out_of_range_in(const roost_config& config) {
  if (config.key_bytes == 0 || config.key_bytes > kKeyBytesMax) {
    return refusal("key_bytes", "is " + std::to_string(config.key_bytes) + "; it is 1 to " +
                                    std::to_string(kKeyBytesMax));
  }
  if (config.value_bytes > kValueBytesMax) {
    return refusal("value_bytes", "is " + std::to_string(config.value_bytes) + "; it is 0 to " +
                                      std::to_string(kValueBytesMax) +
                                      "; keep larger records elsewhere and their index here");
  }
  if (config.key_bits > 8 * config.key_bytes) {
    return refusal("key_bits", "is " + std::to_string(config.key_bits) + "; keys of " +
                                   std::to_string(config.key_bytes) + " bytes have " +
                                   std::to_string(8 * config.key_bytes));
  }
  return std::nullopt;
}

}  // namespace

Result<TablePlan> plan_of(const roost_config& theirs) {
  const Result<roost_config> known = known_fields(kType, theirs);
  if (!known) return known.error();
  const roost_config& config = known.value();
  if (auto error = out_of_range_in(config)) return *error;
  if (auto error = contradiction_in(config)) return *error;
  const auto pages = pages_of(kType, config.pages);
  if (!pages) return pages.error();
  const auto numa_node = numa_node_of(kType, config.numa_node);
  if (!numa_node) return numa_node.error();
  const auto kernel = kernel_of(config.kernel);
  if (!kernel) return kernel.error();
  const auto line_hint = line_hint_of(config.line_hint);
  if (!line_hint) return line_hint.error();
  const Result<LayoutChoice> layout = layout_of(config);
  if (!layout) return layout.error();
  const Result<bool> shared = is_shared(config, layout.value());
  if (!shared) return shared.error();

  TablePlan plan{.shape = {config.key_bytes, key_bits_of(config), config.value_bytes,
                           config.expires, config.numa_node},
                 .layout = layout.value(),
                 .inline_slots = inline_slots(config.key_bytes, config.value_bytes),
                 .is_shared = shared.value(),
                 .config = {.capacity = config.capacity,
                            .entries_max = config.entries_max,
                            .memory = {static_cast<std::byte*>(config.memory), config.memory_bytes},
                            .pages = pages.value(),
                            .numa_node = numa_node.value(),
                            .isa = kernel.value(),
                            .line_hint = line_hint.value()},
                 .on_expiry = config.on_expiry,
                 .on_expiry_context = config.on_expiry_context};
  if (config.version_counters != 0) plan.config.version_counters = config.version_counters;
  if (config.has_hash_seed) plan.config.hash_seed = config.hash_seed;
  return plan;
}

Result<TablePlan> creation_plan_of(const roost_config& config) {
  Result<TablePlan> plan = plan_of(config);
  if (!plan) return plan;
  const auto buckets = bucket_counts(plan.value().config, bucket_shape(plan.value()));
  if (!buckets) return buckets.error();
  return plan;
}

}  // namespace roost::capi
