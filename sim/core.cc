#include "sim/core.h"

#include <algorithm>
#include <bit>

#include "sim/core_threads.h"

namespace roost::sim {

namespace {

// How far operations may enter ahead of the current cycle, when nothing unknown stops them.
constexpr Cycle kAheadMax = 2000;

bool is_store_like(OpKind kind) { return kind == OpKind::kStore || kind == OpKind::kLookupNb; }
bool is_load_like(OpKind kind) { return kind != OpKind::kCompute && !is_store_like(kind); }

uint32_t part_of(uint32_t whole, const CoreShare& share) {
  return std::max(whole / share.count, 1U);
}

}  // namespace

Core::Core(MemorySystem& memory, Tile tile, QuerySink* accelerators, Program& program,
           CoreShare share)
    : memory_(memory),
      tile_(tile),
      accelerators_(accelerators),
      program_(program),
      parameters_(memory.parameters()),
      threads_(share.threads),
      window_(part_of(parameters_.core_window, share)),
      load_queue_(part_of(parameters_.core_load_queue, share)),
      store_queue_(part_of(parameters_.core_store_queue, share)),
      ring_(2 * std::bit_ceil(size_t{parameters_.core_window} + parameters_.core_store_queue)),
      enter_slot_(memory.now() * parameters_.core_issue_width),
      leave_slot_(enter_slot_),
      fetch_from_(memory.now()),
      ports_(share.threads == nullptr ? own_ports_ : share.threads->ports()) {
  memory_.events().at(memory_.now(), {this, kContinue, 0, 0});
}

void Core::handle(const Event& event) {
  switch (event.kind) {
    case kContinue:
      continues_later_ = false;
      break;
    case kReady: {
      const Cycle port = ports_.take(memory_.now(), parameters_.core_load_ports);
      if (port != memory_.now()) {
        memory_.events().at(port, {this, kExecute, event.index, 0});
        return;
      }
      execute(ring_[event.index]);
      break;
    }
    case kExecute:
      execute(ring_[event.index]);
      break;
    case kDrain:
      if (event.index == kWanted && threads_ != nullptr) {
        const Cycle turn = threads_->take_drain(memory_.now());
        if (turn != memory_.now()) {
          memory_.events().at(turn, {this, kDrain, kTaken, 0});
          return;
        }
      }
      drain_is_due_ = false;
      drain();
      break;
    case kResult: {
      Entry& entry = ring_[event.index];
      if (entry.op.tag != 0) {
        program_.completed(entry.op.tag, memory_.now(),
                           std::as_bytes(std::span<const uint64_t, 1>(&event.argument, 1)));
      }
      set_done(entry, memory_.now());
      break;
    }
    default: {
      const MemorySystem::Snapshot snapshot = memory_.snapshots().take(event.index);
      Entry& entry = ring_[snapshot.tag];
      if (entry.op.tag != 0) program_.completed(entry.op.tag, memory_.now(), snapshot.bytes);
      set_done(entry, memory_.now());
    }
  }
  go_on();
}

void Core::go_on() {
  leave_all();
  enter_all();
  schedule_drain();
}

// --- Entering. ---

void Core::enter_all() {
  if (threads_ != nullptr) return threads_->take_turns();
  const uint64_t width = parameters_.core_issue_width;
  while (const auto from = may_enter_from()) {
    if (*from > memory_.now() + kAheadMax) {
      if (!continues_later_) memory_.events().at(*from - kAheadMax, {this, kContinue, 0, 0});
      continues_later_ = true;
      return;
    }
    enter_slot_ = std::max(enter_slot_, *from * width) + next_.instructions;
    enter((enter_slot_ - 1) / width);
    leave_all();
  }
}

uint32_t Core::enter_now(uint32_t instructions_max) {
  uint32_t entered = 0;
  while (may_enter_from().value_or(~Cycle{0}) <= memory_.now()) {
    const uint32_t part = std::min(instructions_max - entered, next_.instructions - begun_);
    entered += part;
    begun_ += part;
    if (begun_ < next_.instructions) break;
    begun_ = 0;
    enter(memory_.now());
    leave_all();
  }
  if (entered != 0) schedule_drain();
  return entered;
}

std::optional<Cycle> Core::may_enter_from() {
  if (!fetch_next() || !make_room()) return std::nullopt;
  return std::max(fetch_from_, room_from_);
}

bool Core::fetch_next() {
  if (stopped_by_ != ~uint64_t{0}) {
    const Entry& stop = at(stopped_by_);
    if (!stop.is_done) return false;
    const bool is_penalised = stop.op.stop == FetchStop::kMispredicted;
    fetch_from_ =
        std::max(fetch_from_, stop.done + (is_penalised ? parameters_.core_branch_cycles : 0));
    stopped_by_ = ~uint64_t{0};
  }
  if (has_next_) return true;
  if (has_ended_) return false;
  next_ = Op{};
  const Fetch fetched = program_.fetch(next_);
  has_ended_ = fetched == Fetch::kEnd;
  has_next_ = fetched == Fetch::kOp;
  return has_next_;
}

bool Core::make_room() {
  while (window_used_ != 0 && window_used_ + next_.instructions > window_) {
    const Entry& oldest = at(released_);
    if (!oldest.has_left) return false;
    room_from_ = std::max(room_from_, oldest.leaves);
    window_used_ -= oldest.op.instructions;
    ++released_;
  }
  // The ring has what has not drained; an operation that is not there any more left long ago.
  if (!undrained_.empty() && entered_ - undrained_.front() >= ring_.size()) return false;
  if (is_load_like(next_.kind) && loads_.size() >= load_queue_) {
    const Entry& oldest = at(loads_.front());
    const bool is_there = oldest.sequence == loads_.front();
    if (is_there && !oldest.has_left) return false;
    if (is_there) room_from_ = std::max(room_from_, oldest.leaves);
    loads_.pop_front();
  }
  if (is_store_like(next_.kind) && stores_.size() >= store_queue_) {
    const Entry& oldest = at(stores_.front());
    const bool is_there = oldest.sequence == stores_.front();
    if (is_there && !oldest.has_drained) return false;
    if (is_there) room_from_ = std::max(room_from_, oldest.drains);
    stores_.pop_front();
  }
  return true;
}

void Core::enter(Cycle when) {
  const uint64_t sequence = entered_++;
  Entry& entry = at(sequence);
  entry = Entry{};
  entry.op = next_;
  entry.sequence = sequence;
  has_next_ = false;
  entry.enters = when;
  window_used_ += entry.op.instructions;
  counts_.instructions += entry.op.instructions;
  ++counts_.ops;
  if (is_load_like(entry.op.kind)) loads_.push_back(sequence);
  if (is_store_like(entry.op.kind)) {
    stores_.push_back(sequence);
    undrained_.push_back(sequence);
  }
  const bool is_strict =
      entry.op.kind == OpKind::kLookupB && parameters_.lookup_b == LookupBChoice::kStrict;
  if (entry.op.stop != FetchStop::kNone || is_strict) stopped_by_ = sequence;
  for (size_t operand = 0; operand < entry.op.after.size(); ++operand) link_operand(entry, operand);
  if (entry.operands_missing == 0) operands_done(entry);
}

// What left the ring long ago is done.
void Core::link_operand(Entry& entry, size_t operand) {
  const uint64_t distance = entry.op.after[operand];
  if (distance == 0 || distance > entry.sequence) return;
  Entry& before = at(entry.sequence - distance);
  if (before.sequence != entry.sequence - distance) return;
  if (before.is_done) {
    entry.ready = std::max(entry.ready, before.done);
    return;
  }
  ++entry.operands_missing;
  entry.next_dependent[operand] = before.first_dependent;
  before.first_dependent = place_of(entry) * 2 + static_cast<uint32_t>(operand);
}

void Core::operands_done(Entry& entry) {
  const Cycle when = std::max(entry.enters, entry.ready);
  switch (entry.op.kind) {
    case OpKind::kCompute:
      set_done(entry, when + entry.op.cycles);
      return;
    case OpKind::kStore:
    case OpKind::kLookupNb:
      set_done(entry, when + 1);
      return;
    default:
      memory_.events().at(std::max(when, memory_.now()), {this, kReady, place_of(entry), 0});
  }
}

void Core::set_done(Entry& entry, Cycle when) {
  entry.is_done = true;
  entry.done = when;
  uint32_t next = std::exchange(entry.first_dependent, kNone);
  while (next != kNone) {
    Entry& dependent = ring_[next / 2];
    next = std::exchange(dependent.next_dependent[next % 2], kNone);
    dependent.ready = std::max(dependent.ready, when);
    if (--dependent.operands_missing == 0) operands_done(dependent);
  }
}

void Core::leave_all() {
  const uint64_t width = parameters_.core_issue_width;
  for (; left_ < entered_ && at(left_).is_done; ++left_) {
    Entry& entry = at(left_);
    counts_.stalled += stalled_by(entry);
    leave_slot_ = std::max(leave_slot_ + entry.op.instructions, entry.done * width + 1);
    entry.leaves = (leave_slot_ - 1) / width;
    entry.has_left = true;
    last_cycle_ = std::max(last_cycle_, entry.leaves);
  }
}

// Of the cycles behind those in which the operations before it left.
Cycle Core::stalled_by(const Entry& entry) const {
  const uint64_t width = parameters_.core_issue_width;
  const Cycle from = std::max(entry.missed, (leave_slot_ + width - 1) / width);
  return entry.has_missed && entry.done > from ? entry.done - from : 0;
}

std::string Core::state_in_words() const {
  const std::string name = "core " + std::to_string(tile_);
  if (is_done()) return name + " has ended";
  if (left_ == entered_ && !undrained_.empty()) {
    return name + " waits to write line " +
           std::to_string(line_of(at(undrained_.front()).op.address));
  }
  if (left_ == entered_) return name + " waits for its program";
  const Op& op = at(left_).op;
  const char* what = op.kind == OpKind::kLookupB    ? "a lookup of the key at "
                     : op.kind == OpKind::kSnapshot ? "a snapshot of "
                     : op.kind == OpKind::kLoad     ? "a load from "
                                                    : "operands of an operation at ";
  return name + " waits for " + what + std::to_string(op.address);
}

}  // namespace roost::sim
