// Times lookups: see value_job.h.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "lab/contestants/value_oracle.h"
#include "lab/harness/rounds.h"
#include "lab/value_tables/value_job.h"

namespace roost::lab {
namespace {

// What an entrant's rows say of it besides its times.
struct AboutValues {
  size_t lanes = 0;
  uint64_t bytes = 0;
  PagesBehind pages{};
};

template <class K>
class ValueLookupJob {
 public:
  ValueLookupJob(const ValueJobConfig& config, const Progress& progress, const KeySet<K>& set)
      : config_(config),
        progress_(progress),
        set_(set),
        entries_(entries_of_keys(set.keys, config.value_bits)) {}

  Result<Rows> run() {
    for (const double exponent : config_.zipf_exponents) {
      queries_.push_back({fmt::format("keys of the table, zipf {}", exponent), {}});
      queries_.back().by_core.emplace_back(chosen_keys(exponent));
    }
    for (size_t step = 0; step < config_.loads.size(); ++step) {
      if (const auto wrong = measure_at(step)) return *wrong;
    }
    return std::move(rows_);
  }

 private:
  void say(size_t step, double share, const std::string& what) const {
    progress_((static_cast<double>(step) + share) / static_cast<double>(config_.loads.size()),
              what);
  }

  [[nodiscard]] std::vector<K> chosen_keys(double exponent) const {
    std::vector<K> keys;
    keys.reserve(config_.lookups);
    for (const uint32_t place :
         draw_places(set_.keys.size(), config_.lookups, exponent, config_.keys.seed + 1))
      keys.push_back(set_.keys[place]);
    return keys;
  }

  std::optional<Error> measure_at(size_t step) {
    load_ = config_.loads[step];
    entrants_.clear();
    abouts_.clear();
    tables_.clear();
    for (const std::string& name : config_.contestants) {
      say(step, 0, fmt::format("building {}", name));
      if (auto wrong = build(name)) return wrong;
    }
    for (const std::string& name : config_.oracles_of)
      if (auto wrong = add_oracles(name)) return wrong;
    const auto timed = time(queries_, step, 0.2);
    if (!timed) return timed.error();
    add_rows(timed.value(), "lookups_m_per_s");
    return config_.asks_strangers ? ask_strangers(step) : std::nullopt;
  }

  std::optional<Error> build(const std::string& name) {
    auto made = build_value_table<K>(config_, set_.key_bits, load_, name, entries_);
    if (!made) {
      rows_.push_back(not_run(value_row(config_, load_, name), made.error().message));
      return {};
    }
    AnyValueTable<K>& table = *made.value();
    if (auto wrong = wrong_values<K>(table, entries_)) return wrong;
    describe_values(rows_, value_row(config_, load_, name), table);
    tables_.push_back(std::move(made).value());
    for (const size_t lanes : config_.calls) {
      enter(name, {lanes, table.image_bytes(), table.pages()},
            [&table, lanes](size_t, const Stream& stream) { return table.pass(stream, lanes); });
    }
    return {};
  }

  // Of a table that was not built there are none.
  std::optional<Error> add_oracles(const std::string& name) {
    for (const auto& table : tables_) {
      if (table->name() != name) continue;
      for (auto wrong :
           {add_oracle<PrefetchHint::kT0>(*table), add_oracle<PrefetchHint::kT1>(*table),
            add_oracle<PrefetchHint::kNta>(*table)})
        if (wrong) return wrong;
    }
    return {};
  }
  template <PrefetchHint kHint>
  std::optional<Error> add_oracle(const AnyValueTable<K>& table) {
    using Oracle = ValueOracle<K, kHint>;
    auto made = Oracle::create(table.image_bytes(), config_.value_bits, config_.pages);
    if (!made) return made.error();
    const auto oracle = std::make_shared<Oracle>(std::move(made).value());
    const PagesBehind pages = read_pages(oracle->image_address()).value_or(PagesBehind{});
    for (const size_t lanes : config_.calls) {
      enter(fmt::format("oracle_of_{}_{}", table.name(), hint_name(kHint)),
            {lanes, oracle->image_bytes(), pages}, [oracle, lanes](size_t, const Stream& stream) {
              return drive(*oracle, stream.as<K>(), lanes);
            });
    }
    return {};
  }

