#include "lab/functions/rule_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lab/functions/acl_filter.h"
#include "lab/functions/rules.h"
#include "lab/harness/pinned_core.h"
#include "roost/acl/rule_masks.h"
#include "roost/classify/classifier.h"
#include "roost/net/packet_batch.h"

namespace roost::lab {
namespace {

constexpr size_t kLanes = net::kBatchLanesMax;

// All packets, as the classifier wants them and as rte_acl does.
struct Packets {
  std::vector<classify::PacketFields> fields;
  std::vector<AclFilter::Tuple> tuples;
};

Packets draw_packets(std::span<const acl::RuleConfig> rules, size_t count, uint64_t seed) {
  traffic::Draw draw(seed);
  Packets packets;
  for (size_t i = 0; i < count; ++i) {
    const size_t rule = i % 2 == 0 ? draw.below(rules.size()) : rules.size() - 1;
    const net::FlowKey4 key = draw_key(rules[rule], draw);
    packets.fields.push_back(acl::fields_of(key, 0, {}));
    packets.tuples.push_back(AclFilter::tuple_of(key));
  }
  return packets;
}

// What is timed: answers all packets, in batches, with the places of their rules.
class RuleSearch {
 public:
  RuleSearch(std::string name, std::string note) : name_(std::move(name)), note_(std::move(note)) {}
  RuleSearch(const RuleSearch&) = delete;
  RuleSearch& operator=(const RuleSearch&) = delete;
  virtual ~RuleSearch() = default;

  virtual void find(const Packets& packets, std::span<uint32_t> places) = 0;
  [[nodiscard]] virtual uint64_t memory_bytes() const { return 0; }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& note() const { return note_; }

 private:
  std::string name_;
  std::string note_;
};

class ClassifierSearch : public RuleSearch {
 public:
  ClassifierSearch(std::string name, classify::Classifier classifier)
      : RuleSearch(std::move(name), fmt::format("{} masks", classifier.mask_count())),
        classifier_(std::move(classifier)) {}

  static Result<std::unique_ptr<RuleSearch>> create(std::string name,
                                                    std::span<const acl::RuleConfig> rules,
                                                    const classify::ClassifierConfig& config) {
    auto classifier = classify::Classifier::create(config);
    if (!classifier) return classifier.error();
    for (uint32_t place = 0; place < rules.size(); ++place) {
      const auto masks = acl::masks_of(rules[place], place);
      if (!masks) return Error{"a rule has too many combinations"};
      for (classify::Rule rule : *masks) {
        rule.priority = static_cast<uint16_t>(rules.size() - place);
        if (const auto added = classifier.value().add(rule); !added) return added.error();
      }
    }
    return std::unique_ptr<RuleSearch>(
        std::make_unique<ClassifierSearch>(std::move(name), std::move(classifier).value()));
  }

  void find(const Packets& packets, std::span<uint32_t> places) override {
    constexpr std::array<uint32_t, kLanes> kBytes{};
    std::array<classify::Answer, kLanes> answers;
    const std::span all(packets.fields);
    for (size_t at = 0; at < all.size(); at += kLanes) {
      const size_t count = std::min(kLanes, all.size() - at);
      classifier_.classify(all.subspan(at, count), std::span(kBytes).first(count),
                           std::span(answers).first(count));
      for (size_t i = 0; i < count; ++i) places[at + i] = answers[i].action;
    }
  }
  [[nodiscard]] uint64_t memory_bytes() const override { return classifier_.memory_bytes(); }

 private:
  classify::Classifier classifier_;
};

class AclSearch : public RuleSearch {
 public:
  explicit AclSearch(AclFilter filter)
      : RuleSearch("rte_acl", std::string(filter.algorithm())), filter_(std::move(filter)) {}

  void find(const Packets& packets, std::span<uint32_t> places) override {
    std::array<const AclFilter::Tuple*, kLanes> tuples;
    for (size_t at = 0; at < packets.tuples.size(); at += kLanes) {
      const size_t count = std::min(kLanes, packets.tuples.size() - at);
      for (size_t i = 0; i < count; ++i) tuples[i] = &packets.tuples[at + i];
      filter_.find(std::span(tuples).first(count), places.subspan(at, count));
    }
  }

