#include "sim/accelerator.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace roost::sim {

namespace {

uint32_t parts(uint64_t bytes, uint32_t of) { return static_cast<uint32_t>((bytes + of - 1) / of); }

}  // namespace

Accelerator::Accelerator(const Parameters& parameters)
    : parameters_(parameters),
      has_locks_(parameters.locks == LocksChoice::kOn),
      uses_filter_(parameters.filter == FilterChoice::kOn),
      places_(parameters.accelerator_scoreboard),
      metadata_(parameters.accelerator_metadata_lines),
      flow_bits_(parameters.accelerator_flow_bits) {}

const TableMetadata& Accelerator::table_of(const Place& place) const {
  return *metadata_.metadata(place.metadata_place);
}

uint32_t Accelerator::parts_of(const Place& place) {
  return static_cast<uint32_t>(line_of(place.read_address + place.read_bytes - 1) -
                               line_of(place.read_address) + 1);
}

uint32_t Accelerator::unset_flow_bits() const {
  return static_cast<uint32_t>(std::ranges::count(flow_bits_, false));
}

void Accelerator::tick(const AcceleratorInputs& inputs) {
  unit_taken_.fill(false);
  memory_free_ = !outputs_.memory || inputs.memory_ready;
  lock_free_ = !outputs_.lock || inputs.lock_ready;
  if (memory_free_) outputs_.memory.reset();
  if (lock_free_) outputs_.lock.reset();
  const bool has_room = results_.size() < parameters_.accelerator_result_queue;
  unit_taken_[kResultPort] = !has_room;
  if (outputs_.result && inputs.result_ready) {
    outputs_.result.reset();
    results_.pop_front();
  }
  if (inputs.clear_flows) flow_bits_.assign(flow_bits_.size(), false);
  serve_all();
  take_replies(inputs);
  admit(inputs);
  free_places();
  if (!outputs_.result && !results_.empty()) outputs_.result = results_.front();
  outputs_.query_ready = commands_.size() < parameters_.accelerator_command_queue;
  outputs_.busy = order_.size() == places_.size();
}

// --- Inputs. ---

// A reply finds its place waiting; what is invalidated is not seen by queries from the next cycle
// on.
void Accelerator::take_replies(const AcceleratorInputs& inputs) {
  if (inputs.reply) {
    Place& place = places_[inputs.reply->identifier / 2];
    take_reply(place, inputs.reply->identifier % 2, inputs.reply->bytes);
  }
  if (inputs.invalidate) metadata_.invalidate(address_of(*inputs.invalidate));
}

void Accelerator::take_reply(Place& place, uint32_t part, const LineBytes& bytes) {
  if (place.step == Step::kMetadataWait) {
    if (metadata_.fill(place.metadata_place, bytes)) {
      with_metadata(place);
    } else {
      place.step = Step::kReadMetadata;
    }
    return;
  }
  place.read_lines[part] = bytes;
  place.parts_here |= 1U << part;
  if (std::popcount(place.parts_here) != static_cast<int>(parts_of(place))) return;
  if (place.step == Step::kKeyWait) {
    with_key(place);
  } else if (place.step == Step::kBucketWait) {
    place.bucket_line = place.read_lines[0];
    place.step = Step::kTags;
  } else {
    place.step = Step::kCompare;
  }
}

void Accelerator::admit(const AcceleratorInputs& inputs) {
  // A query that comes is not admitted at once, nor into a place that has just become free.
  if (!commands_.empty() && !outputs_.busy) {
    const auto free = std::ranges::find(places_, Step::kFree, &Place::step);
    ROOST_ASSERT(free != places_.end());
    *free = Place{};
    free->step = Step::kMetadata;
    free->query = commands_.front();
    commands_.pop_front();
    order_.push_back(static_cast<uint32_t>(free - places_.begin()));
    ++counts_.admitted;
  }
  if (inputs.query && outputs_.query_ready) commands_.push_back(*inputs.query);
}

// --- Units. ---

std::optional<Accelerator::Unit> Accelerator::unit_wanted(const Place& place) const {
  switch (place.step) {
    case Step::kMetadata:
      if (place.waits_for_metadata && metadata_.is_being_read(place.metadata_place))
        return std::nullopt;
      return kMetadataUnit;
    case Step::kDropMetadata:
    case Step::kReadMetadata:
    case Step::kKeyRead:
    case Step::kBucketRead:
    case Step::kEntryRead:
      return kMemoryPort;
    case Step::kLockPrimary:
    case Step::kLockSecondary:
    case Step::kLockEntry:
    case Step::kUnlockEntry:
    case Step::kUnlock:
      return kLockPort;
    case Step::kMask:
      return kMaskUnit;
    case Step::kHash:
      return kHashUnit;
    case Step::kTags:
      return table_of(place).format == TableFormat::kInline ? kKeyUnit : kTagUnit;
    case Step::kCandidate:
      return kTagUnit;
    case Step::kCompare:
      return kKeyUnit;
    case Step::kCommit:
      return kResultPort;
    default:
      return std::nullopt;
  }
}

// From being served to having been served.
uint32_t Accelerator::unit_cycles(const Place& place) const {
  const Parameters& p = parameters_;
  switch (place.step) {
    case Step::kMetadata:
      return p.accelerator_metadata_cycles;
    case Step::kMask:
      return p.accelerator_mask_cycles;
    case Step::kHash:
      return parts(table_of(place).padded_bytes, p.accelerator_hash_bytes) - 1 +
             p.accelerator_hash_cycles;
    case Step::kTags:
      if (table_of(place).format != TableFormat::kInline) return p.accelerator_compare_cycles;
      [[fallthrough]];
    case Step::kCompare:
      return parts(table_of(place).key_bytes, p.accelerator_compare_bytes) - 1 +
             p.accelerator_compare_cycles;
    default:
      return 1;
  }
}

