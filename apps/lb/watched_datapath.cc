#include "apps/lb/watched_datapath.h"

#include <chrono>
#include <thread>
#include <utility>

#include "roost/net/parse.h"

namespace roost::lb {

void WatchedDatapath::watch_each(net::PacketBatch& batch, Tick now) {
  net::PacketBatch single;
  for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
    single.clear();
    single.push(batch.packets()[lane]);
    watch_one(single, now);
    batch.packets()[lane] = single.packets()[0];
    batch.verdicts()[lane] = single.verdicts()[0];
  }
}

void WatchedDatapath::watch_one(net::PacketBatch& single, Tick now) {
  const net::Packet& packet = single.packets()[0];
  const net::LaneVerdict& verdict = single.verdicts()[0];
  const size_t own_before = outbox().frame_count();
  ++watch_->packet_count;
  state_.advance(now);  // what is over by now is not there, as for the datapath

  Sighting& sighting = begin_sighting(now);
  sighting.in_port = packet.in_port;
  sighting.received.keep({packet.data, packet.contiguous_bytes}, packet.total_bytes);
  look(sighting, sighting.before, true);
  Datapath::process(single, now);
  look(sighting, sighting.after, false);
  sighting.verdict = verdict;
  sighting.answer_count = static_cast<uint16_t>(outbox().frame_count() - own_before);
  if (verdict.is_forward()) {
    sighting.sent.keep({packet.data, packet.contiguous_bytes}, packet.total_bytes);
  }
  const bool is_wanted = admits(sighting.received) || admits(sighting.sent);
  end_sighting(sighting, is_wanted);
  watch_own(own_before, now, is_wanted);
}

// What the tables say of the packet as it came.
void WatchedDatapath::look(Sighting& sighting, Sighting::Flow& flow, bool is_before) {
  flow = {};
  const net::Packet packet{.data = sighting.received.bytes.data(),
                           .contiguous_bytes = sighting.received.kept_bytes,
                           .total_bytes = sighting.received.total_bytes};
  net::ParsedPacket parsed;
  if (net::parse(packet, parsed) != net::ParseVerdict::kOk) return;
  if (parsed.is_ipv6) {
    look_at(state_.ipv6(), net::FlowKey6::from_packet(packet, parsed), sighting, flow, is_before);
  } else {
    look_at(state_.ipv4(), net::FlowKey4::from_packet(packet, parsed), sighting, flow, is_before);
  }
}

template <class Address>
void WatchedDatapath::look_at(Family<Address>& family, const net::FlowKey<Address>& key,
                              Sighting& sighting, Sighting::Flow& flow, bool is_before) {
  ServiceTable<Address>& services = family.services();
  const FamilyLayout& layout = state_.layout().families[net::FlowKey<Address>::kIsIpv6 ? 1 : 0];
  if (is_before) {
    if (const auto service = services.find(key)) {
      sighting.is_service = true;
      sighting.service.keep(layout.services[*service].name);
    }
  }
  const auto match = family.connections().find(key);
  if (match.connection == nullptr) return;
  const uint32_t backend = match.connection->backend;
  const BackendSlot& slot = layout.backends[backend];
  flow = {.is_known = true,
          .is_from_client = match.sender == Sender::kClient,
          .state = match.connection->state,
          .backend = backend};
  flow.service.keep(layout.services[slot.service].name);
  flow.backend_name.keep(slot.name);
}

// Frames in the outbox from `first_frame` on: those that the filter admits, or all.
void WatchedDatapath::watch_own(size_t first_frame, Tick now, bool is_wanted) {
  for (size_t i = first_frame; i < outbox().frame_count(); ++i) {
    const net::Outbox::Frame frame = outbox().frame(i);
    Sighting& sighting = begin_sighting(now);
    sighting.is_own = true;
    sighting.verdict = net::LaneVerdict::forward(frame.out_port);
    sighting.sent.keep(frame.bytes, static_cast<uint32_t>(frame.bytes.size()));
    end_sighting(sighting, is_wanted || admits(sighting.sent));
  }
}

// The next record of the ring, or the spare one; as if new, but for the bytes.
Sighting& WatchedDatapath::begin_sighting(Tick now) {
  Sighting* const claimed = watch_->ring.claim();
  Sighting& sighting = claimed == nullptr ? watch_->spare : *claimed;
  const Watch::Config& config = watch_->config;
  using std::chrono::nanoseconds;
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  sighting.number = watch_->packet_count;
  sighting.nanoseconds =
      config.is_replay
          ? now.count * config.tick_nanoseconds
          : static_cast<uint64_t>(std::chrono::duration_cast<nanoseconds>(wall).count());
  sighting.worker = config.worker;
  sighting.is_own = false;
  sighting.is_service = false;
  sighting.answer_count = 0;
  sighting.received.total_bytes = 0;
  sighting.received.kept_bytes = 0;
  sighting.sent.total_bytes = 0;
  sighting.sent.kept_bytes = 0;
  return sighting;
}

void WatchedDatapath::end_sighting(Sighting& sighting, bool is_wanted) {
  if (!is_wanted) return;
  if (&sighting == &watch_->spare) {
    Sighting* claimed = watch_->ring.claim();
    while (claimed == nullptr && watch_->config.is_replay) {
      std::this_thread::yield();  // a replay has time
      claimed = watch_->ring.claim();
    }
    if (claimed == nullptr) {
      ++watch_->missed_count;
      ++watch_->missed_unsaid;
      return;
    }
    *claimed = sighting;
    claimed->missed_before = std::exchange(watch_->missed_unsaid, 0);
  } else {
    sighting.missed_before = std::exchange(watch_->missed_unsaid, 0);
  }
  watch_->ring.publish();
}

bool WatchedDatapath::admits(const Sighting::Form& form) const {
  return form.total_bytes != 0 && watch_->filter.admits(form.kept(), form.total_bytes);
}

}  // namespace roost::lb
