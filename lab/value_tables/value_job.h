// Value-only tables, and what is measured beside them, in one process each.
//
//   run_value_lookup_job  builds tables at each load, checks every key, says their bytes, and times
//                         lookups in interleaved rounds beside the one-line oracle over as many
//                         bytes; strangers apart
//   run_value_build_job   times building from sorted entries, by round
//   run_value_change_job  times changes: of four two new values, an insert, an erase; then checks
//                         every key
//   run_value_beside_job  times lookups beside a builder that changes the table at a rate, and
//                         rebuilds it, on another core
//   run_value_scan_job    times ranges by length, and counts values that are not of them
//   run_value_part_job    times what Ludo's locator and a model's answer take of a lookup
//   run_value_shape_job   counts what becomes of keys under models, without a clock
//   run_value_switch_job  sends packets through Parrot in an emulated switch, and says what one of
//                         hardware would need; DPDK must have started
//   run_value_forward_job times packets of these keys from port to port by what tables have for
//                         them (value_forwarder.h), beside moving the same packets without a
//                         table; it starts DPDK, so a process has one
//   run_crc_job           counts buckets that no seed of a CRC-8 tells apart
//
// An error is a wrong answer or a failed set-up. What cannot be made gets a row without a value
// whose note says why. A row's slots are the number of keys; its workload begins with the keys'
// name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/contestants/value_line_up.h"
#include "lab/harness/any_value_table.h"
#include "lab/jobs/job.h"
#include "lab/value_tables/key_sets.h"
#include "roost/base/result.h"
#include "roost/memory/arena.h"

namespace roost::lab {

struct ValueJobConfig {
  std::string experiment;
  std::vector<std::string> contestants;
  KeySetConfig keys;
  uint32_t value_bits = 16;
  std::vector<double> loads = {0.85};
  std::vector<size_t> calls = {64};          // keys a call
  std::vector<std::string> oracles_of;       // contestants over whose bytes oracles run along
  std::vector<double> zipf_exponents = {0};  // of lookups, one after the other; 0 draws evenly
  size_t lookups = 0;           // of a pass; of a change job as many changes, of a scan job
                                // as many values, of a forward job as many packets
  size_t frames = 0;            // that ports have, of keys that are drawn
  std::vector<size_t> lengths;  // of ranges
  std::vector<uint64_t> rates;  // of changes a second, beside lookups
  bool asks_strangers = false;
  PageKind pages = PageKind::kSmall;
  int core = -1;
  int builder_core = -1;  // of a builder beside lookups
  unsigned rounds = 1;
  unsigned warm_up_rounds = 1;
};

[[nodiscard]] Result<Rows> run_value_lookup_job(const ValueJobConfig& config,
                                                const Progress& progress);
[[nodiscard]] Result<Rows> run_value_build_job(const ValueJobConfig& config,
                                               const Progress& progress);
[[nodiscard]] Result<Rows> run_value_change_job(const ValueJobConfig& config,
                                                const Progress& progress);
[[nodiscard]] Result<Rows> run_value_beside_job(const ValueJobConfig& config,
                                                const Progress& progress);
[[nodiscard]] Result<Rows> run_value_scan_job(const ValueJobConfig& config,
                                              const Progress& progress);
[[nodiscard]] Result<Rows> run_value_part_job(const ValueJobConfig& config,
                                              const Progress& progress);
[[nodiscard]] Result<Rows> run_value_shape_job(const ValueJobConfig& config,
                                               const Progress& progress);
[[nodiscard]] Result<Rows> run_value_switch_job(const ValueJobConfig& config,
                                                const Progress& progress);
[[nodiscard]] Result<Rows> run_value_forward_job(const ValueJobConfig& config,
                                                 const Progress& progress);
[[nodiscard]] Result<Rows> run_crc_job(const ValueJobConfig& config, const Progress& progress);

// --- What they share. ---

// A row with the conditions that hold for the whole job, but for keys that are not drawn evenly.
[[nodiscard]] RecordRow value_row(const ValueJobConfig& config, double load,
                                  const std::string& contestant, double zipf_exponent = 0);
// A figure that needs no round.
[[nodiscard]] RecordRow value_figure(RecordRow row, const std::string& metric, double value,
                                     const std::string& note = "");

// Rows of bytes and of what a table says of itself.
template <class Key>
void describe_values(Rows& rows, const RecordRow& row, const AnyValueTable<Key>& table) {
  const auto bytes = static_cast<double>(table.image_bytes());
  rows.push_back(value_figure(row, "image_bytes", bytes));
  rows.push_back(value_figure(row, "bits_per_key", 8 * bytes / static_cast<double>(row.entries)));
  rows.push_back(value_figure(row, "builder_bytes", static_cast<double>(table.builder_bytes())));
  for (const ValueFact& fact : table.facts())
    rows.push_back(value_figure(row, fact.metric, fact.value, fact.note));
}

// Keys a call of that check, so that groups of lanes overlap.
inline constexpr size_t kCheckedLanes = 96;

// Checks every key of a table that was built of these entries; what is wrong, if anything.
template <class Key>
[[nodiscard]] std::optional<Error> wrong_values(AnyValueTable<Key>& table,
                                                ValueEntries<Key> entries) {
  const auto wrong = table.first_wrong(entries, kCheckedLanes);
  if (!wrong) return {};
  return Error{std::string(table.name()) + ": " + *wrong + "; nothing it says counts"};
}

// Makes the keys and calls run(set). Without them no contestant is run, and rows say why.
template <class Run>
[[nodiscard]] Result<Rows> with_key_set(const ValueJobConfig& config, Run&& run) {
  const auto made = [&](const auto& set) -> Result<Rows> {
    if (set) return run(set.value());
    Rows rows;
    for (const std::string& name : config.contestants)
      rows.push_back(not_run(value_row(config, config.loads.back(), name), set.error().message));
    return rows;
  };
  if (has_tuples(config.keys)) return made(make_key_set<traffic::Key104>(config.keys));
  return made(make_key_set<uint64_t>(config.keys));
}

// The contestant of a name, built of these keys. Errors: it takes no such keys, or cannot have
// them.
template <class Key>
[[nodiscard]] typename ValueContestant<Key>::Made build_value_table(const ValueJobConfig& config,
                                                                    unsigned key_bits, double load,
                                                                    const std::string& name,
                                                                    ValueEntries<Key> entries) {
  const ValueContestant<Key>* const contestant = find_value_contestant<Key>(name);
  if (contestant == nullptr)
    return Error{"it takes no keys of " + std::to_string(key_bits) + " bits"};
  return contestant->build({.key_bits = key_bits,
                            .value_bits = config.value_bits,
                            .load = load,
                            .pages = config.pages,
                            .seed = config.keys.seed},
                           entries);
}

}  // namespace roost::lab
