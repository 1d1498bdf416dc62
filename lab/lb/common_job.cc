#include "lab/lb/common_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "lab/harness/pinned_core.h"
#include "lab/lb/flows.h"
#include "lab/lb/lcore_thread.h"
#include "lab/store/common_values.h"
#include "roost/traffic/draw.h"

namespace roost::lab {
namespace {

using Clock = std::chrono::steady_clock;
using View = SmallValues<net::FlowKey4>;

// The numbers of a thread's keys: those from `first` on, as many as there are to a thread. Number n
// of thread t is flow n * threads + t.
struct alignas(64) Window {
  std::atomic<uint64_t> first{0};
};
static_assert(sizeof(Window) == 64);

// What must not happen.
struct Faults {
  uint64_t missed = 0;      // keys that were there
  uint64_t of_another = 0;  // values of another key
  uint64_t refused = 0;     // insertions and erasures
};

// One thread's part of a pass.
class Asker {
 public:
  Asker(View& view, std::vector<Window>& windows, size_t thread, const CommonJobConfig& config)
      : view_(view),
        windows_(windows),
        thread_(thread),
        size_(config.entries / windows.size()),
        lookups_per_change_(config.lookups_per_change),
        draw_(config.seed + thread) {}

  [[nodiscard]] const Faults& faults() const { return faults_; }

  // Makes the first window's keys; false when there is no room.
  [[nodiscard]] bool fill() {
    for (uint64_t number = 0; number < size_; ++number)
      if (!view_.insert(key_of(flow(thread_, number)), value_of(flow(thread_, number))))
        return false;
    return true;
  }

  Clock::duration run(uint64_t lookups) {
    const auto began = Clock::now();
    for (uint64_t done = 0; done < lookups; done += kIndexLanesMax) {
      look_up();
      due_ += kIndexLanesMax;
      for (; due_ >= lookups_per_change_; due_ -= lookups_per_change_) move_on();
    }
    return Clock::now() - began;
  }

 private:
  [[nodiscard]] uint64_t flow(size_t thread, uint64_t number) const {
    return (number * windows_.size() + thread) % kFlowsMax;
  }
  static uint32_t value_of(uint64_t flow) { return static_cast<uint32_t>(flow); }

  void look_up() {
    std::array<uint64_t, kIndexLanesMax> numbers;
    std::array<size_t, kIndexLanesMax> threads;
    std::array<net::FlowKey4, kIndexLanesMax> keys;
    std::array<const net::FlowKey4*, kIndexLanesMax> pointers;
    for (size_t lane = 0; lane < kIndexLanesMax; ++lane) {
      threads[lane] = draw_.below(windows_.size());
      numbers[lane] =
          windows_[threads[lane]].first.load(std::memory_order_acquire) + draw_.below(size_);
      keys[lane] = key_of(flow(threads[lane], numbers[lane]));
      pointers[lane] = &keys[lane];
    }
    std::array<uint32_t, kIndexLanesMax> values;
    HitArray<kIndexLanesMax> hits;
    view_.lookup({pointers.data(), kIndexLanesMax}, values, hits);
    for (size_t lane = 0; lane < kIndexLanesMax; ++lane) {
      if (hits.test(lane)) {
        if (values[lane] != value_of(flow(threads[lane], numbers[lane]))) ++faults_.of_another;
      } else {
        // Its owner has erased it meanwhile, and has said so before.
        const uint64_t first = windows_[threads[lane]].first.load(std::memory_order_acquire);
        if (numbers[lane] >= first) ++faults_.missed;
      }
    }
  }

  // The next key comes before the first one goes; who reads the window finds both ends in it.
  void move_on() {
    const uint64_t first = windows_[thread_].first.load(std::memory_order_relaxed);
    const uint64_t next = flow(thread_, first + size_);
    if (!view_.insert(key_of(next), value_of(next))) ++faults_.refused;
    windows_[thread_].first.store(first + 1, std::memory_order_release);
    if (!view_.erase(key_of(flow(thread_, first)))) ++faults_.refused;
  }

  View& view_;
  std::vector<Window>& windows_;
  size_t thread_;
  uint64_t size_;  // of a window
  uint64_t lookups_per_change_;
  traffic::Draw draw_;
  uint64_t due_ = 0;
  Faults faults_;
};

struct CommonContestant {
  std::string name;
  CommonViews views;
  std::unique_ptr<std::vector<Window>> windows;
  std::vector<Asker> askers;
};

class CommonJob {
 public:
  CommonJob(const CommonJobConfig& config, const Progress& progress)
      : config_(config), progress_(progress) {}

