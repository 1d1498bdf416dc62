// A switch's program as a DPDK SWX pipeline, and packets through it.
//
// By public functions only, and interpreted: what DPDK would generate C code for needs a header
// that is not packaged. So its rates are those of an emulated switch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "roost/base/result.h"
#include "targets/switch/switch_program.h"
#include "targets/switch/switch_table.h"

namespace roost::targets {

// DPDK must have started, and ends after this. One thread at a time.
class SwxPipeline {
 public:
  // As many packets as may be on their way.
  static constexpr size_t kPacketsMax = 4096;

  // Errors: what DPDK refuses, by name; memory. A table of 100,000 keys takes some 100 MB of
  // DPDK's.
  static Result<SwxPipeline> create(const SwitchProgram& program, const SwitchTable& table);

  SwxPipeline(SwxPipeline&&) noexcept;
  SwxPipeline& operator=(SwxPipeline&&) = delete;
  ~SwxPipeline();

  // Where a packet went, and the source address that it had then.
  struct Sent {
    uint64_t port = kPortNone;  // dropped
    uint64_t source = 0;
  };
  // Sends a packet to each address, and says what became of it: at most kPacketsMax. It is put(),
  // run() and take(), of which run() is what a switch would do.
  [[nodiscard]] bool send(std::span<const uint64_t> destinations, std::span<Sent> sent);

  void put(std::span<const uint64_t> destinations);
  // Until all packets that were put have left; false: some have not, which is a fault.
  [[nodiscard]] bool run();
  void take(std::span<Sent> sent);

  // Instructions of the program; no packet takes more.
  [[nodiscard]] size_t instruction_count() const;

 private:
  struct State;
  explicit SwxPipeline(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace roost::targets
