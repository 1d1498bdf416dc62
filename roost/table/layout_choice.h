// Which layout a table has: what sizes allow, what a user wishes, and the default.
#pragma once

#include <cstddef>
#include <type_traits>

#include "roost/hash/keyed_hash.h"
#include "roost/hash/keyed_permutation.h"
#include "roost/table/inline_layout.h"
#include "roost/table/packed_layout.h"
#include "roost/table/policies.h"
#include "roost/table/probing.h"
#include "roost/table/split_layout.h"

namespace roost {

// Whether an entry that a table promises to hold costs no more memory in the inline layout than in
// the split one: what LayoutChoice::kAutomatic goes by. False where it does not fit.
//
//   key + value bytes     13 + 16    13 + 4    16 + 0    8 + 8    16 + 8    16 + 16
//   inline                   37.6      23.7      23.7     23.7      37.6
//   split                    42.1      33.7      25.3     25.3      33.7       42.1
[[nodiscard]] constexpr bool inline_costs_no_more(size_t key_bytes, size_t value_bytes) {
  const unsigned slots = inline_slots(key_bytes, value_bytes);
  if (slots == 0) return false;
  const double promised = slots == 3 ? InlineLine<3>::kPromisedLoad : InlineLine<2>::kPromisedLoad;
  const size_t entry_bytes = (padded_key_bytes(key_bytes) + value_bytes + 7) / 8 * 8;
  constexpr size_t kTagBytes = sizeof(TagLine) / kSlotsPerBucket;
  return 64 / (slots * promised) <=
         static_cast<double>(kTagBytes + entry_bytes) / kSplitPromisedLoad;
}

namespace detail {

template <size_t kKeySize, size_t kValueSize, class Policies, unsigned kKeyBits, bool kMayBeWider>
struct LayoutOf {
  using Probing = typename Policies::Probing;
  using Access = typename Policies::Access;
  static constexpr bool kIsAutomatic = Policies::kLayout == LayoutChoice::kAutomatic;

  // In the packed layout, the hash and the probing of the default policies stand for its own.
  static constexpr bool kGivesKeysBack =
      std::is_same_v<typename Policies::Hash, KeyedHash> || Permutation<typename Policies::Hash>;
  static constexpr bool kIsOptimistic =
      std::is_same_v<Probing, FilteredProbing> || std::is_same_v<Probing, OptimisticProbing>;
  static constexpr bool kPackedFits = packed_fits(kKeyBits, kValueSize) &&
                                      !Policies::Expiry::kEnabled && kGivesKeysBack &&
                                      kIsOptimistic;
  static constexpr bool kIsPacked =
      Policies::kLayout == LayoutChoice::kPacked || (kIsAutomatic && kPackedFits);
  static_assert(!kIsPacked || kPackedFits,
                "the packed layout is for keys of 8 to 60 bits (kSignificantBits of the key type "
                "says fewer than it has), values of up to 2 bytes, no expiry, a permutation as "
                "hash, and optimistic probing; leave the choice to the table");

  static_assert(!Policies::Access::kIsShared || kIsOptimistic,
                "a table that others read probes by its filters, or optimistically");

  static constexpr unsigned kInlineSlots = inline_slots(kKeySize, kValueSize);
  static constexpr bool kProbingFits = ProbingPolicy<Probing, InlineLine<2>>;
  static constexpr bool kIsInline =
      Policies::kLayout == LayoutChoice::kInline ||
      (kIsAutomatic && !kIsPacked && kProbingFits && inline_costs_no_more(kKeySize, kValueSize));

  static_assert(!kIsInline || kInlineSlots != 0,
                "the inline layout has room for keys of 4 to 16 bytes and, together with the "
                "value, 29 bytes (but not 9 + 20); leave the choice to the table");
  static_assert(!kIsInline || kProbingFits,
                "this probing policy needs the split layout; leave the choice to the table");

  static auto chosen() {
    if constexpr (kIsPacked) {
      return std::type_identity<
          PackedLayout<FixedPackedEntry<kKeyBits, kValueSize, kMayBeWider>, Access>>{};
    } else if constexpr (kIsInline) {
      return std::type_identity<
          InlineLayout<FixedInlineEntry<kKeySize, kValueSize>, kInlineSlots, Access>>{};
    } else {
      return std::type_identity<SplitLayout<FixedEntry<padded_key_bytes(kKeySize), kValueSize>,
                                            Probing::kSplitSlots, Access>>{};
    }
  }
  using Type = typename decltype(chosen())::type;
};

}  // namespace detail

// The layout of a table with such keys and values.
template <class Key, class Value, class Policies>
using LayoutOf =
    typename detail::LayoutOf<significant_bytes<Key>(), EntryTypes<Key, Value>::kValueBytes,
                              Policies, significant_bits<Key>(),
                              (significant_bits<Key>() < 8 * sizeof(Key))>::Type;

// A layout without keys needs a hash that gives them back, and one whose lines have no filter does
// not probe by it.
template <class Layout, class Policies>
using HashOf =
    std::conditional_t<!StoresKeys<Layout> && std::is_same_v<typename Policies::Hash, KeyedHash>,
                       KeyedPermutation, typename Policies::Hash>;
template <class Layout, class Policies>
using ProbingOf =
    std::conditional_t<!KeepsFilter<typename Layout::Line> &&
                           std::is_same_v<typename Policies::Probing, FilteredProbing>,
                       OptimisticProbing, typename Policies::Probing>;

}  // namespace roost
