// What a core runs that looks keys up by accelerators, one after the other or many at a time (HALO,
// sections 4.5 and 5): in a table, or each in several, under their masks (docs/decisions/0059). It
// writes each key beside its stack, as a program has just made it of a packet, and then asks.
//
//   blocking       key, LOOKUP_B in one table after the other until one has the key; whether the
//                  next one waits for the word, the machine's switch `lookup_b` says; whether there
//                  is a next one is a branch
//   non-blocking   a batch: lines of zeroes, keys, a LOOKUP_NB for each key and table into those
//                  lines; SNAPSHOT_READ of them until no word is pending. As many keys as fill a
//                  line, at least one. With one batch in flight, as the paper has it, the next one
//                  begins when this one is done; with more, it begins before
//
// Loops and what is done with the words cost nothing here: what is compared is the lookups.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "sim/program.h"
#include "sim/query.h"

namespace roost::sim {

// Keys that are asked for, in this order, from the first one again behind the last; and the words
// that each is answered with, one a table. Both outlive what uses them, and there is at least one.
struct LookupTrace {
  std::span<const KeyBytes> keys;  // zeroes behind a key's bytes
  std::span<const uint64_t> words;

  [[nodiscard]] size_t tables() const { return words.size() / keys.size(); }
  [[nodiscard]] uint64_t word(uint64_t key, size_t table) const {
    return words[key * tables() + table];
  }
  // The first table that has a key.
  [[nodiscard]] std::optional<size_t> table_with(uint64_t key) const;
};

// Most tables that a key is looked up in.
inline constexpr size_t kTablesMax = 64;

// How a core asks.
struct LookupWay {
  bool is_blocking = true;
  uint32_t batches_in_flight = 1;  // non-blocking only, 1 to 8
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

  // `tables` are the tables' addresses, `key_bytes` the bytes of their keys.
  LookupProgram(const LookupTrace& trace, LookupWay way, const LookupShare& share,
                std::span<const uint64_t> tables, uint8_t key_bytes);

  Fetch fetch(Op& op) override;
  void completed(uint32_t tag, Cycle when, std::span<const std::byte> bytes) override;

  // Keys that were answered; of those, found; words that were not what the trace says.
  [[nodiscard]] uint64_t answered() const { return answered_; }
  [[nodiscard]] uint64_t found() const { return found_; }
  [[nodiscard]] uint64_t wrong() const { return wrong_; }

 private:
  struct Batch {
    uint64_t first = 0;  // of the share's keys
    uint64_t line = 0;   // its first one's address
    std::vector<uint64_t> words{};
  };

  void put_key_of(uint64_t number);
  void ask_one();
  void ask_batch();
  // Reads the oldest batch's lines, but those whose words are all there.
  void watch_batch();
  void end_batch();
  void check(uint64_t number, size_t table, uint64_t word);
  [[nodiscard]] uint64_t lines_of(uint64_t words) const { return (words + kLanes - 1) / kLanes; }

  LookupTrace trace_;
  LookupWay way_;
  LookupShare share_;
  std::vector<uint64_t> tables_;
  uint8_t key_bytes_;
  uint64_t keys_of_batch_;
  uint64_t next_ = 0;  // of the share's keys
  uint64_t batches_asked_ = 0;
  std::deque<Op> ops_;
  std::deque<Batch> batches_;     // in flight, the oldest first
  uint32_t snapshots_ = 0;        // of the oldest one's lines, under way
  std::vector<bool> found_last_;  // whether each table had the key that it was asked for last
  uint64_t answered_ = 0;
  uint64_t found_ = 0;
  uint64_t wrong_ = 0;
};

}  // namespace roost::sim
