// A program for the debugger: three tables whose content gdb_test.py knows, and a place to stop.
#include <roost/table/flow_table.h>

#include <cstdlib>

namespace {

struct FlowName {
  uint64_t client, server;
};
struct Traffic {
  uint32_t packets, bytes;
};
struct Policies : roost::DefaultPolicies {
  using Expiry = roost::SlotTimers;
};
using Flows = roost::FlowTable<FlowName, Traffic, Policies>;
using Names = roost::FlowTable<FlowName, roost::NoValue>;

// Eight bytes an entry; a key of 48 bits, a port.
struct Address {
  unsigned char bytes[6];
};
using Ports = roost::FlowTable<Address, uint16_t>;

// A breakpoint's place; nothing of it may be optimised away.
[[gnu::noinline]] void stop_here(const Flows& flows, const Names& names, const Ports& ports) {
  asm volatile("" : : "r"(&flows), "r"(&names), "r"(&ports) : "memory");
}

}  // namespace

int main() {
  auto flows = Flows::create({.capacity = 1000, .hash_seed = 7});
  auto names = Names::create({.entries_max = 16});
  auto ports = Ports::create({.entries_max = 30, .hash_seed = 1});
  if (!flows || !names || !ports) return EXIT_FAILURE;
  static_cast<void>(flows.value().advance(roost::Tick{100}));
  static_cast<void>(flows.value().insert({1, 2}, {11, 22}, 5));
  static_cast<void>(flows.value().insert({3, 4}, {33, 44}, 50));
  static_cast<void>(flows.value().advance(roost::Tick{110}));  // the first entry is dead now
  static_cast<void>(names.value().insert({5, 6}, {}));
  // So many that some are displaced.
  for (unsigned char i = 128; i < 158; ++i)
    static_cast<void>(ports.value().insert({{0, 1, 2, 3, 4, i}}, i));
  stop_here(flows.value(), names.value(), ports.value());
  return EXIT_SUCCESS;
}
