// Locks, snapshots and words that accelerators write, added up by hand from the table of costs.
#include <gtest/gtest.h>

#include "tests/sim/script.h"

namespace roost::sim {
namespace {

class Coherence : public ::testing::Test {
 protected:
  Coherence() {
    // In the slice of tile 6, and in no core.
    line_ = bench_.line_at_home(6);
    EXPECT_TRUE(bench_.memory.bytes().put_zeroes(address_of(line_), 64).ok());
    (void)bench_.load_cycles(6, address_of(line_));
    bench_.push_out(6, line_);
  }

  // An accelerator's message that leaves its own slice's tile at a cycle from now on.
  void tell_home(HomeSlice::Message message, Cycle after) {
    bench_.memory.ask_home(6, message, 0, line_, bench_.memory.now() + after);
  }
  void write_word(uint64_t word, Cycle after) {
    const uint32_t number = bench_.memory.results().put({address_of(line_), word});
    bench_.memory.events().at(bench_.memory.now() + after,
                              {&bench_.memory.home(6), HomeSlice::kWriteResult, 0, number});
  }
  [[nodiscard]] static Op snapshot(uint64_t line, uint32_t tag) {
    return {.kind = OpKind::kSnapshot, .bytes = 64, .address = address_of(line), .tag = tag};
  }
  [[nodiscard]] Cycle hops(Tile tile) { return Cycle{2} * bench_.memory.mesh().hops(tile, 6); }

