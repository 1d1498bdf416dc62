// Tuple space search: keys looked up under a mask a table, in tables that are built for the
// question (docs/decisions/0059).
//
// Table t looks at the first eight bytes of a key and at the lowest t + 1 bits behind them. No two
// tables have a key in common, so whoever stops at the first table that has a key is right. A
// packet's key is an entry's, with other bits where its table does not look.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/halo/break_even.h"
#include "apps/halo/built_table.h"
#include "apps/halo/ways.h"
#include "roost/base/result.h"
#include "sim/parameter_sweep.h"

namespace roost::halo {

inline constexpr uint64_t kTuplesMax = 32;

enum class FoundIn : uint8_t {
  kLast,  // keys are the last table's: all tables are asked
  kAny,   // each table's as often
};

struct TupleOptions {
  std::vector<uint64_t> counts{};  // of tables, rising
  FoundIn found_in = FoundIn::kLast;
  BuildOptions build{};  // of each table; of the paper's format
};

// So many tables, what they are asked, and how much.
struct TupleSpace {
  std::vector<std::vector<std::byte>> images{};
  std::vector<std::vector<std::byte>> own_images{};  // as our classifier has them
  std::vector<sim::KeyBytes> keys{};                 // of packets: each entry's once, by chance
  sim::RunTables tables{};                           // with masks, at addresses by chance
  sim::RunTables own_tables{};
  std::vector<uint64_t> words{};
  WayOptions options{};

  [[nodiscard]] Question question() const;
};

// Counts of `options` are of lookups in one table: a key's search is as many. Errors: a load that
// the tables do not reach; not enough memory.
[[nodiscard]] Result<std::vector<TupleSpace>> tuple_spaces(const TupleOptions& tuples,
                                                           const WayOptions& options);

struct TuplePoint {
  uint64_t count = 0;
  WayOptions options{};  // whose lookups are searches
  std::vector<WayFigures> ways{};
  std::vector<SpeedUp> speed_ups{};
};

struct Tuples {
  TupleOptions options{};
  std::vector<TuplePoint> points{};
  std::vector<BreakEven> found{};  // from how many tables on
};

// Runs all ways on all of them. Errors: as run_ways().
[[nodiscard]] Result<Tuples> search(const sim::ParameterSweep& sweep,
                                    const std::vector<TupleSpace>& spaces,
                                    const TupleOptions& options);

}  // namespace roost::halo
