// A Parrot table in a switch: see value_job.h.
//
// As a pipeline of DPDK's SWX, *emulated*: each packet's answer is held against the C++ reader's,
// and the time is that of the pipeline alone. What Tofino 1 would need is *analytic*.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "lab/value_tables/value_job.h"
#include "roost/compact/parrot_builder.h"
#include "targets/switch/swx_pipeline.h"
#include "targets/switch/tofino_report.h"

namespace roost::lab {
namespace {

// Four keys of a bucket in slots, two in the stash: what a packet can look at.
constexpr compact::ModelChoice kSixKeysABucket = {compact::ModelKind::kSteps, 6};

class ValueSwitchJob {
 public:
  ValueSwitchJob(const ValueJobConfig& config, const Progress& progress,
                 const KeySet<uint64_t>& set)
      : config_(config), progress_(progress), set_(set) {}

  Result<Rows> run() {
    std::vector<compact::ParrotEntry> entries;
    for (const auto& entry : entries_of_keys(set_.keys, config_.value_bits))
      entries.push_back({entry.key, entry.value});
    auto built = compact::ParrotBuilder::build(
        {.key_bits = set_.key_bits, .value_bits = config_.value_bits, .model = kSixKeysABucket},
        std::move(entries));
    if (!built) return built.error();
    const auto table = targets::SwitchTable::of_image(built.value().image());
    if (!table) return table.error();
    add_resources(targets::tofino_report(targets::SwitchSizes::of(table.value())));
    const auto program =
        targets::SwitchProgram::for_table(table.value(), targets::Answer::kSource, 2);
    if (!program) return program.error();
    auto pipeline = targets::SwxPipeline::create(program.value(), table.value());
    if (!pipeline) return pipeline.error();
    for (unsigned round = 0; round < config_.rounds; ++round) {
      progress_(static_cast<double>(round) / config_.rounds, "packets");
      if (const auto wrong = time(pipeline.value(), round)) return *wrong;
    }
    return std::move(rows_);
  }

 private:
  void add_resources(const targets::TofinoReport& report) {
    RecordRow row = value_row(config_, 1, "parrot");
    row.kind = "analytic";
    row.form = "Tofino 1";
    const auto add = [&](const char* metric, uint64_t value) {
      rows_.push_back(value_figure(row, metric, static_cast<double>(value)));
    };
    add("stages", report.stages);
    add("sram_blocks", report.sram_blocks);
    add("tcam_blocks", report.tcam_blocks);
    add("prefixes", report.sizes.prefixes);
    add("overflow_keys", report.sizes.overflow);
    add("keys_max", report.keys_max);
  }

  // A packet to each key, in an order of chance.
  std::optional<Error> time(targets::SwxPipeline& pipeline, unsigned round) {
    const std::vector<uint32_t> places =
        draw_places(set_.keys.size(), config_.lookups, 0, config_.keys.seed + round);
    std::vector<uint64_t> keys;
    std::vector<targets::SwxPipeline::Sent> sent(targets::SwxPipeline::kPacketsMax);
    double seconds = 0;
    for (size_t at = 0; at < places.size(); at += sent.size()) {
      const size_t count = std::min(sent.size(), places.size() - at);
      keys.resize(count);
      for (size_t i = 0; i < count; ++i) keys[i] = set_.keys[places[at + i]];
      pipeline.put(keys);
      const auto start = std::chrono::steady_clock::now();
      const bool is_done = pipeline.run();
      seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (!is_done) return Error{"the pipeline kept packets"};
      pipeline.take(std::span(sent).first(count));
      for (size_t i = 0; i < count; ++i) {
        if (sent[i].port == 0 &&
            sent[i].source == value_of_word(mixed_word(keys[i]), config_.value_bits))
          continue;
        return Error{fmt::format("the pipeline gave key {} another value", keys[i])};
      }
    }
    RecordRow row = value_row(config_, 1, "parrot");
    row.kind = "emulated";
    row.form = "SWX, interpreted";
    row.round = round;
    row.operations = places.size();
    row.seconds = seconds;
    rows_.push_back(
        value_figure(row, "packets_m_per_s", static_cast<double>(places.size()) / seconds / 1e6));
    return {};
  }

  const ValueJobConfig& config_;
  const Progress& progress_;
  const KeySet<uint64_t>& set_;
  Rows rows_;
};

}  // namespace

Result<Rows> run_value_switch_job(const ValueJobConfig& config, const Progress& progress) {
  if (has_tuples(config.keys)) return Error{"a switch's keys have 48 bits at most"};
  return with_key_set(config, [&]<class K>(const KeySet<K>& set) -> Result<Rows> {
    if constexpr (std::is_same_v<K, uint64_t>) return ValueSwitchJob(config, progress, set).run();
    return Rows{};
  });
}

}  // namespace roost::lab
