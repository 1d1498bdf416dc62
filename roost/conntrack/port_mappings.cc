#include "roost/conntrack/port_mappings.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "roost/base/assert.h"
#include "roost/hash/keyed_hash.h"
#include "roost/hash/random_seed.h"
#include "roost/net/headers.h"

namespace roost::conntrack {

namespace {

constexpr std::array kMappedProtocols = {net::IpProtocol::kTcp, net::IpProtocol::kUdp,
                                         net::kProtocolIcmp4};

size_t addresses_of(size_t count, size_t worker, size_t worker_count) {
  return count > worker ? (count - worker - 1) / worker_count + 1 : 0;
}

}  // namespace

size_t PortMappings::protocol_index(net::IpProtocol protocol) {
  static_assert(kMappedProtocols.size() == kProtocols);
  const auto place = std::ranges::find(kMappedProtocols, protocol);
  ROOST_DEBUG_ASSERT(place != kMappedProtocols.end());
  return static_cast<size_t>(place - kMappedProtocols.begin());
}

Result<PortMappings> PortMappings::create(const Config& config) {
  ROOST_ASSERT(config.first_port > 0 && config.first_port <= config.last_port);
  const size_t own = addresses_of(config.address_count, config.worker, config.worker_count);
  const uint64_t ports = uint64_t{config.last_port} - config.first_port + 1;
  const uint64_t mapped = std::min(config.mappings_max, own * kProtocols * ports);
  const uint64_t entries = std::max<uint64_t>(16, mapped + config.static_max);
  const TableConfig table{.entries_max = entries, .hash_seed = config.hash_seed};
  auto ends = Ends::create(table);
  if (!ends) return ends.error();
  auto hosts = Hosts::create(table);
  if (!hosts) return hosts.error();
  return PortMappings(config, std::move(ends).value(), std::move(hosts).value());
}

PortMappings::PortMappings(const Config& config, Ends ends, Hosts hosts)
    : config_(config),
      own_count_(addresses_of(config.address_count, config.worker, config.worker_count)),
      slots_(own_count_ * kProtocols * kPorts),
      queues_(own_count_ * kProtocols),
      ends_(std::move(ends)),
      hosts_(std::move(hosts)) {
  fill_queues(config.hash_seed.value_or(random_seed()));
}

// Another order for each protocol and address: nobody outside can tell what comes next.
void PortMappings::fill_queues(uint64_t seed) {
  const KeyedHash hash(seed);
  std::vector<uint16_t> ports(size_t{config_.last_port} - config_.first_port + 1);
  std::iota(ports.begin(), ports.end(), config_.first_port);
  uint64_t drawn = config_.worker << 48;
  for (size_t block = 0; block < queues_.size(); ++block) {
    for (size_t i = ports.size(); i > 1; --i) {
      ++drawn;
      std::swap(ports[i - 1], ports[hash.hash<sizeof drawn>(&drawn).bits % i]);
    }
    for (const uint16_t port : ports) queue_port(block, port);
  }
}

void PortMappings::queue_port(size_t block, uint16_t port) {
  Slot* const slots = &slots_[block * kPorts];
  if (slots[port].is_queued != 0) return;  // since before it was reserved
  slots[port].is_queued = 1;
  slots[port].next = 0;
  Queue& queue = queues_[block][port % 2];
  if (queue.first == 0) {
    queue.first = port;
  } else {
    slots[queue.last].next = port;
  }
  queue.last = port;
}

uint16_t PortMappings::take_from(size_t block, bool is_odd) {
  Slot* const slots = &slots_[block * kPorts];
  Queue& queue = queues_[block][is_odd ? 1 : 0];
  while (queue.first != 0) {
    const uint16_t port = queue.first;
    queue.first = slots[port].next;
    slots[port].is_queued = 0;
    if (slots[port].is_free()) return port;
  }
  return 0;
}

uint16_t PortMappings::take_port(size_t block, bool is_odd) {
  const uint16_t port = take_from(block, is_odd);
  return port != 0 ? port : take_from(block, !is_odd);
}

// False: the host has as many as it may.
bool PortMappings::count_up(const net::Ipv4Address& host) {
  const InsideKey key{.address = host};
  uint32_t* const count = hosts_.find(key);
  if (count == nullptr) return hosts_.insert(key, 1) != InsertOutcome::kFull;
  if (config_.ports_per_host != 0 && *count >= config_.ports_per_host) return false;
  ++*count;
  return true;
}

void PortMappings::count_down(const net::Ipv4Address& host) {
  const InsideKey key{.address = host};
  uint32_t* const count = hosts_.find(key);
  ROOST_ASSERT(count != nullptr);
  if (--*count == 0) hosts_.erase(key);
}

PortMappings::Mapped PortMappings::map(net::IpProtocol protocol, const Endpoint& inside,
                                       size_t address) {
  const InsideKey key{inside.address, inside.port, protocol};
  if (const BoundPort* const bound = ends_.find(key)) {
    ++slot(protocol, *bound).holders;
    return {MapOutcome::kMapped, *bound};
  }
  if (!count_up(inside.address)) {
    ++counters_.refused_by_limit;
    return {MapOutcome::kHostLimit};
  }
  const uint16_t port = take_port(block(protocol, address), inside.port % 2 != 0);
  if (port == 0) {
    count_down(inside.address);
    ++counters_.refused_no_port;
    return {MapOutcome::kNoPort};
  }
  const BoundPort bound{static_cast<uint16_t>(address), port};
  if (ends_.insert(key, bound) == InsertOutcome::kFull) {
    count_down(inside.address);
    queue_port(block(protocol, address), port);
    ++counters_.refused_no_port;
    return {MapOutcome::kNoPort};
  }
  Slot& at = slot(protocol, bound);
  at.inside = inside.address;
  at.inside_port = inside.port;
  at.holders = 1;
  ++counters_.created;
  return {MapOutcome::kMapped, bound};
}

void PortMappings::release(net::IpProtocol protocol, BoundPort bound) {
  Slot& at = slot(protocol, bound);
  ROOST_ASSERT(at.holders != 0);
  --at.holders;
  if (at.is_taken()) return;
  count_down(at.inside);
  ++counters_.over;
  free_slot(protocol, bound);
}

// The table may lead to a static mapping of the same endpoint by now.
void PortMappings::free_slot(net::IpProtocol protocol, BoundPort bound) {
  const Slot& at = slot(protocol, bound);
  const InsideKey key{at.inside, at.inside_port, protocol};
  const BoundPort* const leads_to = ends_.find(key);
  if (leads_to != nullptr && leads_to->address == bound.address && leads_to->port == bound.port) {
    ends_.erase(key);
  }
  if (is_in_pool(bound.port)) queue_port(block(protocol, bound.address), bound.port);
}

bool PortMappings::reserve(net::IpProtocol protocol, BoundPort bound) {
  Slot& at = slot(protocol, bound);
  if (!at.is_free()) return false;
  at.is_reserved = 1;
  return true;
}

void PortMappings::cancel(net::IpProtocol protocol, BoundPort bound) {
  slot(protocol, bound).is_reserved = 0;
  if (is_in_pool(bound.port)) queue_port(block(protocol, bound.address), bound.port);
}

void PortMappings::add_static(net::IpProtocol protocol, BoundPort bound, const Endpoint& inside) {
  Slot& at = slot(protocol, bound);
  ROOST_ASSERT(at.is_reserved != 0);
  at.is_reserved = 0;
  at.is_static = 1;
  at.inside = inside.address;
  at.inside_port = inside.port;
  const InsertOutcome outcome = ends_.insert({inside.address, inside.port, protocol}, bound);
  ROOST_ASSERT(outcome != InsertOutcome::kFull);
}

// One that connections still have counts as theirs from now on, as if they had made it.
void PortMappings::remove_static(net::IpProtocol protocol, BoundPort bound) {
  Slot& at = slot(protocol, bound);
  ROOST_ASSERT(at.is_static != 0);
  at.is_static = 0;
  if (!at.is_taken()) return free_slot(protocol, bound);
  ++counters_.created;
  const InsideKey host{.address = at.inside};
  uint32_t* const count = hosts_.find(host);
  if (count != nullptr) {
    ++*count;
  } else {
    const InsertOutcome outcome = hosts_.insert(host, 1);
    ROOST_ASSERT(outcome != InsertOutcome::kFull);
  }
}

PortMappings::Row PortMappings::row_at(uint64_t place) const {
  const uint64_t block = place / kPorts;
  const uint64_t address = block % own_count_ * config_.worker_count + config_.worker;
  const Slot& at = slots_[place];
  return {.protocol = kMappedProtocols[block / own_count_],
          .inside = {at.inside, at.inside_port},
          .bound = {static_cast<uint16_t>(address), static_cast<uint16_t>(place % kPorts)},
          .holders = at.holders,
          .is_static = at.is_static != 0};
}

// Each queued port stands there once, and its slot says so.
bool PortMappings::audit_queue(size_t block, bool is_odd) const {
  const Slot* const slots = &slots_[block * kPorts];
  std::vector<bool> is_seen(kPorts);
  uint16_t last = 0;
  for (uint16_t port = queues_[block][is_odd ? 1 : 0].first; port != 0; port = slots[port].next) {
    if (is_seen[port] || slots[port].is_queued == 0 || (port % 2 != 0) != is_odd) return false;
    is_seen[port] = true;
    last = port;
  }
  if (last != 0 && queues_[block][is_odd ? 1 : 0].last != last) return false;
  for (uint32_t port = config_.first_port; port <= config_.last_port; ++port) {
    if ((port % 2 != 0) != is_odd) continue;
    if (slots[port].is_free() && !is_seen[port]) return false;
    if ((slots[port].is_queued != 0) != is_seen[port]) return false;
  }
  return true;
}

bool PortMappings::audit() {
  if (ends_.audit() || hosts_.audit()) return false;
  uint64_t live = 0;
  bool is_right = true;
  uint64_t place = 0;
  walk(place, slots_.size(), [&](const Row& row) {
    if (!row.is_static) ++live;
    const BoundPort* const leads_to =
        ends_.find(InsideKey{row.inside.address, row.inside.port, row.protocol});
    const bool is_own = leads_to != nullptr && leads_to->address == row.bound.address &&
                        leads_to->port == row.bound.port;
    is_right = is_right &&
               (is_own || (leads_to == nullptr ? !row.is_static
                                               : inside_of(row.protocol, *leads_to) == row.inside));
  });
  for (size_t block = 0; block < queues_.size(); ++block) {
    is_right = is_right && audit_queue(block, false) && audit_queue(block, true);
  }
  return is_right && live == live_count();
}

}  // namespace roost::conntrack
