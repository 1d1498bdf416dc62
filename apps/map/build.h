// Builds an image of the entries of a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/map/entry_file.h"
#include "roost/base/result.h"
#include "roost/compact/image_head.h"
#include "roost/compact/model_builder.h"
#include "roost/compact/parrot_builder.h"
#include "roost/control/json.h"

namespace roost::map {

struct BuildOptions {
  compact::ImageKind kind = compact::ImageKind::kLineMap;
  uint32_t value_bits = 16;
  uint32_t fingerprint_bits = 0;
  double load = 0.85;
  std::optional<uint64_t> hash_seed{};  // else random
  // Of Parrot only.
  std::optional<uint32_t> key_bits{};  // else as many as the keys' form has; of numbers, the widest
  bool keeps_keys = false;
  std::optional<compact::ModelChoice> model{};  // else the best of several
  bool has_steps = false;                       // of the best: buckets that prefixes match
};

struct Built {
  std::vector<std::byte> image{};  // with its checksum
  // Of Parrot: the models that were tried, the one it took last.
  std::vector<compact::ParrotBuilder::Trial> trials{};
};

// Errors: options that cannot be, or that the kind has not; no model fits the keys; memory.
[[nodiscard]] Result<Built> build_image(const BuildOptions& options, const EntryFile& file);

// "rmi:4096", "spline:8", "steps:6"; nothing: it is none.
[[nodiscard]] std::optional<compact::ModelChoice> parse_model(std::string_view text);

// Why each model was taken or not: a line each, or an object each.
[[nodiscard]] std::string format_trials(const std::vector<compact::ParrotBuilder::Trial>& trials);
[[nodiscard]] control::Json trials_json(const std::vector<compact::ParrotBuilder::Trial>& trials);

}  // namespace roost::map
