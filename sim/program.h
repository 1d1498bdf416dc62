// What a simulated core runs: operations, one after the other, as a program gives them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/event_queue.h"

namespace roost::sim {

enum class OpKind : uint8_t {
  kCompute,  // no memory
  kLoad,
  kPrefetch,  // asks for a line, and is done when it has asked
  kStore,
  kLookupB,   // LOOKUP_B: asks an accelerator, and waits for the word
  kLookupNb,  // LOOKUP_NB: asks an accelerator, which writes the word; like a store
  kSnapshot,  // SNAPSHOT_READ of a line: leaves who has it as it is
};

// Whether what follows an operation is fetched before it is done.
enum class FetchStop : uint8_t {
  kNone,
  kUntilDone,     // what follows is not known before
  kMispredicted,  // the same, and the wrong way was begun: core.branch_cycles more
};

struct Op {
  OpKind kind = OpKind::kCompute;
  FetchStop stop = FetchStop::kNone;
  uint8_t bytes = 8;          // of a load or store, or of a lookup's key; at most 64
  uint16_t instructions = 1;  // with those that are not worth an operation of their own
  uint16_t cycles = 1;        // of computing, from its operands to its result
  // The operations whose results it needs, as distances back: 1 is the one before. 0: none.
  std::array<uint16_t, 2> after{};
  uint64_t address = 0;  // of load, prefetch, store and snapshot; of a lookup's key
  uint64_t table = 0;    // of a lookup: the address of the table's metadata
  uint64_t result = 0;   // of kLookupNb: where the word goes, a multiple of 8
  // What a store writes, again and again until its bytes are full.
  std::array<uint64_t, 2> data{};
  // If not 0: Program::completed() is called with it and what was read.
  uint32_t tag = 0;
};

// Has an operation need the results of others, where operations are numbered from 1 on: it is
// number `own`, and 0 is none. What is too far back to be said has left every window.
inline void set_operands(Op& op, uint64_t own, std::array<uint64_t, 2> others) {
  constexpr uint64_t kFar = 0xffff;
  for (size_t i = 0; i < others.size(); ++i) {
    const uint64_t back = others[i] == 0 ? 0 : own - others[i];
    op.after[i] = static_cast<uint16_t>(back > kFar ? 0 : back);
  }
}

enum class Fetch : uint8_t {
  kOp,      // here is one
  kNotYet,  // not before something is completed
  kEnd,     // there are no more
};

class Program {
 public:
  // The next operation.
  virtual Fetch fetch(Op& op) = 0;
  // An operation with a tag is done at a cycle, perhaps a few cycles from now; this is what it
  // read: a load's bytes, the word of a lookup, a line of a snapshot.
  virtual void completed(uint32_t tag, Cycle when, std::span<const std::byte> bytes) = 0;

 protected:
  Program() = default;
  Program(const Program&) = default;
  Program& operator=(const Program&) = default;
  ~Program() = default;
};

}  // namespace roost::sim
