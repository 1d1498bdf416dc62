// The contestants of a job: a table a core each, filled side by side; or one that the cores share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lab/contestants/line_up.h"
#include "lab/jobs/job.h"

namespace roost::lab {

struct Contender {
  const ContestantEntry* entry;
  std::vector<std::unique_ptr<AnyTable>> by_core;

  [[nodiscard]] std::string name() const { return std::string(entry->name); }
  [[nodiscard]] AnyTable& table(size_t core = 0) const { return *by_core[core]; }
};

// Makes the job's contestants; those that cannot be made become rows. An error is a name that no
// contestant has.
[[nodiscard]] Result<std::vector<Contender>> make_contenders(const JobConfig& config, Rows& rows);

// Brings each table from one load to the next, untimed; those that refuse become rows and leave.
void fill_contenders(const JobConfig& config, double load_from, double load_to,
                     std::vector<Contender>& contenders, Rows& rows);

}  // namespace roost::lab
