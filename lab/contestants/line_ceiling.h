// The ceiling: a loop that does nothing but touch the lines a lookup cannot do without.
//
// Every lookup begins at a line of a first region; a hit may go on to a line of a second one, known
// only when the first is there (FewestLines). The loop hashes nothing, compares nothing and writes
// nothing; which line is next and whether the lane hits are bits of the key that is streamed in
// anyway. What is left is how the lines are asked for: a prefetch hint and a distance in groups of
// 32, so the best of them is the ceiling.
//
// With two regions a hit touches exactly two lines of 64 bytes, a miss one; with one region both
// touch one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "lab/harness/contestant.h"
#include "lab/harness/drive.h"
#include "lab/harness/workload.h"
#include "roost/base/result.h"
#include "roost/isa/prefetch.h"
#include "roost/memory/arena.h"

namespace roost::lab {

// How far ahead of its use a line is asked for.
enum class LineLead : uint8_t {
  kSameGroup,   // both lines within the group of 32
  kFirstAhead,  // first lines one group ahead
  kBothAhead,   // first lines two groups ahead, second lines one
};

class LineCeiling {
 public:
  // Memory with a random word in each line, for ceilings of several shapes: each takes the front
  // of it.
  using Memory = std::shared_ptr<const Arena>;
  static Result<Memory> make_memory(uint64_t bytes, PageKind pages);

  // What a shape needs of it.
  static uint64_t bytes_of(FewestLines shape) { return shape.first_bytes + shape.second_bytes; }

  LineCeiling(Memory memory, FewestLines shape);

  // One way to ask for the lines.
  struct Variant {
    std::string_view name;
    PassOutcome (*pass)(const LineCeiling&, std::span<const Key>);
  };
  // Those for this shape.
  [[nodiscard]] std::span<const Variant> variants() const;

  // The same walk without any prefetch: what each variant must find.
  [[nodiscard]] PassOutcome expected(std::span<const Key> stream) const;

  // "ceiling_one_line" or "ceiling_two_line".
  [[nodiscard]] std::string_view name() const {
    return second_lines_ == 0 ? "ceiling_one_line" : "ceiling_two_line";
  }
  [[nodiscard]] FewestLines shape() const {
    return {.first_bytes = first_lines_ * kLineBytes, .second_bytes = second_lines_ * kLineBytes};
  }
  [[nodiscard]] const void* entry_address() const { return memory_->data(); }

 private:
  static constexpr uint64_t kLineBytes = 64;

  template <PrefetchHint kHint, LineLead kLead>
  static PassOutcome pass_one(const LineCeiling& self, std::span<const Key> stream);
  template <PrefetchHint kHint, LineLead kLead>
  static PassOutcome pass_two(const LineCeiling& self, std::span<const Key> stream);

  [[nodiscard]] uint64_t first_offset(const Key& key) const;
  [[nodiscard]] uint64_t last_offset(const Key& key, uint64_t first_offset) const;
  [[nodiscard]] uint64_t word_at(uint64_t offset) const;

  Memory memory_;
  uint64_t first_lines_;
  uint64_t second_lines_;
};

}  // namespace roost::lab
