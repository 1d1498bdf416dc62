#include "sim/lookup_program.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "roost/base/assert.h"
#include "sim/simulated_memory.h"

namespace roost::sim {

namespace {

// Keys that are asked for together have lines of their own, and so have their words.
constexpr uint32_t kBatchesInFlightMax = 8;
constexpr uint64_t kResultsOffset = kLookupAreaBytes / 2;
static_assert(kBatchesInFlightMax * kTablesMax * 8 <= kLookupAreaBytes - kResultsOffset,
              "a batch has a line, or one key's words");
static_assert(uint64_t{kBatchesInFlightMax} * LookupProgram::kLanes <= LookupShare::kKeyLines);
// Tags: of a snapshot, from here on the line's number in its batch; of LOOKUP_B, the number of the
// lookup, as far as it has room.
constexpr uint32_t kSnapshotTag = 1U << 31;
constexpr uint64_t kTags = kSnapshotTag - 1;

}  // namespace

void put_key(std::deque<Op>& ops, const KeyBytes& key, uint32_t key_bytes, uint64_t address) {
  for (uint32_t part = 0; part < key_bytes; part += 16) {
    Op op{.kind = OpKind::kStore, .bytes = 16, .address = address + part};
    std::memcpy(op.data.data(), key.data() + part, 16);
    ops.push_back(op);
  }
}

std::optional<size_t> LookupTrace::table_with(uint64_t key) const {
  const auto of_key = words.subspan(key * tables(), tables());
  const auto found = std::ranges::find_if(of_key, is_found);
  if (found == of_key.end()) return std::nullopt;
  return static_cast<size_t>(found - of_key.begin());
}

LookupProgram::LookupProgram(const LookupTrace& trace, LookupWay way, const LookupShare& share,
                             std::span<const uint64_t> tables, uint8_t key_bytes)
    : trace_(trace),
      way_(way),
      share_(share),
      tables_(tables.begin(), tables.end()),
      key_bytes_(key_bytes),
      keys_of_batch_(std::max<uint64_t>(kLanes / tables.size(), 1)),
      found_last_(tables.size()) {
  ROOST_ASSERT(tables.size() <= kTablesMax);
  ROOST_ASSERT(!trace.keys.empty() && trace.keys.size() * tables.size() == trace.words.size());
  ROOST_ASSERT(way.batches_in_flight >= 1 && way.batches_in_flight <= kBatchesInFlightMax);
}

Fetch LookupProgram::fetch(Op& op) {
  if (ops_.empty()) {
    const bool has_keys = next_ < share_.count;
    if (way_.is_blocking) {
      if (!has_keys) return Fetch::kEnd;
      ask_one();
    } else if (has_keys && batches_.size() < way_.batches_in_flight) {
      ask_batch();
    } else if (batches_.empty()) {
      return Fetch::kEnd;
    } else {
      if (snapshots_ != 0) return Fetch::kNotYet;
      watch_batch();
    }
  }
  op = ops_.front();
  ops_.pop_front();
  return Fetch::kOp;
}

void LookupProgram::completed(uint32_t tag, Cycle /*when*/, std::span<const std::byte> bytes) {
  if (tag < kSnapshotTag) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof(word));
    const uint64_t number = (tag - 1) / tables_.size();
    const size_t table = (tag - 1) % tables_.size();
    check(number, table, word);
    const auto last = trace_.table_with(share_.trace_index(number, trace_));
    if (table != last.value_or(tables_.size() - 1)) return;
    ++answered_;
    if (is_found(word)) ++found_;
    return;
  }
  std::vector<uint64_t>& words = batches_.front().words;
  const size_t first = size_t{tag - kSnapshotTag} * kLanes;
  std::memcpy(&words[first], bytes.data(),
              std::min<size_t>(words.size() - first, kLanes) * sizeof(uint64_t));
  if (--snapshots_ == 0 && std::ranges::count(words, kPendingWord) == 0) end_batch();
}

void LookupProgram::put_key_of(uint64_t number) {
  put_key(ops_, trace_.keys[share_.trace_index(number, trace_)], key_bytes_,
          share_.key_address(number));
}

void LookupProgram::ask_one() {
  put_key_of(next_);
  const auto found = trace_.table_with(share_.trace_index(next_, trace_));
  const size_t last = found.value_or(tables_.size() - 1);
  for (size_t table = 0; table <= last; ++table) {
    const bool has_key = table == found;
    // Behind the last table there is nothing to decide.
    const bool is_foreseen = found_last_[table] == has_key || table + 1 == tables_.size();
    found_last_[table] = has_key;
    ops_.push_back({.kind = OpKind::kLookupB,
                    .stop = is_foreseen ? FetchStop::kNone : FetchStop::kMispredicted,
                    .bytes = key_bytes_,
                    .address = share_.key_address(next_),
                    .table = tables_[table],
                    .tag = static_cast<uint32_t>((next_ * tables_.size() + table) % kTags) + 1});
  }
  ++next_;
}

void LookupProgram::ask_batch() {
  const uint64_t keys = std::min(keys_of_batch_, share_.count - next_);
  const uint64_t place = batches_asked_++ % way_.batches_in_flight;
  Batch batch{.first = next_, .words = std::vector<uint64_t>(keys * tables_.size(), kPendingWord)};
  batch.line = share_.area() + kResultsOffset +
               place * lines_of(keys_of_batch_ * tables_.size()) * kLineBytes;
  for (uint64_t line = 0; line < lines_of(batch.words.size()); ++line)
    ops_.push_back(
        {.kind = OpKind::kStore, .bytes = kLineBytes, .address = batch.line + line * kLineBytes});
  for (uint64_t key = 0; key < keys; ++key) put_key_of(next_ + key);
  for (uint64_t i = 0; i < batch.words.size(); ++i) {
    ops_.push_back({.kind = OpKind::kLookupNb,
                    .bytes = key_bytes_,
                    .address = share_.key_address(next_ + i / tables_.size()),
                    .table = tables_[i % tables_.size()],
                    .result = batch.line + 8 * i});
  }
  next_ += keys;
  batches_.push_back(std::move(batch));
}

void LookupProgram::watch_batch() {
  const Batch& batch = batches_.front();
  for (uint32_t line = 0; line < lines_of(batch.words.size()); ++line) {
    const auto words = std::span(batch.words).subspan(size_t{line} * kLanes);
    if (std::ranges::count(words.first(std::min<size_t>(words.size(), kLanes)), kPendingWord) == 0)
      continue;
    ++snapshots_;
    ops_.push_back({.kind = OpKind::kSnapshot,
                    .bytes = kLineBytes,
                    .address = batch.line + line * kLineBytes,
                    .tag = kSnapshotTag + line});
  }
}

void LookupProgram::end_batch() {
  const Batch& batch = batches_.front();
  for (size_t first = 0; first < batch.words.size(); first += tables_.size()) {
    const auto words = std::span(batch.words).subspan(first, tables_.size());
    for (size_t table = 0; table < words.size(); ++table)
      check(batch.first + first / tables_.size(), table, words[table]);
    ++answered_;
    if (std::ranges::any_of(words, is_found)) ++found_;
  }
  batches_.pop_front();
}

void LookupProgram::check(uint64_t number, size_t table, uint64_t word) {
  if (word != trace_.word(share_.trace_index(number, trace_), table)) ++wrong_;
}

}  // namespace roost::sim
