// Times choices: see balance_job.h.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "lab/balance/balance_job.h"
#include "lab/balance/chooser.h"
#include "lab/harness/pinned_core.h"
#include "roost/traffic/draw.h"

namespace roost::lab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kLiveMean = 1'000;  // connections of a backend, for those that go by them

struct Entrant {
  std::string name;
  std::unique_ptr<Chooser> chooser;
};

class PickJob {
 public:
  PickJob(const PickJobConfig& config, const Progress& progress)
      : config_(config), progress_(progress) {
    traffic::Draw draw(config.seed);
    for (uint64_t i = 0; i < config.picks; ++i) flow_hashes_.push_back(draw.word());
    for (uint64_t i = 0; i < config.backends; ++i) {
      list_.push_back({fmt::format("backend-{}", i), 1});
      live_.push_back(kLiveMean + draw.below(kLiveMean / 10));
    }
  }

  Result<Rows> run() {
    const Result<int> pinned = pin_to_core(config_.core);
    if (!pinned) return pinned.error();
    for (const std::string& name : config_.contestants) {
      if (auto error = add(name)) return *error;
    }
    for (unsigned round = 0; round < config_.rounds; ++round) {
      progress_(static_cast<double>(round) / config_.rounds, fmt::format("round {}", round));
      // Who begins is another one each time.
      for (size_t i = 0; i < entrants_.size(); ++i) {
        if (auto error = run_round(entrants_[(i + round) % entrants_.size()], round)) return *error;
      }
    }
    return std::move(rows_);
  }

 private:
  std::optional<Error> add(const std::string& name) {
    const ChooserKind* kind = chooser_kind(name);
    if (kind == nullptr) return Error{"there is no algorithm \"" + name + "\""};
    auto made = kind->make({.backends = list_,
                            .seed = config_.seed,
                            .backends_max = static_cast<uint32_t>(2 * list_.size())});
    if (!made) return made.error();
    entrants_.push_back({name, std::move(made).value()});
    return {};
  }

  std::optional<Error> run_round(Entrant& entrant, unsigned round) {
    const auto took = [](Clock::time_point began) {
      return std::chrono::duration<double>(Clock::now() - began).count();
    };
    // Its table comes back into the caches before the clock starts. The sum is made anew each time:
    // a list that changes and changes back is another hash for those that keep history.
    const uint64_t expected = entrant.chooser->pick_all(flow_hashes_, live_);
    auto began = Clock::now();
    const uint64_t sum = entrant.chooser->pick_all(flow_hashes_, live_);
    const double picking = took(began);
    if (sum != expected) return Error{entrant.name + ": it chose differently"};
    add_row(entrant, round, "pick_ns", picking * 1e9 / static_cast<double>(config_.picks));

    const std::span<const balance::WeightedBackend> list = list_;
    began = Clock::now();
    if (auto error = entrant.chooser->change(list.first(list.size() - 1))) return error;
    add_row(entrant, round, "change_us", took(began) * 1e6);
    return entrant.chooser->change(list);
  }

  void add_row(const Entrant& entrant, unsigned round, const char* metric, double value) {
    RecordRow row;
    row.experiment = config_.experiment;
    row.contestant = entrant.name;
    row.form = "one after the other";
    row.workload = "uniform";
    row.slots = config_.backends;
    row.entries = config_.backends;
    row.round = round;
    row.metric = metric;
    row.operations = config_.picks;
    row.value = value;
    row.table_bytes = entrant.chooser->memory_bytes();
    row.core = config_.core;
    row.seed = config_.seed;
    rows_.push_back(row);
  }

  const PickJobConfig& config_;
  const Progress& progress_;
  std::vector<uint64_t> flow_hashes_;
  std::vector<balance::WeightedBackend> list_;
  std::vector<uint64_t> live_;
  std::vector<Entrant> entrants_;
  Rows rows_;
};

}  // namespace

Result<Rows> run_pick_job(const PickJobConfig& config, const Progress& progress) {
  return PickJob(config, progress).run();
}

}  // namespace roost::lab
