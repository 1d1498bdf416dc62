#include "roost/table/bucket_dump.h"

#include "roost/expiry/slot_timers.h"

namespace roost::detail {
namespace {

std::string hex(uint64_t number, int digits) {
  std::string text;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
    text += "0123456789abcdef"[(number >> shift) & 15];
  return text;
}

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += hex(static_cast<uint64_t>(byte), 2);
  return text;
}

// The expiry tick lies less than 1,024 ticks ahead, or behind: a timer has its low 16 bits only.
std::string lifetime(uint16_t timer, Tick now) {
  const auto ahead = static_cast<uint16_t>(timer - now.count);
  if (ahead < kLiveTicks)
    return "expires at " + std::to_string(now.count + ahead) + " (in " + std::to_string(ahead) +
           ")";
  const uint64_t ago = 65'536U - ahead;
  return "expired " + std::to_string(ago) + " ago";
}

}  // namespace

std::string dump_line(Tick now, const LineWords& words) {
  return "bucket " + std::to_string(static_cast<uint64_t>(words.bucket)) + ", now " +
         std::to_string(now.count) + ": " + std::to_string(words.busy_count) + " of " +
         std::to_string(words.slot_count) + " slots busy" +
         (words.has_filter
              ? ", " + std::to_string(words.moved) + (words.is_saturated ? " or more" : "") +
                    " moved away, filter 0x" + hex(words.filter, 16)
              : "") +
         "\n";
}

std::string dump_slot(Tick now, const SlotWords& words) {
  std::string text = "  slot " + std::to_string(words.slot) + "  tag 0x" +
                     hex(static_cast<uint64_t>(words.tag), words.tag_digits) +
                     (words.is_displaced ? "  from bucket" : "  primary, other bucket");
  for (const BucketIndex other : words.others)
    text += " " + std::to_string(static_cast<uint64_t>(other));
  if (words.expires) text += "  " + lifetime(words.timer, now);
  text += "  key " + hex(words.key);
  if (!words.value.empty()) text += "  value " + hex(words.value);
  return text + "\n";
}

}  // namespace roost::detail
