// What of an image and a configuration becomes constant in the program.
#include "targets/xdp/xdp_settings.h"

#include <string>

#include "roost/compact/line_map_reader.h"
#include "roost/hash/secret_words.h"
#include "targets/xdp/xdp_line_map.h"

namespace roost::xdp {
namespace {

constexpr uint32_t kActionsMax = 1U << 20;
static_assert(kXdpLevelsMax == compact::kLevelsMax);
static_assert(kXdpLineWords * sizeof(uint64_t) == compact::kLineBytes);
// Both compilers must lay it out alike.
static_assert(sizeof(XdpSettings) == kXdpLevelsMax * 40 + 40);

// KeyedHash::hash<8>, with what of it does not depend on the key.
XdpHash words_of(uint64_t seed) {
  const auto secret = secret_words(seed);
  return {.key = secret[0],
          .state = secret[8] ^ secret[9],
          .mixed = secret[10],
          .length = 1 ^ secret[11]};
}

}  // namespace

std::string_view verdict_name(size_t verdict) {
  constexpr std::array<std::string_view, kXdpVerdicts> kNames = {
      "redirected", "dropped", "passed",  "sent_back", "unassigned",
      "stranger",   "busy",    "foreign", "port_gone"};
  return kNames[verdict];
}

uint32_t action_count(const XdpConfig& config) {
  return config.actions.empty() ? 0 : config.actions.rbegin()->first + 1;
}

Result<XdpSettings> settings_of(std::span<const std::byte> image, const XdpConfig& config) {
  const auto opened = compact::open_line_map(image, sizeof(uint64_t));
  if (!opened) return opened.error();
  const compact::LineMapHead& head = opened.value();
  if (head.keys_offset != 0)
    return Error{"the image keeps keys, which no program of XDP compares; build it without"};
  if (image.size() / compact::kLineBytes > UINT32_MAX)
    return Error{"the image has more lines than an array of the kernel's may have elements"};
  if (!config.actions.empty() && config.actions.rbegin()->first >= kActionsMax)
    return Error{"values that have actions are below " + std::to_string(kActionsMax)};
  if (config.unassigned.kind != kXdpDrop && config.unassigned.kind != kXdpPass)
    return Error{"values without an action are dropped or passed"};
  XdpSettings settings{.levels = {},
                       .level_count = head.level_count,
                       .value_bits = head.shape.value_bits,
                       .fingerprint_bits = head.shape.fingerprint_bits,
                       .slots = head.shape.slots(),
                       .groups = head.shape.groups(),
                       .key = config.key,
                       .stranger_action = config.strangers.kind,
                       .stranger_port = action_count(config),
                       .unassigned_action = config.unassigned.kind,
                       .zero = 0};
  for (size_t level = 0; level < head.level_count; ++level) {
    const compact::LineLevel& at = head.levels[level];
    settings.levels[level] = {.hash = words_of(at.hash_seed),
                              .line_count = static_cast<uint32_t>(at.line_count),
                              .first_line = static_cast<uint32_t>(at.offset / compact::kLineBytes)};
  }
  return settings;
}

}  // namespace roost::xdp
