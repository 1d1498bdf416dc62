#include "lab/switch/switch_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "lab/contestants/cuckoo_switch.h"
#include "lab/contestants/mac_maps.h"
#include "lab/contestants/rte_hash.h"
#include "lab/packets/port_bench.h"
#include "lab/packets/raw_holder.h"
#include "lab/packets/raw_io.h"
#include "lab/switch/station_frames.h"
#include "lab/switch/station_writer.h"
#include "lab/switch/stations.h"
#include "lab/switch/switches.h"

namespace roost::lab {
namespace {

template <class Step, size_t kLanes>
using Rung = TableSwitch<CuckooSwitch<Step>, kLanes>;
using Dense = MacMapContestant<DenseMacMap>;

constexpr size_t kKeysOfFrame = 2;

// A worker's function as the bench holds it.
template <class Switch>
class SwitchHolder {
 public:
  using Function = Switch;

  SwitchHolder(std::shared_ptr<typename Switch::Shared> shared, size_t worker, size_t worker_count)
      : shared_(std::move(shared)), function_(shared_, worker, worker_count), worker_(worker) {}

  [[nodiscard]] Function& function() { return function_; }
  // Every frame was for a station that was known.
  [[nodiscard]] std::optional<Error> wrong() const {
    const bridge::SwitchCounters& counters = function_.counters();
    uint64_t wrong = counters.unknown_unicast + counters.broadcast + counters.multicast;
    if constexpr (requires { function_.not_known_count(); }) wrong += function_.not_known_count();
    if (wrong == 0) return {};
    return Error{fmt::format("{} frames of stations that are known were not known as such", wrong)};
  }
  // Of what all workers share.
  [[nodiscard]] uint64_t memory_bytes() const {
    return worker_ == 0 ? Switch::memory_bytes(*shared_) : 0;
  }

 private:
  std::shared_ptr<typename Switch::Shared> shared_;
  Function function_;
  size_t worker_;
};

class SwitchJob {
 public:
  SwitchJob(const SwitchJobConfig& config, const Progress& progress)
      : config_(config),
        progress_(progress),
        bench_({.experiment = config.experiment,
                .pages = config.pages,
                .cores = config.cores,
                .rounds = config.rounds,
                .packets = config.packets,
                .seed = config.seed,
                .port_count = kStationPorts,
                .frames = config.frames,
                .frame_bytes = config.frame_bytes},
               progress) {}

  Result<Rows> run() {
    const auto write = [this](CaptureFiles& files) {
      write_station_frames({.stations = config_.stations,
                            .frames = config_.frames,
                            .frame_bytes = config_.frame_bytes,
                            .zipf = config_.zipf,
                            .workers = config_.cores.size(),
                            .seed = config_.seed},
                           files);
    };
    if (auto error = bench_.open(write)) return *error;
    for (const std::string& name : config_.contestants) {
      progress_(0.2, name + ": every station once");
      const auto make = makers().find(name);
      if (make == makers().end()) return Error{name + ": there is no such switch"};
      if (auto error = make->second(*this)) return Error{name + ": " + error->message};
    }
    bench_.warm_up();
    Rows rows = config_.writer_core < 0 ? bench_.time_all(described()) : time_beside_writer();
    if (auto error = bench_.wrong()) return *error;
    return rows;
  }

  using Maker = std::function<std::optional<Error>(SwitchJob& job)>;
  static const std::map<std::string, Maker, std::less<>>& makers();

