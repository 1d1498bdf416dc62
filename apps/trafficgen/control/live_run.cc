#include "apps/trafficgen/control/live_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "apps/trafficgen/control/rate_search.h"
#include "apps/trafficgen/datapath/generator.h"
#include "roost/hash/random_seed.h"
#include "roost/io/buffer_pool.h"
#include "roost/io/clock.h"
#include "roost/io/eal.h"
#include "roost/io/frame_burst.h"
#include "roost/io/packet_burst.h"
#include "roost/io/port.h"

namespace roost::trafficgen {
namespace {

constexpr uint32_t kBuffers = 32'768;
constexpr uint16_t kDescriptors = 1'024;
constexpr unsigned kPollsASecond = 20;
constexpr size_t kFramesATurn = 128;  // so that what arrives is not kept waiting

// Frames on their way to a port, and whose they are.
struct Outgoing {
  explicit Outgoing(const io::BufferPool& pool) : burst(pool) {}

  io::FrameBurst burst;
  std::array<MadeFrame, io::FrameBurst::kFramesMax> frames{};
};

// Time since it was made.
class NanosecondClock {
 public:
  [[nodiscard]] uint64_t now() const {
    return static_cast<uint64_t>(static_cast<double>(io::read_cycles() - start_) * per_cycle_);
  }

 private:
  uint64_t start_ = io::read_cycles();
  double per_cycle_ = 1e9 / static_cast<double>(io::cycles_per_second());
};

class LiveRun final : private FrameRoom {
 public:
  LiveRun(const Config& config, const RunOptions& options, Generator generator,
          std::vector<io::Port>& ports, const io::BufferPool& pool)
      : config_(config), options_(options), generator_(std::move(generator)), ports_(ports) {
    for (size_t port = 0; port < ports.size(); ++port)
      outgoing_.push_back(std::make_unique<Outgoing>(pool));
  }

  Report run() {
    if (options_.search_loss) {
      search(*options_.search_loss);
    } else {
      for (const StepConfig& step : config_.steps) report_.step_seconds.push_back(step.seconds);
      run_until_over();
    }
    report_.seconds = static_cast<double>(clock_.now()) / 1e9;
    report_.ended_early = generator_.schedule().ended_early();
    report_.late_share_max = config_.late.share_max;
    generator_.finish();
    report_.stats = generator_.stats();
    for (io::Port& port : ports_) report_.sent_by_ports += port.counters().sent;
    report_.sent_by_ports -= advertisements_sent_;
    return std::move(report_);
  }

 private:
  [[nodiscard]] bool is_stopped() const { return options_.stop != nullptr && *options_.stop != 0; }

  // Sends what is due until nothing more will be, and waits for what is on its way.
  void run_until_over() {
    while (!is_stopped() && !generator_.is_over(clock_.now())) turn();
    const uint64_t end = clock_.now() + static_cast<uint64_t>(config_.wait_seconds * 1e9);
    while (!is_stopped() && clock_.now() < end) turn();
  }

  void search(double loss_max) {
    const StepConfig first = config_.steps.front();
    RateSearch search(first.packets_per_second.value_or(0));
    SearchResult result{.loss_max = loss_max, .trials = {}};
    while (!is_stopped() && !search.is_over()) {
      const double rate = search.next();
      const size_t step = report_.step_seconds.size();
      generator_.schedule().add_step({first.seconds, rate, first.burst_microseconds}, clock_.now());
      report_.step_seconds.push_back(first.seconds);
      run_until_over();
      if (step >= generator_.stats().step_count()) break;  // the connections are over
      const PacketCounts counts = generator_.stats().counts_of_step(step);
      const bool is_valid = late_share(counts) <= config_.late.share_max;
      const bool passes = is_valid && counts.loss() <= loss_max;
      result.trials.push_back({rate, counts.loss(), is_valid});
      options_.progress(fmt::format("trial: {:.0f} packets/s, loss {:.4f} %{}", rate,
                                    counts.loss() * 100, is_valid ? "" : ", late"));
      search.note(passes);
    }
    report_.search = std::move(result);
  }

  void turn() {
    const uint64_t now = clock_.now();
    for (size_t made = 0; made < kFramesATurn; ++made)
      if (!make(now)) break;
    for (const io::Port& port : ports_) flush(port.id());
    for (io::Port& port : ports_) receive(port);
    generator_.schedule().make_ahead();
    if (now >= next_progress_) show_progress(now);
  }

  // A frame that is due; false if none is.
  [[nodiscard]] bool make(uint64_t now) {
    const auto made = generator_.make_next(now, *this);
    if (!made) return false;
    Outgoing& outgoing = *outgoing_[made->port];
    outgoing.frames[outgoing.burst.count() - 1] = *made;
    return true;
  }
  std::span<uint8_t> room(uint16_t port, size_t bytes) override {
    if (outgoing_[port]->burst.is_full()) flush(port);
    return outgoing_[port]->burst.append(bytes);
  }

