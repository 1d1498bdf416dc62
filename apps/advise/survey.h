// What a capture says of connections, in one pass: how many, when, of how many packets, and how
// long they were silent before they spoke again.
//
// Connections stand in a table of ours, with conntrack's states; what is left of one that is over
// are counts, by the second of its last packet and by the timeout that it is under then. So memory
// is bounded: by the table, and by the seconds of the capture.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/advise/timeouts.h"
#include "apps/advise/workload.h"
#include "roost/base/log_histogram.h"
#include "roost/base/result.h"

namespace roost::advise {

// Candidates for timeouts, in seconds.
inline constexpr std::array<uint32_t, 16> kLadderSeconds = {
    1, 2, 5, 10, 15, 20, 30, 60, 90, 120, 180, 300, 600, 900, 1'800, 3'600};

// A timeout that cuts no larger share of the connections that were under it is good enough.
inline constexpr double kCutShareMax = 0.001;

// None shorter than this is advised: what is lost is sent again after 1, 2 and 4 seconds (RFC
// 6298), and nothing need be heard meanwhile.
inline constexpr uint32_t kAdvisedSecondsMin = 10;

struct SecondCounts {
  uint32_t packets = 0;                        // of TCP and UDP
  uint32_t begun = 0;                          // connections
  std::array<uint32_t, kTimeoutCount> over{};  // whose last packet it was, by timeout
};

struct Survey {
  std::string path;
  uint64_t packets = 0;        // whole file
  uint64_t other_packets = 0;  // of no connection: neither TCP nor UDP, later fragments, damaged
  uint64_t untracked_packets = 0;  // of connections for which there was no place any more
  uint64_t connections = 0;
  uint64_t udp_connections = 0;
  uint64_t ipv6_connections = 0;
  LogHistogram packets_each{};
  std::vector<SecondCounts> by_second{};
  // Connections that were under a timeout, and of these how many steps of the ladder their longest
  // silence exceeded: by timeout.
  std::array<uint64_t, kTimeoutCount> under{};
  std::array<std::array<uint64_t, kLadderSeconds.size() + 1>, kTimeoutCount> exceeded{};
  std::optional<std::string> cut_reason{};  // why reading stopped before the file's end

  [[nodiscard]] double seconds() const { return static_cast<double>(by_second.size()); }
  [[nodiscard]] uint64_t counted_packets() const {
    return packets - other_packets - untracked_packets;
  }
  // Share of the packets that the largest hundredth of the connections has.
  [[nodiscard]] double largest_share() const;
  [[nodiscard]] Families families() const;
  // Connections that spoke again after a silence longer than this step of the ladder.
  [[nodiscard]] uint64_t cut_by(size_t timeout, size_t step) const;
  // Connections between their first packet and their last, by second.
  [[nodiscard]] std::vector<uint64_t> alive_by_second() const;
  // The greatest number that a table with these timeouts holds: as counted, or, if that is more,
  // what it comes to if connections go on to end at this capture's mean rates. All of the capture's
  // connections are taken to end with their last packet, so it is rather too many.
  [[nodiscard]] uint64_t held_peak(const TimeoutSeconds& timeouts, double tick_seconds) const;
};

struct SurveyOptions {
  bool is_reply_unseen = false;          // servers answer past the balancer
  uint64_t connections_max = 4'000'000;  // followed at a time
};

// Reads the file once, to its end or to where it is cut. Errors: what libpcap cannot open; link
// types other than Ethernet; no packet of TCP or UDP; times that are weeks apart; no memory.
[[nodiscard]] Result<Survey> survey_capture(const std::string& path, const SurveyOptions& options);

// The shortest candidates that cut few enough; the default where the capture is too short to say
// so, or has no such connection, and for connections that are closed.
[[nodiscard]] TimeoutSeconds advised_timeouts(const Survey& survey);

// What the capture's busiest seconds ask for.
[[nodiscard]] Workload workload_of(const Survey& survey, const TimeoutSeconds& timeouts,
                                   double tick_seconds);

}  // namespace roost::advise
