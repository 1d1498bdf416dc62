// Packets forwarded by value-only tables: see value_job.h.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "lab/lb/frame_batch.h"
#include "lab/packets/port_bench.h"
#include "lab/packets/raw_holder.h"
#include "lab/packets/raw_io.h"
#include "lab/value_tables/value_forwarder.h"
#include "lab/value_tables/value_job.h"

namespace roost::lab {
namespace {

constexpr uint16_t kForwardPorts = 2;

using Table = AnyValueTable<uint64_t>;

class ValueForwardJob {
 public:
  ValueForwardJob(const ValueJobConfig& config, const Progress& progress,
                  const KeySet<uint64_t>& set)
      : config_(config),
        progress_(progress),
        set_(set),
        entries_(entries_of_keys(set.keys, config.value_bits)),
        plan_({.key_bits = set.key_bits,
               .value_bits = config.value_bits,
               .port_count = kForwardPorts}),
        places_(draw_places(set.keys.size(), config.frames, exponent(), config.keys.seed + 1)),
        bench_({.experiment = config.experiment,
                .pages = config.pages,
                .cores = {config.core},
                .rounds = config.rounds,
                .packets = config.lookups,
                .seed = config.keys.seed,
                .port_count = kForwardPorts,
                .frames = config.frames,
                .frame_bytes = kFrameBytes},
               progress) {}

  Result<Rows> run() {
    if (auto wrong = bench_.open([this](CaptureFiles& files) { write(files); })) return *wrong;
    add("raw_io", RawHolder<RawIo>(RawIo(kForwardPorts)));
    using Computed = ValueForwarder<ComputedValues>;
    add("raw_io_parse", RawHolder<Computed>(Computed(computed_, plan_)));
    add_different_keys();
    for (const std::string& name : config_.contestants) {
      progress_(0.2, "building " + name);
      if (auto wrong = build(name)) return *wrong;
    }
    bench_.warm_up();
    if (auto wrong = bench_.wrong()) return *wrong;
    const Rows timed = bench_.time_all([this](RecordRow& row) { describe(row); });
    if (auto wrong = bench_.wrong()) return *wrong;
    rows_.insert(rows_.end(), timed.begin(), timed.end());
    return std::move(rows_);
  }

 private:
  [[nodiscard]] double exponent() const { return config_.zipf_exponents.front(); }
  [[nodiscard]] double load() const { return config_.loads.front(); }
  [[nodiscard]] uint64_t key_of_frame(size_t frame) const { return set_.keys[places_[frame]]; }

  void write(CaptureFiles& files) const {
    for (size_t frame = 0; frame < places_.size(); ++frame)
      files.write(frame % kForwardPorts, plan_.frame_to(key_of_frame(frame)));
  }

  template <class Holder>
  void add(const std::string& name, Holder holder) {
    std::vector<std::unique_ptr<Holder>> holders;
    holders.push_back(std::make_unique<Holder>(std::move(holder)));
    bench_.add(name, std::move(holders));
  }

  // How large the set is that packets are of, again and again.
  void add_different_keys() {
    std::vector<uint32_t> sorted = places_;
    std::ranges::sort(sorted);
    const auto repeated = std::ranges::unique(sorted);
    const size_t different = sorted.size() - repeated.size();
    rows_.push_back(value_figure(row("raw_io"), "different_keys", static_cast<double>(different)));
  }

  std::optional<Error> build(const std::string& name) {
    auto made = build_value_table<uint64_t>(config_, set_.key_bits, load(), name, entries_);
    if (!made) {
      rows_.push_back(not_run(row(name), made.error().message));
      return {};
    }
    Table& table = *made.value();
    if (auto wrong = wrong_values<uint64_t>(table, entries_)) return wrong;
    tables_[name] = std::move(made).value();
    ValueForwarder<Table> forwarder(table, plan_);
    if (auto wrong = wrong_ports(name, forwarder)) return wrong;
    describe_values(rows_, row(name), table);
    add(name, RawHolder(std::move(forwarder), table.image_bytes()));
    return {};
  }

  // Every frame that is played leaves by the port that its key's value says.
  std::optional<Error> wrong_ports(const std::string& name,
                                   ValueForwarder<Table>& forwarder) const {
    FrameBatch batch;
    for (size_t first = 0; first < places_.size(); first += batch.lane_count()) {
      batch.clear();
      const size_t count = std::min(net::kBatchLanesMax, places_.size() - first);
      for (size_t lane = 0; lane < count; ++lane)
        batch.push(plan_.frame_to(key_of_frame(first + lane)));
      forwarder.process(batch.batch(), Tick{});
      for (size_t lane = 0; lane < count; ++lane) {
        const uint16_t port = plan_.port_of(plan_.value_of_key(key_of_frame(first + lane)));
        const net::LaneVerdict& verdict = batch.batch().verdicts()[lane];
        if (!verdict.is_forward() || verdict.out_port() != port)
          return Error{
              fmt::format("{}: frame {} does not leave by port {}", name, first + lane, port)};
      }
    }
    return {};
  }

  [[nodiscard]] RecordRow row(const std::string& contestant) const {
    RecordRow made = value_row(config_, load(), contestant, exponent());
    made.form = fmt::format("{} packets", config_.frames);
    return made;
  }

  // What was timed has its own of these.
  void describe(RecordRow& timed) const {
    RecordRow like = row(timed.contestant);
    timed.form = like.form;
    timed.workload = like.workload;
    timed.slots = like.slots;
    timed.entries = like.entries;
    timed.load = like.load;
    timed.key_bytes = like.key_bytes;
    timed.value_bytes = like.value_bytes;
    timed.lanes_per_call = net::kBatchLanesMax;
    const auto table = tables_.find(timed.contestant);
    if (table == tables_.end()) return;
    const PagesBehind pages = table->second->pages();
    timed.page_bytes = pages.page_bytes;
    timed.transparent_huge_bytes = pages.transparent_huge_bytes;
  }

  const ValueJobConfig& config_;
  const Progress& progress_;
  const KeySet<uint64_t>& set_;
  const std::vector<ValueEntry<uint64_t>> entries_;
  ForwardingPlan plan_;
  ComputedValues computed_{plan_};
  std::vector<uint32_t> places_;  // of the frames' keys
  Rows rows_;
  PortBench bench_;
  std::map<std::string, std::unique_ptr<Table>> tables_;  // last: DPDK must run while they live
};

}  // namespace

Result<Rows> run_value_forward_job(const ValueJobConfig& config, const Progress& progress) {
  if (has_tuples(config.keys)) return Error{"a frame's key has 64 bits at most"};
  return with_key_set(config, [&]<class K>(const KeySet<K>& set) -> Result<Rows> {
    if constexpr (std::is_same_v<K, uint64_t>) return ValueForwardJob(config, progress, set).run();
    return Rows{};
  });
}

}  // namespace roost::lab
