// The packets that are on their way, by id: when each was due, and of which connection it is.
//
// Ids count on, so the ring has the latest ones. A packet whose place is needed again was not heard
// of for as long as it takes to send as many as there are places: it is lost.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "roost/base/result.h"
#include "roost/memory/arena.h"

namespace roost::trafficgen {

struct SentPacket {
  uint64_t due = 0;  // nanoseconds
  uint32_t id = 0;
  uint32_t flow = 0;
  uint32_t place = 0;       // of its connection's state
  uint32_t slice : 28 = 0;  // of packet_stats.h
  uint32_t is_clients : 1 = 0;
  uint32_t is_on_its_way : 1 = 0;
  uint32_t is_refused : 1 = 0;
};
static_assert(sizeof(SentPacket) == 24);
inline constexpr uint32_t kSliceMask = (uint32_t{1} << 28) - 1;

class SentPackets {
 public:
  // For so many at a time, rounded up to a power of two. Errors: no memory.
  static Result<SentPackets> create(size_t count) {
    const size_t places = std::bit_ceil(count);
    Result<Arena> memory = Arena::map(places * sizeof(SentPacket));
    if (!memory) return memory.error();
    // Now: while packets are due, the system would take as long over a page as makes them late.
    std::memset(memory.value().data(), 0, places * sizeof(SentPacket));
    return SentPackets(std::move(memory).value(), places);
  }

  [[nodiscard]] uint32_t next_id() const { return next_id_; }
  // Adds the packet of next_id(), and calls lost(packet) with the one whose place it takes, if that
  // is still on its way.
  template <class Lost>
  void add(const SentPacket& packet, Lost&& lost) {
    SentPacket& place = at(next_id_);
    if (place.is_on_its_way != 0) lost(place);
    place = packet;
    place.id = next_id_++;
    place.is_on_its_way = 1;
  }
  // The packet of an id that was given; nullptr if its place is another's by now.
  [[nodiscard]] SentPacket* find(uint32_t id) {
    SentPacket& place = at(id);
    return place.id == id ? &place : nullptr;
  }
  // Calls lost(packet) for each that is still on its way. Linear in the places.
  template <class Lost>
  void finish(Lost&& lost) {
    for (uint32_t place = 0; place <= mask_; ++place) {
      SentPacket& packet = at(place);
      if (packet.is_on_its_way != 0) lost(packet);
      packet.is_on_its_way = 0;
    }
  }

 private:
  SentPackets(Arena memory, size_t places)
      : memory_(std::move(memory)), mask_(static_cast<uint32_t>(places - 1)) {}

  [[nodiscard]] SentPacket& at(uint32_t id) const {
    return reinterpret_cast<SentPacket*>(memory_.data())[id & mask_];
  }

  Arena memory_;
  uint32_t mask_;
  uint32_t next_id_ = 1;  // places that nobody had have the id 0
};

}  // namespace roost::trafficgen
