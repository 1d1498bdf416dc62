// Compiled with the C11 form of rte_ring (CMakeLists.txt): the same instructions on x86, and
// orderings that a thread sanitizer sees, because the ring's functions are inline and compiled
// here.
#include "roost/io/handoff.h"

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
  const std::string name = "roost_handoff_" + std::to_string(ring_number++);
  rte_ring* ring = rte_ring_create(name.c_str(), packets_max, static_cast<int>(rte_socket_id()),
                                   RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
  if (ring != nullptr) return Ring(ring);
  return Error{std::string("no memory for the rings between workers: ") + rte_strerror(rte_errno) +
               "; give EAL more with -m MEGABYTES"};
}

size_t enqueue_on(rte_ring* ring, std::span<rte_mbuf*> buffers) {
  return rte_ring_sp_enqueue_burst(ring, reinterpret_cast<void**>(buffers.data()),
                                   static_cast<unsigned>(buffers.size()), nullptr);
}

size_t dequeue_from(rte_ring* ring, std::span<rte_mbuf*> buffers) {
  return rte_ring_sc_dequeue_burst(ring, reinterpret_cast<void**>(buffers.data()),
                                   static_cast<unsigned>(buffers.size()), nullptr);
}

}  // namespace

struct HandoffRings {
  explicit HandoffRings(size_t count)
      : worker_count(count), all_closed(static_cast<ptrdiff_t>(count)) {}

  // From one worker to another.
  [[nodiscard]] rte_ring* packets(size_t source, size_t target) const {
    return packet_rings[source * worker_count + target].get();
  }
  [[nodiscard]] rte_ring* copies(size_t source, size_t target) const {
    return copy_rings[source * worker_count + target].get();
  }

  size_t worker_count;
  std::barrier<> all_closed;
  std::vector<Ring> packet_rings;  // source * worker_count + target; null from a worker to itself
  std::vector<Ring> copy_rings;    // likewise
};

void HandoffQueues::enqueue(PacketBurst& burst) {
  const std::span<const net::LaneVerdict> verdicts = burst.batch().verdicts();
  std::array<rte_mbuf*, net::kBatchLanesMax> buffers;
  for (size_t target = 0; target < rings_->worker_count; ++target) {
    size_t count = 0;
    for (size_t lane = 0; lane < verdicts.size(); ++lane) {
      if (!verdicts[lane].is_handoff() || verdicts[lane].owner() != target) continue;
      ROOST_ASSERT(target != worker_);
      const uint16_t in_port = burst.batch().packets()[lane].in_port;
      buffers[count] = burst.take(lane);
      buffers[count++]->port = in_port;
    }
    if (count != 0) enqueue(std::span(buffers).first(count), target);
  }
}

void HandoffQueues::enqueue(std::span<rte_mbuf*> buffers, size_t target) {
  const size_t enqueued = is_closed_ ? 0 : enqueue_on(rings_->packets(worker_, target), buffers);
  counters_.handoff_out += enqueued;
  counters_.handoff_full += buffers.size() - enqueued;
  free_buffers(buffers.subspan(enqueued));
}

void HandoffQueues::copy(const PacketBurst& burst, size_t lane) {
  const rte_mbuf* original = burst.buffer(lane);
  for (size_t target = 0; target < rings_->worker_count; ++target) {
    if (target == worker_) continue;
    rte_mbuf* copy =
        is_closed_ ? nullptr : rte_pktmbuf_copy(original, original->pool, 0, UINT32_MAX);
    takes_hold_of(copy);
    if (copy != nullptr) copy->port = burst.batch().packets()[lane].in_port;
    if (copy != nullptr && enqueue_on(rings_->copies(worker_, target), std::span(&copy, 1)) == 1) {
      ++counters_.copies_out;
    } else {
      ++counters_.copies_lost;
      free_buffer(copy);
    }
  }
}

size_t HandoffQueues::dequeue(PacketBurst& burst) {
  ROOST_ASSERT(rings_->worker_count > 0);
  std::array<rte_mbuf*, net::kBatchLanesMax> buffers;
  const size_t before = burst.batch().lane_count();
  const auto push_all = [&](rte_ring* ring, net::PacketOrigin origin) {
    const size_t room = net::kBatchLanesMax - burst.batch().lane_count();
    const size_t count = dequeue_from(ring, std::span(buffers).first(room));
    for (size_t i = 0; i < count; ++i) burst.push(buffers[i], buffers[i]->port, origin);
    return count;
  };
  for (size_t i = 0; i < rings_->worker_count && !burst.batch().is_full(); ++i) {
    const size_t source = (next_source_ + i) % rings_->worker_count;
    if (source == worker_) continue;
    counters_.copies_in += push_all(rings_->copies(source, worker_), net::PacketOrigin::kCopy);
    counters_.handoff_in += push_all(rings_->packets(source, worker_), net::PacketOrigin::kWorker);
  }
  next_source_ = (next_source_ + 1) % rings_->worker_count;
  return burst.batch().lane_count() - before;
}

void HandoffQueues::close() {
  is_closed_ = true;
  rings_->all_closed.arrive_and_wait();
}

Handoff::Handoff(std::unique_ptr<HandoffRings> rings) : rings_(std::move(rings)) {
  queues_.reserve(rings_->worker_count);
  for (size_t worker = 0; worker < rings_->worker_count; ++worker)
    queues_.emplace_back(*rings_, worker);
}

Handoff::Handoff(Handoff&&) noexcept = default;
Handoff::~Handoff() = default;

Result<Handoff> Handoff::create(const Config& config) {
  ROOST_ASSERT(config.worker_count > 0);
  auto rings = std::make_unique<HandoffRings>(config.worker_count);
  for (size_t pair = 0; pair < config.worker_count * config.worker_count; ++pair) {
    const bool is_to_itself = pair / config.worker_count == pair % config.worker_count;
    auto packets = is_to_itself ? Result<Ring>(Ring()) : make_ring(config.packets_max);
    auto copies = is_to_itself ? Result<Ring>(Ring()) : make_ring(config.copies_max);
    if (!packets) return packets.error();
    if (!copies) return copies.error();
    rings->packet_rings.push_back(std::move(packets).value());
    rings->copy_rings.push_back(std::move(copies).value());
  }
  return Handoff(std::move(rings));
}

}  // namespace roost::io
