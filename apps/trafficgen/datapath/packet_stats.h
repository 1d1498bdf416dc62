// What became of a run's packets, in all, by step and by second, and how long they took.
//
//   offered = sent + refused + unanswerable
//   sent    = returned + lost           when the run is over
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "roost/base/counter.h"
#include "roost/base/log_histogram.h"

namespace roost::trafficgen {

struct PacketCounts {
  uint64_t offered = 0;
  uint64_t refused = 0;
  uint64_t unanswerable = 0;
  uint64_t late = 0;
  uint64_t returned = 0;
  uint64_t lost_to_backends = 0;
  uint64_t lost_to_clients = 0;

  [[nodiscard]] uint64_t sent() const { return offered - refused - unanswerable; }
  [[nodiscard]] uint64_t lost() const { return lost_to_backends + lost_to_clients; }
  // Of what was due, how much did not arrive.
  [[nodiscard]] double loss() const {
    if (offered == 0) return 0;
    return static_cast<double>(offered - returned) / static_cast<double>(offered);
  }
  PacketCounts& operator+=(const PacketCounts& other);
};

inline constexpr std::array kPacketCounters = {
    Counter{"offered", &PacketCounts::offered, "packets that were due"},
    Counter{"refused", &PacketCounts::refused,
            "packets that the port did not take, because its queue was full or no buffer was left"},
    Counter{"unanswerable", &PacketCounts::unanswerable,
            "answers of backends that no packet of the connection had reached"},
    Counter{"late", &PacketCounts::late, "packets that were sent too long after they were due"},
    Counter{"returned", &PacketCounts::returned, "packets that arrived at the other side"},
    Counter{"lost_to_backends", &PacketCounts::lost_to_backends,
            "clients' packets that were sent and did not arrive"},
    Counter{"lost_to_clients", &PacketCounts::lost_to_clients,
            "backends' packets that were sent and did not arrive"}};
static_assert(lists_all(kPacketCounters));

inline PacketCounts& PacketCounts::operator+=(const PacketCounts& other) {
  add_counters<PacketCounts>(kPacketCounters, other, *this);
  return *this;
}

// What is not about one packet that was offered.
struct ArrivalCounts {
  uint64_t duplicated = 0;
  uint64_t reordered = 0;
  uint64_t backend_changed = 0;
  uint64_t misdelivered = 0;
  uint64_t too_late = 0;
  uint64_t corrupt = 0;
  uint64_t foreign = 0;
  uint64_t flood_sent = 0;
  uint64_t flood_returned = 0;
  uint64_t neighbour_requests = 0;
};

inline constexpr std::array kArrivalCounters = {
    Counter{"duplicated", &ArrivalCounts::duplicated, "packets that arrived once more"},
    Counter{"reordered", &ArrivalCounts::reordered,
            "packets that arrived behind one that was sent after them in the same direction"},
    Counter{"backend_changed", &ArrivalCounts::backend_changed,
            "connections that changed their backend, each time they did"},
    Counter{"misdelivered", &ArrivalCounts::misdelivered,
            "packets that came back to the side that sent them"},
    Counter{"too_late", &ArrivalCounts::too_late,
            "packets that arrived when they had been counted as lost"},
    Counter{"corrupt", &ArrivalCounts::corrupt, "packets with a wrong TCP or UDP checksum"},
    Counter{"foreign", &ArrivalCounts::foreign, "frames of others"},
    Counter{"flood_sent", &ArrivalCounts::flood_sent, "packets of the flood that the port took"},
    Counter{"flood_returned", &ArrivalCounts::flood_returned, "packets of the flood that arrived"},
    Counter{"neighbour_requests", &ArrivalCounts::neighbour_requests,
            "ARP requests and neighbour solicitations that were answered"}};
static_assert(lists_all(kArrivalCounters));

// Packets that were due within a step.
struct Interval {
  PacketCounts counts{};
  LogHistogram nanoseconds{};  // from when a packet was due until it arrived
};

// Those that were due within a second.
struct SecondSummary {
  PacketCounts counts{};
  uint64_t p50 = 0;  // nanoseconds
  uint64_t p99 = 0;
  uint64_t greatest = 0;
};

// A slice is what a step and a second have in common; slices follow each other, and each packet is
// of one. Counts are kept for all of them, times for the last few: of a packet that arrives later,
// the time counts for its step only. One thread uses it.
class PacketStats {
 public:
  // The slice of a packet that is due then; packets come in the order of their times.
  [[nodiscard]] uint32_t slice_of(uint64_t due, uint32_t step) {
    if (slices_.empty() || due >= slice_end_ || step != slices_.back().step) begin_slice(due, step);
    return static_cast<uint32_t>(slices_.size() - 1);
  }
  [[nodiscard]] PacketCounts& counts_of(uint32_t slice) { return slices_[slice].counts; }
  void add_time(uint32_t slice, uint64_t nanoseconds) {
    if (slice + kOpenSlices >= slices_.size()) {
      open_[slice % kOpenSlices].add(nanoseconds);
    } else {
      steps_[slices_[slice].step].add(nanoseconds);
    }
  }
  ArrivalCounts& arrivals() { return arrivals_; }

  // What follows may be asked at any time. Time linear in the slices.
  [[nodiscard]] const ArrivalCounts& arrivals() const { return arrivals_; }
  [[nodiscard]] PacketCounts counts() const;
  [[nodiscard]] Interval total() const;
  [[nodiscard]] size_t step_count() const { return steps_.size(); }
  [[nodiscard]] PacketCounts counts_of_step(size_t step) const;
  [[nodiscard]] Interval step(size_t step) const;
  [[nodiscard]] std::vector<SecondSummary> seconds() const;

 private:
  static constexpr size_t kOpenSlices = 8;
  static constexpr uint64_t kSecond = 1'000'000'000;

  struct Slice {
    uint64_t second = 0;
    uint32_t step = 0;
    PacketCounts counts{};
    uint64_t p50 = 0;
    uint64_t p99 = 0;
    uint64_t greatest = 0;
  };

  void begin_slice(uint64_t due, uint32_t step);
  // The times of a slice that is among the last few.
  [[nodiscard]] bool is_open(size_t slice) const { return slice + kOpenSlices >= slices_.size(); }
  [[nodiscard]] SecondSummary summary_of(size_t slice) const;

  std::vector<Slice> slices_;
  std::vector<LogHistogram> open_ = std::vector<LogHistogram>(kOpenSlices);  // by slice
  std::vector<LogHistogram> steps_;  // of the slices that are no longer open
  uint64_t slice_end_ = 0;
  ArrivalCounts arrivals_;
};

}  // namespace roost::trafficgen
