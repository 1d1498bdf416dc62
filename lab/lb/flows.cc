#include "lab/lb/flows.h"

#include <fmt/format.h>

#include "roost/net/byte_order.h"
#include "roost/net/transport_frame.h"

namespace roost::lab {
namespace {

constexpr net::MacAddress kOwnMac{{2, 0, 0, 0, 0, 1}};
constexpr net::MacAddress kPeerMac{{2, 0, 0, 0, 1, 1}};
constexpr net::Ipv4Address kVirtualAddress{{198, 51, 100, 80}};
constexpr uint16_t kVirtualPort = 80;
constexpr uint16_t kBackendPort = 8'080;
constexpr uint32_t kFlowMask = kFlowsMax - 1;

// A permutation of the numbers below kFlowsMax: each step can be undone.
constexpr uint32_t permuted(uint64_t flow) {
  auto word = static_cast<uint32_t>(flow & kFlowMask);
  word = (word * 0x9E3779B1U) & kFlowMask;
  word ^= word >> 15;
  word = (word * 0x85EBCA6BU) & kFlowMask;
  word ^= word >> 13;
  return (word * 0xC2B2AE35U) & kFlowMask;
}

net::Endpoint4 client_endpoint(uint64_t flow) {
  return {client_of(flow), static_cast<uint16_t>(1'024 + permuted(flow) % 60'000)};
}

net::Endpoint4 backend_endpoint(uint32_t backend) {
  return {{{10, 0, 0, static_cast<uint8_t>(11 + backend)}}, kBackendPort};
}

Frame make_frame(const net::Endpoint4& source, const net::Endpoint4& destination,
                 uint8_t tcp_flags) {
  Frame frame{};
  net::write_transport_frame<net::Ipv4Address>(
      frame,
      {.macs = {.source = kPeerMac, .destination = kOwnMac},
       .source = source,
       .destination = destination,
       .tcp_flags = tcp_flags},
      0);
  return frame;
}

}  // namespace

// 64.0.0.0 to 95.255.255.255.
net::Ipv4Address client_of(uint64_t flow) {
  const uint32_t number = 0x40000000U | permuted(flow);
  net::Ipv4Address address;
  net::store_be16(address.bytes.data(), static_cast<uint16_t>(number >> 16));
  net::store_be16(&address.bytes[2], static_cast<uint16_t>(number));
  return address;
}

net::FlowKey4 key_of(uint64_t flow) {
  const net::Endpoint4 client = client_endpoint(flow);
  return {client.address, kVirtualAddress, client.port, kVirtualPort, net::IpProtocol::kTcp, {}};
}

Frame request_of(uint64_t flow, uint8_t tcp_flags) {
  return make_frame(client_endpoint(flow), {kVirtualAddress, kVirtualPort}, tcp_flags);
}

Frame answer_of(uint64_t flow, uint32_t backend, uint8_t tcp_flags) {
  return make_frame(backend_endpoint(backend), client_endpoint(flow), tcp_flags);
}

std::string balancer_toml(const BalancerSettings& settings) {
  std::string neighbours =
      "[[neighbour]]\naddress = \"192.0.2.254\"\nmac = \"02:00:00:00:01:01\"\n";
  std::string backends;
  // Only where addresses are translated can a backend have another port.
  const uint16_t port = settings.mode == "nat" ? kBackendPort : kVirtualPort;
  for (uint32_t backend = 0; backend < kBackendCount; ++backend) {
    const std::string address = fmt::format("10.0.0.{}", 11 + backend);
    neighbours += fmt::format("[[neighbour]]\naddress = \"{}\"\nmac = \"02:00:00:00:02:{:02x}\"\n",
                              address, 11 + backend);
    backends +=
        fmt::format("  {{name = \"b{}\", address = \"{}\", port = {}}},\n", backend, address, port);
  }
  return fmt::format(R"(tick_seconds = {}
maglev_seed = 1
[table]
connections = {}
hash_seed = {}
[timeouts]
{}
[[port]]
addresses = ["192.0.2.1/24", "10.0.0.1/24"]
mac = "02:00:00:00:00:01"
[[route]]
prefix = "0.0.0.0/0"
via = "192.0.2.254"
{}[[service]]
name = "web"
address = "198.51.100.80"
port = {}
protocol = "tcp"
mode = "{}"
backends = [
{}]
)",
                     settings.tick_seconds, settings.connections, settings.hash_seed,
                     settings.timeouts, neighbours, kVirtualPort, settings.mode, backends);
}

}  // namespace roost::lab
