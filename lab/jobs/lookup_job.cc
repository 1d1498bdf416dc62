// Times lookups: every contestant in every form, the ceilings of their shapes and the driver alone,
// in interleaved rounds, at each load in turn.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "lab/contestants/empty_loop.h"
#include "lab/contestants/line_ceiling.h"
#include "lab/harness/rounds.h"
#include "lab/jobs/job.h"
#include "lab/jobs/line_up_on_cores.h"
#include "lab/jobs/met_counts.h"
#include "lab/jobs/own_oracles.h"

namespace roost::lab {
namespace {

// What an entrant's rows say of it besides its times.
struct About {
  size_t lanes;
  size_t key_bytes = 0;
  size_t value_bytes = 0;
  uint64_t table_bytes = 0;
  const AnyTable* table = nullptr;  // tells where it prefetches lines to, after it was measured
  PagesBehind pages = {};
  FewestLines fewest = {};
};

std::optional<std::string> nothing_to_check(size_t, const Stream&) { return std::nullopt; }

class LookupJob {
 public:
  LookupJob(const JobConfig& config, const Progress& progress)
      : config_(config), progress_(progress) {}

  Result<Rows> run() {
    auto made = make_contenders(config_, rows_);
    if (!made) return made.error();
    contenders_ = std::move(made).value();
    if (const auto wrong = make_ceilings()) return *wrong;
    double load_before = 0;
    for (size_t step = 0; step < config_.loads.size(); ++step) {
      const double load = config_.loads[step];
      say(step, 0, fmt::format("filling to {}", load));
      fill_contenders(config_, load_before, load, contenders_, rows_);
      load_before = load;
      const auto wrong = measure_at(step);
      if (wrong) return *wrong;
    }
    count();
    return std::move(rows_);
  }

 private:
  void say(size_t step, double share, const std::string& what) const {
    progress_((static_cast<double>(step) + share) / static_cast<double>(config_.loads.size() + 1),
              what);
  }

  // One ceiling a shape; a shape that is another's but for a tenth shares the smaller one's, which
  // is the faster.
  std::optional<Error> make_ceilings() {
    if (config_.ceilings.empty()) return std::nullopt;
    std::vector<FewestLines> shapes;
    for (const Contender& contender : contenders_)
      shapes.push_back(contender.table().fewest_lines());
    std::sort(shapes.begin(), shapes.end(), [](const FewestLines& a, const FewestLines& b) {
      return LineCeiling::bytes_of(a) < LineCeiling::bytes_of(b);
    });
    uint64_t bytes = 0;
    std::vector<FewestLines> kept;
    for (const FewestLines& shape : shapes) {
      bytes = std::max(bytes, LineCeiling::bytes_of(shape));
      if (std::none_of(kept.begin(), kept.end(),
                       [&](const FewestLines& other) { return stands_for(other, shape); }))
        kept.push_back(shape);
    }
    for (size_t core = 0; core < config_.cores.size(); ++core) {
      auto memory = LineCeiling::make_memory(bytes, config_.pages);
      if (!memory) return memory.error();
      ceilings_.emplace_back();
      for (const FewestLines& shape : kept) ceilings_.back().emplace_back(memory.value(), shape);
    }
    return std::nullopt;
  }

  static bool stands_for(const FewestLines& ceiling, const FewestLines& shape) {
    const auto fits = [](uint64_t of_ceiling, uint64_t of_shape) {
      return of_ceiling <= of_shape && of_shape - of_ceiling <= of_shape / 10;
    };
    return fits(ceiling.first_bytes, shape.first_bytes) &&
           fits(ceiling.second_bytes, shape.second_bytes) &&
           (ceiling.second_bytes == 0) == (shape.second_bytes == 0);
  }

  FewestLines ceiling_for(const FewestLines& shape) const {
    if (ceilings_.empty()) return shape;
    for (const LineCeiling& ceiling : ceilings_.front())
      if (stands_for(ceiling.shape(), shape)) return ceiling.shape();
    return shape;
  }

  traffic::StreamShape shape_of(double load, double miss_ratio) const {
    const uint64_t leaving = leaving_count(load);
    return {.first_entry = leaving,
            .entry_count = entries_at(config_, load) - leaving,
            .query_count = config_.lookups,
            .miss_ratio = miss_ratio,
            .zipf_exponent = config_.zipf_exponent};
  }

  // Entries that leave in a pass with churn; queries ask for those that stay.
  uint64_t leaving_count(double load) const {
    if (config_.lookups_per_insert == 0) return 0;
    return std::min<uint64_t>(config_.lookups / config_.lookups_per_insert,
                              entries_at(config_, load) / 2);
  }

