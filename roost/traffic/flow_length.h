// How many packets a flow has, by a law with a stated mean.
//
//   fixed    every flow has the mean, rounded
//   zipf     P(n) falls as n^-tail, n from 1 to the largest for which the mean is as stated
//   pareto   P(more than n) falls as n^-tail between a smallest, chosen for the mean, and
//   `packets_max`;
//            what is drawn between two numbers is one of them by chance, so that the mean stays
//
// Flow sizes of networks have tails of 1 to 1.5: most packets are a few flows', most flows have a
// few packets.
#pragma once

#include <cstdint>

#include "roost/base/result.h"
#include "roost/traffic/draw.h"
#include "roost/traffic/zipf.h"

namespace roost::traffic {

enum class LengthLaw : uint8_t { kFixed, kZipf, kPareto };

struct FlowLengthConfig {
  LengthLaw law = LengthLaw::kPareto;
  double mean = 30;
  double tail = 1.3;                 // of zipf and pareto
  uint64_t packets_max = 1'000'000;  // of a flow
};

class FlowLength {
 public:
  // Errors: a mean below 1 or above `packets_max`; a tail that is not positive; a law that cannot
  // have this mean with this tail.
  [[nodiscard]] static Result<FlowLength> create(const FlowLengthConfig& config);

  // Packets of the next flow, 1 or more. Constant time.
  [[nodiscard]] uint64_t packets(Draw& draw) const;

  // Of the law as it is drawn.
  [[nodiscard]] double mean() const { return mean_; }
  // The smallest and largest number of packets.
  [[nodiscard]] double smallest() const { return smallest_; }
  [[nodiscard]] uint64_t largest() const { return largest_; }

 private:
  FlowLength(const FlowLengthConfig& config, double mean, double smallest, uint64_t largest)
      : config_(config),
        mean_(mean),
        smallest_(smallest),
        largest_(largest),
        zipf_(largest, config.law == LengthLaw::kZipf ? config.tail : 0) {}

  static Result<FlowLength> create_zipf(const FlowLengthConfig& config);
  static Result<FlowLength> create_pareto(const FlowLengthConfig& config);

  FlowLengthConfig config_;
  double mean_;
  double smallest_;
  uint64_t largest_;
  Zipf zipf_;
};

}  // namespace roost::traffic
