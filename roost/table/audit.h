// The full-state checker: every numbered invariant of engine.h, over every bucket.
//
// It is for tests, for debugging and for the suspicious; it reads the whole table and, where lines
// have filters, allocates 24 bytes a bucket, so it does not belong on a datapath.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "roost/isa/scalar.h"
#include "roost/table/engine.h"
#include "roost/table/slot_mask.h"

namespace roost {

// The first broken invariant that was found, and where.
struct Violation {
  int invariant;  // the number n of In
  BucketIndex bucket;
  unsigned slot;  // where it concerns one slot, else 0
  std::string_view what;
};

namespace detail {

// What the displaced entries say of the bucket they come from.
struct DisplacedFrom {
  uint64_t filter = 0;
  uint64_t moved = 0;
  bool some_stashed = false;
};

template <class Engine>
class Auditor {
  using Layout = typename Engine::Layout;
  using Line = typename Engine::Line;
  using Probing = typename Engine::Probing;
  // Whether lines say what is displaced from their buckets.
  static constexpr bool kLeads = KeepsFilter<Line>;

 public:
  explicit Auditor(const Engine& engine) : engine_(engine) {
    if constexpr (kLeads) displaced_from_.resize(engine.placement().bucket_count());
  }

  std::optional<Violation> run() {
    const uint64_t bucket_count = engine_.placement().bucket_count();
    for (uint64_t bucket = 0; bucket < bucket_count; ++bucket) {
      if (auto violation = check_slots(BucketIndex{bucket})) return violation;
    }
    if constexpr (kLeads) {
      for (uint64_t bucket = 0; bucket < bucket_count; ++bucket) {
        if (auto violation = check_leads(BucketIndex{bucket})) return violation;
      }
    }
    return check_counts();
  }

 private:
  std::optional<Violation> check_slots(BucketIndex bucket) {
    const Line& line = engine_.layout().line(bucket);
    const SlotMask busy = busy_slots(line);
    if (const SlotMask wrong = displaced_slots(line) - busy; !wrong.empty())
      return Violation{1, bucket, wrong.lowest(), "a free slot is marked displaced"};
    if (const SlotMask wrong = busy.from(Layout::kSlots); !wrong.empty()) {
      return Violation{1, bucket, wrong.lowest(), "a slot is busy that the bucket does not have"};
    }
    if constexpr (requires { line.written_slots(); }) {
      if (const SlotMask wrong = line.written_slots() - busy; !wrong.empty())
        return Violation{1, bucket, wrong.lowest(), "a free slot is not zero"};
    }
    size_ += busy.count();
    for (const unsigned slot : busy) {
      if (auto violation = check_entry({bucket, slot})) return violation;
    }
    return std::nullopt;
  }

  std::optional<Violation> check_entry(SlotRef at) {
    const auto key = engine_.placement().padded_key(at);
    const Hash64 hash = engine_.placement().hash().template hash<Layout::kKeyBytes>(key);
    const Tag tag = engine_.layout().tag_of(hash);
    const BucketIndex primary = engine_.map().primary(hash);
    const bool is_displaced = engine_.placement().is_displaced(at);
    if (engine_.placement().tag(at) != tag)
      return Violation{2, at.bucket, at.slot, "the tag is not that of the key"};
    const bool is_stashed = engine_.layout().is_stash(at.bucket);
    if (is_stashed && is_displaced && engine_.layout().home(at) != primary)
      return Violation{8, at.bucket, at.slot, "the entry's home is not its primary bucket"};
    if (is_displaced == (at.bucket == primary) ||
        engine_.placement().origin_of(at).primary != primary) {
      return Violation{2, at.bucket, at.slot,
                       "the entry is in none of its buckets, or its mark is wrong"};
    }
    if (is_held_elsewhere(key, tag, at, primary))
      return Violation{3, at.bucket, at.slot, "the key is held twice"};
    return is_displaced ? check_displaced(at, tag, primary) : std::nullopt;
  }

