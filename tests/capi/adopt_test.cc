// Tables that are found again in memory that was lent to them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "capi/roost.h"
#include "roost/memory/whole_file.h"
#include "tests/capi/c_table.h"

namespace roost {
namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

class CAdopt : public testing::TestWithParam<uint32_t> {
 protected:
  CAdopt() {
    for (size_t i = 0; i < kKeys; ++i) {
      std::memcpy(key_bytes_[i].data(), &i, 6);
      values_[i] = static_cast<uint16_t>(i + 1);
    }
  }
  // Of keys of 6 bytes and values of 2, in the layout of the test.
  roost_config config() const {
    roost_config config;
    roost_config_init(&config, sizeof(config));
    config.key_bytes = 6;
    config.value_bytes = 2;
    config.layout = GetParam();
    config.memory = memory_.get();
    config.memory_bytes = memory_bytes_;
    return config;
  }
  CTableHandle created() {
    roost_config wanted = config();
    wanted.capacity = 4'096;
    wanted.memory = nullptr;
    wanted.memory_bytes = 0;
    EXPECT_EQ(roost_table_bytes(&wanted, &memory_bytes_, nullptr, 0), ROOST_OK);
    memory_bytes_ = (memory_bytes_ + 63) / 64 * 64;
    memory_.reset(std::aligned_alloc(64, memory_bytes_));
    wanted.memory = memory_.get();
    wanted.memory_bytes = memory_bytes_;
    return c_create(wanted).value();
  }
  static constexpr size_t kKeys = 3'000;

  void insert_all(const CTableHandle& table) {
    std::vector<uint8_t> outcomes(kKeys);
    const roost_keys keys = all_keys();
    ASSERT_EQ(roost_table_insert(table.get(), &keys, values_.data(), nullptr, outcomes.data()),
              kKeys);
  }
  void expect_all(const CTableHandle& table) {
    std::vector<uint16_t> found(kKeys);
    std::vector<uint64_t> hits(ROOST_HIT_WORDS(kKeys));
    const roost_keys keys = all_keys();
    EXPECT_EQ(roost_table_lookup(table.get(), &keys, found.data(), hits.data()), kKeys);
    EXPECT_EQ(found, values_);
  }
  static roost_status adopt(const roost_config& config, CTableHandle& table, std::string& error) {
    roost_table* adopted = nullptr;
    std::array<char, 300> text{};
    const roost_status status = roost_table_adopt(&config, &adopted, text.data(), text.size());
    table.reset(adopted);
    error = text.data();
    return status;
  }

  uint64_t memory_bytes_ = 0;
  std::unique_ptr<void, Free> memory_;

 private:
  [[nodiscard]] roost_keys all_keys() const {
    roost_keys keys{};
    keys.keys = key_bytes_.data();
    keys.count = kKeys;
    return keys;
  }

  std::vector<std::array<uint8_t, 6>> key_bytes_ = std::vector<std::array<uint8_t, 6>>(kKeys);
  std::vector<uint16_t> values_ = std::vector<uint16_t>(kKeys);
};

TEST_P(CAdopt, finds_the_table_that_memory_was_lent_to) {
  CTableHandle table = created();
  insert_all(table);
  table.reset();
  std::string error;
  ASSERT_EQ(adopt(config(), table, error), ROOST_OK) << error;
  expect_all(table);
  roost_stats stats;
  stats.size = sizeof(stats);
  ASSERT_EQ(roost_table_stats(table.get(), &stats), ROOST_OK);
  EXPECT_EQ(stats.created, kKeys);
  roost_violation violation;
  violation.size = sizeof(violation);
  EXPECT_EQ(roost_table_audit(table.get(), &violation), ROOST_OK);
}

TEST_P(CAdopt, finds_a_saved_table_in_memory_that_its_file_was_read_into) {
  CTableHandle table = created();
  insert_all(table);

  std::string path = testing::TempDir() + "roost-saved-XXXXXX";
  close(mkstemp(path.data()));
  std::array<char, 300> text{};
  ASSERT_EQ(roost_table_save(table.get(), path.c_str(), text.data(), text.size()), ROOST_OK)
      << text.data();
  table.reset();
  const std::string file = read_whole(path).value();
  std::remove(path.c_str());
  ASSERT_LE(file.size(), memory_bytes_);
  std::memset(memory_.get(), 0, memory_bytes_);
  std::memcpy(memory_.get(), file.data(), file.size());
  std::string error;
  ASSERT_EQ(adopt(config(), table, error), ROOST_OK) << error;
  expect_all(table);
  EXPECT_EQ(roost_table_save(table.get(), "/none/table", text.data(), text.size()), ROOST_INVALID);
  EXPECT_STREQ(text.data(), "/none/table cannot be written: No such file or directory");
}

TEST_P(CAdopt, refuses_memory_of_another_table_or_of_none) {
  created().reset();
  CTableHandle table;
  std::string error;
  roost_config other = config();
  other.value_bytes = 1;
  EXPECT_EQ(adopt(other, table, error), ROOST_INVALID);
  EXPECT_NE(error.find("the memory holds a table"), std::string::npos) << error;
  EXPECT_EQ(table, nullptr);
  other = config();
  other.capacity = 4'096;
  EXPECT_EQ(adopt(other, table, error), ROOST_INVALID);
  EXPECT_NE(error.find("configure memory, kernel and hint only"), std::string::npos) << error;
  other = config();
  other.memory_bytes -= 64;
  EXPECT_EQ(adopt(other, table, error), ROOST_INVALID);
  EXPECT_NE(error.find("give all of what was lent to it"), std::string::npos) << error;
  other = config();
  other.memory = nullptr;
  other.memory_bytes = 0;
  EXPECT_EQ(adopt(other, table, error), ROOST_INVALID);
  EXPECT_NE(error.find("too few for a table"), std::string::npos) << error;
  std::memset(memory_.get(), 0, 64);
  EXPECT_EQ(adopt(config(), table, error), ROOST_INVALID);
  EXPECT_NE(error.find("does not begin with a table"), std::string::npos) << error;
}

INSTANTIATE_TEST_SUITE_P(Layouts, CAdopt,
                         testing::Values(ROOST_LAYOUT_SPLIT, ROOST_LAYOUT_INLINE,
                                         ROOST_LAYOUT_PACKED));

}  // namespace
}  // namespace roost
