#include "sim/software_program.h"

#include <algorithm>
#include <cmath>

#include "roost/base/assert.h"

namespace roost::sim {

namespace {

constexpr uint64_t kPartsOfLookup = 3;
// Lines of the program's own: loads are of the first ones, stores of those behind.
constexpr uint64_t kOwnLinesOffset = kLookupAreaBytes * 3 / 4;
constexpr uint64_t kOwnLines = 8;
constexpr uint32_t kInstructionsOfOp = 8;
// Masked keys, a line each.
constexpr uint64_t kMaskedOffset = kLookupAreaBytes / 2;
// Branches: on the first bucket's candidates, on the second one's or the entry, on what is rare, on
// how many keys a table had.
enum Branch : size_t { kFirstBucket, kSecondBucket, kRare, kFoundKeys };
constexpr uint32_t kKeyPart = 16;

// Takes a part of what is owed; whole numbers.
uint32_t take(double& owed, uint64_t parts) {
  const double part = std::max(0.0, std::floor(owed / static_cast<double>(parts)));
  owed -= part;
  return static_cast<uint32_t>(part);
}

}  // namespace

SoftwareProgram::SoftwareProgram(const LookupTrace& trace, const SoftwareCost& cost,
                                 const LookupShare& share, std::span<const TableMetadata> tables,
                                 const SimulatedMemory& memory, const Parameters& parameters)
    : trace_(trace),
      cost_(cost),
      share_(share),
      tables_(tables),
      memory_(memory),
      parameters_(parameters),
      last_(tables.size()) {
  ROOST_ASSERT(!trace.keys.empty() && trace.keys.size() * tables.size() == trace.words.size());
}

Fetch SoftwareProgram::fetch(Op& op) {
  if (ops_.empty()) {
    if (next_ == share_.count) return Fetch::kEnd;
    write_search();
  }
  op = ops_.front();
  ops_.pop_front();
  return Fetch::kOp;
}

void SoftwareProgram::completed(uint32_t /*tag*/, Cycle /*when*/,
                                std::span<const std::byte> /*bytes*/) {}

// Some keys' search: a call a table, for keys that those before it have not.
void SoftwareProgram::write_search() {
  open_.resize(std::min<uint64_t>(cost_.keys_a_call, share_.count - next_));
  for (uint64_t& number : open_) {
    number = next_++;
    const KeyBytes& key = trace_.keys[share_.trace_index(number, trace_)];
    put_key(ops_, key, tables_[0].key_bytes, share_.key_address(number));
    put_ += key_parts(tables_[0].key_bytes);
  }
  for (table_ = 0; table_ < tables_.size() && !open_.empty(); ++table_) {
    lanes_.clear();
    for (const uint64_t number : open_) add_lane(number);
    parts_left_ = kPartsOfLookup * lanes_.size();
    write_call();
    const auto were_open = open_.size();
    open_.clear();
    for (const Lane& lane : lanes_)
      if (!is_found(lane.path.word)) open_.push_back(lane.number);
    found_ += were_open - open_.size();
    if (table_ + 1 < tables_.size()) end_call(static_cast<uint32_t>(were_open - open_.size()));
  }
}

void SoftwareProgram::add_lane(uint64_t number) {
  Lane& lane = lanes_.emplace_back(Lane{.number = number, .address = share_.key_address(number)});
  const uint64_t index = share_.trace_index(number, trace_);
  lane.path = lookup_path(memory_, table(), trace_.keys[index]);
  const bool is_hit = is_found(lane.path.word);
  wrong_ += is_hit != is_found(trace_.word(index, table_)) ? 1U : 0U;
  const InstructionCounts& counts = is_hit ? cost_.hit : cost_.miss;
  owed_.instructions += counts.instructions;
  owed_.loads += counts.loads;
  owed_.stores += counts.stores;
}

// Whether there are keys for the next table is known when the last one of this is.
void SoftwareProgram::end_call(uint32_t found) {
  put({.stop = foreseen(kFoundKeys, found)}, {lanes_.back().decided});
}

// --- A call, stage by stage. ---

void SoftwareProgram::write_call() {
  if (cost_.keys_a_call == 1) return write_one_by_one(lanes_.front());
  for (Lane& lane : lanes_) begin(lane);
  for (Lane& lane : lanes_) match(lane);
  if (is_own()) {
    for (Lane& lane : lanes_) {
      if (lane.path.looks.size() == 1 || lane.path.looks[0].has_candidate) continue;
      look(lane, 1, FetchStop::kNone);
      if (!lane.path.looks[1].entries.empty())
        ask_for(lane.path.looks[1].entries.front(), lane.searched);
    }
  }
  for (Lane& lane : lanes_) finish(lane);
}

// Key and hash; of a call of many, asks for buckets' lines.
void SoftwareProgram::begin(Lane& lane) {
  if (table().mask) mask_key(lane);
  uint64_t loaded = 0;
  for (uint32_t part = 0; part < table().key_bytes; part += kKeyPart) {
    loaded =
        put({.kind = OpKind::kLoad, .bytes = kKeyPart, .address = lane.address + part}, {loaded});
  }
  lane.hashed = put({.cycles = static_cast<uint16_t>(parameters_.software_hash_cycles)}, {loaded});
  if (cost_.keys_a_call > 1) {
    ask_for(lane.path.looks[0].line, lane.hashed);
    if (!is_own()) ask_for(lane.path.secondary, lane.hashed);
  }
  fill();
}

// Writes the masked key to a line of its own.
void SoftwareProgram::mask_key(Lane& lane) {
  const uint64_t key = lane.address;
  const auto lane_number = static_cast<uint64_t>(&lane - lanes_.data());
  lane.address = share_.area() + kMaskedOffset + lane_number * kLineBytes;
  for (uint32_t part = 0; part < table().key_bytes; part += kKeyPart) {
    const uint64_t loaded =
        put({.kind = OpKind::kLoad, .bytes = kKeyPart, .address = key + part}, {});
    const uint64_t masked = put({}, {loaded});
    put({.kind = OpKind::kStore, .bytes = kKeyPart, .address = lane.address + part}, {masked});
  }
}

void SoftwareProgram::write_one_by_one(Lane& lane) {
  begin(lane);
  for (size_t number = 0; number < lane.path.looks.size(); ++number) {
    const LookupPath::Look& one = lane.path.looks[number];
    look(
        lane, number,
        foreseen(number == 0 ? kFirstBucket : kSecondBucket, one.has_candidate ? one.slot + 1 : 0));
    compare(lane, number, FetchStop::kNone);
  }
  fill();
  fill();
}

// Looks at the first bucket, and asks for what comes next. rte_hash looks at both.
void SoftwareProgram::match(Lane& lane) {
  const auto& looks = lane.path.looks;
  if (is_own()) {
    look(lane, 0, FetchStop::kNone);
  } else {
    const Op bucket{.kind = OpKind::kLoad, .bytes = kLineBytes};
    Op first = bucket;
    first.address = looks[0].line;
    Op second = bucket;
    second.address = lane.path.secondary;
    const uint64_t first_loaded = put(first, {lane.hashed});
    lane.searched = put({.stop = foreseen(kFirstBucket, looks[0].has_candidate ? 1 : 0),
                         .cycles = static_cast<uint16_t>(parameters_.software_search_cycles)},
                        {first_loaded, put(second, {lane.hashed})});
    lane.decided = lane.searched;
  }
  const bool is_first = looks[0].has_candidate || looks.size() == 1;
  const LookupPath::Look& next = looks[is_first ? 0 : 1];
  if (is_own() && !is_first) {
    ask_for(next.line, lane.searched);
  } else if (!next.entries.empty()) {
    ask_for(next.entries.front(), lane.searched);
  }
  fill();
}

// Compares keys. Buckets that no stage has looked at come one by one.
void SoftwareProgram::finish(Lane& lane) {
  const auto& looks = lane.path.looks;
  const size_t looked = !is_own() || (looks.size() > 1 && !looks[0].has_candidate) ? 2 : 1;
  const FetchStop rare = foreseen(kRare, looks.size() > looked ? 1 : 0);
  const FetchStop stop =
      is_own() ? FetchStop::kNone : foreseen(kSecondBucket, looks.size() == 1 ? 1 : 0);
  for (size_t number = 0; number < looks.size(); ++number) {
    if (number >= looked) look(lane, number, rare);
    compare(lane, number, number == 0 ? stop : FetchStop::kNone);
  }
  fill();
}

// --- Operations. ---

void SoftwareProgram::look(Lane& lane, size_t number, FetchStop stop) {
  const uint64_t loaded =
      put({.kind = OpKind::kLoad, .bytes = kLineBytes, .address = lane.path.looks[number].line},
          {lane.hashed});
  lane.searched =
      put({.stop = stop, .cycles = static_cast<uint16_t>(parameters_.software_search_cycles)},
          {loaded});
  lane.decided = lane.searched;
}

void SoftwareProgram::compare(Lane& lane, size_t number, FetchStop stop) {
  const auto bytes = static_cast<uint8_t>(std::min(entry_read_bytes(table()), kLineBytes));
  for (const uint64_t entry : lane.path.looks[number].entries) {
    const uint64_t loaded =
        put({.kind = OpKind::kLoad, .bytes = bytes, .address = entry}, {lane.searched});
    lane.decided =
        put({.stop = stop, .cycles = static_cast<uint16_t>(parameters_.software_compare_cycles)},
            {loaded});
  }
}

void SoftwareProgram::ask_for(uint64_t address, uint64_t after) {
  put({.kind = OpKind::kPrefetch, .address = address}, {after});
}

FetchStop SoftwareProgram::foreseen(size_t branch, uint32_t outcome) {
  uint32_t& last = last_[table_][branch];
  const bool is_foreseen = last == outcome;
  last = outcome;
  return is_foreseen ? FetchStop::kNone : FetchStop::kMispredicted;
}

// A part of the instructions that are owed.
void SoftwareProgram::fill() {
  ROOST_ASSERT(parts_left_ > 0);
  InstructionCounts part = owed_;
  const uint32_t loads = take(part.loads, parts_left_);
  const uint32_t stores = take(part.stores, parts_left_);
  const uint32_t all = std::max(take(part.instructions, parts_left_), loads + stores);
  --parts_left_;
  uint32_t others = all - loads - stores;
  cycles_owed_ += all * parameters_.software_ten_instructions_cycles / 10.0;
  const uint64_t lines = share_.area() + kOwnLinesOffset;
  const uint32_t chunks = (others + kInstructionsOfOp - 1) / kInstructionsOfOp;
  const uint32_t steps = std::max({loads, stores, chunks});
  for (uint32_t step = 0; step < steps; ++step) {
    const uint64_t own = lines + step % kOwnLines * kLineBytes;
    if (step < loads) put({.kind = OpKind::kLoad, .address = own}, {});
    if (step < stores) put({.kind = OpKind::kStore, .address = own + kOwnLines * kLineBytes}, {});
    // Chunks are spread over the steps.
    const uint32_t chunks_left = chunks - step * chunks / steps;
    if (chunks_left == chunks - (step + 1) * chunks / steps) continue;
    const uint32_t now = others / chunks_left;
    others -= now;
    const double cycles = std::floor(cycles_owed_ / chunks_left);
    cycles_owed_ -= cycles;
    filled_ =
        put({.instructions = static_cast<uint16_t>(now), .cycles = static_cast<uint16_t>(cycles)},
            {filled_});
  }
}

// Writes an operation that needs the results of others, by their numbers; 0: of none.
uint64_t SoftwareProgram::put(Op op, std::array<uint64_t, 2> after) {
  set_operands(op, ++put_, after);
  owed_.instructions -= op.instructions;
  owed_.loads -= op.kind == OpKind::kLoad ? 1 : 0;
  owed_.stores -= op.kind == OpKind::kStore ? 1 : 0;
  ops_.push_back(op);
  return put_;
}

}  // namespace roost::sim
