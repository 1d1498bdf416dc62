// The contestants in DPDK's memory, on ordinary pages.

#include <gtest/gtest.h>

#include <cstdio>
#include <optional>

#include "lab/contestants/eal.h"
#include "lab/contestants/rte_hash.h"
#include "lab/contestants/rte_hash_records.h"
#include "lab/harness/pinned_core.h"
#include "lab/tests/contestant_check.h"

namespace roost::lab {
namespace {

TEST(RteHash, holds_what_it_is_given_and_nothing_else) {
  check_contestant<RteHash>({.bytes_an_entry_max = 90, .lanes_max = 32});
}

TEST(RteHash, with_word_keys_holds_what_it_is_given_and_nothing_else) {
  check_contestant<RteHashMac>({.bytes_an_entry_max = 70, .lanes_max = 32});
}

TEST(RteHash, with_records_holds_what_it_is_given_and_nothing_else) {
  check_contestant<RteHashRecords>({.bytes_an_entry_max = 130, .lanes_max = 32});
}

}  // namespace
}  // namespace roost::lab

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  using namespace roost::lab;
  const auto core = last_allowed_core();
  if (!core) return 1;
  const auto eal = Eal::start({.core = core.value(),
                               .pages = roost::PageKind::kSmall,
                               .memory_bytes = 6 * RteHash::heap_bytes(kCheckedSlots)});
  if (!eal) {
    std::fputs(eal.error().message.c_str(), stderr);
    return 1;
  }
  return RUN_ALL_TESTS();
}
