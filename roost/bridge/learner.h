// A worker's part in the forwarding database: it looks stations up, says that they were seen, and
// learns and reclaims entries where it may do so at once. It waits for nobody.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "roost/base/counter.h"
#include "roost/base/hit_words.h"
#include "roost/bridge/fdb.h"
#include "roost/bridge/fdb_entry.h"
#include "roost/expiry/tick.h"

namespace roost::bridge {

// learned = reclaimed + erased by hand or replaced by static entries + in the database.
struct LearnCounters {
  uint64_t learned = 0;
  uint64_t moved = 0;
  uint64_t held = 0;
  uint64_t refused = 0;
  uint64_t lock_misses = 0;
  uint64_t refreshed = 0;
  uint64_t reclaimed = 0;
};

inline constexpr std::array kLearnCounters = {
    Counter{"learned", &LearnCounters::learned, "stations learned"},
    Counter{"moved", &LearnCounters::moved, "stations learned at another port than before"},
    Counter{"held", &LearnCounters::held,
            "frames of stations that moved too often, and stay where they were"},
    Counter{"refused", &LearnCounters::refused,
            "frames of stations not learned: their port may have no more"},
    Counter{"lock_misses", &LearnCounters::lock_misses,
            "frames of stations not learned at once: another worker was writing"},
    Counter{"refreshed", &LearnCounters::refreshed, "entries told that their station was seen"},
    Counter{"reclaimed", &LearnCounters::reclaimed, "entries reclaimed after the ageing time"},
};

// The sources of a batch's frames, in their order: key, port that the frame came in by, and what a
// lookup found.
struct Sources {
  std::span<const FdbKey> keys;
  std::span<const uint16_t> ports;
  std::span<const FdbValue> values;
  HitWords hits;
};

class Learner {
 public:
  static constexpr size_t kSourcesMax = 32;  // of a batch

  // The database must outlive it. Each of so many workers reclaims entries in a part of the
  // buckets.
  Learner(Fdb& fdb, size_t worker, size_t worker_count);

  // Before anything else at a time. When the turns before it are so long ago that entries would
  // look young again, as in a capture with a pause, it erases those that are unknown by now; it
  // waits for who is writing then, and only then.
  void advance(Tick now) {
    if (now_ == now) return;
    const uint64_t before = sixteenth_;
    sixteenth_ = fdb_->ageing().sixteenth(now);
    if (now_ && sixteenth_ - before > kGapMax) erase_after_gap(before);
    now_ = now;
  }
  // That of the time to which it was advanced.
  [[nodiscard]] uint64_t sixteenth() const { return sixteenth_; }

  // A lookup that was started. The keys stay the caller's until it is finished.
  using Flight =
      decltype(std::declval<const Fdb::Table::Reader&>().start(std::span<const FdbKey>()));
  [[nodiscard]] Flight start(std::span<const FdbKey> keys) const { return reader_.start(keys); }
  // Finds entries, in use and unknown ones: see Ageing::is_unknown().
  void look_up(const Flight& flight, std::span<FdbValue> values, HitWords hits) const {
    reader_.lookup(flight, values, hits);
  }

  // Says of each source that it was seen, and learns it where it is not known at its port, if
  // nobody else is writing. Returns the frames, a bit each, whose station is not known because its
  // port may have no more. A batch whose stations are all known costs a comparison a frame.
  uint32_t learn(const Sources& sources, Tick now);

  // Learns what could not be learned at once, if it can be now, and looks at up to so many buckets
  // for entries to reclaim, as many as are due by now.
  void reclaim(Tick now, uint64_t bucket_budget);

  [[nodiscard]] const LearnCounters& counters() const { return counters_; }

 private:
  // In sixteenths: what is reclaimed in time is not older than 19, and ages of 30 look young.
  static constexpr uint64_t kGapMax = 10;

  // `before`: the sixteenth of the turn before.
  void erase_after_gap(uint64_t before);
  void refresh(std::span<const FdbKey> keys);
  // Of the frames in `which`, a bit each.
  uint32_t learn_new(const Sources& sources, uint32_t which, Tick now);
  void learn_missed(Tick now);
  void count(Learned outcome);
  // False while another worker is writing.
  bool erase_found(Tick now);

  Fdb* fdb_;
  Fdb::Table::Reader reader_;
  std::optional<Tick> now_{};
  uint64_t sixteenth_ = 0;
  LearnCounters counters_{};

  // Stations that sent while another worker was writing; the first of them, if there are many.
  struct Missed {
    FdbKey key;
    uint16_t port;
  };
  std::array<Missed, kSourcesMax> missed_{};
  size_t missed_count_ = 0;

  // Its part of the buckets, and the pass over them that it is in: one a sixteenth, so that an
  // entry is gone two after it became unknown, even if a move hid it from the first pass.
  uint64_t first_bucket_;
  uint64_t bucket_count_;
  uint64_t visited_ = 0;
  uint64_t pass_began_ = 0;      // the sixteenth
  std::vector<FdbKey> found_{};  // to be erased
};

}  // namespace roost::bridge
