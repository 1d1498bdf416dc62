// What became of packets whose senders were owed an ICMP error.
#pragma once

#include <cstdint>

namespace roost::l3 {

struct IcmpErrorCounters {
  uint64_t too_big = 0;        // sent
  uint64_t time_exceeded = 0;  // sent
  uint64_t limited = 0;        // not sent: too many of them
  uint64_t unsendable = 0;     // not sent: the rules forbid it, or the port has no such address

  IcmpErrorCounters& operator+=(const IcmpErrorCounters& other) {
    too_big += other.too_big;
    time_exceeded += other.time_exceeded;
    limited += other.limited;
    unsendable += other.unsendable;
    return *this;
  }
};

}  // namespace roost::l3
