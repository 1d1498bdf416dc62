#include "roost/memory/memory_there.h"

#include <fstream>
#include <sstream>
#include <string>

namespace roost {

std::optional<uint64_t> find_memory_there(std::istream& meminfo) {
  constexpr uint64_t kKilo = 1'024;
  std::optional<uint64_t> available;
  uint64_t huge_free = 0;
  uint64_t huge_bytes = 0;
  for (std::string line; std::getline(meminfo, line);) {
    std::istringstream words(line);
    std::string name;
    uint64_t number = 0;
    if (!(words >> name >> number)) continue;
    if (name == "MemAvailable:") available = number * kKilo;
    if (name == "HugePages_Free:") huge_free = number;
    if (name == "Hugepagesize:") huge_bytes = number * kKilo;
  }
  if (!available) return {};
  return *available + huge_free * huge_bytes;
}

std::optional<uint64_t> read_memory_there() {
  std::ifstream meminfo("/proc/meminfo");
  return find_memory_there(meminfo);
}

}  // namespace roost
