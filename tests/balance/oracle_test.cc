// Each algorithm beside the plainest program that does the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "roost/balance/anchor.h"
#include "roost/balance/dx.h"
#include "roost/balance/flow_draw.h"
#include "roost/balance/jump.h"
#include "roost/balance/rendezvous.h"
#include "roost/balance/ring.h"
#include "tests/balance/picks.h"

namespace roost::balance {
namespace {

std::vector<WeightedBackend> some_backends(std::mt19937_64& random) {
  std::vector<WeightedBackend> backends = equal_backends(1 + random() % 30);
  for (WeightedBackend& backend : backends) backend.weight = static_cast<uint32_t>(random() % 6);
  backends[0].weight = 1;
  return backends;
}

TEST(Ring, a_flow_goes_to_the_nearest_point_after_its_hash) {
  std::mt19937_64 random(1);
  for (size_t round = 0; round < 10; ++round) {
    const std::vector<WeightedBackend> backends = some_backends(random);
    const Ring ring = made(Ring::create({.backends = backends, .points_per_weight = 7}));
    for (size_t flow = 0; flow < 2'000; ++flow) {
      const uint64_t hash = random();
      size_t nearest = backends.size();
      uint64_t least = UINT64_MAX;
      for (size_t i = 0; i < backends.size(); ++i) {
        uint64_t state = name_hash(backends[i].name, 0).first;
        for (size_t point = 0; point < 7 * size_t{backends[i].weight}; ++point) {
          const uint64_t distance = splitmix64_next(state) - hash;
          if (distance >= least) continue;
          least = distance;
          nearest = i;
        }
      }
      ASSERT_EQ(ring.pick(hash), nearest);
    }
  }
}

TEST(Rendezvous, without_weights_the_highest_draw_wins) {
  const std::vector<WeightedBackend> backends = equal_backends(30, 7);
  const Rendezvous rendezvous = make<Rendezvous>(backends, 3);
  for (size_t flow = 0; flow < 20'000; ++flow) {
    size_t best = 0;
    uint64_t highest = 0;
    for (size_t i = 0; i < backends.size(); ++i) {
      const uint64_t draw = flow_draw(flow_hash(flow), name_hash(backends[i].name, 3).first);
      if (draw < highest) continue;
      highest = draw;
      best = i;
    }
    ASSERT_EQ(rendezvous.pick(flow_hash(flow)), best);
  }
}

TEST(Rendezvous, with_weights_the_least_logarithm_by_weight_wins) {
  std::mt19937_64 random(2);
  size_t different = 0;
  for (size_t round = 0; round < 10; ++round) {
    const std::vector<WeightedBackend> backends = some_backends(random);
    const Rendezvous rendezvous = make<Rendezvous>(backends, 3);
    for (size_t flow = 0; flow < 2'000; ++flow) {
      size_t best = 0;
      double least = INFINITY;
      for (size_t i = 0; i < backends.size(); ++i) {
        if (backends[i].weight == 0) continue;
        const uint64_t draw = flow_draw(flow_hash(flow), name_hash(backends[i].name, 3).first);
        const double cost = -std::log(static_cast<double>(draw) * 0x1p-64) / backends[i].weight;
        if (cost >= least) continue;
        least = cost;
        best = i;
      }
      if (rendezvous.pick(flow_hash(flow)) != best) ++different;
    }
  }
  EXPECT_LT(different, 20u);  // of 20,000, where two are nearly equal
}

TEST(Rendezvous, the_logarithm_in_integers_is_off_by_four_millionths_at_most) {
  std::mt19937_64 random(3);
  for (size_t i = 0; i < 200'000; ++i) {
    const uint64_t draw = random() >> random() % 64;
    const double exact = 64 - std::log2(static_cast<double>(draw | 1));
    ASSERT_NEAR(static_cast<double>(negative_log2(draw)) * 0x1p-32, exact, 4e-6) << draw;
  }
  EXPECT_EQ(negative_log2(0), uint64_t{64} << 32);
  EXPECT_LT(negative_log2(UINT64_MAX), 8u);
}

// Values that other programs of the paper's figure publish in their tests.
TEST(Jump, gives_the_published_buckets) {
  EXPECT_EQ(jump_bucket(1, 1), 0u);
  EXPECT_EQ(jump_bucket(42, 57), 43u);
  EXPECT_EQ(jump_bucket(0xDEAD10CC, 1), 0u);
  EXPECT_EQ(jump_bucket(0xDEAD10CC, 666), 361u);
  EXPECT_EQ(jump_bucket(256, 1'024), 520u);
}

TEST(Jump, a_backend_has_a_bucket_for_each_unit_of_its_weight) {
  const std::vector<WeightedBackend> backends = {{"a", 2}, {"b", 0}, {"c", 6}, {"d", 4}};
  const std::vector<size_t> owners = {0, 2, 2, 2, 3, 3};  // weights by two
  const Jump jump = make<Jump>(backends, 9);
  for (size_t flow = 0; flow < 1'000; ++flow) {
    const uint32_t bucket = jump_bucket(flow_hash(flow) ^ seed_salt(9), 6);
    ASSERT_EQ(jump.pick(flow_hash(flow)), owners[bucket]);
  }
}

// Algorithm 1 of the paper, as it stands there: each bucket that went has the whole set of those
// that worked afterwards.
class NaiveAnchor {
 public:
  explicit NaiveAnchor(uint32_t capacity) : set_of_(capacity) {
    for (uint32_t bucket = 0; bucket < capacity; ++bucket) working_.push_back(bucket);
    while (!working_.empty()) remove(working_.back());
  }
  uint32_t add() {
    const uint32_t bucket = removed_.back();
    removed_.pop_back();
    working_ = before_.back();
    before_.pop_back();
    return bucket;
  }
  void remove(uint32_t bucket) {
    before_.push_back(working_);
    removed_.push_back(bucket);
    std::ranges::replace(working_, bucket, working_.back());
    working_.pop_back();
    set_of_[bucket] = working_;
  }
  [[nodiscard]] bool works(uint32_t bucket) const {
    return std::ranges::find(working_, bucket) != working_.end();
  }
  [[nodiscard]] uint32_t bucket_of(uint64_t key) const {
    const auto capacity = static_cast<uint32_t>(set_of_.size());
    uint32_t bucket = below(flow_draw(key, Anchor::kCapacityMax), capacity);
    while (!works(bucket)) {
      const std::vector<uint32_t>& then = set_of_[bucket];
      bucket = then[below(flow_draw(key, bucket), static_cast<uint32_t>(then.size()))];
    }
    return bucket;
  }
  [[nodiscard]] const std::vector<uint32_t>& working() const { return working_; }

 private:
  std::vector<uint32_t> working_;
  std::vector<uint32_t> removed_;
  std::vector<std::vector<uint32_t>> before_;  // the set that each removal changed
  std::vector<std::vector<uint32_t>> set_of_;  // by bucket
};

TEST(Anchor, two_arrays_say_what_the_sets_of_the_paper_say) {
  std::mt19937_64 random(4);
  NaiveAnchor naive(32);
  std::map<std::string, uint32_t> bucket_of;
  std::vector<WeightedBackend> backends;
  Anchor anchor = made(Anchor::create({.seed = 5, .capacity_min = 32}));
  for (size_t change = 0; change < 300; ++change) {
    const bool leaves = backends.size() == 32 || (backends.size() > 1 && random() % 2 == 0);
    if (leaves) {
      const size_t who = random() % backends.size();
      naive.remove(bucket_of.at(backends[who].name));
      backends = without(backends, who);
    } else {
      const std::string name = "comer " + std::to_string(change);
      bucket_of[name] = naive.add();
      backends.push_back({name, 1});
    }
    anchor = made(anchor.next(backends));
    for (size_t flow = 0; flow < 300; ++flow) {
      const size_t picked = anchor.pick(flow_hash(flow)).value();
      ASSERT_EQ(bucket_of.at(backends[picked].name),
                naive.bucket_of(flow_hash(flow) ^ seed_salt(5)))
          << "change " << change;
    }
  }
}

TEST(Dx, a_flow_goes_to_the_first_node_of_its_sequence_whose_weight_is_above_the_level) {
  const std::vector<WeightedBackend> backends = {{"a", 1}, {"b", 3}, {"c", 4}, {"d", 0}, {"e", 2}};
  const Dx dx = make<Dx>(backends, 6);
  for (size_t flow = 0; flow < 5'000; ++flow) {
    uint64_t state = flow_hash(flow) ^ seed_salt(6);
    size_t node = backends.size();
    while (node >= backends.size() || backends[node].weight == 0) {
      const uint64_t draw = splitmix64_next(state);
      const uint64_t place = draw % 8;  // five names in their order, and three that are free
      const uint64_t level = draw >> 62;
      if (place < backends.size() && level < backends[place].weight) node = place;
    }
    ASSERT_EQ(dx.pick(flow_hash(flow)), node);
  }
}

}  // namespace
}  // namespace roost::balance