  Result<Rows> run() {
    const Result<int> pinned = pin_to_core(config_.cores.front());
    if (!pinned) return pinned.error();
    for (const std::string& name : config_.tables)
      if (auto error = add(name)) return *error;
    for (CommonContestant& one : contestants_)
      static_cast<void>(lookups_per_second(one, thread_count()));
    Rows rows;
    for (unsigned round = 0; round < config_.rounds; ++round) {
      progress_(0.3 + 0.7 * round / config_.rounds, fmt::format("round {}", round));
      for (size_t threads : {size_t{1}, thread_count()}) {
        if (threads == 1 || thread_count() > 1) run_round(round, threads, rows);
      }
    }
    for (const CommonContestant& one : contestants_)
      for (const Asker& asker : one.askers) {
        const auto [missed, of_another, refused] = asker.faults();
        if (missed + of_another + refused != 0)
          return Error{
              fmt::format("{}: {} keys missed, {} values of another key, {} changes refused",
                          one.name, missed, of_another, refused)};
      }
    return rows;
  }

 private:
  [[nodiscard]] size_t thread_count() const { return config_.cores.size(); }

  std::optional<Error> add(const std::string& name) {
    progress_(0, name + ": filling its table");
    const auto kinds = sharing_kinds();
    const auto kind = std::ranges::find(kinds, name, &SharingKind::name);
    if (kind == kinds.end()) return Error{fmt::format("there is no table \"{}\"", name)};
    // A window and one more key of each thread, at a load of 0.8.
    auto views =
        kind->make({.capacity = config_.entries * 10 / 8,
                    .entries_max = config_.entries + 2 * thread_count(),
                    .hash_seed = config_.seed,
                    .pages = config_.pages == PageKind::kHuge2MiB ? std::optional(config_.pages)
                                                                  : std::nullopt},
                   thread_count());
    if (!views) return Error{fmt::format("{}: {}", name, views.error().message)};
    CommonContestant one{
        name, std::move(views).value(), std::make_unique<std::vector<Window>>(thread_count()), {}};
    const LcoreThread lcore;
    for (size_t thread = 0; thread < thread_count(); ++thread) {
      one.askers.emplace_back(*one.views[thread], *one.windows, thread, config_);
      if (!one.askers.back().fill()) return Error{name + ": no room for the first keys"};
    }
    contestants_.push_back(std::move(one));
    return {};
  }

  [[nodiscard]] double lookups_per_second(CommonContestant& one, size_t threads) {
    std::vector<double> rates(threads);
    std::barrier begin(static_cast<ptrdiff_t>(threads));
    const auto work = [&](size_t thread) {
      static_cast<void>(pin_to_core(config_.cores[thread]));  // rows name the core
      const LcoreThread lcore;
      begin.arrive_and_wait();
      const auto took = one.askers[thread].run(config_.lookups);
      rates[thread] =
          static_cast<double>(config_.lookups) / std::chrono::duration<double>(took).count();
    };
    {
      std::vector<std::jthread> all;
      for (size_t thread = 0; thread < threads; ++thread) all.emplace_back(work, thread);
    }
    double sum = 0;
    for (const double rate : rates) sum += rate;
    return sum;
  }

  // Who begins is another one each time.
  void run_round(unsigned round, size_t threads, Rows& rows) {
    for (size_t i = 0; i < contestants_.size(); ++i) {
      CommonContestant& one = contestants_[(i + round) % contestants_.size()];
      RecordRow row;
      row.experiment = config_.experiment;
      row.contestant = one.name;
      row.form = "any key from any thread";
      row.workload = fmt::format("churn 1:{}", config_.lookups_per_change);
      row.slots = config_.entries * 10 / 8;
      row.entries = config_.entries;
      row.load = 0.8;
      row.key_bytes = net::FlowKey4::kSignificantBytes;
      row.value_bytes = sizeof(uint32_t);
      row.core_count = threads;
      row.round = round;
      row.metric = "lookups_m_per_s";
      row.operations = config_.lookups * threads;
      row.value = lookups_per_second(one, threads) / 1e6;
      row.table_bytes = one.views.front()->memory_bytes();
      row.page_bytes = config_.pages == PageKind::kHuge2MiB ? 2U << 20 : 4U << 10;
      row.core = config_.cores.front();
      row.seed = config_.seed;
      rows.push_back(row);
    }
  }

  const CommonJobConfig& config_;
  const Progress& progress_;
  std::vector<CommonContestant> contestants_;
};

}  // namespace

Result<Rows> run_common_job(const CommonJobConfig& config, const Progress& progress) {
  return CommonJob(config, progress).run();
}

}  // namespace roost::lab
