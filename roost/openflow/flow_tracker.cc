#include "roost/openflow/flow_tracker.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "roost/conntrack/tracker_impl.h"
#include "roost/net/flow_key.h"
#include "roost/net/icmp_error.h"
#include "roost/net/tcp_segment.h"

namespace roost::openflow {

namespace {

// Bits of ct_state, as kConnectionStateNames has them.
enum StateBit : uint8_t { kNew = 1, kEst = 2, kRel = 4, kRpl = 8, kInv = 16, kTrk = 32 };

using conntrack::Connection;
using conntrack::Sender;

uint8_t state_bits(const Connection& connection, Sender sender) {
  const bool is_answered = connection.assurance != conntrack::Assurance::kUnreplied;
  return static_cast<uint8_t>(kTrk | (is_answered ? kEst : kNew) |
                              (sender == Sender::kServer ? kRpl : 0));
}

template <class Address>
typename conntrack::FamilyTracker<conntrack::SameEnds<Address>>::Config family_config(
    const FlowTracker::Config& config) {
  return {.connections = config.connections,
          .tick_seconds = config.tick_seconds,
          .hash_seed = config.hash_seed,
          .waiting_fragments = 0};
}

}  // namespace

Result<FlowTracker> FlowTracker::create(const Config& config) {
  auto ipv4 = Family<net::Ipv4Address>::create(family_config<net::Ipv4Address>(config), {});
  if (!ipv4) return ipv4.error();
  auto ipv6 = Family<net::Ipv6Address>::create(family_config<net::Ipv6Address>(config), {});
  if (!ipv6) return ipv6.error();
  return FlowTracker(config, std::move(ipv4).value(), std::move(ipv6).value());
}

std::optional<uint8_t> FlowTracker::track(const FlowPacket& packet, bool commits) {
  if (packet.verdict() == net::ParseVerdict::kNotIp) return kTrk | kInv;
  return packet.parsed().is_ipv6 ? track_in(ipv6_, packet, commits)
                                 : track_in(ipv4_, packet, commits);
}

template <class Address>
std::optional<uint8_t> FlowTracker::track_in(Family<Address>& family, const FlowPacket& packet,
                                             bool commits) {
  net::ParsedPacket parsed = packet.parsed();
  net::LaneVerdict verdict;
  if (!conntrack::complete_ports(family.fragments(), packet.packet(), parsed, verdict)) {
    return kTrk | kInv;
  }
  conntrack::TrackedPacket<Address> tracked;
  if (!conntrack::read_tracked(packet.packet(), parsed, tracked)) return kTrk | kInv;
  const auto match = family.connections().find(tracked.key);
  if (!tracked.is_error) return track_match(family, tracked, match, commits);
  if (match.connection == nullptr) return kTrk | kInv;
  // The error goes to who sent what it is about.
  return static_cast<uint8_t>(kTrk | kRel | (match.sender == Sender::kClient ? kRpl : 0));
}

template <class Address>
std::optional<uint8_t> FlowTracker::track_match(
    Family<Address>& family, const conntrack::TrackedPacket<Address>& packet,
    const typename Family<Address>::Connections::Match& match, bool commits) {
  auto& connections = family.connections();
  if (match.connection != nullptr) {
    conntrack::follow(connections, match, packet, timeouts_);
    return state_bits(*match.connection, match.sender);
  }
  if (!conntrack::can_begin(packet)) return kTrk | kInv;
  if (!commits) return kTrk | kNew;
  if (conntrack::begin(connections, packet, 0, timeouts_) != conntrack::CreateOutcome::kCreated) {
    return {};
  }
  return kTrk | kNew;
}

void FlowTracker::advance(Tick now) { all().advance(now); }
void FlowTracker::maintain(uint64_t bucket_budget) { all().maintain(bucket_budget); }
void FlowTracker::settle() { all().settle(); }
conntrack::FlowCounts FlowTracker::counts() { return all().counts(); }
conntrack::FragmentReport FlowTracker::fragment_report() { return all().fragment_report(); }
uint64_t FlowTracker::count_live() { return all().count_live(); }
uint64_t FlowTracker::memory_bytes() const { return ipv4_.memory_bytes() + ipv6_.memory_bytes(); }
bool FlowTracker::audit() { return all().audit(); }

}  // namespace roost::openflow
