// Entries that are replaced, by a contestant's own means: one by one, or those that are due
// together.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lab/harness/contestant.h"
#include "lab/harness/workload.h"
#include "roost/traffic/key_source.h"

namespace roost::lab {

// Keys that leave and arrive, as many of each.
struct Churn {
  std::span<const Key> leaving;
  std::span<const Key> arriving;

  // From `first` to before `end`, kLanesMax at most.
  [[nodiscard]] Churn part(size_t first, size_t end) const {
    const size_t count = std::min(end - first, kLanesMax);
    return {leaving.subspan(first, count), arriving.subspan(first, count)};
  }
};

// One entry leaves and one arrives; how many of the two did.
template <Erasing Table>
uint64_t replace_one(Table& table, const Key& leaving, const Key& arriving) {
  const auto key = traffic::narrowed<KeyOf<Table>>(arriving);
  const bool left = table.erase(traffic::narrowed<KeyOf<Table>>(leaving));
  const bool arrived = table.insert(key, value_of<ValueOf<Table>>(key));
  return uint64_t{left} + uint64_t{arrived};
}

// The entries that are due after a call of lookups: a table that can is told before the call which
// they are, and replaces them together.
template <Erasing Table>
class DueEntries {
 public:
  DueEntries(Table& table, const Churn& due) : table_(&table), due_(due) {
    if constexpr (Replacing<Table>) {
      for (size_t i = 0; i < due.leaving.size(); ++i) {
        leaving_[i] = traffic::narrowed<KeyOf<Table>>(due.leaving[i]);
        arriving_[i] = traffic::narrowed<KeyOf<Table>>(due.arriving[i]);
        values_[i] = value_of<ValueOf<Table>>(arriving_[i]);
      }
      table.ask_for(std::span(leaving_).first(due.leaving.size()));
      table.ask_for(std::span(arriving_).first(due.leaving.size()));
    }
  }

  [[nodiscard]] size_t count() const { return due_.leaving.size(); }
  // How many left and arrived, together.
  uint64_t replace() {
    const size_t count = due_.leaving.size();
    if constexpr (Replacing<Table>) {
      return table_->replace(std::span<const KeyOf<Table>>(leaving_).first(count),
                             std::span<const KeyOf<Table>>(arriving_).first(count),
                             std::span<const ValueOf<Table>>(values_).first(count));
    }
    uint64_t done = 0;
    for (size_t i = 0; i < count; ++i)
      done += replace_one(*table_, due_.leaving[i], due_.arriving[i]);
    return done;
  }

 private:
  Table* table_;
  Churn due_;
  std::array<KeyOf<Table>, kLanesMax> leaving_;
  std::array<KeyOf<Table>, kLanesMax> arriving_;
  std::array<ValueOf<Table>, kLanesMax> values_;
};

}  // namespace roost::lab