  std::vector<NamedStream> make_streams(double load) const {
    std::vector<NamedStream> streams;
    for (const double miss_ratio : config_.miss_ratios) {
      NamedStream stream{fmt::format("load {}, miss ratio {}", load, miss_ratio), {}};
      for (size_t core = 0; core < config_.cores.size(); ++core) {
        stream.by_core.emplace_back(queries_of_core(config_, core, shape_of(load, miss_ratio)));
      }
      streams.push_back(std::move(stream));
    }
    return streams;
  }

  // Keys that leave and arrive in a pass with churn, by core.
  struct Turnover {
    std::vector<Key> leaving;
    std::vector<Key> arriving;
  };

  std::vector<Turnover> make_turnover(double load) const {
    std::vector<Turnover> by_core(config_.cores.size());
    const uint64_t entries = entries_at(config_, load);
    for (size_t core = 0; core < by_core.size(); ++core) {
      const traffic::KeySource keys = keys_of_core(config_, core);
      for (uint64_t index = 0; index < leaving_count(load); ++index) {
        by_core[core].leaving.push_back(keys.inserted(index));
        by_core[core].arriving.push_back(keys.inserted(entries + index));
      }
    }
    return by_core;
  }

  void enter(const Contender& contender, Call call, const std::vector<Turnover>& turnover) {
    const auto form = contender.table().form(call);
    const bool churns = config_.lookups_per_insert != 0;
    if (!form || (churns && (!contender.table().can_churn() || call.names_next))) return;
    Entrant entrant{.contestant = contender.name(),
                    .form = *form,
                    .first_wrong =
                        [&contender, call](size_t core, const Stream& stream) {
                          return contender.table(core).first_wrong(stream, call);
                        },
                    .expected =
                        [&contender, &turnover](size_t core, const Stream& stream) {
                          PassOutcome outcome = contender.table(core).expected(stream);
                          outcome.hit_count += 2 * turnover[core].leaving.size();
                          return outcome;
                        },
                    .pass =
                        [&contender, call](size_t core, const Stream& stream) {
                          return contender.table(core).pass(stream, call);
                        }};
    if (churns) {
      entrant.pass = [&contender, call, &turnover](size_t core, const Stream& stream) {
        return contender.table(core).churn(stream, call,
                                           {turnover[core].leaving, turnover[core].arriving});
      };
      entrant.restore = [&contender, &turnover](size_t core) {
        static_cast<void>(contender.table(core).churn(
            Stream({Key{}}), kPlainCall, {turnover[core].arriving, turnover[core].leaving}));
      };
    }
    entrants_.push_back(std::move(entrant));
    abouts_.push_back(about(contender, call));
  }

  About about(const Contender& contender, Call call) const {
    AnyTable& table = contender.table();
    return {.lanes = call.lanes,
            .key_bytes = table.key_bytes(),
            .value_bytes = table.value_bytes(),
            .table_bytes = table.memory_bytes(),
            .table = &table,
            .pages = table.pages(stays_),
            .fewest = ceiling_for(table.fewest_lines())};
  }

  void enter_own_oracles(const std::vector<NamedStream>& streams) {
    own_oracles_.clear();
    if (!config_.own_oracles && !config_.forced_hints) return;
    for (const Contender& contender : contenders_) {
      own_oracles_.push_back(std::make_unique<OwnOracles>(contender, streams));
      for (const Call call : config_.calls) {
        for (Entrant& entrant : own_oracles_.back()->entrants(call)) {
          const bool is_oracle = entrant.contestant.starts_with("oracle_");
          if (!(is_oracle ? config_.own_oracles : config_.forced_hints)) continue;
          entrants_.push_back(std::move(entrant));
          abouts_.push_back(about(contender, call));
          abouts_.back().table = nullptr;  // its name says the hint
        }
      }
    }
  }

  void enter_ceilings() {
    for (size_t shape = 0; !ceilings_.empty() && shape < ceilings_.front().size(); ++shape) {
      const LineCeiling& first = ceilings_.front()[shape];
      for (const LineCeiling::Variant& variant : first.variants()) {
        if (std::find(config_.ceilings.begin(), config_.ceilings.end(), variant.name) ==
            config_.ceilings.end())
          continue;
        entrants_.push_back(
            {.contestant = std::string(first.name()),
             .form = std::string(variant.name),
             .first_wrong = nothing_to_check,
             .expected =
                 [this, shape](size_t core, const Stream& stream) {
                   return ceilings_[core][shape].expected(stream.as<Key>());
                 },
             .pass =
                 [this, shape, pass = variant.pass](size_t core, const Stream& stream) {
                   return pass(ceilings_[core][shape], stream.as<Key>());
                 }});
        abouts_.push_back({.lanes = kPlainCall.lanes,
                           .table_bytes = LineCeiling::bytes_of(first.shape()),
                           .pages = read_pages(first.entry_address()).value_or(PagesBehind{}),
                           .fewest = first.shape()});
      }
    }
  }

