// What the lab's tables hold and are asked: keys, values and streams of roost/traffic.
//
// A contestant has 16-byte keys and values unless it declares `KeyType` and `ValueType` of its own.
// A stream keeps its queries in every form that contestants want, so that those with 13-byte keys
// and those with the same 104 bits in 16 bytes get the same queries, and so with keys of 48 bits.
// Keys that are not of roost/traffic (of value-only tables) have one form: words of 64 bits, or
// 104.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "roost/traffic/key.h"
#include "roost/traffic/key_source.h"
#include "roost/traffic/query_stream.h"

namespace roost::lab {

using Key = traffic::Key128;
using Value = traffic::Value128;
using traffic::is_inserted_key;
using traffic::mix;
using traffic::of_generation;
using traffic::value_of;
using traffic::word_of;

namespace detail {
template <class Table>
struct KeyOf {
  using Type = Key;
};
template <class Table>
  requires requires { typename Table::KeyType; }
struct KeyOf<Table> {
  using Type = typename Table::KeyType;
};
template <class Table>
struct ValueOf {
  using Type = Value;
};
template <class Table>
  requires requires { typename Table::ValueType; }
struct ValueOf<Table> {
  using Type = typename Table::ValueType;
};
}  // namespace detail

template <class Table>
using KeyOf = typename detail::KeyOf<Table>::Type;
template <class Table>
using ValueOf = typename detail::ValueOf<Table>::Type;

class Stream {
 public:
  explicit Stream(std::vector<Key> queries) : size_(queries.size()), queries_(std::move(queries)) {}
  // Of keys that have this form only.
  template <class KeyType>
  explicit Stream(std::vector<KeyType> queries) : size_(queries.size()) {
    std::get<std::vector<KeyType>>(narrow_) = std::move(queries);
  }

  [[nodiscard]] size_t size() const { return size_; }

  // The queries as keys of this type; the first call for a narrower one makes them. Not for several
  // threads.
  template <class KeyType>
  [[nodiscard]] std::span<const KeyType> as() const {
    if constexpr (std::is_same_v<KeyType, Key>) {
      return queries_;
    } else if constexpr (std::is_same_v<KeyType, uint64_t>) {
      return std::get<std::vector<uint64_t>>(narrow_);
    } else {
      auto& narrow = std::get<std::vector<KeyType>>(narrow_);
      if (narrow.empty()) {
        narrow.reserve(queries_.size());
        for (const Key& key : queries_) narrow.push_back(traffic::narrowed<KeyType>(key));
      }
      return narrow;
    }
  }

 private:
  size_t size_;
  std::vector<Key> queries_;
  mutable std::tuple<std::vector<traffic::Key104>, std::vector<traffic::Key48>,
                     std::vector<uint64_t>>
      narrow_;
};

// Writes the entries of the keys with indices from `first` on.
template <class KeyType, class ValueType>
void make_entries(const traffic::KeySource& source, uint64_t first, std::span<KeyType> keys,
                  std::span<ValueType> values) {
  for (size_t i = 0; i < keys.size(); ++i) {
    keys[i] = traffic::narrowed<KeyType>(source.inserted(first + i));
    values[i] = value_of<ValueType>(keys[i]);
  }
}

}  // namespace roost::lab
