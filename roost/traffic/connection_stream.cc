#include "roost/traffic/connection_stream.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "roost/isa/prefetch.h"

namespace roost::traffic {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;

}  // namespace

Result<ConnectionStream> ConnectionStream::create(const Config& config) {
  const uint64_t flows = config.windows * config.profile.flows;
  if (flows == 0 || flows + config.windows > TimerWheel::kTimersMax) {
    return Error{"a stream of " + std::to_string(config.windows) + " windows of " +
                 std::to_string(config.profile.flows) + " flows: it has 1 to " +
                 std::to_string(TimerWheel::kTimersMax - config.windows) + " flows in all"};
  }
  Result<FlowLength> length = FlowLength::create(config.profile.length);
  if (!length) return length.error();
  // Untouched, the memory of flows that do not live at a time takes no room.
  Result<TimerWheel> wheel =
      TimerWheel::create({.timers = flows + config.windows, .memory = {.pages = PageKind::kSmall}});
  if (!wheel) return wheel.error();
  return ConnectionStream(config, length.value(), std::move(wheel).value());
}

ConnectionStream::ConnectionStream(const Config& config, FlowLength length, TimerWheel wheel)
    : config_(config), length_(length), wheel_(std::move(wheel)), draw_(config.seed) {
  // So that it does not move while packets are due; what is not used takes no memory.
  flows_.reserve(std::min<uint64_t>(flow_count(), kFlowsReservedMax));
  const double flows_per_second =
      static_cast<double>(config.profile.flows) / config.profile.seconds;
  const double packets_per_second = flows_per_second * config.windows * config.profile.length.mean;
  ticks_per_nanosecond_ =
      1 / std::clamp(kPacketsPerTick / packets_per_second * kNanosecondsPerSecond,
                     kTickNanosecondsMin, kTickNanosecondsMax);
  const Arrivals arrivals(
      {.law = config.arrivals, .per_second = flows_per_second, .burst = config.burst});
  for (uint32_t number = 0; number < config.windows; ++number) {
    Window& window = windows_.emplace_back(Window{arrivals});
    window.due = window.arrivals.seconds_to_next(draw_) * kNanosecondsPerSecond;
    wheel_.arm(number, tick_of(window.due));
  }
}

size_t ConnectionStream::next(std::span<StreamPacket> packets, uint64_t budget) {
  size_t count = 0;
  while (count < packets.size()) {
    if (given_ == due_.size() && (is_over() || !take_tick(budget))) break;
    const size_t given = std::min(packets.size() - count, due_.size() - given_);
    std::copy_n(due_.begin() + static_cast<ptrdiff_t>(given_), given,
                packets.begin() + static_cast<ptrdiff_t>(count));
    given_ += given;
    count += given;
  }
  return count;
}

// A connection that begins in the tick must not have the place of one that ends later in it. While
// a tick is not at its end, given_ is the number of due_: nothing of it is given.
bool ConnectionStream::take_tick(uint64_t& budget) {
  if (!is_in_tick_) {
    due_.clear();
    free_.insert(free_.end(), ended_.begin(), ended_.end());
    ended_.clear();
    is_in_tick_ = true;
  }
  const uint64_t seen = wheel_.advance(
      now_, budget,
      [this](uint32_t timer) {
        if (timer >= config_.windows) prefetch(PrefetchHint::kT0, &flows_[timer - config_.windows]);
      },
      [this](uint32_t timer) { return see_to(timer); });
  given_ = due_.size();
  if (seen == budget) {
    budget = 0;
    return false;
  }
  budget -= seen;
  std::ranges::sort(due_, {}, [](const StreamPacket& packet) {
    return std::tuple(packet.nanoseconds, packet.flow, packet.number);
  });
  given_ = 0;
  is_in_tick_ = false;
  ++now_.count;
  return true;
}

std::optional<Tick> ConnectionStream::see_to(uint32_t timer) {
  return timer < config_.windows ? begin_due(timer) : send_due(timer - config_.windows);
}

std::optional<Tick> ConnectionStream::begin_due(uint32_t number) {
  Window& window = windows_[number];
  while (tick_of(window.due) <= now_) {
    begin(number);
    if (++window.begun == config_.profile.flows) return {};
    window.due += window.arrivals.seconds_to_next(draw_) * kNanosecondsPerSecond;
  }
  return tick_of(window.due);
}

// Begins a connection, with its first packet.
void ConnectionStream::begin(uint32_t window) {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(flows_.size()));
    flows_.emplace_back();
  }
  const uint32_t place = free_.back();
  free_.pop_back();
  const auto packets = static_cast<uint32_t>(length_.packets(draw_));
  const double lasts =
      Arrivals::exponential(draw_, config_.profile.flow_seconds) * kNanosecondsPerSecond;
  flows_[place] = {
      .number = static_cast<uint32_t>(window * config_.profile.flows + windows_[window].begun),
      .packet_count = packets,
      .sent = 0,
      .gap = static_cast<float>(lasts / packets),
      .due = windows_[window].due};
  ++begun_;
  ++live_;
  if (const std::optional<Tick> due = send_due(place)) wheel_.arm(config_.windows + place, *due);
}

std::optional<Tick> ConnectionStream::send_due(uint32_t place) {
  Flow& flow = flows_[place];
  while (tick_of(flow.due) <= now_) {
    const uint32_t number = flow.sent++;
    const bool is_last = flow.sent == flow.packet_count;
    due_.push_back({static_cast<uint64_t>(flow.due), flow.number, number, place, is_last});
    if (is_last) {
      ended_.push_back(place);
      --live_;
      return {};
    }
    flow.due += Arrivals::exponential(draw_, gap_of(flow));
  }
  return tick_of(flow.due);
}

double ConnectionStream::gap_of(const Flow& flow) const {
  constexpr uint32_t kHandshakePackets = 3;
  const double round_trip = config_.profile.round_trip_seconds * kNanosecondsPerSecond;
  const auto gap = static_cast<double>(flow.gap);
  return round_trip > 0 && flow.sent < kHandshakePackets ? std::min(gap, round_trip) : gap;
}

}  // namespace roost::traffic
