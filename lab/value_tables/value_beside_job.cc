// Times lookups beside changes: see value_job.h.
//
// The reader asks for keys that stay as they are, so that what a pass must find is known; a
// builder changes the others at a steady rate, on another core. At the begin of each rate but rest
// a rebuild begins, in a thread of its own on the builder's core, and again where a table has no
// room.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "lab/contestants/compact_tables.h"
#include "lab/harness/pinned_core.h"
#include "lab/value_tables/changing_keys.h"
#include "lab/value_tables/value_job.h"
#include "roost/compact/line_map_builder_impl.h"
#include "roost/compact/shared_map.h"

namespace roost::lab {
namespace {

using BesideClock = std::chrono::steady_clock;

double seconds_since(BesideClock::time_point start) {
  return std::chrono::duration<double>(BesideClock::now() - start).count();
}

// What a builder did while it was at work.
struct BuilderDid {
  uint64_t changes = 0;
  uint64_t refused = 0;
  uint64_t rebuilds = 0;
  double seconds = 0;
  double longest = 0;  // of a change, in seconds
};

template <class Map>
class PacedBuilder {
 public:
  PacedBuilder(Map& map, ChangingKeys& keys, uint64_t per_second, int core)
      : map_(map), keys_(keys), per_second_(per_second), core_(core) {}

  // Until it is told to stop, and the rebuild that it is at is over.
  BuilderDid work(const std::atomic<bool>& must_stop) {
    static_cast<void>(pin_to_core(core_));  // which was tried beforehand
    begin_rebuild();
    const BesideClock::time_point start = BesideClock::now();
    while (!must_stop.load()) {
      const auto due =
          static_cast<uint64_t>(seconds_since(start) * static_cast<double>(per_second_));
      if (did_.changes >= due) std::this_thread::yield();
      // Not all that has become due meanwhile at once: it must see when it is told to stop.
      for (uint64_t i = 0; i < kBurst && did_.changes < due; ++i) make_one();
      take_rebuild();
    }
    did_.seconds = seconds_since(start);
    while (rebuild_) take_rebuild();
    return did_;
  }

 private:
  static constexpr uint64_t kBurst = 256;
  struct Running {
    explicit Running(typename Map::Rebuild of) : rebuild(std::move(of)) {}
    typename Map::Rebuild rebuild;
    std::atomic<bool> is_done = false;
    std::jthread thread;
  };

  void make_one() {
    const Change<uint64_t> change = keys_.next();
    const BesideClock::time_point start = BesideClock::now();
    const compact::ChangeOutcome outcome = make(change);
    did_.longest = std::max(did_.longest, seconds_since(start));
    ++did_.changes;
    if (outcome == compact::ChangeOutcome::kDone) return;
    // Also what follows from a refusal: a key that did not come in cannot be changed.
    ++did_.refused;
    if (outcome != compact::ChangeOutcome::kNotFound) begin_rebuild();
  }
  compact::ChangeOutcome make(const Change<uint64_t>& change) {
    switch (change.kind) {
      case ChangeKind::kInsert:
        return map_.insert(change.key, change.value);
      case ChangeKind::kUpdate:
        return map_.update(change.key, change.value);
      default:
        return map_.erase(change.key);
    }
  }

  void begin_rebuild() {
    if (rebuild_) return;
    rebuild_ = std::make_unique<Running>(map_.begin_rebuild());
    Running& running = *rebuild_;
    running.thread = std::jthread([&running] {
      running.rebuild.run();
      running.is_done.store(true);
    });
  }
  // One that has no room for what came meanwhile is given up, and begun anew with the next refusal.
  void take_rebuild() {
    if (!rebuild_ || !rebuild_->is_done.load()) return;
    rebuild_->thread.join();
    if (!map_.adopt(std::move(rebuild_->rebuild))) ++did_.rebuilds;
    rebuild_.reset();
  }

  Map& map_;
  ChangingKeys& keys_;
  uint64_t per_second_;
  int core_;
  BuilderDid did_;
  std::unique_ptr<Running> rebuild_;
};

// Looks up, and times one call of so many.
template <class Reader>
class TimedLookups : public ValueAnswers<uint64_t> {
  static constexpr size_t kCallsPerTimed = 8;

 public:
  static constexpr std::string_view kName = "timed";

  explicit TimedLookups(Reader reader) : reader_(std::move(reader)) {}

  void lookup(std::span<const uint64_t> keys, std::span<uint32_t> answers, HitWords hits) {
    if (++calls_ % kCallsPerTimed != 0) {
      reader_.lookup_unverified(keys, answers, hits);
      return;
    }
    const BesideClock::time_point start = BesideClock::now();
    reader_.lookup_unverified(keys, answers, hits);
    seconds_.push_back(seconds_since(start));
  }
  // Of the calls since the last time; forgets them.
  [[nodiscard]] double percentile(double share) {
    if (seconds_.empty()) return 0;
    const auto at =
        seconds_.begin() + static_cast<ptrdiff_t>(share * static_cast<double>(seconds_.size() - 1));
    std::nth_element(seconds_.begin(), at, seconds_.end());
    const double found = *at;
    seconds_.clear();
    return found;
  }

 private:
  Reader reader_;
  size_t calls_ = 0;
  std::vector<double> seconds_;
};

class ValueBesideJob {
 public:
  ValueBesideJob(const ValueJobConfig& config, const Progress& progress,
                 const KeySet<uint64_t>& set)
      : config_(config), progress_(progress), key_bits_(set.key_bits) {
    // Every fourth key is one that changes, and of these one of eight is not there at first.
    for (size_t i = 0; i < set.keys.size(); ++i)
      (i % 4 == 0 ? changing_ : staying_).push_back(set.keys[i]);
  }

