// The steps that a switch takes for each packet to answer as a Parrot reader does: the one list
// that SWX instructions and P4 statements are rendered from.
//
// Steps are what every target has: no product, no loop, no local names. All numbers are unsigned, a
// whole number of bytes wide, and a result is taken modulo what fits the field that it goes to.
// Conditions nest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roost/base/result.h"
#include "targets/switch/switch_table.h"

namespace roost::targets {

enum class Field : uint8_t {
  kDestination,  // of the Ethernet header; it is the key
  kSource,       // of the Ethernet header
  kKey,
  kFound,   // 1: kValue is what the key has
  kBucket,  // set by the action of table ranges
  kEntry,   // of the stash
  kStashKey,
  kSeed,
  kLow,   // the key's low 32 bits and the seed
  kPart,  // a part of something
  kCrc,
  kIndex,  // of a slot
  kSlotKey,
  kValue,
  kPort,  // where the packet goes: kPortNone is nowhere
};
inline constexpr size_t kFieldCount = 15;

// A number or a field.
struct Operand {
  std::optional<Field> field{};
  uint64_t number = 0;

  constexpr Operand(Field from) : field(from) {}
  constexpr Operand(uint64_t from) : number(from) {}
};

enum class Table : uint8_t {
  kOverflow,  // an entry's action sets kFound and kValue
  kRanges,    // an entry's action sets kBucket
};

enum class Operation : uint8_t {
  kSet,  // to = from
  kAdd,  // to = to + from; and so on
  kAnd,
  kXor,
  kShiftLeft,
  kShiftRight,
  kRead,     // to = cells[from]
  kLookUp,   // in a table, by kDestination
  kIfEqual,  // to == from: up to its kEnd
  kIfDifferent,
  kIfBelow,  // to < from
  kEnd,
};

struct Step {
  Operation operation{};
  Field to{};
  Operand from{0};
  Register cells{};  // of kRead
  Table table{};     // of kLookUp
};

// What becomes of a packet that has an answer.
enum class Answer : uint8_t {
  kPort,    // its value is the port that it leaves through; all others are dropped
  kSource,  // it leaves through port 0 with its value as source address; all others through port 1
};

inline constexpr uint64_t kPortNone = 0xffff;
// BMv2 has ports of 9 bits, and the last one drops.
inline constexpr uint32_t kPortCountMax = 511;

struct SwitchProgram {
  struct Config {
    uint32_t value_bits = 16;
    bool has_keys = false;
    uint32_t stash_reads = kStashReadsMax;
    Answer answer = Answer::kPort;
    uint32_t port_count = 16;  // of kPort: values below are ports; 1 to kPortCountMax
  };
  Config config{};
  std::vector<Step> steps{};

  // Errors: a number of ports that cannot be.
  static Result<SwitchProgram> create(const Config& config);
  static Result<SwitchProgram> for_table(const SwitchTable& table, Answer answer,
                                         uint32_t port_count);

  [[nodiscard]] unsigned bits_of(Field field) const;
  // Of a register's cells: those of the field that they are read into.
  [[nodiscard]] unsigned bits_of(Register cells) const;
  [[nodiscard]] bool reads(Register cells) const;
  [[nodiscard]] uint32_t ports() const {
    return config.answer == Answer::kPort ? config.port_count : 2;
  }
};

// "stash_key". Of header fields, too.
[[nodiscard]] std::string_view name_of(Field field);
[[nodiscard]] std::string_view name_of(Table table);

}  // namespace roost::targets
