// The oracle of value-only tables: over as many bytes as a table's image it reads one line a key,
// which the key's mixed word says, and knows the value.
//
// It stands in the driver as any table does and its answers are checked. A value is what follows
// from the key anyway and the two bytes that are read, which are zero everywhere: the processor
// cannot know that, so it waits for the line as if the value were there. Mixing takes about what
// hashing takes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "lab/contestants/staged_batch.h"
#include "lab/harness/value_contestant.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/hash/hash64.h"
#include "roost/isa/prefetch.h"
#include "roost/memory/arena.h"

namespace roost::lab {

template <class Key, PrefetchHint kHint>
class ValueOracle : public ValueAnswers<Key> {
  static constexpr uint64_t kLineBytes = 64;

 public:
  static constexpr std::array<std::string_view, 3> kNames = {"oracle_values_t0", "oracle_values_t1",
                                                             "oracle_values_nta"};
  static constexpr std::string_view kName = kNames[static_cast<size_t>(kHint)];

  static Result<ValueOracle> create(uint64_t bytes, uint32_t value_bits, PageKind pages) {
    const uint64_t lines = (bytes + kLineBytes - 1) / kLineBytes;
    auto memory = Arena::map(lines * kLineBytes, {.pages = pages});
    if (!memory) return memory.error();
    std::memset(memory.value().data(), 0, memory.value().bytes());  // a page of its own each
    return ValueOracle(std::make_shared<Arena>(std::move(memory).value()), lines, value_bits);
  }

  void lookup(std::span<const Key> keys, std::span<uint32_t> answers, HitWords hits) const {
    using Group = std::array<uint64_t, kStagedLanes>;  // mixed words
    run_staged<Group>(
        keys.size(),
        [&](size_t first, size_t count, Group& words) {
          for (size_t lane = 0; lane < count; ++lane) {
            words[lane] = mixed_word(keys[first + lane]);
            prefetch(kHint, place_of(words[lane]));
          }
        },
        [&](size_t first, size_t count, Group& words) {
          for (size_t lane = 0; lane < count; ++lane) {
            uint16_t read = 0;
            std::memcpy(&read, place_of(words[lane]), sizeof read);
            answers[first + lane] = value_of_word(words[lane], value_bits_) + read;
          }
          hits.write_group(first, static_cast<uint32_t>((uint64_t{1} << count) - 1));
        });
  }

  [[nodiscard]] uint64_t image_bytes() const { return line_count_ * kLineBytes; }
  [[nodiscard]] const void* image_address() const { return lines_; }

 private:
  ValueOracle(std::shared_ptr<Arena> memory, uint64_t line_count, uint32_t value_bits)
      : memory_(std::move(memory)),
        lines_(memory_->data()),
        line_count_(line_count),
        value_bits_(value_bits) {}

  [[nodiscard]] const std::byte* place_of(uint64_t word) const {
    constexpr uint64_t kPlaces = kLineBytes / sizeof(uint16_t);
    return lines_ + multiply_wide(word, line_count_).high * kLineBytes +
           word % kPlaces * sizeof(uint16_t);
  }

  std::shared_ptr<Arena> memory_;
  const std::byte* lines_;
  uint64_t line_count_;
  uint32_t value_bits_;
};

}  // namespace roost::lab
