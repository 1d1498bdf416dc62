// Caches of the simulator on streams of accesses, for the tests that hold them against others.
//
//   sim_cache_replay machine FILE [NAME=VALUE...]   what one core's accesses meet: FILE has a word
//   of
//        64 bits each, the line times 2, plus 1 for a store. Prints a digit each: 1 L1D, 2 L2, 3
//        the slice, 4 DRAM.
//   sim_cache_replay trace                         first and last level of valgrind's cachegrind,
//   on
//        what its tool lackey prints, from standard input. Prints misses: I1 D1 LL.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>

#include "sim/cache_array.h"
#include "tests/sim/script.h"

namespace roost::sim {
namespace {

class Waiting final : public LineUser {
 public:
  void line_ready(uint32_t /*tag*/) override { ++ready; }
  uint64_t ready = 0;
};

int replay_machine(int count, char** arguments) {
  Parameters parameters = default_parameters();
  for (int i = 1; i < count; ++i) {
    const std::string text = arguments[i];
    const size_t equals = text.find('=');
    if (text == "lru") {
      parameters.replacement = ReplacementChoice::kLru;
    } else {
      number(parameters, text.substr(0, equals)) =
          static_cast<uint32_t>(std::stoul(text.substr(equals + 1)));
    }
  }
  MemoryBench bench(parameters);
  PrivateCache& cache = bench.memory.cache(0);
  Waiting waiting;
  std::ifstream file(arguments[0], std::ios::binary);
  std::string levels;
  for (uint64_t word = 0; file.read(reinterpret_cast<char*>(&word), sizeof(word));) {
    const uint64_t line = word >> 1;
    const uint64_t l1_hits = cache.counts().l1_hits;
    const uint64_t dram = bench.memory.dram().reads();
    const auto hit =
        cache.access(line, (word & 1) != 0 ? Wanted::kWrite : Wanted::kRead, &waiting, 0);
    if (hit) {
      levels += cache.counts().l1_hits != l1_hits ? '1' : '2';
      continue;
    }
    while (bench.events.run_cycle(~Cycle{0})) {
    }
    levels += bench.memory.dram().reads() != dram ? '4' : '3';
  }
  std::cout << levels << '\n' << bench.memory.dram().writes() << '\n';
  if (const auto wrong = bench.memory.audit()) {
    std::cerr << *wrong << '\n';
    return 1;
  }
  return 0;
}

// A cache of lines of 64 bytes by LRU.
class Level {
 public:
  Level(uint64_t bytes, unsigned ways) : lines_(bytes / 64 / ways, ways, Replacement::kLru) {}
  // Whether an access misses: whether one of its lines does.
  bool misses(uint64_t address, uint64_t bytes) {
    bool missed = false;
    for (uint64_t line = address / 64; line <= (address + bytes - 1) / 64; ++line) {
      auto* entry = lines_.find(line);
      if (entry == nullptr) {
        missed = true;
        entry = lines_.victim(line, [](const auto&) { return true; });
        lines_.put(entry, line, {});
      }
      lines_.touch(entry);
    }
    return missed;
  }

 private:
  CacheArray<char> lines_;
};

int replay_trace() {
  Level i1(32 << 10, 8);
  Level d1(32 << 10, 8);
  Level last(1 << 20, 16);
  uint64_t i1_misses = 0;
  uint64_t d1_misses = 0;
  uint64_t last_misses = 0;
  for (std::string text; std::getline(std::cin, text);) {
    if (text.size() < 4 || (text[0] != 'I' && text[0] != ' ') || text[2] != ' ') continue;
    char* end = nullptr;
    const uint64_t address = std::strtoull(text.c_str() + 3, &end, 16);
    if (*end != ',') continue;
    const uint64_t bytes = std::strtoull(end + 1, nullptr, 10);
    const bool is_instruction = text[0] == 'I';
    if (!(is_instruction ? i1 : d1).misses(address, bytes)) continue;
    ++(is_instruction ? i1_misses : d1_misses);
    if (last.misses(address, bytes)) ++last_misses;
  }
  std::cout << i1_misses << ' ' << d1_misses << ' ' << last_misses << '\n';
  return 0;
}

}  // namespace
}  // namespace roost::sim

int main(int count, char** arguments) {
  std::ios::sync_with_stdio(false);
  if (count >= 3 && std::strcmp(arguments[1], "machine") == 0)
    return roost::sim::replay_machine(count - 2, arguments + 2);
  if (count == 2 && std::strcmp(arguments[1], "trace") == 0) return roost::sim::replay_trace();
  std::cerr << "give: machine FILE [NAME=VALUE...], or trace\n";
  return 2;
}