  std::optional<Violation> check_displaced(SlotRef at, Tag tag, BucketIndex primary) {
    const Line& line = engine_.layout().line(primary);
    const bool is_stashed = engine_.layout().is_stash(at.bucket);
    if (!Probing::may_be_displaced(line, tag) ||
        (!is_stashed && engine_.placement().secondary(primary, line, tag) != at.bucket)) {
      return Violation{5, primary, 0, "the filter does not lead to an entry displaced from here"};
    }
    stashed_ += is_stashed ? 1 : 0;
    if constexpr (kLeads) {
      DisplacedFrom& from = displaced_from_[static_cast<uint64_t>(primary)];
      from.filter |= Probing::needed_filter(engine_.layout().line(at.bucket), at.slot, tag);
      ++from.moved;
      from.some_stashed = from.some_stashed || is_stashed;
    }
    return std::nullopt;
  }

  bool is_held_elsewhere(const std::byte* key, Tag tag, SlotRef at, BucketIndex primary) const {
    const auto is_held_in = [&](BucketIndex bucket, Residence residence) {
      const Line& line = engine_.layout().line(bucket);
      const SlotMask slots =
          engine_.layout().template candidates<ScalarKernel>(line, tag, key, residence);
      for (const unsigned slot : slots& busy_slots(line)) {
        const SlotRef other{bucket, slot};
        if (other != at && holds_key<ScalarKernel>(engine_.layout(), other, key, primary))
          return true;
      }
      return false;
    };
    bool is_held = is_held_in(primary, Residence::kPrimary);
    engine_.placement().for_each_secondary(primary, tag, [&](BucketIndex bucket) {
      is_held = is_held || is_held_in(bucket, Residence::kDisplaced);
    });
    return is_held || engine_.placement().for_each_stash_bucket([&](BucketIndex bucket) {
      return is_held_in(bucket, Residence::kDisplaced);
    });
  }

  std::optional<Violation> check_leads(BucketIndex bucket) {
    const Line& line = engine_.layout().line(bucket);
    const DisplacedFrom& from = displaced_from_[static_cast<uint64_t>(bucket)];
    ++histogram_[std::min<unsigned>(line.moved, kMovedHistogramMax)];
    if (line.moved != Line::kMovedSaturated && line.moved != from.moved) {
      return Violation{4, bucket, 0,
                       "the moved count is not the number of entries displaced from here"};
    }
    if ((line.has_stashed != 0) != from.some_stashed) {
      return Violation{8, bucket, 0,
                       "the stash mark does not say whether entries are in the stash"};
    }
    if (!Probing::filter_fits(line, from.filter))
      return Violation{5, bucket, 0,
                       "the filter leads to entries that are not displaced from here"};
    return std::nullopt;
  }

  std::optional<Violation> check_counts() const {
    const TableStats& stats = engine_.stats();
    if (stats.size != size_)
      return Violation{1, BucketIndex{0}, 0, "the size is not the number of busy slots"};
    if (stats.moved_histogram != histogram_) {
      return Violation{6, BucketIndex{0}, 0,
                       "the moved-count histogram is not that of the buckets"};
    }
    if (stats.stashed != stashed_) {
      return Violation{8, BucketIndex{0}, 0,
                       "the count of stashed entries is not that of the stash"};
    }
    if (stats.created != stats.size + stats.erased + stats.expired) {
      return Violation{7, BucketIndex{0}, 0, "created is not size + erased + expired"};
    }
    return std::nullopt;
  }

  const Engine& engine_;
  std::vector<DisplacedFrom> displaced_from_;
  decltype(TableStats::moved_histogram) histogram_{};
  uint64_t size_ = 0;
  uint64_t stashed_ = 0;
};

}  // namespace detail

// The first broken invariant, or nothing.
template <class Engine>
[[nodiscard]] std::optional<Violation> audit(const Engine& engine) {
  return detail::Auditor<Engine>(engine).run();
}

}  // namespace roost
