// A program for the debugger: two tables whose content gdb_test.py knows, and a place to stop.
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

// A breakpoint's place; nothing of it may be optimised away.
[[gnu::noinline]] void stop_here(const Flows& flows, const Names& names) {
  asm volatile("" : : "r"(&flows), "r"(&names) : "memory");
}

}  // namespace

int main() {
  auto flows = Flows::create({.capacity = 1000, .hash_seed = 7});
  auto names = Names::create({.entries_max = 16});
  if (!flows || !names) return EXIT_FAILURE;
  static_cast<void>(flows.value().advance(roost::Tick{100}));
  static_cast<void>(flows.value().insert({1, 2}, {11, 22}, 5));
  static_cast<void>(flows.value().insert({3, 4}, {33, 44}, 50));
  static_cast<void>(flows.value().advance(roost::Tick{110}));  // the first entry is dead now
  static_cast<void>(names.value().insert({5, 6}, {}));
  stop_here(flows.value(), names.value());
  return EXIT_SUCCESS;
}
