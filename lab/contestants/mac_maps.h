// The maps that CuckooSwitch was compared with, as forwarding tables: keys of 48 bits in words,
// values of 16 (CSW-18). As the paper has it, dense_hash_map also with the identity for a hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lab/contestants/google_dense_hash_map.h"
#include "lab/contestants/google_sparse_hash_map.h"
#include "lab/contestants/map_contestant.h"
#include "lab/contestants/std_unordered_map.h"
#include "lab/contestants/tbb_concurrent_hash_map.h"

namespace roost::lab {

template <class Traits>
using MacMapContestant = MapContestant<Traits, traffic::Key48, traffic::Value16>;

// What std::hash is for integers.
template <class Key>
struct IdentityHash {
  size_t operator()(const Key& key) const { return key.word; }
};

struct StdMacMap : StdUnorderedMap {
  static constexpr std::string_view kName = "std_unordered_map_mac";
};
struct TbbMacMap : TbbConcurrentHashMap {
  static constexpr std::string_view kName = "tbb_concurrent_hash_map_mac";
};
struct SparseMacMap : GoogleSparseHashMap {
  static constexpr std::string_view kName = "google_sparse_hash_map_mac";
};
struct DenseMacMap : GoogleDenseHashMap {
  static constexpr std::string_view kName = "google_dense_hash_map_mac";
};
struct DenseIdentityMacMap : GoogleDenseMap<IdentityHash> {
  static constexpr std::string_view kName = "google_dense_hash_map_mac_identity";
};

}  // namespace roost::lab
