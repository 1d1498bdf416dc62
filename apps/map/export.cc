#include "apps/map/export.h"

#include <array>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "roost/control/json.h"
#include "roost/hash/secret_words.h"
#include "roost/memory/whole_file.h"

namespace roost::map {
namespace {

using control::Json;

constexpr std::array<const char*, 3> kModelNames = {"rmi", "spline", "steps"};

struct Part {
  std::string name{};
  std::span<const std::byte> bytes{};
};

// So that who reads it need not know how a seed becomes secret words.
Json hash_words(uint64_t seed) { return secret_words(seed); }

Json line_map_layout(const Image& image, std::vector<Part>& parts) {
  const compact::LineMapHead& head = *image.line_map();
  const compact::LineShape& shape = head.shape;
  Json layout{{"kind", "line-map"},
              {"key_bytes", head.key_bytes},
              {"value_bits", shape.value_bits},
              {"fingerprint_bits", shape.fingerprint_bits},
              {"line_bytes", compact::kLineBytes},
              {"groups", shape.groups()},
              {"slots", shape.slots()},
              {"seeds_at_byte", compact::LineShape::kSeedsAt},
              {"slots_at_byte", shape.slots_at()},
              {"seed_further", compact::kSeedFurther},
              {"absent", shape.absent()},
              {"fingerprint_factor", compact::kFingerprintFactor}};
  Json& levels = layout["levels"] = Json::array();
  for (size_t level = 0; level < head.level_count; ++level) {
    const compact::LineLevel& at = head.levels[level];
    const Part part{"level" + std::to_string(level) + ".bin",
                    image.bytes().subspan(at.offset, at.line_count * compact::kLineBytes)};
    levels.push_back(
        {{"file", part.name}, {"lines", at.line_count}, {"hash_words", hash_words(at.hash_seed)}});
    parts.push_back(part);
  }
  return layout;
}

Json parrot_layout(const Image& image, std::vector<Part>& parts) {
  const compact::ParrotHead& head = image.parrot()->head();
  const compact::ParrotShape& shape = head.shape;
  const compact::ModelHead& model = head.model;
  Json layout{{"kind", "parrot"},
              {"key_bits", shape.key_bits},
              {"value_bits", shape.value_bits},
              {"fingerprint_bits", shape.fingerprint_bits},
              {"absent", shape.absent()},
              {"buckets", head.bucket_count},
              {"bucket_bytes", shape.bucket_bytes()},
              {"bucket_slots", compact::kBucketSlots},
              {"stash_entries", head.entry_count},
              {"stash_entry_bytes", shape.entry_bytes()},
              {"fingerprint_hash_words", hash_words(head.hash_seed)}};
  layout["model"] = {{"kind", kModelNames[static_cast<size_t>(model.kind)]},
                     {"lines", model.line_count},
                     {"line_bytes", sizeof(compact::ModelLine)},
                     {"prefixes", model.prefix_count},
                     {"root_slope", model.root_slope},
                     {"root_shift", model.root_shift},
                     {"scale_bits", model.scale_bits},
                     {"first_key", model.first_key},
                     {"last_key", model.last_key},
                     {"fraction_bits", compact::kFractionBits}};
  const uint64_t model_bytes = (uint64_t{model.line_count} + 1) * sizeof(compact::ModelLine);
  const auto part = [&](const char* name, uint64_t offset, uint64_t bytes) {
    if (bytes > 0) parts.push_back({name, image.bytes().subspan(offset, bytes)});
  };
  part("model.bin", head.lines_offset, model_bytes);
  part("prefixes.bin", head.lines_offset + model_bytes,
       compact::MonotoneModel::bytes_of(model) - model_bytes);
  part("buckets.bin", head.buckets_offset, head.bucket_count * shape.bucket_bytes());
  part("keys.bin", head.keys_offset, head.stash_offset - head.keys_offset);
  part("stash.bin", head.stash_offset, head.entry_count * shape.entry_bytes());
  return layout;
}

// Beside its place first, so that there is all of it or none.
std::optional<Error> write_folder(const std::string& folder, std::span<const Part> parts) {
  const std::filesystem::path unfinished = folder + ".new";
  std::error_code error;
  if (std::filesystem::exists(folder, error))
    return Error{folder + " is there already; give a folder that is not"};
  std::filesystem::remove_all(unfinished, error);
  std::filesystem::create_directory(unfinished, error);
  std::optional<Error> unwritten;
  if (error) unwritten = Error{folder + " cannot be made: " + error.message()};
  for (const Part& part : parts)
    if (!unwritten) unwritten = write_whole((unfinished / part.name).string(), part.bytes);
  if (!unwritten) {
    std::filesystem::rename(unfinished, folder, error);
    if (!error) return {};
    unwritten = Error{folder + " cannot be made: " + error.message()};
  }
  std::filesystem::remove_all(unfinished, error);
  return unwritten;
}

std::optional<Error> write_parts(const Image& image, const std::string& folder) {
  std::vector<Part> parts;
  const Json layout =
      image.parrot() != nullptr ? parrot_layout(image, parts) : line_map_layout(image, parts);
  const std::string text = layout.dump(2) + "\n";
  parts.push_back({"layout.json", std::as_bytes(std::span(text))});
  return write_folder(folder, parts);
}

}  // namespace

std::optional<Error> export_image(const Image& image, const std::string& folder,
                                  ExportFormat format, const targets::ExportOptions& options) {
  if (format == ExportFormat::kParts) return write_parts(image, folder);
  if (image.parrot() == nullptr)
    return Error{"switches take Parrot tables; build the image with --kind parrot"};
  const auto files = format == ExportFormat::kSwx  ? targets::export_swx(image.bytes(), options)
                     : format == ExportFormat::kP4 ? targets::export_p4(image.bytes(), options)
                                                   : targets::export_report(image.bytes(), options);
  if (!files) return files.error();
  std::vector<Part> parts;
  for (const targets::ExportedFile& file : files.value())
    parts.push_back({file.name, std::as_bytes(std::span(file.text))});
  return write_folder(folder, parts);
}

}  // namespace roost::map
