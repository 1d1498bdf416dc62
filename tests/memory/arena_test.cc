// Arenas of every kind of page, sparse ones beyond 64 GiB, and the reasons for refusals.
#include "roost/memory/arena.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "roost/memory/pages_behind.h"

namespace roost {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;

bool is_zero(const Arena& arena) {
  return std::all_of(arena.data(), arena.data() + arena.bytes(),
                     [](std::byte byte) { return byte == std::byte{0}; });
}

uint64_t page_bytes_of(PageKind kind) {
  if (kind == PageKind::kHuge1GiB) return kGiB;
  return kind == PageKind::kHuge2MiB ? 2 * kMiB : 4096;
}

// Reserves huge pages of 2 MiB for a scope, where the system lets us, and gives them back.
class ReservedPages {
 public:
  explicit ReservedPages(uint64_t count) {
    const uint64_t before = read();
    write(before + count);
    taken_ = std::max(read(), before) - before;
  }
  // As many as were taken: others may have reserved some meanwhile.
  ~ReservedPages() { write(std::max(read(), taken_) - taken_); }
  ReservedPages(const ReservedPages&) = delete;
  ReservedPages& operator=(const ReservedPages&) = delete;
  // The most pages a process could have: others may have reserved some before us.
  [[nodiscard]] static uint64_t most() { return read() + read(kOvercommitPath); }
  // Whether a mapping of `bytes` can have them: an emulator of another architecture may refuse.
  [[nodiscard]] static bool can_be_mapped(uint64_t bytes) {
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB;
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
    return address != MAP_FAILED && munmap(address, bytes) == 0;
  }

