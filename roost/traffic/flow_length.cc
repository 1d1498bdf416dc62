#include "roost/traffic/flow_length.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace roost::traffic {
namespace {

// The mean of Pareto's law between `smallest` and `largest`.
double pareto_mean(double tail, double smallest, double largest) {
  if (largest <= smallest) return smallest;
  const double share = 1 - std::pow(smallest / largest, tail);  // of the unbounded law
  if (std::abs(tail - 1) < 1e-9) return smallest * std::log(largest / smallest) / share;
  return smallest * tail / (tail - 1) * (1 - std::pow(smallest / largest, tail - 1)) / share;
}

std::string in_words(double number) {
  std::string words = std::to_string(number);
  words.erase(words.find_last_not_of('0') + 1);
  if (words.back() == '.') words.pop_back();
  return words;
}

Error no_such_mean(const FlowLengthConfig& config, double least, double most) {
  return {"flows of a mean of " + in_words(config.mean) + " packets: with a tail of " +
          in_words(config.tail) + " and at most " + std::to_string(config.packets_max) +
          " packets a flow, the mean is between " + in_words(least) + " and " + in_words(most)};
}

}  // namespace

Result<FlowLength> FlowLength::create(const FlowLengthConfig& config) {
  if (!(config.mean >= 1) || config.mean > static_cast<double>(config.packets_max)) {
    return Error{"flows of a mean of " + in_words(config.mean) +
                 " packets: it must be between 1 and " + std::to_string(config.packets_max) +
                 ", the most that a flow may have"};
  }
  if (config.law == LengthLaw::kFixed) {
    const double packets = std::round(config.mean);
    return FlowLength(config, packets, packets, static_cast<uint64_t>(packets));
  }
  if (!(config.tail > 0))
    return Error{"a tail of " + in_words(config.tail) + ": it must be positive"};
  return config.law == LengthLaw::kZipf ? create_zipf(config) : create_pareto(config);
}

// The mean grows with the largest number: the first that reaches it.
Result<FlowLength> FlowLength::create_zipf(const FlowLengthConfig& config) {
  double weights = 0;
  double packets = 0;
  for (uint64_t number = 1; number <= config.packets_max; ++number) {
    const double weight = std::pow(static_cast<double>(number), -config.tail);
    weights += weight;
    packets += weight * static_cast<double>(number);
    if (packets >= config.mean * weights) {
      return FlowLength(config, packets / weights, 1, number);
    }
  }
  return no_such_mean(config, 1, packets / weights);
}

// The mean grows with the smallest number, which is found by halving.
Result<FlowLength> FlowLength::create_pareto(const FlowLengthConfig& config) {
  const auto largest = static_cast<double>(config.packets_max);
  const double least = pareto_mean(config.tail, 1, largest);
  if (config.mean < least) return no_such_mean(config, least, largest);
  double below = 1;
  double above = config.mean;
  for (int step = 0; step < 100; ++step) {
    const double middle = (below + above) / 2;
    (pareto_mean(config.tail, middle, largest) < config.mean ? below : above) = middle;
  }
  return FlowLength(config, pareto_mean(config.tail, below, largest), below, config.packets_max);
}

uint64_t FlowLength::packets(Draw& draw) const {
  switch (config_.law) {
    case LengthLaw::kFixed:
      return largest_;
    case LengthLaw::kZipf:
      return zipf_.rank(draw);
    case LengthLaw::kPareto:
      break;
  }
  const double share = 1 - std::pow(smallest_ / static_cast<double>(largest_), config_.tail);
  const double drawn = smallest_ * std::pow(1 - draw.unit() * share, -1 / config_.tail);
  const double whole = std::floor(drawn);
  const double packets = whole + (draw.unit() < drawn - whole ? 1 : 0);
  return std::min(static_cast<uint64_t>(packets), largest_);
}

}  // namespace roost::traffic
