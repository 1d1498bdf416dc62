// A firewall as a bench holds one (lab/packets/packet_runner.h): with connections in its table, and
// rules that allow none of the packets to come.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "apps/firewall/datapath/datapath.h"
#include "roost/base/result.h"
#include "roost/memory/arena.h"

namespace roost::lab {

struct FirewallSettings {
  uint64_t connections = 0;
  uint64_t hash_seed = 1;
  size_t rules = 0;  // that deny the flows of lab/lb/flows.h, in parts
};

// It stays where it is. EAL must run.
class Firewall {
 public:
  // With a rule that allows everything. Errors: memory.
  static Result<std::unique_ptr<Firewall>> create(const FirewallSettings& settings);

  [[nodiscard]] firewall::State& state() { return state_; }
  [[nodiscard]] firewall::Datapath& datapath() { return datapath_; }
  // From now on its rules deny what is of no connection. Errors: memory.
  [[nodiscard]] std::optional<Error> deny();

 private:
  Firewall(firewall::State state, const FirewallSettings& settings)
      : settings_(settings), state_(std::move(state)), datapath_(state_) {}

  FirewallSettings settings_;
  firewall::State state_;
  firewall::Datapath datapath_;
};

// Packets of its connections, which it forwards.
class FirewallHolder {
 public:
  using Function = firewall::Datapath;

  explicit FirewallHolder(std::unique_ptr<Firewall> firewall) : firewall_(std::move(firewall)) {}

  [[nodiscard]] Function& function() { return firewall_->datapath(); }
  // Connections of these flows, and then the rules.
  [[nodiscard]] std::optional<Error> fill(std::span<const uint32_t> flows, Tick now);
  // Every connection is there; no packet of another one has passed.
  [[nodiscard]] std::optional<Error> wrong();
  [[nodiscard]] uint64_t memory_bytes() const { return connections().memory_bytes(); }
  [[nodiscard]] PageKind page_kind() const { return connections().page_kind(); }

 protected:
  [[nodiscard]] firewall::State& state() const { return firewall_->state(); }

 private:
  [[nodiscard]] firewall::Family<net::Ipv4Address>::Connections& connections() const {
    return state().family<net::Ipv4Address>().connections();
  }

  std::unique_ptr<Firewall> firewall_;
  uint64_t flow_count_ = 0;
};

// Packets of no connection, which its rules deny.
class DenyingFirewallHolder : public FirewallHolder {
 public:
  static constexpr bool kDropsAll = true;

  using FirewallHolder::FirewallHolder;
  // Rules of all kinds have denied packets, and none has passed.
  [[nodiscard]] std::optional<Error> wrong();
};

}  // namespace roost::lab
