#include "lab/switch/stall_job.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lab/harness/pinned_core.h"
#include "lab/packets/batch_times.h"
#include "lab/packets/port_bench.h"
#include "lab/switch/station_frames.h"
#include "lab/switch/stations.h"
#include "lab/switch/switches.h"
#include "roost/control/fdb_commands.h"
#include "roost/control/fdb_file.h"

namespace roost::lab {
namespace {

using control::Json;

constexpr std::chrono::microseconds kBound{50};
constexpr uint16_t kImportedVlan = 20;

// A switch's worker; a turn is from a batch to the next.
class TimedSwitch : public LearningSwitch {
 public:
  using LearningSwitch::LearningSwitch;

  void finish(net::PacketBatch& batch, Started& started, Tick now) {
    const BatchTimes::Clock::time_point began = BatchTimes::Clock::now();
    if (last_) times_.add(began - *last_);
    last_ = began;
    LearningSwitch::finish(batch, started, now);
  }
  // The turns since this was asked before.
  BatchTimes take_times() {
    last_.reset();
    return std::exchange(times_, BatchTimes());
  }

 private:
  std::optional<BatchTimes::Clock::time_point> last_;
  BatchTimes times_;
};

class TimedHolder {
 public:
  using Function = TimedSwitch;

  explicit TimedHolder(std::shared_ptr<LearningSwitch::Shared> shared)
      : shared_(std::move(shared)), function_(shared_, 0, 1) {}
  [[nodiscard]] Function& function() { return function_; }
  [[nodiscard]] std::optional<Error> wrong() const {
    const uint64_t wrong = function_.counters().unknown_unicast;
    if (wrong == 0) return {};
    return Error{fmt::format("{} frames of stations that are known were flooded", wrong)};
  }
  [[nodiscard]] uint64_t memory_bytes() const { return LearningSwitch::memory_bytes(*shared_); }

 private:
  std::shared_ptr<LearningSwitch::Shared> shared_;
  Function function_;
};

// The control thread's work, over and over from begin() to end().
class ControlWork {
 public:
  using Once = std::function<std::optional<Error>()>;

  ControlWork(int core, const Once& once)
      : thread_([this, core, &once](const std::stop_token& stop) {
          static_cast<void>(pin_to_core(core));  // which was tried beforehand
          while (!stop.stop_requested() && !error_) {
            error_ = once();
            done_.fetch_add(1);
          }
        }) {}
  // How often it was done; it is waited for once at least.
  Result<uint64_t> end() {
    while (done_.load() == 0) std::this_thread::yield();
    thread_.request_stop();
    thread_.join();
    if (error_) return *error_;
    return done_.load();
  }

 private:
  std::optional<Error> error_;
  std::atomic<uint64_t> done_{0};
  std::jthread thread_;  // last: it uses the others
};

class StallJob {
 public:
  StallJob(const StallJobConfig& config, const Progress& progress)
      : config_(config),
        bench_({.experiment = config.experiment,
                .pages = config.pages,
                .cores = {config.core},
                .rounds = config.rounds,
                .packets = config.packets,
                .seed = config.seed,
                .port_count = kStationPorts,
                .frames = config.frames,
                .frame_bytes = kStationFrameBytes},
               progress) {}

  Result<Rows> run() {
    if (auto error = prepare()) return *error;
    bench_.warm_up();
    Rows rows;
    for (unsigned round = 0; round < config_.rounds; ++round) {
      bench_.say_round(round);
      for (const auto& [name, once] : works()) {
        if (auto error = time_beside(name, once, round, rows)) return *error;
      }
    }
    if (auto error = bench_.wrong()) return *error;
    return rows;
  }

 private:
  std::optional<Error> prepare() {
    const auto write = [this](CaptureFiles& files) {
      write_station_frames(
          {.stations = config_.stations, .frames = config_.frames, .seed = config_.seed}, files);
    };
    if (auto error = bench_.open(write)) return error;
    // Half of the room is shared, and half is divided among the ports.
    auto shared = LearningSwitch::create_shared(config_.stations + 2 * config_.imported,
                                                config_.pages, config_.seed);
    if (!shared) return shared.error();
    shared_ = std::move(shared).value();
    for (uint64_t station = 0; station < config_.stations; ++station) {
      if (!LearningSwitch::add(*shared_, station))
        return Error{fmt::format("it refused a station after {}", station)};
    }
    auto holder = std::make_unique<TimedHolder>(shared_);
    function_ = &holder->function();
    std::vector<std::unique_ptr<TimedHolder>> holders;
    holders.push_back(std::move(holder));
    bench_.add("switch", std::move(holders));
    return write_imported();
  }

