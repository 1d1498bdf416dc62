#include "lab/value_tables/crc_modes.h"

#include <bit>

namespace roost::lab {
namespace {

constexpr size_t kKeyBytes = 6;
constexpr uint64_t kKeyMask = (uint64_t{1} << 8 * kKeyBytes) - 1;

constexpr std::array<uint8_t, 256> make_reflected_table() {
  constexpr uint8_t kPolynomial = 0x8c;  // 0x31 from its other end
  std::array<uint8_t, 256> table{};
  for (size_t byte = 0; byte < table.size(); ++byte) {
    auto crc = static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      const bool is_set = (crc & 1U) != 0;
      crc = static_cast<uint8_t>(crc >> 1);
      if (is_set) crc ^= kPolynomial;
    }
    table[byte] = crc;
  }
  return table;
}
constexpr std::array<uint8_t, 256> kReflectedTable = make_reflected_table();

uint8_t crc_of_bytes(CrcForm form, uint64_t key, uint8_t initial) {
  uint8_t crc = initial;
  for (size_t i = 0; i < kKeyBytes; ++i) {
    const size_t place = form == CrcForm::kMsbFirst ? kKeyBytes - 1 - i : i;
    crc = crc_step(form, crc, static_cast<uint8_t>(key >> 8 * place));
  }
  return crc;
}

}  // namespace

uint8_t crc_step(CrcForm form, uint8_t crc, uint8_t byte) {
  return form == CrcForm::kMsbFirst ? compact::crc8_append(crc, byte) : kReflectedTable[crc ^ byte];
}

uint8_t crc_of_key(CrcForm form, Seeding seeding, uint64_t key, uint8_t seed) {
  switch (seeding) {
    case Seeding::kInitial:
      return crc_of_bytes(form, key, seed);
    case Seeding::kAppended:
      return crc_step(form, crc_of_bytes(form, key, 0), seed);
    case Seeding::kKeyXor:
      return crc_of_bytes(form, key ^ seed, 0);
    case Seeding::kOutputSum:
      return static_cast<uint8_t>(crc_of_bytes(form, key, 0) + seed);
    case Seeding::kHashedAgain:
      return crc_step(form, 0, static_cast<uint8_t>(crc_of_bytes(form, key, 0) + seed));
    case Seeding::kKeySum:
      return crc_of_bytes(form, compact::seeded(key, seed), 0);
    case Seeding::kKeyProduct:
      break;
  }
  return crc_of_bytes(form, key * (2 * uint64_t{seed} + 1) & kKeyMask, 0);
}

std::optional<uint8_t> seed_for(CrcForm form, Seeding seeding, SlotRule rule,
                                std::span<const uint64_t> keys) {
  for (unsigned seed = 0; seed <= UINT8_MAX; ++seed) {
    unsigned taken = 0;
    for (const uint64_t key : keys) {
      const uint8_t crc = crc_of_key(form, seeding, key, static_cast<uint8_t>(seed));
      taken |= 1U << slot_of_hash(rule, crc);
    }
    if (static_cast<size_t>(std::popcount(taken)) == keys.size()) return static_cast<uint8_t>(seed);
  }
  return {};
}

}  // namespace roost::lab
