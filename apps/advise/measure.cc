#include "apps/advise/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "apps/advise/report.h"
#include "apps/lb/config/config.h"
#include "apps/lb/datapath/datapath.h"
#include "roost/net/byte_order.h"
#include "roost/net/transport_frame.h"
#include "roost/traffic/connection_stream.h"

namespace roost::advise {
namespace {

using Clock = std::chrono::steady_clock;
using net::tcp::kAck;
using net::tcp::kRst;
using net::tcp::kSyn;

constexpr size_t kPrepared = 8'192;   // packets whose frames are made at a time
constexpr uint64_t kIdleBudget = 64;  // a worker loop's
constexpr uint32_t kNumberMask = (uint32_t{1} << 29) - 1;
constexpr net::MacAddress kOwnMac{{2, 0, 0, 0, 0, 1}};
constexpr net::MacAddress kPeerMac{{2, 0, 0, 0, 0, 2}};

// The client of a connection's number: all have different addresses, and lie spread.
template <class Address>
net::Endpoint<Address> client_of(uint32_t flow) {
  const uint32_t number = flow * 0x9E3779B1U & kNumberMask;
  net::Endpoint<Address> client{.port = static_cast<uint16_t>(1'024 + flow % 60'000)};
  uint8_t* last = client.address.bytes.data() + client.address.bytes.size() - 4;
  if constexpr (net::FlowKey<Address>::kIsIpv6) client.address.bytes[0] = 0x26;  // 2600::/16
  const uint32_t word = 0x40000000U | number;                                    // 64.0.0.0/3
  net::store_be16(last, static_cast<uint16_t>(word >> 16));
  net::store_be16(last + 2, static_cast<uint16_t>(word));
  return client;
}

// Frames of packets, in batches as a worker would have received them.
class Frames {
 public:
  static constexpr uint32_t kHeadroom = 128;
  static constexpr uint32_t kFrameBytes = 80;

  [[nodiscard]] std::span<uint8_t> next() {
    return std::span(bytes_[count_]).subspan(kHeadroom, kFrameBytes);
  }
  void push(uint64_t nanoseconds) {
    const size_t batch = count_ / net::kBatchLanesMax;
    if (batches_[batch].is_full()) batches_[batch].clear();
    batches_[batch].push({.data = bytes_[count_].data() + kHeadroom,
                          .contiguous_bytes = kFrameBytes,
                          .total_bytes = kFrameBytes,
                          .headroom = kHeadroom});
    nanoseconds_[batch] = nanoseconds;
    ++count_;
  }
  void clear() {
    for (net::PacketBatch& batch : batches_) batch.clear();
    count_ = 0;
  }
  [[nodiscard]] size_t count() const { return count_; }
  [[nodiscard]] std::span<net::PacketBatch> batches() {
    return std::span(batches_).first((count_ + net::kBatchLanesMax - 1) / net::kBatchLanesMax);
  }
  [[nodiscard]] uint64_t nanoseconds(size_t batch) const { return nanoseconds_[batch]; }

 private:
  size_t count_ = 0;
  std::array<net::PacketBatch, kPrepared / net::kBatchLanesMax> batches_{};
  std::array<uint64_t, kPrepared / net::kBatchLanesMax> nanoseconds_{};
  std::array<std::array<uint8_t, kHeadroom + kFrameBytes>, kPrepared> bytes_{};
};

// A balancer of one worker, and what is sent through it.
template <class Address>
class Bench {
 public:
  static Result<std::unique_ptr<Bench>> create(lb::Config config,
                                               traffic::ConnectionStream stream) {
    l3::PortConfig& port = config.network.ports.front();
    port.mac = kOwnMac;
    port.default_neighbour_mac = kPeerMac;  // of clients and of backends
    const std::array<net::MacAddress, 1> macs{kOwnMac};
    auto state = lb::State::create(config, macs);
    if (!state) return state.error();
    return std::unique_ptr<Bench>(new Bench(config, std::move(state).value(), std::move(stream)));
  }

