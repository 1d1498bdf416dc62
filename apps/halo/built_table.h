// Tables that are made for a question, instead of one that a program has saved.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "roost/base/result.h"
#include "roost/traffic/key.h"
#include "sim/query.h"
#include "sim/table_format.h"

namespace roost::halo {

enum class BuiltFormat : uint8_t {
  kPaper,     // the paper's cuckoo table: a word of value
  kSingle,    // its single-function table, of the same bytes: each key has one bucket
  kSplit,     // FlowTable: 16 bytes of value
  kInline,    // FlowTable: 13 bytes of key, 4 of value, three in a line
  kMegaflow,  // FlowTable as our classifier has it: 16 bytes of key, 4 of value
};

inline constexpr std::array<uint32_t, 4> kBuiltKeyBytes = {8, 16, 26, 40};

struct BuildOptions {
  uint64_t entries = 0;
  double load = 0.8;  // entries over slots; of the paper's formats, at most
  BuiltFormat format = BuiltFormat::kPaper;
  uint32_t key_bytes = 16;             // of kBuiltKeyBytes; not of those formats that say theirs
  uint64_t seed = 1;                   // of keys and hashes
  uint64_t first_key = 0;              // keys of one seed are numbers; those from this one on
  std::optional<sim::KeyMask> mask{};  // under which keys are held
};

struct BuiltTable {
  std::vector<std::byte> image{};
  std::vector<sim::KeyBytes> keys{};  // that it has, masked
};

// Key `number` of a table of a seed; longer keys go on behind it, shorter ones have what of it
// fits.
[[nodiscard]] traffic::Key128 key_of_number(uint64_t number, uint64_t seed);

// A copy of a table's image, which outlives the table.
[[nodiscard]] std::vector<std::byte> copy_of(std::span<const std::byte> image);

// One of the keys that such a table has not.
[[nodiscard]] sim::KeyBytes key_not_built(const BuildOptions& options, uint64_t number);

// About how many bytes the image will have.
[[nodiscard]] uint64_t built_bytes(const BuildOptions& options);

// Errors: a load that it does not reach.
[[nodiscard]] Result<BuiltTable> build_table(const BuildOptions& options);

}  // namespace roost::halo