void Accelerator::grant_units() {
  if (hash_busy_ > 0) --hash_busy_;
  if (key_busy_ > 0) --key_busy_;
  unit_taken_[kMemoryPort] = !memory_free_;
  unit_taken_[kLockPort] = !lock_free_;
  unit_taken_[kHashUnit] = hash_busy_ > 0;
  unit_taken_[kKeyUnit] = key_busy_ > 0;
  for (const uint32_t index : order_) {
    Place& place = places_[index];
    place.granted.reset();
    if (place.cycles_left > 0) continue;
    const auto unit = unit_wanted(place);
    if (!unit || unit_taken_[*unit]) continue;
    // A line is read only when its lock has been taken.
    if (*unit == kMemoryPort && !lock_free_ && lock_owner_ == index) continue;
    unit_taken_[*unit] = true;
    place.granted = unit;
  }
}

void Accelerator::serve_all() {
  grant_units();
  for (const uint32_t index : order_) {
    Place& place = places_[index];
    if (place.granted) {
      begin_service(index, *place.granted);
    } else if (place.cycles_left > 0 && --place.cycles_left == 0) {
      served(index);
    }
  }
}

void Accelerator::begin_service(uint32_t index, Unit unit) {
  Place& place = places_[index];
  const uint32_t cycles = unit_cycles(place);
  if (unit == kHashUnit)
    hash_busy_ = parts(table_of(place).padded_bytes, parameters_.accelerator_hash_bytes);
  if (unit == kKeyUnit)
    key_busy_ = parts(table_of(place).key_bytes, parameters_.accelerator_compare_bytes);
  place.cycles_left = cycles - 1;
  if (cycles == 1) served(index);
}

void Accelerator::served(uint32_t index) {
  Place& place = places_[index];
  switch (place.step) {
    case Step::kMetadata:
      metadata_found(place);
      return;
    case Step::kMask:
      if (const auto& mask = table_of(place).mask) mask->apply(place.key);
      place.step = Step::kHash;
      return;
    case Step::kHash:
      ++counts_.hashes;
      place.hash = hash_of(table_of(place), place.key).bits;
      with_hash(place);
      return;
    case Step::kTags:
      bucket_compared(place);
      return;
    case Step::kCandidate:
      next_candidate(place);
      return;
    case Step::kCompare:
      entry_compared(place);
      return;
    case Step::kCommit:
      results_.push_back({place.query.token, place.word});
      ++counts_.completed;
      place.step = Step::kUnlock;
      if (place.bucket_locks + place.entry_locks == 0) ended_.push_back(index);
      return;
    case Step::kLockPrimary:
    case Step::kLockSecondary:
    case Step::kLockEntry:
    case Step::kUnlockEntry:
    case Step::kUnlock:
      use_lock_port(index);
      return;
    default:
      use_memory_port(index);
  }
}

void Accelerator::use_memory_port(uint32_t index) {
  Place& place = places_[index];
  AcceleratorOutputs::MemoryRequest request{.identifier = 2 * index};
  if (place.step == Step::kDropMetadata) {
    outputs_.memory = {AcceleratorRead::kDropMetadata, 0, line_of(place.given_up)};
    place.step = Step::kReadMetadata;
    return;
  }
  if (place.step == Step::kReadMetadata) {
    ++counts_.metadata_reads;
    request.read = AcceleratorRead::kMetadata;
    request.line = line_of(place.query.table);
    place.step = Step::kMetadataWait;
  } else {
    ++(place.step == Step::kKeyRead ? counts_.key_reads : counts_.line_reads);
    request.identifier += place.parts_asked;
    request.line = line_of(place.read_address) + place.parts_asked;
    if (++place.parts_asked == parts_of(place)) {
      place.step = place.step == Step::kKeyRead      ? Step::kKeyWait
                   : place.step == Step::kBucketRead ? Step::kBucketWait
                                                     : Step::kEntryWait;
    }
  }
  outputs_.memory = request;
}

void Accelerator::use_lock_port(uint32_t index) {
  Place& place = places_[index];
  lock_owner_ = index;
  const auto lock = [&](uint64_t line, uint32_t& count) {
    ++counts_.locks;
    outputs_.lock = {true, line};
    place.locked[place.bucket_locks + place.entry_locks] = line;
    ++count;
  };
  switch (place.step) {
    case Step::kLockPrimary: {
      lock(line_of(bucket_address(table_of(place), place.places.primary)), place.bucket_locks);
      const bool has_second = place.places.secondary != place.places.primary;
      place.step = has_second && !uses_filter_ ? Step::kLockSecondary : Step::kBucketRead;
      return;
    }
    case Step::kLockSecondary:
      lock(line_of(bucket_address(table_of(place), place.places.secondary)), place.bucket_locks);
      place.step = Step::kBucketRead;
      return;
    case Step::kLockEntry:
      lock(line_of(place.read_address) + place.entry_locks, place.entry_locks);
      if (place.entry_locks == parts_of(place)) place.step = Step::kEntryRead;
      return;
    case Step::kUnlockEntry:
      outputs_.lock = {false, place.locked[place.bucket_locks + --place.entry_locks]};
      if (place.entry_locks == 0) place.step = Step::kCandidate;
      return;
    default: {
      uint32_t& count = place.entry_locks > 0 ? place.entry_locks : place.bucket_locks;
      outputs_.lock = {false, place.locked[place.bucket_locks + place.entry_locks - 1]};
      --count;
      if (place.bucket_locks == 0) ended_.push_back(index);
    }
  }
}

}  // namespace roost::sim
