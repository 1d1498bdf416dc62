// What caches hold at first, if they are as after many lookups.
#include "sim/cached_start.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "sim/machine.h"

namespace roost::sim {
namespace {

constexpr uint64_t kTable = uint64_t{1} << 30;

uint64_t held(MemorySystem& memory, uint64_t lines) {
  uint64_t count = 0;
  for (uint64_t line = line_of(kTable); line < line_of(kTable) + lines; ++line)
    count += memory.home_of(line).holds(line) ? 1U : 0U;
  return count;
}

uint64_t held_by_core(MemorySystem& memory, Tile core, uint64_t lines) {
  uint64_t count = 0;
  for (uint64_t line = line_of(kTable); line < line_of(kTable) + lines; ++line)
    count += memory.cache(core).state(line).has_value() ? 1U : 0U;
  return count;
}

Parameters with(LlcPolicy policy) {
  Parameters parameters = default_machine().at(Level::kMiddle);
  parameters.llc = policy;
  return parameters;
}

TEST(CachedStart, a_small_table_is_in_the_slices_and_in_the_cores_that_ask) {
  for (const LlcPolicy policy : {LlcPolicy::kVictim, LlcPolicy::kInclusive}) {
    Machine machine(with(policy));
    constexpr uint64_t kLines = 1'000;
    begin_cached(machine.memory(), kTable, kLines * kLineBytes - 1, 2);
    EXPECT_EQ(held(machine.memory(), kLines + 10), kLines);
    EXPECT_EQ(held_by_core(machine.memory(), 0, kLines + 10), kLines);
    EXPECT_EQ(held_by_core(machine.memory(), 1, kLines + 10), kLines);
    EXPECT_EQ(held_by_core(machine.memory(), 2, kLines + 10), 0U) << "it asks nothing";
    EXPECT_EQ(machine.memory().audit(), std::nullopt);
  }
}

TEST(CachedStart, of_a_large_table_there_is_as_much_as_has_room) {
  for (const LlcPolicy policy : {LlcPolicy::kVictim, LlcPolicy::kInclusive}) {
    Machine machine(with(policy));
    const Parameters& parameters = machine.memory().parameters();
    const uint64_t room = parameters.llc_slice_bytes / kLineBytes * parameters.tiles();
    const uint64_t near = parameters.l2_bytes / kLineBytes;
    begin_cached(machine.memory(), kTable, 3 * room * kLineBytes, 1);
    // Some sets are drawn more often than they have ways.
    EXPECT_LE(held(machine.memory(), 3 * room), room);
    EXPECT_GE(held(machine.memory(), 3 * room), room * 8 / 10);
    EXPECT_LE(held_by_core(machine.memory(), 0, 3 * room), near);
    EXPECT_GE(held_by_core(machine.memory(), 0, 3 * room), near * 8 / 10);
    // Of each third of the table about as much.
    EXPECT_NEAR(static_cast<double>(held(machine.memory(), room)),
                static_cast<double>(held(machine.memory(), 3 * room)) / 3,
                static_cast<double>(room) / 50);
    EXPECT_EQ(machine.memory().audit(), std::nullopt);
  }
}

}  // namespace
}  // namespace roost::sim
