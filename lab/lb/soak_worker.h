// One worker of a soak: its traffic, in phases, and the checks of what its cell has counted.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lab/jobs/job.h"
#include "lab/lb/cell.h"
#include "lab/lb/soak_traffic.h"
#include "roost/base/result.h"

namespace roost::lab {

// What is found in a stretch of the traffic.
struct SoakPhase {
  const char* name;
  bool has_flood;
  CellTimes times{};
  double load_min = 1;
  double load_max = 0;
};

// One thread uses it at a time.
class SoakWorker {
 public:
  struct Config {
    uint64_t connections = 0;  // that the cell takes, of this worker
    double seconds = 0;        // without a flood, before and after it together
    uint64_t seed = 1;
  };

  // Cell and progress must outlive it.
  SoakWorker(Cell& cell, const Config& config, const Progress& progress)
      : cell_(cell),
        config_(config),
        progress_(progress),
        traffic_(cell, {.connections = config.connections, .seed = config.seed}) {}

  // From an empty table to a full one, and to an empty one again. What is wrong, if anything.
  [[nodiscard]] std::optional<Error> fill_and_end();
  // The same with all phases between.
  [[nodiscard]] std::optional<Error> soak();

  [[nodiscard]] std::span<const SoakPhase> phases() const { return phases_; }
  [[nodiscard]] const SoakCounts& counts() const { return traffic_.counts(); }

 private:
  [[nodiscard]] std::optional<Error> run(SoakPhase& phase);
  [[nodiscard]] std::optional<Error> send_untimed(bool has_flood, uint64_t ticks);
  template <class IsOver>
  [[nodiscard]] std::optional<Error> send_until(SoakPhase& phase, IsOver&& is_over);
  [[nodiscard]] std::optional<Error> end();
  [[nodiscard]] std::optional<Error> check(std::string_view when);

  Cell& cell_;
  Config config_;
  const Progress& progress_;
  SoakTraffic traffic_;
  std::array<SoakPhase, 3> phases_ = {{{"before", false}, {"flood", true}, {"after", false}}};
};

}  // namespace roost::lab
