// What lookups meet, by contestant, load and miss ratio: counted by twins apart from what is timed,
// or known beforehand.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "lab/harness/any_table.h"
#include "lab/jobs/job.h"

namespace roost::lab {

class MetCounts {
 public:
  using ShapeOf = std::function<traffic::StreamShape(double load, double miss_ratio)>;

  MetCounts(const JobConfig& config, ShapeOf shape_of)
      : config_(config), shape_of_(std::move(shape_of)) {}

  // Of a table whose every lookup touches the same lines.
  void take_known_lines(const AnyTable& table);

  // Fills the contestant's counting twin to each load and asks it what the timed one was asked;
  // nothing if it has none.
  void count_twin(const ContestantEntry& entry);

  // Writes the counts into the rows of lookups.
  void add_to(Rows& rows) const;

 private:
  struct Met {
    double lines;
    std::optional<double> secondary_visits;
    std::optional<double> filter_false_positives;
    std::optional<double> kicks;
  };

  const JobConfig& config_;
  ShapeOf shape_of_;
  std::map<std::tuple<std::string, double, double>, Met> met_;
};

}  // namespace roost::lab
