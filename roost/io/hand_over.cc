// Compiled with the C11 form of rte_ring (CMakeLists.txt): the same instructions on x86, and
// orderings that a thread sanitizer sees, because the ring's functions are inline and compiled
// here.
#include "roost/io/hand_over.h"

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <array>
#include <barrier>
#include <string>
#include <utility>

#include "roost/base/assert.h"
#include "roost/io/buffer.h"

namespace roost::io {

namespace {

struct RingFree {
  void operator()(rte_ring* ring) const {
    void* buffer = nullptr;
    while (rte_ring_sc_dequeue(ring, &buffer) == 0) free_buffer(static_cast<rte_mbuf*>(buffer));
    rte_ring_free(ring);
  }
};
using Ring = std::unique_ptr<rte_ring, RingFree>;

Result<Ring> make_ring(uint32_t packets_max) {
  static uint32_t ring_number = 0;
  const std::string name = "roost_hand_over_" + std::to_string(ring_number++);
  rte_ring* ring = rte_ring_create(name.c_str(), packets_max, static_cast<int>(rte_socket_id()),
                                   RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
  if (ring != nullptr) return Ring(ring);
  return Error{std::string("no memory for the rings between workers: ") + rte_strerror(rte_errno) +
               "; give EAL more with -m MEGABYTES"};
}

size_t enqueue(rte_ring* ring, std::span<rte_mbuf*> buffers) {
  return rte_ring_sp_enqueue_burst(ring, reinterpret_cast<void**>(buffers.data()),
                                   static_cast<unsigned>(buffers.size()), nullptr);
}

size_t dequeue(rte_ring* ring, std::span<rte_mbuf*> buffers) {
  return rte_ring_sc_dequeue_burst(ring, reinterpret_cast<void**>(buffers.data()),
                                   static_cast<unsigned>(buffers.size()), nullptr);
}

}  // namespace

struct HandOverRings {
  explicit HandOverRings(size_t count)
      : worker_count(count), all_closed(static_cast<ptrdiff_t>(count)) {}

  // From one worker to another.
  [[nodiscard]] rte_ring* packets(size_t giver, size_t taker) const {
    return packet_rings[giver * worker_count + taker].get();
  }
  [[nodiscard]] rte_ring* copies(size_t giver, size_t taker) const {
    return copy_rings[giver * worker_count + taker].get();
  }

  size_t worker_count;
  std::barrier<> all_closed;
  std::vector<Ring> packet_rings;  // giver * worker_count + taker; null from a worker to itself
  std::vector<Ring> copy_rings;    // likewise
};

void HandOverDesk::give(PacketBurst& burst) {
  const std::span<const net::LaneVerdict> verdicts = burst.batch().verdicts();
  std::array<rte_mbuf*, net::kBatchLanesMax> buffers;
  for (size_t taker = 0; taker < rings_->worker_count; ++taker) {
    size_t count = 0;
    for (size_t lane = 0; lane < verdicts.size(); ++lane) {
      if (!verdicts[lane].is_hand_over() || verdicts[lane].owner() != taker) continue;
      ROOST_ASSERT(taker != worker_);
      const net::Packet& packet = burst.batch().packets()[lane];
      ROOST_ASSERT(packet.origin == net::PacketOrigin::kPort);
      const uint16_t in_port = packet.in_port;
      buffers[count] = burst.take(lane);
      buffers[count++]->port = in_port;
    }
    if (count != 0) give(std::span(buffers).first(count), taker);
  }
}

void HandOverDesk::give(std::span<rte_mbuf*> buffers, size_t taker) {
  const size_t given = enqueue(rings_->packets(worker_, taker), buffers);
  counters_.given += given;
  counters_.refused += buffers.size() - given;
  free_buffers(buffers.subspan(given));
}

void HandOverDesk::copy(const PacketBurst& burst, size_t lane) {
  const rte_mbuf* original = burst.buffer(lane);
  for (size_t taker = 0; taker < rings_->worker_count; ++taker) {
    if (taker == worker_) continue;
    rte_mbuf* copy =
        is_closed_ ? nullptr : rte_pktmbuf_copy(original, original->pool, 0, UINT32_MAX);
    takes_hold_of(copy);
    if (copy != nullptr) copy->port = burst.batch().packets()[lane].in_port;
    if (copy != nullptr && enqueue(rings_->copies(worker_, taker), std::span(&copy, 1)) == 1) {
      ++counters_.copies_given;
    } else {
      ++counters_.copies_lost;
      free_buffer(copy);
    }
  }
}

size_t HandOverDesk::take(PacketBurst& burst) {
  ROOST_ASSERT(rings_->worker_count > 0);
  std::array<rte_mbuf*, net::kBatchLanesMax> buffers;
  const size_t before = burst.batch().lane_count();
  const auto push_all = [&](rte_ring* ring, net::PacketOrigin origin) {
    const size_t room = net::kBatchLanesMax - burst.batch().lane_count();
    const size_t count = dequeue(ring, std::span(buffers).first(room));
    for (size_t i = 0; i < count; ++i) burst.push(buffers[i], buffers[i]->port, origin);
    return count;
  };
  for (size_t i = 0; i < rings_->worker_count && !burst.batch().is_full(); ++i) {
    const size_t giver = (next_giver_ + i) % rings_->worker_count;
    if (giver == worker_) continue;
    counters_.copies_taken += push_all(rings_->copies(giver, worker_), net::PacketOrigin::kCopy);
    counters_.taken += push_all(rings_->packets(giver, worker_), net::PacketOrigin::kWorker);
  }
  next_giver_ = (next_giver_ + 1) % rings_->worker_count;
  return burst.batch().lane_count() - before;
}

void HandOverDesk::close() {
  is_closed_ = true;
  rings_->all_closed.arrive_and_wait();
}

HandOver::HandOver(std::unique_ptr<HandOverRings> rings) : rings_(std::move(rings)) {
  desks_.reserve(rings_->worker_count);
  for (size_t worker = 0; worker < rings_->worker_count; ++worker)
    desks_.emplace_back(*rings_, worker);
}

HandOver::HandOver(HandOver&&) noexcept = default;
HandOver::~HandOver() = default;

Result<HandOver> HandOver::create(const Config& config) {
  ROOST_ASSERT(config.worker_count > 0);
  auto rings = std::make_unique<HandOverRings>(config.worker_count);
  for (size_t pair = 0; pair < config.worker_count * config.worker_count; ++pair) {
    const bool is_to_itself = pair / config.worker_count == pair % config.worker_count;
    auto packets = is_to_itself ? Result<Ring>(Ring()) : make_ring(config.packets_max);
    auto copies = is_to_itself ? Result<Ring>(Ring()) : make_ring(config.copies_max);
    if (!packets) return packets.error();
    if (!copies) return copies.error();
    rings->packet_rings.push_back(std::move(packets).value());
    rings->copy_rings.push_back(std::move(copies).value());
  }
  return HandOver(std::move(rings));
}

}  // namespace roost::io
