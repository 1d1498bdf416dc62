// Text files of entries whose entries and faults are known, made of bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/map/entry_file.h"
#include "tests/base/byte_source.h"

namespace roost::map {

// A key as people write it, in one of several ways.
[[nodiscard]] std::string text_of(const FormedKey& key, uint64_t way);

struct KnownFile {
  std::string text{};
  EntryWidths widths{};
  EntryFile file{};                     // what is to be read of it, if nothing is wrong
  std::vector<uint32_t> fault_lines{};  // in the order in which they are found
};
[[nodiscard]] KnownFile known_file(ByteSource& bytes);

}  // namespace roost::map
