// The kinds of shared tables that tests go over: a layout, key and value types, and expiry. Values
// are made from 16 bits, and say themselves when they are torn.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "roost/concurrent/shared_table.h"
#include "tests/table/packed_keys.h"

namespace roost {

// The value of a code, of several words.
template <size_t kWords>
struct CodedValue {
  std::array<uint64_t, kWords> words{};

  static CodedValue of(uint16_t code) {
    CodedValue value;
    for (size_t i = 0; i < kWords; ++i) value.words[i] = (code + 1) * (0x9E3779B97F4A7C15U + i);
    return value;
  }
  // 0, which no value is made from, if words of two values are mixed.
  [[nodiscard]] uint16_t code() const {
    const auto code = static_cast<uint16_t>(words[0] * 0xF1DE83E19937733DU - 1);
    return of(code).words == words ? code : uint16_t{0};
  }
};

// A key of 104 bits, as flows have.
struct FlowBits {
  std::array<uint8_t, 13> bytes;
  static FlowBits of(uint64_t number) {
    FlowBits key{};
    for (unsigned i = 0; i < key.bytes.size(); ++i)
      key.bytes[i] = static_cast<uint8_t>(number >> (i * 5 % 48));
    return key;
  }
};

inline constexpr uint64_t kSpread = 0x9E3779B97F4A7C15U;

// `Changed` derives from DefaultPolicies and changes what a test is about.
template <class Changed>
struct PackedKind {
  using Policies = Changed;
  using Table = SharedTable<Mac, uint16_t, Policies>;
  static Mac key(uint64_t number) { return Mac::of(number * kSpread >> 16); }
  static uint16_t value(uint16_t code) { return code; }
  static uint16_t code(uint16_t value) { return value; }
  template <class Reader, class Keys>
  static void lookup(const Reader& reader, const Keys& keys, std::span<uint16_t> values,
                     HitWords hits) {
    reader.lookup(keys, values, hits);
  }
};

// One whose readers set bits of values.
template <class Changed>
struct HintedKind : PackedKind<Changed> {
  struct Policies : Changed {
    static constexpr uint16_t kHintBits = 0x8000;
  };
  using Table = SharedTable<Mac, uint16_t, Policies>;
  static uint16_t code(uint16_t value) { return value & 0x7FFF; }
  template <class Reader, class Keys>
  static void lookup(const Reader& reader, const Keys& keys, std::span<uint16_t> values,
                     HitWords hits) {
    static std::atomic<uint16_t> turn{0};
    reader.lookup_and_set_hint(keys, turn++ % 2 == 0 ? 0xFFFF : 0, values, hits);
  }
};

template <class Changed, LayoutChoice kChoice>
struct WideKind {
  struct Policies : Changed {
    static constexpr LayoutChoice kLayout = kChoice;
  };
  using Value = CodedValue<2>;
  using Table = SharedTable<FlowBits, Value, Policies>;
  static FlowBits key(uint64_t number) { return FlowBits::of(number * kSpread >> 16); }
  static Value value(uint16_t code) { return Value::of(code); }
  static uint16_t code(const Value& value) { return value.code(); }
  template <class Reader, class Keys>
  static void lookup(const Reader& reader, const Keys& keys, std::span<Value> values,
                     HitWords hits) {
    reader.lookup(keys, values, hits);
  }
};
template <class Changed>
struct InlineKind : WideKind<Changed, LayoutChoice::kInline> {};
template <class Changed>
struct SplitKind : WideKind<Changed, LayoutChoice::kSplit> {};

}  // namespace roost
