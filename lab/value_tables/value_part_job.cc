// Times what parts of a lookup take: see value_job.h.
//
// Ludo's locator alone, a model's answer alone, and whole lookups of Ludo, over the same keys.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "lab/contestants/chained_lmh.h"
#include "lab/contestants/ludo.h"
#include "lab/harness/rounds.h"
#include "lab/value_tables/value_job.h"

namespace roost::lab {
namespace {

// Which of its two buckets each key is in.
class LudoLocator : public ValueAnswers<uint64_t> {
 public:
  static constexpr std::string_view kName = "ludo_locator";

  explicit LudoLocator(const Ludo<uint64_t>& ludo) : ludo_(&ludo) {}

  void lookup(std::span<const uint64_t> keys, std::span<uint32_t> answers, HitWords hits) const {
    using Group = std::array<OthelloCells::Places, kStagedLanes>;
    const OthelloCells& locator = ludo_->locator();
    run_staged<Group>(
        keys.size(),
        [&](size_t first, size_t count, Group& places) {
          for (size_t lane = 0; lane < count; ++lane) {
            places[lane] = locator.places_of(ludo_->hash_of(keys[first + lane]));
            locator.ask_for(places[lane]);
          }
        },
        [&](size_t first, size_t count, Group& places) {
          for (size_t lane = 0; lane < count; ++lane)
            answers[first + lane] = locator.value_at(places[lane]);
          hits.write_group(first, static_cast<uint32_t>((uint64_t{1} << count) - 1));
        });
  }

 private:
  const Ludo<uint64_t>* ludo_;
};

// The bucket of each key. Its model is in the cache.
class RmiInference : public ValueAnswers<uint64_t> {
 public:
  static constexpr std::string_view kName = "rmi_inference";

  explicit RmiInference(const compact::MonotoneModel& model) : model_(model) {}

  void lookup(std::span<const uint64_t> keys, std::span<uint32_t> answers, HitWords hits) const {
    for (size_t lane = 0; lane < keys.size(); ++lane)
      answers[lane] = static_cast<uint32_t>(model_.bucket_of(keys[lane]));
    for (size_t first = 0; first < keys.size(); first += 32) {
      const size_t count = std::min<size_t>(32, keys.size() - first);
      hits.write_group(first, static_cast<uint32_t>((uint64_t{1} << count) - 1));
    }
  }

 private:
  compact::MonotoneModel model_;
};

class ValuePartJob {
 public:
  ValuePartJob(const ValueJobConfig& config, const Progress& progress, const KeySet<uint64_t>& set)
      : config_(config), progress_(progress), set_(set) {}

  Result<Rows> run() {
    const auto entries = entries_of_keys(set_.keys, config_.value_bits);
    const double load = config_.loads.back();
    progress_(0, "building ludo");
    auto ludo = Ludo<uint64_t>::build({.key_bits = set_.key_bits,
                                       .value_bits = config_.value_bits,
                                       .load = load,
                                       .pages = config_.pages,
                                       .seed = config_.keys.seed},
                                      entries);
    if (!ludo) return ludo.error();
    const auto plan = ChainPlan::make(set_.keys, load, sizeof(uint64_t));
    if (!plan) return plan.error();
    LudoLocator locator(ludo.value());
    RmiInference model(plan.value().model.view());
    enter(ludo.value());
    enter(locator);
    enter(model);
    const auto timed =
        measure(entrants_, streams(),
                {.cores = {config_.core},
                 .warm_up_rounds = config_.warm_up_rounds,
                 .rounds = config_.rounds,
                 .progress = [&](double share) { progress_(0.3 + 0.7 * share, "timing"); }});
    if (!timed) return timed.error();
    Rows rows;
    for (const Timing& timing : timed.value()) {
      RecordRow row = value_row(config_, load, entrants_[timing.entrant].contestant);
      row.form = entrants_[timing.entrant].form;
      row.round = timing.round;
      row.operations = timing.operations;
      row.seconds = timing.seconds;
      row.page_bytes = read_pages(ludo.value().image_address()).value_or(PagesBehind{}).page_bytes;
      rows.push_back(value_figure(row, "ns_per_key",
                                  timing.seconds * 1e9 / static_cast<double>(timing.operations)));
    }
    return rows;
  }

 private:
  [[nodiscard]] std::vector<NamedStream> streams() const {
    std::vector<uint64_t> keys;
    for (const uint32_t place :
         draw_places(set_.keys.size(), config_.lookups, 0, config_.keys.seed + 1))
      keys.push_back(set_.keys[place]);
    NamedStream stream{"keys of the table", {}};
    stream.by_core.emplace_back(std::move(keys));
    std::vector<NamedStream> all;
    all.push_back(std::move(stream));
    return all;
  }

  // Asked one by one it must say the same.
  template <class Part>
  void enter(Part& part) {
    const size_t lanes = config_.calls.front();
    entrants_.push_back({.contestant = std::string(Part::kName),
                         .form = fmt::format("{} keys a call", lanes),
                         .first_wrong = [](size_t, const Stream&) { return std::nullopt; },
                         .expected =
                             [&part](size_t, const Stream& stream) {
                               return drive(part, stream.as<uint64_t>(), 1);
                             },
                         .pass =
                             [&part, lanes](size_t, const Stream& stream) {
                               return drive(part, stream.as<uint64_t>(), lanes);
                             }});
  }

  const ValueJobConfig& config_;
  const Progress& progress_;
  const KeySet<uint64_t>& set_;
  std::vector<Entrant> entrants_;
};

}  // namespace

Result<Rows> run_value_part_job(const ValueJobConfig& config, const Progress& progress) {
  if (has_tuples(config.keys)) return Error{"parts are of keys of 64 bits at most"};
  return with_key_set(config, [&]<class K>(const KeySet<K>& set) -> Result<Rows> {
    if constexpr (std::is_same_v<K, uint64_t>) return ValuePartJob(config, progress, set).run();
    return Rows{};
  });
}

}  // namespace roost::lab
