// What the generator makes of packets that arrive.
#include <algorithm>
#include <optional>
#include <span>

#include "apps/trafficgen/datapath/generator.h"
#include "apps/trafficgen/datapath/neighbour_answers.h"
#include "roost/net/byte_order.h"
#include "roost/net/headers.h"
#include "roost/net/l4_checksum.h"

namespace roost::trafficgen {
namespace {

// The last bytes of a packet's IP part, which must have arrived in one buffer.
std::optional<std::span<const uint8_t, kIdentityBytes>> identity_bytes(
    const net::Packet& packet, const net::ParsedPacket& parsed) {
  const size_t end = size_t{parsed.ip_offset} + parsed.ip_bytes;
  if (parsed.ip_bytes < kIdentityBytes || end > packet.contiguous_bytes) return {};
  return std::span<const uint8_t, kIdentityBytes>(packet.data + end - kIdentityBytes,
                                                  kIdentityBytes);
}

enum class Which : uint8_t { kSource, kDestination };

std::span<const uint8_t> address_bytes(const net::Packet& packet, const net::ParsedPacket& parsed,
                                       Which which) {
  const bool is_source = which == Which::kSource;
  const uint8_t* ip = packet.data + parsed.ip_offset;
  if (parsed.is_ipv6) return {ip + (is_source ? net::ipv6::kSource : net::ipv6::kDestination), 16};
  return {ip + (is_source ? net::ipv4::kSource : net::ipv4::kDestination), 4};
}

net::IpAddress address_at(const net::Packet& packet, const net::ParsedPacket& parsed, Which which) {
  const std::span<const uint8_t> bytes = address_bytes(packet, parsed, which);
  const auto address = [&]<class Address>(Address made) {
    std::ranges::copy(bytes, made.bytes.begin());
    return net::IpAddress(made);
  };
  return parsed.is_ipv6 ? address(net::Ipv6Address{}) : address(net::Ipv4Address{});
}

// Of MAC, address and port; never 0.
uint32_t hash_of_destination(const net::Packet& packet, const net::ParsedPacket& parsed) {
  const uint8_t* mac = packet.data + net::ethernet::kDestination;
  uint64_t hash = traffic::mix(uint64_t{net::load_be32(mac)} << 32 |
                               uint64_t{net::load_be16(mac + 4)} << 16 | parsed.destination_port);
  const std::span<const uint8_t> address = address_bytes(packet, parsed, Which::kDestination);
  for (size_t at = 0; at < address.size(); at += 4)
    hash = traffic::mix(hash ^ net::load_be32(&address[at]));
  return static_cast<uint32_t>(hash) | 1U;
}

// Whether the bytes of the headers lead to the end of an IP packet.
bool has_ip_packet(net::ParseVerdict verdict) {
  return verdict == net::ParseVerdict::kOk || verdict == net::ParseVerdict::kUnsupportedProtocol;
}

}  // namespace

// Frames without padding end with the identity.
void Generator::prefetch(const net::Packet& packet) {
  if (packet.contiguous_bytes < kIdentityBytes) return;
  const std::span<const uint8_t, kIdentityBytes> last(
      packet.data + packet.contiguous_bytes - kIdentityBytes, kIdentityBytes);
  const auto id = identity_.read(last);
  if (!id) return;
  if (const SentPacket* sent = sent_.find(*id)) ends_.ask_for(sent->place);
}

void Generator::receive(const net::Packet& packet, uint64_t now) {
  ArrivalCounts& counts = stats_.arrivals();
  net::ParsedPacket parsed;
  const net::ParseVerdict verdict = net::parse(packet, parsed);
  if (has_ip_packet(verdict)) {
    if (const auto bytes = identity_bytes(packet, parsed)) {
      if (const auto id = identity_.read(*bytes)) {
        SentPacket* sent = sent_.find(*id);
        if (sent == nullptr) {
          ++counts.too_late;
        } else if (verdict == net::ParseVerdict::kOk &&
                   net::verify_l4_checksum(packet, parsed) == net::L4ChecksumVerdict::kWrong) {
          ++counts.corrupt;
        } else {
          arrive(*sent, packet, parsed, now);
        }
        return;
      }
      if (flood_identity_.read(*bytes)) {
        ++counts.flood_returned;
        return;
      }
    }
  }
  for (const SideConfig* side : {&config_.clients, &config_.backends}) {
    if (side->port != packet.in_port || !answer_neighbour(packet, parsed, *side, outbox_)) continue;
    ++counts.neighbour_requests;
    return;
  }
  ++counts.foreign;
}

void Generator::arrive(SentPacket& sent, const net::Packet& packet, const net::ParsedPacket& parsed,
                       uint64_t now) {
  ArrivalCounts& counts = stats_.arrivals();
  const bool is_clients = sent.is_clients != 0;
  const SideConfig& to = is_clients ? config_.backends : config_.clients;
  if (packet.in_port != to.port) {
    ++counts.misdelivered;
    return;
  }
  if (sent.is_on_its_way == 0) {
    ++counts.duplicated;
    return;
  }
  sent.is_on_its_way = 0;
  uint32_t& latest = is_clients ? latest_to_backends_ : latest_to_clients_;
  if (static_cast<int32_t>(sent.id - latest) < 0) {
    ++counts.reordered;
  } else {
    latest = sent.id;
  }
  ++stats_.counts_of(sent.slice).returned;
  stats_.add_time(sent.slice, now > sent.due ? now - sent.due : 0);
  if (is_clients) note_backend(sent, packet, parsed);
}

void Generator::note_backend(const SentPacket& sent, const net::Packet& packet,
                             const net::ParsedPacket& parsed) {
  ConnectionEnds* ends = ends_.find(sent.place, sent.flow);
  if (ends == nullptr) return;  // the connection is over
  const uint32_t backend = hash_of_destination(packet, parsed);
  if (ends->backend == backend && ends->peer.port == parsed.source_port) return;
  if (ends->is_reached() && ends->backend != backend) ++stats_.arrivals().backend_changed;
  ends->backend = backend;
  ends->own = {address_at(packet, parsed, Which::kDestination), parsed.destination_port};
  ends->peer = {address_at(packet, parsed, Which::kSource), parsed.source_port};
}

}  // namespace roost::trafficgen
