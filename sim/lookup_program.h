// What a core runs that looks keys up in a table by an accelerator, one after the other or many at
// a time (HALO, sections 4.5 and 5). It writes each key beside its stack, as a program has just
// made it of a packet, and then asks.
//
//   blocking       key, LOOKUP_B; whether the next one waits for the word, the machine's switch
//                  `lookup_b` says
//   non-blocking   a line of zeroes, eight keys, eight LOOKUP_NB into that line; SNAPSHOT_READ of
//   it
//                  until no word is pending. With one line in flight, as the paper has it, the next
//                  eight begin when these are done; with more, they begin before
//
// Loops and what is done with the words cost nothing here: what is compared is the lookups.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "sim/program.h"
#include "sim/query.h"

namespace roost::sim {

// Keys that are asked for, in this order, from the first one again behind the last; and the word
// that each is answered with. Both outlive what uses them, and there is at least one.
struct LookupTrace {
  std::span<const KeyBytes> keys;  // zeroes behind a key's bytes
  std::span<const uint64_t> words;
};

// How a core asks.
struct LookupWay {
  bool is_blocking = true;
  uint32_t lines_in_flight = 1;  // of results; non-blocking only, 1 to 8
};

// Where lookups' keys and words are; a core takes kLookupAreaBytes from its number times those on.
inline constexpr uint64_t kLookupAreaAddress = uint64_t{1} << 20;
inline constexpr uint64_t kLookupAreaBytes = uint64_t{1} << 13;

// What one core asks: `count` of the trace's keys, from the first one on, each a `step` further.
struct LookupShare {
  // Lines that keys are written to in turn.
  static constexpr uint64_t kKeyLines = 64;

  Tile core = 0;
  uint64_t first = 0;
  uint64_t step = 1;
  uint64_t count = 0;

  [[nodiscard]] uint64_t trace_index(uint64_t number, const LookupTrace& trace) const {
    return (first + number * step) % trace.keys.size();
  }
  [[nodiscard]] uint64_t area() const { return kLookupAreaAddress + core * kLookupAreaBytes; }
  [[nodiscard]] uint64_t key_address(uint64_t number) const {
    return area() + number % kKeyLines * 64;
  }
};

// Writes a key, as a program that has just made it of a packet: by stores of 16 bytes.
void put_key(std::deque<Op>& ops, const KeyBytes& key, uint32_t key_bytes, uint64_t address);
[[nodiscard]] constexpr uint64_t key_parts(uint32_t key_bytes) { return (key_bytes + 15) / 16; }

class LookupProgram final : public Program {
 public:
  static constexpr uint32_t kLanes = 8;  // words of a line

  // `table` is the table's address, `key_bytes` the bytes of its keys.
  LookupProgram(const LookupTrace& trace, LookupWay way, const LookupShare& share, uint64_t table,
                uint8_t key_bytes);

  Fetch fetch(Op& op) override;
  void completed(uint32_t tag, Cycle when, std::span<const std::byte> bytes) override;

  // Words that have come; of those, found; not what the trace says.
  [[nodiscard]] uint64_t answered() const { return answered_; }
  [[nodiscard]] uint64_t found() const { return found_; }
  [[nodiscard]] uint64_t wrong() const { return wrong_; }

 private:
  struct Batch {
    uint64_t first;  // of the share's keys
    uint32_t count;
    uint64_t line;  // its address
  };

  void put_key_of(uint64_t number);
  void ask_one();
  void ask_line();
  void check(uint64_t number, uint64_t word);

  LookupTrace trace_;
  LookupWay way_;
  LookupShare share_;
  uint64_t table_;
  uint8_t key_bytes_;
  uint64_t next_ = 0;  // of the share's keys
  uint64_t lines_used_ = 0;
  std::deque<Op> ops_;
  std::deque<Batch> batches_;  // in flight, the oldest first
  bool is_watched_ = false;    // a snapshot of the oldest one is under way
  uint64_t answered_ = 0;
  uint64_t found_ = 0;
  uint64_t wrong_ = 0;
};

}  // namespace roost::sim
