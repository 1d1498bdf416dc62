// The CRC-8 of polynomial 0x31 in the forms and with the seeds that a reader of Parrot's paper may
// take it to have. Roost's own is compact/crc8.h; these say why it is that one.
//
// With the seed as initial value, as a byte behind the key or by exclusive or in the key, a hash is
// the one without a seed, changed by the same bits for every key: keys that collide under one
// seed collide under all. The others are not linear.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "roost/compact/crc8.h"

namespace roost::lab {

// Of bits: the most significant first, or the least, as in "CRC-8/MAXIM"; and so of a key's bytes.
enum class CrcForm : uint8_t { kMsbFirst, kReflected };
inline constexpr std::array kCrcForms = {CrcForm::kMsbFirst, CrcForm::kReflected};
[[nodiscard]] constexpr std::string_view crc_form_name(CrcForm form) {
  return form == CrcForm::kMsbFirst ? "msb_first" : "reflected";
}

// The two lowest bits of a hash, or bits 7 and 6 plus bits 4 and 3.
enum class SlotRule : uint8_t { kLowBits, kMixed };
inline constexpr std::array kSlotRules = {SlotRule::kLowBits, SlotRule::kMixed};
[[nodiscard]] constexpr std::string_view slot_rule_name(SlotRule rule) {
  return rule == SlotRule::kLowBits ? "low_bits" : "mixed";
}

enum class Seeding : uint8_t {
  kInitial,      // the initial value
  kAppended,     // a byte behind the key
  kKeyXor,       // by exclusive or in the key's lowest byte
  kOutputSum,    // added to the hash
  kHashedAgain,  // added to the hash, which is hashed again
  kKeySum,       // added to the key's lowest 32 bits: ours
  kKeyProduct,   // the key times twice the seed and one
};
inline constexpr std::array kSeedings = {
    Seeding::kInitial,     Seeding::kAppended, Seeding::kKeyXor,    Seeding::kOutputSum,
    Seeding::kHashedAgain, Seeding::kKeySum,   Seeding::kKeyProduct};
[[nodiscard]] constexpr std::string_view seeding_name(Seeding seeding) {
  constexpr std::array<std::string_view, kSeedings.size()> kNames = {
      "initial_value",        "appended",      "key_xor_seed",      "crc_plus_seed",
      "crc_of_crc_plus_seed", "key_plus_seed", "key_times_odd_seed"};
  return kNames[static_cast<size_t>(seeding)];
}
[[nodiscard]] constexpr bool is_linear(Seeding seeding) {
  return seeding == Seeding::kInitial || seeding == Seeding::kAppended ||
         seeding == Seeding::kKeyXor;
}

// One byte more.
[[nodiscard]] uint8_t crc_step(CrcForm form, uint8_t crc, uint8_t byte);
// The hash of a key of 48 bits under a seed.
[[nodiscard]] uint8_t crc_of_key(CrcForm form, Seeding seeding, uint64_t key, uint8_t seed);

[[nodiscard]] constexpr size_t slot_of_hash(SlotRule rule, uint8_t crc) {
  return rule == SlotRule::kLowBits ? crc % compact::kBucketSlots : compact::slot_of_crc(crc);
}
// The first seed that gives each of at most four keys a slot of its own.
[[nodiscard]] std::optional<uint8_t> seed_for(CrcForm form, Seeding seeding, SlotRule rule,
                                              std::span<const uint64_t> keys);

}  // namespace roost::lab
