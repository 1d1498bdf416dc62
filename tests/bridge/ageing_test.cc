// Entries' keys and values, and their age.
#include "roost/bridge/ageing.h"

#include <gtest/gtest.h>

#include "roost/bridge/fdb_entry.h"

namespace roost::bridge {
namespace {

TEST(FdbKey, is_a_vlan_and_a_mac_as_it_stands_in_a_frame) {
  const net::MacAddress mac = net::MacAddress::parse("02:00:5e:10:00:fe").value();
  const FdbKey key(4'094, mac);
  EXPECT_EQ(key.vlan(), 4'094);
  EXPECT_EQ(key.mac(), mac);
  const std::array<uint8_t, 8> frame = {0x02, 0x00, 0x5E, 0x10, 0x00, 0xFE, 0xAA, 0xBB};
  EXPECT_EQ(FdbKey(4'094, FdbKey::load_mac(frame.data())), key) << "what follows is no part of it";
  EXPECT_NE(FdbKey(1, mac), key);
}

TEST(FdbValue, is_a_port_and_an_age_or_static) {
  const FdbValue learned = FdbValue::learned(1'022, 37);
  EXPECT_EQ(learned.port(), 1'022);
  EXPECT_FALSE(learned.is_static());
  EXPECT_EQ(learned.age(), 5U);
  const FdbValue fixed = FdbValue::fixed(FdbValue::kNoPort);
  EXPECT_EQ(fixed.port(), FdbValue::kNoPort);
  EXPECT_TRUE(fixed.is_static());
}

TEST(Ageing, makes_an_entry_unknown_within_the_ageing_time_of_its_last_frame) {
  const Ageing ageing(320);
  // Whenever in a sixteenth a station was seen last, and however often the number came again.
  for (uint64_t seen = 0; seen < 1'000; ++seen) {
    const FdbValue value =
        FdbValue::learned(3, static_cast<uint32_t>(ageing.sixteenth(Tick{seen})));
    for (uint64_t later = 0; later < 300; ++later)
      ASSERT_FALSE(Ageing::is_unknown(value, ageing.sixteenth(Tick{seen + later}))) << later;
    for (uint64_t later = 320; later < 320 + 13 * 20; ++later)
      ASSERT_TRUE(Ageing::is_unknown(value, ageing.sixteenth(Tick{seen + later}))) << later;
  }
}

TEST(Ageing, asks_for_a_new_age_once_a_sixteenth) {
  const FdbValue value = FdbValue::learned(3, 20);
  EXPECT_FALSE(Ageing::is_stale(value, 20));
  EXPECT_TRUE(Ageing::is_stale(value, 21));
  EXPECT_FALSE(Ageing::is_stale(value, 19)) << "another worker is a moment ahead";
  EXPECT_FALSE(Ageing::is_unknown(value, 19));
}

TEST(Ageing, leaves_static_entries_alone) {
  for (uint64_t sixteenth = 0; sixteenth < 64; ++sixteenth) {
    EXPECT_FALSE(Ageing::is_unknown(FdbValue::fixed(2), sixteenth));
    EXPECT_FALSE(Ageing::is_stale(FdbValue::fixed(2), sixteenth));
  }
}

TEST(Ageing, takes_times_shorter_than_its_sixteenths) {
  const Ageing ageing(10);
  const FdbValue value = FdbValue::learned(1, static_cast<uint32_t>(ageing.sixteenth(Tick{100})));
  EXPECT_FALSE(Ageing::is_unknown(value, ageing.sixteenth(Tick{109})));
  EXPECT_TRUE(Ageing::is_unknown(value, ageing.sixteenth(Tick{110})));
}

}  // namespace
}  // namespace roost::bridge
