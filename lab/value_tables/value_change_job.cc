// Times changes: see value_job.h.
//
// Of four changes two give a key another value, one brings a key in and one takes one out, so the
// number of keys stays. Each contestant makes the same changes in the same order.
#include <fmt/format.h>

#include <memory>
#include <unordered_set>
#include <utility>

#include "lab/value_tables/changing_keys.h"
#include "lab/value_tables/value_job.h"

namespace roost::lab {
namespace {

constexpr uint64_t kSpareShare = 8;  // so many keys are there for each that waits to come in

class ValueChangeJob {
 public:
  ValueChangeJob(const ValueJobConfig& config, const Progress& progress, KeySet<uint64_t> set)
      : config_(config),
        progress_(progress),
        key_bits_(set.key_bits),
        keys_(std::move(set.keys), config.keys.count, config.value_bits, config.keys.seed) {}

  // More keys than are there at a time.
  [[nodiscard]] static KeySetConfig all_keys(const ValueJobConfig& config) {
    KeySetConfig keys = config.keys;
    keys.count += keys.count / kSpareShare + 1;
    return keys;
  }

  Result<Rows> run() {
    if (const auto wrong = build_all()) return *wrong;
    for (unsigned round = 0; round < config_.rounds; ++round) {
      const auto changes = keys_.changes(config_.lookups);
      for (size_t i = 0; i < tables_.size(); ++i) {
        Changing& changing = tables_[(i + round) % tables_.size()];
        progress_(static_cast<double>(round) / config_.rounds,
                  fmt::format("changing {}", changing.table->name()));
        if (const auto wrong = change(changing, changes, round)) return *wrong;
      }
    }
    for (const Changing& changing : tables_)
      describe_values(rows_, row_of(changing, "after changes"), *changing.table);
    return std::move(rows_);
  }

 private:
  struct Changing {
    std::unique_ptr<AnyValueTable<uint64_t>> table;
    std::unordered_set<uint64_t> refused;  // keys that it has not as they should be
  };

  std::optional<Error> build_all() {
    auto entries = keys_.entries();
    std::ranges::sort(entries, {}, [](const auto& entry) { return entry.key; });
    for (const std::string& name : config_.contestants) {
      progress_(0, fmt::format("building {}", name));
      auto made = build_value_table<uint64_t>(config_, key_bits_, load(), name, entries);
      std::string why = made ? "" : made.error().message;
      if (made && !made.value()->can_change()) why = "it cannot be changed";
      if (!why.empty()) {
        rows_.push_back(not_run(value_row(config_, load(), name), why));
        continue;
      }
      if (auto wrong = wrong_values<uint64_t>(*made.value(), entries)) return wrong;
      tables_.push_back({std::move(made).value(), {}});
      describe_values(rows_, row_of(tables_.back(), "as built"), *tables_.back().table);
    }
    return {};
  }

  std::optional<Error> change(Changing& changing, std::span<const Change<uint64_t>> changes,
                              unsigned round) {
    const Changed changed = changing.table->change(changes);
    for (const uint32_t place : changed.refused) changing.refused.insert(changes[place].key);
    const auto entries = keys_.entries(changing.refused);
    if (auto wrong = wrong_values<uint64_t>(*changing.table, entries)) return wrong;
    RecordRow row = row_of(changing, "half new values, a quarter inserts, a quarter erases");
    row.round = round;
    row.operations = changes.size();
    row.seconds = changed.seconds;
    row.table_bytes = changing.table->image_bytes();
    row.page_bytes = changing.table->pages().page_bytes;
    rows_.push_back(
        value_figure(row, "changes_per_s", static_cast<double>(changes.size()) / changed.seconds));
    rows_.push_back(value_figure(row, "rebuilds", static_cast<double>(changed.rebuilds)));
    rows_.push_back(value_figure(row, "refused", static_cast<double>(changed.refused.size())));
    return {};
  }

  [[nodiscard]] RecordRow row_of(const Changing& changing, const std::string& form) const {
    RecordRow row = value_row(config_, load(), std::string(changing.table->name()));
    row.form = form;
    return row;
  }
  [[nodiscard]] double load() const { return config_.loads.back(); }

  const ValueJobConfig& config_;
  const Progress& progress_;
  unsigned key_bits_;
  ChangingKeys keys_;
  std::vector<Changing> tables_;
  Rows rows_;
};

}  // namespace

Result<Rows> run_value_change_job(const ValueJobConfig& config, const Progress& progress) {
  if (has_tuples(config.keys)) return Error{"changes are of keys of 64 bits at most"};
  ValueJobConfig more = config;
  more.keys = ValueChangeJob::all_keys(config);
  return with_key_set(more, [&]<class K>(const KeySet<K>& set) -> Result<Rows> {
    if constexpr (std::is_same_v<K, uint64_t>) return ValueChangeJob(config, progress, set).run();
    return Rows{};
  });
}

}  // namespace roost::lab
