// The control thread's request for a worker's neighbours: all of them, each as it is when the walk
// reaches it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "roost/control/ask_workers.h"
#include "roost/control/json.h"
#include "roost/l3/neighbours.h"
#include "roost/node/mailbox.h"

namespace roost::control {

struct NeighbourRow {
  uint16_t port = 0;
  net::IpAddress address{};  // none of a port's default neighbour
  net::MacAddress mac{};     // if the state is one that has a MAC
  l3::NeighbourState state{};
  bool is_pinned = false;
  uint32_t waiting = 0;  // packets
  Tick since{};          // in this state
};

// Copies the worker's neighbours. One that is there all the time is listed once, because an entry
// stays where it is.
class NeighboursRequest final : public node::Request {
 public:
  // All memory is allocated here, on the requesting thread.
  explicit NeighboursRequest(const l3::Neighbours& neighbours);
  bool step() override;

  std::vector<NeighbourRow> rows;

 private:
  static constexpr uint32_t kEntriesAStep = 64;

  const l3::NeighbourTable& table_;
  l3::NeighbourIndex next_ = 0;
};

// The neighbours that these requests have found, as a table of JSON: what the workers know of one
// is one row. `state`: only those in it; empty: all.
[[nodiscard]] Json neighbour_rows_json(const Requests<NeighboursRequest>& requests,
                                       std::string_view state);

}  // namespace roost::control
