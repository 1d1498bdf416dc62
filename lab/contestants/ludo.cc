#include "lab/contestants/ludo.h"

#include <bit>

namespace roost::lab {
namespace {

constexpr uint32_t kNoKey = UINT32_MAX;
constexpr int kMovesMax = 10'000;  // of keys to make room for one

// Keys by bucket while they are moved.
class LudoMoves {
 public:
  LudoMoves(LudoPlaces places, std::span<const uint64_t> hashes)
      : places_(places), hashes_(hashes), keys_(places.bucket_count), draw_(1) {
    for (Bucket& bucket : keys_) bucket.fill(kNoKey);
  }

  // Brings a key into one of its buckets, and others into their other one as needed.
  bool settle(uint32_t key, LudoPlan& plan) {
    for (int move = 0; move < kMovesMax; ++move) {
      for (uint32_t which = 0; which < 2; ++which)
        if (put(key, which, kNoKey, plan)) return true;
      // One of the keys there leaves; any, if another one can stay with those that are left.
      const auto which = static_cast<uint32_t>(draw_.below(2));
      const Bucket before = keys_[places_.bucket(hashes_[key], which)];
      const size_t begin = draw_.below(kLudoSlots);
      for (size_t i = 0; i < kLudoSlots; ++i) {
        const uint32_t leaving = before[(begin + i) % kLudoSlots];
        if (leaving == kNoKey || !put(key, which, leaving, plan)) continue;
        key = leaving;
        break;
      }
    }
    return false;
  }

 private:
  using Bucket = std::array<uint32_t, kLudoSlots>;

  // Puts a key in the place of another one, if there is a seed for all that are there then.
  bool put(uint32_t key, uint32_t which, uint32_t in_place_of, LudoPlan& plan) {
    const uint64_t index = places_.bucket(hashes_[key], which);
    Bucket keys = keys_[index];
    const auto at = std::ranges::find(keys, in_place_of);
    if (at == keys.end()) return false;
    *at = key;
    const auto seed = seed_of(keys);
    if (!seed) return false;
    keys_[index] = keys;
    plan.seeds[index] = *seed;
    plan.which[key] = which;
    return true;
  }

  [[nodiscard]] std::optional<uint8_t> seed_of(const Bucket& keys) const {
    for (uint8_t seed = 0; seed < 1U << kLudoSeedBits; ++seed) {
      unsigned slots = 0;
      int count = 0;
      for (const uint32_t key : keys) {
        if (key == kNoKey) continue;
        slots |= 1U << LudoPlaces::slot(hashes_[key], seed);
        ++count;
      }
      if (std::popcount(slots) == count) return seed;
    }
    return {};
  }

  LudoPlaces places_;
  std::span<const uint64_t> hashes_;
  std::vector<Bucket> keys_;
  traffic::Draw draw_;
};

}  // namespace

Result<LudoPlan> LudoPlan::make(LudoPlaces places, std::span<const uint64_t> hashes) {
  LudoPlan plan{.seeds = std::vector<uint8_t>(places.bucket_count),
                .which = std::vector<uint32_t>(hashes.size())};
  LudoMoves moves(places, hashes);
  for (uint32_t key = 0; key < hashes.size(); ++key)
    if (!moves.settle(key, plan)) return Error{"no seeds after many moves of keys"};
  return plan;
}

}  // namespace roost::lab
