// What roost.h promises of a call, where the mirrored operations cannot see it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "capi/lane_answer.h"
#include "capi/roost.h"
#include "tests/capi/contract.h"

namespace roost {
namespace {

TEST_F(CContractTest, a_lookup_without_values_tells_the_hits) {
  make(c_config(8, 8, 256), 70);
  hits_.fill(~uint64_t{0});
  EXPECT_EQ(found_count(), 70U);
  for (size_t lane = 0; lane < kCount; ++lane)
    EXPECT_EQ(roost_is_hit(hits_.data(), lane), lane < 70) << lane;
  EXPECT_EQ(hits_[1] >> (kCount - 64), 0U) << "bits past the last lane are zero";
}

TEST_F(CContractTest, lanes_that_miss_leave_their_values_pointers_and_indices_alone) {
  make(c_config(8, 8, 256), 0);
  const roost_keys lanes = side_by_side();
  const roost_records records = {keys_.data(), 8};
  std::array<uint64_t, kCount> values;
  values.fill(7);
  std::array<void*, kCount> places;
  places.fill(&values);
  EXPECT_EQ(roost_table_lookup(table_.get(), &lanes, values.data(), hits_.data()), 0U);
  EXPECT_EQ(roost_table_lookup_records(table_.get(), &lanes, &records, values.data(), hits_.data()),
            0U);
  EXPECT_EQ(roost_table_find(table_.get(), &lanes, places.data(), hits_.data()), 0U);
  EXPECT_EQ(std::ranges::count(values, 7U), static_cast<ptrdiff_t>(kCount));
  EXPECT_EQ(std::ranges::count(places, &values), static_cast<ptrdiff_t>(kCount));
}

TEST_F(CContractTest, values_are_written_to_their_last_byte_and_not_beyond) {
  for (const uint32_t value_bytes : {1U, 3U, 4U, 8U, 15U, 16U, 17U, 100U, 256U}) {
    const CTableHandle table = c_create(c_config(8, value_bytes, 64)).value();
    std::vector<uint8_t> values(size_t{2} * value_bytes);
    std::iota(values.begin(), values.end(), uint8_t{1});
    const roost_keys two = side_by_side(2);
    std::array<uint8_t, 2> outcomes{};
    roost_table_insert(table.get(), &two, values.data(), nullptr, outcomes.data());
    std::vector<uint8_t> out(values.size() + 8, 0xEE);
    EXPECT_EQ(roost_table_lookup(table.get(), &two, out.data(), hits_.data()), 2U);
    EXPECT_TRUE(std::equal(values.begin(), values.end(), out.begin())) << value_bytes;
    EXPECT_EQ(std::count(out.end() - 8, out.end(), 0xEE), 8) << value_bytes;
  }
}

TEST_F(CContractTest, every_lookup_finishes_a_flight) {
  roost_config config = c_config(8, 8, 256);
  config.expires = true;
  make(config, 70);
  const roost_keys lanes = side_by_side();
  const roost_records records = {keys_.data(), 8};
  std::array<uint64_t, kCount> values{};
  std::array<void*, kCount> places{};
  std::vector<uint32_t> timeouts(kCount, 5);
  const roost_timeouts each = {timeouts.data(), 0};
  roost_flight flight;
  roost_keys started{};
  started.flight = &flight;
  roost_table_start(table_.get(), &lanes, &flight);
  EXPECT_EQ(roost_table_lookup(table_.get(), &started, nullptr, hits_.data()), 70U);
  EXPECT_EQ(roost_table_find(table_.get(), &started, places.data(), hits_.data()), 70U);
  EXPECT_EQ(
      roost_table_lookup_records(table_.get(), &started, &records, values.data(), hits_.data()),
      70U);
  EXPECT_EQ(roost_table_lookup_refresh(table_.get(), &started, &each, values.data(), hits_.data()),
            70U);
  EXPECT_EQ(values[69], keys_[69]);
  EXPECT_EQ(*static_cast<uint64_t*>(places[69]), keys_[69]);
  roost_table_advance(table_.get(), 6);
  EXPECT_EQ(found_count(), 0U) << "the timeouts of the flight's lanes counted";
}

TEST_F(CContractTest, a_flight_takes_every_form_of_keys) {
  make(c_config(8, 8, 256), 70);
  roost_keys lanes = side_by_side();
  std::array<uint64_t, kCount> hashes{};
  roost_table_hash(table_.get(), &lanes, hashes.data());
  std::array<const void*, kCount> pointers{};
  std::ranges::transform(keys_, pointers.begin(), [](const uint64_t& key) { return &key; });
  lanes.keys = nullptr;
  lanes.pointers = pointers.data();
  lanes.hashes = hashes.data();
  roost_flight flight;
  roost_table_start(table_.get(), &lanes, &flight);
  EXPECT_EQ(roost_table_lookup_and_start(table_.get(), &flight, nullptr, hits_.data(), &lanes),
            70U);
  hashes.fill(0);  // they were borrowed, beyond the first 64 lanes, which are on their way
  roost_keys started{};
  started.flight = &flight;
  EXPECT_EQ(roost_table_lookup(table_.get(), &started, nullptr, hits_.data()), 64U);
}

TEST_F(CContractTest, a_flight_may_move_and_borrows_keys_but_not_their_description) {
  make(c_config(8, 8, 256), 70);
  roost_flight flight;
  {
    roost_keys lanes = side_by_side();
    roost_table_start(table_.get(), &lanes, &flight);
    lanes = {};
  }
  const roost_flight moved = flight;
  std::memset(&flight, 0xFF, sizeof(flight));
  roost_keys started{};
  started.flight = &moved;
  EXPECT_EQ(roost_table_lookup(table_.get(), &started, nullptr, hits_.data()), 70U);
}

TEST_F(CContractTest, timeouts_are_the_longest_without_any_and_one_for_all_or_one_a_lane) {
  roost_config config = c_config(8, 8, 256);
  config.expires = true;
  make(config, 10);
  roost_table_advance(table_.get(), 1023);
  EXPECT_EQ(found_count(), 10U);
  roost_table_advance(table_.get(), 1024);
  EXPECT_EQ(found_count(), 0U);

  const roost_timeouts all = {nullptr, 5};
  insert(10, &all);
  roost_table_advance(table_.get(), 1024 + 5);
  EXPECT_EQ(found_count(), 10U);
  roost_table_advance(table_.get(), 1024 + 6);
  EXPECT_EQ(found_count(), 0U);

  const std::vector<uint32_t> timeouts = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const roost_timeouts each = {timeouts.data(), 1000};
  insert(10, &each);
  roost_table_advance(table_.get(), 1030 + 4);
  EXPECT_EQ(found_count(), 6U);
}

TEST_F(CContractTest, time_that_runs_backwards_or_past_the_deadline_is_told) {
  roost_config config = c_config(8, 8, 256);
  config.expires = true;
  make(config, 1);
  EXPECT_EQ(roost_table_advance(table_.get(), 10), ROOST_OK);
  EXPECT_EQ(roost_table_advance(table_.get(), 9), ROOST_TIME_BACKWARDS);
  EXPECT_EQ(roost_table_now(table_.get()), 10U);
  const uint64_t deadline = roost_table_scan_deadline(table_.get());
  EXPECT_EQ(roost_table_advance(table_.get(), deadline), ROOST_OK);
  EXPECT_EQ(roost_table_advance(table_.get(), deadline + 1), ROOST_SCAN_OVERDUE);
}

TEST_F(CContractTest, entries_that_die_without_a_callback_are_counted_all_the_same) {
  roost_config config = c_config(8, 8, 256);
  config.expires = true;
  make(config, 10);
  roost_table_advance(table_.get(), 2000);
  EXPECT_EQ(roost_table_maintain(table_.get(), 1000), 10U);
  EXPECT_EQ(stats().expired, 10U);
}

TEST_F(CContractTest, the_statistics_are_those_of_the_table) {
  roost_config config = c_config(8, 8, 4096);
  config.entries_max = 90;
  make(config, 90);
  EXPECT_EQ(found_count(), 90U);
  const roost_stats told = stats();
  EXPECT_EQ(told.size, sizeof(told));
  EXPECT_EQ(told.capacity, 4096U);
  EXPECT_EQ(told.entry_count, 90U);
  EXPECT_EQ(told.created, 90U);
  EXPECT_EQ(told.stash_slots, 16U);
  EXPECT_EQ(told.stashed, 0U);
  EXPECT_EQ(told.lookups, kCount);
  EXPECT_EQ(told.hits, 90U);
  EXPECT_EQ(
      std::accumulate(std::begin(told.path_lengths), std::end(told.path_lengths), uint64_t{0}),
      90U);
  EXPECT_EQ(std::accumulate(std::begin(told.moved_histogram), std::end(told.moved_histogram),
                            uint64_t{0}),
            4096U / 8 + 2)
      << "the stash counts too";
}

TEST_F(CContractTest, the_occupancy_is_that_of_the_buckets_in_words) {
  make(c_config(8, 8, 128), kCount);
  roost_info info;
  info.size = sizeof(info);
  ASSERT_EQ(roost_table_info(table_.get(), &info), ROOST_OK);
  std::array<uint64_t, ROOST_OCCUPANCY_FIELDS> told{};
  for (uint64_t bucket = 0; bucket < info.bucket_count; ++bucket) {
    std::array<char, 4096> text{};
    ASSERT_GT(roost_table_dump_bucket(table_.get(), bucket, text.data(), text.size()), 0U);
    const std::string words(text.data());
    ++told.at(std::stoul(words.substr(words.find(" of 8 slots busy") - 1)));
  }
  std::array<uint64_t, ROOST_OCCUPANCY_FIELDS> buckets;
  buckets.fill(77);
  roost_table_occupancy(table_.get(), buckets.data());
  EXPECT_EQ(buckets, told);
  EXPECT_GT(std::ranges::count_if(told, [](uint64_t count) { return count > 0; }), 2);
}

TEST_F(CContractTest, a_full_table_refuses_and_counts_it) {
  make(c_config(8, 8, 16), 0);
  const roost_keys lanes = side_by_side();
  std::array<uint64_t, kCount> values{};
  std::array<uint8_t, kCount> outcomes{};
  const size_t done =
      roost_table_insert(table_.get(), &lanes, values.data(), nullptr, outcomes.data());
  EXPECT_EQ(done, 16U);
  EXPECT_EQ(std::ranges::count(outcomes, ROOST_FULL), static_cast<ptrdiff_t>(kCount - done));
  EXPECT_EQ(stats().refusals, kCount - done);
}

TEST_F(CContractTest, a_broken_table_is_named_by_the_audit) {
  std::vector<uint64_t> memory(8192 / 8 + 8);
  roost_config config = c_config(8, 8, 64);
  config.pages = ROOST_PAGES_LARGEST;
  const uintptr_t start = (reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64;
  config.memory = reinterpret_cast<void*>(start);
  config.memory_bytes = 8192;
  make(config, 20);
  EXPECT_EQ(roost_table_audit(table_.get(), nullptr), ROOST_OK);
  // A key, among the entries of 16 bytes that stand behind the header, which says its size, and the
  // lines of 64 bytes, one a bucket.
  constexpr size_t kBuckets = 8;
  std::array<uint64_t, kBuckets * 8 * 2> entries;
  uint32_t header_bytes = 0;
  std::memcpy(&header_bytes, static_cast<char*>(config.memory) + 12, sizeof(header_bytes));
  char* behind_lines = static_cast<char*>(config.memory) + header_bytes + kBuckets * 64;
  std::memcpy(entries.data(), behind_lines, sizeof(entries));
  const auto held = std::ranges::find_if(entries, [](uint64_t word) { return word >= 1000; });
  ASSERT_NE(held, entries.end());
  *held ^= 1U << 20;
  std::memcpy(behind_lines, entries.data(), sizeof(entries));
  roost_violation violation;
  violation.size = sizeof(violation);
  EXPECT_EQ(roost_table_audit(table_.get(), &violation), ROOST_BROKEN);
  EXPECT_EQ(violation.invariant, 2);
  EXPECT_EQ(violation.bucket, static_cast<uint64_t>(held - entries.begin()) / 16);
  EXPECT_EQ(std::string(violation.text), "the tag is not that of the key");
  EXPECT_EQ(roost_table_audit(table_.get(), nullptr), ROOST_BROKEN);
}

TEST_F(CContractTest, a_bucket_in_words_is_cut_to_the_room_there_is) {
  make(c_config(8, 8, 16), 10);
  std::string whole(2000, '#');
  const size_t length = roost_table_dump_bucket(table_.get(), 0, whole.data(), whole.size());
  EXPECT_EQ(std::strlen(whole.c_str()), length);
  EXPECT_NE(whole.find("bucket 0, now 0: "), std::string::npos);
  std::array<char, 9> cut{};
  EXPECT_EQ(roost_table_dump_bucket(table_.get(), 0, cut.data(), cut.size()), length);
  EXPECT_STREQ(cut.data(), "bucket 0");
  EXPECT_EQ(roost_table_dump_bucket(table_.get(), 0, nullptr, 0), length);
}

TEST_F(CContractTest, a_bucket_that_is_not_there_is_told_instead_of_dumped) {
  make(c_config(8, 8, 16), 0);
  std::array<char, 100> text{};
  roost_table_dump_bucket(table_.get(), 2, text.data(), text.size());
  EXPECT_STREQ(text.data(), "there is no bucket 2; the table has 2\n");
}

TEST(CContract, an_index_has_the_bytes_of_its_value) {
  constexpr uint64_t kBytes = 0x8877'6655'4433'2211;
  const auto* value = reinterpret_cast<const std::byte*>(&kBytes);
  EXPECT_EQ(capi::index_in(value, 8), kBytes);
  EXPECT_EQ(capi::index_in(value, 4), 0x4433'2211U) << "the bytes behind are another's";
}

TEST(CContractDeathTest, records_of_values_that_are_no_index_end_the_process) {
  const CTableHandle table = c_create(c_config(8, 16, 64)).value();
  const roost_keys none{};
  const roost_records records{};
  EXPECT_DEATH(roost_table_lookup_records(table.get(), &none, &records, nullptr, nullptr),
               "value_bytes");
}

TEST(CContract, every_status_has_its_text_and_no_other_number_has_one) {
  for (int status = ROOST_OK; status <= ROOST_BROKEN; ++status) {
    const std::string text = roost_status_text(static_cast<roost_status>(status));
    EXPECT_NE(text, roost_status_text(static_cast<roost_status>(7))) << status;
  }
  EXPECT_STREQ(roost_status_text(static_cast<roost_status>(7)),
               "no status of this version of the library");
}

TEST(CContract, destroying_no_table_does_nothing) { roost_table_destroy(nullptr); }

}  // namespace
}  // namespace roost
