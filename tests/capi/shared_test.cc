// Tables of the C interface that one thread changes while others look keys up.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "capi/roost.h"
#include "capi/roost_shared.h"
#include "tests/base/step_count.h"
#include "tests/capi/c_table.h"
#include "tests/capi/config_refusal.h"

namespace roost {
namespace {

// Keys of 48 bits in words, with values of 16.
roost_config config_of(uint64_t capacity) {
  roost_config config = c_config(8, 2, capacity);
  config.key_bits = 48;
  config.layout = ROOST_LAYOUT_PACKED;
  config.access = ROOST_ACCESS_SHARED;
  return config;
}

roost_keys keys_of(std::span<const uint64_t> keys) {
  roost_keys batch{};
  batch.keys = keys.data();
  batch.count = keys.size();
  return batch;
}

struct ReaderDeleter {
  void operator()(roost_reader* reader) const { roost_reader_destroy(reader); }
};
using ReaderHandle = std::unique_ptr<roost_reader, ReaderDeleter>;

ReaderHandle reader_of(const CTableHandle& table) {
  roost_reader* reader = nullptr;
  EXPECT_EQ(roost_reader_create(table.get(), &reader, nullptr, 0), ROOST_OK);
  return ReaderHandle(reader);
}

std::vector<uint64_t> numbers(uint64_t first, size_t count) {
  std::vector<uint64_t> keys(count);
  std::iota(keys.begin(), keys.end(), first);
  return keys;
}

void insert(roost_table* table, std::span<const uint64_t> keys, uint16_t value) {
  const roost_keys batch = keys_of(keys);
  const std::vector<uint16_t> values(keys.size(), value);
  std::vector<uint8_t> outcomes(keys.size());
  ASSERT_EQ(roost_table_insert(table, &batch, values.data(), nullptr, outcomes.data()),
            keys.size());
}

// Looks at a table in which the keys from 0 on stay, with values that only grow, others come and
// go, and the rest never are; counts answers that cannot be.
class Watcher {
 public:
  Watcher(ReaderHandle reader, size_t stayers, size_t guests)
      : reader_(std::move(reader)), stayers_(stayers), guests_(guests), least_(stayers, 1) {
    const roost_keys first = next_keys();
    roost_reader_start(reader_.get(), &first, &flight_);
  }

  // Finishes the lookup on its way, and starts another one.
  void look() {
    const Keys& keys = keys_[round_ % 2];
    const roost_keys next = next_keys();
    std::array<uint64_t, ROOST_HIT_WORDS(kLanes)> hits{};
    std::array<uint16_t, kLanes> values{};
    roost_reader_lookup_and_start(reader_.get(), &flight_, values.data(), hits.data(), &next);
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const bool is_hit = roost_is_hit(hits.data(), lane);
      if (keys[lane] < stayers_) {
        uint16_t& least = least_[keys[lane]];
        if (!is_hit || values[lane] < least) ++wrong_;
        least = std::max(least, values[lane]);
      } else if (keys[lane] >= stayers_ + guests_ && is_hit) {
        ++wrong_;
      }
    }
  }
  [[nodiscard]] uint64_t wrong() const { return wrong_; }

 private:
  static constexpr size_t kOfEach = 32;
  static constexpr size_t kLanes = 3 * kOfEach;
  using Keys = std::array<uint64_t, kLanes>;

  roost_keys next_keys() {
    Keys& keys = keys_[++round_ % 2];
    for (size_t i = 0; i < kOfEach; ++i) {
      const uint64_t number = (round_ * kOfEach + i) * 7'919;
      keys[i] = number % stayers_;
      keys[kOfEach + i] = stayers_ + number % guests_;
      keys[2 * kOfEach + i] = stayers_ + guests_ + number % 100'000;
    }
    return keys_of(keys);
  }

