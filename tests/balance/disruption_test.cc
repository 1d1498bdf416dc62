// Which flows move when the backends change: each paper's promise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "roost/balance/anchor.h"
#include "roost/balance/dx.h"
#include "roost/balance/jump.h"
#include "roost/balance/rendezvous.h"
#include "roost/balance/ring.h"
#include "tests/balance/picks.h"

namespace roost::balance {
namespace {

// Those that move no flow between two backends that the change is not about.
template <class A>
class LeastDisruption : public testing::Test {};
using Minimal = testing::Types<Ring, Rendezvous, Anchor, Dx>;
TYPED_TEST_SUITE(LeastDisruption, Minimal);

// Anchor and Dx with room for who comes later.
template <class A>
A with_room(std::span<const WeightedBackend> backends) {
  if constexpr (std::is_same_v<A, Anchor>) {
    return made(A::create({.backends = backends, .seed = 1, .capacity_min = 256}));
  } else if constexpr (std::is_same_v<A, Dx>) {
    return made(
        A::create({.backends = backends, .seed = 1, .place_count_min = 64, .weight_max = 8}));
  } else {
    return make<A>(backends);
  }
}

TYPED_TEST(LeastDisruption, a_backend_that_goes_gives_its_own_flows_away_to_all_others) {
  const std::vector<WeightedBackend> backends = equal_backends(12);
  const TypeParam before = with_room<TypeParam>(backends);
  for (size_t leaver = 0; leaver < backends.size(); ++leaver) {
    const std::vector<WeightedBackend> left = without(backends, leaver);
    const TypeParam after = made(before.next(left));
    const Moves moves = moves_between(picked_names(before, backends), picked_names(after, left));
    for (const auto& [move, count] : moves) EXPECT_EQ(move.first, backends[leaver].name);
    EXPECT_EQ(moves.size(), left.size());
  }
}

TYPED_TEST(LeastDisruption, a_backend_that_comes_takes_flows_from_all_others) {
  const std::vector<WeightedBackend> backends = equal_backends(12);
  const TypeParam before = with_room<TypeParam>(backends);
  std::vector<WeightedBackend> more = backends;
  more.insert(more.begin() + 4, {"a newcomer", 1});
  const TypeParam after = made(before.next(more));
  const Moves moves = moves_between(picked_names(before, backends), picked_names(after, more));
  for (const auto& [move, count] : moves) EXPECT_EQ(move.second, "a newcomer");
  EXPECT_EQ(moves.size(), backends.size());
}

TYPED_TEST(LeastDisruption, a_weight_that_changes_moves_flows_from_or_to_its_backend_only) {
  std::vector<WeightedBackend> backends = equal_backends(12, 4);
  TypeParam algorithm = with_room<TypeParam>(backends);
  auto names = picked_names(algorithm, backends);
  for (const uint32_t weight : {5U, 8U, 1U, 0U, 4U}) {
    const uint32_t before = std::exchange(backends[6].weight, weight);
    algorithm = made(algorithm.next(backends));
    const auto names_after = picked_names(algorithm, backends);
    for (const auto& [move, count] : moves_between(names, names_after)) {
      EXPECT_EQ(weight > before ? move.second : move.first, backends[6].name) << weight;
    }
    names = names_after;
  }
}

TYPED_TEST(LeastDisruption, holds_at_each_of_many_changes) {
  std::mt19937_64 random(7);
  std::vector<WeightedBackend> backends = equal_backends(20);
  TypeParam algorithm = with_room<TypeParam>(backends);
  auto names = picked_names(algorithm, backends, 4'000);
  for (size_t change = 0; change < 60; ++change) {
    std::vector<WeightedBackend> changed = backends;
    const bool leaves = changed.size() > 2 && (changed.size() > 30 || random() % 2 == 0);
    const size_t who = random() % changed.size();
    const std::string name = leaves ? changed[who].name : "newcomer " + std::to_string(change);
    if (leaves) {
      changed = without(changed, who);
    } else {
      changed.push_back({name, 1});
    }
    algorithm = made(algorithm.next(changed));
    const auto names_after = picked_names(algorithm, changed, 4'000);
    for (const auto& [move, count] : moves_between(names, names_after)) {
      ASSERT_EQ(leaves ? move.first : move.second, name) << "change " << change;
    }
    backends = changed;
    names = names_after;
  }
}

TYPED_TEST(LeastDisruption, a_drained_backend_that_returns_has_its_flows_back) {
  const std::vector<WeightedBackend> backends = equal_backends(12);
  std::vector<WeightedBackend> drained = backends;
  drained[3].weight = 0;
  const TypeParam before = with_room<TypeParam>(backends);
  const TypeParam after = made(made(before.next(drained)).next(backends));
  EXPECT_EQ(picked_names(before, backends), picked_names(after, backends));
}

TEST(JumpDisruption, one_more_at_the_end_takes_its_share_and_nothing_else_moves) {
  const std::vector<WeightedBackend> more = equal_backends(13);
  const std::vector<WeightedBackend> backends = without(more, 12);
  const auto names = picked_names(make<Jump>(backends), backends);
  const Moves moves = moves_between(names, picked_names(make<Jump>(more), more));
  size_t moved = 0;
  for (const auto& [move, count] : moves) {
    EXPECT_EQ(move.second, "backend-12");
    moved += count;
  }
  EXPECT_NEAR(static_cast<double>(moved), 20'000 / 13.0, 5 * std::sqrt(20'000 / 13.0));
}

TEST(JumpDisruption, the_last_that_goes_gives_its_own_flows_away_and_the_first_most_of_all) {
  const std::vector<WeightedBackend> backends = equal_backends(13);
  const auto names = picked_names(make<Jump>(backends), backends);
  const std::vector<WeightedBackend> left = without(backends, 12);
  for (const auto& [move, count] : moves_between(names, picked_names(make<Jump>(left), left))) {
    EXPECT_EQ(move.first, "backend-12");
  }
  const std::vector<WeightedBackend> others = without(backends, 0);
  size_t moved = 0;
  for (const auto& [move, count] : moves_between(names, picked_names(make<Jump>(others), others))) {
    moved += count;
  }
  EXPECT_GT(moved, 15'000u);
}

// Beyond the room that was made, another hash begins: that is said, not hidden.
TEST(Anchor, doubles_its_capacity_for_more_backends_than_it_has_room_for) {
  const std::vector<WeightedBackend> backends = equal_backends(8);
  const Anchor full = make<Anchor>(backends);
  EXPECT_EQ(full.capacity(), 8u);
  const std::vector<WeightedBackend> more = equal_backends(9);
  const Anchor wider = made(full.next(more));
  EXPECT_EQ(wider.capacity(), 16u);
  EXPECT_EQ(picked_names(wider, more), picked_names(make<Anchor>(more), more));
}

TEST(Dx, doubles_its_places_and_its_scale_when_they_do_not_do) {
  const Dx full = make<Dx>(equal_backends(8));
  EXPECT_EQ(full.place_count(), 8u);
  EXPECT_EQ(full.scale(), 1u);
  EXPECT_EQ(made(full.next(equal_backends(9))).place_count(), 16u);
  EXPECT_EQ(made(full.next(equal_backends(8, 3))).scale(), 4u);
}

TEST(Dx, refuses_weights_that_would_take_too_many_draws) {
  const std::vector<WeightedBackend> far_apart = {{"b1", 1}, {"b2", 4'000'000'000}};
  EXPECT_TRUE(Dx::create({.backends = far_apart}));
  const std::vector<WeightedBackend> light = {{"b1", 1}};
  const Result<Dx> refused = Dx::create({.backends = light, .weight_max = 1U << 20});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("bring the weights closer together"), std::string::npos);
}

TEST(Weights, that_stand_for_too_much_are_refused_with_the_reason) {
  const std::vector<WeightedBackend> heavy = {{"b1", 4'000'000'000}, {"b2", 3'999'999'999}};
  EXPECT_FALSE(Ring::create({.backends = heavy}));
  EXPECT_FALSE(Jump::create({.backends = heavy}));
  EXPECT_FALSE(Anchor::create({.backends = heavy}));
  EXPECT_TRUE(Rendezvous::create({.backends = heavy}));
  EXPECT_FALSE(Ring::create({.backends = equal_backends(2), .points_per_weight = 0}));
}

}  // namespace
}  // namespace roost::balance
