// What a run of the traffic generator has shown, as text and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/trafficgen/config/config.h"
#include "apps/trafficgen/datapath/packet_stats.h"

namespace roost::trafficgen {

// The greatest rate at which no more than so much is lost, and what was tried (RFC 2544, 26.1).
struct SearchResult {
  struct Trial {
    double packets_per_second = 0;
    double loss = 0;
    bool is_valid = true;  // the generator was in time
  };
  double loss_max = 0;
  std::vector<Trial> trials{};

  // The greatest rate that passed; nothing if none did.
  [[nodiscard]] std::optional<double> rate() const;
};

struct Report {
  PacketStats stats{};
  uint64_t sent_by_ports = 0;  // as they count it, but for answers to neighbours
  std::vector<double> step_seconds{};
  double seconds = 0;
  bool ended_early = false;  // the connections were over before the steps
  double late_share_max = 0;
  std::optional<SearchResult> search{};

  // Whether the generator was in time for so many packets that the figures say something of what
  // it has measured.
  [[nodiscard]] bool is_valid() const;
};

[[nodiscard]] double late_share(const PacketCounts& counts);

// Sentences of sums that do not hold; none unless there is a bug.
[[nodiscard]] std::vector<std::string> broken_sums(const Report& report);
[[nodiscard]] std::string format_text(const Report& report);
[[nodiscard]] std::string format_json(const Report& report);

}  // namespace roost::trafficgen
