// Looks keys up by a way of software, so many times, in a table that is small and at load 0.8: what
// lookup_costs.py has valgrind count instructions of.
//
//   roost_lab_lookup_costs WAY hit|miss LOOKUPS
//
// Keys and answers are made before; an answer that is wrong ends it with exit status 1. Ways with
// several tables look each key up under a mask a table until one has it: `hit` in the first one,
// `miss` in none, which is as many lookups as tables.
#include <rte_hash.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lab/contestants/eal.h"
#include "lab/contestants/rte_hash_handle.h"
#include "lab/functions/counted_tables.h"
#include "roost/classify/megaflow_cache.h"
#include "roost/traffic/draw.h"
#include "roost/traffic/key.h"

namespace roost::lab {
namespace {

using traffic::Key104;
using traffic::Key128;

constexpr uint64_t kSlots = 4096;
constexpr uint64_t kHeld = kSlots * 8 / 10;
// So few that almost all are in their first bucket.
constexpr uint64_t kHeldInFirst = kSlots / 10;
constexpr uint64_t kHeapBytes = uint64_t{64} << 20;

struct Key320 {
  std::array<uint64_t, 5> words{};
  friend bool operator==(const Key320&, const Key320&) = default;
};
static_assert(sizeof(Key320) == 40, "a flow of IPv6");

// Of any length, for what readers' locking takes of a lookup.
template <size_t kBytes>
struct BytesKey {
  std::array<uint8_t, kBytes> bytes{};
  friend bool operator==(const BytesKey&, const BytesKey&) = default;
};

template <class Key>
Key cost_key(uint64_t number) {
  const Key128 key{{traffic::mix(number + 1), number}};
  if constexpr (requires { Key{}.bytes; }) {
    // Its first four bytes alone are of this key.
    const std::array<uint64_t, 8> words{traffic::mix(number + 1) << 32 | number, number};
    Key bytes;
    std::memcpy(bytes.bytes.data(), words.data(), sizeof(bytes));
    return bytes;
  } else if constexpr (std::is_same_v<Key, Key320>) {
    return {{key.words[0], key.words[1], 0, key.words[0], 0}};
  } else {
    return traffic::narrowed<Key>(key);
  }
}

// --- Several tables, a mask each. ---

constexpr size_t kTuples = 6;

constexpr Key128 tuple_mask(size_t tuple) { return {{~uint64_t{0}, (uint64_t{2} << tuple) - 1}}; }
constexpr Key128 masked(const Key128& key, const Key128& mask) {
  return {{key.words[0] & mask.words[0], key.words[1] & mask.words[1]}};
}

template <size_t kLanesOfCall>
class DpdkTuples {
 public:
  using Packet = Key128;

  static Packet packet_of(uint64_t number) { return cost_key<Key128>(number); }
  bool create() {
    for (size_t tuple = 0; tuple < kTuples; ++tuple) {
      auto made = make_rte_hash(kSlots, sizeof(Key128));
      if (!made) return false;
      tables_.push_back(std::move(made).value());
      masks_.push_back(tuple_mask(tuple));
    }
    return true;
  }
  bool insert(size_t tuple, const Packet& packet, uint64_t value) {
    const Key128 key = masked(packet, masks_[tuple]);
    return rte_hash_add_key_data(tables_[tuple].table.get(), &key,
                                 reinterpret_cast<void*>(value)) == 0;
  }
  // How many of the packets are in a table.
  [[gnu::noinline]] uint64_t lookup(std::span<const Packet> packets) {
    std::array<void*, kCallLanes> data;
    if constexpr (kLanesOfCall == 1) {
      uint64_t found = 0;
      for (const Packet& packet : packets) {
        for (size_t tuple = 0; tuple < tables_.size(); ++tuple) {
          const Key128 key = masked(packet, masks_[tuple]);
          if (rte_hash_lookup_data(tables_[tuple].table.get(), &key, &data[0]) < 0) continue;
          ++found;
          break;
        }
      }
      return found;
    } else {
      std::array<Key128, kCallLanes> keys;
      std::array<const void*, kCallLanes> pointers;
      std::array<uint8_t, kCallLanes> lane_of;
      uint32_t open = ~uint32_t{0};
      for (size_t tuple = 0; tuple < tables_.size() && open != 0; ++tuple) {
        uint32_t count = 0;
        for (uint32_t left = open; left != 0; left &= left - 1) {
          const auto lane = static_cast<uint8_t>(__builtin_ctz(left));
          keys[count] = masked(packets[lane], masks_[tuple]);
          pointers[count] = &keys[count];
          lane_of[count++] = lane;
        }
        uint64_t found = 0;
        rte_hash_lookup_bulk_data(tables_[tuple].table.get(), pointers.data(), count, &found,
                                  data.data());
        for (; found != 0; found &= found - 1)
          open &= ~(uint32_t{1} << lane_of[static_cast<size_t>(__builtin_ctzll(found))]);
      }
      return kCallLanes - static_cast<uint64_t>(__builtin_popcount(open));
    }
  }

