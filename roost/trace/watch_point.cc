#include "roost/trace/watch_point.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <thread>
#include <utility>

namespace roost::trace {

PacketTrace& WatchPoint::begin_packet(const net::Packet& packet, Tick now) {
  ++watch_->packet_count;
  PacketTrace& trace = begin_trace(now);
  trace.in_port = packet.in_port;
  trace.received.keep({packet.data, packet.contiguous_bytes}, packet.total_bytes);
  return trace;
}

void WatchPoint::end_packet(PacketTrace& trace, const net::PacketBatch& single,
                            const net::Outbox& outbox, size_t first_own, Tick now) {
  const net::Packet& packet = single.packets()[0];
  trace.verdict = single.verdicts()[0];
  trace.answer_count = static_cast<uint16_t>(outbox.frame_count() - first_own);
  if (trace.verdict.is_replicated()) {
    const std::span<const net::PortGroup> groups = single.port_groups(0);
    trace.group_count = static_cast<uint8_t>(groups.size());
    std::ranges::copy(groups, trace.groups.begin());
  }
  if (trace.verdict.is_forward() || trace.verdict.is_replicated()) {
    trace.sent.keep({packet.data, packet.contiguous_bytes}, packet.total_bytes);
  }
  const bool is_wanted = admits(trace.received) || admits(trace.sent);
  end_trace(trace, is_wanted);
  watch_own(outbox, first_own, now, is_wanted);
}

void WatchPoint::watch_own(const net::Outbox& outbox, size_t first_frame, Tick now,
                           bool is_wanted) {
  for (size_t i = first_frame; i < outbox.frame_count(); ++i) {
    const net::Outbox::Frame frame = outbox.frame(i);
    PacketTrace& trace = begin_trace(now);
    trace.is_own = true;
    trace.verdict = net::LaneVerdict::forward(frame.out_port);
    trace.sent.keep(frame.bytes, static_cast<uint32_t>(frame.bytes.size()));
    end_trace(trace, is_wanted || admits(trace.sent));
  }
}

// The next record of the ring, or the one beside it; as if new, but for the bytes.
PacketTrace& WatchPoint::begin_trace(Tick now) {
  PacketTrace* const claimed = watch_->ring.claim();
  PacketTrace& trace = claimed == nullptr ? watch_->overflow : *claimed;
  const Watch::Config& config = watch_->config;
  using std::chrono::nanoseconds;
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  trace.number = watch_->packet_count;
  trace.nanoseconds =
      config.is_replay
          ? now.count * config.tick_nanoseconds
          : static_cast<uint64_t>(std::chrono::duration_cast<nanoseconds>(wall).count());
  trace.worker = config.worker;
  trace.is_own = false;
  trace.answer_count = 0;
  trace.group_count = 0;
  trace.received.total_bytes = 0;
  trace.received.kept_bytes = 0;
  trace.sent.total_bytes = 0;
  trace.sent.kept_bytes = 0;
  return trace;
}

void WatchPoint::end_trace(PacketTrace& trace, bool is_wanted) {
  if (!is_wanted) return;
  if (&trace == &watch_->overflow) {
    PacketTrace* claimed = watch_->ring.claim();
    while (claimed == nullptr && watch_->config.is_replay) {
      std::this_thread::yield();  // a replay has time
      claimed = watch_->ring.claim();
    }
    if (claimed == nullptr) {
      ++watch_->missed_count;
      ++watch_->missed_unsaid;
      return;
    }
    *claimed = trace;
    claimed->missed_before = std::exchange(watch_->missed_unsaid, 0);
  } else {
    trace.missed_before = std::exchange(watch_->missed_unsaid, 0);
  }
  watch_->ring.publish();
}

bool WatchPoint::admits(const PacketTrace::Form& form) const {
  return form.total_bytes != 0 && watch_->filter.admits(form.kept(), form.total_bytes);
}

}  // namespace roost::trace
