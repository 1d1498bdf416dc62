#include "capi/map_plan.h"

#include <optional>
#include <string_view>

#include "capi/config_fields.h"
#include "roost/compact/lookup_groups.h"
#include "roost/hash/random_seed.h"
#include "roost/table/entry.h"

namespace roost::capi {
namespace {

using compact::ImageKind;

constexpr std::string_view kMapType = "roost_map_config";
constexpr std::string_view kImageType = "roost_map_image";
constexpr size_t kParrotKeyBytesMax = sizeof(uint64_t);

std::string number(uint32_t value) { return std::to_string(value); }

// Fields that have no effect beside others are refused.
std::optional<Error> not_of_line_maps(const roost_map_config& config) {
  const char* field = config.key_bits != 0    ? "key_bits"
                      : config.insertion != 0 ? "insertion"
                      : config.growth != 0    ? "growth"
                      : config.is_big_endian  ? "is_big_endian"
                                              : nullptr;
  if (field == nullptr) return std::nullopt;
  return refusal(kMapType, field, "is Parrot's, and kind is ROOST_MAP_LINE; leave it 0");
}

std::optional<Error> wrong_keys(const roost_map_config& config) {
  const bool is_parrot = config.kind == ROOST_MAP_PARROT;
  if (!is_parrot && config.kind != ROOST_MAP_LINE)
    return refusal(kMapType, "kind", "is " + number(config.kind) + "; it is one of roost_map_kind");
  const size_t max = is_parrot ? kParrotKeyBytesMax : kKeyBytesMax;
  if (config.key_bytes == 0 || config.key_bytes > max) {
    return refusal(kMapType, "key_bytes",
                   "is " + number(config.key_bytes) + "; it is 1 to " + std::to_string(max) +
                       (is_parrot ? " for Parrot; longer keys take ROOST_MAP_LINE" : ""));
  }
  if (!is_parrot) return not_of_line_maps(config);
  if (config.key_bits > 8 * config.key_bytes) {
    return refusal(kMapType, "key_bits",
                   "is " + number(config.key_bits) + "; keys of " + number(config.key_bytes) +
                       " bytes have " + number(8 * config.key_bytes));
  }
  if (config.insertion > ROOST_MAP_STASH) {
    return refusal(kMapType, "insertion",
                   "is " + number(config.insertion) + "; it is one of roost_map_insertion");
  }
  return std::nullopt;
}

// The defaults of fields that are zero are the structs'.
void set_line(const roost_map_config& config, compact::LineMapConfig& line) {
  if (config.value_bits != 0) line.value_bits = config.value_bits;
  if (config.load != 0) line.load = config.load;
  line.fingerprint_bits = config.fingerprint_bits;
  line.keeps_keys = config.keeps_keys;
  if (config.has_hash_seed) line.hash_seed = config.hash_seed;
}

void set_parrot(const roost_map_config& config, compact::ParrotConfig& parrot) {
  parrot.key_bits = config.key_bits != 0 ? config.key_bits : 8 * config.key_bytes;
  if (config.value_bits != 0) parrot.value_bits = config.value_bits;
  if (config.load != 0) parrot.load = config.load;
  if (config.growth != 0) parrot.growth = config.growth;
  parrot.fingerprint_bits = config.fingerprint_bits;
  parrot.keeps_keys = config.keeps_keys;
  parrot.policy = config.insertion == ROOST_MAP_STASH ? compact::InsertionPolicy::kStash
                                                      : compact::InsertionPolicy::kReseed;
  parrot.hash_seed = config.has_hash_seed ? config.hash_seed : random_seed();
}

Result<ArenaOptions> memory_of(std::string_view type, uint32_t page_kind, int32_t node) {
  const auto pages = pages_of(type, page_kind);
  if (!pages) return pages.error();
  const auto numa_node = numa_node_of(type, node);
  if (!numa_node) return numa_node.error();
  return ArenaOptions{.pages = pages.value(), .numa_node = numa_node.value()};
}

}  // namespace

Result<MapPlan> plan_of(const roost_map_config& theirs) {
  const auto known = known_fields(kMapType, theirs);
  if (!known) return known.error();
  const roost_map_config& config = known.value();
  if (auto error = wrong_keys(config)) return *error;
  if (config.hash_seed != 0 && !config.has_hash_seed) {
    return refusal(kMapType, "hash_seed", "is set without has_hash_seed; set both, or leave it 0");
  }
  const auto memory = memory_of(kMapType, config.pages, config.numa_node);
  if (!memory) return memory.error();
  const bool is_parrot = config.kind == ROOST_MAP_PARROT;
  MapPlan plan{.key_form = {is_parrot ? ImageKind::kParrot : ImageKind::kLineMap, config.key_bytes,
                            config.is_big_endian},
               .line = {.memory = memory.value()},
               .parrot = {.memory = memory.value()}};
  if (is_parrot) {
    set_parrot(config, plan.parrot);
  } else {
    set_line(config, plan.line);
  }
  if (const auto wrong = compact::wrong_widths(plan.value_bits(), config.fingerprint_bits))
    return Error{std::string(kMapType) + ": " + wrong->message};
  return plan;
}

Result<ImagePlan> plan_of(const roost_map_image& theirs) {
  const auto known = known_fields(kImageType, theirs);
  if (!known) return known.error();
  const roost_map_image& image = known.value();
  if (image.key_bytes == 0 || image.key_bytes > kKeyBytesMax) {
    return refusal(
        kImageType, "key_bytes",
        "is " + number(image.key_bytes) + "; it is 1 to " + std::to_string(kKeyBytesMax));
  }
  if ((image.path == nullptr) == (image.memory == nullptr)) {
    return refusal(kImageType, "path and memory",
                   "are both NULL or both set; set the one that has the image");
  }
  if ((image.memory == nullptr) != (image.memory_bytes == 0)) {
    return refusal(kImageType, "memory and memory_bytes",
                   "go together; set both, or neither and path");
  }
  if (image.memory != nullptr && (image.pages != 0 || image.numa_node != -1)) {
    return refusal(kImageType, "memory",
                   "is read where it is, but pages or numa_node say what to copy it to; leave them "
                   "alone");
  }
  const auto copy = memory_of(kImageType, image.pages, image.numa_node);
  if (!copy) return copy.error();
  return ImagePlan{.path = image.path != nullptr ? image.path : "",
                   .memory = {static_cast<const std::byte*>(image.memory), image.memory_bytes},
                   .key_bytes = image.key_bytes,
                   .is_big_endian = image.is_big_endian,
                   .audits = image.audits,
                   .copy = copy.value()};
}

}  // namespace roost::capi
