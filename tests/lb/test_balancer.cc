#include "tests/lb/test_balancer.h"

#include <cstring>
#include <utility>

#include "roost/base/assert.h"
#include "tests/net/test_frame.h"

namespace roost::lb {

namespace {

constexpr const char* kConfig = R"(tick_seconds = 1.0
maglev_seed = 1
[table]
connections = 4_096
hash_seed = 7
[[port]]
addresses = ["192.0.2.1/24", "2001:db8:1::1/64"]
mac = "02:00:00:00:00:01"
[[port]]
addresses = ["10.0.0.1/24", "2001:db8:2::1/64"]
mac = "02:00:00:00:00:02"
[[neighbour]]
address = "192.0.2.10"
mac = "02:00:00:00:01:10"
[[neighbour]]
address = "192.0.2.11"
mac = "02:00:00:00:01:11"
[[neighbour]]
address = "2001:db8:1::10"
mac = "02:00:00:00:01:10"
[[neighbour]]
address = "10.0.0.11"
mac = "02:00:00:00:02:11"
[[neighbour]]
address = "10.0.0.12"
mac = "02:00:00:00:02:12"
[[neighbour]]
address = "10.0.0.13"
mac = "02:00:00:00:02:13"
[[neighbour]]
address = "2001:db8:2::11"
mac = "02:00:00:00:02:11"
[[neighbour]]
address = "2001:db8:2::12"
mac = "02:00:00:00:02:12"
[[service]]
name = "web"
address = "198.51.100.80"
port = 80
protocol = "tcp"
backends = [
  {name = "b1", address = "10.0.0.11", port = 8080},
  {name = "b2", address = "10.0.0.12", port = 8080, weight = 2},
  {name = "b3", address = "10.0.0.13", port = 8080},
]
[[service]]
name = "web6"
address = "2001:db8:ffff::80"
port = 80
protocol = "tcp"
backends = [
  {name = "b1", address = "2001:db8:2::11", port = 8080},
  {name = "b2", address = "2001:db8:2::12", port = 8080},
]
[[service]]
name = "dns"
address = "198.51.100.53"
port = 53
protocol = "udp"
backends = [{name = "b1", address = "10.0.0.11"}]
[[service]]
name = "dns6"
address = "2001:db8:ffff::53"
port = 53
protocol = "udp"
backends = [{name = "b1", address = "2001:db8:2::11"}]
)";

// Two addresses and two ports, one behind the other.
template <class Address>
Ends ends_at(const std::vector<uint8_t>& frame, size_t at) {
  const size_t ports_at = at + 2 * sizeof(Address);
  ROOST_ASSERT(frame.size() >= ports_at + 4);
  std::array<Address, 2> addresses{};
  std::memcpy(addresses.data(), &frame[at], sizeof(addresses));
  const auto port = [&](size_t port_at) {
    return static_cast<uint16_t>(frame[port_at] << 8 | frame[port_at + 1]);
  };
  return {addresses[0].format(), addresses[1].format(), port(ports_at), port(ports_at + 2)};
}

}  // namespace

std::string test_config() { return kConfig; }

std::string test_config(std::string_view replace, std::string_view by) {
  std::string toml = test_config();
  const size_t at = toml.find(replace);
  ROOST_ASSERT(at != std::string::npos);
  return toml.replace(at, replace.size(), by);
}

TestBalancer::TestBalancer(const std::string& toml, const node::FlowOwner& owner) {
  ConfigOutcome outcome = parse_config(toml);
  for (const config::Fault& fault : outcome.faults)
    std::fprintf(stderr, "%s\n", describe(fault, "test").c_str());
  ROOST_ASSERT(outcome.config.has_value());
  make(*outcome.config, {.worker = owner.worker(), .worker_count = owner.worker_count()}, owner);
}

TestBalancer::TestBalancer(const Config& config, const WorkerShare& share) {
  make(config, share, node::FlowOwner({}));
}

void TestBalancer::make(const Config& config, const WorkerShare& share,
                        const node::FlowOwner& owner) {
  const std::vector<net::MacAddress> macs(config.network.ports.size(), {{2, 0, 0, 0, 0, 9}});
  state_ = std::make_unique<State>(State::create(config, macs, share).value());
  datapath_ = std::make_unique<Datapath>(*state_, owner);
  totals_.ports.resize(config.network.ports.size());
}

std::vector<Fate> TestBalancer::send_batch(std::span<const Arrival> arrivals) {
  std::vector<net::TestFrame> frames;
  frames.reserve(arrivals.size());
  net::PacketBatch batch;
  for (const Arrival& arrival : arrivals) {
    frames.emplace_back(arrival.frame,
                        net::TestFrame::Shape{arrival.headroom, arrival.contiguous_bytes});
    net::Packet packet = frames.back().packet;
    packet.in_port = arrival.in_port;
    packet.origin = arrival.origin;
    batch.push(packet);
    if (arrival.origin == net::PacketOrigin::kPort) ++totals_.ports[arrival.in_port].received;
  }
  datapath_->process(batch, now);
  std::vector<Fate> fates;
  for (size_t lane = 0; lane < arrivals.size(); ++lane) {
    const net::LaneVerdict& verdict = batch.verdicts()[lane];
    if (arrivals[lane].origin == net::PacketOrigin::kCopy) {
      fates.emplace_back();  // it counts for nothing
    } else if (verdict.is_handoff()) {
      fates.push_back({.owner = verdict.owner()});
    } else if (verdict.is_drop()) {
      ++totals_.drops[verdict.drop_cause()];
      fates.push_back({verdict.drop_cause(), 0, {}});
    } else if (verdict.is_consumed()) {
      ++totals_.consumed;
      fates.push_back({.is_consumed = true, .is_copied = verdict.is_copied()});
    } else {
      const net::Packet& packet = batch.packets()[lane];
      ++totals_.ports[verdict.out_port()].sent;
      fates.push_back({.out_port = verdict.out_port(),
                       .frame = {packet.data, packet.data + packet.contiguous_bytes}});
    }
  }
  take_originated();
  return fates;
}

void TestBalancer::idle(uint64_t bucket_budget) {
  datapath_->idle(now, bucket_budget);
  take_originated();
}

// As the worker loop does, on ports that refuse nothing.
void TestBalancer::take_originated() {
  net::Outbox& outbox = datapath_->outbox();
  for (size_t i = 0; i < outbox.frame_count(); ++i) {
    const net::Outbox::Frame frame = outbox.frame(i);
    ++totals_.originated;
    ++totals_.ports[frame.out_port].sent;
    originated.push_back(
        {.out_port = frame.out_port, .frame = {frame.bytes.begin(), frame.bytes.end()}});
  }
  outbox.clear();
}

Ends read_ends(const std::vector<uint8_t>& frame) {
  ROOST_ASSERT(frame.size() >= 14);
  return frame[12] == 0x08 ? ends_at<net::Ipv4Address>(frame, 26)
                           : ends_at<net::Ipv6Address>(frame, 22);
}

std::string destination_of(const Fate& fate) {
  ROOST_ASSERT(!fate.cause);
  return read_ends(fate.frame).destination;
}

}  // namespace roost::lb
