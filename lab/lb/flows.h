// The flows that a load balancer is measured with: one client address each, all of one virtual
// address, and the frames that they send.
//
// A flow is a number; its client's address is a permutation of it, so flows that follow each other
// lie anywhere in a table, and what a flow is need not be remembered.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "roost/net/address.h"
#include "roost/net/flow_key.h"
#include "roost/net/headers.h"

namespace roost::lab {

// An Ethernet frame without its check sequence: 54 bytes of headers, padded.
inline constexpr size_t kFrameBytes = 60;
using Frame = std::array<uint8_t, kFrameBytes>;

inline constexpr uint64_t kFlowsMax = uint64_t{1} << 29;
inline constexpr uint32_t kBackendCount = 16;

[[nodiscard]] net::Ipv4Address client_of(uint64_t flow);

// The key of the flow's requests.
[[nodiscard]] net::FlowKey4 key_of(uint64_t flow);
// A TCP segment without payload, from the flow's client to the virtual address.
[[nodiscard]] Frame request_of(uint64_t flow, uint8_t tcp_flags = net::tcp::kAck);
// The answer to it by the backend, to the client. Backends count from 0.
[[nodiscard]] Frame answer_of(uint64_t flow, uint32_t backend, uint8_t tcp_flags = net::tcp::kAck);

struct BalancerSettings {
  uint64_t connections = 0;
  uint64_t hash_seed = 1;
  std::string timeouts{};  // lines of [timeouts]
  std::string mode = "nat";
  double tick_seconds = 1;
};
// A load balancer's configuration for these frames: one port, one service, neighbours known.
[[nodiscard]] std::string balancer_toml(const BalancerSettings& settings);

}  // namespace roost::lab
