// The endpoint-independent mappings of one worker of a NAT (RFC 4787 section 4.1): an inside
// endpoint has one external endpoint, whomever it talks to, and an external endpoint leads to one
// inside endpoint.
//
//   inside endpoint, protocol   -> a flow table ->  external address and port
//   external address and port   -> an array     ->  inside endpoint, and how many connections
//
// So what comes from outside finds its inside end by one access to memory. A mapping has no timer:
// it lives as long as one of its connections does, each of which holds it once. A static one lives
// without any.
//
// Of each protocol and address, ports come from a queue: one whose mapping is over is used again as
// late as possible, which keeps late packets from another host (RFC 4787 section 4.2.3 would have
// it wait). The order in the beginning is a shuffle by the seed (RFC 6056). Even and odd ports have
// a queue each, because RTP and RTCP stand on an even port and the next odd one (RFC 4787 REQ-4).
//
// I1 A port that can be taken stands in its queue exactly once. One that was reserved while it
//    stood there stays in the queue, and is passed over when its turn comes.
// I2 A mapping is what the table says of its inside endpoint, unless a static one of the same
//    endpoint came after it.
// I3 created = live + over, of those that are not static.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "roost/base/counter.h"
#include "roost/base/result.h"
#include "roost/conntrack/port_bindings.h"
#include "roost/isa/prefetch.h"
#include "roost/net/flow_key.h"
#include "roost/table/flow_table.h"

namespace roost::conntrack {

// What each counts: kMappingCounters.
struct MappingCounters {
  uint64_t created = 0;
  uint64_t over = 0;
  uint64_t refused_no_port = 0;
  uint64_t refused_by_limit = 0;
};
inline constexpr std::array kMappingCounters = {
    Counter{"created", &MappingCounters::created,
            "mappings created for packets from inside; created = over + live"},
    Counter{"over", &MappingCounters::over, "mappings whose last connection is over"},
    Counter{"refused_no_port", &MappingCounters::refused_no_port,
            "mappings refused because all ports of the host's external address are taken"},
    Counter{"refused_by_limit", &MappingCounters::refused_by_limit,
            "mappings refused because the host has `ports_per_host` already"}};
static_assert(lists_all(kMappingCounters));

enum class MapOutcome : uint8_t { kMapped, kNoPort, kHostLimit };

// Used by one worker. Nothing allocates after create().
class PortMappings {
 public:
  using Endpoint = net::Endpoint4;

  struct Config {
    size_t address_count = 0;  // of all workers; a mapping names an address by its index
    size_t worker = 0;         // of n workers, each has every n-th address
    size_t worker_count = 1;
    uint16_t first_port = 1'024;  // of those that mappings take; static ones may have any
    uint16_t last_port = 65'535;
    uint32_t ports_per_host = 0;  // of all protocols; 0: any number
    uint64_t mappings_max = 0;    // at a time, but static ones
    uint64_t static_max = 0;
    std::optional<uint64_t> hash_seed{};  // else random
  };
  // Errors: memory.
  static Result<PortMappings> create(const Config& config);

  struct Mapped {
    MapOutcome outcome = MapOutcome::kNoPort;
    BoundPort bound{};  // if it is mapped
  };
  // The mapping of an inside endpoint, created at this address if there is none, and held once
  // more. The protocol is TCP, UDP or ICMP echo. Constant time, but for reserved ports in the
  // queue.
  [[nodiscard]] Mapped map(net::IpProtocol protocol, const Endpoint& inside, size_t address);
  // A connection more holds the mapping, which is there.
  void hold(net::IpProtocol protocol, BoundPort bound) { ++slot(protocol, bound).holders; }
  // One less; with the last one it is over, unless it is static.
  void release(net::IpProtocol protocol, BoundPort bound);

  // Asks for the memory of inside_of().
  [[gnu::always_inline]] void ask_for(net::IpProtocol protocol, BoundPort bound) const {
    prefetch(PrefetchHint::kT0, &slot(protocol, bound));
  }
  // What an external endpoint of this worker's leads to; nothing if it is free. One access.
  [[nodiscard]] std::optional<Endpoint> inside_of(net::IpProtocol protocol, BoundPort bound) const {
    const Slot& at = slot(protocol, bound);
    if (!at.is_taken()) return {};
    return Endpoint{at.inside, at.inside_port};
  }
  [[nodiscard]] bool is_static(net::IpProtocol protocol, BoundPort bound) const {
    return slot(protocol, bound).is_static;
  }

