// Interleaved rounds: every entrant answers every stream once a round, A B C D, A B C D, so that a
// slow minute of the machine is everyone's.
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
#include "roost/memory/pages_behind.h"

namespace roost::lab {

// One contestant in one form. The contestant itself lives elsewhere and outlives this.
struct Entrant {
  std::string contestant;
  std::string form;  // how it is called
  size_t lanes_per_call;
  uint64_t table_bytes;
  PagesBehind pages;
  // Checks every answer to a stream; says what was wrong first.
  std::function<std::optional<std::string>(const Stream&)> first_wrong;
  // What a pass over a stream must find, and the pass that is timed.
  std::function<PassOutcome(const Stream&)> expected;
  std::function<PassOutcome(const Stream&)> pass;
};

// One stream and the name it has in reports of what went wrong.
struct NamedStream {
  std::string name;
  Stream stream;
};

// One timed pass.
struct Timing {
  size_t entrant;  // indices into the spans that were measured
  size_t stream;
  unsigned round;
  double seconds;
};

struct RoundsConfig {
  unsigned warm_up_rounds;  // run and thrown away
  unsigned rounds;
};

// Checks all answers of all entrants to all streams, then times. An error names the entrant whose
// answer was wrong, in the check or in a timed pass; nothing is returned then.
[[nodiscard]] Result<std::vector<Timing>> measure(std::span<const Entrant> entrants,
                                                  std::span<const NamedStream> streams,
                                                  const RoundsConfig& config);

// Seconds from one reading of the clock to the next, smallest of many.
[[nodiscard]] double clock_cost_seconds();

}  // namespace roost::lab
