#include "lab/lb/timer_job.h"

#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_timer.h>

#include <chrono>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "lab/harness/pinned_core.h"
#include "roost/expiry/timer_wheel.h"
#include "roost/traffic/draw.h"

namespace roost::lab {
namespace {

constexpr double kFarSeconds = 60;  // ahead, of timers that are not to fire

class WheelTimers {
 public:
  static constexpr const char* kName = "timer_wheel";
  static constexpr double kTicksPerSecond = 10;

  static Result<WheelTimers> create(uint64_t count, const ArenaOptions& memory) {
    Result<TimerWheel> wheel = TimerWheel::create({.timers = count, .memory = memory});
    if (!wheel) return wheel.error();
    return WheelTimers(std::move(wheel).value());
  }

  void arm(uint32_t timer, double seconds) {
    wheel_.arm(timer, {now_.count + 1 + static_cast<uint64_t>(seconds * kTicksPerSecond)});
  }
  void disarm(uint32_t timer) { wheel_.disarm(timer); }
  // Lets so many seconds pass.
  void pass(double seconds) { now_.count += 1 + static_cast<uint64_t>(seconds * kTicksPerSecond); }
  // Sees to what has come due; how many fired.
  uint64_t fire() {
    return wheel_.advance(
        now_, ~uint64_t{0}, [](uint32_t) {}, [](uint32_t) { return std::optional<Tick>(); });
  }
  [[nodiscard]] uint64_t memory_bytes() const { return wheel_.memory_bytes(); }

 private:
  explicit WheelTimers(TimerWheel wheel) : wheel_(std::move(wheel)) {}

  TimerWheel wheel_;
  Tick now_{};
};

class RteTimers {
 public:
  static constexpr const char* kName = "rte_timer";

  static Result<RteTimers> create(uint64_t count, const ArenaOptions& memory) {
    if (rte_timer_subsystem_init() != 0) return Error{"rte_timer does not start"};
    Result<Arena> timers = Arena::map(count * sizeof(rte_timer), memory);
    if (!timers) return timers.error();
    return RteTimers(std::move(timers).value(), count);
  }
  RteTimers(RteTimers&&) noexcept = default;
  RteTimers& operator=(RteTimers&&) = delete;
  RteTimers(const RteTimers&) = delete;
  RteTimers& operator=(const RteTimers&) = delete;
  ~RteTimers() {
    if (timers_.data() != nullptr) rte_timer_subsystem_finalize();
  }

  void arm(uint32_t timer, double seconds) {
    rte_timer_reset_sync(
        &at(timer), static_cast<uint64_t>(seconds * static_cast<double>(rte_get_timer_hz())),
        SINGLE, rte_lcore_id(), [](rte_timer*, void* fired) { ++*static_cast<uint64_t*>(fired); },
        &fired_);
  }
  void disarm(uint32_t timer) { rte_timer_stop_sync(&at(timer)); }
  static void pass(double seconds) {
    const uint64_t until = rte_get_timer_cycles() +
                           static_cast<uint64_t>(seconds * static_cast<double>(rte_get_timer_hz()));
    while (rte_get_timer_cycles() < until) rte_pause();
  }
  uint64_t fire() {
    fired_ = 0;
    rte_timer_manage();
    return fired_;
  }
  [[nodiscard]] uint64_t memory_bytes() const { return timers_.bytes(); }

 private:
  RteTimers(Arena timers, uint64_t count) : timers_(std::move(timers)) {
    for (uint64_t timer = 0; timer < count; ++timer) rte_timer_init(&at(timer));
  }
  [[nodiscard]] rte_timer& at(uint64_t timer) const {
    return reinterpret_cast<rte_timer*>(timers_.data())[timer];
  }

  Arena timers_;
  uint64_t fired_ = 0;
};

class TimerJob {
 public:
  TimerJob(const TimerJobConfig& config, const Progress& progress)
      : config_(config), progress_(progress), order_(config.timers), draw_(1) {
    std::iota(order_.begin(), order_.end(), uint32_t{0});
    for (uint64_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[draw_.below(i)]);
  }

  Result<Rows> run() {
    const Result<int> pinned = pin_to_core(config_.core);
    if (!pinned) return pinned.error();
    const ArenaOptions memory{.pages = config_.pages == PageKind::kHuge2MiB
                                           ? std::optional(config_.pages)
                                           : std::nullopt};
    auto ours = WheelTimers::create(config_.timers, memory);
    if (!ours) return ours.error();
    auto theirs = RteTimers::create(config_.timers, memory);
    if (!theirs) return theirs.error();
    for (unsigned round = 0; round < config_.rounds; ++round) {
      progress_(static_cast<double>(round) / config_.rounds, "round");
      if (auto error = run_round(ours.value(), round)) return *error;
      if (auto error = run_round(theirs.value(), round)) return *error;
    }
    return std::move(rows_);
  }

 private:
  template <class Timers>
  std::optional<Error> run_round(Timers& timers, unsigned round) {
    const auto far = [&] { return kFarSeconds * (1 + draw_.unit()); };
    const auto time = [&](const char* metric, auto&& each) {
      const auto began = std::chrono::steady_clock::now();
      each();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
      add(Timers::kName, metric, round, took.count() * 1e9 / static_cast<double>(order_.size()));
    };
    time("arm_ns", [&] { for_all([&](uint32_t timer) { timers.arm(timer, far()); }); });
    time("arm_again_ns", [&] { for_all([&](uint32_t timer) { timers.arm(timer, 2 * far()); }); });
    time("disarm_ns", [&] { for_all([&](uint32_t timer) { timers.disarm(timer); }); });
    for_all([&](uint32_t timer) { timers.arm(timer, draw_.unit()); });
    timers.pass(1);
    uint64_t fired = 0;
    time("fire_ns", [&] { fired = timers.fire(); });
    if (fired != order_.size()) return Error{std::string(Timers::kName) + ": not all fired"};
    add(Timers::kName, "bytes_a_timer", round,
        static_cast<double>(timers.memory_bytes()) / static_cast<double>(order_.size()));
    return {};
  }

  void for_all(auto&& each) {
    for (const uint32_t timer : order_) each(timer);
  }

  void add(const char* name, const char* metric, unsigned round, double value) {
    RecordRow row;
    row.experiment = config_.experiment;
    row.contestant = name;
    row.slots = config_.timers;
    row.entries = config_.timers;
    row.core_count = 1;
    row.round = round;
    row.metric = metric;
    row.operations = config_.timers;
    row.value = value;
    row.page_bytes = config_.pages == PageKind::kHuge2MiB ? 2U << 20 : 4U << 10;
    row.core = config_.core;
    rows_.push_back(row);
  }

  const TimerJobConfig& config_;
  const Progress& progress_;
  std::vector<uint32_t> order_;
  traffic::Draw draw_;
  Rows rows_;
};

}  // namespace

Result<Rows> run_timer_job(const TimerJobConfig& config, const Progress& progress) {
  return TimerJob(config, progress).run();
}

}  // namespace roost::lab
