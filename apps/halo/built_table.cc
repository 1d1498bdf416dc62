#include "apps/halo/built_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include "roost/table/save_table.h"
#include "roost/traffic/key.h"
#include "sim/saved_table.h"

namespace roost::halo {

namespace {

using traffic::Key104;
using traffic::Key128;

constexpr uint64_t kPaperSlots = 8;

template <LayoutChoice kChoice>
struct BuiltPolicies : DefaultPolicies {
  static constexpr LayoutChoice kLayout = kChoice;
};

Key128 key_of_number(uint64_t number, uint64_t seed) {
  return {{traffic::mix(number + (seed << 40) + 1), number}};
}

sim::KeyBytes padded(const void* key, size_t bytes) {
  sim::KeyBytes padded{};
  std::memcpy(padded.data(), key, bytes);
  return padded;
}

Error too_full(const BuildOptions& options, uint64_t held) {
  return Error{
      fmt::format("a table of load {} has room for {} of {} entries; build it with a lower "
                  "load",
                  options.load, held, options.entries)};
}

uint64_t paper_buckets(const BuildOptions& options) {
  const double slots = static_cast<double>(options.entries) / options.load;
  const auto buckets = static_cast<uint64_t>(std::ceil(slots / kPaperSlots));
  return std::bit_ceil(std::max<uint64_t>(buckets, 2));
}

Result<BuiltTable> build_paper(const BuildOptions& options) {
  auto table = sim::PaperTable::create(
      {.buckets = paper_buckets(options), .entries = options.entries, .seed = options.seed});
  if (!table) return table.error();
  BuiltTable built;
  for (uint64_t i = 0; i < options.entries; ++i) {
    const Key128 key = key_of_number(i, options.seed);
    if (!table.value().insert(std::as_bytes(std::span(&key, 1)), i)) return too_full(options, i);
    built.keys.push_back(padded(&key, sizeof(key)));
  }
  built.image = copy_of(table.value().image());
  return built;
}

template <class Key, class Value, LayoutChoice kChoice>
Result<BuiltTable> build_flows(const BuildOptions& options) {
  using Table = FlowTable<Key, Value, BuiltPolicies<kChoice>>;
  const auto capacity =
      static_cast<uint64_t>(std::ceil(static_cast<double>(options.entries) / options.load));
  auto table =
      Table::create({.capacity = std::max<uint64_t>(capacity, 64), .hash_seed = options.seed});
  if (!table) return table.error();
  BuiltTable built;
  for (uint64_t i = 0; i < options.entries; ++i) {
    const Key key = traffic::narrowed<Key>(key_of_number(i, options.seed));
    if (table.value().insert(key, Value{}) != InsertOutcome::kInserted) return too_full(options, i);
    built.keys.push_back(padded(&key, sizeof(key)));
  }
  built.image = copy_of(image_of(table.value()));
  return built;
}

}  // namespace

std::vector<std::byte> copy_of(std::span<const std::byte> image) {
  return {image.begin(), image.end()};
}

sim::KeyBytes key_not_built(const BuildOptions& options, uint64_t number) {
  const Key128 key = key_of_number(options.entries + number, options.seed);
  if (options.format != BuiltFormat::kInline) return padded(&key, sizeof(key));
  const auto narrow = traffic::narrowed<Key104>(key);
  return padded(&narrow, sizeof(narrow));
}

uint64_t built_bytes(const BuildOptions& options) {
  const double slots = static_cast<double>(options.entries) / options.load;
  switch (options.format) {
    case BuiltFormat::kPaper:
      return paper_buckets(options) * 64 + options.entries * 32;
    case BuiltFormat::kSplit:
      return static_cast<uint64_t>(slots * 40);
    case BuiltFormat::kInline:
      break;
  }
  return static_cast<uint64_t>(slots * 64 / 3);
}

Result<BuiltTable> build_table(const BuildOptions& options) {
  switch (options.format) {
    case BuiltFormat::kPaper:
      return build_paper(options);
    case BuiltFormat::kSplit:
      return build_flows<Key128, traffic::Value128, LayoutChoice::kSplit>(options);
    case BuiltFormat::kInline:
      break;
  }
  return build_flows<Key104, traffic::Value32, LayoutChoice::kInline>(options);
}

}  // namespace roost::halo