  void flush(uint16_t port) {
    Outgoing& outgoing = *outgoing_[port];
    const size_t count = outgoing.burst.count();
    if (count == 0) return;
    const size_t sent = ports_[port].queue().send(outgoing.burst);
    for (size_t i = sent; i < count; ++i) generator_.refuse(outgoing.frames[i]);
  }

  // As many as may have been sent meanwhile, so that what comes back is not held up.
  void receive(io::Port& port) {
    for (size_t taken = 0; taken < kFramesATurn; taken += net::kBatchLanesMax) {
      const size_t count = port.queue().receive(received_, net::kBatchLanesMax);
      if (count == 0) return;
      take_received(port);
      if (count < net::kBatchLanesMax) return;
    }
  }

  void take_received(io::Port& port) {
    const uint64_t now = clock_.now();
    for (const net::Packet& packet : received_.batch().packets()) generator_.prefetch(packet);
    for (const net::Packet& packet : received_.batch().packets()) generator_.receive(packet, now);
    received_.clear();
    if (!generator_.outbox().is_empty()) send_advertisements(port.queue());
  }

  // Those to one port's frames leave by it.
  void send_advertisements(io::PortQueue& queue) {
    const uint64_t sent_before = queue.counters().sent;
    net::Outbox& outbox = generator_.outbox();
    for (size_t i = 0; i < outbox.frame_count(); ++i) queue.send(outbox.frame(i).bytes);
    outbox.clear();
    advertisements_sent_ += queue.counters().sent - sent_before;
  }

  void show_progress(uint64_t now) {
    next_progress_ = now + 1'000'000'000;
    const PacketCounts counts = generator_.stats().counts();
    options_.progress(fmt::format("{:>6.1f} s  offered {}  returned {}  refused {}  late {}",
                                  static_cast<double>(now) / 1e9, counts.offered, counts.returned,
                                  counts.refused, counts.late));
  }

  const Config& config_;
  const RunOptions& options_;
  Generator generator_;
  std::vector<io::Port>& ports_;
  std::vector<std::unique_ptr<Outgoing>> outgoing_;  // by port
  io::PacketBurst received_;
  Report report_;
  NanosecondClock clock_;
  uint64_t advertisements_sent_ = 0;
  uint64_t next_progress_ = 1'000'000'000;
};

Result<std::vector<io::Port>> open_ports(const Config& config, const io::BufferPool& pool) {
  std::vector<io::Port> ports;
  ports.reserve(config.port_count());
  for (uint16_t id = 0; id < config.port_count(); ++id) {
    const bool is_clients = id == config.clients.port;
    io::Port::Config port{.id = id,
                          .rx_descriptors = kDescriptors,
                          .tx_descriptors = kDescriptors,
                          .promiscuous = true};  // backends may have MACs of their own
    if (is_clients || id == config.backends.port)
      port.mac = is_clients ? config.clients.mac : config.backends.mac;
    auto opened = io::Port::create(port, pool);
    if (!opened) return opened.error();
    ports.push_back(std::move(opened).value());
  }
  return ports;
}

// The other end of a port may come later, as another process does. True when all are there.
bool wait_for_links(const std::vector<io::Port>& ports, const RunOptions& options) {
  for (unsigned waited = 0;; ++waited) {
    const auto down =
        std::ranges::find_if(ports, [](const io::Port& port) { return !port.is_link_up(); });
    if (down == ports.end()) return true;
    if (options.stop != nullptr && *options.stop != 0) return false;
    if (waited % kPollsASecond == kPollsASecond - 1)
      options.progress(fmt::format("port {} has no link; waiting", down->device_name()));
    std::this_thread::sleep_for(std::chrono::milliseconds(1'000 / kPollsASecond));
  }
}

}  // namespace

Result<Report> run_live(const Config& config, const RunOptions& options) {
  if (options.search_loss && !config.steps.front().packets_per_second)
    return Error{
        "--search: the first [[step]] has no packets_per_second, the greatest rate to try"};
  auto eal = io::Eal::start(options.eal_arguments);
  if (!eal) return eal.error();
  if (eal.value().port_count() != config.port_count())
    return Error{fmt::format("DPDK has {} ports, and [clients] and [backends] name {}",
                             eal.value().port_count(), config.port_count())};
  auto pool = io::BufferPool::create({.buffer_count = kBuffers});
  if (!pool) return pool.error();
  auto ports = open_ports(config, pool.value());
  if (!ports) return ports.error();
  if (!wait_for_links(ports.value(), options)) return Error{"stopped before there was a link"};
  auto generator = Generator::create(config, random_seed());
  if (!generator) return generator.error();
  if (options.search_loss) generator.value().schedule().clear_steps();
  return LiveRun(config, options, std::move(generator).value(), ports.value(), pool.value()).run();
}

}  // namespace roost::trafficgen
