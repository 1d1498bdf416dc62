// The lengths of flows against their laws.
#include "roost/traffic/flow_length.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace roost::traffic {
namespace {

constexpr int kLengths = 400'000;

std::vector<double> drawn(const FlowLength& length) {
  Draw draw(5);
  std::vector<double> packets;
  for (int i = 0; i < kLengths; ++i) packets.push_back(static_cast<double>(length.packets(draw)));
  return packets;
}

// That the mean of what is drawn is the law's is said by its own spread, which a heavy tail makes
// wide.
void expect_mean(const FlowLength& length) {
  const std::vector<double> packets = drawn(length);
  double sum = 0;
  double squares = 0;
  for (const double one : packets) sum += one;
  const double mean = sum / kLengths;
  for (const double one : packets) squares += (one - mean) * (one - mean);
  EXPECT_NEAR(mean, length.mean(), 4 * std::sqrt(squares / kLengths / kLengths) + 1e-9);
}

TEST(FlowLength, has_the_mean_that_is_asked_for) {
  for (const double mean : {20.0, 30.0, 81.0, 114.0}) {
    for (const LengthLaw law : {LengthLaw::kFixed, LengthLaw::kZipf, LengthLaw::kPareto}) {
      SCOPED_TRACE(std::to_string(mean) + ", law " + std::to_string(static_cast<int>(law)));
      const FlowLength length =
          FlowLength::create({.law = law, .mean = mean, .tail = 1.3, .packets_max = 100'000})
              .value();
      EXPECT_NEAR(length.mean(), mean, mean * 0.001);
      expect_mean(length);
    }
  }
}

TEST(FlowLength, that_is_fixed_is_always_the_same) {
  const FlowLength length = FlowLength::create({.law = LengthLaw::kFixed, .mean = 30}).value();
  for (const double one : drawn(length)) ASSERT_EQ(one, 30);
}

// P(more than n) = (n^-tail - largest^-tail) / (smallest^-tail - largest^-tail)
TEST(FlowLength, of_pareto_has_the_tail_that_is_asked_for) {
  for (const double tail : {1.1, 1.3, 2.0}) {
    const FlowLength length =
        FlowLength::create({.law = LengthLaw::kPareto, .mean = 30, .tail = tail}).value();
    const std::vector<double> packets = drawn(length);
    const auto at = [&](double n) { return std::pow(n, -tail); };
    const double largest = at(static_cast<double>(length.largest()));
    for (const double limit : {50.0, 100.0, 1'000.0, 10'000.0}) {
      const auto more =
          std::count_if(packets.begin(), packets.end(), [&](double one) { return one > limit; });
      // What lies between two numbers is either: as if the limit were half a packet further on.
      const double wanted =
          kLengths * (at(limit + 0.5) - largest) / (at(length.smallest()) - largest);
      EXPECT_NEAR(static_cast<double>(more), wanted, 5 * std::sqrt(wanted) + 1)
          << "tail " << tail << ", more than " << limit;
    }
  }
}

// With a light tail the mean is sharp: half a packet less would be seen.
TEST(FlowLength, of_pareto_has_the_mean_of_what_is_between_two_numbers) {
  expect_mean(FlowLength::create({LengthLaw::kPareto, 2.5, 4, 1'000}).value());
}

// P(n) falls as n^-tail: what comes twice as far is so much rarer.
TEST(FlowLength, of_zipf_has_the_tail_that_is_asked_for) {
  const FlowLength length =
      FlowLength::create({.law = LengthLaw::kZipf, .mean = 30, .tail = 1.3}).value();
  std::vector<int> times(length.largest() + 1);
  for (const double one : drawn(length)) ++times[static_cast<size_t>(one)];
  for (const size_t number : {1U, 2U, 5U, 20U}) {
    const double ratio = static_cast<double>(times[2 * number]) / times[number];
    EXPECT_NEAR(ratio, std::pow(2, -1.3), 5 / std::sqrt(times[2 * number])) << number;
  }
}

TEST(FlowLength, refuses_what_cannot_be) {
  EXPECT_EQ(
      FlowLength::create({.mean = 0.5}).error().message,
      "flows of a mean of 0.5 packets: it must be between 1 and 1000000, the most that a flow "
      "may have");
  EXPECT_EQ(
      FlowLength::create({.mean = 3, .tail = 1.3}).error().message,
      "flows of a mean of 3 packets: with a tail of 1.3 and at most 1000000 packets a flow, the "
      "mean is between 4.264655 and 1000000");
  EXPECT_EQ(FlowLength::create({.tail = -1}).error().message, "a tail of -1: it must be positive");
  EXPECT_FALSE(FlowLength::create({.law = LengthLaw::kZipf, .mean = 1'000, .tail = 3}).ok());
}

}  // namespace
}  // namespace roost::traffic
