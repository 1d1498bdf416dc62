// Maps of the C interface: what they answer, by every form and size of keys.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "capi/roost.h"
#include "capi/roost_map.h"
#include "tests/capi/c_map.h"

namespace roost {
namespace {

constexpr size_t kCount = 3'000;

void expect_all(const CAnswer& answer, const CEntries& entries) {
  EXPECT_EQ(answer.count, entries.count());
  for (size_t lane = 0; lane < entries.count(); ++lane) {
    ASSERT_TRUE(answer.is_set(lane)) << lane;
    ASSERT_EQ(answer.values[lane], entries.values[lane]) << lane;
  }
}

// Kind, bytes of a key.
class CMaps : public testing::TestWithParam<std::tuple<uint32_t, uint32_t>> {
 protected:
  [[nodiscard]] roost_map_config config() const {
    const auto [kind, key_bytes] = GetParam();
    roost_map_config config = c_map_config(kind, key_bytes);
    config.fingerprint_bits = 16;
    return config;
  }
  [[nodiscard]] CEntries entries(size_t count, uint64_t first = 0) const {
    return c_entries(std::get<1>(GetParam()), count, 16, first);
  }
  // As many different keys as so few bytes have.
  [[nodiscard]] size_t count() const { return std::get<1>(GetParam()) == 1 ? 100 : kCount; }
};

TEST_P(CMaps, have_every_key_in_every_form_of_it) {
  const CEntries there = entries(count());
  const CMapHandle map = c_map(config(), there).value();
  EXPECT_EQ(roost_map_key_count(map.get()), count());
  const CMapReaderHandle reader = c_reader(map);
  expect_all(c_look_up(reader.get(), there.lanes()), there);
  expect_all(c_find(map.get(), there.lanes()), there);

  // At an odd address, and where pointers say.
  CEntries odd = there;
  odd.keys.insert(odd.keys.begin(), std::byte{0});
  roost_keys lanes{};
  lanes.keys = odd.keys.data() + 1;
  lanes.count = count();
  expect_all(c_look_up(reader.get(), lanes), there);
  std::vector<const void*> pointers(count());
  for (size_t i = 0; i < count(); ++i) pointers[i] = there.keys.data() + i * there.key_bytes;
  lanes.keys = nullptr;
  lanes.pointers = pointers.data();
  expect_all(c_look_up(reader.get(), lanes), there);
  expect_all(c_find(map.get(), lanes), there);
}

TEST_P(CMaps, answer_what_changes_made_of_them) {
  const size_t half = count() / 2;
  const CEntries all = entries(count());
  const CEntries first = entries(half);
  const CMapHandle map = c_map(config(), first).value();
  const CMapReaderHandle reader = c_reader(map);
  std::vector<uint8_t> outcomes(count());
  const roost_keys lanes = all.lanes();

  // Those that are there keep their value; the others come in as far as there is room.
  std::vector<uint32_t> values(all.values);
  for (uint32_t& value : values) value ^= 1;
  const size_t done = roost_map_insert(map.get(), &lanes, values.data(), outcomes.data());
  EXPECT_EQ(done, static_cast<size_t>(std::ranges::count(outcomes, ROOST_MAP_DONE)));
  EXPECT_GT(done, 0U);
  EXPECT_EQ(roost_map_key_count(map.get()), half + done);
  const CAnswer found = c_find(map.get(), lanes);
  for (size_t lane = 0; lane < count(); ++lane) {
    if (lane < half) {
      ASSERT_EQ(outcomes[lane], ROOST_MAP_EXISTING);
      ASSERT_EQ(found.values[lane], all.values[lane]);
    } else {
      ASSERT_EQ(found.is_set(lane), outcomes[lane] == ROOST_MAP_DONE) << lane;
    }
  }

  EXPECT_EQ(roost_map_update(map.get(), &lanes, values.data(), outcomes.data()), half + done);
  const CAnswer seen = c_look_up(reader.get(), lanes);
  for (size_t lane = 0; lane < count(); ++lane) {
    ASSERT_EQ(outcomes[lane], found.is_set(lane) ? ROOST_MAP_DONE : ROOST_MAP_NOT_FOUND);
    if (found.is_set(lane)) {
      ASSERT_TRUE(seen.is_set(lane) && seen.values[lane] == values[lane]);
    }
  }

  const roost_keys gone = all.lanes(0, half);
  EXPECT_EQ(roost_map_erase(map.get(), &gone, outcomes.data()), half);
  EXPECT_EQ(roost_map_erase(map.get(), &gone, outcomes.data()), 0U);
  EXPECT_EQ(outcomes[half - 1], ROOST_MAP_NOT_FOUND);
  EXPECT_EQ(c_find(map.get(), gone).count, 0U);
  EXPECT_EQ(roost_map_key_count(map.get()), done);
  EXPECT_EQ(roost_map_audit(map.get(), nullptr, 0), ROOST_OK);
}

TEST_P(CMaps, are_read_from_what_they_export) {
  const CEntries there = entries(count());
  const CMapHandle map = c_map(config(), there).value();
  const uint64_t bytes = roost_map_export(map.get(), nullptr, 0);
  alignas(64) static std::array<std::byte, 1 << 20> exported;
  ASSERT_LE(bytes, exported.size());
  exported.fill(std::byte{0xEE});
  EXPECT_EQ(roost_map_export(map.get(), exported.data(), bytes - 1), bytes);
  EXPECT_EQ(exported[0], std::byte{0xEE}) << "too little room, nothing is written";
  EXPECT_EQ(roost_map_export(map.get(), exported.data(), bytes), bytes);
  EXPECT_EQ(exported[bytes], std::byte{0xEE});

  roost_map_image image;
  roost_map_image_init(&image, sizeof(image));
  image.memory = exported.data();
  image.memory_bytes = bytes;
  image.key_bytes = config().key_bytes;
  image.audits = true;
  roost_map_reader* opened = nullptr;
  std::array<char, 300> error{};
  ASSERT_EQ(roost_map_reader_open(&image, &opened, error.data(), error.size()), ROOST_OK)
      << error.data();
  const CMapReaderHandle reader(opened);
  expect_all(c_look_up(reader.get(), there.lanes()), there);
  roost_map_reader_pause(reader.get());  // of no effect: nobody frees what it reads
  roost_map_reader_resume(reader.get());
}

INSTANTIATE_TEST_SUITE_P(Line, CMaps,
                         testing::Combine(testing::Values(uint32_t{ROOST_MAP_LINE}),
                                          testing::Values(1U, 6U, 8U, 13U, 16U, 20U, 24U, 32U, 37U,
                                                          40U, 48U, 53U, 56U, 64U)));
INSTANTIATE_TEST_SUITE_P(Parrot, CMaps,
                         testing::Combine(testing::Values(uint32_t{ROOST_MAP_PARROT}),
                                          testing::Values(1U, 3U, 6U, 8U)));

// A bit of every byte counts: a key is not another one.
TEST(CMap, tells_keys_apart_that_differ_in_one_bit) {
  for (const uint32_t key_bytes : {5U, 8U, 13U, 48U, 64U}) {
    CEntries entries{.key_bytes = key_bytes};
    for (uint32_t bit = 0; bit < 8 * key_bytes; ++bit) {
      std::vector<std::byte> key(key_bytes);
      key[bit / 8] = static_cast<std::byte>(1U << (bit % 8));
      entries.keys.insert(entries.keys.end(), key.begin(), key.end());
      entries.values.push_back(bit);
    }
    const CMapHandle map = c_map(c_map_config(ROOST_MAP_LINE, key_bytes), entries).value();
    expect_all(c_look_up(c_reader(map).get(), entries.lanes()), entries);
  }
}

// Numbers in network order are learned as they rise: dense ones need no stash.
TEST(CMap, learns_numbers_in_the_order_of_their_bytes) {
  CEntries swapped{.key_bytes = 6};
  for (uint32_t i = 0; i < 20'000; ++i) {
    const uint64_t mac = 0x0200'0000'0000 + i;
    for (int byte = 5; byte >= 0; --byte)
      swapped.keys.push_back(static_cast<std::byte>(mac >> (8 * byte)));
    swapped.values.push_back(i);
  }
  roost_map_config config = c_map_config(ROOST_MAP_PARROT, 6);
  config.is_big_endian = true;
  const CMapHandle map = c_map(config, swapped).value();
  expect_all(c_look_up(c_reader(map).get(), swapped.lanes()), swapped);
  roost_map_figures report{};
  report.size = sizeof(report);
  ASSERT_EQ(roost_map_report(map.get(), &report), ROOST_OK);
  EXPECT_LT(report.stashed, 100U);
  // Read backwards the same bytes are no runs.
  config.is_big_endian = false;
  CMapHandle backwards;
  const CMapRefusal refusal = c_create_map(config, swapped, backwards);
  if (refusal.status == ROOST_OK) {
    ASSERT_EQ(roost_map_report(backwards.get(), &report), ROOST_OK);
    EXPECT_GT(report.stashed, 100U);
  } else {
    EXPECT_NE(refusal.text.find("no model fits"), std::string::npos) << refusal.text;
  }
}

TEST(CMap, with_keys_beside_the_values_knows_strangers) {
  const CEntries there = c_entries(8, kCount);
  const CEntries strangers = c_entries(8, kCount, 16, 1'000'000);
  for (const auto kind : {ROOST_MAP_PARROT, ROOST_MAP_LINE}) {
    roost_map_config config = c_map_config(kind, 8);
    const auto answered = [&] {
      const CMapHandle map = c_map(config, there).value();
      return c_look_up(c_reader(map).get(), strangers.lanes()).count;
    };
    EXPECT_GT(answered(), 100U) << "nothing verifies them";
    config.keeps_keys = true;
    EXPECT_EQ(answered(), 0U);
  }
}

// The paper's policy: while the stash has room, a new value goes there.
TEST(CMap, sends_new_values_to_the_stash_where_it_is_told_to) {
  const CEntries there = c_entries(8, 10'000);
  roost_map_figures report{};
  report.size = sizeof(report);
  const auto stashed = [&](uint32_t insertion) {
    roost_map_config config = c_map_config(ROOST_MAP_PARROT, 8);
    config.insertion = insertion;
    const CMapHandle map = c_map(config, there).value();
    const roost_keys some = there.lanes(0, 100);
    std::vector<uint8_t> outcomes(100);
    EXPECT_EQ(roost_map_report(map.get(), &report), ROOST_OK);
    const uint64_t before = report.stashed;
    EXPECT_EQ(roost_map_update(map.get(), &some, there.values.data(), outcomes.data()), 100U);
    EXPECT_EQ(roost_map_report(map.get(), &report), ROOST_OK);
    return report.stashed - before;
  };
  EXPECT_EQ(stashed(ROOST_MAP_RESEED), 0U);
  EXPECT_EQ(stashed(ROOST_MAP_STASH), 100U);
}

TEST(CMap, changes_that_are_too_wide_or_find_no_room_say_so) {
  roost_map_config config = c_map_config(ROOST_MAP_PARROT, 8);
  config.key_bits = 20;
  config.value_bits = 8;
  const CMapHandle map = c_map(config, c_entries(8, 100, 8)).value();
  const std::array<uint64_t, 3> keys = {1'000'000, uint64_t{1} << 20, 1'000'001};
  const std::array<uint32_t, 3> values = {254, 1, 255};
  std::array<uint8_t, 3> outcomes{};
  roost_keys lanes{};
  lanes.keys = keys.data();
  lanes.count = 3;
  EXPECT_EQ(roost_map_insert(map.get(), &lanes, values.data(), outcomes.data()), 1U);
  EXPECT_EQ(outcomes,
            (std::array<uint8_t, 3>{ROOST_MAP_DONE, ROOST_MAP_TOO_WIDE, ROOST_MAP_TOO_WIDE}));
  // Far more than it was built for.
  for (const uint32_t kind : {ROOST_MAP_LINE, ROOST_MAP_PARROT}) {
    const CMapHandle small = c_map(c_map_config(kind, 8), c_entries(8, 100)).value();
    const CEntries many = c_entries(8, 5'000, 16, 200);
    const roost_keys all = many.lanes();
    std::vector<uint8_t> became(many.count());
    EXPECT_LT(roost_map_insert(small.get(), &all, many.values.data(), became.data()), 5'000U);
    EXPECT_TRUE(became.back() == ROOST_MAP_NO_ROOM || became.back() == ROOST_MAP_BUCKET_FULL)
        << unsigned{became.back()};
    EXPECT_EQ(roost_map_audit(small.get(), nullptr, 0), ROOST_OK);
  }
}

// A map may begin empty, where nothing is to be learned.
TEST(CMap, begins_empty_and_grows_by_rebuilds) {
  const CEntries none = c_entries(13, 0);
  const CMapHandle map = c_map(c_map_config(ROOST_MAP_LINE, 13), none).value();
  const CMapReaderHandle reader = c_reader(map);
  const CEntries all = c_entries(13, kCount);
  unsigned rebuilds = 0;
  for (size_t lane = 0; lane < kCount;) {
    const roost_keys one = all.lanes(lane, 1);
    uint8_t outcome = 0;
    if (roost_map_insert(map.get(), &one, &all.values[lane], &outcome) == 1) {
      ++lane;
      continue;
    }
    ASSERT_EQ(outcome, ROOST_MAP_NO_ROOM);
    roost_map_rebuild* rebuild = nullptr;
    ASSERT_EQ(roost_map_begin_rebuild(map.get(), nullptr, &rebuild, nullptr, 0), ROOST_OK);
    roost_map_rebuild_run(rebuild);
    ASSERT_EQ(roost_map_adopt(map.get(), nullptr, 0), ROOST_OK);
    ASSERT_LT(++rebuilds, 100U);
  }
  EXPECT_GT(rebuilds, 2U);
  expect_all(c_look_up(reader.get(), all.lanes()), all);
  EXPECT_EQ(roost_map_free_retired(map.get()), 0U);
}

TEST(CMap, reports_where_its_keys_are) {
  const CEntries there = c_entries(8, 20'000);
  roost_map_figures report{};
  report.size = sizeof(report);
  const CMapHandle line = c_map(c_map_config(ROOST_MAP_LINE, 8), there).value();
  ASSERT_EQ(roost_map_report(line.get(), &report), ROOST_OK);
  EXPECT_EQ(report.size, sizeof(report));
  EXPECT_EQ(report.key_count, 20'000U);
  EXPECT_EQ(report.image_bytes, roost_map_export(line.get(), nullptr, 0));
  EXPECT_GE(report.builder_bytes, 20'000U * 8);
  EXPECT_GE(report.level_count, 2U);
  uint64_t sum = 0;
  for (const uint64_t keys : report.keys_by_level) sum += keys;
  EXPECT_EQ(sum, 20'000U);
  EXPECT_GT(report.keys_by_level[0], 15'000U);
  EXPECT_EQ(report.model, nullptr);

  const CMapHandle parrot = c_map(c_map_config(ROOST_MAP_PARROT, 8), there).value();
  ASSERT_EQ(roost_map_report(parrot.get(), &report), ROOST_OK);
  EXPECT_EQ(report.key_count, 20'000U);
  EXPECT_EQ(report.level_count, 0U);
  EXPECT_GE(report.bucket_count * 4, 20'000U);
  EXPECT_LE(report.longest_walk, 16U);
  EXPECT_GT(report.model_bytes, 0U);
  EXPECT_GT(report.model_size, 0U);
  EXPECT_TRUE(std::string(report.model) == "RMI" || std::string(report.model) == "spline");

  // Callers of other versions.
  report.size = 3;
  EXPECT_EQ(roost_map_report(parrot.get(), &report), ROOST_INVALID);
  report.size = offsetof(roost_map_figures, image_bytes);
  report.image_bytes = 77;
  EXPECT_EQ(roost_map_report(parrot.get(), &report), ROOST_OK);
  EXPECT_EQ(report.image_bytes, 77U);
}

}  // namespace
}  // namespace roost
