// Any bytes as a sequence of frames: the datapath decides each, touches nothing outside it, and its
// counts close.
//
// The input is cut into frames: a byte of flags, a byte of length, the frame. It is either taken as
// it is, behind the MAC address of its port, or as the recipe of a right packet with some bytes
// changed, so that most are looked up.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "roost/base/assert.h"
#include "tests/lb/nat64_config.h"
#include "tests/lb/test_icmp.h"
#include "tests/net/message_frames.h"

namespace {

using namespace roost;

// One service makes no connections, and closed ports are refused.
std::string nat_config() {
  const std::string name = "name = \"dns6\"\n";
  return lb::test_config(name, name + "one_packet = true\n") + "[lb]\nrefuse = true\n";
}

// Services in the modes fullnat, gue and ipip; few local ports, so that they run out.
std::string modes_config() {
  std::string toml = nat_config();
  for (const auto& [name, mode] : {std::pair("web", "fullnat"), {"dns", "gue"}, {"dns6", "ipip"}}) {
    const std::string line = std::string("name = \"") + name + "\"\n";
    toml.replace(toml.find(line), line.size(), line + "mode = \"" + mode + "\"\n");
  }
  return toml + "[fullnat]\naddresses = [\"10.0.0.100\"]\nports = [1, 12]\n";
}

// IPv6 services with IPv4 backends, and all TCP with a PROXY header.
std::string nat64_config() {
  std::string toml = lb::nat64_config("\"10.0.0.200\"", "[1, 12]");
  for (const std::string line : {"name = \"web\"\n", "name = \"web6\"\n"}) {
    toml.replace(toml.find(line), line.size(), line + "proxy_protocol = true\n");
  }
  return toml;
}

enum Flag : uint8_t {
  kFromBackends = 1,
  kNoMac = 2,
  kSplit = 4,
  kNoHeadroom = 8,
  kTimePasses = 16,
  kIdle = 32,
  kRecipe = 64,
  kModes = 128,  // of the first frame: for all of the input
};

// Three balancers for a whole run: what earlier inputs left behind is part of the test. The counts
// are checked now and then, because that takes time. The first frame's flags and length choose.
lb::TestBalancer& balancer(uint8_t flags, uint8_t length) {
  static lb::TestBalancer nat(nat_config());
  static lb::TestBalancer modes(modes_config());
  static lb::TestBalancer nat64(nat64_config());
  if ((flags & kModes) == 0) return nat;
  return length % 2 == 0 ? modes : nat64;
}

// Makes a fragment of an untagged IPv4 frame: offset and whether there are more, by one byte.
void make_fragment(std::vector<uint8_t>& frame, uint8_t choice) {
  frame[20] = (choice & 0x80) != 0 ? 0x20 : 0;
  frame[21] = choice & 0x7f;
  lb::fix_ipv4_checksum(frame);
}

// One of the messages for the balancer itself, which mostly stay right: each pair of bytes changes
// a place, and their checksum is made right again.
std::vector<uint8_t> message_by_recipe(const uint8_t* data, size_t size) {
  const std::vector<uint8_t>* messages[] = {&net::kArpRequest, &net::kSolicitation, &net::kQuery1,
                                            &net::kQuery2,     &net::kGroupQuery,   &net::kEcho6};
  const size_t which = data[1] % std::size(messages);
  std::vector<uint8_t> frame = *messages[which];
  for (size_t i = 4; i + 1 < size; i += 2) frame[data[i] % frame.size()] ^= data[i + 1];
  const bool is_query = which >= 2 && which <= 4;
  if (which != 0) net::mend_checksum(frame, is_query ? net::kListenerIcmp6At : net::kIcmp6At);
  return frame;
}

// What a router says of the packet that this one answers.
std::vector<uint8_t> error_about(const lb::PacketSpec& answer, const uint8_t* data) {
  lb::PacketSpec about = answer;
  std::swap(about.source, about.destination);
  std::swap(about.source_port, about.destination_port);
  const bool is_ipv6 = about.source.find(':') != std::string::npos;
  return lb::make_icmp_error({.destination_mac = answer.destination_mac,
                              .source = is_ipv6 ? "2001:db8:1::99" : "192.0.2.99",
                              .destination = answer.destination,
                              .type = static_cast<uint8_t>(data[2] & 15),
                              .code = static_cast<uint8_t>(data[2] >> 4),
                              .rest = uint32_t{data[3]} << (data[3] % 4 * 8)},
                             lb::make_frame(about), 8 + data[3]);
}

// Some client, service, port, and flags, by the first bytes; then pairs of a place and what to
// change there.
std::vector<uint8_t> frame_by_recipe(const uint8_t* data, size_t size, bool is_from_backends) {
  if (size < 4) return {};
  if ((data[0] & 32) != 0) return message_by_recipe(data, size);
  const bool is_ipv6 = (data[0] & 1) != 0;
  const bool is_tcp = (data[0] & 2) != 0;
  lb::PacketSpec spec{.source_port = static_cast<uint16_t>(1 + data[1] % 16),
                      .destination_port = static_cast<uint16_t>(is_tcp ? 80 : 53),
                      .protocol = is_tcp ? net::IpProtocol::kTcp : net::IpProtocol::kUdp,
                      .tcp_flags = data[2]};
  spec.payload = "roost";
  if ((data[0] & 8) != 0) spec.payload.resize(is_tcp ? 4 : 8);
  spec.source = is_ipv6 ? "2001:db8:1::10" : "192.0.2.10";
  spec.destination = is_ipv6 ? (is_tcp ? "2001:db8:ffff::80" : "2001:db8:ffff::53")
                             : (is_tcp ? "198.51.100.80" : "198.51.100.53");
  if (is_from_backends) {
    spec.destination_mac = "02:00:00:00:00:02";
    const bool is_to_local_port = !is_ipv6 && (data[0] & 16) != 0;
    const std::string local = (data[0] & 64) != 0 ? "10.0.0.200" : "10.0.0.100";
    spec.destination = is_to_local_port ? local : spec.source;
    spec.destination_port = spec.source_port;
    spec.source = is_ipv6 ? "2001:db8:2::11" : "10.0.0.11";
    spec.source_port = is_tcp ? 8080 : 53;
  }
  std::vector<uint8_t> frame =
      (data[0] & 128) != 0 ? error_about(spec, data) : lb::make_frame(spec);
  if ((data[0] & 4) != 0 && !is_ipv6) make_fragment(frame, data[3]);
  for (size_t i = 4; i + 1 < size; i += 2) frame[data[i] % frame.size()] ^= data[i + 1];
  return frame;
}

lb::Arrival read_arrival(uint8_t flags, const uint8_t* data, size_t size) {
  lb::Arrival arrival;
  arrival.in_port = (flags & kFromBackends) != 0 ? 1 : 0;
  if ((flags & kRecipe) != 0) {
    arrival.frame = frame_by_recipe(data, size, arrival.in_port == 1);
  } else {
    if ((flags & kNoMac) == 0) {
      arrival.frame = {2, 0, 0, 0, 0, static_cast<uint8_t>(arrival.in_port + 1)};
    }
    arrival.frame.insert(arrival.frame.end(), data, data + size);
  }
  if ((flags & kSplit) != 0) {
    arrival.contiguous_bytes = static_cast<uint32_t>(arrival.frame.size() / 2);
  }
  if ((flags & kNoHeadroom) != 0) arrival.headroom = 0;
  return arrival;
}

void check_counts(lb::TestBalancer& balancer) {
  static uint64_t inputs = 0;
  if (++inputs % 512 != 0) return;
  ROOST_ASSERT(broken_sums(balancer.report()).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  lb::TestBalancer& tested = balancer(data[0], data[1]);
  std::vector<lb::Arrival> arrivals;
  while (size >= 2 && arrivals.size() < net::kBatchLanesMax) {
    const uint8_t flags = data[0];
    const size_t frame_bytes = std::min<size_t>(data[1], size - 2);
    arrivals.push_back(read_arrival(flags, data + 2, frame_bytes));
    if ((flags & kTimePasses) != 0) tested.now.count += uint64_t{1} << (flags >> 3);
    if ((flags & kIdle) != 0) tested.idle(16);
    data += 2 + frame_bytes;
    size -= 2 + frame_bytes;
  }
  if (arrivals.empty()) return 0;
  for (const lb::Fate& fate : tested.send_batch(arrivals)) {
    ROOST_ASSERT(fate.cause != lb::DropCause::kUndecided);
    ROOST_ASSERT(fate.cause || fate.out_port < 2);
  }
  check_counts(tested);
  return 0;
}
