// The program by which a core asks a run's tables: by accelerators, or by software.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "roost/base/result.h"
#include "sim/lookup_program.h"
#include "sim/lookup_run.h"
#include "sim/machine.h"
#include "sim/program.h"
#include "sim/software_program.h"
#include "sim/table_format.h"

namespace roost::sim {

// The tables of a run in a machine's memory, in their order.
struct PlacedTables {
  std::vector<uint64_t> addresses;
  std::vector<TableMetadata> metadata;
};

// Puts tables, and what cores ask from, into an empty machine's memory; its caches are then as the
// run says. Errors: an image is refused.
[[nodiscard]] Result<PlacedTables> place_tables(Machine& machine, const LookupRun& run);

class AskingProgram {
 public:
  // All of it outlives the program.
  AskingProgram(Machine& machine, const LookupRun& run, const PlacedTables& tables,
                const LookupShare& share) {
    if (run.software == nullptr) {
      lookups_.emplace(run.trace, run.way, share, tables.addresses, tables.metadata[0].key_bytes);
    } else {
      software_.emplace(run.trace, *run.software, share, tables.metadata, machine.bytes(),
                        machine.memory().parameters());
    }
  }

  [[nodiscard]] Program& program() {
    if (lookups_) return *lookups_;
    return *software_;
  }
  // As of either program.
  [[nodiscard]] uint64_t answered() const {
    return lookups_ ? lookups_->answered() : software_->answered();
  }
  [[nodiscard]] uint64_t found() const { return lookups_ ? lookups_->found() : software_->found(); }
  [[nodiscard]] uint64_t wrong() const { return lookups_ ? lookups_->wrong() : software_->wrong(); }

 private:
  std::optional<LookupProgram> lookups_;
  std::optional<SoftwareProgram> software_;
};

}  // namespace roost::sim
