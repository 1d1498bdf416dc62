// A bucket of a shared table as it was at one moment, while the writer goes on.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "roost/hash/hash64.h"
#include "roost/table/shared_search.h"

namespace roost {

// An entry, from its padded key and its value.
template <class Key, class Value>
[[nodiscard]] std::pair<Key, Value> copy_of_entry(const std::byte* key, const std::byte* value) {
  std::pair<Key, Value> copy{};
  std::memcpy(&copy.first, key, sizeof(Key));
  if constexpr (!std::is_empty_v<Value>) std::memcpy(&copy.second, value, sizeof(Value));
  return copy;
}

// Calls visit(key, value) with a copy of each live entry. Any thread.
template <class Key, class Value, class Engine, class Visit>
void visit_whole_bucket(const Engine& engine, BucketIndex bucket, Visit&& visit) {
  std::array<std::pair<Key, Value>, Engine::Layout::kSlots> copies;
  size_t count = 0;
  engine.placement().access().read_whole(bucket, [&] {
    count = 0;
    copy_bucket(engine, bucket, [&](const std::byte* key, const std::byte* value) {
      copies[count++] = copy_of_entry<Key, Value>(key, value);
    });
  });
  for (size_t i = 0; i < count; ++i) visit(copies[i].first, copies[i].second);
}

}  // namespace roost