  MemoryBench bench_;
  uint64_t line_ = 0;
};

TEST_F(Coherence, a_writer_of_a_locked_line_asks_until_it_is_unlocked) {
  const Tile writer = 9;
  const Cycle unlocked = 150;
  tell_home(HomeSlice::kLock, 0);
  tell_home(HomeSlice::kUnlock, unlocked);
  // Done in cycle 1, the store asks through 14 + 9 cycles and the mesh. Refused after 10 for the
  // tags, it hears of that by the mesh, waits 20 and asks again through 9 and the mesh.
  const Cycle first = 1 + 14 + 9 + hops(writer);
  const Cycle period = 10 + hops(writer) + 20 + 9 + hops(writer);
  Cycle asked = first;
  uint64_t refused = 0;
  for (; asked <= unlocked; asked += period) ++refused;
  EXPECT_EQ(bench_.store_cycles(writer, address_of(line_), 5), asked + 10 + 8 + hops(writer) + 9);
  EXPECT_EQ(bench_.memory.cache(writer).counts().refused, refused);
  EXPECT_GE(refused, 2U);
  EXPECT_EQ(bench_.memory.audit(), std::nullopt);
}

TEST_F(Coherence, a_reader_of_a_locked_line_gets_it_shared) {
  tell_home(HomeSlice::kLock, 0);
  EXPECT_EQ(bench_.load_cycles(9, address_of(line_)), 50U + 2 * hops(9));
  EXPECT_EQ(bench_.memory.cache(9).state(line_), LineState::kShared);
  tell_home(HomeSlice::kUnlock, 1);
  (void)bench_.load_cycles(9, 0);
  EXPECT_EQ(bench_.memory.audit(), std::nullopt);
}

TEST_F(Coherence, a_lock_takes_the_right_to_write_from_an_owner) {
  (void)bench_.store_cycles(9, address_of(line_));
  ASSERT_EQ(bench_.memory.cache(9).state(line_), LineState::kModified);
  tell_home(HomeSlice::kLock, 0);
  (void)bench_.load_cycles(0, 0);
  EXPECT_EQ(bench_.memory.cache(9).state(line_), LineState::kShared);
  EXPECT_TRUE(bench_.memory.home(6).locks().is_locked(line_));
}

TEST(CoherenceOfInclusiveSlices, a_lock_takes_the_right_to_write_though_the_slice_has_the_line) {
  Parameters parameters = default_parameters();
  parameters.llc = LlcPolicy::kInclusive;
  MemoryBench bench(parameters);
  const uint64_t line = bench.line_at_home(6);
  ASSERT_TRUE(bench.memory.bytes().put_zeroes(address_of(line), 64).ok());
  (void)bench.store_cycles(9, address_of(line));
  ASSERT_EQ(bench.memory.cache(9).state(line), LineState::kModified);
  ASSERT_TRUE(bench.memory.home(6).holds(line));
  bench.memory.ask_home(6, HomeSlice::kLock, 0, line, bench.memory.now());
  (void)bench.load_cycles(0, 0);
  EXPECT_EQ(bench.memory.cache(9).state(line), LineState::kShared);
}

TEST_F(Coherence, a_lock_that_two_have_taken_holds_until_both_have_given_it_back) {
  tell_home(HomeSlice::kLock, 0);
  tell_home(HomeSlice::kLock, 1);
  tell_home(HomeSlice::kUnlock, 2);
  tell_home(HomeSlice::kUnlock, 300);
  EXPECT_GT(bench_.store_cycles(9, address_of(line_)), 300U);
}

TEST_F(Coherence, a_snapshot_leaves_a_line_in_its_slice) {
  const Script script = bench_.run(9, {snapshot(line_, 1)});
  EXPECT_EQ(script.of(1).when - bench_.began, 14U + 9 + hops(9) + 10 + 8 + hops(9) + 9);
  EXPECT_EQ(bench_.memory.cache(9).state(line_), std::nullopt);
  EXPECT_TRUE(bench_.memory.home(6).holds(line_));
}

TEST_F(Coherence, a_snapshot_of_the_own_line_is_a_hit) {
  (void)bench_.store_cycles(9, address_of(line_), 3);
  const Script script = bench_.run(9, {snapshot(line_, 1)});
  EXPECT_EQ(script.of(1).when - bench_.began, 5U);
  EXPECT_EQ(script.of(1).word, 3U);
  EXPECT_EQ(bench_.memory.cache(9).state(line_), LineState::kModified);
}

TEST_F(Coherence, a_snapshot_of_another_core_s_line_leaves_it_modified) {
  (void)bench_.store_cycles(12, address_of(line_), 3);
  const Script script = bench_.run(9, {snapshot(line_, 1)});
  EXPECT_EQ(script.of(1).when - bench_.began,
            14U + 9 + hops(9) + 10 + hops(12) + 30 + hops(12) + hops(9) + 9);
  EXPECT_EQ(script.of(1).word, 3U);
  EXPECT_EQ(bench_.memory.cache(12).state(line_), LineState::kModified);
}

TEST_F(Coherence, a_snapshot_of_a_line_that_is_being_written_waits_for_the_word) {
  (void)bench_.store_cycles(12, address_of(line_), 3);
  // The snapshot is at the slice in cycle 23 and some hops; the word is there ten cycles before,
  // and takes the line from core 12.
  const Cycle asked = 14 + 9 + hops(9);
  const Cycle arrives = asked - 10;
  write_word(77, arrives);
  const Cycle written = arrives + 10 + hops(12) + 30 + hops(12);
  ASSERT_GT(written, asked);
  const Script script = bench_.run(9, {snapshot(line_, 1)});
  EXPECT_EQ(script.of(1).when - bench_.began, written + 10 + 8 + hops(9) + 9);
  EXPECT_EQ(script.of(1).word, 77U);
  EXPECT_EQ(bench_.memory.cache(12).state(line_), std::nullopt);
}

TEST_F(Coherence, a_set_of_locked_lines_lets_reads_pass_by) {
  Parameters parameters = default_parameters();
  parameters.mesh_columns = parameters.mesh_rows = 1;
  parameters.llc_slice_bytes = 1024;  // one set of 16 lines
  MemoryBench bench(parameters);
  for (uint64_t line = 100; line < 120; ++line)
    bench.memory.ask_home(0, HomeSlice::kLock, 0, line, line);
  (void)bench.load_cycles(0, 0);
  EXPECT_EQ(bench.memory.home(0).locks().size(), 20U);
  EXPECT_EQ(bench.memory.home(0).counts().passed_by, 4U);
  for (uint64_t line = 100; line < 116; ++line) EXPECT_TRUE(bench.memory.home(0).holds(line));
  for (uint64_t line = 100; line < 120; ++line)
    bench.memory.ask_home(0, HomeSlice::kUnlock, 0, line, bench.memory.now() + line);
  (void)bench.load_cycles(0, 0);
  EXPECT_EQ(bench.memory.audit(), std::nullopt);
}

}  // namespace
}  // namespace roost::sim
