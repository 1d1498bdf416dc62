// What a function tracks of a family: its connections, and the fragments that follow their first
// one; and both families as one.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "roost/base/counter.h"
#include "roost/base/result.h"
#include "roost/conntrack/connection_table.h"
#include "roost/conntrack/fragment_table.h"
#include "roost/conntrack/tables.h"
#include "roost/expiry/tick.h"
#include "roost/net/outbox.h"
#include "roost/net/packet_batch.h"

namespace roost::conntrack {

struct FragmentReport {
  FragmentCounters counters{};
  uint64_t waiting = 0;
  uint64_t dropped = 0;

  FragmentReport& operator+=(const FragmentReport& other);
};
// What stands beside the list of its counters.
inline constexpr std::array kFragmentReportCounters = {
    Counter{"waiting", &FragmentReport::waiting, "fragments that wait for their first one now"},
    Counter{"dropped", &FragmentReport::dropped, "released fragments that could not leave"}};

inline FragmentReport& FragmentReport::operator+=(const FragmentReport& other) {
  add_counters<FragmentCounters>(kFragmentCounters, other.counters, counters);
  add_counters<FragmentReport>(kFragmentReportCounters, other, *this);
  return *this;
}

// One worker's. `Rule`: see reply_rule.h, `Tables`: tables.h. The definition of create() is in
// tracker_impl.h.
template <class Rule, class Tables = OwnTables>
class FamilyTracker {
 public:
  using Address = typename Rule::Address;
  using Connections = ConnectionTable<Rule, Tables>;
  using Fragments = FragmentTable<Address>;

  struct Config {
    uint64_t connections = 0;          // that fit; of a family that is not used, none
    bool has_other_fragments = false;  // of connections that another tracker has
    double tick_seconds = 1;
    std::optional<uint64_t> hash_seed{};
    typename BindablePorts<Address>::Config ports{};
    TableMemory memory{};              // of connections; else their own
    uint16_t waiting_fragments = 256;  // that may wait for their first one
  };

  static Result<FamilyTracker> create(const Config& config, Rule rule, const Tables& tables = {});

  // Of both tables, with all that belongs to them.
  [[nodiscard]] uint64_t memory_bytes() const {
    return connections_.memory_bytes() + fragments_.memory_bytes();
  }
  // What memory_bytes() is of a tracker of this configuration, before there is one.
  [[nodiscard]] static Result<uint64_t> bytes_for(const Config& config)
    requires std::same_as<Tables, OwnTables>;
  // What Config::memory must have.
  [[nodiscard]] static Result<TableBytes> bytes_to_lend(const Config& config)
    requires std::same_as<Tables, OwnTables>
  {
    return Connections::bytes_to_lend(connections_config(config));
  }

  [[nodiscard]] Connections& connections() { return connections_; }
  [[nodiscard]] const Connections& connections() const { return connections_; }
  [[nodiscard]] Fragments& fragments() { return fragments_; }

  // Sends the fragments whose first one was in the last batch: decide(net::PacketBatch& one,
  // net::ParsedPacket& parsed) is called with each as a batch of its own. They count as the
  // function's own frames: when they came, they were consumed.
  template <class Decide>
  void send_released(net::Outbox& outbox, Decide&& decide) {
    while (auto waited = fragments_.take_released()) {
      net::PacketBatch one;
      one.push(waited->packet);
      decide(one, waited->parsed);
      const net::Packet& packet = one.packets()[0];
      const net::LaneVerdict verdict = one.verdicts()[0];
      if (verdict.is_consumed()) continue;  // it waits for its neighbour, or was cut
      if (!verdict.is_forward() ||
          !outbox.send(verdict.out_port(), {packet.data, packet.total_bytes})) {
        ++released_dropped_;
      }
    }
  }
  [[nodiscard]] FragmentReport fragment_report() const {
    return {fragments_.counters(), fragments_.waiting_count(), released_dropped_};
  }

 private:
  [[nodiscard]] static typename Connections::Config connections_config(const Config& config);
  [[nodiscard]] static typename Fragments::Config fragments_config(const Config& config);

  FamilyTracker(Connections connections, Fragments fragments)
      : connections_(std::move(connections)), fragments_(std::move(fragments)) {}

  Connections connections_;
  Fragments fragments_;
  uint64_t released_dropped_ = 0;
};

// The trackers of both families as one; they must outlive it. Functions are those of
// ConnectionTable and FragmentTable, for both.
template <class Ipv4Tracker, class Ipv6Tracker>
class Tracker {
 public:
  Tracker(Ipv4Tracker& ipv4, Ipv6Tracker& ipv6) : ipv4_(ipv4), ipv6_(ipv6) {}

  [[nodiscard]] Ipv4Tracker& ipv4() const { return ipv4_; }
  [[nodiscard]] Ipv6Tracker& ipv6() const { return ipv6_; }

  void advance(Tick now) const {
    ipv4_.connections().advance(now);
    ipv6_.connections().advance(now);
    ipv4_.fragments().advance(now);
    ipv6_.fragments().advance(now);
  }
  // The families share the budget.
  void maintain(uint64_t bucket_budget) const {
    ipv4_.connections().maintain(bucket_budget - bucket_budget / 2);
    ipv6_.connections().maintain(bucket_budget / 2);
    ipv4_.fragments().maintain(1);
    ipv6_.fragments().maintain(1);
  }
  void settle() const {
    ipv4_.connections().settle();
    ipv6_.connections().settle();
  }
  [[nodiscard]] FlowCounts counts() const {
    FlowCounts counts = ipv4_.connections().counts();
    return counts += ipv6_.connections().counts();
  }
  [[nodiscard]] uint64_t count_live() const {
    return ipv4_.connections().count_live() + ipv6_.connections().count_live();
  }
  [[nodiscard]] uint64_t memory_bytes() const {
    return ipv4_.memory_bytes() + ipv6_.memory_bytes();
  }
  [[nodiscard]] FragmentReport fragment_report() const {
    FragmentReport report = ipv4_.fragment_report();
    return report += ipv6_.fragment_report();
  }
  [[nodiscard]] bool audit() const {
    return ipv4_.connections().audit() && ipv6_.connections().audit();
  }

 private:
  Ipv4Tracker& ipv4_;
  Ipv6Tracker& ipv6_;
};

}  // namespace roost::conntrack
