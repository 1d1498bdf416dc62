// Counts what becomes of keys under models: see value_job.h.
//
// A table that probes puts a key where the model says, or into the next slot that is free; with
// keys entered in order it lies behind its place by as many slots as those before it are too close.
// A table of chains has as many keys in a bucket as the model gives it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "lab/value_tables/value_job.h"
#include "roost/compact/model_builder.h"
#include "roost/compact/parrot_plan.h"

namespace roost::lab {
namespace {

constexpr size_t kChainMax = 8;  // keys of a bucket that are told apart
constexpr uint64_t kFarAway = 100;
// RMI-LINES of about a hundred, as the paper's size of it says; a spline within one slot.
constexpr std::array kModels = {compact::ModelChoice{compact::ModelKind::kRmi, 100},
                                compact::ModelChoice{compact::ModelKind::kSpline, 1}};

class ValueShapeJob {
 public:
  ValueShapeJob(const ValueJobConfig& config, const KeySet<uint64_t>& set)
      : config_(config), set_(set) {}

  Rows run() {
    const auto slots = static_cast<uint64_t>(static_cast<double>(set_.keys.size()) / load()) + 1;
    for (const compact::ModelChoice& choice : kModels) {
      const compact::BuiltModel model = compact::build_model(choice, set_.keys, slots);
      form_ = choice.format();
      add("model_bytes", static_cast<double>(compact::MonotoneModel::bytes_of(model.head)),
          "probe_lmh");
      count_errors(model.view());
      count_chains(model.view(), slots);
    }
    return std::move(rows_);
  }

 private:
  void add(const char* metric, double value, const char* contestant) {
    RecordRow row = value_row(config_, load(), contestant);
    row.form = form_;
    row.operations = set_.keys.size();
    rows_.push_back(value_figure(row, metric, value));
  }

  void count_errors(const compact::MonotoneModel& model) {
    uint64_t exact = 0;
    uint64_t far = 0;
    uint64_t longest = 0;
    double sum = 0;
    uint64_t next = 0;  // the first slot behind the last key
    for (const uint64_t key : set_.keys) {
      const uint64_t wanted = model.bucket_of(key);
      const uint64_t error = std::max(next, wanted) - wanted;
      next = wanted + error + 1;
      exact += error == 0 ? 1 : 0;
      far += error >= kFarAway ? 1 : 0;
      longest = std::max(longest, error);
      sum += static_cast<double>(error);
    }
    add("exact_keys", static_cast<double>(exact), "probe_lmh");
    add("keys_off_by_100", static_cast<double>(far), "probe_lmh");
    add("longest_error", static_cast<double>(longest), "probe_lmh");
    add("mean_error", sum / static_cast<double>(set_.keys.size()), "probe_lmh");
  }

  void count_chains(const compact::MonotoneModel& model, uint64_t buckets) {
    std::array<uint64_t, kChainMax + 1> by_keys{};
    uint64_t filled = 0;
    compact::for_each_bucket(model, set_.keys, [&](uint64_t, size_t, size_t count) {
      ++by_keys[std::min(count, kChainMax)];
      ++filled;
    });
    by_keys[0] = buckets - filled;
    for (size_t keys = 0; keys <= kChainMax; ++keys) {
      RecordRow row = value_row(config_, load(), "chained_lmh");
      row.form = form_;
      row.lanes_per_call = keys;
      row.note = keys == kChainMax ? "or more" : "";
      rows_.push_back(value_figure(
          row, "share_of_buckets",
          static_cast<double>(by_keys[keys]) / static_cast<double>(buckets), row.note));
    }
  }

  [[nodiscard]] double load() const { return config_.loads.back(); }

  const ValueJobConfig& config_;
  const KeySet<uint64_t>& set_;
  std::string form_;
  Rows rows_;
};

}  // namespace

Result<Rows> run_value_shape_job(const ValueJobConfig& config, const Progress& progress) {
  if (has_tuples(config.keys)) return Error{"models are of keys of 64 bits at most"};
  progress(0, "counting");
  return with_key_set(config, [&]<class K>(const KeySet<K>& set) -> Result<Rows> {
    if constexpr (std::is_same_v<K, uint64_t>) return ValueShapeJob(config, set).run();
    return Rows{};
  });
}

}  // namespace roost::lab
