// The clients and the backends of a run, without the ports: makes the frames that are due, and
// takes those that arrive. No I/O; time is an argument, in nanoseconds since the run's beginning.
//
// A connection is TCP-like: SYN, SYN and ACK, segments with data from either end in turn, FIN or
// RST, or silence. Sequence and acknowledgement numbers are those of two peers that have received
// everything. All packets carry data, the first one too, for each must say which one it is
// (packet_identity.h). Backends send to where the connection's packets have come from, so nothing
// has to be known of what stands between the two: it may translate addresses, or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "apps/trafficgen/config/config.h"
#include "apps/trafficgen/datapath/client_ends.h"
#include "apps/trafficgen/datapath/connection_ends.h"
#include "apps/trafficgen/datapath/packet_identity.h"
#include "apps/trafficgen/datapath/packet_stats.h"
#include "apps/trafficgen/datapath/schedule.h"
#include "apps/trafficgen/datapath/sent_packets.h"
#include "roost/base/result.h"
#include "roost/net/outbox.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"
#include "roost/net/transport_frame.h"
#include "roost/traffic/draw.h"

namespace roost::trafficgen {

// A frame that was made: by which port it leaves, and whose packet it is.
struct MadeFrame {
  uint16_t port = 0;
  uint32_t id = 0;
  bool is_flood = false;
};

// Where frames are written to.
class FrameRoom {
 public:
  FrameRoom() = default;
  FrameRoom(const FrameRoom&) = delete;
  FrameRoom& operator=(const FrameRoom&) = delete;
  virtual ~FrameRoom() = default;

  // The bytes of the next frame that leaves by this port; none when there is no buffer.
  [[nodiscard]] virtual std::span<uint8_t> room(uint16_t port, size_t bytes) = 0;
};

// One thread uses it.
class Generator {
 public:
  // Errors: those of the stream; no memory.
  static Result<Generator> create(const Config& config, uint64_t run);

  // Makes the next frame that is due by `now`; nothing when none is. A packet without room is
  // refused.
  [[nodiscard]] std::optional<MadeFrame> make_next(uint64_t now, FrameRoom& room);
  // The port did not take it. What is not refused counts as sent.
  void refuse(const MadeFrame& frame);

  // Asks for the memory that receive() needs for a packet.
  void prefetch(const net::Packet& packet);
  // A packet that arrived at a port. If it asks for one of our addresses, the answer is in
  // outbox().
  void receive(const net::Packet& packet, uint64_t now);
  [[nodiscard]] net::Outbox& outbox() { return outbox_; }

  [[nodiscard]] Schedule& schedule() { return schedule_; }
  // No packet will be due any more, the flood's included.
  [[nodiscard]] bool is_over(uint64_t now);
  // What has not arrived by now is lost.
  void finish();
  [[nodiscard]] const PacketStats& stats() const { return stats_; }

 private:
  template <class Address>
  using Frame = net::TransportFrame<Address>;

  Generator(const Config& config, Schedule schedule, AllConnectionEnds ends, SentPackets sent,
            uint64_t run);

  // Each of these writes a frame, and says whether there was room for it.
  [[nodiscard]] bool make(const traffic::StreamPacket& packet, bool is_clients,
                          ConnectionEnds& ends, uint32_t id, FrameRoom& room) const;
  template <class Address>
  [[nodiscard]] bool make_of(const traffic::StreamPacket& packet, bool is_clients,
                             ConnectionEnds& ends, uint32_t id, FrameRoom& room) const;
  [[nodiscard]] std::optional<MadeFrame> make_flood(FrameRoom& room);
  template <class Address>
  [[nodiscard]] bool make_flood_of(uint32_t flow, const ServiceConfig& service, uint32_t id,
                                   FrameRoom& room);

  // From a client, with all but what TCP says.
  template <class Address>
  [[nodiscard]] Frame<Address> clients_frame(uint32_t flow, const ServiceConfig& service) const;
  template <class Address>
  [[nodiscard]] Frame<Address> backends_frame(const ConnectionEnds& ends) const;
  template <class Address>
  [[nodiscard]] const ClientEnds<Address>& clients() const;
  [[nodiscard]] uint8_t tcp_flags_of(const traffic::StreamPacket& packet, bool is_clients) const;
  [[nodiscard]] std::optional<uint64_t> flood_due() const;
  [[nodiscard]] uint32_t service_of(uint32_t flow) const;
  [[nodiscard]] size_t frame_bytes_of(uint32_t number) const;

  void arrive(SentPacket& sent, const net::Packet& packet, const net::ParsedPacket& parsed,
              uint64_t now);
  void note_backend(const SentPacket& sent, const net::Packet& packet,
                    const net::ParsedPacket& parsed);
  void count_lost(const SentPacket& sent);

  Config config_;
  Schedule schedule_;
  ClientEnds<net::Ipv4Address> clients4_;
  ClientEnds<net::Ipv6Address> clients6_;
  PacketIdentity identity_;
  PacketIdentity flood_identity_;
  AllConnectionEnds ends_;
  SentPackets sent_;
  PacketStats stats_;
  net::Outbox outbox_;
  traffic::Draw flood_draw_;
  FloodKind flood_kind_;
  uint64_t flood_count_ = 0;
  uint64_t late_nanoseconds_;
  uint32_t latest_to_backends_ = 0;  // ids that arrived
  uint32_t latest_to_clients_ = 0;
};

}  // namespace roost::trafficgen
