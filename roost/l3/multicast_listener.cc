#include "roost/l3/multicast_listener.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "roost/base/assert.h"
#include "roost/net/frame_header.h"
#include "roost/net/neighbour_discovery.h"

namespace roost::l3 {
namespace {

using Kind = net::ListenerRecord::Kind;

// RFC 3810 sections 9.1 and 9.2, of queriers that we know nothing of.
constexpr double kQueriesSeconds = 2 * 125;

// Room for a report of some groups; what follows the frame's header. Empty when there is none.
std::span<uint8_t> begin_frame(uint16_t port, const Interface& interface,
                               const net::Ipv6Address& destination, size_t packet_bytes,
                               net::Outbox& outbox) {
  const net::FrameHeader header = {
      .macs = {.source = interface.mac, .destination = net::group_mac(destination)},
      .vlan = interface.vlan,
      .ether_type = net::ethernet::kIpv6};
  const std::span<uint8_t> frame = outbox.reserve(port, header.byte_count() + packet_bytes);
  return frame.empty() ? frame : net::write_frame_header(frame, header);
}

}  // namespace

std::vector<ListenedGroup> listened_groups(std::span<const LocalAddress> addresses,
                                           size_t port_count) {
  std::vector<ListenedGroup> groups;
  groups.reserve(addresses.size() + port_count);
  for (const LocalAddress& local : addresses) {
    if (!local.address.is_ipv6()) continue;
    groups.push_back({local.port, net::solicited_node_group(local.address.ipv6())});
  }
  std::ranges::sort(groups, {}, &ListenedGroup::place);
  const auto repeated = std::ranges::unique(groups, {}, &ListenedGroup::place);
  groups.erase(repeated.begin(), repeated.end());
  return groups;
}

MulticastListener::MulticastListener(const Config& config, std::span<const Interface> interfaces,
                                     std::vector<ListenedGroup> groups)
    : config_(config),
      interfaces_(interfaces),
      groups_(std::move(groups)),
      ports_(interfaces.size()),
      random_(config.seed),
      tokens_(config.frames_a_tick_max) {
  left_.reserve(kLeftMax);
  add_link_local_groups();
}

// A port listens for its link-local address, whatever its other addresses are.
void MulticastListener::add_link_local_groups() {
  const auto port_count = static_cast<uint16_t>(interfaces_.size());
  for (uint16_t port = 0; port < port_count; ++port) {
    const std::optional<net::Ipv6Address> own = link_local_address(interfaces_[port]);
    if (!own) continue;
    const ListenedGroup group{port, net::solicited_node_group(*own)};
    const auto place = std::ranges::lower_bound(groups_, group.place(), {}, &ListenedGroup::place);
    if (place != groups_.end() && place->place() == group.place()) continue;
    ROOST_ASSERT(groups_.size() < groups_.capacity());
    groups_.insert(place, group);
  }
}

void MulticastListener::exchange_groups(std::vector<ListenedGroup>& groups) {
  groups_.swap(groups);
  add_link_local_groups();
  left_.clear();
  auto now_there = groups_.begin();
  for (const ListenedGroup& before : groups) {
    while (now_there != groups_.end() && now_there->place() < before.place()) ++now_there;
    if (now_there != groups_.end() && now_there->place() == before.place()) {
      now_there->is_queried = before.is_queried;
      now_there->due = before.due;
    } else if (left_.size() < kLeftMax) {
      left_.push_back({before.port, before.group});
    }
  }
  has_told_left_ = false;
  next_ = 0;
  if (left_to_look_ != 0) left_to_look_ = group_count();
}

TickCount MulticastListener::ticks_within(double seconds) const {
  return static_cast<TickCount>(seconds / config_.tick_seconds);
}

// Some time before the limit is over; a tick that has begun is not waited for as a whole.
Tick MulticastListener::random_time(uint32_t response_ms_max, Tick now) {
  const TickCount ticks = ticks_within(response_ms_max / 1000.0);
  random_ = random_ * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX
  return Tick{now.count + (ticks == 0 ? 0 : (random_ >> 33) % ticks)};
}

void MulticastListener::receive(uint16_t port, const net::ListenerQuery& query, bool is_copy,
                                Tick now) {
  PortState& state = ports_[port];
  if (query.is_version1) {
    const double seconds = kQueriesSeconds + query.response_ms_max / 1000.0;
    state.version1_until = Tick{now.count + ticks_within(seconds) + 1};
  }
  if (is_copy) return;
  ++counters_.queries;
  const Tick due = random_time(query.response_ms_max, now);
  const auto is_sooner = [&](const std::optional<Tick>& other) { return !other || due < *other; };
  if (query.group == net::Ipv6Address{}) {
    if (is_sooner(state.general_due)) state.general_due = due;
    return;
  }
  const ListenedGroup queried{port, query.group};
  const auto found = std::ranges::lower_bound(groups_, queried.place(), {}, &ListenedGroup::place);
  if (found == groups_.end() || found->place() != queried.place()) return;
  found->is_queried = true;
  if (is_sooner(state.specific_due)) state.specific_due = due;
}

void MulticastListener::mark_reports(uint16_t port, bool is_general) {
  for (ListenedGroup& group : groups_) {
    if (group.port != port || !(is_general || group.is_queried)) continue;
    group.is_queried = false;
    if (!group.due) group.due = Kind::kListens;
  }
  left_to_look_ = group_count();
}

void MulticastListener::mark_all() {
  for (ListenedGroup& group : groups_) group.due = Kind::kJoined;
  for (ListenedGroup& group : left_) group.due = Kind::kLeft;
  has_told_left_ = true;
  left_to_look_ = group_count();
}

void MulticastListener::mark_due(Tick now) {
  const auto port_count = static_cast<uint16_t>(ports_.size());
  for (uint16_t port = 0; port < port_count; ++port) {
    PortState& state = ports_[port];
    if (state.general_due && *state.general_due <= now) {
      mark_reports(port, true);
      state.general_due.reset();
      state.specific_due.reset();
    }
    if (state.specific_due && *state.specific_due <= now) {
      mark_reports(port, false);
      state.specific_due.reset();
    }
  }
  if (reports_left_ == 0 || left_to_look_ != 0) return;
  const bool is_first = reports_left_ == kRobustness;
  if (!is_first && now.count - reported_at_.count < config_.repeat) return;
  reported_at_ = now;
  --reports_left_;
  mark_all();
}

void MulticastListener::advance(Tick now, net::Outbox& outbox) {
  if (now > refilled_at_) {
    tokens_ = config_.frames_a_tick_max;
    refilled_at_ = now;
  }
  mark_due(now);
  size_t frames = 0;
  size_t looked = 0;
  while (left_to_look_ != 0 && frames < kFramesACallMax && looked < kGroupsACallMax) {
    size_t passed = 1;
    if (at(next_).due) {
      if (tokens_ == 0) return;
      passed = send_from(next_, std::min(group_count(), next_ + left_to_look_), now, outbox);
      if (passed == 0) return;  // no room: the next call goes on here
      --tokens_;
      ++frames;
      ++counters_.reports;
    }
    looked += passed;
    left_to_look_ -= passed;
    next_ = (next_ + passed) % group_count();
  }
  if (left_to_look_ == 0 && reports_left_ == 0 && has_told_left_) {
    left_.clear();
    has_told_left_ = false;
    next_ = 0;
  }
}

// A frame with the group at `first`, which is due, and in version 2 with those due after it on the
// same port. How many groups were passed; 0 when there was no room.
size_t MulticastListener::send_from(size_t first, size_t end, Tick now, net::Outbox& outbox) {
  const uint16_t port = at(first).port;
  const Interface& interface = interfaces_[port];
  const std::optional<net::Ipv6Address> source = link_local_address(interface);
  ROOST_ASSERT(source.has_value());  // the port has a group, so it has an IPv6 address
  const bool is_alone = is_version1(port, now);
  std::array<net::ListenerRecord, net::kListenerRecordsMax> records;
  size_t count = 0;
  size_t after = first;
  for (; after < end && at(after).port == port; ++after) {
    if (count == (is_alone ? 1 : records.size())) break;
    if (const auto& due = at(after).due) records[count++] = {*due, at(after).group};
  }
  const auto destination =
      is_alone ? net::listener_message_destination(records[0]) : net::kAllListenerRouters;
  const size_t bytes = is_alone ? net::kListenerMessageBytes : net::listener_report_bytes(count);
  const std::span<uint8_t> packet = begin_frame(port, interface, destination, bytes, outbox);
  if (packet.empty()) return 0;
  if (is_alone) {
    net::write_listener_message(packet, *source, records[0]);
  } else {
    net::write_listener_report(packet, *source, std::span(records).first(count));
  }
  for (size_t i = first; i < after; ++i) at(i).due.reset();
  return after - first;
}

}  // namespace roost::l3