  ReaderHandle reader_;
  size_t stayers_;
  size_t guests_;
  std::vector<uint16_t> least_;  // of each key that stays, the value seen last
  std::array<Keys, 2> keys_{};
  uint64_t round_ = 0;
  roost_flight flight_;
  uint64_t wrong_ = 0;
};

TEST(CShared, readers_see_what_is_there_while_the_table_changes) {
  constexpr size_t kStayers = 20'000;
  constexpr size_t kGuests = 10'000;
  const CTableHandle table = c_create(config_of(32'768)).value();
  const std::vector<uint64_t> stayers = numbers(0, kStayers);
  const std::vector<uint64_t> guests = numbers(kStayers, kGuests);
  roost_table_write(table.get());
  insert(table.get(), stayers, 1);
  roost_table_end_write(table.get());

  std::atomic<bool> is_over = false;
  std::atomic<uint64_t> wrong = 0;
  std::vector<std::thread> readers;
  for (int number = 0; number < 2; ++number) {
    readers.emplace_back([&] {
      Watcher watcher(reader_of(table), kStayers, kGuests);
      while (!is_over.load(std::memory_order_acquire)) watcher.look();
      wrong += watcher.wrong();
    });
  }
  const roost_keys leaving = keys_of(guests);
  std::vector<uint64_t> erased(ROOST_HIT_WORDS(kGuests));
  constexpr auto kValueEnd = static_cast<uint16_t>(2 + step_count(40, 5));
  for (uint16_t value = 2; value < kValueEnd; ++value) {
    roost_table_write(table.get());
    insert(table.get(), guests, value);
    insert(table.get(), stayers, value);
    EXPECT_EQ(roost_table_erase(table.get(), &leaving, erased.data()), kGuests);
    roost_table_end_write(table.get());
  }
  is_over.store(true, std::memory_order_release);
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong.load(), 0U);
  EXPECT_EQ(roost_table_audit(table.get(), nullptr), ROOST_OK);
}

TEST(CShared, one_thread_at_a_time_has_the_right_to_write) {
  const CTableHandle table = c_create(config_of(4'096)).value();
  ASSERT_TRUE(roost_table_try_write(table.get()));
  EXPECT_FALSE(roost_table_try_write(table.get()));
  roost_table_end_write(table.get());

  // Each adds one to a value that all of them read and write.
  const std::array<uint64_t, 1> key = {17};
  insert(table.get(), key, 0);
  const auto add = [&] {
    const roost_keys batch = keys_of(key);
    for (int i = 0; i < 5'000; ++i) {
      roost_table_write(table.get());
      uint16_t value = 0;
      uint64_t hits = 0;
      roost_table_lookup(table.get(), &batch, &value, &hits);
      insert(table.get(), key, static_cast<uint16_t>(value + 1));
      roost_table_end_write(table.get());
    }
  };
  std::thread one(add);
  std::thread other(add);
  one.join();
  other.join();
  uint16_t value = 0;
  uint64_t hits = 0;
  const roost_keys batch = keys_of(key);
  EXPECT_EQ(roost_reader_lookup(reader_of(table).get(), &batch, &value, &hits), 1U);
  EXPECT_EQ(value, 10'000);
}

TEST(CShared, a_reader_goes_on_in_a_table_that_was_found_again) {
  roost_config config = config_of(4'096);
  config.pages = 0;
  uint64_t bytes = 0;
  ASSERT_EQ(roost_table_bytes(&config, &bytes, nullptr, 0), ROOST_OK);
  const std::unique_ptr<void, decltype(&std::free)> memory(
      std::aligned_alloc(64, (bytes + 63) / 64 * 64), &std::free);
  config.memory = memory.get();
  config.memory_bytes = bytes;
  const std::vector<uint64_t> keys = numbers(1'000, 3'000);
  insert(c_create(config).value().get(), keys, 5);

  config.capacity = 0;
  roost_table* adopted = nullptr;
  std::array<char, 300> error{};
  ASSERT_EQ(roost_table_adopt(&config, &adopted, error.data(), error.size()), ROOST_OK)
      << error.data();
  const CTableHandle table(adopted);
  const roost_keys batch = keys_of(keys);
  std::vector<uint64_t> hits(ROOST_HIT_WORDS(keys.size()));
  EXPECT_EQ(roost_reader_lookup(reader_of(table).get(), &batch, nullptr, hits.data()), keys.size());
}

TEST(CShared, a_table_of_one_thread_has_no_readers) {
  const CTableHandle table = c_create(c_config(8, 8, 1'024)).value();
  auto* reader = reinterpret_cast<roost_reader*>(1);
  std::array<char, 200> error{};
  EXPECT_EQ(roost_reader_create(table.get(), &reader, error.data(), error.size()), ROOST_INVALID);
  EXPECT_EQ(reader, nullptr);
  EXPECT_STREQ(error.data(),
               "the table is one thread's; set roost_config::access to ROOST_ACCESS_SHARED before "
               "it is created");
  roost_reader_destroy(nullptr);
}

TEST(CShared, what_cannot_be_shared_is_refused) {
  roost_config config = config_of(4'096);
  config.layout = ROOST_LAYOUT_SPLIT;
  expect_invalid(config,
                 "roost_config: access is ROOST_ACCESS_SHARED, which is for packed tables: keys of "
                 "8 to 60 bits, values of up to 2 bytes, without expiry; give each thread its own "
                 "table, or share one by roost::SharedTable of the C++ headers");
  config = config_of(4'096);
  config.access = 2;
  expect_invalid(config, "roost_config: access is 2; it is one of roost_access");
  config = config_of(4'096);
  config.version_counters = 12;
  expect_invalid(config,
                 "roost_config: version_counters is 12; it is a power of two, or 0 for 8,192");
  config = config_of(4'096);
  config.access = ROOST_ACCESS_EXCLUSIVE;
  config.version_counters = 1;
  expect_invalid(config,
                 "roost_config: version_counters is set, but the table is one thread's; set "
                 "access, or leave it 0");
  config.access = ROOST_ACCESS_SHARED;
  EXPECT_EQ(refusal_of(config).status, ROOST_OK) << "one counter is enough";
}

TEST(CSharedDeathTest, pointers_to_what_others_may_read_are_not_handed_out) {
  const CTableHandle table = c_create(config_of(4'096)).value();
  const std::array<uint64_t, 1> key = {17};
  const roost_keys batch = keys_of(key);
  void* value = nullptr;
  uint64_t hits = 0;
  EXPECT_DEATH(roost_table_find(table.get(), &batch, &value, &hits), "kPoint");
}

}  // namespace
}  // namespace roost
