#include "sim/lookup_program.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "roost/base/assert.h"
#include "sim/simulated_memory.h"

namespace roost::sim {

namespace {

// Keys that are asked for together have lines of their own, and so have their words.
constexpr uint32_t kLinesInFlightMax = 8;
constexpr uint64_t kResultsOffset = kLookupAreaBytes / 2;
constexpr uint32_t kSnapshotTag = ~0U;
// Tags of LOOKUP_B: the key's number, as far as it has room.
constexpr uint64_t kTags = uint64_t{1} << 31;

}  // namespace

void put_key(std::deque<Op>& ops, const KeyBytes& key, uint32_t key_bytes, uint64_t address) {
  for (uint32_t part = 0; part < key_bytes; part += 16) {
    Op op{.kind = OpKind::kStore, .bytes = 16, .address = address + part};
    std::memcpy(op.data.data(), key.data() + part, 16);
    ops.push_back(op);
  }
}

LookupProgram::LookupProgram(const LookupTrace& trace, LookupWay way, const LookupShare& share,
                             uint64_t table, uint8_t key_bytes)
    : trace_(trace), way_(way), share_(share), table_(table), key_bytes_(key_bytes) {
  ROOST_ASSERT(!trace.keys.empty() && trace.keys.size() == trace.words.size());
  ROOST_ASSERT(way.lines_in_flight >= 1 && way.lines_in_flight <= kLinesInFlightMax);
}

Fetch LookupProgram::fetch(Op& op) {
  if (ops_.empty()) {
    const bool has_keys = next_ < share_.count;
    if (way_.is_blocking) {
      if (!has_keys) return Fetch::kEnd;
      ask_one();
    } else if (has_keys && batches_.size() < way_.lines_in_flight) {
      ask_line();
    } else if (batches_.empty()) {
      return Fetch::kEnd;
    } else {
      if (is_watched_) return Fetch::kNotYet;
      is_watched_ = true;
      ops_.push_back({.kind = OpKind::kSnapshot,
                      .bytes = kLineBytes,
                      .address = batches_.front().line,
                      .tag = kSnapshotTag});
    }
  }
  op = ops_.front();
  ops_.pop_front();
  return Fetch::kOp;
}

void LookupProgram::completed(uint32_t tag, Cycle /*when*/, std::span<const std::byte> bytes) {
  std::array<uint64_t, kLanes> words{};
  std::memcpy(words.data(), bytes.data(), std::min(bytes.size(), sizeof(words)));
  if (tag != kSnapshotTag) {
    check(tag - 1, words[0]);
    return;
  }
  is_watched_ = false;
  const Batch& batch = batches_.front();
  if (std::ranges::count(std::span(words).first(batch.count), kPendingWord) != 0) return;
  for (uint32_t lane = 0; lane < batch.count; ++lane) check(batch.first + lane, words[lane]);
  batches_.pop_front();
}

void LookupProgram::put_key_of(uint64_t number) {
  put_key(ops_, trace_.keys[share_.trace_index(number, trace_)], key_bytes_,
          share_.key_address(number));
}

void LookupProgram::ask_one() {
  put_key_of(next_);
  ops_.push_back({.kind = OpKind::kLookupB,
                  .bytes = key_bytes_,
                  .address = share_.key_address(next_),
                  .table = table_,
                  .tag = static_cast<uint32_t>(next_ % kTags) + 1});
  ++next_;
}

void LookupProgram::ask_line() {
  const Batch batch{
      .first = next_,
      .count = static_cast<uint32_t>(std::min<uint64_t>(kLanes, share_.count - next_)),
      .line = share_.area() + kResultsOffset + lines_used_ % way_.lines_in_flight * kLineBytes};
  ops_.push_back({.kind = OpKind::kStore, .bytes = kLineBytes, .address = batch.line});
  for (uint32_t lane = 0; lane < batch.count; ++lane) put_key_of(next_ + lane);
  for (uint32_t lane = 0; lane < batch.count; ++lane) {
    ops_.push_back({.kind = OpKind::kLookupNb,
                    .bytes = key_bytes_,
                    .address = share_.key_address(next_ + lane),
                    .table = table_,
                    .result = batch.line + uint64_t{8} * lane});
  }
  next_ += batch.count;
  ++lines_used_;
  batches_.push_back(batch);
}

void LookupProgram::check(uint64_t number, uint64_t word) {
  ++answered_;
  if (is_found(word)) ++found_;
  if (word != trace_.words[share_.trace_index(number, trace_)]) ++wrong_;
}

}  // namespace roost::sim
