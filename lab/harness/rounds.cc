#include "lab/harness/rounds.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <limits>
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
  Clock::time_point start;
  Clock::time_point end;
};

// One pass on each of the first `core_count` cores at once; the calling thread is on the first.
std::vector<CorePass> run_on_cores(const Entrant& entrant, const NamedStream& stream,
                                   const std::vector<int>& cores, size_t core_count) {
  std::vector<CorePass> passes(core_count);
  std::barrier together(static_cast<ptrdiff_t>(core_count));
  const auto run = [&](size_t core) {
    together.arrive_and_wait();
    passes[core].start = Clock::now();
    passes[core].outcome = entrant.pass(core, stream.by_core[core]);
    passes[core].end = Clock::now();
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
  Clock::time_point start = passes[0].start;
  Clock::time_point end = passes[0].end;
  for (size_t core = 0; core < passes.size(); ++core) {
    start = std::min(start, passes[core].start);
    end = std::max(end, passes[core].end);
    timing.operations += stream.by_core[core].size();
  }
  timing.seconds = seconds_between(start, end);
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
    for (size_t place = 0; place < streams.size() * entrants.size() * cores_max; ++place) {
      const size_t core_count = place % cores_max + 1;
      const size_t e = place / cores_max % entrants.size();
      const size_t s = place / cores_max / entrants.size();
      const auto passes = run_on_cores(entrants[e], streams[s], config.cores, core_count);
      for (size_t core = 0; core < core_count; ++core) {
        if (passes[core].outcome != expected.value()[(e * streams.size() + s) * cores_max + core])
          return Error{wrong_answer(entrants[e], streams[s],
                                    "a timed pass found something else than the check did")};
        if (entrants[e].restore) entrants[e].restore(core);
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
