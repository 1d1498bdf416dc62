#include "apps/map/image_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace roost::map {
namespace {

using compact::kBucketSlots;

std::string model_text(const compact::ModelHead& model) {
  switch (model.kind) {
    case compact::ModelKind::kRmi:
      return fmt::format("RMI of {} lines", model.line_count);
    case compact::ModelKind::kSpline:
      return fmt::format("spline of {} lines under {} prefixes", model.line_count,
                         model.prefix_count);
    case compact::ModelKind::kSteps:
      return fmt::format("{} steps under {} prefixes", model.line_count, model.prefix_count);
  }
  return "";
}

ImageReport report_of_parrot(const compact::ParrotReader& table) {
  const compact::ParrotHead& head = table.head();
  const compact::ParrotBytes bytes = table.bytes();
  ImageReport report{.is_parrot = true,
                     .key_bits = head.shape.key_bits,
                     .value_bits = head.shape.value_bits,
                     .fingerprint_bits = head.shape.fingerprint_bits,
                     .keeps_keys = head.shape.has_keys != 0,
                     .slots = head.bucket_count * kBucketSlots,
                     .buckets = head.bucket_count,
                     .parts = {{"head", bytes.head},
                               {"model", bytes.model},
                               {"buckets", bytes.buckets},
                               {"keys", bytes.keys},
                               {"stash", bytes.stash}}};
  report.model = model_text(head.model);
  for (uint64_t index = 0; index < head.bucket_count; ++index) {
    const auto bucket = table.bucket(index);
    size_t filled = 0;
    for (size_t slot = 0; slot < kBucketSlots; ++slot)
      if (!bucket.is_empty(slot)) ++filled;
    const size_t run = bucket.stash().count();
    report.keys += filled + run;
    report.stashed += run;
    report.longest_walk = std::max<uint64_t>(report.longest_walk, run);
    // Of others the four smallest keys have slots before any key is stashed.
    if (filled == 0 && run >= kBucketSlots) ++report.failed_buckets;
  }
  return report;
}

ImageReport report_of_line_map(const Image& image, const compact::LineMapHead& head) {
  ImageReport report{.key_bits = 8 * head.key_bytes,
                     .value_bits = head.shape.value_bits,
                     .fingerprint_bits = head.shape.fingerprint_bits,
                     .parts = {{"head", compact::kLineMapHeadBytes}}};
  for (size_t level = 0; level < head.level_count; ++level) {
    LevelReport counts{.lines = head.levels[level].line_count};
    counts.groups = counts.lines * head.shape.groups();
    for (uint64_t index = 0; index < counts.lines; ++index) {
      const LineReader::Line line = image.line(level, index);
      for (uint32_t slot = 0; slot < head.shape.slots(); ++slot)
        if (!line.is_empty(slot)) ++counts.keys;
      for (uint32_t group = 0; group < head.shape.groups(); ++group)
        if (line.seed(group) == compact::kSeedFurther) ++counts.groups_further;
    }
    report.keys += counts.keys;
    report.slots += counts.lines * head.shape.slots();
    if (counts.keys > 0) report.longest_walk = level + 1;
    report.levels.push_back(counts);
    report.parts.push_back({fmt::format("level {}", level), counts.lines * compact::kLineBytes});
  }
  return report;
}

double share_of(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

uint64_t ImageReport::bytes() const {
  uint64_t sum = 0;
  for (const Part& part : parts) sum += part.bytes;
  return sum;
}

ImageReport report_of(const Image& image) {
  if (const auto* table = image.parrot()) return report_of_parrot(*table);
  return report_of_line_map(image, *image.line_map());
}

std::string format_text(const ImageReport& report) {
  std::string text;
  const auto line = [&](std::string_view name, const std::string& what) {
    fmt::format_to(std::back_inserter(text), "{:<16} {}\n", name, what);
  };
  const std::string strangers =
      report.keeps_keys ? "keys kept beside the slots: answers are certain"
      : report.fingerprint_bits == 0
          ? "no fingerprints: a key that is not there may get a value"
          : fmt::format("fingerprints of {} bits", report.fingerprint_bits);
  line("table", fmt::format("{}, keys of {} bits, values of {}; {}",
                            report.is_parrot ? "Parrot" : "line map", report.key_bits,
                            report.value_bits, strangers));
  line("keys", fmt::format("{}, load {:.3f}", report.keys, share_of(report.keys, report.slots)));
  line("bytes", fmt::format("{}, {:.2f} bits a key", report.bytes(),
                            8 * share_of(report.bytes(), report.keys)));
  for (const ImageReport::Part& part : report.parts)
    line("  " + part.name, fmt::format("{}", part.bytes));
  if (report.is_parrot) {
    line("model", report.model);
    line("failed buckets", fmt::format("{} of {}", report.failed_buckets, report.buckets));
    line("in the stash", fmt::format("{} keys, {:.2f} %", report.stashed,
                                     100 * share_of(report.stashed, report.keys)));
    line("longest walk", fmt::format("{} entries of the stash", report.longest_walk));
    return text;
  }
  for (size_t level = 0; level < report.levels.size(); ++level) {
    const LevelReport& counts = report.levels[level];
    line(fmt::format("level {}", level),
         fmt::format("{} keys in {} lines, {:.2f} % of its groups one level further", counts.keys,
                     counts.lines, 100 * share_of(counts.groups_further, counts.groups)));
  }
  line("longest walk", fmt::format("{} lines", report.longest_walk));
  return text;
}

control::Json format_json(const ImageReport& report) {
  using control::Json;
  Json json{{"kind", report.is_parrot ? "parrot" : "line-map"},
            {"key_bits", report.key_bits},
            {"value_bits", report.value_bits},
            {"fingerprint_bits", report.fingerprint_bits},
            {"keeps_keys", report.keeps_keys},
            {"keys", report.keys},
            {"slots", report.slots},
            {"bytes", report.bytes()},
            {"longest_walk", report.longest_walk}};
  Json& parts = json["parts"] = Json::object();
  for (const ImageReport::Part& part : report.parts) parts[part.name] = part.bytes;
  if (report.is_parrot) {
    json["model"] = report.model;
    json["buckets"] = report.buckets;
    json["failed_buckets"] = report.failed_buckets;
    json["stashed"] = report.stashed;
    return json;
  }
  Json& levels = json["levels"] = Json::array();
  for (const LevelReport& counts : report.levels) {
    levels.push_back({{"lines", counts.lines},
                      {"keys", counts.keys},
                      {"groups", counts.groups},
                      {"groups_further", counts.groups_further}});
  }
  return json;
}

}  // namespace roost::map
