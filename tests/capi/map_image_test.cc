// Images of maps: read from files and from memory, refused when they are not whole.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include "capi/roost.h"
#include "capi/roost_map.h"
#include "tests/capi/c_map.h"

namespace roost {
namespace {

// Exported images of both kinds, and what is said of others.
class CMapImage : public testing::Test {
 protected:
  void export_from(uint32_t kind) {
    const CEntries entries = c_entries(6, 2'000);
    const CMapHandle map = c_map(c_map_config(kind, 6), entries).value();
    bytes_ = roost_map_export(map.get(), nullptr, 0);
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(64, (bytes_ + 127) / 64 * 64)));
    ASSERT_EQ(roost_map_export(map.get(), memory_.get(), bytes_), bytes_);
  }
  [[nodiscard]] roost_map_image image() const {
    roost_map_image image;
    roost_map_image_init(&image, sizeof(image));
    image.memory = memory_.get();
    image.memory_bytes = bytes_;
    image.key_bytes = 6;
    return image;
  }
  static CMapRefusal open(const roost_map_image& image) {
    auto* reader = reinterpret_cast<roost_map_reader*>(1);
    std::array<char, 400> error{};
    const roost_status status = roost_map_reader_open(&image, &reader, error.data(), error.size());
    EXPECT_EQ(reader == nullptr, status != ROOST_OK);
    roost_map_reader_destroy(reader);
    return {status, error.data()};
  }
  static void expect_refused(const roost_map_image& image, const std::string& text,
                             roost_status status = ROOST_INVALID) {
    const CMapRefusal refusal = open(image);
    EXPECT_EQ(refusal.status, status);
    EXPECT_EQ(refusal.text, text);
  }
  void write_to(const std::string& path) const {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(memory_.get()), static_cast<std::streamsize>(bytes_));
  }
  ~CMapImage() override { std::remove(path_.c_str()); }

  // The checksum is of what follows the head; none of it is checked where there is none.
  void forget_checksum() const { std::memset(memory_.get() + 24, 0, 8); }

  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  uint64_t bytes_ = 0;
  const std::string path_ = testing::TempDir() + "roost_map_" + std::to_string(getpid()) + ".image";
};

TEST_F(CMapImage, is_read_from_a_file) {
  for (const uint32_t kind : {ROOST_MAP_LINE, ROOST_MAP_PARROT}) {
    export_from(kind);
    const std::string& path = path_;
    write_to(path);
    roost_map_image wanted = image();
    wanted.memory = nullptr;
    wanted.memory_bytes = 0;
    wanted.path = path.c_str();
    wanted.audits = true;
    roost_map_reader* opened = nullptr;
    std::array<char, 400> error{};
    ASSERT_EQ(roost_map_reader_open(&wanted, &opened, error.data(), error.size()), ROOST_OK)
        << error.data();
    const CMapReaderHandle reader(opened);
    const CEntries entries = c_entries(6, 2'000);
    EXPECT_EQ(c_look_up(opened, entries.lanes()).values, entries.values);
  }
}

TEST_F(CMapImage, that_is_not_whole_is_refused) {
  for (const uint32_t kind : {ROOST_MAP_LINE, ROOST_MAP_PARROT}) {
    export_from(kind);
    const std::string& path = path_;
    roost_map_image in_file = image();
    in_file.memory = nullptr;
    in_file.memory_bytes = 0;
    in_file.path = path.c_str();
    const uint64_t whole = bytes_;
    for (const uint64_t cut : {uint64_t{0}, uint64_t{20}, uint64_t{40}, whole / 2, whole - 1}) {
      bytes_ = cut;
      write_to(path);
      const CMapRefusal refusal = open(in_file);
      EXPECT_EQ(refusal.status, ROOST_INVALID);
      EXPECT_EQ(refusal.text.find(path + ": "), 0U) << refusal.text;
    }
    bytes_ = whole;
    memory_.get()[whole - 9] ^= std::byte{1};
    expect_refused(image(), "the image's checksum is wrong: its bytes were changed");
    memory_.get()[0] = std::byte{'X'};
    expect_refused(image(), "this is no image of a value-only table");
    in_file.path = "/nonexistent/map.image";
    expect_refused(in_file, "/nonexistent/map.image: cannot be opened: No such file or directory");
    in_file.path = "/dev/null";
    expect_refused(in_file, "/dev/null: it is no file, which an image is in");
  }
}

TEST_F(CMapImage, of_other_keys_is_refused) {
  export_from(ROOST_MAP_LINE);
  roost_map_image wanted = image();
  wanted.key_bytes = 9;
  expect_refused(wanted, "the image is for keys of 8 bytes, not 16");
  export_from(ROOST_MAP_PARROT);
  wanted = image();
  wanted.key_bytes = 5;
  expect_refused(wanted, "the image is for keys of 48 bits, which key_bytes of 5 do not have");
  wanted.key_bytes = 9;
  expect_refused(wanted, "the image is for keys of 48 bits, which key_bytes of 9 do not have");
}

// What no checksum says: a run of the stash that lies nowhere.
TEST_F(CMapImage, that_strangers_made_is_audited_if_asked) {
  export_from(ROOST_MAP_PARROT);
  forget_checksum();
  std::byte* const last_bucket = memory_.get() + bytes_ - ptrdiff_t{17} * 40;
  std::memset(last_bucket, 0xFF, size_t{17} * 8);
  roost_map_image wanted = image();
  EXPECT_EQ(open(wanted).status, ROOST_OK);
  wanted.audits = true;
  const CMapRefusal refusal = open(wanted);
  EXPECT_EQ(refusal.status, ROOST_BROKEN);
  EXPECT_EQ(refusal.text.find("the image is broken: bucket "), 0U) << refusal.text;
}

TEST_F(CMapImage, is_in_one_place_and_its_fields_are_right) {
  export_from(ROOST_MAP_LINE);
  roost_map_image wanted = image();
  wanted.path = "map.image";
  expect_refused(wanted,
                 "roost_map_image: path and memory are both NULL or both set; set the one that has "
                 "the image");
  wanted = image();
  wanted.memory_bytes = 0;
  expect_refused(wanted,
                 "roost_map_image: memory and memory_bytes go together; set both, or neither and "
                 "path");
  wanted = image();
  wanted.pages = ROOST_PAGES_4KIB;
  expect_refused(wanted,
                 "roost_map_image: memory is read where it is, but pages or numa_node say what to "
                 "copy it to; leave them alone");
  wanted = image();
  wanted.key_bytes = 65;
  expect_refused(wanted, "roost_map_image: key_bytes is 65; it is 1 to 64");
  wanted = image();
  wanted.memory = memory_.get() + 8;
  expect_refused(wanted, "the image must begin at a multiple of 64 bytes");
  wanted = image();
  wanted.reserved[1] = 1;
  expect_refused(wanted,
                 "roost_map_image: reserved is not zero; begin with roost_map_image_init()");
}

}  // namespace
}  // namespace roost
