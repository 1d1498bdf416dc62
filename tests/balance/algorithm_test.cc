// What every consistent hash of the room promises: one answer for a flow, shares by weight, nothing
// for who has no weight, and a reason for what cannot be.
#include "roost/balance/algorithm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "roost/balance/anchor.h"
#include "roost/balance/dx.h"
#include "roost/balance/jump.h"
#include "roost/balance/maglev.h"
#include "roost/balance/rendezvous.h"
#include "roost/balance/ring.h"
#include "tests/balance/picks.h"

namespace roost::balance {
namespace {

template <class A>
class EachAlgorithm : public testing::Test {
 protected:
  static_assert(Algorithm<A>);
};
using Algorithms = testing::Types<Maglev, Ring, Rendezvous, Jump, Anchor, Dx>;
TYPED_TEST_SUITE(EachAlgorithm, Algorithms);

TYPED_TEST(EachAlgorithm, gives_a_flow_the_same_backend_after_a_restart) {
  const std::vector<WeightedBackend> backends = equal_backends(10);
  const auto names = picked_names(make<TypeParam>(backends, 3), backends);
  EXPECT_EQ(names, picked_names(make<TypeParam>(backends, 3), backends));
  EXPECT_NE(names, picked_names(make<TypeParam>(backends, 4), backends));
}

TYPED_TEST(EachAlgorithm, does_not_ask_for_the_order_of_the_list_unless_it_numbers_it) {
  std::vector<WeightedBackend> backends = equal_backends(23);
  for (size_t i = 0; i < backends.size(); ++i) backends[i].weight = static_cast<uint32_t>(i % 4);
  const auto names = picked_names(make<TypeParam>(backends), backends);
  std::mt19937_64 random(12);
  std::ranges::shuffle(backends, random);
  const bool is_same = names == picked_names(make<TypeParam>(backends), backends);
  EXPECT_EQ(is_same, !(std::is_same_v<TypeParam, Jump>));
}

// A flow is with a backend by chance, so that shares are those of draws: five standard deviations
// of so many, and what the algorithm's own shares are off by.
template <class A>
constexpr double kShareError = 0;
template <>
constexpr double kShareError<Maglev> = 0.02;  // I2 of maglev.h
template <>
constexpr double kShareError<Ring> = 0.5;  // five times 1 / sqrt(100)
template <>
constexpr double kShareError<Rendezvous> = 0.002;  // the logarithm's

template <class A>
void expect_shares_of_weights(std::span<const WeightedBackend> backends) {
  constexpr size_t kFlows = 200'000;
  std::map<std::string, size_t> count;
  for (const std::string& name : picked_names(make<A>(backends), backends, kFlows)) ++count[name];
  double weight_sum = 0;
  for (const WeightedBackend& backend : backends) weight_sum += backend.weight;
  for (const WeightedBackend& backend : backends) {
    const double wanted = backend.weight / weight_sum * kFlows;
    const double bound = kShareError<A> * wanted + 5 * std::sqrt(wanted);
    EXPECT_NEAR(static_cast<double>(count[backend.name]), wanted, bound) << backend.name;
  }
}

TYPED_TEST(EachAlgorithm, shares_flows_out_by_weight) {
  expect_shares_of_weights<TypeParam>(equal_backends(1));
  expect_shares_of_weights<TypeParam>(equal_backends(17));
  std::vector<WeightedBackend> backends = equal_backends(12);
  for (size_t i = 0; i < backends.size(); ++i) backends[i].weight = static_cast<uint32_t>(i % 6);
  expect_shares_of_weights<TypeParam>(backends);
}

TYPED_TEST(EachAlgorithm, gives_a_backend_without_weight_nothing) {
  const std::vector<WeightedBackend> one_left = {{"drained", 0}, {"live", 5}};
  const auto names = picked_names(make<TypeParam>(one_left), one_left, 1'000);
  EXPECT_EQ(std::ranges::count(names, "live"), 1'000);

  const std::vector<WeightedBackend> none_left = {{"drained", 0}, {"also drained", 0}};
  EXPECT_EQ(make<TypeParam>(none_left).pick(42), std::nullopt);
  EXPECT_EQ(make<TypeParam>({}).pick(42), std::nullopt);
}

TYPED_TEST(EachAlgorithm, comes_back_from_no_backend_at_all) {
  const std::vector<WeightedBackend> backends = equal_backends(5);
  const TypeParam empty = made(make<TypeParam>(backends).next({}));
  EXPECT_EQ(empty.pick(42), std::nullopt);
  const TypeParam again = made(empty.next(backends));
  EXPECT_EQ(picked_names(again, backends).size(), 20'000u);
  expect_shares_of_weights<TypeParam>(backends);
}

TYPED_TEST(EachAlgorithm, refuses_two_backends_of_one_name_and_too_many) {
  const std::vector<WeightedBackend> twins = {{"b1", 1}, {"b2", 1}, {"b1", 3}};
  const Result<TypeParam> twice = TypeParam::create({.backends = twins});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message, "two backends are named \"b1\"; give each its own name");
  const Result<TypeParam> later = make<TypeParam>({}).next(twins);
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().message, twice.error().message);
  EXPECT_FALSE(TypeParam::create({.backends = equal_backends(kBackendCountMax + 1)}));
}

// Who has no history is what it would be if it had begun with the list at hand.
TYPED_TEST(EachAlgorithm, remembers_earlier_lists_only_if_it_says_so) {
  const std::vector<WeightedBackend> backends = equal_backends(12);
  TypeParam changed = make<TypeParam>(backends);
  for (const size_t gone : {3U, 7U, 5U}) changed = made(changed.next(without(backends, gone)));
  const std::vector<WeightedBackend> left = without(backends, 5);
  const bool is_new = picked_names(changed, left) == picked_names(make<TypeParam>(left), left);
  EXPECT_EQ(is_new, !TypeParam::kKeepsHistory);
}

TYPED_TEST(EachAlgorithm, counts_its_bytes) {
  const uint64_t few = make<TypeParam>(equal_backends(4)).memory_bytes();
  const uint64_t many = make<TypeParam>(equal_backends(2'000)).memory_bytes();
  EXPECT_GT(few, 0u);
  EXPECT_GT(many, few);
}

}  // namespace
}  // namespace roost::balance
