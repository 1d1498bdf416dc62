// The kinds of value-only tables that are read while they change, for tests; and what is right of
// an answer that nothing has verified.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "roost/compact/line_map_builder_impl.h"
#include "roost/compact/parrot_builder_impl.h"
#include "roost/compact/parrot_reader_impl.h"
#include "tests/concurrent/history.h"

namespace roost::compact {

// A value of 31 bits that says when it is torn.
inline uint32_t coded(uint16_t code) { return code | (~uint32_t{code} & 0x7fff) << 16; }
inline uint16_t code_of(uint32_t value) {
  const auto code = static_cast<uint16_t>(value);
  return coded(code) == value ? code : uint16_t{0};
}

inline constexpr uint32_t kCodedBits = 31;

template <class Words>
struct LineKind {
  using Builder = LineMapBuilder<uint64_t, Words>;
  static constexpr bool kIsExact = false;
  static Builder build(std::vector<typename Builder::Entry> entries, uint64_t seed) {
    const LineMapConfig config{.value_bits = kCodedBits, .hash_seed = seed};
    return std::move(Builder::build(config, std::move(entries))).value();
  }
};
// Fuller, and with slots that lie across words.
template <class Words>
struct WideLineKind : LineKind<Words> {
  using Builder = typename LineKind<Words>::Builder;
  static Builder build(std::vector<typename Builder::Entry> entries, uint64_t seed) {
    const LineMapConfig config{
        .value_bits = kCodedBits, .fingerprint_bits = 12, .load = 0.95, .hash_seed = seed};
    return std::move(Builder::build(config, std::move(entries))).value();
  }
};
// Whose answers are certain.
template <class Words>
struct KeyedLineKind : LineKind<Words> {
  using Builder = typename LineKind<Words>::Builder;
  static constexpr bool kIsExact = true;
  static Builder build(std::vector<typename Builder::Entry> entries, uint64_t seed) {
    const LineMapConfig config{.value_bits = kCodedBits, .keeps_keys = true, .hash_seed = seed};
    return std::move(Builder::build(config, std::move(entries))).value();
  }
};
template <class Words, InsertionPolicy kPolicy>
struct ParrotKind {
  using Builder = BasicParrotBuilder<Words>;
  static constexpr bool kIsExact = true;
  static Builder build(std::vector<ParrotEntry> entries, uint64_t seed) {
    const ParrotConfig config{.value_bits = kCodedBits,
                              .keeps_keys = true,
                              .growth = 3,
                              .policy = kPolicy,
                              .hash_seed = seed};
    return std::move(Builder::build(config, std::move(entries))).value();
  }
};
template <class Words>
using StashKind = ParrotKind<Words, InsertionPolicy::kStash>;
template <class Words>
using ReseedKind = ParrotKind<Words, InsertionPolicy::kReseed>;

// What is wrong with an answer, or nothing. Of a table without keys, a key that is not there at
// some moment may have any answer.
template <class Kind>
std::string_view fault_of(const History& history, const HistoryEvent& lookup) {
  const std::string_view fault = history.check(lookup);
  if (fault.empty() || Kind::kIsExact) return fault;
  HistoryEvent absent = lookup;
  absent.code = kAbsent;
  return history.check(absent).empty() ? std::string_view() : fault;
}

}  // namespace roost::compact
