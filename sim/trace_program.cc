#include "sim/trace_program.h"

#include <algorithm>

namespace roost::sim {

namespace {

// As many as one operation stands for, so that computing is spread over a few cycles.
constexpr uint32_t kInstructionsOfChunk = 8;

}  // namespace

Fetch TraceProgram::fetch(Op& op) {
  if (ops_.empty()) {
    if (next_ == accesses_.size()) return Fetch::kEnd;
    write(accesses_[next_++]);
  }
  op = ops_.front();
  ops_.pop_front();
  return Fetch::kOp;
}

void TraceProgram::write(const MemoryTrace::Access& access) {
  for (uint32_t left = access.before; left != 0;) {
    const uint32_t now = std::min(left, kInstructionsOfChunk);
    compute(now);
    left -= now;
  }
  if (access.bytes == 0) return;
  Op op{.kind = access.is_store ? OpKind::kStore : OpKind::kLoad,
        .bytes = access.bytes,
        .instructions = static_cast<uint16_t>(access.is_first ? 1 : 0),
        .address = access.address};
  if (access.is_store) return put(op, computed_);
  const bool waits = (loads_ + 1) * waiting_of_ten_ / 10 != loads_ * waiting_of_ten_ / 10;
  ++loads_;
  put(op, waits ? loaded_ : 0, waits ? computed_ : 0);
  loaded_ = put_;
  has_waited_ = waits;
}

void TraceProgram::compute(uint32_t instructions) {
  tenths_owed_ += uint64_t{instructions} * ten_instructions_cycles_;
  const auto cycles = static_cast<uint16_t>(tenths_owed_ / 10);
  tenths_owed_ %= 10;
  put({.instructions = static_cast<uint16_t>(instructions), .cycles = cycles}, computed_,
      has_waited_ ? loaded_ : 0);
  computed_ = put_;
}

// Writes an operation that needs the results of others, by their numbers; 0: of none.
void TraceProgram::put(Op op, uint64_t after, uint64_t also_after) {
  set_operands(op, ++put_, {after, also_after});
  ops_.push_back(op);
}

}  // namespace roost::sim
