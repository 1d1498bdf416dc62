// Definitions of FragmentTable, for the sources that instantiate it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "roost/base/assert.h"
#include "roost/conntrack/fragment_table.h"

namespace roost::conntrack {

namespace detail {

// RFC 791 section 3.2 has receivers wait 15 seconds for what is missing. Reordering is a matter of
// milliseconds.
inline constexpr double kSecondsWithPorts = 15;
inline constexpr double kSecondsWithout = 2;

[[nodiscard]] inline TickCount ticks_of(double seconds, double tick_seconds) {
  const double ticks = std::ceil(seconds / tick_seconds);
  return static_cast<TickCount>(std::clamp(ticks, 1.0, static_cast<double>(kTimeoutTicksMax)));
}

// What all fragments of a datagram have in common. In IPv6 a later fragment need not know the
// protocol (RFC 8200 section 4.5).
template <class Address>
[[nodiscard]] net::FlowKey<Address> datagram_of(const net::Packet& packet,
                                                const net::ParsedPacket& parsed) {
  auto key = net::FlowKey<Address>::from_packet(packet, parsed);
  key.source_port = static_cast<uint16_t>(parsed.fragment.id >> 16);
  key.destination_port = static_cast<uint16_t>(parsed.fragment.id & 0xffff);
  if (net::FlowKey<Address>::kIsIpv6) key.protocol = {};
  return key;
}

}  // namespace detail

template <class Address>
FragmentTable<Address>::FragmentTable(const Config& config, std::unique_ptr<Shared> shared,
                                      Table table)
    : shared_(std::move(shared)),
      table_(std::move(table)),
      datagrams_max_(config.datagrams_max),
      begun_(2 * config.datagrams_max),
      timeout_with_ports_(detail::ticks_of(detail::kSecondsWithPorts, config.tick_seconds)),
      timeout_without_(detail::ticks_of(detail::kSecondsWithout, config.tick_seconds)) {}

template <class Address>
Result<FragmentTable<Address>> FragmentTable<Address>::create(const Config& config) {
  auto shared = std::make_unique<Shared>();
  shared->places.resize(config.places);
  shared->arrivals.resize(config.places, kNotWaiting);
  shared->bytes.resize(size_t{config.places} * kPlaceBytes);
  for (uint16_t i = 0; i < config.places; ++i) {
    shared->places[i].next = i + 1 < config.places ? static_cast<uint16_t>(i + 1) : Datagram::kNone;
  }
  if (config.places == 0) shared->free = Datagram::kNone;
  auto table = Table::create(table_config(config), Forget{shared.get()});
  if (!table) return table.error();
  return FragmentTable(config, std::move(shared), std::move(table).value());
}

template <class Address>
Result<uint64_t> FragmentTable<Address>::bytes_for(const Config& config) {
  Result<uint64_t> table = Table::bytes_for(table_config(config));
  if (!table) return table;
  return table.value() + list_bytes(config.datagrams_max, config.places);
}

template <class Address>
void FragmentTable<Address>::Shared::give_up_waiting(const Datagram& datagram) {
  uint16_t place = datagram.waiting;
  while (place != Datagram::kNone) {
    const uint16_t next = places[place].next;
    arrivals[place] = kNotWaiting;
    give_back(place);
    --waiting_count;
    ++counters.expired;
    place = next;
  }
}

template <class Address>
Datagram* FragmentTable<Address>::find_or_make(const Key& key, bool is_first) {
  if (Datagram* datagram = table_.find(key)) return datagram;
  make_room();
  const Datagram made{.number = next_number_};
  const TickCount timeout = is_first ? timeout_with_ports_ : timeout_without_;
  if (table_.insert(key, made, timeout) == InsertOutcome::kFull) return nullptr;
  begun_[next_number_++ % begun_.size()] = key;
  return table_.find(key);
}

// For one more datagram. Whatever has expired goes first, then the one that began first.
template <class Address>
void FragmentTable<Address>::make_room() {
  if (table_.size() >= datagrams_max_) sweep();
  bool is_full = table_.size() >= datagrams_max_;
  while (oldest_ < next_number_ && (is_full || next_number_ - oldest_ == begun_.size())) {
    const Key key = begun_[oldest_ % begun_.size()];
    const Datagram* datagram = table_.find(key);
    const bool is_known = datagram != nullptr && datagram->number == oldest_;
    ++oldest_;
    if (!is_known) continue;
    forget(key, *datagram);
    is_full = false;
  }
}

// Reclaims all that has expired, once a tick.
template <class Address>
void FragmentTable<Address>::sweep() {
  if (swept_ == table_.now()) return;
  swept_ = table_.now();
  table_.maintain(table_.bucket_count());
}

template <class Address>
void FragmentTable<Address>::forget(const Key& key, const Datagram& datagram) {
  shared_->give_up_waiting(datagram);
  table_.erase(key);
}

template <class Address>
bool FragmentTable<Address>::free_a_place(const Key& key) {
  Shared& shared = *shared_;
  sweep();
  if (shared.free != Datagram::kNone) return true;
  const auto first = std::ranges::min_element(shared.arrivals);
  if (first == shared.arrivals.end() || *first == kNotWaiting) return false;
  const Key oldest = shared.places[static_cast<size_t>(first - shared.arrivals.begin())].datagram;
  if (oldest == key) return false;
  forget(oldest, *table_.find(oldest));
  return true;
}

template <class Address>
std::optional<net::LaneVerdict> FragmentTable<Address>::place(const net::Packet& packet,
                                                              net::ParsedPacket& parsed) {
  const bool is_first = !parsed.fragment.is_later();
  const Key key = detail::datagram_of<Address>(packet, parsed);
  Datagram* datagram = find_or_make(key, is_first);
  if (datagram == nullptr) {
    return is_first ? std::nullopt : std::optional(net::drop(net::DropCause::kFragmentTableFull));
  }
  switch (note_part(*datagram, parsed.fragment)) {
    case PartVerdict::kRepeated:
    case PartVerdict::kBad:
      return net::drop(net::DropCause::kFragmentOverlap);
    case PartVerdict::kTooMany:
      if (!is_first) return net::drop(net::DropCause::kFragmentTableFull);
      break;
    case PartVerdict::kNew:
      break;
  }
  if (is_first) {
    datagram->source_port = parsed.source_port;
    datagram->destination_port = parsed.destination_port;
    datagram->protocol = parsed.protocol;
    datagram->has_ports = true;
    table_.refresh(datagram, timeout_with_ports_);
    release(*datagram);
  } else if (!datagram->has_ports) {
    return wait(key, packet, parsed);
  } else {
    parsed.source_port = datagram->source_port;
    parsed.destination_port = datagram->destination_port;
    parsed.protocol = datagram->protocol;
    ++shared_->counters.followed;
  }
  if (datagram->is_complete()) table_.erase(key);
  return {};
}

template <class Address>
net::LaneVerdict FragmentTable<Address>::wait(const Key& key, const net::Packet& packet,
                                              const net::ParsedPacket& parsed) {
  Shared& shared = *shared_;
  const bool is_kept = packet.total_bytes == packet.contiguous_bytes &&
                       packet.total_bytes <= kPlaceBytes - kHeadroom &&
                       (shared.free != Datagram::kNone || free_a_place(key));
  if (!is_kept) return net::drop(net::DropCause::kFragmentTableFull);
  Datagram& datagram = *table_.find(key);  // making room has moved it, perhaps
  const uint16_t index = shared.free;
  Place& place = shared.places[index];
  shared.free = place.next;
  place = {.next = datagram.waiting,
           .in_port = packet.in_port,
           .bytes = packet.total_bytes,
           .parsed = parsed,
           .datagram = key};
  shared.arrivals[index] = next_arrival_++;
  std::memcpy(&shared.bytes[size_t{index} * kPlaceBytes + kHeadroom], packet.data, place.bytes);
  datagram.waiting = index;
  ++shared.waiting_count;
  ++shared.counters.waited;
  return net::LaneVerdict::consume();
}

// The list goes from the datagram to the released ones, which puts it in the order of arrival.
template <class Address>
void FragmentTable<Address>::release(Datagram& datagram) {
  Shared& shared = *shared_;
  uint16_t index = std::exchange(datagram.waiting, Datagram::kNone);
  while (index != Datagram::kNone) {
    Place& place = shared.places[index];
    place.parsed.source_port = datagram.source_port;
    place.parsed.destination_port = datagram.destination_port;
    place.parsed.protocol = datagram.protocol;
    const uint16_t next = std::exchange(place.next, shared.released);
    shared.released = index;
    shared.arrivals[index] = kNotWaiting;
    index = next;
    --shared.waiting_count;
    ++shared.counters.released;
  }
}

template <class Address>
std::optional<typename FragmentTable<Address>::Waited> FragmentTable<Address>::take_released() {
  Shared& shared = *shared_;
  if (shared.taken != Datagram::kNone) {
    shared.give_back(std::exchange(shared.taken, Datagram::kNone));
  }
  if (shared.released == Datagram::kNone) return {};
  shared.taken = shared.released;
  const Place& place = shared.places[shared.taken];
  shared.released = place.next;
  const net::Packet packet = {.data = &shared.bytes[size_t{shared.taken} * kPlaceBytes + kHeadroom],
                              .contiguous_bytes = place.bytes,
                              .total_bytes = place.bytes,
                              .headroom = kHeadroom,
                              .in_port = place.in_port};
  return Waited{packet, place.parsed};
}

}  // namespace roost::conntrack
