// The way of packets into a network function: admission, what is for the function itself, and what
// it sends on its own. The way out is l3::Egress.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "roost/base/assert.h"
#include "roost/expiry/tick.h"
#include "roost/hash/random_seed.h"
#include "roost/l3/admission.h"
#include "roost/l3/icmp_error_counters.h"
#include "roost/l3/icmp_errors.h"
#include "roost/l3/local_delivery.h"
#include "roost/l3/network_config.h"
#include "roost/l3/next_hops.h"
#include "roost/net/outbox.h"

namespace roost::l3 {

// One worker's.
class Ingress {
 public:
  struct Config {
    std::span<const PortConfig> ports;
    double tick_seconds = 1;
    std::optional<uint64_t> hash_seed{};  // else random
    bool verify_l4_checksum = false;
  };

  // All must outlive this object and stay where they are.
  Ingress(const Config& config, NextHops& next_hops, IcmpErrorCounters& errors,
          LocalCounters& local)
      : next_hops_(next_hops),
        icmp_errors_(next_hops, outbox_, config.tick_seconds,
                     config.hash_seed.value_or(random_seed()), errors),
        local_delivery_(next_hops, outbox_, local) {
    for (size_t port = 0; port < config.ports.size(); ++port) {
      rules_.push_back({.interface = &next_hops.interface(static_cast<uint16_t>(port)),
                        .promiscuous = config.ports[port].promiscuous,
                        .verify_l4_checksum = config.verify_l4_checksum});
    }
  }
  Ingress(const Ingress&) = delete;
  Ingress& operator=(const Ingress&) = delete;

  // Before a batch. Neighbours that are due beyond a batch's share follow in idle().
  void advance(Tick now) {
    constexpr uint64_t kDueNeighboursMax = 64;
    next_hops_.advance(now, outbox_, kDueNeighboursMax);
    icmp_errors_.advance(now);
  }
  void idle(Tick now, uint64_t budget) { next_hops_.advance(now, outbox_, budget); }

  // As l3::admit, by the rules of the packet's port.
  [[nodiscard]] std::optional<net::DropCause> admit(const net::Packet& packet,
                                                    net::ParsedPacket& parsed) const {
    ROOST_ASSERT(packet.in_port < rules_.size());
    return l3::admit(packet, rules_[packet.in_port], parsed);
  }
  // As LocalDelivery::decide, of a packet that admit() refused for this cause.
  [[nodiscard]] std::optional<net::LaneVerdict> deliver(net::Packet& packet,
                                                        net::ParsedPacket& parsed,
                                                        net::DropCause cause, Tick now) {
    return local_delivery_.decide(packet, parsed, cause, now);
  }

  // What the function sends on its own: solicitations, advertisements, ICMP errors.
  [[nodiscard]] net::Outbox& outbox() { return outbox_; }
  [[nodiscard]] IcmpErrors& icmp_errors() { return icmp_errors_; }

 private:
  NextHops& next_hops_;
  net::Outbox outbox_;
  IcmpErrors icmp_errors_;
  std::vector<AdmissionRules> rules_;  // by port
  LocalDelivery local_delivery_;
};

}  // namespace roost::l3
