// Times ranges: see value_job.h.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "lab/value_tables/value_job.h"

namespace roost::lab {
namespace {

// Of keys from begin to end values that are not of the range may come at both ends.
constexpr size_t kSpuriousMax = 8;

class ValueScanJob {
 public:
  ValueScanJob(const ValueJobConfig& config, const Progress& progress, const KeySet<uint64_t>& set)
      : config_(config),
        progress_(progress),
        key_bits_(set.key_bits),
        entries_(entries_of_keys(set.keys, config.value_bits)) {}

  Result<Rows> run() {
    for (const std::string& name : config_.contestants) {
      progress_(0, fmt::format("building {}", name));
      auto made = build_value_table<uint64_t>(config_, key_bits_, load(), name, entries_);
      std::string why = made ? "" : made.error().message;
      if (made && !made.value()->can_scan()) why = "it has its keys in no order";
      if (!why.empty()) {
        rows_.push_back(not_run(value_row(config_, load(), name), why));
        continue;
      }
      tables_.push_back(std::move(made).value());
    }
    for (size_t step = 0; step < config_.lengths.size(); ++step) {
      progress_(static_cast<double>(step) / static_cast<double>(config_.lengths.size()),
                fmt::format("ranges of {}", config_.lengths[step]));
      if (const auto wrong = time(config_.lengths[step])) return *wrong;
    }
    return std::move(rows_);
  }

 private:
  std::optional<Error> time(size_t length) {
    if (length == 0 || length > entries_.size())
      return Error{fmt::format("no range of {} keys", length)};
    const size_t scans = std::max<size_t>(config_.lookups / length, 1);
    const std::vector<uint32_t> begins =
        draw_places(entries_.size() - length + 1, scans, 0, config_.keys.seed + 1);
    for (const auto& table : tables_)
      if (auto wrong = check(*table, begins, length)) return wrong;
    std::vector<uint32_t> values(length + kSpuriousMax);
    for (unsigned round = 0; round < config_.warm_up_rounds + config_.rounds; ++round) {
      for (size_t i = 0; i < tables_.size(); ++i) {
        AnyValueTable<uint64_t>& table = *tables_[(i + round) % tables_.size()];
        uint64_t given = 0;
        const auto start = std::chrono::steady_clock::now();
        for (const uint32_t begin : begins) given += scan(table, begin, length, values);
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        if (round < config_.warm_up_rounds) continue;
        add_rows(table, round - config_.warm_up_rounds, length, scans, seconds, given);
      }
    }
    return {};
  }

  [[nodiscard]] size_t scan(AnyValueTable<uint64_t>& table, size_t begin, size_t length,
                            std::span<uint32_t> values) const {
    return table.scan(entries_[begin].key, entries_[begin + length - 1].key, values);
  }

  // That every value of each range is given, and no more beside them than there may be.
  std::optional<Error> check(AnyValueTable<uint64_t>& table, std::span<const uint32_t> begins,
                             size_t length) const {
    std::vector<uint32_t> given(length + kSpuriousMax);
    std::vector<uint32_t> wanted(length);
    for (const uint32_t begin : begins) {
      const size_t count = scan(table, begin, length, given);
      for (size_t i = 0; i < length; ++i) wanted[i] = entries_[begin + i].value;
      std::ranges::sort(wanted);
      const auto end = given.begin() + static_cast<ptrdiff_t>(count);
      std::sort(given.begin(), end);
      if ((table.keeps_keys() && count != length) ||
          !std::includes(given.begin(), end, wanted.begin(), wanted.end()))
        return Error{fmt::format("{}: of {} keys from key {} on it gives other values",
                                 table.name(), length, begin)};
    }
    return {};
  }

  void add_rows(const AnyValueTable<uint64_t>& table, unsigned round, size_t length, size_t scans,
                double seconds, uint64_t given) {
    RecordRow row = value_row(config_, load(), std::string(table.name()));
    row.form = fmt::format("{} keys", length);
    row.lanes_per_call = length;
    row.round = round;
    row.operations = scans;
    row.seconds = seconds;
    row.page_bytes = table.pages().page_bytes;
    const auto each = static_cast<double>(scans);
    rows_.push_back(value_figure(row, "range_ns", seconds * 1e9 / each));
    rows_.push_back(value_figure(row, "spurious_values",
                                 static_cast<double>(given) / each - static_cast<double>(length)));
  }

  [[nodiscard]] double load() const { return config_.loads.back(); }

  const ValueJobConfig& config_;
  const Progress& progress_;
  unsigned key_bits_;
  std::vector<ValueEntry<uint64_t>> entries_;
  std::vector<std::unique_ptr<AnyValueTable<uint64_t>>> tables_;
  Rows rows_;
};

}  // namespace

Result<Rows> run_value_scan_job(const ValueJobConfig& config, const Progress& progress) {
  if (has_tuples(config.keys)) return Error{"ranges are of keys of 64 bits at most"};
  return with_key_set(config, [&]<class K>(const KeySet<K>& set) -> Result<Rows> {
    if constexpr (std::is_same_v<K, uint64_t>) return ValueScanJob(config, progress, set).run();
    return Rows{};
  });
}

}  // namespace roost::lab
