// Reports which groups the ports listen to (MLD): without it, a switch that snoops on multicast
// listener discovery keeps neighbour solicitations away, and IPv6 fails. The groups are the
// solicited-node groups of the local addresses.
//
// Reported are
//   - all groups, and those left, on the operator's command or a reload: at once and once more, for
//     a report can be lost (RFC 3810 section 6.1, robustness 2);
//   - all groups of a port on a general query, one group on a specific query for it, after
//     a random time that is shorter than the querier's limit (section 6.2).
// By version 2; while a querier of version 1 is on the link, by version 1 (section 8.2.1). Reports
// of other listeners suppress none of ours: version 2 has no such rule, and version 1's would hide
// a listener from the switch that it is connected to.
//
// A general query starts one timer a port, and queries for single groups another one: all that is
// queried within it is reported together, so that what queriers can cause is bounded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "roost/base/counter.h"
#include "roost/expiry/tick.h"
#include "roost/l3/interface_table.h"
#include "roost/net/multicast_listener.h"
#include "roost/net/outbox.h"

namespace roost::l3 {

// A group that a port listens to.
struct ListenedGroup {
  uint16_t port = 0;
  net::Ipv6Address group{};
  bool is_queried = false;                            // a querier waits for it
  std::optional<net::ListenerRecord::Kind> due = {};  // what is to be reported of it

  [[nodiscard]] auto place() const { return std::pair(port, group); }
};

// The groups of these addresses, sorted, each once, and with room for one more a port.
[[nodiscard]] std::vector<ListenedGroup> listened_groups(std::span<const LocalAddress> addresses,
                                                         size_t port_count);

struct ListenerCounters {
  uint64_t queries = 0;
  uint64_t reports = 0;
};
inline constexpr std::array kListenerCounters = {
    Counter{"listener_queries", &ListenerCounters::queries, "queries of MLD received"},
    Counter{"listener_reports", &ListenerCounters::reports, "frames with reports of MLD sent"}};
static_assert(lists_all(kListenerCounters));

// One worker's.
class MulticastListener {
 public:
  struct Config {
    double tick_seconds = 1;
    TickCount repeat = 1;  // from a report to its repetition
    uint32_t frames_a_tick_max = 1000;
    uint64_t seed = 0;  // of the random times
  };

  // The interfaces stay the caller's and where they are.
  MulticastListener(const Config& config, std::span<const Interface> interfaces,
                    std::vector<ListenedGroup> groups);

  // Reports all groups, from the next advance() on.
  void report_all() { reports_left_ = kRobustness; }

  // A query received on this port. `is_copy`: another worker reports.
  void receive(uint16_t port, const net::ListenerQuery& query, bool is_copy, Tick now);

  // Writes what is due, a bounded piece a call.
  void advance(Tick now, net::Outbox& outbox);

  // Listens to these groups from now on, which listened_groups() made; what it listened to is in
  // `groups` afterwards. The next report_all() reports those that were left, kLeftMax at most; the
  // others time out at the querier.
  void exchange_groups(std::vector<ListenedGroup>& groups);

  [[nodiscard]] const ListenerCounters& counters() const { return counters_; }

 private:
  static constexpr uint32_t kRobustness = 2;
  static constexpr size_t kLeftMax = 256;
  static constexpr size_t kFramesACallMax = 32;     // an outbox has room for more
  static constexpr size_t kGroupsACallMax = 1'024;  // looked at

  struct PortState {
    std::optional<Tick> general_due{};
    std::optional<Tick> specific_due{};
    Tick version1_until{};  // a querier of version 1 is on the link
  };

  void add_link_local_groups();
  [[nodiscard]] Tick random_time(uint32_t response_ms_max, Tick now);
  [[nodiscard]] TickCount ticks_within(double seconds) const;
  void mark_due(Tick now);
  void mark_reports(uint16_t port, bool is_general);
  void mark_all();
  [[nodiscard]] size_t group_count() const { return groups_.size() + left_.size(); }
  [[nodiscard]] ListenedGroup& at(size_t index) {
    return index < groups_.size() ? groups_[index] : left_[index - groups_.size()];
  }
  [[nodiscard]] bool is_version1(uint16_t port, Tick now) const {
    return now < ports_[port].version1_until;
  }
  size_t send_from(size_t first, size_t end, Tick now, net::Outbox& outbox);

  Config config_;
  std::span<const Interface> interfaces_;
  std::vector<ListenedGroup> groups_;  // sorted
  std::vector<ListenedGroup> left_;    // to be reported
  bool has_told_left_ = false;
  std::vector<PortState> ports_;
  uint64_t random_;
  uint32_t reports_left_ = 0;  // of all groups
  Tick reported_at_{};
  size_t next_ = 0;          // of all groups, to be looked at
  size_t left_to_look_ = 0;  // until none can be due
  uint32_t tokens_;
  Tick refilled_at_{};
  ListenerCounters counters_;
};

}  // namespace roost::l3
