// Where a configuration's backends are checked, from one file to the next.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/lb/controlled.h"

namespace roost::lb {
namespace {

TEST_F(Controlled, a_backend_with_a_mark_is_checked_at_the_virtual_address) {
  const std::string backends = "backends = [{name = \"b1\", address = \"10.0.0.11\"}]\n";
  const std::string marked =
      "backends = [{name = \"b1\", address = \"10.0.0.11\", check_mark = 7}]\n";
  const std::string checked = "mode = \"l2dsr\"\ncheck = {kind = \"dns\", name = \"a.test\"}\n";
  const auto only_checked = [&] {
    const std::vector<Control::CheckedBackend> all = control_->checked_backends();
    EXPECT_EQ(all.size(), 1U);
    return all.at(0);
  };
  ASSERT_TRUE(reload(test_config(backends, checked + backends)).ok());
  EXPECT_EQ(only_checked().address.format(), "10.0.0.11");
  EXPECT_EQ(only_checked().mark, 0U);
  ASSERT_TRUE(reload(test_config(backends, checked + marked)).ok());
  EXPECT_EQ(only_checked().address.format(), "198.51.100.53");
  EXPECT_EQ(only_checked().port, 53);
  EXPECT_EQ(only_checked().mark, 7U);
}

}  // namespace
}  // namespace roost::lb
