// What the control thread asks of a worker about its neighbours: all of them, as they are when the
// walk comes by.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/lb/state.h"
#include "roost/node/mailbox.h"

namespace roost::lb {

struct NeighbourRow {
  uint16_t port = 0;
  net::IpAddress address{};  // none of a port's default neighbour
  net::MacAddress mac{};     // if the state is one that has a MAC
  node::NeighbourState state{};
  bool is_pinned = false;
  uint32_t waiting = 0;  // packets
  Tick since{};          // in this state
};

// Copies the worker's neighbours. One that is there all the time is listed once, because an entry
// stays where it is.
class NeighboursRequest final : public node::Request {
 public:
  // All memory is had here, on the thread that asks.
  explicit NeighboursRequest(const State& state);
  bool step() override;

  std::vector<NeighbourRow> rows;

 private:
  static constexpr uint32_t kEntriesAStep = 64;

  const node::NeighbourTable& table_;
  node::NeighbourIndex next_ = 0;
};

}  // namespace roost::lb
