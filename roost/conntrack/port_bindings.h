// Ports that connections are bound to, as `fullnat` and NAT do: addresses of our own with a range
// of ports each, from which servers are addressed, and the client behind each binding.
//
// An address belongs to one worker, so that the address alone gives a packet's owner: a fragment or
// an ICMP error may have no port.
//
// A port serves one connection for each server. Which ones are taken is known by the table of
// replies alone: ports are taken in turn, so that one comes back as late as possible, and where the
// turn falls on one that is taken, candidates spread evenly over all of them follow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "roost/base/assert.h"
#include "roost/net/flow_key.h"

namespace roost::conntrack {

// Which port a connection is bound to.
struct BoundPort {
  uint16_t address = 0;  // index
  uint16_t port = 0;
};

template <class Address>
class BindablePorts {
 public:
  using Endpoint = net::Endpoint<Address>;

  struct Config {
    std::vector<Address> addresses{};  // of all workers, at most 65,536; none: nothing is bound
    uint16_t first_port = 1'024;
    uint16_t last_port = 65'535;
    size_t worker = 0;  // their owner: of n workers, each has every n-th address
    size_t worker_count = 1;
  };

  explicit BindablePorts(Config config) : config_(std::move(config)) {
    for (size_t i = 0; i < config_.addresses.size(); ++i) {
      const auto index = static_cast<uint16_t>(i);
      sorted_.emplace_back(config_.addresses[i], index);
      if (i % config_.worker_count == config_.worker) own_.push_back(index);
    }
    std::ranges::sort(sorted_);
    count_ = own_.size() * (size_t{config_.last_port} - config_.first_port + 1);
    // About the golden section of all, so that any stretch of candidates lies spread.
    stride_ = count_ * 618 / 1'000 + 1;
    while (std::gcd(stride_, count_) > 1) ++stride_;
  }

  // The worker that the address belongs to, if it is one of these. O(log addresses).
  [[nodiscard]] std::optional<size_t> worker_of(const Address& address) const {
    const auto place = std::ranges::lower_bound(sorted_, address, {}, &Sorted::first);
    if (place == sorted_.end() || place->first != address) return {};
    return place->second % config_.worker_count;
  }

  // The worker's own.
  [[nodiscard]] uint64_t count() const { return count_; }
  [[nodiscard]] Endpoint endpoint(BoundPort bound) const {
    return {config_.addresses[bound.address], bound.port};
  }
  // The candidates of a turn, all different while `candidate` is below count().
  [[nodiscard]] BoundPort candidate(uint64_t turn, uint64_t candidate) const {
    const uint64_t position = (turn + candidate * stride_) % count_;
    return {own_[position % own_.size()],
            static_cast<uint16_t>(config_.first_port + position / own_.size())};
  }

 private:
  using Sorted = std::pair<Address, uint16_t>;

  Config config_;
  std::vector<Sorted> sorted_;  // every address and its index
  std::vector<uint16_t> own_;   // indices
  uint64_t count_ = 0;
  uint64_t stride_ = 1;
};

// The client behind a bound port.
template <class Address>
struct PortBinding {
  net::Endpoint<Address> client{};
  uint32_t owner = 0;  // what else the reply rule needs to know
};

// A fixed number of bindings; one worker uses it. Constant time.
template <class Address>
class PortBindingPool {
 public:
  explicit PortBindingPool(uint64_t capacity) : bindings_(capacity) {
    ROOST_ASSERT(capacity < kNone);
    for (uint64_t i = 0; i < capacity; ++i) {
      bindings_[i].owner = i + 1 < capacity ? static_cast<uint32_t>(i + 1) : kNone;
    }
    first_free_ = capacity == 0 ? kNone : 0;
  }

  // There must be one left.
  [[nodiscard]] uint32_t take(const PortBinding<Address>& binding) {
    const uint32_t index = first_free_;
    ROOST_ASSERT(index != kNone);
    first_free_ = bindings_[index].owner;
    bindings_[index] = binding;
    ++taken_;
    return index;
  }
  void give_back(uint32_t index) {
    bindings_[index] = {.owner = first_free_};
    first_free_ = index;
    --taken_;
  }

  [[nodiscard]] const PortBinding<Address>& operator[](uint32_t index) const {
    return bindings_[index];
  }
  [[nodiscard]] uint64_t taken() const { return taken_; }
  [[nodiscard]] uint64_t memory_bytes() const { return bytes_for(bindings_.size()); }
  [[nodiscard]] static uint64_t bytes_for(uint64_t capacity) {
    return capacity * sizeof(PortBinding<Address>);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  std::vector<PortBinding<Address>> bindings_;  // of a free one, `owner` is the next free one
  uint32_t first_free_ = kNone;
  uint64_t taken_ = 0;
};

}  // namespace roost::conntrack
