// How many entries each port may have, so that no port takes the room of all.
//
// Half of the room is divided among the ports: each may always fill its part. The other half is
// whose comes first. A port may also have a bound of its own. Static entries have other room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "roost/base/assert.h"

namespace roost::bridge {

class PortRoom {
 public:
  // `bounds`: of each port, the most entries it may have, if not all.
  PortRoom(uint64_t entries_max, std::vector<std::optional<uint64_t>> bounds)
      : part_(entries_max / 2 / std::max<uint64_t>(1, bounds.size())),
        shared_(entries_max - part_ * bounds.size()),
        learned_(bounds.size(), 0),
        bounds_(std::move(bounds)) {}

  // Bounds of so many ports as before. What a port has beyond its bound is its to lose.
  void set_bounds(std::vector<std::optional<uint64_t>> bounds) {
    ROOST_ASSERT(bounds.size() == bounds_.size());
    bounds_ = std::move(bounds);
  }
  [[nodiscard]] bool is_beyond_bound(uint16_t port) const {
    return learned_[port] > bounds_[port].value_or(UINT64_MAX);
  }

  // Whether a port has room for one entry more; or has it for one that leaves another port.
  [[nodiscard]] bool can_take(uint16_t port) const { return has_room(port, shared_used_); }
  [[nodiscard]] bool can_move(uint16_t from, uint16_t to) const {
    return has_room(to, shared_used_ - (learned_[from] > part_ ? 1 : 0));
  }
  void take(uint16_t port) {
    if (learned_[port] >= part_) ++shared_used_;
    ROOST_ASSERT(shared_used_ <= shared_);
    ++learned_[port];
  }
  void give_back(uint16_t port) {
    ROOST_ASSERT(learned_[port] > 0);
    if (learned_[port] > part_) --shared_used_;
    --learned_[port];
  }

  [[nodiscard]] uint64_t learned(uint16_t port) const { return learned_[port]; }

 private:
  [[nodiscard]] bool has_room(uint16_t port, uint64_t shared_used) const {
    return learned_[port] < bounds_[port].value_or(UINT64_MAX) &&
           (learned_[port] < part_ || shared_used < shared_);
  }

  uint64_t part_;
  uint64_t shared_;
  uint64_t shared_used_ = 0;
  std::vector<uint64_t> learned_;
  std::vector<std::optional<uint64_t>> bounds_;
};

}  // namespace roost::bridge
