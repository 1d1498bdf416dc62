// A reload of a balancer without its control thread.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

#include "apps/lb/datapath/backend_registry.h"
#include "apps/lb/datapath/state.h"
#include "tests/lb/test_balancer.h"

namespace roost::lb {

// What a reload does to one worker whose backends all have connections.
inline void take(TestBalancer& worker, const Config& file) {
  const BackendRegistry& before = worker.state().registry();
  BackendUse use;
  for (size_t family = 0; family < use.size(); ++family)
    use[family].assign(before.families[family].backends.size(), true);
  const auto registry = next_registry(file, before, use);
  ASSERT_TRUE(registry.ok());
  std::array<std::vector<ServiceChoices>, 2> choices;
  for (size_t family = 0; family < choices.size(); ++family) {
    auto made = make_choices(registry.value().families[family], file.maglev_seed);
    ASSERT_TRUE(made.ok());
    choices[family] = std::move(made).value();
  }
  auto update = StateUpdate::create(file, registry.value(), choices);
  ASSERT_TRUE(update.ok());
  worker.state().exchange(update.value());
}

}  // namespace roost::lb
