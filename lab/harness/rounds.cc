#include "lab/harness/rounds.h"

#include <algorithm>
#include <chrono>
#include <limits>

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

}  // namespace

Result<std::vector<Timing>> measure(std::span<const Entrant> entrants,
                                    std::span<const NamedStream> streams,
                                    const RoundsConfig& config) {
  std::vector<PassOutcome> expected;  // by entrant, then stream
  for (const Entrant& entrant : entrants) {
    for (const NamedStream& stream : streams) {
      if (const auto wrong = entrant.first_wrong(stream.stream))
        return Error{wrong_answer(entrant, stream, *wrong)};
      expected.push_back(entrant.expected(stream.stream));
    }
  }

  std::vector<Timing> timings;
  for (unsigned round = 0; round < config.warm_up_rounds + config.rounds; ++round) {
    for (size_t s = 0; s < streams.size(); ++s) {
      for (size_t e = 0; e < entrants.size(); ++e) {
        const Clock::time_point start = Clock::now();
        const PassOutcome outcome = entrants[e].pass(streams[s].stream);
        const Clock::time_point end = Clock::now();
        if (outcome != expected[e * streams.size() + s]) {
          return Error{wrong_answer(entrants[e], streams[s],
                                    "a timed pass found something else than the check did")};
        }
        if (round < config.warm_up_rounds) continue;
        timings.push_back({.entrant = e,
                           .stream = s,
                           .round = round - config.warm_up_rounds,
                           .seconds = seconds_between(start, end)});
      }
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
