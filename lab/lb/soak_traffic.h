// The traffic of a soak, through the cell of one worker: what is sent next, and what must become of
// it.
//
// Connections are those of a traffic::ConnectionStream: they begin, both ends send, and they end.
// So that it is known what must become of each packet,
//
//   a connection begins with its whole handshake in one batch: it is assured then, or was refused
//                and sends no more;
//   where one end closes, the other one closes behind it;
//   a connection that has been silent for half its timeout says nothing more, and expires: a packet
//                is sent only if its connection must be there.
//
// In a flood some lanes of each batch are of senders that send one SYN and no more.
//
// A tick, which is a second to the balancer, is 0.1 ms of the stream. How many packets there are in
// it follows from the places of the table, and no clock is asked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lab/lb/cell.h"
#include "roost/base/result.h"
#include "roost/expiry/tick.h"
#include "roost/net/packet_batch.h"
#include "roost/traffic/connection_stream.h"

namespace roost::lab {

// What the traffic has done so far.
struct SoakCounts {
  uint64_t packets = 0;
  uint64_t begun = 0;          // connections whose handshake was forwarded
  uint64_t refused = 0;        // connections that the balancer had no place for
  uint64_t closed = 0;         // packets that closed one, two of each
  uint64_t flood = 0;          // packets of senders that send no more
  uint64_t flood_created = 0;  // connections that they created
  uint64_t lost = 0;           // packets of assured connections not forwarded: must be 0

  SoakCounts& operator+=(const SoakCounts& other);
};

// One thread uses it.
class SoakTraffic {
 public:
  static constexpr uint64_t kEstablishedTicks = 300;  // and before a connection is established
  static constexpr uint64_t kClosedTicks = 100;
  // How long a connection is held, on average: as this traffic turns out.
  static constexpr uint64_t kHeldTicks = 248;
  static constexpr double kLoad = 0.9;

  struct Config {
    uint64_t connections = 0;  // that the cell's tables take
    uint64_t seed = 1;
  };

  // The cell must outlive it.
  SoakTraffic(Cell& cell, const Config& config) : cell_(cell), config_(config) {}

  // Connections begin, from the first one on; how long they go on is up to the stream. What this
  // takes of the heap is given back by end().
  [[nodiscard]] std::optional<Error> begin();
  // Sends a batch and judges what has become of it; adds how long it took. False: the stream has
  // ended.
  [[nodiscard]] bool send_batch(bool with_flood, CellTimes& times);
  // No packets any more, until every connection has expired.
  void end();

  [[nodiscard]] Tick now() const { return {now_nanoseconds_ / kNanosecondsPerTick}; }
  [[nodiscard]] const SoakCounts& counts() const { return counts_; }

 private:
  static constexpr uint64_t kNanosecondsPerTick = 1'000'000'000;

  // Until when a connection sends: its number, and the first tick in which it has been silent for
  // too long.
  struct Speaker {
    uint32_t flow = 0;
    uint32_t silent_from = 0;
  };
  struct Stream {
    traffic::ConnectionStream packets;
    std::vector<Speaker> speakers;  // by the connection's number, as far as there is room

    [[nodiscard]] Speaker& speaker_of(uint32_t flow) { return speakers[flow % speakers.size()]; }
  };

  void add(traffic::StreamPacket packet);
  void push(const traffic::StreamPacket& packet) { batch_[lane_count_++] = packet; }
  void judge();
  [[nodiscard]] uint32_t silent_from() const;

  Cell& cell_;
  Config config_;
  std::optional<Stream> stream_;
  std::array<traffic::StreamPacket, net::kBatchLanesMax> batch_{};
  size_t lane_count_ = 0;
  uint64_t began_nanoseconds_ = 0;  // the stream
  uint64_t now_nanoseconds_ = 0;
  uint32_t next_flood_ = 0;
  SoakCounts counts_;
};

}  // namespace roost::lab
