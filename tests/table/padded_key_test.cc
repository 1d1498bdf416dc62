// Key and value sizes: classes, padded keys, values up to the largest, indices of records.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "tests/table/mirrored_flow_table.h"
#include "tests/table/mirrored_run.h"
#include "tests/table/test_types.h"

namespace roost {
namespace {

TEST(KeyClass, keys_are_padded_to_the_next_of_six_sizes) {
  for (size_t bytes = 1; bytes <= 64; ++bytes) {
    const size_t padded = padded_key_bytes(bytes);
    EXPECT_GE(padded, bytes);
    EXPECT_EQ(std::ranges::count(kPaddedKeyBytes, padded), 1);
    for (const size_t other : kPaddedKeyBytes) EXPECT_FALSE(other >= bytes && other < padded);
  }
  EXPECT_EQ(padded_key_bytes(65), 0U);
}

template <size_t kKeySize, size_t kValueSize, class ExpiryPolicy>
struct Sizes {
  using MirrorType = MirrorOf<ByteKey<kKeySize>, Value<kValueSize>, ExpiryPolicy, FilteredProbing>;
  static constexpr uint64_t kUniverse = kKeySize == 1 ? 256 : 700;
};

template <class SizesType>
class KeyClassTest : public testing::Test {};

// The edges; tests/capi has every class and more sizes, where they cost less to compile.
using AllSizes = testing::Types<Sizes<1, 0, SlotTimers>, Sizes<20, 256, SlotTimers>>;
TYPED_TEST_SUITE(KeyClassTest, AllSizes, );

TYPED_TEST(KeyClassTest, table_and_model_agree_whatever_the_sizes) {
  for (const Isa isa : isas_built()) {
    if (!isa_is_supported(isa)) continue;
    SCOPED_TRACE(isa_name(isa));
    Mirror mirror = TypeParam::MirrorType::make(512, TypeParam::kUniverse, isa);
    ASSERT_NO_FATAL_FAILURE(run_mirrored(mirror, 5, 2'000));
  }
}

// A packed 5-tuple behind other bytes: keys may stand at any address.
TEST(KeyClass, keys_may_stand_at_any_address) {
  using Table = FlowTable<ByteKey<13>, uint32_t>;
  Table table = Table::create({.capacity = 4096}).value();
  std::vector<std::array<uint8_t, 15>> packets(1000);
  std::vector<const ByteKey<13>*> keys;
  std::vector<uint32_t> values;
  for (uint32_t i = 0; i < packets.size(); ++i) {
    const auto key = ByteKey<13>::of(i);
    std::copy(key.bytes.begin(), key.bytes.end(), packets[i].begin() + 1);
    packets[i][14] = static_cast<uint8_t>(i * 7);  // whatever follows the key must not matter
    keys.push_back(reinterpret_cast<const ByteKey<13>*>(packets[i].data() + 1));
    values.push_back(i);
  }
  std::vector<InsertOutcome> outcomes(keys.size());
  EXPECT_EQ(table.insert(keys, values, outcomes), keys.size());
  for (auto& packet : packets) packet[14] = static_cast<uint8_t>(packet[14] + 1);
  std::vector<uint32_t> out(keys.size());
  HitArray<1000> hits;
  EXPECT_EQ(table.lookup(keys, out, hits), keys.size());
  EXPECT_EQ(out, values);
}

TEST(KeyClass, indices_lead_to_records_kept_elsewhere) {
  struct Record {
    std::array<uint64_t, 25> state;
  };
  std::vector<Record> records(5000);
  using Table = FlowTable<Key16, uint32_t>;
  Table table = Table::create({.capacity = 8192}).value();
  std::vector<Key16> keys;
  for (uint32_t i = 0; i < records.size(); ++i) {
    records[i].state[0] = i;
    ASSERT_EQ(table.insert(Key16::of(i), i), InsertOutcome::kInserted);
    keys.push_back(Key16::of(uint64_t{i} * 2));
  }
  std::vector<uint32_t> indices(keys.size(), 77);
  HitArray<5000> hits;
  EXPECT_EQ(table.lookup_records(keys, {records.data(), sizeof(Record)}, indices, hits),
            keys.size() / 2);
  for (size_t lane = 0; lane < keys.size(); ++lane) {
    ASSERT_EQ(hits.test(lane), lane < keys.size() / 2);
    ASSERT_EQ(indices[lane], hits.test(lane) ? lane * 2 : 77) << "missing lanes are untouched";
    if (hits.test(lane)) {
      ASSERT_EQ(records[indices[lane]].state[0], lane * 2);
    }
  }
}

}  // namespace
}  // namespace roost
