// Times a switch's packets from a port to a port: ours, and the same on other tables, beside what
// the same packets cost when nothing is asked.
//
// Two ports have frames in memory (lab/packets/port_bench.h): each from a station at the port to
// one at the other, both drawn anew. All stations are known before the first frame. Optionally
// another thread enters and erases stations that no frame is for, at a steady rate.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/jobs/job.h"
#include "roost/base/result.h"
#include "roost/memory/arena.h"

namespace roost::lab {

struct SwitchJobConfig {
  std::string experiment;
  std::vector<std::string> contestants;  // of switch_contestants()
  uint64_t stations = 0;
  uint64_t frames = 0;  // that the ports have in memory
  uint64_t frame_bytes = 60;
  double zipf = 0;  // of stations; 0: all alike
  PageKind pages = PageKind::kSmall;
  std::vector<int> cores;  // a worker each
  int writer_core = -1;
  std::vector<uint64_t> updates_per_second = {0};  // each is a form of its own
  unsigned rounds = 1;
  uint64_t packets = 0;  // a pass, of each worker
  uint64_t seed = 1;
};

[[nodiscard]] std::vector<std::string> switch_contestants();

// An error is a wrong answer or a failed set-up.
[[nodiscard]] Result<Rows> run_switch_job(const SwitchJobConfig& config, const Progress& progress);

}  // namespace roost::lab