  Result<Rows> run() {
    for (const std::string& name : config_.contestants) {
      if (name == "line_map") {
        if (const auto wrong = run_map<compact::LineMapBuilder<uint64_t>>(name, line_map_config()))
          return *wrong;
      } else if (name == "parrot") {
        if (const auto wrong = run_map<compact::ParrotBuilder>(name, parrot_config()))
          return *wrong;
      } else {
        rows_.push_back(not_run(value_row(config_, load(), name), "one thread has it to itself"));
      }
    }
    return std::move(rows_);
  }

 private:
  [[nodiscard]] double load() const { return config_.loads.back(); }
  [[nodiscard]] compact::LineMapConfig line_map_config() const {
    return {.value_bits = config_.value_bits,
            .load = load(),
            .hash_seed = config_.keys.seed,
            .memory = {.pages = config_.pages}};
  }
  [[nodiscard]] compact::ParrotConfig parrot_config() const {
    return {.key_bits = key_bits_,
            .value_bits = config_.value_bits,
            .load = load(),
            .policy = compact::InsertionPolicy::kReseed,
            .memory = {.pages = config_.pages}};
  }

  template <class Builder>
  std::optional<Error> run_map(const std::string& name, const typename Builder::Config& config) {
    using Map = compact::SharedMap<Builder>;
    progress_(0, fmt::format("building {}", name));
    ChangingKeys keys(changing_, changing_.size() - changing_.size() / 8 - 1, config_.value_bits,
                      config_.keys.seed);
    std::vector<typename Map::Entry> entries;
    for (const auto& entry : keys.entries()) entries.push_back({entry.key, entry.value});
    for (const auto& entry : entries_of_keys(staying_, config_.value_bits))
      entries.push_back({entry.key, entry.value});
    auto built = Builder::build(config, std::move(entries));
    if (!built) {
      rows_.push_back(not_run(value_row(config_, load(), name), built.error().message));
      return {};
    }
    Map map(std::move(built).value());
    TimedLookups reader(map.reader());
    const Stream stream(queries());
    PassOutcome expected{stream.size(), 0};
    for (const uint64_t key : stream.as<uint64_t>())
      expected.word_sum += value_of_word(mixed_word(key), config_.value_bits);

    const auto measure = [&](const std::string& form) {
      return time_passes(name, form, reader, stream, expected);
    };
    if (auto wrong = measure("at rest")) return wrong;
    for (const uint64_t rate : config_.rates) {
      progress_(0.5, fmt::format("{} beside {} updates/s", name, rate));
      const std::string form = fmt::format("{} updates/s", rate);
      std::atomic<bool> must_stop = false;
      BuilderDid did;
      std::optional<Error> wrong;
      {
        std::jthread builder([&] {
          did = PacedBuilder<Map>(map, keys, rate, config_.builder_core).work(must_stop);
        });
        wrong = measure(form);
        must_stop.store(true);
      }
      if (wrong) return wrong;
      add_builder_rows(name, form, did);
    }
    return {};
  }

  [[nodiscard]] std::vector<uint64_t> queries() const {
    std::vector<uint64_t> keys;
    for (const uint32_t place :
         draw_places(staying_.size(), config_.lookups, 0, config_.keys.seed + 1))
      keys.push_back(staying_[place]);
    return keys;
  }

  template <class Reader>
  std::optional<Error> time_passes(const std::string& name, const std::string& form, Reader& reader,
                                   const Stream& stream, const PassOutcome& expected) {
    for (unsigned round = 0; round < config_.warm_up_rounds + config_.rounds; ++round) {
      const BesideClock::time_point start = BesideClock::now();
      const PassOutcome found = drive(reader, stream.as<uint64_t>(), config_.calls.front());
      const double seconds = seconds_since(start);
      if (found != expected) {
        return Error{
            fmt::format("{}, {}: a pass found something else than the keys' values; "
                        "nothing it says counts",
                        name, form)};
      }
      const double p99 = reader.percentile(0.99);
      if (round < config_.warm_up_rounds) continue;
      RecordRow row = value_row(config_, load(), name);
      row.form = form;
      row.lanes_per_call = config_.calls.front();
      row.round = round - config_.warm_up_rounds;
      row.operations = stream.size();
      row.seconds = seconds;
      rows_.push_back(
          value_figure(row, "lookups_m_per_s", static_cast<double>(stream.size()) / seconds / 1e6));
      rows_.push_back(value_figure(row, "p99_call_ns", p99 * 1e9));
    }
    return {};
  }

  void add_builder_rows(const std::string& name, const std::string& form, const BuilderDid& did) {
    RecordRow row = value_row(config_, load(), name);
    row.form = form;
    row.operations = did.changes;
    row.seconds = did.seconds;
    rows_.push_back(
        value_figure(row, "updates_per_s", static_cast<double>(did.changes) / did.seconds));
    rows_.push_back(value_figure(row, "rebuilds", static_cast<double>(did.rebuilds)));
    rows_.push_back(value_figure(row, "refused", static_cast<double>(did.refused)));
    rows_.push_back(value_figure(row, "longest_change_us", did.longest * 1e6));
  }

  const ValueJobConfig& config_;
  const Progress& progress_;
  unsigned key_bits_;
  std::vector<uint64_t> changing_;
  std::vector<uint64_t> staying_;
  Rows rows_;
};

}  // namespace

Result<Rows> run_value_beside_job(const ValueJobConfig& config, const Progress& progress) {
  if (has_tuples(config.keys)) return Error{"changes are of keys of 64 bits at most"};
  return with_key_set(config, [&]<class K>(const KeySet<K>& set) -> Result<Rows> {
    if constexpr (std::is_same_v<K, uint64_t>) return ValueBesideJob(config, progress, set).run();
    return Rows{};
  });
}

}  // namespace roost::lab
