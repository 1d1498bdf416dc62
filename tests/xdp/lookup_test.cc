// The lookup in the kernel beside the C++ reader: each key, strangers, all widths, lines that are
// being changed.
#include <atomic>
#include <thread>

#include "tests/base/step_count.h"
#include "tests/xdp/kernel_answers.h"

namespace roost::xdp {
namespace {

using compact::kLineBytes;
using compact::random_keys;

class XdpLookup : public KernelTest {};

TEST_F(XdpLookup, a_million_keys_and_strangers_get_what_the_reader_says) {
  const auto keys = random_keys(step_count(1'000'000), 1);
  const auto strangers = random_keys(step_count(100'000), 2);
  for (const uint32_t fingerprint_bits : {0U, 8U}) {
    const Map map = map_of({.fingerprint_bits = fingerprint_bits}, keys);
    const auto xdp = XdpLineMap::load(map.image(), {});
    ASSERT_TRUE(xdp) << xdp.error().message;
    KernelAnswers kernel(settings_of(map.image(), {}).value(), xdp.value().lines(), keys.size());
    const auto reader = compact::LineMapReader<uint64_t>::open(map.image()).value();
    expect_the_reader_s_answers(kernel, reader, keys);
    for (size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(kernel.answer(i).found, Found::kFound);
      ASSERT_EQ(kernel.answer(i).value, compact::value_of(keys[i]));
    }
    expect_the_reader_s_answers(kernel, reader, strangers);
  }
}

TEST_F(XdpLookup, has_values_and_fingerprints_of_all_widths) {
  const auto keys = random_keys(3'000, 3);
  auto asked = random_keys(3'000, 4, ~uint64_t{0});
  asked.insert(asked.end(), keys.begin(), keys.end());
  for (uint32_t value_bits = 4; value_bits <= 32; ++value_bits) {
    for (const uint32_t fingerprint_bits : {0U, 8U, 12U, 16U}) {
      SCOPED_TRACE(std::to_string(value_bits) + " " + std::to_string(fingerprint_bits));
      const Map map = map_of({.value_bits = value_bits,
                              .fingerprint_bits = fingerprint_bits,
                              .load = 0.95,
                              .hash_seed = value_bits},
                             keys);
      const auto xdp = XdpLineMap::load(map.image(), {});
      ASSERT_TRUE(xdp) << xdp.error().message;
      KernelAnswers kernel(settings_of(map.image(), {}).value(), xdp.value().lines(), asked.size());
      expect_the_reader_s_answers(
          kernel, compact::LineMapReader<uint64_t>::open(map.image()).value(), asked);
    }
  }
}

TEST(XdpSettings, refuse_an_image_that_keeps_keys) {
  const Map map = map_of({.keeps_keys = true}, random_keys(100, 11));
  const auto settings = settings_of(map.image(), {});
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().message,
            "the image keeps keys, which no program of XDP compares; build it without");
}

// The builder's changes are what the kernel reads, without a call in between.
TEST_F(XdpLookup, the_builder_changes_the_image_in_place) {
  const auto keys = random_keys(20'000, 5);
  Map map = map_of({}, keys);
  const auto xdp = XdpLineMap::load(map.image(), {});
  ASSERT_TRUE(xdp) << xdp.error().message;
  KernelAnswers kernel(settings_of(map.image(), {}).value(), xdp.value().lines(), 65'536);
  ASSERT_EQ(map.move_image(xdp.value().memory()), std::nullopt);
  EXPECT_EQ(map.image().data(), xdp.value().memory().data());
  traffic::Draw draw(6);
  std::vector<uint64_t> asked = keys;
  for (int step = 0; step < 20'000; ++step) {
    const uint64_t key =
        draw.below(2) == 0 ? keys[draw.below(keys.size())] : draw.word() & compact::kMac;
    const auto value = static_cast<uint32_t>(draw.below(65'535));
    switch (draw.below(3)) {
      case 0:
        map.erase(key);
        break;
      case 1:
        map.update(key, value);
        break;
      default:
        if (map.insert(key, value) == compact::ChangeOutcome::kDone) asked.push_back(key);
    }
  }
  ASSERT_EQ(map.audit(), std::nullopt);
  expect_the_reader_s_answers(kernel, compact::LineMapReader<uint64_t>::open(map.image()).value(),
                              asked);
  size_t missing = 0;
  for (size_t i = 0; i < asked.size(); ++i) {
    const auto value = map.find(asked[i]);
    missing += value ? 0U : 1U;
    if (value) {
      ASSERT_EQ(kernel.answer(i).value, *value);
    }
  }
  EXPECT_GT(missing, 1'000U);
}

// A line of an image that a test writes as a builder would: its version odd meanwhile.
class LineWriter {
 public:
  explicit LineWriter(std::byte* line)
      : line_(line), version_(reinterpret_cast<uint32_t&>(*line)) {}

  void begin() { version_.fetch_add(1, std::memory_order_seq_cst); }
  void end() { version_.fetch_add(1, std::memory_order_seq_cst); }
  void write_seed(uint32_t group, uint8_t seed) { put(compact::LineShape::kSeedsAt + group, seed); }
  // Of values of 16 bits, without fingerprints.
  void write_value(uint32_t slot, uint16_t value) {
    const size_t at = compact::LineShape{16, 0}.slots_at() + 2 * size_t{slot};
    put(at, static_cast<uint8_t>(value));
    put(at + 1, static_cast<uint8_t>(value >> 8));
  }

 private:
  void put(size_t at, uint8_t byte) {
    std::atomic_ref(reinterpret_cast<uint8_t&>(line_[at])).store(byte, std::memory_order_release);
  }

  std::byte* line_;
  std::atomic_ref<uint32_t> version_;
};

TEST_F(XdpLookup, a_line_that_stays_in_change_is_busy_and_others_are_not) {
  const auto keys = random_keys(20'000, 7);
  const Map map = map_of({}, keys);
  const auto xdp = XdpLineMap::load(map.image(), {});
  ASSERT_TRUE(xdp) << xdp.error().message;
  KernelAnswers kernel(settings_of(map.image(), {}).value(), xdp.value().lines(), keys.size());
  std::ranges::copy(keys, kernel.keys().begin());
  const auto reader = compact::LineMapReader<uint64_t>::open(map.image()).value();
  const auto& levels = reader.head().levels;
  ASSERT_GE(reader.head().level_count, 2U);
  for (size_t level = 0; level < 2; ++level) {
    constexpr uint64_t kLine = 3;
    std::byte* const line = xdp.value().memory().data() + levels[level].offset + kLine * kLineBytes;
    LineWriter(line).begin();
    kernel.ask(keys.size());
    LineWriter(line).end();
    size_t busy = 0;
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto at = reader.place_of(keys[i], 0);
      const bool is_further =
          reader.line(0, at.line).seed(reader.geometry().group_of(at)) == compact::kSeedFurther;
      const bool is_in_line =
          level == 0 ? at.line == kLine : is_further && reader.place_of(keys[i], 1).line == kLine;
      ASSERT_EQ(kernel.answer(i).found, is_in_line ? Found::kChanging : Found::kFound);
      busy += is_in_line ? 1U : 0U;
    }
    EXPECT_GT(busy, 0U);
  }
}

// Flips a key between two states of the image while the kernel looks it up all the time.
template <class Flip>
void expect_one_answer(const XdpLineMap& xdp, KernelAnswers& kernel, uint64_t key, uint32_t value,
                       Flip&& flip) {
  constexpr size_t kAsked = 100'000;
  // What is not found in twenty is found in two hundred: both must run at once, and to the point.
  const size_t calls = step_count(200);
  std::ranges::fill(kernel.keys().first(kAsked), key);
  std::atomic<bool> is_over = false;
  uint64_t flips = 0;
  std::thread writer([&] {
    while (!is_over.load(std::memory_order_relaxed)) flip(flips++ % 2 == 0);
  });
  size_t busy = 0;
  for (size_t call = 0; call < calls; ++call) {
    kernel.ask(kAsked);
    for (size_t i = 0; i < kAsked; ++i) {
      const KernelAnswer answer = kernel.answer(i);
      if (answer.found == Found::kChanging) {
        ++busy;
        continue;
      }
      EXPECT_EQ(answer.found, Found::kFound);
      EXPECT_EQ(answer.value, value);
      if (testing::Test::HasFailure()) break;
    }
    if (testing::Test::HasFailure()) break;
  }
  is_over.store(true, std::memory_order_relaxed);
  writer.join();
  EXPECT_GT(flips, 1'000U);
  EXPECT_LT(busy, calls * kAsked);
  static_cast<void>(xdp);
}

// A torn answer: the seed of one state and the slots of the other.
TEST_F(XdpLookup, never_takes_a_seed_of_before_with_slots_of_after) {
  constexpr uint64_t kKey = 7;
  const Map map = map_of({}, {kKey});
  const auto xdp = XdpLineMap::load(map.image(), {});
  ASSERT_TRUE(xdp) << xdp.error().message;
  KernelAnswers kernel(settings_of(map.image(), {}).value(), xdp.value().lines(), 100'000);
  const auto reader = compact::LineMapReader<uint64_t>::open(map.image()).value();
  const auto at = reader.place_of(kKey, 0);
  const auto slot_of = [&](uint8_t seed) { return compact::slot_of_word(at.word(), seed, 24); };
  uint8_t other = 1;
  while (slot_of(other) == slot_of(0)) ++other;
  LineWriter line(xdp.value().memory().data() + reader.head().levels[0].offset +
                  at.line * kLineBytes);
  // The slot that the key has not is another key's meanwhile.
  expect_one_answer(xdp.value(), kernel, kKey, compact::value_of(kKey), [&](bool is_other) {
    line.begin();
    line.write_seed(reader.geometry().group_of(at), is_other ? other : 0);
    line.write_value(slot_of(is_other ? 0 : other), 1);
    line.write_value(slot_of(is_other ? other : 0), static_cast<uint16_t>(compact::value_of(kKey)));
    line.end();
  });
}

// A lost answer: the group's line sends the key further, and when the lookup is there it has gone
// back.
TEST_F(XdpLookup, never_loses_a_key_that_moves_between_levels) {
  constexpr uint64_t kKey = 7;
  // Two levels.
  auto keys = random_keys(2'000, 8);
  keys.push_back(kKey);
  const Map map = map_of({.hash_seed = 9}, keys);
  const auto xdp = XdpLineMap::load(map.image(), {});
  ASSERT_TRUE(xdp) << xdp.error().message;
  KernelAnswers kernel(settings_of(map.image(), {}).value(), xdp.value().lines(), 100'000);
  const auto reader = compact::LineMapReader<uint64_t>::open(map.image()).value();
  ASSERT_GE(reader.head().level_count, 2U);
  const auto near = reader.place_of(kKey, 0);
  const auto far = reader.place_of(kKey, 1);
  const uint8_t near_seed = reader.line(0, near.line).seed(reader.geometry().group_of(near));
  ASSERT_NE(near_seed, compact::kSeedFurther);
  const auto bytes_of = [&](size_t level, uint64_t line) {
    return xdp.value().memory().data() + reader.head().levels[level].offset + line * kLineBytes;
  };
  LineWriter near_line(bytes_of(0, near.line));
  LineWriter far_line(bytes_of(1, far.line));
  const uint32_t far_slot = compact::slot_of_word(
      far.word(), reader.line(1, far.line).seed(reader.geometry().group_of(far)), 24);
  ASSERT_TRUE(reader.line(1, far.line).is_empty(far_slot));
  const auto value = static_cast<uint16_t>(compact::value_of(kKey));
  const auto write_far = [&](uint16_t written) {
    far_line.begin();
    far_line.write_value(far_slot, written);
    far_line.end();
  };
  const auto write_near = [&](uint8_t seed) {
    near_line.begin();
    near_line.write_seed(reader.geometry().group_of(near), seed);
    near_line.end();
  };
  expect_one_answer(xdp.value(), kernel, kKey, value, [&](bool is_far) {
    if (is_far) {
      write_far(value);
      write_near(compact::kSeedFurther);
    } else {
      write_near(near_seed);
      write_far(0xffff);
    }
  });
}

}  // namespace
}  // namespace roost::xdp
