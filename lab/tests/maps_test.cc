// The maps as contestants.

#include <gtest/gtest.h>

#include <cstdio>

#include "lab/contestants/absl_flat_hash_map.h"
#include "lab/contestants/boost_flat_map.h"
#include "lab/contestants/chained_map.h"
#include "lab/contestants/google_dense_hash_map.h"
#include "lab/contestants/google_sparse_hash_map.h"
#include "lab/contestants/libcuckoo_map.h"
#include "lab/contestants/mac_maps.h"
#include "lab/contestants/std_unordered_map.h"
#include "lab/contestants/tbb_concurrent_hash_map.h"
#include "lab/contestants/tsl_hopscotch_map.h"
#include "lab/contestants/tsl_robin_map.h"
#include "lab/tests/contestant_check.h"

namespace roost::lab {
namespace {

template <class Traits>
class Maps : public testing::Test {};

using AllMaps = testing::Types<AbslFlatHashMap, BoostFlatMap, ChainedMap, GoogleDenseHashMap,
                               GoogleSparseHashMap, LibcuckooMap, StdUnorderedMap,
                               TbbConcurrentHashMap, TslHopscotchMap, TslRobinMap>;
TYPED_TEST_SUITE(Maps, AllMaps);

TYPED_TEST(Maps, hold_what_they_are_given_and_nothing_else) {
  check_contestant<MapContestant<TypeParam>>({.bytes_an_entry_max = 130});
}

template <class Traits>
class MacMaps : public testing::Test {};

using AllMacMaps =
    testing::Types<TbbMacMap, StdMacMap, SparseMacMap, DenseMacMap, DenseIdentityMacMap>;
TYPED_TEST_SUITE(MacMaps, AllMacMaps);

TYPED_TEST(MacMaps, hold_what_they_are_given_and_nothing_else) {
  check_contestant<MacMapContestant<TypeParam>>({.bytes_an_entry_max = 130});
}

TYPED_TEST(Maps, refuse_when_there_are_no_such_pages) {
  if (Arena::map(1, {.pages = PageKind::kHuge1GiB})) {
    std::puts("NOT TESTED: refusal without pages, as this machine has reserved ones of 1 GiB");
    return;
  }
  EXPECT_FALSE(MapContestant<TypeParam>::create(kCheckedSlots, PageKind::kHuge1GiB).ok());
}

}  // namespace
}  // namespace roost::lab
