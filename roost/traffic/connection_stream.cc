#include "roost/traffic/connection_stream.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace roost::traffic {

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
  const Arrivals arrivals(
      {.law = config.arrivals,
       .per_second = static_cast<double>(config.profile.flows) / config.profile.seconds,
       .burst = config.burst});
  for (uint32_t number = 0; number < config.windows; ++number) {
    Window& window = windows_.emplace_back(Window{arrivals, 1});
    window.due += window.arrivals.seconds_to_next(draw_) * kTicksPerSecond;
    wheel_.arm(number, tick_of(window.due));
  }
}

size_t ConnectionStream::next(std::span<StreamPacket> packets) {
  size_t count = 0;
  while (count < packets.size()) {
    if (given_ == due_.size()) {
      due_.clear();
      given_ = 0;
      if (live_ == 0 && begun_ == flow_count()) break;
      ++now_.count;
      wheel_.advance(
          now_, UINT64_MAX,
          [this](uint32_t timer) {
            if (timer >= config_.windows) __builtin_prefetch(&flows_[timer - config_.windows]);
          },
          [this](uint32_t timer) { return see_to(timer, now_); });
    }
    const size_t given = std::min(packets.size() - count, due_.size() - given_);
    std::copy_n(due_.begin() + static_cast<ptrdiff_t>(given_), given,
                packets.begin() + static_cast<ptrdiff_t>(count));
    given_ += given;
    count += given;
  }
  return count;
}

std::optional<Tick> ConnectionStream::see_to(uint32_t timer, Tick now) {
  return timer < config_.windows ? begin_due(timer, now) : send_due(timer - config_.windows, now);
}

std::optional<Tick> ConnectionStream::begin_due(uint32_t number, Tick now) {
  Window& window = windows_[number];
  while (tick_of(window.due) <= now) {
    begin(number, now);
    if (++window.begun == config_.profile.flows) return {};
    window.due += window.arrivals.seconds_to_next(draw_) * kTicksPerSecond;
  }
  return tick_of(window.due);
}

// Begins a connection, with its first packet.
void ConnectionStream::begin(uint32_t window, Tick now) {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(flows_.size()));
    flows_.emplace_back();
  }
  const uint32_t place = free_.back();
  free_.pop_back();
  const auto packets = static_cast<uint32_t>(length_.packets(draw_));
  const double ticks = Arrivals::exponential(draw_, config_.profile.flow_seconds) * kTicksPerSecond;
  flows_[place] = {
      .number = static_cast<uint32_t>(window * config_.profile.flows + windows_[window].begun),
      .packet_count = packets,
      .sent = 0,
      .gap_ticks = static_cast<float>(ticks / packets),
      .due = static_cast<double>(now.count)};
  ++begun_;
  ++live_;
  if (const std::optional<Tick> due = send_due(place, now)) {
    wheel_.arm(config_.windows + place, *due);
  }
}

std::optional<Tick> ConnectionStream::send_due(uint32_t place, Tick now) {
  Flow& flow = flows_[place];
  while (tick_of(flow.due) <= now) {
    const uint32_t number = flow.sent++;
    const bool is_last = flow.sent == flow.packet_count;
    due_.push_back({now.count * kNanosecondsPerTick, flow.number, number, place, is_last});
    if (is_last) {
      free_.push_back(place);
      --live_;
      return {};
    }
    flow.due += Arrivals::exponential(draw_, static_cast<double>(flow.gap_ticks));
  }
  return tick_of(flow.due);
}

}  // namespace roost::traffic
