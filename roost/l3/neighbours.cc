// How neighbours are solicited, kept and removed; neighbours_receive.cc has what messages change.
#include "roost/l3/neighbours.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "roost/base/assert.h"
#include "roost/l3/neighbour_frames.h"

namespace roost::l3 {
namespace {

using enum NeighbourState;

constexpr uint8_t kSolicitationsMax =
    3;                                   // RFC 4861's MAX_MULTICAST_SOLICIT and MAX_UNICAST_SOLICIT
constexpr size_t kPinnedPassedMax = 16;  // in search of one that is not

// States of entries to evict, the least useful first; a learned entry evicts the first three only.
constexpr std::array kLeastUsefulFirst = {kFailed, kUnknown, kLearned, kStale, kIncomplete};
constexpr size_t kForLearnedCount = 3;  // of those

bool is_over(Tick since, TickCount ticks, Tick now) { return now.count - since.count >= ticks; }

}  // namespace

NeighbourTicks NeighbourTicks::of_seconds(double tick_seconds) {
  const auto ticks = [&](double seconds) {
    const double count = std::ceil(seconds / tick_seconds - 1e-9);
    return static_cast<TickCount>(std::clamp(count, 1.0, 1e9));
  };
  return {.reachable = ticks(30),
          .retransmit = ticks(1),
          .pause = ticks(1),
          .forgotten = ticks(600),
          .announce = ticks(1)};
}

Result<Neighbours> Neighbours::create(const Config& config, std::span<const Interface> interfaces,
                                      std::vector<LocalAddress> local) {
  auto table =
      NeighbourTable::create({.entry_count_max = config.pinned_count_max + config.dynamic_count_max,
                              .hash_seed = config.hash_seed});
  if (!table) return table.error();
  std::ranges::sort(local);
  return Neighbours(config, interfaces, std::move(local), std::move(table).value());
}

NeighbourIndex Neighbours::pin_static(uint16_t port, const std::optional<net::IpAddress>& address,
                                      const net::MacAddress& mac) {
  const NeighbourIndex index = table_.create_entry(port, address, true, Tick{});
  ROOST_ASSERT(index != kNoNeighbour);
  table_.enter(index, kStatic, Tick{});
  table_.entry(index).mac = mac;
  return index;
}

NeighbourIndex Neighbours::pin(uint16_t port, const net::IpAddress& address) {
  const NeighbourIndex known = table_.find(port, address);
  if (known != kNoNeighbour) return known;
  const NeighbourIndex index = table_.create_entry(port, address, true, Tick{});
  ROOST_ASSERT(index != kNoNeighbour);
  return index;
}

NeighbourIndex Neighbours::find_or_make(uint16_t port, const net::IpAddress& address, Tick now) {
  const NeighbourIndex known = table_.find(port, address);
  if (known != kNoNeighbour) return known;
  if (!make_room(Room::kForNeeded)) {
    ++counters_.refused_full;
    return kNoNeighbour;
  }
  return table_.create_entry(port, address, false, now);
}

Way Neighbours::use_unsure(NeighbourIndex index, size_t frame_bytes, Tick now,
                           net::Outbox& outbox) {
  NeighbourEntry& entry = table_.entry(index);
  switch (entry.state) {
    case kStatic:
    case kReachable:
    case kProbe:
      return Way::kKnown;
    case kStale:
    case kLearned:
      entry.solicitation_count = 0;
      table_.enter(index, kProbe, now);
      solicit(index, false, now, outbox);
      return Way::kKnown;
    case kFailed:
      if (!is_over(entry.since, config_.ticks.pause, now)) return Way::kFailed;
      [[fallthrough]];
    case kUnknown:
      entry.solicitation_count = 0;
      table_.enter(index, kIncomplete, now);
      solicit(index, true, now, outbox);
      [[fallthrough]];
    case kIncomplete:
      break;
  }
  const bool has_room =
      entry.waiting.count < config_.waiting_each_max && waiting_.has_room(frame_bytes);
  return has_room ? Way::kWaits : Way::kQueueFull;
}

void Neighbours::keep(NeighbourIndex index, std::span<const uint8_t> frame) {
  NeighbourEntry& entry = table_.entry(index);
  ROOST_ASSERT(entry.state == kIncomplete && entry.waiting.count < config_.waiting_each_max);
  waiting_.push(entry.waiting, frame);
  ++counters_.waited;
}

void Neighbours::advance(Tick now, net::Outbox& outbox, uint64_t budget) {
  counters_.unsolicited_sent += announcer_.advance(now, local_, interfaces_, outbox);
  if (advanced_at_ == now) return;
  const NeighbourTicks& ticks = config_.ticks;
  const std::array<std::pair<NeighbourState, TickCount>, 7> deadlines = {
      {{kIncomplete, ticks.retransmit},
       {kProbe, ticks.retransmit},
       {kReachable, ticks.reachable},
       {kStale, ticks.forgotten},
       {kLearned, ticks.forgotten},
       {kFailed, ticks.forgotten},
       {kUnknown, ticks.forgotten}}};
  for (const auto& [state, after] : deadlines) {
    while (budget > 0 && advance_one(state, after, now, outbox)) --budget;
  }
  if (budget > 0) advanced_at_ = now;
}

// The longest in this state, if its time is over. False when it is not.
bool Neighbours::advance_one(NeighbourState state, TickCount after, Tick now, net::Outbox& outbox) {
  const NeighbourIndex index = table_.first(state);
  if (index == kNoNeighbour || !is_over(table_.entry(index).since, after, now)) return false;
  if (state == kIncomplete || state == kProbe) {
    solicit_again_or_fail(index, now, outbox);
  } else if (state == kReachable) {
    table_.enter(index, kStale, now);
  } else {
    table_.forget(index);
    ++counters_.forgotten;
  }
  return true;
}

void Neighbours::solicit_again_or_fail(NeighbourIndex index, Tick now, net::Outbox& outbox) {
  if (table_.entry(index).solicitation_count < kSolicitationsMax) {
    table_.enter(index, table_.entry(index).state, now);
    solicit(index, true, now, outbox);
    return;
  }
  lose(index, counters_.lost_failed);
  table_.enter(index, kFailed, now);
  ++counters_.failed;
}

// A solicitation that cannot be sent now does not count; its time comes again.
void Neighbours::solicit(NeighbourIndex index, bool is_multicast, Tick now, net::Outbox& outbox) {
  NeighbourEntry& entry = table_.entry(index);
  refill(now);
  const std::optional<net::MacAddress> only =
      is_multicast ? std::nullopt : std::optional(entry.mac);
  if (solicitation_tokens_ == 0 ||
      !send_solicitation(entry.port, interfaces_[entry.port], entry.address, only, outbox)) {
    ++counters_.solicitations_deferred;
    return;
  }
  --solicitation_tokens_;
  ++entry.solicitation_count;
  entry.solicited_at = now;
  ++counters_.solicitations_sent;
}

void Neighbours::refill(Tick now) {
  if (now <= refilled_at_) return;
  solicitation_tokens_ = config_.solicitations_a_tick_max;
  refilled_at_ = now;
}

void Neighbours::release(NeighbourIndex index, net::Outbox& outbox) {
  NeighbourEntry& entry = table_.entry(index);
  while (entry.waiting.count != 0) {
    const std::span<uint8_t> frame = waiting_.front(entry.waiting);
    std::ranges::copy(entry.mac.bytes, frame.begin());
    ++(outbox.send(entry.port, frame) ? counters_.released : counters_.lost_no_room);
    waiting_.pop(entry.waiting);
  }
}

void Neighbours::lose(NeighbourIndex index, uint64_t& counter) {
  NeighbourEntry& entry = table_.entry(index);
  counter += entry.waiting.count;
  while (entry.waiting.count != 0) waiting_.pop(entry.waiting);
}

// One free entry, if need be at the cost of a less useful one.
bool Neighbours::make_room(Room room) {
  if (table_.count() < table_.entry_count_max()) return true;
  const std::span all(kLeastUsefulFirst);
  for (const NeighbourState state : room == Room::kForNeeded ? all : all.first(kForLearnedCount)) {
    NeighbourIndex index = table_.first(state);
    for (size_t i = 0; i < kPinnedPassedMax && index != kNoNeighbour; ++i) {
      if (!table_.entry(index).is_pinned) break;
      index = table_.next(index);
    }
    if (index == kNoNeighbour || table_.entry(index).is_pinned) continue;
    lose(index, counters_.lost_evicted);
    table_.forget(index);
    ++counters_.evicted;
    return true;
  }
  return false;
}

bool Neighbours::is_local(uint16_t port, const net::IpAddress& address) const {
  return std::ranges::binary_search(local_, LocalAddress{port, address}) ||
         (address.is_ipv6() && link_local_address(interfaces_[port]) == address.ipv6());
}

bool Neighbours::audit() {
  const NeighbourCounters& c = counters_;
  return table_.audit() && c.waited == c.released + c.lost_failed + c.lost_evicted +
                                           c.lost_no_room + waiting_.frame_count();
}

}  // namespace roost::l3