  void enter_empty_loop(Call call) {
    if (call.names_next) return;
    entrants_.push_back(
        {.contestant = std::string(EmptyLoop::kName),
         .form = fmt::format("{} keys a call", call.lanes),
         .first_wrong = nothing_to_check,
         .expected = [](size_t,
                        const Stream& stream) { return EmptyLoop::expected(stream.as<Key>()); },
         .pass =
             [this, call](size_t, const Stream& stream) {
               return drive(empty_, stream.as<Key>(), call.lanes);
             }});
    abouts_.push_back({.lanes = call.lanes});
  }

  std::optional<Error> measure_at(size_t step) {
    const double load = config_.loads[step];
    const std::vector<NamedStream> streams = make_streams(load);
    const std::vector<Turnover> turnover = make_turnover(load);
    stays_ = config_.lookups_per_insert == 0
                 ? keys_of_core(config_, 0).inserted(0)
                 : keys_of_core(config_, 0).inserted(leaving_count(load));
    entrants_.clear();
    abouts_.clear();
    for (const Contender& contender : contenders_)
      for (const Call call : config_.calls) enter(contender, call, turnover);
    enter_own_oracles(streams);
    enter_ceilings();
    for (const Call call : config_.calls) enter_empty_loop(call);

    say(step, 0.2, fmt::format("checking every answer of {} entrants", entrants_.size()));
    const auto timings =
        measure(entrants_, streams,
                {.cores = config_.cores,
                 .warm_up_rounds = config_.warm_up_rounds,
                 .rounds = config_.rounds,
                 .progress = [this, step, load](double share) {
                   say(step, 0.3 + 0.7 * share, fmt::format("measuring at load {}", load));
                 }});
    if (!timings) return timings.error();
    for (const Timing& timing : timings.value()) add_row(load, timing);
    own_oracles_.clear();
    return std::nullopt;
  }

  void add_row(double load, const Timing& timing) {
    const Entrant& entrant = entrants_[timing.entrant];
    const About& about = abouts_[timing.entrant];
    RecordRow row = row_of(config_, load, entrant.contestant);
    row.form = entrant.form;
    row.key_bytes = about.key_bytes;
    row.value_bytes = about.value_bytes;
    row.miss_ratio = config_.miss_ratios[timing.stream];
    row.lanes_per_call = about.lanes;
    row.core_count = timing.core_count;
    row.round = timing.round;
    row.metric = "lookups_m_per_s";
    row.value = static_cast<double>(timing.operations) / timing.seconds / 1e6;
    row.operations = timing.operations;
    if (about.table != nullptr) row.line_hint = about.table->line_hint().value_or("");
    row.seconds = timing.seconds;
    if (about.table_bytes != 0) {
      row.table_bytes = about.table_bytes;
      row.page_bytes = about.pages.page_bytes;
      row.transparent_huge_bytes = about.pages.transparent_huge_bytes;
      row.first_bytes = about.fewest.first_bytes;
      row.second_bytes = about.fewest.second_bytes;
    }
    rows_.push_back(std::move(row));
  }

  // Twins count after everything is timed and the timed tables have made room for them.
  void count() {
    if (!config_.counts) return;
    MetCounts met(config_, [this](double load, double miss) { return shape_of(load, miss); });
    std::vector<const ContestantEntry*> entries;
    for (const Contender& contender : contenders_) {
      met.take_known_lines(contender.table());
      entries.push_back(contender.entry);
    }
    contenders_.clear();
    for (const ContestantEntry* entry : entries) {
      say(config_.loads.size(), 0, fmt::format("counting what {} meets", entry->name));
      met.count_twin(*entry);
    }
    met.add_to(rows_);
  }

  const JobConfig& config_;
  const Progress& progress_;
  std::vector<Contender> contenders_;
  std::vector<std::unique_ptr<OwnOracles>> own_oracles_;
  std::vector<std::vector<LineCeiling>> ceilings_;  // by core, then shape
  EmptyLoop empty_;
  Key stays_{};  // a key that no churn takes away
  std::vector<Entrant> entrants_;
  std::vector<About> abouts_;
  Rows rows_;
};

}  // namespace

Result<Rows> run_lookup_job(const JobConfig& config, const Progress& progress) {
  return LookupJob(config, progress).run();
}

}  // namespace roost::lab
