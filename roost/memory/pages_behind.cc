#include "roost/memory/pages_behind.h"

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>

namespace roost {

std::optional<PagesBehind> find_pages(std::istream& smaps, uintptr_t address) {
  bool inside = false;
  PagesBehind pages{};
  for (std::string line; std::getline(smaps, line);) {
    uintptr_t first = 0;
    uintptr_t past = 0;
    uint64_t kib = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &first, &past) == 2) {
      if (inside) break;
      inside = first <= address && address < past;
    } else if (inside && std::sscanf(line.c_str(), "KernelPageSize: %" SCNu64 " kB", &kib) == 1) {
      pages.page_bytes = kib * 1024;
    } else if (inside && std::sscanf(line.c_str(), "AnonHugePages: %" SCNu64 " kB", &kib) == 1) {
      pages.transparent_huge_bytes = kib * 1024;
    }
  }
  if (pages.page_bytes == 0) return std::nullopt;
  return pages;
}

std::optional<PagesBehind> read_pages(const void* address) {
  std::ifstream smaps("/proc/self/smaps");
  return find_pages(smaps, reinterpret_cast<uintptr_t>(address));
}

}  // namespace roost
