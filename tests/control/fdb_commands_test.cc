// The command `fdb` over a database without workers: what is listed, counted and changed is what
// was entered.
#include "roost/control/fdb_commands.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "roost/control/fdb_file.h"
#include "tests/base/step_count.h"
#include "tests/control/fdb_source.h"

namespace roost::control {
namespace {

using bridge::FdbKey;

class FdbCommands : public FdbTest {
 protected:
  static constexpr uint64_t kLearned = step_count(20'000, 5);

  // Learned stations of two VLANs at three ports, and five static ones.
  void fill() {
    for (uint64_t i = 0; i < kLearned; ++i) {
      const uint16_t vlan = i % 3 == 0 ? 20 : 10;
      const auto port = static_cast<uint16_t>(i % 2 == 0 ? 1 : vlan == 10 ? 0 : 2);
      learn(vlan, i, port);
    }
    for (uint64_t i = 0; i < 4; ++i) add_static(10, 30'000 + i, 0);
    add_static(20, 7, bridge::FdbValue::kNoPort);
  }
  uint64_t count(Json filter) {
    filter["action"] = "count";
    return must(filter)["entries"];
  }
};

TEST_F(FdbCommands, pages_list_each_entry_once_whatever_their_limit) {
  fill();
  EXPECT_EQ(entries_.size(), kLearned + 5);
  for (const uint64_t limit : {1'000U, 7U, 10'000U, 500U}) {
    std::multiset<Row> listed;
    uint64_t pages = 0;
    Json parameters = {{"limit", limit}};
    while (true) {
      const Json page = must(parameters);
      ++pages;
      for (const Json& row : page["rows"]) listed.insert(row_of(row));
      if (!page.contains("cursor")) break;
      EXPECT_GE(page["rows"].size(), limit);
      EXPECT_LT(page["rows"].size(), limit + 16) << "a bucket more at most";
      parameters["cursor"] = page["cursor"];
    }
    EXPECT_EQ(listed, std::multiset<Row>(entries_.begin(), entries_.end())) << "limit " << limit;
    EXPECT_GE(pages, entries_.size() / (limit + 16));
  }
}

TEST_F(FdbCommands, filters_admit_what_they_name) {
  fill();
  const auto expect_listed = [&](Json filter, const auto& is_meant) {
    filter["limit"] = 10'000;
    std::set<Row> expected;
    for (const Row& row : entries_) {
      if (is_meant(row)) expected.insert(row);
    }
    EXPECT_FALSE(expected.empty()) << filter;
    EXPECT_EQ(listed(filter), expected) << filter;
    filter.erase("limit");
    EXPECT_EQ(count(filter), expected.size()) << filter;
  };
  expect_listed({{"vlan", 20}}, [](const Row& row) { return row.vlan == 20; });
  expect_listed({{"port", 1}}, [](const Row& row) { return row.port == "1"; });
  expect_listed({{"kind", "static"}}, [](const Row& row) { return row.kind == "static"; });
  expect_listed({{"kind", "learned"}, {"vlan", 10}, {"port", 0}}, [](const Row& row) {
    return row.kind == "learned" && row.vlan == 10 && row.port == "0";
  });
  expect_listed({{"mac", mac_of(7)}}, [](const Row& row) { return row.mac == mac_of(7); });
  EXPECT_EQ(count({{"mac", mac_of(30'005)}}), 0U);
}

TEST_F(FdbCommands, counts_are_by_vlan_port_and_kind) {
  fill();
  std::map<std::tuple<int, std::string, std::string>, uint64_t> expected;
  for (const Row& row : entries_) ++expected[{row.vlan, row.port, row.kind}];
  const Json counted = must({{"action", "count"}});
  EXPECT_EQ(counted["entries"], entries_.size());
  decltype(expected) told;
  for (const Json& row : counted["by"]) {
    told[{row["vlan"], row["port"], row["kind"]}] += row["entries"].get<uint64_t>();
  }
  EXPECT_EQ(told, expected);
  EXPECT_TRUE(told.contains({20, "drop", "static"}));
}

TEST_F(FdbCommands, a_learned_station_has_the_age_of_its_sixteenth) {
  learn(10, 1, 0);
  now_ = Tick{kFdbAgeingTicks / 2};
  learn(10, 2, 0);
  add_static(10, 3, 0);
  std::map<std::string, Json> ages;
  const Json page = must({});
  for (const Json& row : page["rows"]) ages[row["mac"]] = row.value("age_seconds", Json());
  const double of_first = static_cast<double>(now_.count) * kFdbTickSeconds;
  EXPECT_EQ(ages, (std::map<std::string, Json>{
                      {mac_of(1), of_first}, {mac_of(2), 0.0}, {mac_of(3), Json()}}));
  is_answering_ = false;
  EXPECT_NE(refusal({}).find("does not answer"), std::string::npos);
}

TEST_F(FdbCommands, a_static_entry_is_added_in_place_of_a_learned_one_and_deleted) {
  learn(10, 1, 1);
  const Json station = {{"vlan", 10}, {"mac", mac_of(1)}};
  const auto with = [&](Json more) {
    more.update(station);
    return more;
  };
  EXPECT_EQ(must(with({{"action", "add"}, {"port", 0}}))["added"], 1);
  EXPECT_EQ(listed({}), (std::set<Row>{{10, mac_of(1), "0", "static"}}));
  EXPECT_EQ(must(with({{"action", "add"}, {"drop", true}}))["added"], 1);
  EXPECT_EQ(listed({}), (std::set<Row>{{10, mac_of(1), "drop", "static"}}));
  EXPECT_NE(refusal(with({{"action", "delete"}, {"kind", "learned"}})).find("no such entry"),
            std::string::npos);
  EXPECT_EQ(must(with({{"action", "delete"}}))["deleted"], 1);
  EXPECT_NE(refusal(with({{"action", "delete"}})).find("no such entry"), std::string::npos);
  learn(10, 1, 1);
  EXPECT_EQ(must(with({{"action", "delete"}}))["deleted"], 1);
  const bridge::FdbCounters counters = fdb().write().counters();
  EXPECT_EQ(counters.added, 1U) << "the second one took the place of the first";
  EXPECT_EQ(counters.erased, 3U) << "two deleted, and the learned one that was replaced";
}

TEST_F(FdbCommands, static_entries_by_hand_have_room_for_so_many) {
  for (uint64_t i = 0; i < kFdbStaticMax; ++i) add_static(10, i, 0);
  const Json one_more = {{"action", "add"}, {"vlan", 10}, {"mac", mac_of(99'999)}, {"port", 0}};
  EXPECT_NE(refusal(one_more).find("delete some, or ask for more"), std::string::npos);
  EXPECT_EQ(must({{"action", "add"}, {"vlan", 10}, {"mac", mac_of(3)}, {"port", 1}})["added"], 1)
      << "the place of one that is there is no other one";
  must({{"action", "delete"}, {"vlan", 10}, {"mac", mac_of(4)}});
  EXPECT_EQ(must(one_more)["added"], 1);
}

TEST_F(FdbCommands, flush_takes_learned_entries_unless_it_is_told_otherwise) {
  fill();
  const uint64_t of_port = count({{"port", 1}, {"vlan", 20}});
  const uint64_t before = count({});
  EXPECT_GT(of_port, kLearned / 20);
  EXPECT_EQ(must({{"action", "flush"}, {"port", 1}, {"vlan", 20}})["flushed"], of_port);
  EXPECT_EQ(count({{"port", 1}, {"vlan", 20}}), 0U);
  EXPECT_EQ(count({}), before - of_port);
  must({{"action", "flush"}});
  EXPECT_EQ(count({}), 5U);
  EXPECT_EQ(must({{"action", "flush"}, {"kind", "static"}, {"vlan", 20}})["flushed"], 1);
  EXPECT_EQ(count({{"kind", "static"}}), 4U);
  const bridge::Fdb::Writer writer = fdb().write();
  EXPECT_EQ(writer.counters().erased, kLearned + 1);
  for (uint16_t port = 0; port < kFdbPorts; ++port) EXPECT_EQ(writer.learned_at(port), 0U);
}

TEST_F(FdbCommands, what_cannot_be_meant_is_refused_and_changes_nothing) {
  learn(10, 1, 0);
  const std::string mac = mac_of(1);
  const std::vector<std::pair<Json, std::string>> refused = {
      {{{"action", "add"}, {"vlan", 10}, {"mac", mac}}, "add: give vlan, mac, and port or drop"},
      {{{"action", "add"}, {"vlan", 10}, {"port", 0}}, "add: give"},
      {{{"action", "add"}, {"mac", mac}, {"port", 0}}, "add: give"},
      {{{"action", "add"}, {"vlan", 10}, {"mac", mac}, {"port", 0}, {"drop", true}}, "add: give"},
      {{{"action", "add"}, {"vlan", 20}, {"mac", mac}, {"port", 0}}, "does not have VLAN 20"},
      {{{"action", "add"}, {"vlan", 30}, {"mac", mac}, {"drop", true}}, "no port has VLAN 30"},
      {{{"action", "add"}, {"vlan", 10}, {"mac", "01:00:5e:00:00:01"}, {"port", 0}}, "one station"},
      {{{"action", "delete"}, {"vlan", 10}}, "delete: give vlan and mac"},
      {{{"action", "delete"}, {"mac", mac}}, "delete: give vlan and mac"},
      {{{"vlan", 0}}, "vlan: give a whole number from 1 to 4094"},
      {{{"vlan", 4'095}}, "vlan: give"},
      {{{"vlan", 10.5}}, "vlan: give"},
      {{{"port", kFdbPorts}}, "port: give a whole number from 0 to 2"},
      {{{"mac", "02:00:00"}}, "mac: give"},
      {{{"limit", 0}}, "limit: give"},
      {{{"limit", 10'001}}, "limit: give"},
      {{{"cursor", "x"}}, "cursor: give that"},
      {{{"cursor", "1x"}}, "cursor: give that"},
      {{{"cursor", ""}}, "cursor: give that"},
      {{{"cursor", std::to_string(fdb().bucket_count())}}, "cursor: give that"},
      {{{"action", "import"}}, "import: give the path"},
      {{{"action", "export"}}, "export: give the path"},
      {{{"action", "flush"}, {"path", "x"}}, "flush takes no path"}};
  for (const auto& [parameters, part] : refused) {
    EXPECT_NE(refusal(parameters).find(part), std::string::npos)
        << parameters << ": " << refusal(parameters);
  }
  EXPECT_EQ(listed({}), entries_);
}

}  // namespace
}  // namespace roost::control
