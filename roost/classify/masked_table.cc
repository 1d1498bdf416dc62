// The key widths of subtables: see masked_table.h.
#include "roost/classify/masked_table.h"

#include <utility>

#include "roost/base/assert.h"
#include "roost/table/flow_table.h"

namespace roost::classify {
namespace {

constexpr uint64_t kEntriesAtFirst = 16;

// The words that a mask touches, side by side. Beyond them stands a word of the packet under a mask
// of zero: the loop has one length, and the key is zero there.
template <size_t kWords>
class Gather {
 public:
  using Key = std::array<uint64_t, kWords>;

  explicit Gather(const PacketFields& mask) {
    size_t count = 0;
    for (size_t word = 0; word < kFieldWords; ++word) {
      if (mask.words[word] == 0) continue;
      words_[count] = static_cast<uint8_t>(word);
      masks_[count] = mask.words[word];
      ++count;
    }
  }
  [[nodiscard]] Key operator()(const PacketFields& fields) const {
    Key key;
    for (size_t i = 0; i < kWords; ++i) key[i] = fields.words[words_[i]] & masks_[i];
    return key;
  }

 private:
  std::array<uint64_t, kWords> masks_{};
  std::array<uint8_t, kWords> words_{};
};

// The digest of what a mask leaves.
class WideGather {
 public:
  using Key = std::array<uint64_t, 1>;

  WideGather(const PacketFields& mask, const HashConfig& config) : mask_(mask), digest_(config) {}

  [[nodiscard]] Key operator()(const PacketFields& fields) const {
    return {digest_(fields & mask_)};
  }

 private:
  PacketFields mask_;
  FieldDigest digest_;
};

template <class Gatherer>
class WidthOf final : public MaskedTable::Width {
 public:
  using Key = typename Gatherer::Key;
  using Table = FlowTable<Key, uint32_t>;

  WidthOf(Gatherer gather, Table table, uint64_t hash_seed)
      : gather_(std::move(gather)), table_(std::move(table)), hash_seed_(hash_seed) {}

  static TableConfig table_config(uint64_t entries_max, uint64_t hash_seed) {
    return {.entries_max = entries_max, .hash_seed = hash_seed};
  }

  LaneMask lookup(PacketLanes packets, LaneMask lanes, uint32_t* numbers) const override {
    return lookup_lanes<Key>(
        lanes, [&](size_t lane) { return gather_(*packets[lane]); },
        [&](std::span<const Key> keys, std::span<uint32_t> found, HitWords hits) {
          table_.lookup(keys, found, hits);
        },
        numbers);
  }

  [[nodiscard]] uint32_t* find(const PacketFields& value) override {
    return table_.find(gather_(value));
  }

  [[nodiscard]] bool insert(const PacketFields& value, uint32_t number) override {
    const Key key = gather_(value);
    ROOST_DEBUG_ASSERT(table_.find(key) == nullptr);
    while (table_.size() >= table_.entries_max() ||
           table_.insert(key, number) == InsertOutcome::kFull) {
      if (!grow()) return false;
    }
    return true;
  }

  void erase(const PacketFields& value) override {
    const bool was_there = table_.erase(gather_(value));
    ROOST_ASSERT(was_there);
  }

  [[nodiscard]] uint64_t memory_bytes() const override { return table_.memory_bytes(); }

 private:
  bool grow() {
    for (uint64_t entries = 2 * table_.entries_max();; entries *= 2) {
      Result<Table> larger = Table::create(table_config(entries, hash_seed_));
      if (!larger) return false;
      bool fits = true;
      table_.for_each([&](const Key& key, uint32_t number) {
        fits = fits && larger.value().insert(key, number) != InsertOutcome::kFull;
      });
      if (!fits) continue;
      table_ = std::move(larger).value();
      return true;
    }
  }

  Gatherer gather_;
  Table table_;
  uint64_t hash_seed_;
};

template <class Gatherer>
Result<std::unique_ptr<MaskedTable::Width>> make_width(Gatherer gather, uint64_t hash_seed) {
  using Width = WidthOf<Gatherer>;
  auto table = Width::Table::create(Width::table_config(kEntriesAtFirst, hash_seed));
  if (!table) return table.error();
  return std::unique_ptr<MaskedTable::Width>(
      std::make_unique<Width>(std::move(gather), std::move(table).value(), hash_seed));
}

size_t words_touched(const PacketFields& mask) {
  size_t count = 0;
  for (const uint64_t word : mask.words) count += word != 0 ? 1 : 0;
  return count;
}

}  // namespace

Result<MaskedTable> MaskedTable::create(const PacketFields& mask, const HashConfig& config) {
  ROOST_ASSERT(config.digest_bits >= 1 && config.digest_bits <= 64);
  const size_t words = words_touched(mask);
  auto table = words <= 1   ? make_width(Gather<1>(mask), config.seed)
               : words <= 2 ? make_width(Gather<2>(mask), config.seed)
               : words <= 4 ? make_width(Gather<4>(mask), config.seed)
               : words <= 8 ? make_width(Gather<8>(mask), config.seed)
                            : make_width(WideGather(mask, config), config.seed);
  if (!table) return table.error();
  return MaskedTable(mask, words > 8, std::move(table).value());
}

}  // namespace roost::classify
