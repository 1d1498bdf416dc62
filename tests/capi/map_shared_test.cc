// A map of the C interface whose readers look keys up while its builder changes it and another
// thread builds it anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "capi/roost.h"
#include "capi/roost_map.h"
#include "tests/base/step_count.h"
#include "tests/capi/c_map.h"

namespace roost {
namespace {

constexpr size_t kStayers = 6'000;
constexpr size_t kCounters = 3'000;  // whose values only grow
constexpr size_t kGuests = 3'000;    // who come and go
constexpr size_t kKeys = kStayers + kCounters + kGuests;

// Asks for keys of all three sorts by turns, and counts answers that cannot be.
class MapWatcher {
 public:
  MapWatcher(CMapReaderHandle reader, const CEntries& entries)
      : reader_(std::move(reader)), entries_(entries), least_(kCounters) {}

  void look() {
    constexpr size_t kLanes = 96;
    const size_t first = ++round_ * 7'919 * kLanes % (kKeys - kLanes);
    const CAnswer answer = c_look_up(reader_.get(), entries_.lanes(first, kLanes));
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const size_t key = first + lane;
      const bool is_set = answer.is_set(lane);
      const uint32_t value = answer.values[lane];
      if (key < kStayers) {
        if (!is_set || value != entries_.values[key]) ++wrong_;
      } else if (key < kStayers + kCounters) {
        uint32_t& least = least_[key - kStayers];
        if (!is_set || value < least) ++wrong_;
        least = std::max(least, value);
      }
    }
  }
  void rest() {
    roost_map_reader_pause(reader_.get());
    roost_map_reader_resume(reader_.get());
  }
  [[nodiscard]] uint64_t wrong() const { return wrong_; }

 private:
  CMapReaderHandle reader_;
  const CEntries& entries_;
  std::vector<uint32_t> least_;
  uint64_t round_ = 0;
  uint64_t wrong_ = 0;
};

class CSharedMaps : public testing::TestWithParam<std::tuple<uint32_t, uint32_t>> {
 protected:
  // Guests leave and come, counters count.
  void change_all(uint32_t value) {
    const roost_keys guests = entries_.lanes(kStayers + kCounters, kGuests);
    const roost_keys counters = entries_.lanes(kStayers, kCounters);
    std::vector<uint32_t> values(kCounters, value);
    std::vector<uint8_t> outcomes(kKeys);
    EXPECT_EQ(roost_map_update(map_.get(), &counters, values.data(), outcomes.data()), kCounters);
    const uint32_t* const own = entries_.values.data() + kStayers + kCounters;
    there_ -= roost_map_erase(map_.get(), &guests, outcomes.data());
    there_ += roost_map_insert(map_.get(), &guests, own, outcomes.data());
  }

  // Builds the map anew in another thread, while it changes here.
  bool rebuild(uint32_t& value) {
    roost_map_rebuild* work = nullptr;
    EXPECT_EQ(roost_map_begin_rebuild(map_.get(), nullptr, &work, nullptr, 0), ROOST_OK);
    std::thread worker([work] { roost_map_rebuild_run(work); });
    change_all(value++);
    worker.join();
    std::array<char, 300> error{};
    const roost_status status = roost_map_adopt(map_.get(), error.data(), error.size());
    // What came meanwhile may find no room in it.
    EXPECT_TRUE(status == ROOST_OK ||
                std::string(error.data()).find("begin anew") != std::string::npos)
        << error.data();
    return status == ROOST_OK;
  }

  CEntries entries_{};
  CMapHandle map_;
  size_t there_ = kKeys;
};

TEST_P(CSharedMaps, answer_right_while_they_change_and_are_built_anew) {
  const auto [kind, key_bytes] = GetParam();
  roost_map_config config = c_map_config(kind, key_bytes);
  config.value_bits = 24;
  config.load = 0.7;  // a quarter of the keys leaves and comes at once
  if (kind == ROOST_MAP_PARROT) config.growth = 4;
  entries_ = c_entries(key_bytes, kKeys, 20);
  for (size_t i = 0; i < kCounters; ++i) entries_.values[kStayers + i] = 1;
  map_ = c_map(config, entries_).value();

  std::atomic<bool> is_over = false;
  std::atomic<uint64_t> wrong = 0;
  std::vector<std::thread> readers;
  for (int number = 0; number < 2; ++number) {
    readers.emplace_back([&] {
      MapWatcher watcher(c_reader(map_), entries_);
      for (unsigned round = 0; !is_over.load(std::memory_order_acquire); ++round) {
        watcher.look();
        if (round % 64 == 0) watcher.rest();
      }
      wrong += watcher.wrong();
    });
  }
  const auto wanted = static_cast<unsigned>(step_count(20, 4));
  unsigned adopted = 0;
  uint32_t value = 2;
  for (unsigned tries = 0; adopted < wanted && tries < 4 * wanted; ++tries) {
    change_all(value++);
    if (rebuild(value)) ++adopted;
  }
  is_over.store(true, std::memory_order_release);
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(adopted, wanted);
  EXPECT_EQ(wrong.load(), 0U);
  EXPECT_EQ(roost_map_key_count(map_.get()), there_);
  EXPECT_EQ(roost_map_free_retired(map_.get()), 0U) << "readers are gone";
  EXPECT_EQ(roost_map_audit(map_.get(), nullptr, 0), ROOST_OK);
}

INSTANTIATE_TEST_SUITE_P(Kinds, CSharedMaps,
                         testing::Values(std::tuple(uint32_t{ROOST_MAP_LINE}, 13U),
                                         std::tuple(uint32_t{ROOST_MAP_PARROT}, 6U)));

// What is not in use goes when nobody can be reading it.
TEST(CMapReaders, that_rest_keep_images_unless_they_paused) {
  const CEntries entries = c_entries(8, 1'000);
  const CMapHandle map = c_map(c_map_config(ROOST_MAP_LINE, 8), entries).value();
  CMapReaderHandle resting = c_reader(map);
  const auto rebuild = [&] {
    roost_map_rebuild* work = nullptr;
    ASSERT_EQ(roost_map_begin_rebuild(map.get(), nullptr, &work, nullptr, 0), ROOST_OK);
    roost_map_rebuild_run(work);
    ASSERT_EQ(roost_map_adopt(map.get(), nullptr, 0), ROOST_OK);
  };
  rebuild();
  EXPECT_EQ(roost_map_free_retired(map.get()), 1U);
  EXPECT_EQ(c_look_up(resting.get(), entries.lanes()).values, entries.values);
  EXPECT_EQ(roost_map_free_retired(map.get()), 0U);
  roost_map_reader_pause(resting.get());
  rebuild();
  EXPECT_EQ(roost_map_free_retired(map.get()), 0U);
  roost_map_reader_resume(resting.get());
  rebuild();
  EXPECT_EQ(roost_map_free_retired(map.get()), 1U);
  resting.reset();
  EXPECT_EQ(roost_map_free_retired(map.get()), 0U);
}

TEST(CMapReaders, that_paused_look_nothing_up) {
  const CEntries entries = c_entries(8, 10);
  const CMapHandle map = c_map(c_map_config(ROOST_MAP_LINE, 8), entries).value();
  const CMapReaderHandle reader = c_reader(map);
  roost_map_reader_pause(reader.get());
  EXPECT_DEATH(c_look_up(reader.get(), entries.lanes()), "is_paused");
}

}  // namespace
}  // namespace roost
