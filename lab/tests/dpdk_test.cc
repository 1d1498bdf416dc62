// The contestants in DPDK's memory, on ordinary pages.

#include <gtest/gtest.h>

#include "lab/contestants/rte_hash.h"
#include "lab/contestants/rte_hash_records.h"
#include "lab/tests/contestant_check.h"
#include "lab/tests/eal_main.h"

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
  using namespace roost::lab;
  return run_tests_with_eal(argc, argv, 6 * RteHash::heap_bytes(kCheckedSlots));
}
