// What a map is to be built of, from a caller's arrays, and what is wrong with it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capi/map.h"
#include "capi/map_keys.h"
#include "capi/map_plan.h"
#include "roost/base/result.h"

namespace roost::capi {

// Of a build. All errors of an arena are of memory, as with tables.
[[nodiscard]] inline Failure failure_of(const Error& error) {
  const bool is_of_memory = error.message.find("an arena ") != std::string::npos;
  return {is_of_memory ? ROOST_NO_MEMORY : ROOST_INVALID, error.message};
}

// The first entry whose key an earlier one has, in words.
template <class Keys>
[[nodiscard]] std::optional<std::string> find_twin(const Keys& form, const roost_keys& keys) {
  std::vector<uint64_t> order(keys.count);
  std::iota(order.begin(), order.end(), 0);
  const auto key_of = [&](uint64_t lane) { return form.key(key_at(keys, lane, form.key_bytes())); };
  std::ranges::sort(order, [&](uint64_t a, uint64_t b) {
    const auto first = key_of(a);
    const auto second = key_of(b);
    return first != second ? first < second : a < b;
  });
  std::optional<std::pair<uint64_t, uint64_t>> twin;
  for (size_t i = 1; i < order.size(); ++i) {
    if (key_of(order[i - 1]) == key_of(order[i]) && (!twin || order[i] < twin->first))
      twin.emplace(order[i], order[i - 1]);
  }
  if (!twin) return {};
  return "entry " + std::to_string(twin->first) + " has the key of entry " +
         std::to_string(twin->second) + "; give each key once";
}

// The entries that are to be built; a sentence that names the first wrong one.
template <class Keys>
[[nodiscard]] Result<std::vector<typename Keys::Builder::Entry>> entries_of(
    const Keys& form, const MapPlan& plan, const roost_keys& keys, const uint32_t* values) {
  const uint32_t reserved = UINT32_MAX >> (32 - plan.value_bits());
  std::vector<typename Keys::Builder::Entry> entries;
  entries.reserve(keys.count);
  std::optional<Error> wrong;
  for_each_chunk(form, keys, [&](size_t, std::span<const typename Keys::Key> chunk) {
    for (const auto& key : chunk) {
      if (wrong) return;
      const size_t lane = entries.size();
      const std::string name = "entry " + std::to_string(lane);
      if (form.is_too_wide(key, plan)) {
        wrong = Error{name + " has a key of more than " + std::to_string(plan.parrot.key_bits) +
                      " bits; see key_bits"};
      } else if (values[lane] >= reserved) {
        wrong = Error{name + " has the value " + std::to_string(values[lane]) + "; values of " +
                      std::to_string(plan.value_bits()) + " bits are below " +
                      std::to_string(reserved) + ", see value_bits"};
      } else {
        entries.push_back({key, values[lane]});
      }
    }
  });
  if (wrong) return *wrong;
  return entries;
}

}  // namespace roost::capi
