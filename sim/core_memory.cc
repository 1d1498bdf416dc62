// What a core's operations do with memory and accelerators.
#include <algorithm>
#include <ranges>

#include "sim/core.h"

namespace roost::sim {

namespace {

bool overlap(const Op& a, const Op& b) {
  return a.address < b.address + b.bytes && b.address < a.address + a.bytes;
}

bool covers(const Op& store, const Op& load) {
  return store.address <= load.address && load.address + load.bytes <= store.address + store.bytes;
}

// The byte that a store writes at an address.
std::byte byte_at(const Op& store, uint64_t address) {
  const uint64_t offset = (address - store.address) % sizeof(store.data);
  return static_cast<std::byte>(store.data[offset / 8] >> (8 * (offset % 8)));
}

}  // namespace

// --- What is done when it is executed. ---

void Core::execute(Entry& entry) {
  if (entry.op.kind == OpKind::kPrefetch) {
    (void)memory_.cache(tile_).access(line_of(entry.op.address), Wanted::kRead, &nobody_, 0);
    set_done(entry, memory_.now() + 1);
    return;
  }
  if (waits_for_store(entry)) return;
  switch (entry.op.kind) {
    case OpKind::kLoad:
      ++counts_.loads;
      access_lines(entry);
      return;
    case OpKind::kLookupB:
      ++counts_.lookups;
      if (parameters_.key == KeyChoice::kCommand) {
        access_lines(entry);
      } else {
        send_query(entry, memory_.now());
      }
      return;
    default:
      ++counts_.snapshots;
      take_snapshot(entry);
  }
}

// The youngest store before a load that writes some of its bytes and has not drained.
Core::Entry* Core::store_before(const Entry& entry) {
  for (const auto sequence : std::views::reverse(undrained_)) {
    Entry& store = at(sequence);
    if (sequence < entry.sequence && store.op.kind == OpKind::kStore && overlap(store.op, entry.op))
      return &store;
  }
  return nullptr;
}

// Whether a load takes its bytes from a store before it, or has to wait for one.
bool Core::waits_for_store(Entry& entry) {
  Entry* store = store_before(entry);
  if (store == nullptr) return false;
  const bool may_forward =
      entry.op.kind == OpKind::kLoad ||
      (entry.op.kind == OpKind::kLookupB && parameters_.key == KeyChoice::kCommand);
  if (!may_forward || !covers(store->op, entry.op)) {
    blocked_.push_back(entry.sequence);
  } else if (store->is_done) {
    ++counts_.forwarded;
    ++(entry.op.kind == OpKind::kLoad ? counts_.loads : counts_.lookups);
    loaded(entry, std::max(memory_.now(), store->done) + parameters_.core_forward_cycles);
  } else {
    ++entry.operands_missing;
    entry.next_dependent[0] = store->first_dependent;
    store->first_dependent = place_of(entry) * 2;
  }
  return true;
}

void Core::access_lines(Entry& entry) {
  const uint64_t last = line_of(entry.op.address + entry.op.bytes - 1);
  PrivateCache& cache = memory_.cache(tile_);
  const uint64_t near_before = cache.counts().l1_hits;
  Cycle cycles = 0;
  entry.lines_missing = 0;
  for (uint64_t line = line_of(entry.op.address); line <= last; ++line) {
    const auto hit = cache.access(line, Wanted::kRead, this, place_of(entry));
    cycles = std::max(cycles, hit.value_or(0));
    entry.lines_missing = static_cast<uint8_t>(entry.lines_missing + (hit ? 0 : 1));
  }
  const uint64_t lines = last + 1 - line_of(entry.op.address);
  if (entry.op.kind == OpKind::kLoad && cache.counts().l1_hits - near_before != lines)
    ++counts_.l1d_misses;
  entry.ready = memory_.now() + cycles;
  if (entry.lines_missing == 0) {
    loaded(entry, entry.ready);
  } else if (entry.op.kind == OpKind::kLoad) {
    entry.has_missed = true;
    entry.missed = memory_.now();
  }
}

void Core::line_ready(uint32_t tag) {
  Entry& entry = ring_[tag];
  if (entry.op.kind == OpKind::kStore) {
    waits_for_line_ = false;
    drain_rest(entry);
  } else if (--entry.lines_missing == 0) {
    loaded(entry, std::max(entry.ready, memory_.now()));
  }
  go_on();
}

void Core::loaded(Entry& entry, Cycle when) {
  if (entry.op.kind == OpKind::kLookupB) {
    send_query(entry, when);
    return;
  }
  give_bytes(entry, when);
  set_done(entry, when);
}

void Core::read_bytes(const Entry& entry, std::span<std::byte> to) const {
  memory_.bytes().read(entry.op.address, to);
  for (const uint64_t sequence : undrained_) {
    const Op& store = at(sequence).op;
    if (sequence >= entry.sequence) break;
    if (store.kind != OpKind::kStore) continue;
    const uint64_t end = std::min(store.address + store.bytes, entry.op.address + to.size());
    for (uint64_t i = std::max(store.address, entry.op.address); i < end; ++i)
      to[i - entry.op.address] = byte_at(store, i);
  }
}

void Core::give_bytes(const Entry& entry, Cycle when) {
  if (entry.op.tag == 0) return;
  LineBytes bytes;
  const auto read = std::span(bytes).first(entry.op.bytes);
  read_bytes(entry, read);
  program_.completed(entry.op.tag, when, read);
}

void Core::send_query(const Entry& entry, Cycle leaves) {
  ROOST_ASSERT(accelerators_ != nullptr);
  Query query{.core = tile_,
              .is_blocking = entry.op.kind == OpKind::kLookupB,
              .waiter = place_of(entry),
              .table = entry.op.table,
              .key_address = entry.op.address,
              .result_address = entry.op.result};
  if (parameters_.key == KeyChoice::kCommand || parameters_.hash == HashChoice::kCommand)
    read_bytes(entry, std::span(query.key).first(entry.op.bytes));
  query.has_key = parameters_.key == KeyChoice::kCommand;
  query.key_bytes = query.has_key ? entry.op.bytes : uint8_t{0};
  if (parameters_.hash == HashChoice::kCommand) accelerators_->add_hash(query);
  accelerators_->send(query, leaves, this, kResult);
}

void Core::take_snapshot(Entry& entry) {
  const uint64_t line = line_of(entry.op.address);
  if (const auto cycles = memory_.cache(tile_).look(line)) {
    if (entry.op.tag != 0) {
      program_.completed(entry.op.tag, memory_.now() + *cycles, memory_.bytes().read_line(line));
    }
    set_done(entry, memory_.now() + *cycles);
    return;
  }
  const uint32_t number =
      memory_.snapshots().put({this, kSnapshotReply, place_of(entry), tile_, line, LineBytes{}});
  const Cycle leaves = memory_.now() + parameters_.l2_hit_cycles + parameters_.mesh_request_cycles;
  const Tile home = memory_.slice_of(line);
  memory_.events().at(memory_.mesh().send(leaves, tile_, home),
                      {&memory_.home(home), HomeSlice::kSnapshot, 0, number});
}

// --- What is done after it has left. ---

void Core::schedule_drain() {
  if (drain_is_due_ || waits_for_line_ || undrained_.empty()) return;
  const Entry& first = at(undrained_.front());
  if (!first.has_left) return;
  drain_is_due_ = true;
  memory_.events().at(std::max({memory_.now(), first.leaves, drain_at_}),
                      {this, kDrain, kWanted, 0});
}

void Core::drain() {
  Entry& entry = at(undrained_.front());
  if (entry.op.kind == OpKind::kLookupNb) {
    ++counts_.lookups;
    send_query(entry, memory_.now());
    drained(entry, 1);
    return;
  }
  ++counts_.stores;
  const uint64_t first = line_of(entry.op.address);
  entry.lines_missing =
      static_cast<uint8_t>(line_of(entry.op.address + entry.op.bytes - 1) - first + 1);
  const auto hit = memory_.cache(tile_).access(first, Wanted::kWrite, this, place_of(entry));
  if (hit) {
    entry.ready = memory_.now() + *hit;
    drain_rest(entry);
    return;
  }
  waits_for_line_ = true;
  for (const uint64_t sequence : undrained_) {
    const Entry& store = at(sequence);
    if (!store.has_left || store.leaves > memory_.now()) break;
    if (store.op.kind == OpKind::kStore && sequence != entry.sequence)
      memory_.cache(tile_).prefetch_to_write(line_of(store.op.address));
  }
}

// The line of a store that drains may be written; writes it, and goes on to its next one.
void Core::drain_rest(Entry& entry) {
  const Op& op = entry.op;
  for (;;) {
    const uint64_t last = line_of(op.address + op.bytes - 1);
    const uint64_t line = last + 1 - entry.lines_missing;
    const uint64_t begin = std::max(op.address, address_of(line));
    const uint64_t end = std::min(op.address + op.bytes, address_of(line + 1));
    LineBytes bytes;
    for (uint64_t i = begin; i < end; ++i) bytes[i - begin] = byte_at(op, i);
    memory_.bytes().write(begin, std::span(bytes).first(end - begin));
    if (--entry.lines_missing == 0) break;
    const auto hit = memory_.cache(tile_).access(line + 1, Wanted::kWrite, this, place_of(entry));
    if (!hit) {
      waits_for_line_ = true;
      return;
    }
  }
  drained(entry, entry.ready > memory_.now() ? entry.ready - memory_.now() : 1);
}

void Core::drained(Entry& entry, Cycle cycles) {
  entry.has_drained = true;
  entry.drains = memory_.now();
  last_cycle_ = std::max(last_cycle_, memory_.now());
  drain_at_ = memory_.now() + cycles;
  undrained_.pop_front();
  for (const uint64_t sequence : blocked_)
    memory_.events().at(memory_.now() + 1, {this, kReady, place_of(at(sequence)), 0});
  blocked_.clear();
}

}  // namespace roost::sim
