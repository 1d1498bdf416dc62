// The same for other lengths of keys, and for what is ours: keys in commands, the filter.
#include <gtest/gtest.h>

#include <Vhalo_k40.h>
#include <Vhalo_k64_ours.h>
#include "tests/rtl/scene.h"

namespace roost::sim {
namespace {

TEST(KeySizes, keys_of_40_bytes_take_three_cycles_of_a_unit) {
  constexpr std::array kSizes = {10U, 16U};
  expect_equal<Vhalo_k40, 40, 4>(paper_parameters(), kSizes, queries_wanted() / 10, 2);
}

TEST(KeySizes, keys_of_64_bytes_in_commands_and_the_filter) {
  Parameters parameters = paper_parameters();
  parameters.filter = FilterChoice::kOn;
  parameters.key = KeyChoice::kCommand;
  constexpr std::array kSizes = {10U, 13U};
  expect_equal<Vhalo_k64_ours, 64, 7>(parameters, kSizes, queries_wanted() / 10, 1, true);
}

}  // namespace
}  // namespace roost::sim
