// The paper's table in a machine, its keys by where they are, and sums of costs that scenarios
// share.
#pragma once

#include <bit>
#include <optional>

#include "tests/sim/lookup_bench.h"

namespace roost::sim {

struct Scene {
  explicit Scene(const Parameters& parameters = default_parameters(),
                 std::optional<KeyMask> mask = {})
      : bench(parameters, paper_table(1000, 256).image(), mask) {}

  [[nodiscard]] Tile unit() const { return bench.home(bench.table); }
  [[nodiscard]] uint64_t primary(uint64_t i) const {
    return bucket_address(bench.metadata, bench.places(i).primary);
  }
  [[nodiscard]] uint64_t secondary(uint64_t i) const {
    return bucket_address(bench.metadata, bench.places(i).secondary);
  }

  // Keys whose signature nothing else has in their buckets: the first one from `from` on that is in
  // its primary bucket; in its secondary one; in none.
  [[nodiscard]] uint64_t in_primary(uint64_t from = 0) {
    return bench.key_where(from, [&](uint64_t i) { return is_in(i, false); });
  }
  [[nodiscard]] uint64_t in_secondary() {
    return bench.key_where(0, [&](uint64_t i) { return is_in(i, true); });
  }
  [[nodiscard]] uint64_t absent() {
    return bench.key_where(1, [&](uint64_t i) { return count_candidates(i) == 0; });
  }
  // In its primary bucket, and no slice has any of its lines.
  [[nodiscard]] uint64_t in_primary_and_dram() {
    return bench.key_where(0, [&](uint64_t i) {
      return is_in(i, false) && !is_in_slice(primary(i)) && !is_in_slice(secondary(i)) &&
             !is_in_slice(bench.held(i).entry);
    });
  }

  // From the core's port to the read of the primary bucket, which goes out behind both locks.
  [[nodiscard]] static Cycle to_primary(const LookupCosts& costs, uint64_t i) {
    return costs.command() + costs.metadata_hit() + LookupCosts::port() +
           costs.snooped(LookupBench::key_address(i)) + costs.hash() + LookupCosts::locks(2);
  }
  // From the reply with the bucket's line to the word at the core: signatures, the entry's lock,
  // the entry, its key.
  [[nodiscard]] Cycle found(const LookupCosts& costs, uint64_t i) {
    return costs.compare() + LookupCosts::locks(1) + costs.llc(bench.held(i).entry) +
           costs.compare() + costs.result();
  }

  // Runs a LOOKUP_NB; cycles until its word is in memory.
  [[nodiscard]] Cycle cycle_of_word(Tile core, const Op& lookup, uint64_t address) {
    Script script({lookup});
    EventQueue& events = bench.machine.events();
    const Cycle began = events.now();
    bench.machine.start(core, script);
    while (bench.machine.bytes().read_word(address) == kPendingWord &&
           events.run_cycle(~Cycle{0})) {
    }
    const Cycle there = events.now() - began;
    EXPECT_TRUE(bench.machine.run().ok());
    return there;
  }

  LookupBench bench;

 private:
  [[nodiscard]] uint32_t count_candidates(uint64_t i) {
    const KeyPlaces places = bench.places(i);
    uint32_t count = 0;
    for (const uint64_t bucket : {places.primary, places.secondary}) {
      const LineBytes line =
          bench.machine.bytes().read_line(line_of(bucket_address(bench.metadata, bucket)));
      count += static_cast<uint32_t>(
          std::popcount(candidates(bench.metadata, line, places.tag, bytes_of(key_of(i)))));
    }
    return count;
  }
  [[nodiscard]] bool is_in(uint64_t i, bool is_secondary) {
    return count_candidates(i) == 1 && bench.held(i).is_secondary == is_secondary;
  }
  [[nodiscard]] bool is_in_slice(uint64_t address) {
    return bench.machine.memory().home_of(line_of(address)).holds(line_of(address));
  }
};

}  // namespace roost::sim
