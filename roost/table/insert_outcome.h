// What an insert or upsert does, and what becomes of it.
#pragma once

#include <cstdint>

namespace roost {

// What became of one insert or upsert.
enum class InsertOutcome : uint8_t {
  kInserted,  // a new entry was created
  kUpdated,   // insert: the key was there and has the new value and timeout
  kExisting,  // upsert: the key was there and is unchanged
  kFull,      // no place for it; the table is as it was
  kWideKey,   // the key has bits beyond those that its type says; the table is as it was
};

// Whether the key was not taken.
[[nodiscard]] constexpr bool is_refusal(InsertOutcome outcome) {
  return outcome == InsertOutcome::kFull || outcome == InsertOutcome::kWideKey;
}

// What an insert does with a key that is there.
enum class IfExisting : uint8_t { kOverwrite, kKeep };

}  // namespace roost
