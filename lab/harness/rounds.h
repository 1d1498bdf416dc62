// Interleaved rounds: every entrant answers every stream once a round, A B C D, C A D B, so that a
// slow minute of the machine is every entrant's, and so are the caches that the one before left.
//
// On several cores, each has tables and streams of its own, and each pass is timed while the others
// are at work; a round first runs on one core, then on two, and so on, so that the ratio between
// them is of the same minute.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/harness/drive.h"
#include "lab/harness/workload.h"
#include "roost/base/result.h"

namespace roost::lab {

// One contestant in one form. The contestant itself lives elsewhere and outlives this. `core` is an
// index into the cores measured on.
struct Entrant {
  std::string contestant;
  std::string form;  // how it is called
  // Checks every answer to a stream; says what was wrong first.
  std::function<std::optional<std::string>(size_t core, const Stream&)> first_wrong;
  // What a pass over a stream must find, and the pass that is timed.
  std::function<PassOutcome(size_t core, const Stream&)> expected;
  std::function<PassOutcome(size_t core, const Stream&)> pass;
  // Undoes what a pass changed, untimed; empty if it changes nothing.
  std::function<void(size_t core)> restore = {};
};

// One stream a core, and the name in reports of what went wrong.
struct NamedStream {
  std::string name;
  std::vector<Stream> by_core;
};

// One timed pass.
struct Timing {
  size_t entrant;  // indices into the spans that were measured
  size_t stream;
  size_t core_count;
  unsigned round;
  uint64_t operations;  // on all cores
  double seconds;       // operations over the sum of the cores' rates
};

struct RoundsConfig {
  std::vector<int> cores;  // the first is the calling thread's; each round runs on 1, 2 ... of them
  unsigned warm_up_rounds;  // run and thrown away
  unsigned rounds;
  std::function<void(double share_done)> progress = [](double) {};
};

// Checks all answers of all entrants to all streams, then times. An error names the entrant whose
// answer was wrong, in the check or in a timed pass; nothing is returned then.
[[nodiscard]] Result<std::vector<Timing>> measure(std::span<const Entrant> entrants,
                                                  std::span<const NamedStream> streams,
                                                  const RoundsConfig& config);

// Seconds from one reading of the clock to the next, smallest of many.
[[nodiscard]] double clock_cost_seconds();

}  // namespace roost::lab