 private:
  static constexpr const char* kPath = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";
  static constexpr const char* kOvercommitPath =
      "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_overcommit_hugepages";
  static uint64_t read(const char* path = kPath) {
    uint64_t count = 0;
    std::ifstream(path) >> count;
    return count;
  }
  static void write(uint64_t count) { std::ofstream(kPath) << count; }
  uint64_t taken_ = 0;
};

// The arena's line of /proc/self/numa_maps without its address: the policy, then what is there and
// on which node. Empty if the system writes no such file.
std::string numa_line(const Arena& arena) {
  std::ifstream maps("/proc/self/numa_maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t start = 0;
    int length = 0;
    if (std::sscanf(line.c_str(), "%lx %n", &start, &length) == 1 &&
        start == reinterpret_cast<uintptr_t>(arena.data())) {
      return line.substr(static_cast<size_t>(length)) + ' ';
    }
  }
  return {};
}

// The nodes that have memory; the file lists ranges: "0" or "0-1,4".
std::vector<unsigned> nodes_with_memory() {
  std::ifstream file("/sys/devices/system/node/has_memory");
  std::vector<unsigned> nodes;
  for (unsigned first = 0; file >> first; file.ignore()) {
    unsigned last = first;
    if (file.peek() == '-') file.ignore() >> last;
    for (unsigned node = first; node <= last; ++node) nodes.push_back(node);
  }
  return nodes;
}

TEST(Arena, maps_zeroed_writable_memory_and_says_on_which_pages) {
  for (const uint64_t bytes : {uint64_t{1}, uint64_t{4096}, uint64_t{100'000}, 10 * kMiB + 5}) {
    Arena arena = Arena::map(bytes).value();
    ASSERT_GE(arena.bytes(), bytes);
    ASSERT_TRUE(is_zero(arena));
    std::fill_n(arena.data(), arena.bytes(), std::byte{7});
    ASSERT_NE(page_kind_name(arena.page_kind()), "unknown");
  }
}

TEST(Arena, each_kind_of_page_can_be_asked_for_alone) {
  const ReservedPages pages(8);
  for (const PageKind kind :
       {PageKind::kHuge1GiB, PageKind::kHuge2MiB, PageKind::kTransparentHuge, PageKind::kSmall}) {
    const Result<Arena> arena = Arena::map(8 * kMiB, {.pages = kind});
    if (!arena) {
      std::printf("NOT TESTED: an arena on %s pages: %s\n",
                  std::string(page_kind_name(kind)).c_str(), arena.error().message.c_str());
      continue;
    }
    EXPECT_EQ(arena.value().page_kind(), kind);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(arena.value().data()) %
                  (kind == PageKind::kSmall ? 4096 : 2 * kMiB),
              0U);
    std::fill_n(arena.value().data(), 8 * kMiB, std::byte{1});
    const std::optional<PagesBehind> behind = read_pages(arena.value().data());
    ASSERT_TRUE(behind);
    EXPECT_EQ(behind->page_bytes, page_bytes_of(kind));
    if (kind == PageKind::kSmall) {
      EXPECT_EQ(behind->transparent_huge_bytes, 0U);
    }
  }
}

TEST(Arena, reserved_2_MiB_pages_are_preferred_to_transparent_and_small_ones) {
  const ReservedPages pages(8);
  if (!ReservedPages::can_be_mapped(16 * kMiB)) {
    std::printf("NOT TESTED: preference for reserved pages: the system gave none\n");
    return;
  }
  EXPECT_EQ(Arena::map(16 * kMiB).value().page_kind(), PageKind::kHuge2MiB);
  const uint64_t all_there_are = ReservedPages::most() * 2 * kMiB;
  EXPECT_NE(Arena::map(all_there_are + kMiB).value().page_kind(), PageKind::kHuge2MiB);
}

TEST(Arena, a_region_bound_to_a_node_takes_its_pages_there_alone) {
  const ReservedPages pages(8);
  const std::vector<unsigned> nodes = nodes_with_memory();
  if (nodes.size() < 2) {
    std::printf("NOT TESTED: arenas on more than one NUMA node: there are %zu\n", nodes.size());
  }
  for (const unsigned node : nodes) {
    for (const PageKind kind :
         {PageKind::kHuge2MiB, PageKind::kTransparentHuge, PageKind::kSmall}) {
      const Result<Arena> arena = Arena::map(4 * kMiB, {.pages = kind, .numa_node = node});
      if (!arena) {
        std::printf("NOT TESTED: an arena on a node: %s\n", arena.error().message.c_str());
        continue;
      }
      // Reserved pages are all there before the first touch, so that none can be lacking later.
      if (kind != PageKind::kHuge2MiB) std::fill_n(arena.value().data(), 4 * kMiB, std::byte{1});
      const std::string line = numa_line(arena.value());
      if (line.empty()) {
        std::printf("NOT TESTED: where an arena's pages are: no /proc/self/numa_maps\n");
        return;
      }
      EXPECT_TRUE(line.starts_with("bind:" + std::to_string(node) + " ")) << line;
      const uint64_t count = 4 * kMiB / (kind == PageKind::kHuge2MiB ? 2 * kMiB : 4096);
      EXPECT_NE(line.find(" N" + std::to_string(node) + "=" + std::to_string(count) + " "),
                std::string::npos)
          << "holds all of its pages there: " << line;
    }
  }
}

TEST(Arena, a_region_without_a_node_leaves_the_place_to_the_system) {
  const Arena arena = Arena::map(4 * kMiB, {.pages = PageKind::kSmall}).value();
  EXPECT_EQ(numa_line(arena).find("bind"), std::string::npos) << numa_line(arena);
}

TEST(Arena, a_node_that_is_not_there_is_refused_by_its_number) {
  for (const unsigned node : {1023U, 1024U, ~0U}) {
    const Result<Arena> arena = Arena::map(4096, {.numa_node = node});
    ASSERT_FALSE(arena) << node;
    EXPECT_NE(arena.error().message.find("NUMA node " + std::to_string(node)), std::string::npos);
    EXPECT_NE(arena.error().message.find("name a node"), std::string::npos) << "says what to do";
  }
}

TEST(Arena, pages_that_would_waste_more_than_an_eighth_are_skipped) {
  EXPECT_EQ(Arena::map(4096).value().page_kind(), PageKind::kSmall);
  EXPECT_EQ(Arena::map(4096).value().bytes(), 4096U);
  EXPECT_EQ(Arena::map(2 * kMiB + 1).value().page_kind(), PageKind::kSmall);
  EXPECT_NE(Arena::map(15 * kMiB + kMiB / 2).value().page_kind(), PageKind::kHuge1GiB);
}

TEST(Arena, one_region_may_exceed_64_GiB) {
  const Result<Arena> arena = Arena::map(160 * kGiB, {.pages = PageKind::kSmall});
  if (!arena) {
    std::printf("NOT TESTED: a sparse region of 160 GiB: %s\n", arena.error().message.c_str());
    return;
  }
  for (const uint64_t at : {uint64_t{0}, 64 * kGiB - 1, 64 * kGiB, 159 * kGiB, 160 * kGiB - 1}) {
    EXPECT_EQ(arena.value().data()[at], std::byte{0});
    arena.value().data()[at] = std::byte{0x5A};
  }
  for (const uint64_t at : {uint64_t{0}, 64 * kGiB - 1, 64 * kGiB, 159 * kGiB, 160 * kGiB - 1}) {
    EXPECT_EQ(arena.value().data()[at], std::byte{0x5A});
  }
}

TEST(Arena, refuses_sizes_it_cannot_give_with_a_reason) {
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{1} << 47, ~uint64_t{0}}) {
    const Result<Arena> arena = Arena::map(bytes);
    ASSERT_FALSE(arena) << bytes;
    EXPECT_NE(arena.error().message.find(';'), std::string::npos) << "says what to do";
  }
}

TEST(Arena, borrowed_memory_stays_the_callers) {
  struct alignas(64) Block {
    std::array<std::byte, 256> bytes{};
  };
  Block block;
  {
    Arena arena = Arena::borrow(block.bytes).value();
    EXPECT_EQ(arena.page_kind(), PageKind::kBorrowed);
    EXPECT_EQ(arena.data(), block.bytes.data());
    arena.data()[0] = std::byte{1};
  }
  EXPECT_EQ(block.bytes[0], std::byte{1});
  EXPECT_FALSE(Arena::borrow(std::span(block.bytes).subspan(1)));
  EXPECT_FALSE(Arena::borrow({}));
}

TEST(Arena, moving_hands_the_region_over) {
  Arena first = Arena::map(4096).value();
  std::byte* data = first.data();
  Arena second = std::move(first);
  EXPECT_EQ(second.data(), data);
  Arena third = Arena::map(8192).value();
  third = std::move(second);
  EXPECT_EQ(third.data(), data);
  EXPECT_EQ(third.bytes(), 4096U);
}

}  // namespace
}  // namespace roost
