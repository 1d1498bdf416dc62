#include "lab/harness/rounds.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <numeric>
#include <random>
#include <thread>

#include "lab/harness/pinned_core.h"

namespace roost::lab {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

std::string wrong_answer(const Entrant& entrant, const NamedStream& stream,
                         const std::string& what) {
  return entrant.contestant + " (" + entrant.form + "), " + stream.name + ": " + what +
         "; nothing it says about speed counts";
}

struct CorePass {
  PassOutcome outcome;
  double seconds;
};

// Waits until all cores have come here. No core sleeps: one that did would start late and slow.
void come_together(std::atomic<size_t>& arrived, size_t core_count) {
  ++arrived;
  while (arrived.load() < core_count) std::this_thread::yield();
}

// One pass on each of the first `core_count` cores at once; the calling thread is on the first. On
// several, each pass is timed while the others are at work too: none begins before all have made
// one, and a core that is ready goes on until all are.
std::vector<CorePass> run_on_cores(const Entrant& entrant, const NamedStream& stream,
                                   const std::vector<int>& cores, size_t core_count) {
  std::vector<CorePass> passes(core_count);
  std::atomic<size_t> warm = 0;
  std::atomic<size_t> ready = 0;
  const auto run = [&](size_t core) {
    const Stream& queries = stream.by_core[core];
    const auto pass_untimed = [&] {
      static_cast<void>(entrant.pass(core, queries));
      if (entrant.restore) entrant.restore(core);
    };
    if (core_count > 1) {
      pass_untimed();
      come_together(warm, core_count);
    }
    const Clock::time_point start = Clock::now();
    passes[core].outcome = entrant.pass(core, queries);
    passes[core].seconds = seconds_between(start, Clock::now());
    if (entrant.restore) entrant.restore(core);
    ++ready;
    while (ready.load() < core_count) pass_untimed();
  };
  std::vector<std::jthread> others;
  for (size_t core = 1; core < core_count; ++core) {
    others.emplace_back([&, core] {
      static_cast<void>(pin_to_core(cores[core]));  // which was tried beforehand
      run(core);
    });
  }
  run(0);
  others.clear();  // waits for them
  return passes;
}

Timing timing_of(std::span<const CorePass> passes, const NamedStream& stream) {
  Timing timing{.entrant = 0,
                .stream = 0,
                .core_count = passes.size(),
                .round = 0,
                .operations = 0,
                .seconds = 0};
  double rate = 0;
  for (size_t core = 0; core < passes.size(); ++core) {
    const size_t operations = stream.by_core[core].size();
    timing.operations += operations;
    rate += static_cast<double>(operations) / passes[core].seconds;
  }
  timing.seconds = static_cast<double>(timing.operations) / rate;
  return timing;
}

// Checks every answer; gives what passes must find by entrant, stream and core.
Result<std::vector<PassOutcome>> check(std::span<const Entrant> entrants,
                                       std::span<const NamedStream> streams, size_t core_count) {
  std::vector<PassOutcome> expected;
  for (const Entrant& entrant : entrants) {
    for (const NamedStream& stream : streams) {
      for (size_t core = 0; core < core_count; ++core) {
        if (const auto wrong = entrant.first_wrong(core, stream.by_core[core]))
          return Error{wrong_answer(entrant, stream, *wrong)};
        expected.push_back(entrant.expected(core, stream.by_core[core]));
      }
    }
  }
  return expected;
}

// The entrants of a round in an order of its own, the same in every run: a pass leaves in the
// caches what the next one meets, so that none may always follow the same other one.
std::vector<size_t> order_of_round(size_t entrant_count, unsigned round) {
  std::vector<size_t> order(entrant_count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::mt19937_64 random(round);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

}  // namespace

Result<std::vector<Timing>> measure(std::span<const Entrant> entrants,
                                    std::span<const NamedStream> streams,
                                    const RoundsConfig& config) {
  const size_t cores_max = config.cores.size();
  const auto expected = check(entrants, streams, cores_max);
  if (!expected) return expected.error();

  std::vector<Timing> timings;
  const unsigned rounds = config.warm_up_rounds + config.rounds;
  for (unsigned round = 0; round < rounds; ++round) {
    config.progress(static_cast<double>(round) / rounds);
    const std::vector<size_t> order = order_of_round(entrants.size(), round);
    for (size_t place = 0; place < streams.size() * entrants.size() * cores_max; ++place) {
      const size_t core_count = place % cores_max + 1;
      const size_t e = order[place / cores_max % entrants.size()];
      const size_t s = place / cores_max / entrants.size();
      const auto passes = run_on_cores(entrants[e], streams[s], config.cores, core_count);
      for (size_t core = 0; core < core_count; ++core) {
        if (passes[core].outcome != expected.value()[(e * streams.size() + s) * cores_max + core])
          return Error{wrong_answer(entrants[e], streams[s],
                                    "a timed pass found something else than the check did")};
      }
      if (round < config.warm_up_rounds) continue;
      timings.push_back(timing_of(passes, streams[s]));
      timings.back().entrant = e;
      timings.back().stream = s;
      timings.back().round = round - config.warm_up_rounds;
    }
  }
  return timings;
}

double clock_cost_seconds() {
  double least = std::numeric_limits<double>::max();
  for (int reading = 0; reading < 10'000; ++reading) {
    const Clock::time_point start = Clock::now();
    least = std::min(least, seconds_between(start, Clock::now()));
  }
  return least;
}

}  // namespace roost::lab
