// Who may use a table at a time: a policy of its layout.
//
//   Exclusive             one thread; nothing stands between it and the table's memory
//   OneWriterManyReaders  one thread changes it while others look keys up (concurrent/one_writer.h)
//
// What readers may see while it changes goes through the policy, a word at a time; and so does the
// beginning and the end of every change, with the buckets in which something changes.
#pragma once

#include <concepts>
#include <cstdint>

#include "roost/hash/hash64.h"
#include "roost/isa/kernel.h"
#include "roost/isa/scalar.h"

namespace roost {

// What a policy needs to know of its table.
struct AccessShape {
  uint64_t hashed_buckets;    // the buckets from there on are the stash's
  uint64_t version_counters;  // a power of two
};

template <class A>
concept TableAccess = std::constructible_from<A, const AccessShape&> &&
                      requires(const A& access, uint64_t& changed, const uint64_t& word,
                               uint64_t value, BucketIndex bucket) {
                        // Whether readers may be there while the table changes.
                        { A::kIsShared } -> std::convertible_to<bool>;

                        // A word that readers may read; and what they read.
                        A::store(changed, value);
                        { A::load(word) } -> std::same_as<uint64_t>;

                        // As Kernel::match_words, of words that may change meanwhile: then, what it
                        // says is a hint.
                        {
                          A::template match_words<ScalarKernel>(&word, value)
                        } -> std::same_as<uint8_t>;

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

struct Exclusive {
  static constexpr bool kIsShared = false;

  explicit Exclusive(const AccessShape& /*shape*/) {}

  static void store(uint64_t& word, uint64_t value) { word = value; }
  [[nodiscard]] static uint64_t load(const uint64_t& word) { return word; }

  template <Kernel K>
  [[nodiscard, gnu::always_inline]] static uint8_t match_words(const uint64_t* words,
                                                               uint64_t word) {
    return K::match_words(words, word);
  }

  struct Step {};
  template <class... Buckets>
  [[nodiscard]] static Step step(Buckets... /*buckets*/) {
    return {};
  }
};

static_assert(TableAccess<Exclusive>);

}  // namespace roost
