// The jobs of value-only tables, their keys, and the CRC-8 by seeding.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "lab/harness/pinned_core.h"
#include "lab/tests/value_keys.h"
#include "lab/value_tables/crc_modes.h"
#include "lab/value_tables/value_job.h"

namespace roost::lab {
namespace {

TEST(CrcModes, t17_known_answers) {
  // "123456789": of either form the check value that catalogues give.
  const auto of_digits = [](CrcForm form) {
    uint8_t crc = 0;
    for (const char digit : std::string("123456789"))
      crc = crc_step(form, crc, static_cast<uint8_t>(digit));
    return crc;
  };
  EXPECT_EQ(of_digits(CrcForm::kMsbFirst), 0xa2);
  EXPECT_EQ(of_digits(CrcForm::kReflected), 0xa1);
  for (const uint64_t key : random_words(100)) {
    const auto seed = static_cast<uint8_t>(key);
    EXPECT_EQ(
        slot_of_hash(SlotRule::kMixed, crc_of_key(CrcForm::kMsbFirst, Seeding::kKeySum, key, seed)),
        compact::slot_of(key, seed))
        << "the library's own";
  }
}

// The difference of two keys' hashes does not depend on a seed that enters linearly, so all seeds
// fail together.
TEST(CrcModes, t17_linear_seeds_leave_differences_as_they_are) {
  const auto keys = random_words(200);
  for (const CrcForm form : kCrcForms) {
    for (const Seeding seeding : kSeedings) {
      uint64_t changed = 0;
      for (size_t i = 0; i + 1 < keys.size(); ++i) {
        const auto difference = [&](uint8_t seed) {
          return crc_of_key(form, seeding, keys[i], seed) ^
                 crc_of_key(form, seeding, keys[i + 1], seed);
        };
        changed += difference(0) != difference(static_cast<uint8_t>(i + 1)) ? 1U : 0U;
      }
      EXPECT_EQ(changed == 0, is_linear(seeding)) << seeding_name(seeding);
    }
  }
}

TEST(CrcModes, t17_buckets_fail_as_often_as_each_seeding_makes_them) {
  const auto failed = [](CrcForm form, Seeding seeding, SlotRule rule) {
    constexpr size_t kBuckets = 1'000;
    const auto keys = random_words(4 * kBuckets);
    size_t count = 0;
    for (size_t i = 0; i < kBuckets; ++i)
      count += seed_for(form, seeding, rule, std::span(keys).subspan(4 * i, 4)) ? 0U : 1U;
    return static_cast<double>(count) / kBuckets;
  };
  for (const CrcForm form : kCrcForms) {
    for (const Seeding seeding : kSeedings) {
      if (!is_linear(seeding)) continue;
      EXPECT_NEAR(failed(form, seeding, SlotRule::kLowBits), 0.906, 0.04);
      EXPECT_NEAR(failed(form, seeding, SlotRule::kMixed), 0.836, 0.05);
    }
  }
  EXPECT_NEAR(failed(CrcForm::kMsbFirst, Seeding::kOutputSum, SlotRule::kMixed), 0.339, 0.06);
  EXPECT_LT(failed(CrcForm::kMsbFirst, Seeding::kKeySum, SlotRule::kLowBits), 0.02);
  EXPECT_LT(failed(CrcForm::kMsbFirst, Seeding::kKeySum, SlotRule::kMixed), 0.007);
  EXPECT_EQ(failed(CrcForm::kMsbFirst, Seeding::kKeyProduct, SlotRule::kMixed), 0);
}

TEST(KeySets, rise_and_have_as_many_keys_as_are_wanted) {
  for (const char* name : kWordSets) {
    const auto set = keys_of(name, 10'000);
    EXPECT_EQ(set.keys.size(), 10'000U) << name;
    EXPECT_TRUE(std::ranges::adjacent_find(set.keys, std::greater_equal<>()) == set.keys.end());
    EXPECT_EQ(set.keys, keys_of(name, 10'000).keys) << "the same seed";
    if (std::string(name) != "dense") {
      EXPECT_NE(set.keys, keys_of(name, 10'000, 2).keys);
    }
    for (const uint64_t key : draw_strangers(set, 1'000, 3))
      EXPECT_FALSE(std::ranges::binary_search(set.keys, key));
  }
}

TEST(KeySets, are_not_made_up_where_a_list_or_file_is_missing) {
  const auto why = [](const KeySetConfig& config) {
    const auto set = make_key_set<uint64_t>(config);
    return set ? std::string() : set.error().message;
  };
  EXPECT_EQ(why({.name = "vendor", .count = 10, .vendors = "/nonexistent/oui.txt"}),
            "/nonexistent/oui.txt cannot be read: install ieee-data");
  EXPECT_EQ(why({.name = "macs", .count = 10}),
            "there is no key set \"macs\"; a file's path has a slash");
  EXPECT_EQ(why({.name = "/nonexistent", .count = 10}), "/nonexistent cannot be read");
}

TEST(KeySets, vendors_give_addresses_in_runs_under_their_prefixes) {
  const std::string path = testing::TempDir() + "oui.txt";
  std::ofstream(path)
      << "OUI/MA-L  Organization\n\n00-1B-C5   (hex)\t\tSome\n001BC5     (base 16)\n"
      << "AA-BB-CC   (hex)\t\tOther\n";
  const auto set = make_key_set<uint64_t>({.name = "vendor", .count = 20'000, .vendors = path});
  ASSERT_TRUE(set) << set.error().message;
  std::map<uint64_t, size_t> by_prefix;
  size_t neighbours = 0;
  for (size_t i = 0; i < set.value().keys.size(); ++i) {
    ++by_prefix[set.value().keys[i] >> 24];
    neighbours += i > 0 && set.value().keys[i] == set.value().keys[i - 1] + 1 ? 1U : 0U;
  }
  EXPECT_LE(by_prefix.size(), 4U) << "runs may go on behind their prefix's end";
  EXPECT_GT(by_prefix[0x001bc5] + by_prefix[0xaabbcc], 15'000U);
  EXPECT_GT(neighbours, 19'900U);
}

TEST(KeySets, files_are_in_sosd_s_form) {
  const std::string path = testing::TempDir() + "sosd_uint64";
  const auto write = [&](const std::vector<uint64_t>& words) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(words.data()),
               static_cast<std::streamsize>(words.size() * sizeof words[0]));
  };
  write({5, 30, 10, 10, 20, 40});
  const auto read = [&](uint64_t count) {
    return make_key_set<uint64_t>({.name = path, .count = count});
  };
  EXPECT_EQ(read(4).value().keys, (std::vector<uint64_t>{10, 20, 30, 40}));
  EXPECT_EQ(read(2).value().keys, (std::vector<uint64_t>{10, 30}));
  EXPECT_EQ(read(5).error().message, path + " has 4 different keys, and 5 are wanted");
  write({6, 30, 10});
  EXPECT_EQ(read(1).error().message,
            path + " is not in SOSD's form: how many, then so many words of 64 bits");
}

TEST(KeySets, x119_hot_keys_lie_anywhere) {
  std::map<uint32_t, size_t> counts;
  for (const uint32_t place : draw_places(10'000, 50'000, 0.99, 1)) ++counts[place];
  std::vector<std::pair<size_t, uint32_t>> hottest;
  for (const auto& [place, count] : counts) hottest.emplace_back(count, place);
  std::ranges::sort(hottest, std::greater<>());
  EXPECT_GT(hottest[0].first, 2'500U);
  uint64_t sum = 0;
  for (size_t i = 0; i < 100; ++i) sum += hottest[i].second;
  EXPECT_GT(sum / 100, 3'500U) << "not at the begin";
  EXPECT_LT(sum / 100, 6'500U);
  EXPECT_LT(draw_places(10'000, 1'000, 0, 1)[0], 10'000U);
}

ValueJobConfig tiny(const std::vector<std::string>& contestants, const std::string& keys) {
  ValueJobConfig config;
  config.experiment = "test";
  config.contestants = contestants;
  config.keys = {.name = keys, .count = 2'000};
  config.loads = {0.85, 0.95};
  config.calls = {32, 64};
  config.lookups = 4'000;
  config.core = last_allowed_core().value();
  config.rounds = 2;
  return config;
}
const Progress kQuiet = [](double, const std::string&) {};

// How many rows there are of each metric; of those of one contestant.
std::map<std::string, size_t> metrics_of(const Rows& rows, const std::string& contestant) {
  std::map<std::string, size_t> counts;
  for (const RecordRow& row : rows)
    if (row.contestant == contestant) ++counts[row.value ? row.metric : row.note];
  return counts;
}
using Metrics = std::map<std::string, size_t>;

TEST(ValueLookupJob, has_times_bytes_oracles_and_strangers_at_each_load) {
  ValueJobConfig config = tiny({"parrot", "cuckoo_2_4", "roost_packed"}, "arrivals");
  config.oracles_of = {"parrot"};
  config.asks_strangers = true;
  const auto rows = run_value_lookup_job(config, kQuiet);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(metrics_of(rows.value(), "cuckoo_2_4"), (Metrics{{"lookups_m_per_s", 8},
                                                             {"image_bytes", 2},
                                                             {"bits_per_key", 2},
                                                             {"builder_bytes", 2},
                                                             {"stranger_share", 2},
                                                             {"stranger_lookups_m_per_s", 8}}));
  EXPECT_EQ(metrics_of(rows.value(), "parrot")["stashed_share"], 2U);
  EXPECT_EQ(metrics_of(rows.value(), "roost_packed"),
            (Metrics{{"not run: its keys have 48 bits", 2}}));
  for (const char* hint : {"T0", "T1", "NTA"}) {
    EXPECT_EQ(metrics_of(rows.value(), std::string("oracle_of_parrot_") + hint),
              (Metrics{{"lookups_m_per_s", 8}}))
        << "strangers are no questions for an oracle";
  }
  for (const RecordRow& row : rows.value()) {
    if (row.metric == "stranger_share") {
      EXPECT_EQ(row.value == 0, row.contestant == "cuckoo_2_4");
    }
  }
}

TEST(ValueLookupJob, says_what_cannot_take_tuples) {
  const auto rows = run_value_lookup_job(tiny({"parrot", "ludo"}, "tuple"), kQuiet);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(metrics_of(rows.value(), "parrot"),
            (Metrics{{"not run: it takes no keys of 104 bits", 2}}));
  EXPECT_EQ(metrics_of(rows.value(), "ludo")["lookups_m_per_s"], 8U);
}

TEST(ValueBuildJob, times_each_round) {
  const auto rows = run_value_build_job(tiny({"line_map", "othello"}, "mac"), kQuiet);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(metrics_of(rows.value(), "line_map")["build_m_per_s"], 4U);
  EXPECT_EQ(metrics_of(rows.value(), "othello")["image_bytes"], 2U);
}

TEST(ValueChangeJob, changes_all_alike_and_checks_them) {
  const auto rows = run_value_change_job(
      tiny({"line_map", "parrot", "parrot_reseeding", "cuckoo_2_4", "ludo"}, "mac"), kQuiet);
  ASSERT_TRUE(rows) << rows.error().message;
  for (const char* name : {"line_map", "parrot", "parrot_reseeding", "cuckoo_2_4"}) {
    EXPECT_EQ(metrics_of(rows.value(), name)["changes_per_s"], 2U) << name;
    EXPECT_EQ(metrics_of(rows.value(), name)["bits_per_key"], 2U) << name;
  }
  EXPECT_EQ(metrics_of(rows.value(), "ludo"), (Metrics{{"not run: it cannot be changed", 1}}));
  for (const RecordRow& row : rows.value()) {
    if (row.metric == "rebuilds" && row.contestant == "parrot") {
      EXPECT_GT(row.value, 0) << "its stash is full";
    }
  }
}

TEST(ValueBesideJob, looks_up_at_rest_and_beside_changes_and_rebuilds) {
  ValueJobConfig config = tiny({"line_map", "parrot", "ludo"}, "mac");
  config.rates = {0, 10'000};
  config.lookups = 200'000;
  config.builder_core = config.core;
  const auto rows = run_value_beside_job(config, kQuiet);
  ASSERT_TRUE(rows) << rows.error().message;
  for (const char* name : {"line_map", "parrot"}) {
    EXPECT_EQ(metrics_of(rows.value(), name), (Metrics{{"lookups_m_per_s", 6},
                                                       {"p99_call_ns", 6},
                                                       {"updates_per_s", 2},
                                                       {"rebuilds", 2},
                                                       {"refused", 2},
                                                       {"longest_change_us", 2}}))
        << name;
  }
  EXPECT_EQ(metrics_of(rows.value(), "ludo"),
            (Metrics{{"not run: one thread has it to itself", 1}}));
  for (const RecordRow& row : rows.value()) {
    if (row.metric == "updates_per_s") {
      EXPECT_EQ(row.value > 0, row.form != "0 updates/s");
    }
    if (row.metric == "rebuilds") {
      EXPECT_GE(row.value, 1) << row.contestant << ", " << row.form;
    }
  }
}

TEST(ValueScanJob, times_ranges_and_counts_what_is_not_of_them) {
  ValueJobConfig config = tiny({"parrot", "chained_lmh", "ludo"}, "arrivals");
  config.lengths = {1, 100};
  const auto rows = run_value_scan_job(config, kQuiet);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(metrics_of(rows.value(), "parrot"), (Metrics{{"range_ns", 4}, {"spurious_values", 4}}));
  EXPECT_EQ(metrics_of(rows.value(), "ludo"),
            (Metrics{{"not run: it has its keys in no order", 1}}));
  for (const RecordRow& row : rows.value()) {
    if (row.metric != "spurious_values") continue;
    EXPECT_EQ(row.value > 0, row.contestant == "parrot");
    EXPECT_LE(row.value, 8);
  }
}

TEST(ValuePartJob, times_a_locator_and_a_model) {
  const auto rows = run_value_part_job(tiny({"ludo"}, "mac"), kQuiet);
  ASSERT_TRUE(rows) << rows.error().message;
  for (const char* name : {"ludo", "ludo_locator", "rmi_inference"})
    EXPECT_EQ(metrics_of(rows.value(), name), (Metrics{{"ns_per_key", 2}}));
}

// As many buckets are empty as Poisson's law says, and with the load low keys lie where they
// belong.
TEST(ValueShapeJob, counts_what_becomes_of_random_keys) {
  ValueJobConfig config = tiny({"probe_lmh"}, "mac");
  config.keys.count = 50'000;
  config.loads = {0.85};
  const auto rows = run_value_shape_job(config, kQuiet);
  ASSERT_TRUE(rows) << rows.error().message;
  double empty = 0;
  double all = 0;
  double exact = 0;
  for (const RecordRow& row : rows.value()) {
    if (row.form != "RMI of 100 lines") continue;
    if (row.metric == "share_of_buckets") all += row.value.value();
    if (row.metric == "share_of_buckets" && row.lanes_per_call == 0U) empty = row.value.value();
    if (row.metric == "exact_keys") exact = row.value.value() / 50'000;
  }
  EXPECT_NEAR(all, 1, 1e-6);
  EXPECT_NEAR(empty, std::exp(-0.85), 0.02);
  EXPECT_GT(exact, 0.05);
  EXPECT_LT(exact, 0.5);
}

TEST(ValueSwitchJob, sends_packets_through_an_emulated_switch_and_says_what_one_would_need) {
  const auto rows = run_value_switch_job(tiny({"parrot"}, "mac"), kQuiet);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(metrics_of(rows.value(), "parrot"), (Metrics{{"packets_m_per_s", 2},
                                                         {"stages", 1},
                                                         {"sram_blocks", 1},
                                                         {"tcam_blocks", 1},
                                                         {"prefixes", 1},
                                                         {"overflow_keys", 1},
                                                         {"keys_max", 1}}));
  for (const RecordRow& row : rows.value())
    EXPECT_EQ(row.kind, row.metric == "packets_m_per_s" ? "emulated" : "analytic");
}

TEST(CrcJob, has_every_seeding_form_rule_fill_and_gap) {
  ValueJobConfig config = tiny({"crc"}, "mac");
  config.keys.count = 50;
  const auto rows = run_crc_job(config, kQuiet);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows.value().size(), kSeedings.size() * kCrcForms.size() * kSlotRules.size() * 3 * 4);
  std::set<std::string> places;
  for (const RecordRow& row : rows.value()) {
    places.insert(row.contestant + row.form + row.workload);
    if (row.contestant == "key_times_odd_seed" && row.workload.starts_with("4 keys random")) {
      EXPECT_LT(row.value, 0.05);
    }
  }
  EXPECT_EQ(places.size(), rows.value().size());
}

}  // namespace
}  // namespace roost::lab