  // Sends so many packets; nanoseconds of one.
  double run(uint64_t packets) {
    Clock::duration spent{};
    uint64_t sent = 0;
    while (sent < packets && prepare() != 0) {
      spent += process();
      sent += frames_.count();
    }
    const double nanoseconds = std::chrono::duration<double, std::nano>(spent).count();
    return sent == 0 ? 0 : nanoseconds / static_cast<double>(sent);
  }

  [[nodiscard]] uint64_t lost() const { return lost_; }
  [[nodiscard]] uint64_t live() { return state_.tracker().count_live(); }
  [[nodiscard]] uint64_t begun() const { return stream_.begun(); }

 private:
  Bench(const lb::Config& config, lb::State state, traffic::ConnectionStream stream)
      : service_(config.services.front()),
        sees_answers_(!is_dsr(service_.mode)),
        nanoseconds_per_tick_(config.tick_microseconds * 1'000),
        state_(std::move(state)),
        datapath_(state_),
        stream_(std::move(stream)),
        virtual_end_{service_.address.as<Address>().value_or(Address{}), service_.ports.first} {}

  size_t prepare() {
    frames_.clear();
    const size_t count = stream_.next(packets_);
    for (const traffic::StreamPacket& packet : std::span(packets_).first(count)) make(packet);
    return count;
  }

  void make(const traffic::StreamPacket& packet) {
    const auto client = client_of<Address>(packet.flow);
    const bool is_answer = sees_answers_ && packet.number % 2 == 1;
    net::TransportFrame<Address> frame{.macs = {.source = kPeerMac, .destination = kOwnMac},
                                       .source = client,
                                       .destination = virtual_end_};
    if (packet.is_last) frame.tcp_flags = kRst | kAck;  // the one packet that ends both directions
    if (packet.number == 0) frame.tcp_flags = kSyn;
    if (is_answer) {
      if (packet.number == 1 && !packet.is_last) frame.tcp_flags = kSyn | kAck;
      frame.source = backend_of(client);
      frame.destination = client;
    }
    net::write_transport_frame<Address>(frames_.next(), frame, 0);
    frames_.push(packet.nanoseconds);
  }

  net::Endpoint<Address> backend_of(const net::Endpoint<Address>& client) {
    auto& services = family().services();
    const net::FlowKey<Address> key{client.address,    virtual_end_.address,  client.port,
                                    virtual_end_.port, net::IpProtocol::kTcp, {}};
    return services.backend(services.pick_backend(0, key).value_or(0)).endpoint;
  }
  auto& family() {
    if constexpr (net::FlowKey<Address>::kIsIpv6) return state_.ipv6();
    if constexpr (!net::FlowKey<Address>::kIsIpv6) return state_.ipv4();
  }

  Clock::duration process() {
    const auto batches = frames_.batches();
    const auto begin = Clock::now();
    for (size_t batch = 0; batch < batches.size(); ++batch) {
      const Tick now{frames_.nanoseconds(batch) / nanoseconds_per_tick_};
      datapath_.process(batches[batch], now);
      datapath_.idle(now, kIdleBudget);
    }
    const auto spent = Clock::now() - begin;
    for (const net::PacketBatch& batch : batches)
      for (const net::LaneVerdict& verdict : batch.verdicts())
        if (!verdict.is_forward()) ++lost_;
    return spent;
  }

  lb::ServiceConfig service_;
  bool sees_answers_;
  uint64_t nanoseconds_per_tick_;
  lb::State state_;
  lb::Datapath datapath_;
  traffic::ConnectionStream stream_;
  net::Endpoint<Address> virtual_end_;
  Frames frames_;
  std::array<traffic::StreamPacket, kPrepared> packets_{};
  uint64_t lost_ = 0;
};

// Of one worker.
struct Load {
  traffic::ConnectionStream::Config stream{};
  uint64_t warm_up_packets = 0;
};

Result<Load> load_of(const Advice& advice, const MeasureOptions& options) {
  const Workload& workload = advice.workload;
  if (!(workload.new_per_second > 0))
    return Error{"--measure: no connection begins, so the table would stay empty; give --new"};
  const double begin = workload.new_per_second / workload.cores;
  const double alive = static_cast<double>(workload.connections) / workload.cores;
  const double packets = workload.packets_of_each();
  // Connections last exponentially long: after three times their mean, 95 % of them are there.
  constexpr double kMeansUntilAlive = 3;
  constexpr double kRoundTripSeconds = 0.05;
  const double held_seconds = kMeansUntilAlive * alive / begin + advice.timeouts[kTcpClosed] +
                              std::max(kSweepSeconds, advice.sizing.tick_seconds);
  const double warm_up = held_seconds * begin * packets;
  if (warm_up > static_cast<double>(options.warm_up_packets_max))
    return Error{fmt::format(
        "--measure: {:.0f} packets pass until the table holds what it will, and {} is the most; "
        "give fewer connections, or more cores",
        warm_up, options.warm_up_packets_max)};
  const double measured = static_cast<double>(options.round_packets + kPrepared) * options.rounds;
  const double seconds = 1 + 1.1 * (warm_up + measured) / (begin * packets);
  Load load;
  traffic::Profile& profile = load.stream.profile;
  profile = {.name = "advised",
             .flows = static_cast<uint64_t>(std::ceil(begin * seconds)),
             .seconds = seconds,
             .length = {.law = traffic::LengthLaw::kFixed, .mean = packets},
             .flow_seconds = std::max(1e-6, alive / begin),
             .round_trip_seconds = kRoundTripSeconds};
  if (options.largest_share > 0.01) {
    profile.length.law = traffic::LengthLaw::kPareto;
    profile.length.tail = tail_of(options.largest_share);
  }
  load.warm_up_packets = static_cast<uint64_t>(warm_up);
  return load;
}

template <class Address>
Result<Measurement> measure_family(const lb::Config& config, const Load& load,
                                   traffic::ConnectionStream stream,
                                   const MeasureOptions& options) {
  auto made = Bench<Address>::create(config, std::move(stream));
  if (!made) return made.error();
  Bench<Address>& bench = *made.value();
  bench.run(load.warm_up_packets);
  std::vector<double> rounds;
  for (unsigned round = 0; round < options.rounds; ++round)
    rounds.push_back(bench.run(options.round_packets));
  std::ranges::sort(rounds);
  const traffic::Profile& profile = load.stream.profile;
  return Measurement{.datapath_ns = rounds[rounds.size() / 2],
                     .least_ns = rounds.front(),
                     .greatest_ns = rounds.back(),
                     .packets_each = profile.length.mean,
                     .live = bench.live(),
                     .begun_per_second = static_cast<uint64_t>(static_cast<double>(profile.flows) /
                                                               profile.seconds),
                     .warm_up_packets = load.warm_up_packets,
                     .lost = bench.lost()};
}

}  // namespace

double tail_of(double largest_share) {
  // A Pareto distribution's largest q have q^(1 - 1 / tail) of all.
  const double tail = 1 / (1 - std::log(largest_share) / std::log(0.01));
  return std::clamp(tail, 1.05, 5.0);
}

Result<Measurement> measure(const Advice& advice, const MeasureOptions& options) {
  const auto load = load_of(advice, options);
  if (!load) return load.error();
  Advice one = advice;
  one.workload.cores = 1;
  if (one.workload.families == Families::kBoth) one.workload.families = Families::kIpv4;
  const lb::ConfigOutcome outcome = lb::parse_config(format_toml(one));
  if (!outcome.config) return Error{describe(outcome.faults.front(), "--measure")};
  auto stream = traffic::ConnectionStream::create(load.value().stream);
  if (!stream) return Error{"--measure: " + stream.error().message};
  return one.workload.has_ipv6()
             ? measure_family<net::Ipv6Address>(*outcome.config, load.value(),
                                                std::move(stream).value(), options)
             : measure_family<net::Ipv4Address>(*outcome.config, load.value(),
                                                std::move(stream).value(), options);
}

}  // namespace roost::advise
