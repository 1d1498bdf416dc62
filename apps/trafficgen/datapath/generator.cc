#include "apps/trafficgen/datapath/generator.h"

#include <algorithm>

namespace roost::trafficgen {
namespace {

constexpr size_t kCheckSequenceBytes = 4;  // of Ethernet, which the port makes
constexpr double kSecondsOnTheWay = 2;     // that packets are remembered
constexpr size_t kSentPacketsMin = size_t{1} << 16;
constexpr size_t kSentPacketsMax = size_t{1} << 24;
constexpr uint64_t kFloodOfRun = 0x5f10'0d00;
constexpr uint64_t kServiceSalt = 0x9b1d;
constexpr uint64_t kEndSalt = 0x3e7c;

// From 0 to 1, of a number: the same each time.
double share_of(uint64_t number, uint64_t salt) {
  return static_cast<double>(traffic::mix(number ^ (salt << 32)) >> 11) * 0x1p-53;
}

double connections_per_second(const traffic::ConnectionStream::Config& stream) {
  return static_cast<double>(stream.profile.flows) * stream.windows / stream.profile.seconds;
}

// Connections that live at a time, and some more.
uint64_t expected_live(const traffic::ConnectionStream::Config& stream) {
  constexpr double kMore = 1.25;
  return static_cast<uint64_t>(connections_per_second(stream) * stream.profile.flow_seconds *
                               kMore);
}

double mean_rate(const traffic::ConnectionStream::Config& stream) {
  return connections_per_second(stream) * stream.profile.length.mean;
}

size_t sent_packets_of(const Config& config) {
  double rate = 0;
  for (const StepConfig& step : config.steps)
    rate = std::max(rate, step.packets_per_second.value_or(mean_rate(config.traffic.stream)));
  return std::clamp(static_cast<size_t>(rate * kSecondsOnTheWay), kSentPacketsMin, kSentPacketsMax);
}

net::IpPrefix prefix_of(const SideConfig& side, bool is_ipv6) {
  for (const net::IpPrefix& prefix : side.prefixes)
    if (prefix.address.is_ipv6() == is_ipv6) return prefix;
  return {is_ipv6 ? net::IpAddress(net::Ipv6Address{}) : net::IpAddress(net::Ipv4Address{}), 0};
}

// A frame of this side, without addresses.
template <class Frame>
void set_link(const SideConfig& side, Frame& frame) {
  frame.macs = {.source = side.mac, .destination = side.gateway};
  if (!side.vlan) return;
  frame.vlan.count = 1;
  frame.vlan.tags[0].control = *side.vlan;
}

// The bytes of a frame that its L4 payload takes, at least those of an identity.
size_t payload_bytes(size_t frame_bytes, size_t header_bytes) {
  return frame_bytes > header_bytes + kIdentityBytes ? frame_bytes - header_bytes : kIdentityBytes;
}

// Writes a frame of this length, and which packet it is; false: there is no room.
template <class Frame>
bool write(const Frame& frame, size_t payload, uint16_t port, const PacketIdentity& identity,
           uint32_t id, FrameRoom& room) {
  const size_t header_bytes = frame.header_bytes();
  const std::span<uint8_t> bytes = room.room(port, header_bytes + payload);
  if (bytes.empty()) return false;
  std::ranges::fill(bytes.subspan(header_bytes, payload - kIdentityBytes), uint8_t{0});
  identity.write(bytes.last(kIdentityBytes).template first<kIdentityBytes>(), id);
  net::write_transport_frame(bytes, frame, payload);
  return true;
}

template <class Address>
net::Endpoint<Address> endpoint_of(const AddressAndPort& end) {
  return {end.address.to<Address>(), end.port};
}

}  // namespace

Result<Generator> Generator::create(const Config& config, uint64_t run) {
  auto schedule = Schedule::create(config.traffic.stream, config.steps);
  if (!schedule) return schedule.error();
  auto ends = AllConnectionEnds::create(schedule.value().flow_count(),
                                        expected_live(config.traffic.stream));
  if (!ends) return ends.error();
  auto sent = SentPackets::create(sent_packets_of(config));
  if (!sent) return sent.error();
  return Generator(config, std::move(schedule).value(), std::move(ends).value(),
                   std::move(sent).value(), run);
}

Generator::Generator(const Config& config, Schedule schedule, AllConnectionEnds ends,
                     SentPackets sent, uint64_t run)
    : config_(config),
      schedule_(std::move(schedule)),
      clients4_(prefix_of(config.clients, false)),
      clients6_(prefix_of(config.clients, true)),
      identity_(run),
      flood_identity_(run ^ kFloodOfRun),
      ends_(std::move(ends)),
      sent_(std::move(sent)),
      flood_draw_(config.traffic.stream.seed),
      flood_kind_(config.flood.value_or(FloodConfig{}).kind),
      late_nanoseconds_(static_cast<uint64_t>(config.late.microseconds * 1'000)) {}

uint32_t Generator::service_of(uint32_t flow) const {
  if (config_.services.size() == 1) return 0;
  return static_cast<uint32_t>(share_of(flow, kServiceSalt) *
                               static_cast<double>(config_.services.size()));
}

size_t Generator::frame_bytes_of(uint32_t number) const {
  const size_t bytes = config_.traffic.frames == FrameLaw::kImix
                           ? kImixBytes[number % kImixBytes.size()]
                           : config_.traffic.frame_bytes;
  return bytes - kCheckSequenceBytes;
}

template <>
const ClientEnds<net::Ipv4Address>& Generator::clients() const {
  return clients4_;
}
template <>
const ClientEnds<net::Ipv6Address>& Generator::clients() const {
  return clients6_;
}

template <class Address>
Generator::Frame<Address> Generator::clients_frame(uint32_t flow,
                                                   const ServiceConfig& service) const {
  Frame<Address> frame{.source = clients<Address>().of(flow),
                       .destination = {service.address.to<Address>(), service.port},
                       .protocol = service.protocol};
  set_link(config_.clients, frame);
  return frame;
}

template <class Address>
Generator::Frame<Address> Generator::backends_frame(const ConnectionEnds& ends) const {
  Frame<Address> frame{.source = endpoint_of<Address>(ends.own),
                       .destination = endpoint_of<Address>(ends.peer),
                       .protocol = config_.services[ends.service].protocol};
  set_link(config_.backends, frame);
  return frame;
}

uint8_t Generator::tcp_flags_of(const traffic::StreamPacket& packet, bool is_clients) const {
  if (packet.number == 0) return net::tcp::kSyn;
  if (packet.number == 1 && !is_clients) return net::tcp::kSyn | net::tcp::kAck;
  if (!packet.is_last) return net::tcp::kAck;
  const double end = share_of(packet.flow, kEndSalt);
  const EndShares& ends = config_.traffic.ends;
  if (end < ends.fin) return net::tcp::kFin | net::tcp::kAck;
  if (end < ends.fin + ends.rst) return net::tcp::kRst | net::tcp::kAck;
  return net::tcp::kAck;
}

template <class Address>
bool Generator::make_of(const traffic::StreamPacket& packet, bool is_clients, ConnectionEnds& ends,
                        uint32_t id, FrameRoom& room) const {
  Frame<Address> frame = is_clients
                             ? clients_frame<Address>(packet.flow, config_.services[ends.service])
                             : backends_frame<Address>(ends);
  const size_t payload = payload_bytes(frame_bytes_of(packet.number), frame.header_bytes());
  if (frame.protocol == net::IpProtocol::kTcp) {
    uint32_t& own = is_clients ? ends.client_next : ends.backend_next;
    frame.tcp_flags = tcp_flags_of(packet, is_clients);
    frame.sequence = own;
    if (packet.number > 0)
      frame.acknowledgement = is_clients ? ends.backend_next : ends.client_next;
    own += static_cast<uint32_t>(payload);
    if ((frame.tcp_flags & (net::tcp::kSyn | net::tcp::kFin)) != 0) ++own;
  }
  const SideConfig& side = is_clients ? config_.clients : config_.backends;
  return write(frame, payload, side.port, identity_, id, room);
}

bool Generator::make(const traffic::StreamPacket& packet, bool is_clients, ConnectionEnds& ends,
                     uint32_t id, FrameRoom& room) const {
  const bool is_ipv6 =
      is_clients ? config_.services[ends.service].address.is_ipv6() : ends.own.address.is_ipv6();
  return is_ipv6 ? make_of<net::Ipv6Address>(packet, is_clients, ends, id, room)
                 : make_of<net::Ipv4Address>(packet, is_clients, ends, id, room);
}

std::optional<MadeFrame> Generator::make_next(uint64_t now, FrameRoom& room) {
  if (const auto due = flood_due(); due && *due <= now) return make_flood(room);
  while (const DuePacket* due = schedule_.peek(now)) {
    const uint64_t due_at = due->nanoseconds;
    const traffic::StreamPacket packet = due->packet;
    const uint32_t slice = stats_.slice_of(due_at, due->step);
    schedule_.pop();
    if (const auto* ahead = schedule_.peek_ahead()) ends_.ask_for(ahead->place);
    const bool is_clients = !config_.traffic.answers || packet.number % 2 == 0;
    PacketCounts& counts = stats_.counts_of(slice);
    ++counts.offered;
    if (now - due_at > late_nanoseconds_) ++counts.late;
    ConnectionEnds& ends = packet.number == 0
                               ? ends_.begin(packet.place, packet.flow, service_of(packet.flow))
                               : ends_.at(packet.place);
    if (!is_clients && !ends.is_reached()) {
      ++counts.unanswerable;
      continue;
    }
    const MadeFrame made{is_clients ? config_.clients.port : config_.backends.port,
                         sent_.next_id()};
    sent_.add({.due = due_at,
               .flow = packet.flow,
               .place = packet.place,
               .slice = slice & kSliceMask,
               .is_clients = is_clients ? 1U : 0U},
              [this](const SentPacket& lost) { count_lost(lost); });
    if (make(packet, is_clients, ends, made.id, room)) return made;
    refuse(made);
  }
  return {};
}

std::optional<uint64_t> Generator::flood_due() const {
  if (!config_.flood) return {};
  const FloodConfig& flood = *config_.flood;
  const double second =
      flood.from_second + static_cast<double>(flood_count_) / flood.packets_per_second;
  if (second >= flood.to_second) return {};
  return static_cast<uint64_t>(second * 1e9);
}

template <class Address>
bool Generator::make_flood_of(uint32_t flow, const ServiceConfig& service, uint32_t id,
                              FrameRoom& room) {
  Frame<Address> frame = clients_frame<Address>(flow, service);
  const bool is_syn = flood_kind_ == FloodKind::kSyn;
  frame.tcp_flags = is_syn ? net::tcp::kSyn : net::tcp::kAck;
  frame.sequence = static_cast<uint32_t>(flood_draw_.word());
  frame.acknowledgement = is_syn ? 0 : ~frame.sequence;
  const size_t payload = payload_bytes(frame_bytes_of(0), frame.header_bytes());
  return write(frame, payload, config_.clients.port, flood_identity_, id, room);
}

// From clients that no connection has: their numbers are those behind the connections'.
std::optional<MadeFrame> Generator::make_flood(FrameRoom& room) {
  const auto flow = static_cast<uint32_t>(schedule_.flow_count() + (flood_draw_.word() >> 33));
  const auto id = static_cast<uint32_t>(flood_count_++);
  const ServiceConfig& service = config_.services[service_of(flow)];
  const bool is_made = service.address.is_ipv6()
                           ? make_flood_of<net::Ipv6Address>(flow, service, id, room)
                           : make_flood_of<net::Ipv4Address>(flow, service, id, room);
  if (!is_made) return {};
  ++stats_.arrivals().flood_sent;
  return MadeFrame{config_.clients.port, id, true};
}

void Generator::refuse(const MadeFrame& frame) {
  if (frame.is_flood) {
    --stats_.arrivals().flood_sent;
    return;
  }
  SentPacket* sent = sent_.find(frame.id);
  if (sent == nullptr) return;
  sent->is_on_its_way = 0;
  sent->is_refused = 1;
  ++stats_.counts_of(sent->slice).refused;
}

void Generator::count_lost(const SentPacket& sent) {
  PacketCounts& counts = stats_.counts_of(sent.slice);
  ++(sent.is_clients != 0 ? counts.lost_to_backends : counts.lost_to_clients);
}

bool Generator::is_over(uint64_t now) {
  const auto flood = flood_due();
  return schedule_.is_over() && (!flood || *flood > now);
}

void Generator::finish() {
  sent_.finish([this](const SentPacket& lost) { count_lost(lost); });
}

}  // namespace roost::trafficgen
