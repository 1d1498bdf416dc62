// Line maps as they are built: every key's value, the bytes, what cannot be.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "roost/base/hit_words.h"
#include "tests/base/step_count.h"
#include "tests/compact/key_sets.h"
#include "tests/compact/line_maps.h"

namespace roost::compact {
namespace {

double share_of_strangers(const Map& map, const std::vector<uint64_t>& strangers) {
  std::vector<uint32_t> values(strangers.size());
  std::vector<uint64_t> words(hit_word_count(strangers.size()));
  return static_cast<double>(
             map_reader(map).lookup_unverified(strangers, values, HitWords(words))) /
         static_cast<double>(strangers.size());
}

TEST(LineShape, uses_the_line) {
  EXPECT_EQ((LineShape{16, 0}.slots()), 24U);
  EXPECT_EQ((LineShape{16, 0}.groups()), 12U);
  EXPECT_EQ((LineShape{8, 0}.slots()), 40U);
  EXPECT_EQ((LineShape{4, 0}.slots()), kSlotsMax);
  for (uint32_t value_bits = 4; value_bits <= 32; ++value_bits) {
    for (const uint32_t fingerprint_bits : {0U, 8U, 12U, 16U}) {
      const LineShape shape{value_bits, fingerprint_bits};
      EXPECT_LE(8 * shape.slots_at() + size_t{shape.slots()} * shape.slot_bits(), 8 * kLineBytes);
      EXPECT_GE(shape.slots(), 8U);
    }
  }
}

struct RecordingWords {
  static inline size_t stores = 0;
  static void store(uint64_t* word, uint64_t value) {
    *word = value;
    ++stores;
  }
};

// A value is one store; a seed changes between two versions even if one word has all of it, since
// readers load it twice.
TEST(LineDraft, stores_values_at_once_and_seeds_in_a_step) {
  const LineGeometry geometry(LineShape{31, 0});
  alignas(kLineBytes) std::array<std::byte, kLineBytes> line{};
  LineDraft(geometry).write(line.data());
  const auto stores_of = [&](auto&& change) {
    LineDraft draft(geometry, line.data());
    change(draft);
    RecordingWords::stores = 0;
    draft.store<RecordingWords>(line.data());
    return RecordingWords::stores;
  };
  const MapLine<StillImage> read(geometry, line.data());
  const auto version = [&] { return static_cast<uint32_t>(StillImage::load(line.data())); };
  EXPECT_EQ(stores_of([](LineDraft& draft) { draft.set_slot(2, 5); }), 1U);
  EXPECT_EQ(version(), 0U);
  EXPECT_EQ(stores_of([](LineDraft& draft) { draft.set_slot(2, 5); }), 0U) << "nothing changes";
  EXPECT_EQ(stores_of([](LineDraft& draft) { draft.set_seed(4, 9); }), 3U);
  EXPECT_EQ(version(), 2U);
  EXPECT_EQ(stores_of([](LineDraft& draft) {
              draft.set_slot(1, 4);
              draft.set_slot(9, 1);
            }),
            6U)
      << "both lie across words";
  EXPECT_EQ(version(), 4U);
  EXPECT_EQ(read.value(2), 5U);
  EXPECT_EQ(read.value(9), 1U);
  EXPECT_EQ(read.seed(4), 9U);
}

TEST(LineMap, gives_each_key_its_value) {
  const size_t count = step_count(1'000'000);
  for (const auto& keys : {dense_keys(count), random_keys(count, 1), vendor_keys(count, 2)}) {
    for (const double load : {0.85, 0.95}) {
      const Map map = map_of({.load = load}, keys);
      expect_all(map_reader(map), keys, 16);
      EXPECT_EQ(map.audit(), std::nullopt);
    }
  }
}

TEST(LineMap, takes_few_bits_a_key) {
  const auto keys = random_keys(step_count(2'000'000), 3);
  const auto bits = [&](double load) {
    const Map map = map_of({.load = load}, keys);
    const auto report = map.report();
    EXPECT_LT(report.keys_by_level[1], keys.size() / 10);
    return 8 * static_cast<double>(report.image_bytes) / static_cast<double>(keys.size());
  };
  EXPECT_LE(bits(0.85), 26.5);
  EXPECT_LE(bits(0.95), 24.5);
}

TEST(LineMap, has_values_and_fingerprints_of_all_widths) {
  const auto keys = random_keys(3'000, 4);
  for (const uint32_t value_bits : {4U, 5U, 8U, 12U, 16U, 24U, 31U, 32U}) {
    for (const uint32_t fingerprint_bits : {0U, 8U, 12U, 16U}) {
      SCOPED_TRACE(std::to_string(value_bits) + " " + std::to_string(fingerprint_bits));
      const Map map =
          map_of({.value_bits = value_bits, .fingerprint_bits = fingerprint_bits}, keys);
      expect_all(map_reader(map), keys, value_bits);
      EXPECT_EQ(map.audit(), std::nullopt);
    }
  }
}

TEST(LineMap, has_few_keys_and_none) {
  for (size_t count = 0; count <= 100; ++count) {
    const auto keys = random_keys(count, 5 + count);
    const Map map = map_of({}, keys);
    expect_all(map_reader(map), keys, 16);
    EXPECT_EQ(map.audit(), std::nullopt);
  }
}

// Keys of 40 bytes, as IPv6's flows have.
TEST(LineMap, has_keys_of_any_class) {
  using Wide = std::array<uint8_t, 37>;
  std::vector<LineMapBuilder<Wide>::Entry> entries;
  traffic::Draw draw(6);
  for (uint32_t i = 0; i < 10'000; ++i) {
    Wide key{};
    for (uint8_t& byte : key) byte = static_cast<uint8_t>(draw.word());
    entries.push_back({key, i});
  }
  auto map = LineMapBuilder<Wide>::build({.hash_seed = 1}, entries);
  ASSERT_TRUE(map) << map.error().message;
  const auto reader = LineMapReader<Wide>::open(map.value().image());
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_FALSE(LineMapReader<uint64_t>::open(map.value().image()));
  for (const auto& entry : entries) {
    uint32_t value = 0;
    HitArray<1> maybe;
    ASSERT_EQ(reader.value().lookup_unverified(std::span<const Wide>(&entry.key, 1),
                                               std::span(&value, 1), maybe),
              1U);
    ASSERT_EQ(value, entry.value);
  }
}

TEST(LineMap, keys_that_are_kept_leave_strangers_out) {
  const auto keys = random_keys(50'000, 13);
  std::vector<uint64_t> strangers;
  for (const uint64_t key : random_keys(50'000, 14))
    if (!std::ranges::binary_search(keys, key)) strangers.push_back(key);
  Map map = map_of({.keeps_keys = true}, keys);
  expect_all(map_reader(map), keys, 16);
  EXPECT_EQ(share_of_strangers(map, strangers), 0);
  for (size_t i = 0; i < 5'000; ++i) {
    ASSERT_EQ(map.erase(keys[i]), ChangeOutcome::kDone);
    ASSERT_EQ(map.insert(strangers[i], value_of(strangers[i])), ChangeOutcome::kDone);
  }
  std::vector<uint64_t> gone(keys.begin(), keys.begin() + 5'000);
  EXPECT_EQ(share_of_strangers(map, gone), 0);
  EXPECT_EQ(share_of_strangers(map, {strangers.begin(), strangers.begin() + 5'000}), 1);
  const auto file = map.exported();
  auto arena = Arena::map(file.size());
  ASSERT_TRUE(arena);
  std::ranges::copy(file, arena.value().data());
  const auto opened = LineMapReader<uint64_t>::open({arena.value().data(), file.size()});
  ASSERT_TRUE(opened) << opened.error().message;
  expect_all(opened.value(), {keys.begin() + 5'000, keys.end()}, 16);
}

TEST(LineMap, x106_strangers_get_values_as_often_as_is_said) {
  const auto keys = random_keys(200'000, 7);
  std::vector<uint64_t> strangers;
  for (const uint64_t key : random_keys(200'000, 8))
    if (!std::ranges::binary_search(keys, key)) strangers.push_back(key);
  const double plain = share_of_strangers(map_of({}, keys), strangers);
  EXPECT_GT(plain, 0.7);
  EXPECT_LT(plain, 0.9);
  EXPECT_NEAR(share_of_strangers(map_of({.fingerprint_bits = 8}, keys), strangers), plain / 256,
              0.001);
  EXPECT_LT(share_of_strangers(map_of({.fingerprint_bits = 16}, keys), strangers), 0.0002);
}

// As where another data plane reads it.
TEST(LineMap, goes_on_in_memory_of_the_caller) {
  const auto keys = random_keys(20'000, 10);
  Map map = map_of({}, keys);
  std::vector<std::array<std::byte, kLineBytes>> room(map.image().size() / kLineBytes + 1);
  const std::span all(room.front().data(), room.size() * kLineBytes);
  const size_t aligned =
      (kLineBytes - reinterpret_cast<uintptr_t>(all.data()) % kLineBytes) % kLineBytes;
  const std::span memory = all.subspan(aligned, map.image().size());
  EXPECT_TRUE(map.move_image(memory.first(memory.size() - 1)));
  EXPECT_NE(map.image().data(), memory.data());
  ASSERT_EQ(map.move_image(memory), std::nullopt);
  EXPECT_EQ(map.image().data(), memory.data());
  for (size_t i = 0; i < keys.size(); i += 2) ASSERT_EQ(map.erase(keys[i]), ChangeOutcome::kDone);
  for (size_t i = 0; i < keys.size(); i += 2)
    ASSERT_EQ(map.insert(keys[i], value_of(keys[i])), ChangeOutcome::kDone);
  expect_all(LineMapReader<uint64_t>::open(memory).value(), keys, 16);
  EXPECT_EQ(map.audit(), std::nullopt);
  const auto anew = map.rebuilt();
  ASSERT_TRUE(anew) << anew.error().message;
  EXPECT_NE(anew.value().image().data(), memory.data());
}

TEST(LineMap, refuses_what_cannot_be) {
  const auto refusal = [](const LineMapConfig& config, const std::vector<Map::Entry>& entries) {
    const auto map = Map::build(config, entries);
    return map ? std::string() : map.error().message;
  };
  EXPECT_EQ(refusal({.value_bits = 33}, {}), "value_bits: give 4 to 32");
  EXPECT_EQ(refusal({.fingerprint_bits = 1}, {}), "fingerprint_bits: give 0, 8, 12 or 16");
  EXPECT_EQ(refusal({.load = 1}, {}), "load: give more than 0 and at most 0.97");
  EXPECT_EQ(refusal({.value_bits = 8}, {{1, 255}}),
            "a value of 255; values of 8 bits are below 255");
  EXPECT_EQ(refusal({.hash_seed = 1}, {{7, 1}, {6, 2}, {7, 3}}), "a key is there twice");
}

TEST(LineMap, images_that_are_cut_foreign_or_changed_are_refused) {
  const Map map = map_of({}, random_keys(10'000, 9));
  const std::vector<std::byte> bytes = map.exported();
  auto arena = Arena::map(bytes.size());
  ASSERT_TRUE(arena);
  const std::span good(arena.value().data(), bytes.size());
  std::ranges::copy(bytes, good.begin());
  ASSERT_TRUE(LineMapReader<uint64_t>::open(good));
  for (const size_t size : {size_t{0}, sizeof(ImageHead), kLineMapHeadBytes, good.size() - 1})
    EXPECT_FALSE(LineMapReader<uint64_t>::open(good.first(size))) << size;
  for (size_t at = 0; at < good.size(); at += at < 256 ? 1 : 997) {
    good[at] ^= std::byte{0x40};
    EXPECT_FALSE(LineMapReader<uint64_t>::open(good)) << at;
    good[at] ^= std::byte{0x40};
  }
}

}  // namespace
}  // namespace roost::compact
