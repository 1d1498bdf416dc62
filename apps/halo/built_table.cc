#include "apps/halo/built_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include "roost/table/save_table.h"
#include "sim/saved_table.h"

namespace roost::halo {

namespace {

using traffic::Key104;
using traffic::Key128;

constexpr uint64_t kPaperSlots = 8;
constexpr uint64_t kGrowthMax = 64;

template <LayoutChoice kChoice>
struct BuiltPolicies : DefaultPolicies {
  static constexpr LayoutChoice kLayout = kChoice;
};

template <size_t kBytes>
struct BuiltKey {
  std::array<uint8_t, kBytes> bytes{};
  friend bool operator==(const BuiltKey&, const BuiltKey&) = default;
};

size_t key_bytes_of(const BuildOptions& options) {
  return options.format == BuiltFormat::kInline ? sizeof(Key104) : options.key_bytes;
}

// The key of an entry, zeroes behind it. Its first word alone is of this entry.
sim::KeyBytes key_of_entry(uint64_t entry, const BuildOptions& options) {
  const Key128 wide = key_of_number(options.first_key + entry, options.seed);
  std::array<uint64_t, sim::kSimulatedKeyBytesMax / 8> words{wide.words[0], wide.words[1]};
  for (size_t i = 2; i < words.size(); ++i) words[i] = traffic::mix(words[i - 1] + i);
  sim::KeyBytes key{};
  std::memcpy(key.data(), words.data(), key_bytes_of(options));
  if (options.mask) options.mask->apply(key);
  return key;
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

Result<BuiltTable> build_paper(const BuildOptions& options, sim::TableFormat format,
                               uint64_t buckets) {
  auto table = sim::PaperTable::create({.format = format,
                                        .buckets = buckets,
                                        .entries = options.entries,
                                        .key_bytes = options.key_bytes,
                                        .seed = options.seed});
  if (!table) return table.error();
  BuiltTable built;
  for (uint64_t i = 0; i < options.entries; ++i) {
    const sim::KeyBytes key = key_of_entry(i, options);
    if (!table.value().insert(std::span(key).first(options.key_bytes), i))
      return too_full(options, i);
    built.keys.push_back(key);
  }
  built.image = copy_of(table.value().image());
  return built;
}

// With twice the buckets until no key finds its one bucket full.
Result<BuiltTable> build_single(const BuildOptions& options) {
  const uint64_t least = paper_buckets(options);
  Result<BuiltTable> built = Error{""};
  for (uint64_t buckets = least; !built && buckets <= least * kGrowthMax; buckets *= 2)
    built = build_paper(options, sim::TableFormat::kPaperSingle, buckets);
  return built;
}

// About how many those are: nine of its keys meet in less than one of them.
uint64_t single_buckets(const BuildOptions& options) {
  constexpr double kOrdersOfNine = 362'880;
  uint64_t buckets = paper_buckets(options);
  const auto meet = [&](uint64_t count) {
    const double keys = static_cast<double>(options.entries) / static_cast<double>(count);
    return static_cast<double>(count) * std::pow(keys, kPaperSlots + 1) / kOrdersOfNine;
  };
  while (meet(buckets) >= 1) buckets *= 2;
  return buckets;
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
    built.keys.push_back(key_of_entry(i, options));
    Key key;
    std::memcpy(&key, built.keys.back().data(), sizeof(key));
    if (table.value().insert(key, Value{}) != InsertOutcome::kInserted) return too_full(options, i);
  }
  built.image = copy_of(image_of(table.value()));
  return built;
}

Result<BuiltTable> build_split(const BuildOptions& options) {
  constexpr LayoutChoice kLayout = LayoutChoice::kSplit;
  using Value = traffic::Value128;
  static_assert(kBuiltKeyBytes == std::array<uint32_t, 4>{8, 16, 26, 40});
  switch (options.key_bytes) {
    case 8:
      return build_flows<BuiltKey<8>, Value, kLayout>(options);
    case 26:
      return build_flows<BuiltKey<26>, Value, kLayout>(options);
    case 40:
      return build_flows<BuiltKey<40>, Value, kLayout>(options);
    default:
      return build_flows<Key128, Value, kLayout>(options);
  }
}

// With the padding that both formats have, at most.
uint64_t entry_bytes(const BuildOptions& options) {
  return (uint64_t{options.key_bytes} + 16 + 15) / 16 * 16;
}

}  // namespace

Key128 key_of_number(uint64_t number, uint64_t seed) {
  return {{traffic::mix(number + (seed << 40) + 1), number}};
}

std::vector<std::byte> copy_of(std::span<const std::byte> image) {
  return {image.begin(), image.end()};
}

sim::KeyBytes key_not_built(const BuildOptions& options, uint64_t number) {
  return key_of_entry(options.entries + number, options);
}

uint64_t built_bytes(const BuildOptions& options) {
  const double slots = static_cast<double>(options.entries) / options.load;
  switch (options.format) {
    case BuiltFormat::kPaper:
      return paper_buckets(options) * 64 + options.entries * entry_bytes(options);
    case BuiltFormat::kSingle:
      return single_buckets(options) * 64 + options.entries * entry_bytes(options);
    case BuiltFormat::kSplit:
      return static_cast<uint64_t>(slots * static_cast<double>(8 + entry_bytes(options)));
    case BuiltFormat::kMegaflow:
      return static_cast<uint64_t>(slots * 32);
    case BuiltFormat::kInline:
      break;
  }
  return static_cast<uint64_t>(slots * 64 / 3);
}

Result<BuiltTable> build_table(const BuildOptions& options) {
  switch (options.format) {
    case BuiltFormat::kPaper:
      return build_paper(options, sim::TableFormat::kPaperCuckoo, paper_buckets(options));
    case BuiltFormat::kSingle:
      return build_single(options);
    case BuiltFormat::kSplit:
      return build_split(options);
    case BuiltFormat::kMegaflow:
      return build_flows<Key128, traffic::Value32, LayoutChoice::kAutomatic>(options);
    case BuiltFormat::kInline:
      break;
  }
  return build_flows<Key104, traffic::Value32, LayoutChoice::kInline>(options);
}

}  // namespace roost::halo
