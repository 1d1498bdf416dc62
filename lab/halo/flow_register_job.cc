#include "lab/halo/flow_register_job.h"

#include <algorithm>
#include <cmath>

#include "roost/classify/flow_register.h"
#include "roost/traffic/draw.h"

namespace roost::lab {
namespace {

struct Errors {
  double bias = 0;
  double deviation = 0;
  double saturated = 0;
};

Errors errors_of(uint32_t bits, uint32_t flows, uint32_t trials, traffic::Draw& draw) {
  double sum = 0;
  double squares = 0;
  uint32_t saturated = 0;
  for (uint32_t trial = 0; trial < trials; ++trial) {
    classify::FlowRegister flow_register({.bits = bits});
    for (uint32_t flow = 0; flow < flows; ++flow) flow_register.note(draw.word());
    const classify::FlowRegister::Estimate estimate = flow_register.estimate();
    const double error = estimate.flows / flows - 1;
    sum += error;
    squares += error * error;
    saturated += estimate.is_saturated ? 1U : 0U;
  }
  const double bias = sum / trials;
  return {.bias = bias,
          .deviation = std::sqrt(std::max(0.0, squares / trials - bias * bias)),
          .saturated = static_cast<double>(saturated) / trials};
}

}  // namespace

Rows run_flow_register_job(const FlowRegisterConfig& config) {
  Rows rows;
  traffic::Draw draw(config.seed);
  for (const uint32_t bits : config.bits) {
    for (const double share : config.shares) {
      const auto flows = static_cast<uint32_t>(std::lround(share * bits));
      const Errors errors = errors_of(bits, flows, config.trials, draw);
      RecordRow row;
      row.experiment = "fig8b";
      row.kind = "simulated";
      row.contestant = "flow_register";
      row.form = "plain";
      row.workload = "distinct flows";
      row.slots = bits;
      row.entries = flows;
      row.load = share;
      row.operations = config.trials;
      row.seed = config.seed;
      const auto add = [&](const char* metric, double value) {
        row.metric = metric;
        row.value = value;
        rows.push_back(row);
      };
      add("bias", errors.bias);
      add("deviation", errors.deviation);
      add("saturated", errors.saturated);
    }
  }
  return rows;
}

}  // namespace roost::lab
