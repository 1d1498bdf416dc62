// What lookups meet, told as events with addresses. A table's Probe policy takes them; the default
// one is not there at all.
//
//   LookupCounts   counts: structural counts repeat exactly on every machine, unlike times (H-5)
//   TouchTrace     writes down what is touched, in order: what a lookup costs on another machine
//
// A batch tells of its lanes stage by stage, so events of one lane are not together.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "roost/hash/hash64.h"
#include "roost/isa/isa.h"

namespace roost {

// Why something of the table is read.
enum class TouchKind : uint8_t {
  kPrimaryLine,    // a key's primary bucket
  kSecondaryLine,  // the other one
  kStashLine,      // a bucket of the stash
  kEntry,          // key and value beside the lines
};

template <class P>
concept TableProbe = requires(P& probe, size_t count, Isa kernel, TouchKind kind, const void* at) {
  // Without it nothing else is asked for.
  { P::kEnabled } -> std::convertible_to<bool>;

  // A batch of so many keys begins, by this kernel; it is answered with so many hits.
  probe.begin(count, kernel);
  probe.end(count);

  // So many bytes are read.
  probe.touch(kind, at, count);

  // Of so many lookups, the second line was read in vain.
  probe.mislead(count);
  // An entry was compared in vain: its tag was the key's.
  probe.mistake();
  // A lookup goes on to the stash.
  probe.search_stash();
  // A lookup searches again, because the table changed meanwhile.
  probe.repeat();
};

struct NoProbe {
  static constexpr bool kEnabled = false;
  void begin(size_t /*lane_count*/, Isa /*kernel*/) {}
  void end(size_t /*hit_count*/) {}
  void touch(TouchKind /*kind*/, const void* /*address*/, size_t /*bytes*/) {}
  void mislead(size_t /*lane_count*/) {}
  void mistake() {}
  void search_stash() {}
  void repeat() {}
};

struct LookupCounts {
  static constexpr bool kEnabled = true;
  uint64_t lookups = 0;
  uint64_t hits = 0;
  uint64_t secondary_visits = 0;        // second bucket lines touched
  uint64_t filter_false_positives = 0;  // of those, in vain
  uint64_t tag_false_positives = 0;     // entries compared in vain
  uint64_t stash_visits = 0;            // lookups that searched the stash
  uint64_t repeats = 0;                 // searches again, because the table changed meanwhile
  Isa last_kernel = Isa::kScalar;  // recorded inside the batch loop: the kernel that really ran

  void begin(size_t lane_count, Isa kernel) {
    lookups += lane_count;
    last_kernel = kernel;
  }
  void end(size_t hit_count) { hits += hit_count; }
  void touch(TouchKind kind, const void* /*address*/, size_t /*bytes*/) {
    secondary_visits += kind == TouchKind::kSecondaryLine ? 1 : 0;
  }
  void mislead(size_t lane_count) { filter_false_positives += lane_count; }
  void mistake() { ++tag_false_positives; }
  void search_stash() { ++stash_visits; }
  void repeat() { ++repeats; }
};

// One thing that a lookup read.
struct Touch {
  const void* address;
  uint32_t bytes;
  TouchKind kind;
};

// Writes into the room that it was given; what finds none is counted. Until then it has none.
class TouchTrace {
 public:
  static constexpr bool kEnabled = true;

  TouchTrace() = default;
  explicit TouchTrace(std::span<Touch> room) : room_(room) {}

  [[nodiscard]] std::span<const Touch> touches() const { return room_.first(count_); }
  [[nodiscard]] uint64_t lost_count() const { return lost_count_; }

  void begin(size_t /*lane_count*/, Isa /*kernel*/) {}
  void end(size_t /*hit_count*/) {}
  void touch(TouchKind kind, const void* address, size_t bytes) {
    if (count_ == room_.size()) {
      ++lost_count_;
      return;
    }
    room_[count_++] = {address, static_cast<uint32_t>(bytes), kind};
  }
  void mislead(size_t /*lane_count*/) {}
  void mistake() {}
  void search_stash() {}
  void repeat() {}

 private:
  std::span<Touch> room_;
  size_t count_ = 0;
  uint64_t lost_count_ = 0;
};

static_assert(TableProbe<NoProbe> && TableProbe<LookupCounts> && TableProbe<TouchTrace>);

// Tells a probe of so many lanes that search the stash.
template <class Probe, class Engine>
void tell_of_stash(Probe& probe, const Engine& engine, unsigned lane_count) {
  if constexpr (!Probe::kEnabled) return;
  for (; lane_count > 0; --lane_count) {
    probe.search_stash();
    engine.placement().for_each_stash_bucket([&](BucketIndex bucket) {
      probe.touch(TouchKind::kStashLine, &engine.layout().line_at(bucket),
                  sizeof(typename Engine::Line));
      return false;
    });
  }
}

}  // namespace roost
