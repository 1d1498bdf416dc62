// What the kernel says of a mapping, from its text and from the system's own file.
#include "roost/memory/pages_behind.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>

namespace roost {
namespace {

TEST(PagesBehind, the_mapping_of_an_address_tells_its_page_size) {
  std::istringstream smaps(
      "1000-2000 rw-p 00000000 00:00 0\nKernelPageSize:        4 kB\nAnonHugePages:         0 kB\n"
      "200000-800000 rw-p 00000000 00:0e 12 /anon_hugepage (deleted)\nKernelPageSize:     2048 kB\n"
      "AnonHugePages:         0 kB\n"
      "a00000-c00000 rw-p 00000000 00:00 0\nKernelPageSize:        4 kB\nAnonHugePages:      2048 "
      "kB\n");
  const auto text = smaps.str();
  const auto pages_at = [&text](uintptr_t address) {
    std::istringstream again(text);
    return find_pages(again, address).value_or(PagesBehind{});
  };
  EXPECT_EQ(pages_at(0x1fff).page_bytes, 4096U);
  EXPECT_EQ(pages_at(0x200000).page_bytes, 2U << 20);
  EXPECT_EQ(pages_at(0xbfffff).transparent_huge_bytes, 2U << 20);
  EXPECT_EQ(pages_at(0x900000).page_bytes, 0U);
  EXPECT_EQ(pages_at(0xc00000).page_bytes, 0U);
}

}  // namespace
}  // namespace roost
