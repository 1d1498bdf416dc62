#include "lab/balance/scenario.h"

#include <algorithm>

namespace roost::lab {
namespace {

constexpr double kNoticed = 0.01;  // after a failure

std::vector<BackendEvent> rolling(size_t backend_count) {
  std::vector<BackendEvent> events;
  const size_t count = std::min<size_t>(backend_count, 8);
  for (size_t i = 0; i < count; ++i) {
    const double begin = 0.4 + 0.5 * static_cast<double>(i) / static_cast<double>(count);
    const double step = 0.1 / static_cast<double>(count);
    events.push_back({begin, Change::kWeigh, i, 0});
    events.push_back({begin + 2 * step, Change::kFail, i});
    events.push_back({begin + 3 * step, Change::kRecover, i});
    events.push_back({begin + 4 * step, Change::kWeigh, i, 1});
  }
  return events;
}

}  // namespace

std::vector<Scenario> scenarios(size_t backend_count) {
  const size_t one = backend_count / 3;
  return {
      {.name = "leave", .events = {{0.5, Change::kLeave, one}}},
      {.name = "come", .events = {{0.5, Change::kCome, backend_count, 1}}},
      {.name = "fail",
       .events = {{0.5, Change::kFail, one},
                  {0.5 + kNoticed, Change::kWeigh, one, 0},
                  {0.7, Change::kRecover, one},
                  {0.7 + kNoticed, Change::kWeigh, one, 1}}},
      {.name = "weights",
       .weight = 4,
       .events = {{0.4, Change::kWeigh, one, 2},
                  {0.6, Change::kWeigh, one, 8},
                  {0.8, Change::kWeigh, one, 4}}},
      {.name = "rolling", .events = rolling(backend_count)},
      {.name = "restart",
       .events = {{0.4, Change::kLeave, one},
                  {0.5, Change::kCome, backend_count, 1},
                  {0.7, Change::kRestart}}},
  };
}

Backends::Backends(size_t count, const Scenario& scenario) {
  size_t ever = count;
  for (const BackendEvent& event : scenario.events) ever = std::max(ever, event.backend + 1);
  states_.resize(ever);
  for (size_t i = 0; i < count; ++i) states_[i] = {.weight = scenario.weight, .is_listed = true};
  make_list();
}

bool Backends::apply(const BackendEvent& event) {
  State& state = states_[event.backend];
  switch (event.change) {
    case Change::kLeave:
      state.is_listed = false;
      break;
    case Change::kCome:
      state.is_listed = true;
      state.weight = event.weight;
      break;
    case Change::kWeigh:
      state.weight = event.weight;
      break;
    case Change::kFail:
      state.is_up = false;
      ++state.failures;
      return false;
    case Change::kRecover:
      state.is_up = true;
      return false;
    case Change::kRestart:
      return false;
  }
  make_list();
  return true;
}

void Backends::make_list() {
  list_.clear();
  numbers_.clear();
  for (size_t i = 0; i < states_.size(); ++i) {
    if (!states_[i].is_listed) continue;
    list_.push_back({"backend-" + std::to_string(i), states_[i].weight});
    numbers_.push_back(i);
  }
}

}  // namespace roost::lab
