// The accelerator in SystemVerilog and its model, cycle by cycle.
#include <gtest/gtest.h>

#include <Vhalo_k16.h>
#include "tests/rtl/scene.h"

namespace roost::sim {
namespace {

TEST(Cosimulation, keys_of_16_bytes_in_tables_of_2_10_to_2_20_slots) {
  constexpr std::array kSizes = {10U, 12U, 14U, 16U, 18U, 20U};
  expect_equal<Vhalo_k16, 16, 4>(paper_parameters(), kSizes, queries_wanted() * 4 / 10);
}

TEST(Cosimulation, keys_of_13_bytes_with_values_that_are_looked_up_by_address) {
  constexpr std::array kSizes = {11U, 15U};
  expect_equal<Vhalo_k16, 13, 16>(paper_parameters(), kSizes, queries_wanted() / 10);
}

TEST(Cosimulation, keys_of_8_bytes_in_a_circuit_that_takes_16) {
  constexpr std::array kSizes = {10U};
  expect_equal<Vhalo_k16, 8, 1>(paper_parameters(), kSizes, queries_wanted() / 10, 3);
}

TEST(Cosimulation, signatures_of_many_keys_are_equal) {
  constexpr std::array kSizes = {10U, 13U};
  expect_equal<Vhalo_k16, 16, 7>(paper_parameters(), kSizes, queries_wanted() / 10, 12);
}

TEST(Cosimulation, the_stash_holds_what_two_buckets_cannot) {
  constexpr std::array kSizes = {10U, 14U};
  expect_equal<Vhalo_k16, 16, 4>(paper_parameters(), kSizes, queries_wanted() / 10, 1, true);
}

}  // namespace
}  // namespace roost::sim
