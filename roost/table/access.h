// Who may use a table at a time: a policy of its layout.
//
//   Exclusive             one thread; nothing stands between it and the table's memory
//   OneWriterManyReaders  one thread changes it while others look keys up (concurrent/one_writer.h)
//
// What readers may see while it changes goes through the policy, a word at a time; and so does the
// beginning and the end of every change, with the buckets in which something changes.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "roost/hash/hash64.h"

namespace roost {

// What a policy needs to know of its table.
struct AccessShape {
  uint64_t hashed_buckets;    // the buckets from there on are the stash's
  uint64_t version_counters;  // a power of two
};

template <class A, class Line>
concept TableAccess = std::constructible_from<A, const AccessShape&> &&
                      requires(const A& access, uint64_t& changed, const uint64_t& word,
                               uint64_t value, Line& line, void (&change)(Line&), std::byte* to,
                               const std::byte* from, size_t bytes, BucketIndex bucket) {
                        // Whether readers may be there while the table changes.
                        { A::kIsShared } -> std::convertible_to<bool>;

                        // A word that readers may read; and what they read.
                        A::store(changed, value);
                        { A::load(word) } -> std::same_as<uint64_t>;

                        // A line to search, or a copy of it: if it may change meanwhile, what it
                        // says is a hint.
                        { A::look(line) } -> std::convertible_to<const Line&>;

                        // Lets `change` work on a line, or on a copy of which it stores what has
                        // changed.
                        A::change(line, change);

                        // Copies to memory that readers may read, by words: behind the last byte is
                        // room up to a multiple of eight.
                        A::write(to, from, bytes);

                        // With lines that keep timers, which readers may store too: set_timer(line,
                        // slot, timer); and take_timer(line, slot), which leaves another one in the
                        // slot of an entry that goes elsewhere, so that no reader gives the slot a
                        // new time to live.

                        // A change of what is in these buckets begins; it ends with the object. Not
                        // nested.
                        access.step(bucket);
                        access.step(bucket, bucket);
                      };

// What a search by a reader found.
enum class Sought : uint8_t {
  kNothing,
  kWord,   // an entry that is one word, and so is whole
  kWords,  // one that is whole if nothing has changed
};

// A word with a slot's timer in it, as it was seen.
struct SeenTimer {
  uint64_t word;
  unsigned shift;

  [[nodiscard]] uint16_t timer() const { return static_cast<uint16_t>(word >> shift); }
  [[nodiscard]] uint64_t with(uint16_t timer) const {
    return (word & ~(uint64_t{0xFFFF} << shift)) | uint64_t{timer} << shift;
  }
};

struct Exclusive {
  static constexpr bool kIsShared = false;

  explicit Exclusive(const AccessShape& /*shape*/) {}

  static void store(uint64_t& word, uint64_t value) { word = value; }
  [[nodiscard]] static uint64_t load(const uint64_t& word) { return word; }

  template <class Line>
  [[nodiscard, gnu::always_inline]] static decltype(auto) look(const Line& line) {
    return (line);
  }
  template <class Line, class Change>
  [[gnu::always_inline]] static void change(Line& line, Change&& change) {
    change(line);
  }
  static void write(std::byte* to, const std::byte* from, size_t bytes) {
    std::memcpy(to, from, bytes);
  }

  template <class Line>
  static void set_timer(Line& line, unsigned slot, uint16_t timer) {
    line.timers[slot] = timer;
  }
  template <class Line>
  static uint16_t take_timer(Line& line, unsigned slot) {
    return line.timers[slot];
  }

  struct Step {};
  template <class... Buckets>
  [[nodiscard]] static Step step(Buckets... /*buckets*/) {
    return {};
  }
};

}  // namespace roost
