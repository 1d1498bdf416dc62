// What the traffic generator's configuration file says, and reading it; whole or not at all, as for
// every function.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roost/config/toml_file.h"
#include "roost/net/address.h"
#include "roost/net/headers.h"
#include "roost/traffic/connection_stream.h"

namespace roost::trafficgen {

// Ethernet frames with their check sequence, as the field counts them: 64 bytes, or a mix.
enum class FrameLaw : uint8_t { kFixed, kImix };

// IMIX: of twelve frames seven are small, four of 594 bytes and one of 1,518.
inline constexpr std::array<uint16_t, 12> kImixBytes = {64, 64,  594, 64,   64,  594,
                                                        64, 594, 64,  1518, 594, 64};

// How connections end, as shares; the rest falls silent. Of TCP only: UDP's always do.
struct EndShares {
  double fin = 1;
  double rst = 0;
};

struct TrafficConfig {
  traffic::ConnectionStream::Config stream{};
  FrameLaw frames = FrameLaw::kFixed;
  uint16_t frame_bytes = 64;
  bool answers = true;  // every other packet is the backend's
  EndShares ends{};
};

// Where clients or backends are. They answer for each address of their prefix.
struct SideConfig {
  uint16_t port = 0;  // DPDK's number
  net::MacAddress mac{};
  net::MacAddress gateway{};              // where frames are sent to
  std::optional<uint16_t> vlan{};         // their tag
  std::vector<net::IpPrefix> prefixes{};  // of a family one
};

struct ServiceConfig {
  net::IpAddress address{};
  uint16_t port = 0;
  net::IpProtocol protocol = net::IpProtocol::kTcp;
};

// For so long, packets come at this rate on average. Without a rate they come as the profile says.
struct StepConfig {
  double seconds = 0;
  std::optional<double> packets_per_second{};
  // Those of such a time come together, at its beginning; 0: each at its own.
  double burst_microseconds = 0;
};

enum class FloodKind : uint8_t { kSyn, kAck };

// Packets of no connection, from clients that are drawn, beside the connections.
struct FloodConfig {
  FloodKind kind = FloodKind::kSyn;
  double packets_per_second = 0;
  double from_second = 0;
  double to_second = 0;
};

// A packet that leaves later than this after it was due is late. Of a run with a larger share of
// late packets nothing can be said.
struct LateConfig {
  double microseconds = 100;
  double share_max = 0.001;
};

struct Config {
  TrafficConfig traffic{};
  SideConfig clients{};
  SideConfig backends{};
  std::vector<ServiceConfig> services{};
  std::vector<StepConfig> steps{};
  std::optional<FloodConfig> flood{};
  LateConfig late{};
  double wait_seconds = 1;  // for the last packets to come back

  [[nodiscard]] uint16_t port_count() const {
    return static_cast<uint16_t>(1 + (clients.port > backends.port ? clients.port : backends.port));
  }
  [[nodiscard]] double seconds() const {
    double sum = 0;
    for (const StepConfig& step : steps) sum += step.seconds;
    return sum;
  }
};

using ConfigOutcome = config::Outcome<Config>;

[[nodiscard]] ConfigOutcome parse_config(std::string_view text);
// A file that cannot be read is a fault.
[[nodiscard]] ConfigOutcome read_config(const std::string& path);

}  // namespace roost::trafficgen