  [[nodiscard]] std::optional<Error> write_imported() const {
    std::ofstream file(imported_path_);
    file << control::kFdbFileHead << '\n';
    for (uint64_t station = 0; station < config_.imported; ++station) {
      const bridge::FdbKey key(kImportedVlan, key_of_station(station).mac_word());
      file << control::format_line(key, bridge::FdbValue::learned(port_of_station(station), 0))
           << '\n';
    }
    file.close();
    if (!file) return Error{imported_path_ + " cannot be written"};
    return {};
  }

  Result<Json> ask(const Json& parameters) {
    return control::run_fdb(parameters, {.fdb = shared_->fdb,
                                         .vlans = vlans_,
                                         .port_count = kStationPorts,
                                         .now = [this] { return Result<Tick>(bench_.now()); }});
  }
  std::optional<Error> ask_for(const Json& parameters, const char* field, uint64_t expected) {
    const Result<Json> answer = ask(parameters);
    if (!answer) return answer.error();
    const uint64_t found = answer.value().at(field).get<uint64_t>();
    if (found == expected) return {};
    return Error{fmt::format("{}: {} {}, expected {}", parameters.dump(), found, field, expected)};
  }
  std::optional<Error> list_all() {
    Json parameters = {{"limit", 10'000}};
    uint64_t rows = 0;
    while (true) {
      const Result<Json> page = ask(parameters);
      if (!page) return page.error();
      rows += page.value().at("rows").size();
      if (!page.value().contains("cursor")) break;
      parameters["cursor"] = page.value()["cursor"];
    }
    if (rows == config_.stations) return {};
    return Error{fmt::format("{} rows were listed of {}", rows, config_.stations)};
  }
  std::optional<Error> import_and_flush() {
    auto error =
        ask_for({{"action", "import"}, {"path", imported_path_}}, "imported", config_.imported);
    if (error) return error;
    return ask_for({{"action", "flush"}, {"vlan", kImportedVlan}}, "flushed", config_.imported);
  }

  std::vector<std::pair<std::string, ControlWork::Once>> works() {
    return {{"nothing",
             [] {
               std::this_thread::sleep_for(std::chrono::milliseconds(1));
               return std::optional<Error>();
             }},
            {"list", [this] { return list_all(); }},
            {"count",
             [this] {
               return ask_for({{"action", "count"}}, "entries", config_.stations);
             }},
            {"export",
             [this] {
               return ask_for({{"action", "export"}, {"path", folder_.file(1)}}, "exported",
                              config_.stations);
             }},
            {"import and flush", [this] { return import_and_flush(); }}};
  }

  std::optional<Error> time_beside(const std::string& name, const ControlWork::Once& once,
                                   unsigned round, Rows& rows) {
    static_cast<void>(function_->take_times());
    ControlWork work(config_.control_core, once);
    RecordRow row = bench_.time_one(*bench_.runners().front(), round, 1);
    const Result<uint64_t> done = work.end();
    if (!done) return Error{name + ": " + done.error().message};
    const BatchTimes times = function_->take_times();
    row.workload = "beside " + name;
    row.slots = config_.stations;
    row.entries = config_.stations;
    row.note += fmt::format("; {} times", done.value());
    rows.push_back(row);
    row.operations = times.total();
    const std::array<std::pair<const char*, double>, 6> figures = {
        {{"turn_ns_p50", times.quantile(0.5)},
         {"turn_ns_p99", times.quantile(0.99)},
         {"turn_ns_p999", times.quantile(0.999)},
         {"turn_ns_p9999", times.quantile(0.9999)},
         {"turn_ns_max", static_cast<double>(times.greatest().count())},
         {"turns_over_50us", static_cast<double>(times.count_above(kBound))}}};
    for (const auto& [metric, value] : figures) {
      row.metric = metric;
      row.value = value;
      rows.push_back(row);
    }
    return {};
  }

  const StallJobConfig& config_;
  PortBench bench_;
  CaptureFolder folder_;
  const std::string imported_path_ = folder_.file(0);
  const std::vector<bridge::VlanPorts::Port> port_vlans_{
      kStationPorts, {.untagged = kStationVlan, .tagged = {kImportedVlan}}};
  const bridge::VlanPorts vlans_{port_vlans_};
  std::shared_ptr<LearningSwitch::Shared> shared_;
  TimedSwitch* function_ = nullptr;
};

}  // namespace

Result<Rows> run_stall_job(const StallJobConfig& config, const Progress& progress) {
  return StallJob(config, progress).run();
}

}  // namespace roost::lab