 private:
  std::vector<MadeRteHash> tables_;
  std::vector<Key128> masks_;
};

class Megaflows {
 public:
  using Packet = classify::PacketFields;

  static Packet fields_of(const Key128& key) {
    Packet packet;
    packet.words[3] = key.words[0];
    packet.words[8] = key.words[1];
    return packet;
  }
  static Packet packet_of(uint64_t number) { return fields_of(cost_key<Key128>(number)); }
  bool create() { return true; }
  bool insert(size_t tuple, const Packet& packet, uint64_t value) {
    return cache_.keep(packet, fields_of(tuple_mask(tuple)),
                       static_cast<classify::RuleIndex>(value)) != classify::kNoMegaflow;
  }
  [[gnu::noinline]] uint64_t lookup(std::span<const Packet> packets) {
    std::array<const Packet*, kCallLanes> lanes;
    for (size_t lane = 0; lane < kCallLanes; ++lane) lanes[lane] = &packets[lane];
    std::array<classify::MegaflowIndex, kCallLanes> found;
    return cache_.lookup(lanes.data(), LaneMask{~uint32_t{0}}, found.data(), lookups_).count();
  }

 private:
  classify::MegaflowCache cache_{{.hashing = {.seed = 1}}};
  uint64_t lookups_ = 0;
};

template <class Tables>
int search(bool hits, uint64_t lookups) {
  Tables tables;
  if (!tables.create()) return 1;
  for (uint64_t i = 0; i < kTuples * kHeld; ++i) {
    if (!tables.insert(i / kHeld, Tables::packet_of(i), i + 1)) return 1;
  }
  std::vector<typename Tables::Packet> packets;
  traffic::Draw draw(7);
  for (uint64_t i = 0; i < kHeld / kCallLanes * kCallLanes; ++i)
    packets.push_back(Tables::packet_of(draw.below(kHeld) + (hits ? 0 : kTuples * kHeld)));
  const uint64_t searches = hits ? lookups : lookups / kTuples;
  uint64_t found = 0;
  for (uint64_t done = 0; done < searches; done += kCallLanes)
    found += tables.lookup(std::span(packets).subspan(done % packets.size(), kCallLanes));
  return found == (hits ? searches : 0) ? 0 : 1;
}

// `flags`: of Table::create(), beside the slots.
template <class Key, class Table, uint64_t kEntries = kHeld>
int look_up(bool hits, uint64_t lookups, auto... flags) {
  std::optional<Table> table = Table::create(kSlots, flags...);
  if (!table) return 1;
  for (uint64_t i = 0; i < kEntries; ++i) {
    if (!table->insert(cost_key<Key>(i), i + 1)) return 1;
  }
  // As many keys for every number of lookups, so that nothing else differs between two of them.
  std::vector<Key> keys;
  traffic::Draw draw(7);
  for (uint64_t i = 0; i < kHeld / kCallLanes * kCallLanes; ++i)
    keys.push_back(cost_key<Key>(draw.below(kEntries) + (hits ? 0 : kEntries)));
  uint64_t found = 0;
  for (uint64_t done = 0; done < lookups; done += kCallLanes)
    found += table->lookup(std::span(keys).subspan(done % keys.size(), kCallLanes));
  return found == (hits ? lookups : 0) ? 0 : 1;
}

// How readers of rte_hash are told of other threads, by what stands in a way's name.
struct Readers {
  std::string_view prefix;
  uint8_t flags;
};
constexpr Readers kReaders[] = {{"rte_hash_one_lf_", RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF},
                                {"rte_hash_one_rw_", RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY},
                                {"rte_hash_one_", 0}};

template <size_t kBytes>
int look_up_one(bool hits, uint64_t lookups, uint8_t flags) {
  using Key = BytesKey<kBytes>;
  return look_up<Key, CountedRteHash<Key, 1>>(hits, lookups, flags);
}

// Nothing: it is no such way.
std::optional<int> run_one_key(std::string_view way, bool hits, uint64_t lookups) {
  for (const Readers& readers : kReaders) {
    if (!way.starts_with(readers.prefix)) continue;
    const std::string_view bytes = way.substr(readers.prefix.size());
    if (bytes == "4") return look_up_one<4>(hits, lookups, readers.flags);
    if (bytes == "8") return look_up_one<8>(hits, lookups, readers.flags);
    if (bytes == "16") return look_up_one<16>(hits, lookups, readers.flags);
    if (bytes == "26") return look_up_one<26>(hits, lookups, readers.flags);
    if (bytes == "32") return look_up_one<32>(hits, lookups, readers.flags);
    if (bytes == "40") return look_up_one<40>(hits, lookups, readers.flags);
    if (bytes == "64") return look_up_one<64>(hits, lookups, readers.flags);
  }
  return {};
}

template <size_t kBytes>
int look_up_split(bool hits, uint64_t lookups) {
  using Key = BytesKey<kBytes>;
  return look_up<Key, CountedFlowTable<Key, traffic::Value128, LayoutChoice::kSplit>>(hits,
                                                                                      lookups);
}

int run(std::string_view way, bool hits, uint64_t lookups) {
  if (way == "split_8") return look_up_split<8>(hits, lookups);
  if (way == "split_26") return look_up_split<26>(hits, lookups);
  if (way == "split_16")
    return look_up<Key128, CountedFlowTable<Key128, traffic::Value128, LayoutChoice::kSplit>>(
        hits, lookups);
  if (way == "split_40")
    return look_up<Key320, CountedFlowTable<Key320, traffic::Value128, LayoutChoice::kSplit>>(
        hits, lookups);
  if (way == "inline_13")
    return look_up<Key104, CountedFlowTable<Key104, traffic::Value32, LayoutChoice::kInline>>(
        hits, lookups);
  if (way == "megaflow_32_16") return search<Megaflows>(hits, lookups);
  const auto eal = Eal::start({.core = 0, .pages = PageKind::kSmall, .memory_bytes = kHeapBytes});
  if (!eal) {
    std::fprintf(stderr, "%s\n", eal.error().message.c_str());
    return 1;
  }
  if (way == "version") {
    std::printf("%s\n", Eal::version().c_str());
    return 0;
  }
  if (const auto status = run_one_key(way, hits, lookups)) return *status;
  if (way == "rte_hash_32_8")
    return look_up<BytesKey<8>, CountedRteHash<BytesKey<8>, 32>>(hits, lookups);
  if (way == "rte_hash_32_26")
    return look_up<BytesKey<26>, CountedRteHash<BytesKey<26>, 32>>(hits, lookups);
  if (way == "rte_hash_32_16") return look_up<Key128, CountedRteHash<Key128, 32>>(hits, lookups);
  if (way == "rte_hash_32_40") return look_up<Key320, CountedRteHash<Key320, 32>>(hits, lookups);
  if (way == "first_rte_hash_one_16")
    return look_up<Key128, CountedRteHash<Key128, 1>, kHeldInFirst>(hits, lookups);
  if (way == "tuples_rte_hash_one_16") return search<DpdkTuples<1>>(hits, lookups);
  if (way == "tuples_rte_hash_32_16") return search<DpdkTuples<32>>(hits, lookups);
  std::fprintf(stderr, "there is no way %.*s\n", static_cast<int>(way.size()), way.data());
  return 1;
}

}  // namespace
}  // namespace roost::lab

int main(int count, char** arguments) {
  if (count != 4) return 1;
  const uint64_t lookups = std::strtoull(arguments[3], nullptr, 10);
  if (lookups % roost::lab::kCallLanes != 0) return 1;
  return roost::lab::run(arguments[1], std::string_view(arguments[2]) == "hit", lookups);
}
