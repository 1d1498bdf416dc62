#include "lab/lb/soak_traffic.h"

#include <utility>

namespace roost::lab {
namespace {

// The stream's connections have even numbers, the flood's odd ones.
constexpr uint32_t number_of(uint32_t flow) { return 2 * flow; }
constexpr uint32_t flow_of(uint32_t number) { return number / 2; }
constexpr uint32_t number_of_flood(uint32_t flow) { return 2 * flow + 1; }
constexpr bool is_flood(const traffic::StreamPacket& packet) { return packet.flow % 2 == 1; }

// Nearly an hour of packets at three million a second; they take no memory until they live.
constexpr uint64_t kFlows = uint64_t{1} << 30;
constexpr uint64_t kStretch = 10'000;  // the balancer's time to the stream's
constexpr double kStreamSecondsPerTick = 1.0 / kStretch;
constexpr double kActiveTicks = 300;  // a connection's, on average, if it is not silent
constexpr traffic::FlowLengthConfig kLength = {traffic::LengthLaw::kPareto, 6, 1.5, 1'000'000};
constexpr uint64_t kSilentTicks = SoakTraffic::kEstablishedTicks / 2;
// A connection whose place among the speakers is another one's by now says nothing more: one in
// twenty lives for so long.
constexpr uint64_t kSpeakersPerPlace = 4;
constexpr size_t kHandshakeLanes = 3;
constexpr size_t kFloodLanes = 10;  // of a batch

}  // namespace

SoakCounts& SoakCounts::operator+=(const SoakCounts& other) {
  packets += other.packets;
  begun += other.begun;
  refused += other.refused;
  closed += other.closed;
  flood += other.flood;
  flood_created += other.flood_created;
  lost += other.lost;
  return *this;
}

std::optional<Error> SoakTraffic::begin() {
  const double flows_per_tick =
      kLoad * static_cast<double>(config_.connections) / static_cast<double>(kHeldTicks);
  const double ticks = static_cast<double>(kFlows) / flows_per_tick;
  auto packets = traffic::ConnectionStream::create(
      {.profile = {.name = "soak",
                   .flows = kFlows,
                   .seconds = ticks * kStreamSecondsPerTick,
                   .length = kLength,
                   .flow_seconds = kActiveTicks * kStreamSecondsPerTick},
       .seed = config_.seed});
  if (!packets) return packets.error();
  stream_.emplace(Stream{std::move(packets).value(),
                         std::vector<Speaker>(kSpeakersPerPlace * config_.connections)});
  began_nanoseconds_ = now_nanoseconds_;
  return {};
}

bool SoakTraffic::send_batch(bool with_flood, CellTimes& times) {
  lane_count_ = 0;
  for (size_t i = 0; with_flood && i < kFloodLanes; ++i)
    push({.nanoseconds = now_nanoseconds_, .flow = number_of_flood(next_flood_++)});
  while (net::kBatchLanesMax - lane_count_ >= kHandshakeLanes) {
    traffic::StreamPacket packet;
    if (stream_->packets.next({&packet, 1}) == 0) return false;
    packet.nanoseconds = began_nanoseconds_ + kStretch * packet.nanoseconds;
    now_nanoseconds_ = packet.nanoseconds;
    add(packet);
  }
  cell_.prepare(std::span(batch_).first(lane_count_));
  cell_.run(times);
  judge();
  return true;
}

// A connection is known once its handshake was forwarded, in a batch before this one.
void SoakTraffic::add(traffic::StreamPacket packet) {
  Speaker& speaker = stream_->speaker_of(packet.flow);
  const bool is_known = speaker.flow == packet.flow && now().count < speaker.silent_from;
  packet.flow = number_of(packet.flow);
  if (packet.number == 0) {
    for (packet.is_last = false; packet.number < kHandshakeLanes; ++packet.number) push(packet);
    return;
  }
  if (!is_known) return;
  speaker.silent_from = silent_from();
  push(packet);
  if (!packet.is_last) return;
  ++packet.number;
  push(packet);
}

uint32_t SoakTraffic::silent_from() const {
  return static_cast<uint32_t>(now().count + kSilentTicks);
}

void SoakTraffic::judge() {
  counts_.packets += lane_count_;
  std::optional<uint32_t> refused;
  for (size_t lane = 0; lane < lane_count_; ++lane) {
    const traffic::StreamPacket& packet = batch_[lane];
    const uint64_t forwarded = cell_.is_forwarded(lane) ? 1 : 0;
    if (is_flood(packet)) {
      ++counts_.flood;
      counts_.flood_created += forwarded;
    } else if (packet.number == 0 && forwarded == 0) {
      ++counts_.refused;
      refused = packet.flow;
    } else if (packet.number == 0) {
      ++counts_.begun;
      const uint32_t flow = flow_of(packet.flow);
      stream_->speaker_of(flow) = {flow, silent_from()};
    } else if (packet.flow == refused) {
      // Refused when it asked, it may find a place now: picked up, and forgotten at once.
      counts_.flood_created += forwarded;
    } else {
      counts_.lost += 1 - forwarded;
      counts_.closed += packet.is_last ? forwarded : 0;
    }
  }
}

// In steps of a tick, so that sweeps are as due as they would be.
void SoakTraffic::end() {
  stream_.reset();
  for (uint64_t tick = 0; tick <= kEstablishedTicks; ++tick) {
    now_nanoseconds_ += kNanosecondsPerTick;
    cell_.idle(now());
  }
}

}  // namespace roost::lab
