// The ceiling: a loop that does nothing but touch the lines a lookup cannot do without.
//
// A hit needs two lines, the second known only when the first is there: the bucket's line, which
// names a slot, and the line of the slot's key and value. A miss needs the bucket's line alone. The
// two arrays are sized like those of a split table of the same capacity. The loop hashes nothing,
// compares nothing and writes nothing; which bucket is next and whether the lane hits are bits of
// the key that is streamed in anyway. What is left is how the lines are asked for: a prefetch hint
// and a distance in groups of 32, so the best of them is the ceiling.
//
// A hit touches exactly two lines of 64 bytes, a miss exactly one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lab/harness/drive.h"
#include "lab/harness/workload.h"
#include "roost/base/result.h"
#include "roost/memory/arena.h"

namespace roost::lab {

// Which cache levels a prefetched line goes to: all, all but the first, or past them.
enum class LineHint : uint8_t { kT0, kT1, kNta };

// How far ahead of its use a line is asked for.
enum class LineLead : uint8_t {
  kSameGroup,    // both lines within the group of 32
  kNextBuckets,  // bucket lines one group ahead
  kBothAhead,    // bucket lines two groups ahead, entry lines one
};

class TwoLineCeiling {
 public:
  static constexpr std::string_view kName = "ceiling_two_line";

  static Result<TwoLineCeiling> create(uint64_t slots, PageKind pages);

  // One way to ask for the lines.
  struct Variant {
    std::string_view name;
    PassOutcome (*pass)(const TwoLineCeiling&, std::span<const Key>);
  };
  static std::span<const Variant> variants();

  // The same walk without any prefetch: what each variant must find.
  [[nodiscard]] PassOutcome expected(std::span<const Key> stream) const;

  [[nodiscard]] const void* entry_address() const { return memory_.data() + entries_offset(); }
  [[nodiscard]] uint64_t memory_bytes() const { return memory_.bytes(); }

 private:
  TwoLineCeiling(Arena memory, uint64_t bucket_count)
      : memory_(std::move(memory)), bucket_count_(bucket_count) {}

  template <LineHint kHint, LineLead kLead>
  static PassOutcome pass(const TwoLineCeiling& self, std::span<const Key> stream);

  [[nodiscard]] uint64_t entries_offset() const;
  [[nodiscard]] uint64_t bucket_offset(const Key& key) const;
  [[nodiscard]] uint64_t last_offset(const Key& key, uint64_t bucket_offset) const;
  [[nodiscard]] uint64_t word_at(uint64_t offset) const;

  Arena memory_;  // all bucket lines, then all entries
  uint64_t bucket_count_;
};

}  // namespace roost::lab
