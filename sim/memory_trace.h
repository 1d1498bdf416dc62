// What a real program did to memory, as valgrind's lackey prints it (--trace-mem=yes): to be
// replayed by a simulated core (trace_program.h).
//
//   I  0401ab2c,4      an instruction; what it accesses stands behind it
//    L 1ffefff8a0,8    a load: address, bytes
//    S 1ffefff898,8    a store
//    M 0404f010,4      a load and a store
//
// Lines that begin with == are valgrind's own words. Accesses before the first instruction are left
// out: the trace was cut there.
//
// Addresses are the program's own. Its pages of 4 KiB get places in simulated memory in the order
// in which they are first used, so that a place in a page stays what it was: L1D's set depends on
// nothing else.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "roost/base/result.h"

namespace roost::sim {

// Where replayed programs' pages begin: beyond all tables.
inline constexpr uint64_t kTracePagesAddress = uint64_t{1} << 44;
inline constexpr uint64_t kTracePageBytes = 4096;

struct MemoryTrace {
  // An access, of one page and at most 64 bytes, behind instructions that access nothing.
  struct Access {
    uint64_t address = 0;  // in simulated memory
    uint32_t before = 0;   // those instructions
    uint8_t bytes = 0;     // 0: there is none, the trace ends with those instructions
    bool is_store = false;
    bool is_first = false;  // of its instruction, which is not among those before
  };
  static_assert(sizeof(Access) == 16, "traces have millions");

  std::vector<Access> accesses{};
  uint64_t instructions = 0;
  uint64_t loads = 0;  // accesses of each kind
  uint64_t stores = 0;
  uint64_t pages = 0;
};

// Errors: a line that is none of lackey's, with its number; no instruction, or no access.
[[nodiscard]] Result<MemoryTrace> parse_memory_trace(std::string_view text);

}  // namespace roost::sim
