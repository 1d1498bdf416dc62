// What the control thread asks of workers about their hosts, and hands to them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "roost/assets/observer.h"
#include "roost/node/mailbox.h"

namespace roost::assets {

struct HostFilter {
  std::optional<net::IpPrefix> network{};
  std::optional<uint16_t> vlan{};  // one of its tags; 0: it has none
  std::optional<uint16_t> port{};  // of a service

  [[nodiscard]] bool admits(const Host& host, std::span<const Service> services) const {
    return (!network || network->contains(host.key.ip())) &&
           (!vlan || host.key.vlan == *vlan || (*vlan != 0 && host.key.inner_vlan == *vlan)) &&
           (!port || std::ranges::find(services, *port, &Service::port) != services.end());
  }
};

// Copies of some hosts and their services, in memory that was there before.
class HostCopies {
 public:
  HostCopies(size_t hosts_max, uint16_t services_max) : services_max_(services_max) {
    hosts_.reserve(hosts_max);
    services_.resize(hosts_max * services_max);
  }
  void add(const Host& host, std::span<const Service> services) {
    std::ranges::copy(services, services_.begin() + offset(hosts_.size()));
    hosts_.push_back(host);
  }
  [[nodiscard]] size_t size() const { return hosts_.size(); }
  [[nodiscard]] const Host& operator[](size_t i) const { return hosts_[i]; }
  [[nodiscard]] std::span<const Service> services(size_t i) const {
    return std::span(services_).subspan(i * services_max_, hosts_[i].value.service_count);
  }

 private:
  [[nodiscard]] ptrdiff_t offset(size_t i) const {
    return static_cast<ptrdiff_t>(i * services_max_);
  }

  size_t services_max_;
  std::vector<Host> hosts_;
  std::vector<Service> services_;
};

// The hosts that a filter admits, from a place on, in the order of their places.
class WalkRequest final : public node::Request {
 public:
  // The filter must outlive it.
  WalkRequest(const Observer& state, const HostFilter& filter, size_t first, size_t hosts_max)
      : place(first),
        copies(hosts_max, state.table().services_max()),
        table_(state.table()),
        filter_(filter),
        hosts_max_(hosts_max) {}
  bool step() override {
    const size_t end = std::min(table_.hosts().size(), place + kHostsAStep);
    for (; place < end && copies.size() < hosts_max_; ++place) {
      const Host& host = table_.hosts()[place];
      const std::span<const Service> services = table_.services(host);
      if (filter_.admits(host, services)) copies.add(host, services);
    }
    is_at_end = place >= table_.hosts().size();
    return is_at_end || copies.size() == hosts_max_;
  }

  size_t place;  // where it stopped
  bool is_at_end = false;
  HostCopies copies;

 private:
  static constexpr size_t kHostsAStep = 256;  // some tens of microseconds

  const AssetTable& table_;
  const HostFilter& filter_;
  size_t hosts_max_;
};

// What a worker has of these hosts.
class FindRequest final : public node::Request {
 public:
  // The wanted ones must outlive it.
  FindRequest(Observer& state, const HostCopies& wanted)
      : copies(wanted.size(), state.table().services_max()), state_(state), wanted_(wanted) {
    places.reserve(wanted.size());
  }
  bool step() override {
    const size_t end = std::min(wanted_.size(), places.size() + kHostsAStep);
    while (places.size() < end) {
      const Host* const host = state_.table().find(wanted_[places.size()].key);
      places.push_back(host == nullptr ? kNone : copies.size());
      if (host != nullptr) copies.add(*host, state_.table().services(*host));
    }
    return places.size() == wanted_.size();
  }

  static constexpr size_t kNone = SIZE_MAX;
  HostCopies copies;
  std::vector<size_t> places{};  // of each wanted one among the copies; kNone: it is not there

 private:
  static constexpr size_t kHostsAStep = 64;

  Observer& state_;
  const HostCopies& wanted_;
};

// Has a worker look at the hosts of these networks from now on.
class NetworksRequest final : public node::Request {
 public:
  NetworksRequest(Observer& state, std::vector<net::IpPrefix> networks)
      : state_(state), networks_(std::move(networks)) {}
  bool step() override {
    if (!std::exchange(is_done_, true)) state_.exchange_networks(networks_);
    return true;
  }

 private:
  Observer& state_;
  std::vector<net::IpPrefix> networks_;
  bool is_done_ = false;  // it may be asked again
};

}  // namespace roost::assets
