// What every function's configuration says of a run: the length of a tick, and limits of numbers.
#pragma once

#include <cstdint>

namespace roost::config {

class TomlTable;

inline constexpr uint64_t kSeedMax = INT64_MAX;
inline constexpr uint64_t kTickMicrosecondsDefault = 1'000'000;

// Reads tick_seconds of a file's top table, in microseconds. Another default is for functions whose
// timeouts a shorter tick cannot hold.
[[nodiscard]] uint64_t read_tick(TomlTable& top,
                                 uint64_t microseconds_default = kTickMicrosecondsDefault);

}  // namespace roost::config
