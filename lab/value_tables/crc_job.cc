// Counts buckets that no seed of a CRC-8 tells apart: see value_job.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "lab/value_tables/crc_modes.h"
#include "lab/value_tables/value_job.h"
#include "roost/traffic/draw.h"

namespace roost::lab {
namespace {

constexpr uint64_t kKeyMask48 = (uint64_t{1} << 48) - 1;

// From one key of a bucket to the next: all keys are random, or so far apart at most.
struct KeyGap {
  const char* name;
  uint64_t most;  // 0: random keys
};
constexpr std::array kGaps = {KeyGap{"random", 0}, KeyGap{"gaps to 65536", 65'536},
                              KeyGap{"gaps to 256", 256}, KeyGap{"dense", 1}};

// Rising and different.
std::vector<uint64_t> keys_of_bucket(const KeyGap& gap, size_t count, traffic::Draw& draw) {
  std::vector<uint64_t> keys;
  while (keys.size() < count) {
    const uint64_t key =
        gap.most == 0 || keys.empty() ? draw.word() : keys.back() + 1 + draw.below(gap.most);
    if (std::ranges::find(keys, key & kKeyMask48) == keys.end()) keys.push_back(key & kKeyMask48);
  }
  return keys;
}

}  // namespace

Result<Rows> run_crc_job(const ValueJobConfig& config, const Progress& progress) {
  Rows rows;
  for (size_t i = 0; i < kGaps.size(); ++i) {
    progress(static_cast<double>(i) / kGaps.size(), kGaps[i].name);
    for (size_t fill = 2; fill <= compact::kBucketSlots; ++fill) {
      traffic::Draw draw(config.keys.seed);
      std::vector<std::vector<uint64_t>> buckets(config.keys.count);
      for (auto& bucket : buckets) bucket = keys_of_bucket(kGaps[i], fill, draw);
      for (const CrcForm form : kCrcForms) {
        for (const SlotRule rule : kSlotRules) {
          for (const Seeding seeding : kSeedings) {
            const auto failed = std::ranges::count_if(buckets, [&](const auto& bucket) {
              return !seed_for(form, seeding, rule, bucket);
            });
            RecordRow row = value_row(config, 1, std::string(seeding_name(seeding)));
            row.form = fmt::format("{} {}", crc_form_name(form), slot_rule_name(rule));
            row.workload = fmt::format("{} keys {}", fill, kGaps[i].name);
            row.operations = buckets.size();
            rows.push_back(
                value_figure(row, "failed_share",
                             static_cast<double>(failed) / static_cast<double>(buckets.size())));
          }
        }
      }
    }
  }
  return rows;
}

}  // namespace roost::lab
