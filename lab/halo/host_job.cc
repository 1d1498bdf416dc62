#include "lab/halo/host_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "apps/halo/built_table.h"
#include "lab/functions/counted_tables.h"
#include "lab/halo/chase.h"
#include "lab/harness/pinned_core.h"
#include "roost/traffic/draw.h"
#include "roost/traffic/key.h"

namespace roost::lab {
namespace {

using traffic::Key128;

constexpr uint64_t kHugePageBytes = uint64_t{2} << 20;
constexpr uint64_t kBlockKeys = 512;  // 8 KiB, which stay in L1D
constexpr uint64_t kWarmUpOfEntry = 3;

class Stopwatch {
 public:
  [[nodiscard]] double nanoseconds() const {
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - began_;
    return took.count();
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

// Something that is timed: its row without a value, and a turn's nanoseconds in all. A turn that
// finds something wrong returns an error.
struct Turn {
  RecordRow row;
  std::function<Result<double>()> time;
};

RecordRow row_named(const char* contestant) {
  RecordRow row;
  row.experiment = "host";
  row.contestant = contestant;
  row.form = "plain";
  row.metric = "ns";
  return row;
}

Turn clock_turn(const HostConfig& config) {
  return {.row = row_named("clock"), .time = [&config]() -> Result<double> {
            uint64_t sum = 0;
            uint64_t one = 1;
            asm volatile("" : "+r"(one));
            const Stopwatch watch;
            for (uint64_t i = 0; i < config.operations; i += 8) {
              // Each waits for the one before; none is left out.
              for (int j = 0; j < 8; ++j) {
                sum += one;
                asm volatile("" : "+r"(sum));
              }
            }
            return watch.nanoseconds();
          }};
}

Result<Turn> chase_turn(const HostConfig& config, uint64_t bytes) {
  auto memory = Arena::map(std::max(bytes, kHugePageBytes), {.pages = config.pages});
  if (!memory) return memory.error();
  const auto arena = std::make_shared<Arena>(std::move(memory).value());
  const std::span lines(reinterpret_cast<ChaseLine*>(arena->data()), bytes / sizeof(ChaseLine));
  link_chase(lines, chase_cycle(lines.size(), config.seed));
  RecordRow row = row_named("chase");
  row.table_bytes = bytes;
  return Turn{.row = row, .time = [&config, arena, lines]() -> Result<double> {
                const ChaseLine* const first = chase(lines.data(), lines.size());
                if (first != lines.data()) return Error{"a chase does not go round"};
                const Stopwatch watch;
                const ChaseLine* const last = chase(first, config.operations);
                const double took = watch.nanoseconds();
                return last == nullptr ? Error{"a chase ends"} : Result<double>(took);
              }};
}

// Keys of a table by chance.
class KeyStream {
 public:
  KeyStream(uint64_t entries, uint64_t seed) : entries_(entries), seed_(seed), draw_(seed) {}
  void fill(std::span<Key128> keys) {
    for (Key128& key : keys) key = halo::key_of_number(draw_.below(entries_), seed_);
  }

 private:
  uint64_t entries_;
  uint64_t seed_;
  traffic::Draw draw_;
};

// So many keys by a table; the nanoseconds of lookups, with writing each key where it is asked
// from.
template <class Table>
Result<double> look_up_stream(Table& table, KeyStream& stream, uint64_t count) {
  std::array<Key128, kBlockKeys> block;
  std::array<Key128, kCallLanes> asked;
  double took = 0;
  for (uint64_t done = 0; done < count; done += kBlockKeys) {
    stream.fill(block);
    uint64_t found = 0;
    const Stopwatch watch;
    for (size_t first = 0; first < kBlockKeys; first += kCallLanes) {
      std::copy_n(block.begin() + first, kCallLanes, asked.begin());
      found += table.lookup(asked);
    }
    took += watch.nanoseconds();
    if (found != kBlockKeys)
      return Error{fmt::format("{} of {} keys are found", found, kBlockKeys)};
  }
  return took;
}

template <class Table>
Result<Turn> table_turn(const HostConfig& config, const char* name, uint64_t slots) {
  auto made = Table::create(slots);
  if (!made) return Error{fmt::format("{}: no table of {} slots", name, slots)};
  const auto table = std::make_shared<Table>(*std::move(made));
  const auto entries = static_cast<uint64_t>(static_cast<double>(slots) * config.load);
  for (uint64_t i = 0; i < entries; ++i) {
    if (!table->insert(halo::key_of_number(i, config.seed), i + 1))
      return Error{fmt::format("{}: no room for entry {} of {} slots", name, i, slots)};
  }
  const uint64_t warm_up = std::min(config.warm_up_max, kWarmUpOfEntry * entries);
  RecordRow row = row_named(name);
  row.slots = slots;
  row.entries = entries;
  row.load = config.load;
  row.key_bytes = sizeof(Key128);
  return Turn{.row = row, .time = [&config, table, entries, warm_up]() -> Result<double> {
                KeyStream stream(entries, config.seed);
                auto warmed = look_up_stream(*table, stream, warm_up);
                if (!warmed) return warmed;
                return look_up_stream(*table, stream, config.operations);
              }};
}

Result<std::vector<Turn>> all_turns(const HostConfig& config) {
  std::vector<Turn> turns;
  std::optional<Error> wrong;
  const auto add = [&](Result<Turn> turn) {
    if (turn) {
      turns.push_back(std::move(turn).value());
    } else if (!wrong) {
      wrong = turn.error();
    }
  };
  turns.push_back(clock_turn(config));
  for (const uint64_t bytes : config.chases) add(chase_turn(config, bytes));
  for (const uint64_t slots : config.slots) {
    add(table_turn<CountedRteHash<Key128, 1>>(config, "rte_hash", slots));
    add(table_turn<CountedRteHash<Key128, kCallLanes>>(config, "rte_hash-32", slots));
    add(table_turn<CountedFlowTable<Key128, traffic::Value128, LayoutChoice::kSplit>>(
        config, "roost-32", slots));
  }
  if (wrong) return *wrong;
  return turns;
}

RecordRow row_of(const HostConfig& config, const Turn& turn, unsigned round, double took) {
  RecordRow row = turn.row;
  row.round = round;
  row.operations = config.operations;
  row.value = took / static_cast<double>(config.operations);
  row.seconds = took * 1e-9;
  if (config.pages == PageKind::kHuge2MiB) row.page_bytes = kHugePageBytes;
  row.core = config.core;
  row.seed = config.seed;
  return row;
}

}  // namespace

Result<Rows> run_host_job(const HostConfig& config, const Progress& progress) {
  const Result<int> pinned = pin_to_core(config.core);
  if (!pinned) return pinned.error();
  progress(0, "filling tables");
  auto turns = all_turns(config);
  if (!turns) return turns.error();
  const size_t count = turns.value().size();
  Rows rows;
  for (unsigned round = 0; round < config.rounds; ++round) {
    progress(0.2 + 0.8 * round / config.rounds, fmt::format("round {}", round + 1));
    for (size_t i = 0; i < count; ++i) {
      const Turn& turn = turns.value()[(i + round) % count];
      const Result<double> took = turn.time();
      if (!took) return Error{turn.row.contestant + ": " + took.error().message};
      rows.push_back(row_of(config, turn, round, took.value()));
    }
  }
  return rows;
}

}  // namespace roost::lab