 private:
  AclFilter filter_;
};

class RuleJob {
 public:
  RuleJob(const RuleJobConfig& config, const Progress& progress)
      : config_(config),
        progress_(progress),
        rules_(five_tuple_rules(config.rules, config.seed)),
        packets_(draw_packets(rules_, config.packets, config.seed + 1)),
        places_(config.packets) {}

  Result<Rows> run() {
    const Result<int> pinned = pin_to_core(config_.core);
    if (!pinned) return pinned.error();
    progress_(0, "loading the rules");
    if (auto error = make_searches()) return *error;
    progress_(0.2, "comparing answers");
    if (auto error = compare()) return *error;
    // What a cache keeps, and whether it is in use, is settled before anything counts.
    for (const auto& search : searches_) static_cast<void>(time(*search, 0));
    Rows rows;
    for (unsigned round = 0; round < config_.rounds; ++round) {
      progress_(0.3 + 0.7 * round / config_.rounds, fmt::format("round {}", round + 1));
      for (const auto& search : searches_) rows.push_back(time(*search, round));
    }
    if (auto error = compare()) return *error;
    return rows;
  }

 private:
  using Named = std::pair<const char*, classify::ClassifierConfig>;

  [[nodiscard]] std::vector<Named> classifiers() const {
    const uint64_t seed = config_.seed;
    if (!config_.compares_cache) {
      return {
          {"classifier", {.hash_seed = seed}},
          {"classifier_rules", {.cache_entries = 0, .has_megaflows = false, .hash_seed = seed}}};
    }
    return {{"cache_auto", {.hash_seed = seed}},
            {"cache_on", {.is_cache_always_used = true, .hash_seed = seed}},
            {"cache_off", {.cache_entries = 0, .hash_seed = seed}}};
  }

  std::optional<Error> make_searches() {
    for (const auto& [name, config] : classifiers()) {
      auto made = ClassifierSearch::create(name, rules_, config);
      if (!made) return Error{fmt::format("{}: {}", name, made.error().message)};
      searches_.push_back(std::move(made).value());
    }
    if (config_.compares_cache) return {};
    auto filter = AclFilter::create(rules_);
    if (!filter) return filter.error();
    searches_.push_back(std::make_unique<AclSearch>(std::move(filter).value()));
    return {};
  }

  std::optional<Error> compare() {
    std::vector<uint32_t> first(packets_.fields.size());
    searches_.front()->find(packets_, first);
    for (const auto& search : searches_) {
      search->find(packets_, places_);
      const auto [mine, its] = std::ranges::mismatch(first, places_);
      if (mine != first.end()) {
        return Error{fmt::format("packet {} gets rule {} of {}, and {} of {}", mine - first.begin(),
                                 *mine, searches_.front()->name(), *its, search->name())};
      }
    }
    return {};
  }

  RecordRow time(RuleSearch& search, unsigned round) {
    const auto began = std::chrono::steady_clock::now();
    for (unsigned pass = 0; pass < config_.passes; ++pass) search.find(packets_, places_);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    RecordRow row;
    row.experiment = config_.experiment;
    row.contestant = search.name();
    row.form = fmt::format("{} packets a call", kLanes);
    row.workload = "uniform";
    row.slots = config_.compares_cache ? config_.packets : config_.rules;
    row.entries = config_.rules;
    row.lanes_per_call = kLanes;
    row.round = round;
    row.metric = "ns_per_packet";
    row.operations = uint64_t{config_.passes} * packets_.fields.size();
    row.value = 1e9 * took.count() / static_cast<double>(*row.operations);
    row.seconds = took.count();
    row.table_bytes = search.memory_bytes();
    row.core = config_.core;
    row.seed = config_.seed;
    row.note = search.note();
    return row;
  }

  const RuleJobConfig& config_;
  const Progress& progress_;
  std::vector<acl::RuleConfig> rules_;
  Packets packets_;
  std::vector<uint32_t> places_;
  std::vector<std::unique_ptr<RuleSearch>> searches_;
};

}  // namespace

Result<Rows> run_rule_job(const RuleJobConfig& config, const Progress& progress) {
  return RuleJob(config, progress).run();
}

}  // namespace roost::lab