 private:
  template <class Switch>
  static std::optional<Error> make(SwitchJob& job, std::string name) {
    const SwitchJobConfig& config = job.config_;
    auto shared = Switch::create_shared(config.stations + StationWriter::kStations, config.pages,
                                        config.seed);
    if (!shared) return shared.error();
    for (uint64_t station = 0; station < config.stations; ++station) {
      if (!Switch::add(*shared.value(), station)) {
        return Error{fmt::format("it refused a station after {} of {}", station, config.stations)};
      }
    }
    std::vector<std::unique_ptr<SwitchHolder<Switch>>> holders;
    for (size_t worker = 0; worker < job.bench_.worker_count(); ++worker) {
      holders.push_back(std::make_unique<SwitchHolder<Switch>>(shared.value(), worker,
                                                               job.bench_.worker_count()));
    }
    job.targets_[name] = {
        .add = [shared = shared.value()](uint64_t station) { Switch::add(*shared, station); },
        .erase = [shared = shared.value()](uint64_t station) { Switch::erase(*shared, station); },
        .first_station = config.stations};
    job.bench_.add(std::move(name), std::move(holders));
    return {};
  }
  static std::optional<Error> make_raw(SwitchJob& job, std::string name) {
    std::vector<std::unique_ptr<RawHolder<RawIo>>> holders;
    for (size_t worker = 0; worker < job.bench_.worker_count(); ++worker) {
      holders.push_back(std::make_unique<RawHolder<RawIo>>(RawIo(kStationPorts)));
    }
    job.bench_.add(std::move(name), std::move(holders));
    return {};
  }
  template <class Switch>
  static Maker maker(const std::string& name) {
    return [name](SwitchJob& job) { return make<Switch>(job, name); };
  }

  [[nodiscard]] PortBench::Describe described(uint64_t updates = 0) const {
    return [this, updates](RecordRow& row) {
      row.workload = config_.zipf > 0 ? fmt::format("zipf {}", config_.zipf) : "uniform";
      if (updates != 0) row.workload += fmt::format(" beside {} updates/s", updates);
      row.slots = config_.stations;
      row.entries = config_.stations;
      row.key_bytes = sizeof(bridge::FdbKey);
      row.value_bytes = sizeof(bridge::FdbValue);
      row.lanes_per_call = kKeysOfFrame * net::kBatchLanesMax;
    };
  }

  // One worker; another core writes. Each rate in turn in each round.
  Rows time_beside_writer() {
    StationWriter writer(config_.writer_core);
    Rows rows;
    for (unsigned round = 0; round < bench_.rounds(); ++round) {
      bench_.say_round(round);
      for (const uint64_t updates : config_.updates_per_second) {
        for (const auto& runner : bench_.runners()) {
          const auto target = targets_.find(runner->name());
          if (target != targets_.end()) {
            StationWriter::Target aimed = target->second;
            aimed.updates_per_second = updates;
            writer.begin(std::move(aimed));
          }
          RecordRow& row = rows.emplace_back(bench_.time_one(*runner, round, 1));
          described(updates)(row);
          if (target != targets_.end()) {
            const auto changes = static_cast<double>(writer.end());
            row.note += fmt::format("; {:.0f} updates/s were made", changes / *row.seconds);
          }
        }
      }
    }
    return rows;
  }

  const SwitchJobConfig& config_;
  const Progress& progress_;
  PortBench bench_;
  std::map<std::string, StationWriter::Target> targets_;
};

const std::map<std::string, SwitchJob::Maker, std::less<>>& SwitchJob::makers() {
  static const std::map<std::string, Maker, std::less<>> kMakers = {
      {"raw_io", [](SwitchJob& job) { return make_raw(job, "raw_io"); }},
      {"switch", maker<LearningSwitch>("switch")},
      {"switch_on_rte_hash", maker<TableSwitch<RteHashMac, 64>>("switch_on_rte_hash")},
      {"switch_on_baseline", maker<Rung<BaselineRung, 1>>("switch_on_baseline")},
      {"switch_on_pages", maker<Rung<PagesRung, 1>>("switch_on_pages")},
      {"switch_on_order", maker<Rung<OrderRung, 1>>("switch_on_order")},
      {"switch_on_batch", maker<Rung<BatchRung, 32>>("switch_on_batch")},
      {"switch_on_published", maker<Rung<PublishedRung, 32>>("switch_on_published")},
      {"switch_on_dense", maker<TableSwitch<Dense, 32>>("switch_on_dense")},
      {"switch_on_dense_plain",
       maker<TableSwitch<Dense, 32, Bursts::kFrameByFrame>>("switch_on_dense_plain")}};
  return kMakers;
}

}  // namespace

std::vector<std::string> switch_contestants() {
  std::vector<std::string> names;
  for (const auto& [name, make] : SwitchJob::makers()) names.push_back(name);
  return names;
}

Result<Rows> run_switch_job(const SwitchJobConfig& config, const Progress& progress) {
  return SwitchJob(config, progress).run();
}

}  // namespace roost::lab
