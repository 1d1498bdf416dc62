#include "roost/bridge/learner.h"

#include <algorithm>
#include <bit>

#include "roost/base/assert.h"
#include "roost/hash/hash64.h"

namespace roost::bridge {

namespace {

[[nodiscard]] uint64_t share_of(uint64_t buckets, size_t worker, size_t worker_count) {
  return buckets / worker_count * worker + std::min<uint64_t>(worker, buckets % worker_count);
}

}  // namespace

Learner::Learner(Fdb& fdb, size_t worker, size_t worker_count)
    : fdb_(&fdb),
      reader_(fdb.reader()),
      first_bucket_(share_of(fdb.bucket_count(), worker, worker_count)),
      bucket_count_(share_of(fdb.bucket_count(), worker + 1, worker_count) - first_bucket_) {}

void Learner::erase_after_gap(uint64_t before) {
  constexpr size_t kPiece = 64;
  const uint64_t gap = sixteenth_ - before;
  found_.clear();
  for (uint64_t i = 0; i < bucket_count_; ++i) {
    reader_.visit_bucket(BucketIndex{first_bucket_ + i},
                         [&](const FdbKey& key, const FdbValue& value) {
                           if (value.is_static()) return;
                           const uint64_t age = Ageing::sixteenths_since_seen(value, before) + gap;
                           if (age >= Ageing::kSixteenths) found_.push_back(key);
                         });
    if (found_.empty() || (found_.size() < kPiece && i + 1 < bucket_count_)) continue;
    Fdb::Writer writer = fdb_->write();
    for (const FdbKey& key : found_) {
      if (writer.erase_old(key)) ++counters_.reclaimed;
    }
    found_.clear();
  }
}

uint32_t Learner::learn(const Sources& sources, Tick now) {
  const size_t count = sources.keys.size();
  ROOST_ASSERT(count <= kSourcesMax && sources.ports.size() >= count &&
               sources.values.size() >= count);
  advance(now);
  std::array<FdbKey, kSourcesMax> stale;
  size_t stale_count = 0;
  uint32_t not_known = 0;
  for (size_t i = 0; i < count; ++i) {
    const FdbValue value = sources.values[i];
    const bool is_known = sources.hits.test(i) && !Ageing::is_unknown(value, sixteenth_) &&
                          (value.port() == sources.ports[i] || value.is_static());
    if (!is_known) {
      not_known |= uint32_t{1} << i;
    } else if (Ageing::is_stale(value, sixteenth_)) {
      stale[stale_count++] = sources.keys[i];
    }
  }
  if (stale_count != 0) refresh(std::span(stale).first(stale_count));
  return not_known == 0 ? 0 : learn_new(sources, not_known, now);
}

void Learner::refresh(std::span<const FdbKey> keys) {
  std::array<FdbValue, kSourcesMax> values;
  HitArray<kSourcesMax> hits;
  counters_.refreshed += reader_.lookup_and_set_hint(
      keys, static_cast<uint16_t>(sixteenth_ & FdbValue::kAgeMask), std::span(values), hits);
}

uint32_t Learner::learn_new(const Sources& sources, uint32_t which, Tick now) {
  auto writer = fdb_->try_write();
  if (!writer) {
    counters_.lock_misses += static_cast<uint64_t>(std::popcount(which));
    for (; which != 0 && missed_count_ < missed_.size(); which &= which - 1) {
      const auto i = static_cast<size_t>(std::countr_zero(which));
      missed_[missed_count_++] = {sources.keys[i], sources.ports[i]};
    }
    return 0;
  }
  uint32_t refused = 0;
  for (; which != 0; which &= which - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(which));
    const Learned outcome = writer->learn(sources.keys[i], sources.ports[i], now);
    if (outcome == Learned::kRefused) refused |= uint32_t{1} << i;
    count(outcome);
  }
  return refused;
}

void Learner::learn_missed(Tick now) {
  auto writer = fdb_->try_write();
  if (!writer) return;
  for (const Missed& missed : std::span(missed_).first(missed_count_))
    count(writer->learn(missed.key, missed.port, now));
  missed_count_ = 0;
}

void Learner::count(Learned outcome) {
  switch (outcome) {
    case Learned::kNew:
      ++counters_.learned;
      break;
    case Learned::kRelearned:
      ++counters_.learned;
      ++counters_.reclaimed;
      break;
    case Learned::kMoved:
      ++counters_.moved;
      break;
    case Learned::kHeld:
      ++counters_.held;
      break;
    case Learned::kRefused:
      ++counters_.refused;
      break;
    case Learned::kKnown:
    case Learned::kStatic:
      break;
  }
}

void Learner::reclaim(Tick now, uint64_t bucket_budget) {
  advance(now);
  if (missed_count_ != 0) learn_missed(now);
  if (visited_ == bucket_count_) {
    if (sixteenth_ == pass_began_) return;
    visited_ = 0;
    pass_began_ = sixteenth_;
  }
  for (; bucket_budget > 0 && visited_ < bucket_count_; --bucket_budget) {
    if (!found_.empty() && !erase_found(now)) return;
    reader_.visit_bucket(BucketIndex{first_bucket_ + visited_++},
                         [&](const FdbKey& key, const FdbValue& value) {
                           if (Ageing::is_unknown(value, sixteenth_)) found_.push_back(key);
                         });
  }
  if (!found_.empty()) static_cast<void>(erase_found(now));
}

bool Learner::erase_found(Tick now) {
  auto writer = fdb_->try_write();
  if (!writer) return false;
  for (const FdbKey& key : found_) {
    if (writer->erase_unknown(key, now)) ++counters_.reclaimed;
  }
  found_.clear();
  return true;
}

}  // namespace roost::bridge