  using Pass = std::function<PassOutcome(size_t, const Stream&)>;

  // Every key was looked up before; of a pass the sum of values is known.
  void enter(const std::string& name, const AboutValues& about, const Pass& pass) {
    const uint32_t bits = config_.value_bits;
    entrants_.push_back({.contestant = name,
                         .form = fmt::format("{} keys a call", about.lanes),
                         .first_wrong = [](size_t, const Stream&) { return std::nullopt; },
                         .expected =
                             [bits](size_t, const Stream& stream) {
                               PassOutcome outcome{stream.size(), 0};
                               for (const K& key : stream.as<K>())
                                 outcome.word_sum += value_of_word(mixed_word(key), bits);
                               return outcome;
                             },
                         .pass = pass});
    abouts_.push_back(about);
  }

  Result<std::vector<Timing>> time(const std::vector<NamedStream>& streams, size_t step,
                                   double share_before) {
    return measure(entrants_, streams,
                   {.cores = {config_.core},
                    .warm_up_rounds = config_.warm_up_rounds,
                    .rounds = config_.rounds,
                    .progress = [&](double share) {
                      say(step, share_before + share * (0.9 - share_before), "timing");
                    }});
  }

  void add_rows(const std::vector<Timing>& timings, const char* metric) {
    for (const Timing& timing : timings) {
      const AboutValues& about = abouts_[timing.entrant];
      RecordRow row = value_row(config_, load_, entrants_[timing.entrant].contestant,
                                config_.zipf_exponents[timing.stream]);
      row.form = entrants_[timing.entrant].form;
      row.lanes_per_call = about.lanes;
      row.round = timing.round;
      row.operations = timing.operations;
      row.seconds = timing.seconds;
      row.table_bytes = about.bytes;
      row.page_bytes = about.pages.page_bytes;
      row.transparent_huge_bytes = about.pages.transparent_huge_bytes;
      rows_.push_back(
          value_figure(row, metric, static_cast<double>(timing.operations) / timing.seconds / 1e6));
    }
  }

  // What a table says of keys that it has not; each pass must find the same. One that keeps keys
  // must find none.
  std::optional<Error> ask_strangers(size_t step) {
    const std::vector<NamedStream> streams = [&] {
      NamedStream stream{"strangers", {}};
      stream.by_core.emplace_back(draw_strangers(set_, config_.lookups, config_.keys.seed + 2));
      return std::vector<NamedStream>{std::move(stream)};
    }();
    const Stream& stream = streams[0].by_core[0];
    std::erase_if(entrants_, [](const Entrant& entrant) {
      return entrant.contestant.starts_with("oracle_");  // they know every key
    });
    abouts_.resize(entrants_.size());  // oracles came last
    for (const auto& table : tables_) {
      const uint64_t found = table->pass(stream, kCheckedLanes).hit_count;
      if (table->keeps_keys() && found != 0) {
        return Error{fmt::format("{} has {} of {} keys that it was not given", table->name(), found,
                                 stream.size())};
      }
      rows_.push_back(
          value_figure(value_row(config_, load_, std::string(table->name())), "stranger_share",
                       static_cast<double>(found) / static_cast<double>(stream.size())));
    }
    for (Entrant& entrant : entrants_) entrant.expected = entrant.pass;
    const auto timed = time(streams, step, 0.9);
    if (!timed) return timed.error();
    add_rows(timed.value(), "stranger_lookups_m_per_s");
    return {};
  }

  const ValueJobConfig& config_;
  const Progress& progress_;
  const KeySet<K>& set_;
  std::vector<ValueEntry<K>> entries_;
  std::vector<NamedStream> queries_;
  double load_ = 0;
  std::vector<std::unique_ptr<AnyValueTable<K>>> tables_;
  std::vector<Entrant> entrants_;
  std::vector<AboutValues> abouts_;
  Rows rows_;
};

}  // namespace

Result<Rows> run_value_lookup_job(const ValueJobConfig& config, const Progress& progress) {
  return with_key_set(config, [&]<class K>(const KeySet<K>& set) {
    return ValueLookupJob<K>(config, progress, set).run();
  });
}

}  // namespace roost::lab
