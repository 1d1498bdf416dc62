// The pages that really stand behind an address, as the kernel reports them. Slow: for reports.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>

namespace roost {

struct PagesBehind {
  uint64_t page_bytes;  // of the mapping: 4 KiB also where transparent huge pages may be
  uint64_t transparent_huge_bytes;  // how much of the mapping is on them
};

// Finds the mapping of `address` in text of the form of /proc/self/smaps; nothing when it is not
// there.
[[nodiscard]] std::optional<PagesBehind> find_pages(std::istream& smaps, uintptr_t address);

// The same for this process, now.
[[nodiscard]] std::optional<PagesBehind> read_pages(const void* address);

}  // namespace roost
