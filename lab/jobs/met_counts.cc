#include "lab/jobs/met_counts.h"

namespace roost::lab {

void MetCounts::take_known_lines(const AnyTable& table) {
  const auto lines = table.known_lines();
  if (!lines) return;
  for (const double load : config_.loads) {
    for (const double miss : config_.miss_ratios) {
      const double mean = lines->first * (1 - miss) + lines->second * miss;
      met_[{std::string(table.name()), load, miss}] = {mean, {}, {}, {}};
    }
  }
}

void MetCounts::count_twin(const ContestantEntry& entry) {
  if (!entry.counted) return;
  auto twin = entry.counted(config_.slots, config_.pages);
  if (!twin) return;
  AnyTable& table = *twin.value();
  const traffic::KeySource keys = keys_of_core(config_, 0);
  uint64_t filled = 0;
  for (const double load : config_.loads) {
    const uint64_t past = entries_at(config_, load);
    if (table.insert(keys, filled, past, kPlainCall.lanes).stored != past - filled) return;
    filled = past;
    for (const double miss : config_.miss_ratios) {
      const auto before = table.counts().value_or(StructuralCounts{});
      static_cast<void>(
          table.pass(Stream(traffic::query_stream(keys, shape_of_(load, miss))), kPlainCall));
      const auto after = table.counts().value_or(StructuralCounts{});
      const auto each = [&](uint64_t StructuralCounts::*field) {
        return static_cast<double>(after.*field - before.*field) /
               static_cast<double>(after.lookups - before.lookups);
      };
      met_[{std::string(entry.name), load, miss}] = {
          each(&StructuralCounts::lines), each(&StructuralCounts::secondary_visits),
          each(&StructuralCounts::filter_false_positives),
          static_cast<double>(after.kicks) / static_cast<double>(after.inserts)};
    }
  }
}

void MetCounts::add_to(Rows& rows) const {
  for (RecordRow& row : rows) {
    if (!row.miss_ratio) continue;
    const auto met = met_.find({row.contestant, row.load, *row.miss_ratio});
    if (met == met_.end()) continue;
    row.lines_per_lookup = met->second.lines;
    row.secondary_visits_per_lookup = met->second.secondary_visits;
    row.filter_false_positives_per_lookup = met->second.filter_false_positives;
    row.kicks_per_insert = met->second.kicks;
  }
}

}  // namespace roost::lab
