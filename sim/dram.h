// The memory behind the slices: channels of banks. A bank has one row open; a line of that row
// takes a read, one of a closed bank an activation before it, one of another row a precharge before
// that. A channel carries one line at a time. Requests are served in the order in which they come.
//
// Lines go to channels in turn; in a channel, a row's lines are consecutive, and rows go to banks
// in turn. Refresh is left out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/event_queue.h"
#include "sim/parameters.h"
#include "sim/simulated_memory.h"

namespace roost::sim {

class Dram {
 public:
  explicit Dram(const Parameters& parameters)
      : parameters_(parameters),
        channels_(parameters.dram_channels),
        banks_(size_t{parameters.dram_channels} * parameters.dram_banks) {}

  // A slice asks for a line at a cycle; when it has it. Constant time.
  Cycle read(Cycle at, uint64_t line) {
    ++reads_;
    return serve(at, line) + parameters_.dram_controller_cycles -
           parameters_.dram_controller_cycles / 2;
  }
  // A slice gives a line back.
  void write(Cycle at, uint64_t line) {
    ++writes_;
    (void)serve(at, line);
  }

  [[nodiscard]] uint64_t reads() const { return reads_; }
  [[nodiscard]] uint64_t writes() const { return writes_; }

 private:
  struct Bank {
    static constexpr uint64_t kNoRow = ~uint64_t{0};
    uint64_t row = kNoRow;
    Cycle free = 0;
  };

  // When the line has been on its channel.
  Cycle serve(Cycle at, uint64_t line) {
    const uint64_t channel = line % channels_.size();
    const uint64_t row_lines = parameters_.dram_row_bytes / kLineBytes;
    const uint64_t row = line / channels_.size() / row_lines;
    Bank& bank = banks_[channel * parameters_.dram_banks + row % parameters_.dram_banks];
    const Cycle start = std::max(at + parameters_.dram_controller_cycles / 2, bank.free);
    Cycle opened = start;
    if (bank.row != row) {
      if (bank.row != Bank::kNoRow) opened += parameters_.dram_precharge_cycles;
      opened += parameters_.dram_activate_cycles;
      bank.row = row;
    }
    bank.free = opened + parameters_.dram_burst_cycles;
    Cycle& channel_free = channels_[channel];
    channel_free = std::max(opened + parameters_.dram_read_cycles, channel_free) +
                   parameters_.dram_burst_cycles;
    return channel_free;
  }

  const Parameters& parameters_;
  std::vector<Cycle> channels_;  // when each is free
  std::vector<Bank> banks_;
  uint64_t reads_ = 0;
  uint64_t writes_ = 0;
};

}  // namespace roost::sim
