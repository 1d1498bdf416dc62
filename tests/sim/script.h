// Programs for tests: operations in a row, and when those with a tag were done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sim/core.h"
#include "sim/memory_system.h"
#include "sim/parameters.h"
#include "sim/program.h"

namespace roost::sim {

struct Completed {
  Cycle when = 0;
  uint64_t word = 0;  // the first eight bytes that were read
};

class Script final : public Program {
 public:
  explicit Script(std::vector<Op> ops) : ops_(std::move(ops)) {}

  Fetch fetch(Op& op) override {
    if (next_ == ops_.size()) return Fetch::kEnd;
    op = ops_[next_++];
    return Fetch::kOp;
  }
  void completed(uint32_t tag, Cycle when, std::span<const std::byte> bytes) override {
    Completed& done = completed_[tag];
    done.when = when;
    std::memcpy(&done.word, bytes.data(), std::min(bytes.size(), sizeof(done.word)));
  }
  [[nodiscard]] const Completed& of(uint32_t tag) const { return completed_.at(tag); }

 private:
  std::vector<Op> ops_;
  size_t next_ = 0;
  std::map<uint32_t, Completed> completed_;
};

[[nodiscard]] inline Op load(uint64_t address, uint32_t tag = 0) {
  return {.kind = OpKind::kLoad, .address = address, .tag = tag};
}
[[nodiscard]] inline Op store(uint64_t address, uint64_t word = 0) {
  return {.kind = OpKind::kStore, .address = address, .data = {word, word}};
}

// The default machine with one number changed for each pair, by "table.name".
[[nodiscard]] inline uint32_t& number(Parameters& parameters, std::string_view name) {
  for (const ParameterInfo& info : parameter_infos()) {
    if (std::string(info.table) + "." + std::string(info.name) == name)
      return parameters.*info.value;
  }
  ROOST_ASSERT(false);
  return parameters.clock_megahertz;
}

[[nodiscard]] inline Parameters default_parameters() {
  return default_machine().at(Level::kMiddle);
}

// Cores, caches and memory, without accelerators.
struct MemoryBench {
  explicit MemoryBench(const Parameters& parameters) : memory(events, parameters) {}
  MemoryBench() : MemoryBench(default_parameters()) {}

  // Runs a core to its end; the cycle in which it began is `began`.
  Script run(Tile tile, std::vector<Op> ops) {
    began = events.now();
    Script script(std::move(ops));
    Core core(memory, tile, nullptr, script);
    while (events.run_cycle(~Cycle{0})) {
    }
    ROOST_ASSERT(core.is_done());
    ended = core.last_cycle();
    return script;
  }
  // Cycles that one load takes on a core.
  Cycle load_cycles(Tile tile, uint64_t address) {
    return run(tile, {load(address, 1)}).of(1).when - began;
  }
  // Cycles from the beginning to a store's having been written.
  Cycle store_cycles(Tile tile, uint64_t address, uint64_t word = 0) {
    run(tile, {store(address, word)});
    return ended - began;
  }
  // Has a line go from a core's caches to its home slice, by reading others of its set.
  void push_out(Tile tile, uint64_t line) {
    const Parameters& p = memory.parameters();
    const uint64_t sets = p.l2_bytes / kLineBytes / p.l2_ways;
    for (uint64_t way = 1; way <= p.l2_ways; ++way)
      run(tile, {load(address_of(line + way * sets * 64))});
  }
  // The first line from `line` on whose home is a tile.
  [[nodiscard]] uint64_t line_at_home(Tile home, uint64_t line = 0x1000) const {
    while (memory.slice_of(line) != home) ++line;
    return line;
  }

  EventQueue events;
  MemorySystem memory;
  Cycle began = 0;
  Cycle ended = 0;
};

}  // namespace roost::sim
