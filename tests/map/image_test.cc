// Images: what was put in comes out, of both kinds; what no builder made is refused; parts.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "apps/map/build.h"
#include "apps/map/export.h"
#include "apps/map/image.h"
#include "apps/map/image_report.h"
#include "roost/memory/whole_file.h"
#include "roost/traffic/draw.h"
#include "tests/map/map_files.h"

namespace roost::map {
namespace {

using compact::ImageKind;

// Keys of a form under a prefix, each as often as chance brings it.
EntryFile drawn_entries(KeyForm form, size_t count, uint64_t seed) {
  traffic::Draw draw(seed);
  EntryFile file{.form = form};
  const uint64_t mask =
      form == KeyForm::kIpv6 ? ~uint64_t{0} : ~uint64_t{0} >> (64 - bits_of_form(form));
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t high = form == KeyForm::kIpv6 ? draw.word() : 0;
    file.entries.push_back({{high, draw.word() & mask}, static_cast<uint32_t>(draw.below(65'535))});
  }
  std::ranges::sort(file.entries, {}, &Entry::key);
  const auto same = std::ranges::unique(file.entries, {}, &Entry::key);
  file.entries.erase(same.begin(), same.end());
  return file;
}

std::vector<std::byte> image_bytes(const BuildOptions& options, const EntryFile& file) {
  auto built = build_image(options, file);
  EXPECT_TRUE(built) << built.error().message;
  return built ? std::move(built).value().image : std::vector<std::byte>();
}
// The error of reading such a file, behind its path; empty: there is none.
std::string reading(std::span<const std::byte> bytes) {
  const Folder folder;
  EXPECT_EQ(write_whole(folder.path("image"), bytes).has_value(), false);
  const auto image = Image::read(folder.path("image"));
  return image ? "" : image.error().message.substr(folder.path("image").size());
}

TEST(Image, has_each_key_of_the_file_in_every_form_and_kind) {
  for (const KeyForm form : {KeyForm::kNumber, KeyForm::kMac, KeyForm::kIpv4, KeyForm::kIpv6}) {
    for (const ImageKind kind : {ImageKind::kLineMap, ImageKind::kParrot}) {
      if (form == KeyForm::kIpv6 && kind == ImageKind::kParrot) continue;
      SCOPED_TRACE(std::string(key_form_name(form)));
      const EntryFile file = drawn_entries(form, 20'000, 1);
      const Folder folder;
      ASSERT_FALSE(write_whole(folder.path("image"), image_bytes({.kind = kind}, file)));
      const auto image = Image::read(folder.path("image"));
      ASSERT_TRUE(image) << image.error().message;
      std::vector<Key> keys;
      for (const Entry& entry : file.entries) keys.push_back(entry.key);
      const std::vector<Answer> answers = image.value().answers(keys);
      for (size_t i = 0; i < keys.size(); ++i) {
        ASSERT_EQ(answers[i].value, file.entries[i].value) << i;
        ASSERT_FALSE(answers[i].is_certain);
      }
      const ImageReport report = report_of(image.value());
      EXPECT_EQ(report.keys, keys.size());
      EXPECT_EQ(report.bytes(), image.value().bytes().size());
      EXPECT_EQ(image.value().parrot() != nullptr, kind == ImageKind::kParrot);
    }
  }
}

TEST(Image, keys_that_are_kept_make_answers_certain) {
  const EntryFile file = drawn_entries(KeyForm::kMac, 5'000, 2);
  const Folder folder;
  ASSERT_FALSE(write_whole(folder.path("image"),
                           image_bytes({.kind = ImageKind::kParrot, .keeps_keys = true}, file)));
  const Image image = Image::read(folder.path("image")).value();
  const Key known = file.entries[7].key;
  const Key stranger{0, known.low ^ 1};
  const Key wide{0, known.low | uint64_t{1} << 50};
  const std::vector<Answer> answers = image.answers(std::vector<Key>{known, stranger, wide});
  EXPECT_EQ(answers[0].value, file.entries[7].value);
  EXPECT_TRUE(answers[0].is_certain);
  EXPECT_FALSE(answers[1].value);
  EXPECT_FALSE(answers[2].value);
}

TEST(Image, keys_wider_than_the_table_s_are_not_there) {
  EntryFile file{.form = KeyForm::kNumber};
  for (uint32_t key = 0; key < 200; ++key) file.entries.push_back({{0, key}, 1});
  const Folder folder;
  ASSERT_FALSE(write_whole(folder.path("image"), image_bytes({.kind = ImageKind::kParrot}, file)));
  const Image image = Image::read(folder.path("image")).value();
  EXPECT_EQ(image.key_bits(), 8U);
  const auto answers = image.answers(std::vector<Key>{{0, 199}, {0, 256 + 199}, {1, 199}});
  EXPECT_TRUE(answers[0].value);
  EXPECT_FALSE(answers[1].value);
  EXPECT_FALSE(answers[2].value);
}

TEST(Image, that_is_cut_foreign_or_changed_is_refused) {
  for (const ImageKind kind : {ImageKind::kLineMap, ImageKind::kParrot}) {
    std::vector<std::byte> bytes =
        image_bytes({.kind = kind}, drawn_entries(KeyForm::kMac, 3'000, 3));
    EXPECT_EQ(reading(bytes), "");
    for (const size_t size : {size_t{0}, size_t{20}, size_t{100}, bytes.size() - 1})
      EXPECT_NE(reading(std::span(bytes).first(size)), "") << size;
    for (size_t at = 0; at < bytes.size(); at += at < 256 ? 1 : 331) {
      bytes[at] ^= std::byte{0x10};
      EXPECT_NE(reading(bytes), "") << at;
      bytes[at] ^= std::byte{0x10};
    }
  }
  const std::string text = "02:00:00:00:00:01 7, which is no image but its entries\n";
  EXPECT_EQ(reading(std::as_bytes(std::span(text))), ": this is no image of a value-only table");
}

// A checksum of zero is that of an image nobody has exported, and says nothing.
TEST(Image, without_a_checksum_is_refused) {
  std::vector<std::byte> bytes = image_bytes({}, drawn_entries(KeyForm::kMac, 3'000, 4));
  std::ranges::fill(std::span(bytes).subspan(offsetof(compact::ImageHead, checksum), 8),
                    std::byte{0});
  EXPECT_EQ(reading(bytes), ": the image has no checksum: it was changed, or not exported");
}

// Of strangers, who can make a checksum.
TEST(Image, that_no_builder_made_is_refused_though_its_checksum_is_right) {
  std::vector<std::byte> bytes = image_bytes({}, drawn_entries(KeyForm::kMac, 3'000, 5));
  std::byte& version = bytes[compact::kLineMapHeadBytes + 5 * compact::kLineBytes];
  version = std::byte{1};
  compact::seal_image(bytes);
  EXPECT_EQ(reading(bytes),
            ": no builder has made this image: line 5 of level 0 was being changed");
  version = std::byte{0};
  bytes[bytes.size() - compact::kLineBytes + compact::LineShape::kSeedsAt + 2] = std::byte{255};
  compact::seal_image(bytes);
  EXPECT_NE(reading(bytes).find(" leads beyond the last one"), std::string::npos);

  std::vector<std::byte> parrot =
      image_bytes({.kind = ImageKind::kParrot}, drawn_entries(KeyForm::kMac, 3'000, 6));
  compact::ParrotHead head;
  std::memcpy(&head, parrot.data(), sizeof head);
  parrot[head.buckets_offset + 5] = std::byte{200};  // of a bucket's count of entries
  compact::seal_image(parrot);
  EXPECT_NE(reading(parrot).find("no builder has made this image: bucket 0 has more"),
            std::string::npos)
      << reading(parrot);
}

TEST(Build, a_model_is_refused_and_one_taken_and_both_are_said) {
  EntryFile file{.form = KeyForm::kMac};
  traffic::Draw draw(7);
  std::vector<uint64_t> prefixes;
  for (int i = 0; i < 200; ++i) prefixes.push_back(draw.word() & 0xffff'ff00'0000);
  std::ranges::sort(prefixes);
  prefixes.erase(std::ranges::unique(prefixes).begin(), prefixes.end());
  for (const uint64_t prefix : prefixes)
    for (uint64_t i = 0; i < 200; ++i) file.entries.push_back({{0, prefix | i}, 3});
  const auto built = build_image({.kind = ImageKind::kParrot}, file);
  ASSERT_TRUE(built) << built.error().message;
  const std::string said = format_trials(built.value().trials);
  EXPECT_NE(said.find("RMI of 128 lines"), std::string::npos) << said;
  EXPECT_NE(said.find("refused: a lookup would look at too many of them"), std::string::npos);
  EXPECT_EQ(said.find(": taken, the fewest"), said.rfind(": taken, the fewest"));
  const auto rows = trials_json(built.value().trials);
  EXPECT_EQ(std::ranges::count_if(rows, [](const auto& row) { return row["is_taken"] == true; }),
            1);
  const auto refused =
      build_image({.kind = ImageKind::kParrot, .model = parse_model("rmi:128")}, file);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.ends_with("; --kind line-map takes any keys"));
}

TEST(Build, models_are_named) {
  EXPECT_EQ(parse_model("rmi:128")->size, 128U);
  EXPECT_EQ(parse_model("spline:8")->kind, compact::ModelKind::kSpline);
  for (const char* text : {"", "rmi", "rmi:", "rmi:0", "rmi:1x", "tree:7", "spline:-1"})
    EXPECT_FALSE(parse_model(text)) << text;
}

TEST(Build, what_is_the_other_kind_s_is_refused) {
  const EntryFile file = drawn_entries(KeyForm::kIpv6, 100, 8);
  EXPECT_FALSE(build_image({.kind = ImageKind::kParrot}, file));
  EXPECT_FALSE(build_image({.keeps_keys = true}, file));
}

TEST(Export, parts_are_the_image_s_bytes) {
  for (const ImageKind kind : {ImageKind::kLineMap, ImageKind::kParrot}) {
    const Folder folder;
    ASSERT_FALSE(write_whole(folder.path("image"),
                             image_bytes({.kind = kind}, drawn_entries(KeyForm::kMac, 10'000, 9))));
    const Image image = Image::read(folder.path("image")).value();
    ASSERT_FALSE(export_image(image, folder.path("parts")));
    const auto layout = control::Json::parse(folder.read("parts/layout.json"));
    std::string parts;
    if (kind == ImageKind::kLineMap) {
      for (const auto& level : layout["levels"])
        parts += folder.read("parts/" + level["file"].get<std::string>());
      EXPECT_EQ(layout["slots"], 24);
    } else {
      parts = folder.read("parts/buckets.bin");
      EXPECT_EQ(layout["bucket_bytes"], 17);
    }
    const std::string whole = folder.read("image");
    EXPECT_GT(parts.size(), whole.size() / 2);
    EXPECT_NE(whole.find(parts), std::string::npos);
    EXPECT_TRUE(export_image(image, folder.path("parts")));  // it is there
    EXPECT_EQ(folder.file_count(), 2U);
  }
}

TEST(Export, switches_take_parrot_tables) {
  const Folder folder;
  const EntryFile file = drawn_entries(KeyForm::kMac, 2'000, 11);
  ASSERT_FALSE(write_whole(
      folder.path("parrot"),
      image_bytes({.kind = ImageKind::kParrot, .model = parse_model("steps:6")}, file)));
  ASSERT_FALSE(write_whole(folder.path("line-map"), image_bytes({}, file)));
  const Image parrot = Image::read(folder.path("parrot")).value();
  EXPECT_NE(format_text(report_of(parrot)).find(" steps under "), std::string::npos);
  const Image line_map = Image::read(folder.path("line-map")).value();
  const std::array formats = {std::pair(ExportFormat::kSwx, "parrot.spec"),
                              std::pair(ExportFormat::kP4, "parrot.p4"),
                              std::pair(ExportFormat::kReport, "tofino.txt")};
  for (const auto& [format, name] : formats) {
    const std::string out = folder.path(std::string("out-") + name);
    EXPECT_EQ(export_image(line_map, out, format)->message,
              "switches take Parrot tables; build the image with --kind parrot");
    const auto error = export_image(parrot, out, format);
    ASSERT_FALSE(error) << error->message;
    EXPECT_GT(folder.read("out-" + std::string(name) + "/" + name).size(), 100U);
  }
}

}  // namespace
}  // namespace roost::map
