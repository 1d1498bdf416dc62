#include "sim/home_slice.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/memory_system.h"

namespace roost::sim {

namespace {

Replacement slice_replacement(const Parameters& parameters) {
  return parameters.replacement == ReplacementChoice::kLru ? Replacement::kLru
                                                           : Replacement::kTreePlru;
}

constexpr uint32_t bit_of(Tile tile) { return uint32_t{1} << tile; }

// Calls visit(tile) for each bit set.
template <class Visit>
void for_each_tile(uint32_t tiles, Visit&& visit) {
  for (; tiles != 0; tiles &= tiles - 1) visit(static_cast<Tile>(std::countr_zero(tiles)));
}

}  // namespace

HomeSlice::HomeSlice(MemorySystem& memory, Tile tile)
    : memory_(memory),
      tile_(tile),
      slice_bits_(static_cast<uint32_t>(std::countr_zero(memory.parameters().tiles()))),
      llc_(memory.parameters().llc_slice_bytes / kLineBytes / memory.parameters().llc_ways,
           memory.parameters().llc_ways, slice_replacement(memory.parameters())),
      filter_(memory.parameters().llc == LlcPolicy::kInclusive
                  ? 1
                  : memory.parameters().snoop_filter_sets,
              memory.parameters().snoop_filter_ways, slice_replacement(memory.parameters())) {}

bool HomeSlice::is_inclusive() const { return memory_.parameters().llc == LlcPolicy::kInclusive; }

HomeSlice::Transaction* HomeSlice::transaction_of(uint64_t line) {
  const auto found = std::ranges::find(
      transactions_, line, [](const Transaction& transaction) { return transaction.request.line; });
  return found == transactions_.end() ? nullptr : &*found;
}

// --- Requests and their transactions. ---

void HomeSlice::handle(const Event& event) {
  if (event.kind == kSnoopAnswer || event.kind == kDramAnswer || event.kind == kTryAgain) {
    Transaction* transaction = transaction_of(event.argument);
    ROOST_ASSERT(transaction != nullptr);
    if (event.kind == kSnoopAnswer) {
      transaction->has_data = transaction->has_data || (event.index & kHadNoLine) == 0;
      transaction->is_dirty = transaction->is_dirty || (event.index & kWasModified) != 0;
    } else if (event.kind == kDramAnswer) {
      transaction->has_data = true;
    }
    if (event.kind != kTryAgain) --transaction->answers_missing;
    if (transaction->answers_missing == 0) advance(*transaction);
    return;
  }
  constexpr uint32_t kEntered = 1U << 31;  // it has its cycle of the pipeline
  Request request{event.kind & ~kEntered, event.index, event.argument, event.argument};
  if ((event.kind & kEntered) == 0) {
    ++counts_.requests;
    const Cycle enters = pipeline_.take(memory_.now());
    if (enters != memory_.now()) {
      memory_.events().at(enters, {this, event.kind | kEntered, event.index, event.argument});
      return;
    }
  }
  if (request.kind == kSnapshot) request.line = memory_.snapshots()[request.argument].line;
  if (request.kind == kWriteResult)
    request.line = line_of(memory_.results()[request.argument].address);
  if (Transaction* transaction = transaction_of(request.line)) {
    transaction->waiting.push_back(request);
  } else {
    begin(request);
  }
}

void HomeSlice::begin(const Request& request) {
  const Cycle tag_done = memory_.now() + memory_.parameters().llc_tag_cycles;
  switch (request.kind) {
    case kUnlock:
      locks_.unlock(request.line);
      return;
    case kDropMetadata:
      if (Sharing* sharing = sharing_to_change(request.line))
        sharing->accelerators &= static_cast<uint16_t>(~bit_of(request.index));
      forget_if_empty(request.line);
      return;
    case kGetWritable:
      if (locks_.is_locked(request.line)) {
        refuse(request, tag_done);
        return;
      }
      break;
    case kLock:
      locks_.lock(request.line);
      break;
    default:
      break;
  }
  const uint32_t answers = ask(request, tag_done);
  if (answers == 0 && answer(request, {.at = tag_done})) return;
  transactions_.push_back({.request = request, .answers_missing = answers});
  if (answers == 0) memory_.events().at(memory_.now() + 1, {this, kTryAgain, 0, request.line});
}

// All answers that were asked for are there.
void HomeSlice::advance(Transaction& transaction) {
  const Request request = transaction.request;
  if (!transaction.has_data && needs_data(request)) {
    transaction.answers_missing = ask_dram(request, memory_.now());
    return;
  }
  const Found found{memory_.now(), transaction.has_data, transaction.is_dirty};
  if (answer(request, found)) {
    close(request.line);
  } else {
    memory_.events().at(memory_.now() + 1, {this, kTryAgain, 0, request.line});
  }
}

// The next requests of the line go on, up to one that opens a transaction of its own.
void HomeSlice::close(uint64_t line) {
  Transaction* transaction = transaction_of(line);
  const std::vector<Request> waiting = std::move(transaction->waiting);
  *transaction = std::move(transactions_.back());
  transactions_.pop_back();
  for (const Request& request : waiting) {
    if (Transaction* opened = transaction_of(line)) {
      opened->waiting.push_back(request);
    } else {
      begin(request);
    }
  }
}

bool HomeSlice::needs_data(const Request& request) {
  if (in_llc(request.line) != nullptr) return false;
  if (request.kind == kGetWritable)
    return (sharing_of(request.line).cores & bit_of(request.index)) == 0;
  return request.kind != kLock || memory_.parameters().lock_fetches == LocksChoice::kOn;
}

uint32_t HomeSlice::ask(const Request& request, Cycle tag_done) {
  const Sharing sharing = sharing_of(request.line);
  const uint32_t others = sharing.cores & ~(request.is_of_core() ? bit_of(request.index) : 0U);
  if (request.kind == kGetWritable || request.kind == kWriteResult) {
    const uint32_t asked = take_from_all(sharing, others, request.line, tag_done);
    if (asked != 0) return asked;
  } else {
    const uint32_t kind =
        request.kind == kSnapshot ? PrivateCache::kSnoopPeek : PrivateCache::kSnoopShare;
    const bool is_owned = sharing.owner != kNobody && (others >> sharing.owner & 1) != 0;
    if (is_owned || (others != 0 && needs_data(request))) {
      const Tile core =
          is_owned ? static_cast<Tile>(sharing.owner) : static_cast<Tile>(std::countr_zero(others));
      snoop(core, kind, request.line, tag_done);
      return 1;
    }
  }
  return needs_data(request) ? ask_dram(request, tag_done) : 0;
}

uint32_t HomeSlice::take_from_all(const Sharing& sharing, uint32_t cores, uint64_t line,
                                  Cycle tag_done) {
  for_each_tile(cores,
                [&](Tile core) { snoop(core, PrivateCache::kSnoopInvalidate, line, tag_done); });
  for_each_tile(sharing.accelerators, [&](Tile accelerator) {
    ++counts_.snoops;
    memory_.invalidate_metadata(tile_, accelerator, line, tag_done);
  });
  return static_cast<uint32_t>(std::popcount(cores)) +
         static_cast<uint32_t>(std::popcount(uint32_t{sharing.accelerators}));
}

void HomeSlice::snoop(Tile core, uint32_t kind, uint64_t line, Cycle leaves) {
  ++counts_.snoops;
  const Cycle arrives = memory_.mesh().send(leaves, tile_, core);
  memory_.events().at(arrives, {&memory_.cache(core), kind, 0, line});
}

uint32_t HomeSlice::ask_dram(const Request& request, Cycle at) {
  ++counts_.dram_reads;
  if (request.is_of_core()) ++counts_.core_dram_reads;
  memory_.events().at(memory_.dram().read(at, request.line), {this, kDramAnswer, 0, request.line});
  return 1;
}

// --- Answers. ---

void HomeSlice::refuse(const Request& request, Cycle tag_done) {
  ++counts_.refused;
  const Cycle arrives = memory_.mesh().send(tag_done, tile_, request.index);
  memory_.events().at(arrives,
                      {&memory_.cache(request.index), PrivateCache::kRefused, 0, request.line});
}

Cycle HomeSlice::data_at(uint64_t line, const Found& found) {
  if (found.has_data) return found.at;
  LlcEntry* entry = in_llc(line);
  if (entry == nullptr) return found.at;
  ++counts_.llc_hits;
  llc_.touch(entry);
  return found.at + memory_.parameters().llc_data_cycles;
}

void HomeSlice::keep(uint64_t line, bool is_dirty) {
  if (allocate(line, is_dirty) != nullptr) return;
  ++counts_.passed_by;
  if (is_dirty) memory_.dram().write(memory_.now(), line);
}

bool HomeSlice::answer(const Request& request, const Found& found) {
  switch (request.kind) {
    case kGetShared:
    case kGetWritable:
      return answer_core(request, found);
    case kSnapshot:
      answer_snapshot(request, found);
      return true;
    case kWriteResult:
      write_result(request);
      return true;
    default:
      return answer_accelerator(request, found);
  }
}

bool HomeSlice::answer_core(const Request& request, const Found& found) {
  const uint64_t line = request.line;
  const Tile core = request.index;
  if (is_inclusive() && allocate(line, found.is_dirty) == nullptr) return false;
  Sharing* sharing = sharing_to_change(line);
  if (sharing == nullptr) return false;
  const bool is_write = request.kind == kGetWritable;
  const bool had_it = (sharing->cores >> core & 1) != 0;
  const Cycle leaves = is_write && had_it ? found.at : data_at(line, found);
  LineState state = LineState::kModified;
  if (is_write) {
    *sharing = {static_cast<uint16_t>(bit_of(core)), 0, static_cast<int8_t>(core)};
  } else {
    const bool is_shared = (sharing->cores & ~bit_of(core)) != 0 || sharing->accelerators != 0 ||
                           locks_.is_locked(line);
    sharing->cores |= static_cast<uint16_t>(bit_of(core));
    sharing->owner = is_shared ? int8_t{kNobody} : static_cast<int8_t>(core);
    state = is_shared ? LineState::kShared : LineState::kExclusive;
    if (is_shared && found.is_dirty) keep(line, true);
  }
  if (!is_inclusive() && state != LineState::kShared) {
    if (LlcEntry* entry = in_llc(line)) {  // the core has the line for itself
      if (entry->state.is_dirty) state = LineState::kModified;
      llc_.remove(entry);
    }
  }
  memory_.cache(core).grant(line);
  const Cycle arrives = memory_.mesh().send(leaves, tile_, core);
  memory_.events().at(
      arrives + memory_.parameters().mesh_fill_cycles,
      {&memory_.cache(core), PrivateCache::kFill, static_cast<uint32_t>(state), line});
  return true;
}

bool HomeSlice::answer_accelerator(const Request& request, const Found& found) {
  const uint64_t line = request.line;
  const Tile accelerator = request.index >> 16;
  if (request.kind == kReadMetadata) {
    if (is_inclusive() && allocate(line, found.is_dirty) == nullptr) return false;
    Sharing* sharing = sharing_to_change(line);
    if (sharing == nullptr) return false;
    sharing->accelerators |= static_cast<uint16_t>(bit_of(accelerator));
  }
  if (sharing_of(line).owner != kNobody) sharing_to_change(line)->owner = kNobody;
  const Cycle leaves = request.kind == kLock ? found.at : data_at(line, found);
  if (found.has_data) keep(line, found.is_dirty);
  if (request.kind != kLock) {
    memory_.reply_to_accelerator(tile_, accelerator, request.index & 0xFFFF, line, leaves);
  }
  return true;
}

void HomeSlice::answer_snapshot(const Request& request, const Found& found) {
  MemorySystem::Snapshot& snapshot = memory_.snapshots()[request.argument];
  snapshot.bytes = memory_.bytes().read_line(request.line);
  const Cycle leaves = data_at(request.line, found);
  const Cycle arrives = memory_.mesh().send(leaves, tile_, snapshot.core);
  memory_.events().at(arrives + memory_.parameters().mesh_fill_cycles,
                      {snapshot.user, snapshot.kind, static_cast<uint32_t>(request.argument), 0});
}

void HomeSlice::write_result(const Request& request) {
  const MemorySystem::ResultInFlight result = memory_.results().take(request.argument);
  if (!sharing_of(request.line).is_empty()) {
    *sharing_to_change(request.line) = {};
    forget_if_empty(request.line);
  }
  memory_.bytes().write_word(result.address, result.word);
  keep(request.line, true);
}

}  // namespace roost::sim