  // A port that nobody has is kept for add_static() or cancel(); false: it is taken.
  [[nodiscard]] bool reserve(net::IpProtocol protocol, BoundPort bound);
  void cancel(net::IpProtocol protocol, BoundPort bound);
  // A mapping that never ends at a reserved port. What its inside endpoint had is over with the
  // connections that have it.
  void add_static(net::IpProtocol protocol, BoundPort bound, const Endpoint& inside);
  // It ends as others do: now, or with its last connection.
  void remove_static(net::IpProtocol protocol, BoundPort bound);

  // From now on; hosts that have more keep them.
  void set_ports_per_host(uint32_t ports) { config_.ports_per_host = ports; }

  [[nodiscard]] const MappingCounters& counters() const { return counters_; }
  [[nodiscard]] uint64_t live_count() const { return counters_.created - counters_.over; }
  [[nodiscard]] uint64_t memory_bytes() const {
    return slots_.size() * sizeof(Slot) + ends_.memory_bytes() + hosts_.memory_bytes();
  }

  struct Row {
    net::IpProtocol protocol{};
    Endpoint inside{};
    BoundPort bound{};
    uint32_t holders = 0;
    bool is_static = false;
  };
  // Calls visit(const Row&) for each mapping in the next `count` places from `place` on, which
  // moves on; false at the end.
  template <class Visit>
  bool walk(uint64_t& place, uint64_t count, Visit&& visit) const {
    for (; count > 0 && place < slots_.size(); --count, ++place) {
      if (slots_[place].is_taken()) visit(row_at(place));
    }
    return place < slots_.size();
  }

  // Whether the invariants hold. Linear in the ports.
  [[nodiscard]] bool audit();

 private:
  static constexpr size_t kProtocols = 3;
  static constexpr size_t kPorts = 65'536;

  // | inside address | inside port | next in the queue | holders, flags |   12 bytes
  struct Slot {
    net::Ipv4Address inside{};
    uint16_t inside_port = 0;
    uint16_t next = 0;  // while it is queued; 0: the last one
    uint32_t holders : 29 = 0;
    uint32_t is_static : 1 = 0;
    uint32_t is_reserved : 1 = 0;
    uint32_t is_queued : 1 = 0;

    [[nodiscard]] bool is_taken() const { return holders != 0 || is_static != 0; }
    [[nodiscard]] bool is_free() const { return !is_taken() && is_reserved == 0; }
  };
  static_assert(sizeof(Slot) == 12, "five of them in a cache line");

  struct Queue {
    uint16_t first = 0;
    uint16_t last = 0;
  };

  struct InsideKey {
    net::Ipv4Address address{};
    uint16_t port = 0;
    net::IpProtocol protocol{};
    uint8_t zero = 0;

    bool operator==(const InsideKey&) const = default;
  };
  static_assert(sizeof(InsideKey) == 8);
  using Ends = FlowTable<InsideKey, BoundPort>;
  using Hosts = FlowTable<InsideKey, uint32_t>;  // how many ports a host has; port and protocol 0

  PortMappings(const Config& config, Ends ends, Hosts hosts);

  void fill_queues(uint64_t seed);
  [[nodiscard]] static size_t protocol_index(net::IpProtocol protocol);
  [[nodiscard]] size_t block(net::IpProtocol protocol, size_t address) const {
    return protocol_index(protocol) * own_count_ + address / config_.worker_count;
  }
  [[nodiscard]] const Slot& slot(net::IpProtocol protocol, BoundPort bound) const {
    return slots_[block(protocol, bound.address) * kPorts + bound.port];
  }
  [[nodiscard]] Slot& slot(net::IpProtocol protocol, BoundPort bound) {
    return slots_[block(protocol, bound.address) * kPorts + bound.port];
  }
  [[nodiscard]] Row row_at(uint64_t place) const;
  [[nodiscard]] bool is_in_pool(uint16_t port) const {
    return port >= config_.first_port && port <= config_.last_port;
  }
  // The next free port of a block, of this parity if there is one; 0: none.
  [[nodiscard]] uint16_t take_port(size_t block, bool is_odd);
  [[nodiscard]] uint16_t take_from(size_t block, bool is_odd);
  void queue_port(size_t block, uint16_t port);
  [[nodiscard]] bool count_up(const net::Ipv4Address& host);
  void count_down(const net::Ipv4Address& host);
  void free_slot(net::IpProtocol protocol, BoundPort bound);
  [[nodiscard]] bool audit_queue(size_t block, bool is_odd) const;

  Config config_;
  size_t own_count_;  // addresses of this worker
  std::vector<Slot> slots_;
  std::vector<std::array<Queue, 2>> queues_;  // by block, then parity
  Ends ends_;
  Hosts hosts_;
  MappingCounters counters_{};
};

}  // namespace roost::conntrack
