// Which virtual addresses routers are told of, and settings that all nodes have from one store.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/lb/controlled.h"

namespace roost::lb {
namespace {

const std::string kWebAddress = "198.51.100.80";

class Node : public Controlled {
 protected:
  void begin() {
    const auto error = control_->begin_announcing(
        [this](const std::vector<net::IpAddress>& addresses) -> std::optional<Error> {
          if (!failure_.empty()) return Error{failure_};
          announced_.clear();
          for (const net::IpAddress& address : addresses) announced_.insert(address.format());
          return {};
        });
    EXPECT_FALSE(error.has_value());
  }
  bool take(const std::map<std::string, std::string>& keys, int64_t revision = 5) {
    return while_serving([&] { return control_->take_store(revision, keys); });
  }
  Json row_of(const std::string& service, const std::string& backend) {
    const Json rows = must({{"command", "backends"}, {"service", service}})["backends"];
    for (const Json& row : rows) {
      if (row["name"] == backend) return row;
    }
    return {};
  }
  std::string state_of(const std::string& address) {
    const Json node = must({{"command", "node"}});
    for (const Json& row : node["addresses"]) {
      if (row["address"] == address) return row["reason"].get<std::string>();
    }
    return "unknown";
  }
  void all_backends(const std::string& service, const std::string& action) {
    const Json rows = must({{"command", "backends"}, {"service", service}})["backends"];
    for (const Json& row : rows) {
      must({{"command", "backend"},
            {"action", action},
            {"name", row["name"]},
            {"service", service}});
    }
  }

  std::set<std::string> announced_;
  std::string failure_;
};

TEST_F(Node, an_address_is_announced_while_one_of_its_services_has_a_usable_backend) {
  EXPECT_EQ(state_of(kWebAddress), "the configuration has no [announce]");
  EXPECT_EQ(refusal({{"command", "node"}, {"action", "drain"}}),
            "no router is told of this node: the configuration has no [announce]");
  begin();
  EXPECT_TRUE(announced_.contains(kWebAddress));
  all_backends("web", "drain");
  EXPECT_FALSE(announced_.contains(kWebAddress));
  EXPECT_EQ(state_of(kWebAddress), "none of its services has a usable backend");
  EXPECT_TRUE(announced_.contains("2001:db8:ffff::80")) << "another one's";
  all_backends("web", "up");
  EXPECT_TRUE(announced_.contains(kWebAddress));
  EXPECT_EQ(state_of(kWebAddress), "");
}

TEST_F(Node, a_drained_or_stopping_node_announces_nothing_and_goes_on_with_what_comes) {
  begin();
  EXPECT_EQ(must({{"command", "node"}, {"action", "drain"}})["node"], "drained");
  EXPECT_TRUE(announced_.empty());
  all_backends("web", "drain");
  all_backends("web", "up");
  EXPECT_TRUE(announced_.empty()) << "backends do not end a node's drain";
  EXPECT_NE(new_flow(0, 4'000), "");
  must({{"command", "node"}, {"action", "up"}});
  EXPECT_TRUE(announced_.contains(kWebAddress));
  control_->leave();
  EXPECT_TRUE(announced_.empty());
  EXPECT_EQ(refusal({{"command", "node"}, {"action", "up"}}), "the balancer stops");
  EXPECT_TRUE(announced_.empty());
}

TEST_F(Node, nothing_is_announced_before_the_store_was_heard_of) {
  control_->await_store();
  begin();
  EXPECT_TRUE(announced_.empty());
  control_->note_store_away("Connection refused");
  EXPECT_TRUE(announced_.contains(kWebAddress)) << "the file's weights hold";
  EXPECT_EQ(must({{"command", "node"}})["etcd"]["state"], "away");
  EXPECT_TRUE(take({}));
  EXPECT_EQ(must({{"command", "node"}})["etcd"]["state"], "current");
}

TEST_F(Node, a_route_that_cannot_be_changed_is_told_and_tried_again) {
  begin();
  failure_ = "the route cannot be taken out";
  EXPECT_EQ(refusal({{"command", "node"}, {"action", "drain"}}), failure_);
  EXPECT_EQ(must({{"command", "node"}})["failure"], failure_);
  failure_.clear();
  must({{"command", "node"}, {"action", "drain"}});
  EXPECT_TRUE(announced_.empty());
  EXPECT_EQ(must({{"command", "node"}})["failure"], "");
}

TEST_F(Node, weights_and_drains_of_the_store_are_taken_and_given_back_to_the_file) {
  control_->await_store();
  const Json before = row_of("web", "b1");
  EXPECT_TRUE(take({{"/roost/web/b1/weight", "9"}, {"/roost/web/b2/drain", "true"}}));
  EXPECT_EQ(row_of("web", "b1")["weight"], 9);
  EXPECT_EQ(row_of("web", "b1")["configured_weight"], 9);
  EXPECT_EQ(row_of("web", "b2")["state"], "drained");
  EXPECT_EQ(row_of("web", "b2")["weight"], 0);
  must({{"command", "backend"}, {"action", "up"}, {"name", "b2"}});
  EXPECT_EQ(row_of("web", "b2")["weight"], 0) << "an operator here does not undo it";
  EXPECT_TRUE(take({{"/roost/web/b2/drain", "false"}}));
  EXPECT_EQ(row_of("web", "b1")["weight"], before["weight"]);
  EXPECT_EQ(row_of("web", "b2")["state"], "up");
  expect_sums();
}

TEST_F(Node, a_bad_key_is_named_and_nothing_of_its_revision_is_taken) {
  control_->await_store();
  EXPECT_TRUE(take({{"/roost/web/b1/weight", "9"}}, 5));
  take_events();
  for (const auto& [key, value] :
       std::map<std::string, std::string>{{"/roost/web/b2/weight", "many"},
                                          {"/roost/web/b1/weight", "65536"},
                                          {"/roost/web/b3/weight", "-1"},
                                          {"/roost/web/b3/drain", "yes"},
                                          {"/roost/web/nobody/weight", "1"},
                                          {"/roost/web/b3/wieght", "1"},
                                          {"/roost/web/b3/weight/", "1"},
                                          {"/roost/nothing", ""},
                                          {"/roost/web/b2/weight/x", "1\x1b"},
                                          {"/roost/web/b2/drain", ""}}) {
    EXPECT_TRUE(take({{"/roost/web/b1/drain", "true"}, {key, value}}, 6));
    const Json etcd = must({{"command", "node"}})["etcd"];
    EXPECT_EQ(etcd["state"], "refused") << key;
    EXPECT_EQ(etcd["revision"], 5) << key;
    ASSERT_EQ(etcd["faults"].size(), 1U) << key;
    EXPECT_EQ(etcd["faults"][0].get<std::string>().find(key + ": "), 0U) << etcd["faults"][0];
    EXPECT_EQ(row_of("web", "b1")["state"], "up") << key;
    EXPECT_EQ(row_of("web", "b1")["weight"], 9) << key;
  }
  const std::vector<std::string> events = take_events();
  ASSERT_GE(events.size(), 2U);
  EXPECT_EQ(events[1], "<3>the settings of etcd were not taken; nothing has changed\n");
}

// What people read of the node.
std::string shown(const Json& node) {
  return find_command(command_list(), "node")->view(node).dump();
}

TEST_F(Node, before_a_revision_was_taken_none_is_shown) {
  control_->await_store();
  const auto show = [&] { return shown(must({{"command", "node"}})); };
  EXPECT_TRUE(must({{"command", "node"}})["etcd"]["revision"].is_null());
  EXPECT_NE(show().find("etcd is awaited; nothing of it was taken"), std::string::npos) << show();
  EXPECT_TRUE(take({{"/roost/web/nobody/weight", "9"}}, 6));
  EXPECT_NE(show().find("etcd is refused; nothing of it was taken"), std::string::npos) << show();
  ASSERT_TRUE(reload(test_config()).ok());
  EXPECT_TRUE(must({{"command", "node"}})["etcd"]["revision"].is_null());
  EXPECT_TRUE(take({}, 7));
  EXPECT_NE(show().find("etcd is current; settings in force are of revision 7"), std::string::npos)
      << show();
}

TEST_F(Node, a_reload_that_mends_refused_keys_takes_their_revision) {
  control_->await_store();
  EXPECT_TRUE(take({{"/roost/web/b1/weight", "9"}}, 5));
  EXPECT_TRUE(take({{"/roost/web/b1/weight", "8"}, {"/roost/web/b9/weight", "7"}}, 6));
  EXPECT_EQ(must({{"command", "node"}})["etcd"]["revision"], 5);
  take_events();
  ASSERT_TRUE(reload(test_config("{name = \"b3\"", "{name = \"b9\"")).ok());
  const Json etcd = must({{"command", "node"}})["etcd"];
  EXPECT_EQ(etcd["state"], "current");
  EXPECT_EQ(etcd["revision"], 6);
  EXPECT_EQ(row_of("web", "b1")["weight"], 8);
  EXPECT_EQ(row_of("web", "b9")["weight"], 7);
  const std::vector<std::string> events = take_events();
  EXPECT_EQ(std::ranges::count(events, "<5>the settings of etcd's revision 6 were taken\n"), 1);
  ASSERT_TRUE(reload(test_config()).ok());
  const Json refused = must({{"command", "node"}})["etcd"];
  EXPECT_EQ(refused["state"], "refused");
  EXPECT_EQ(refused["revision"], 6);
}

TEST_F(Node, settings_of_the_store_outlive_a_reload_of_the_file) {
  control_->await_store();
  EXPECT_TRUE(take({{"/roost/web/b1/weight", "9"}, {"/roost/web/b2/drain", "true"}}));
  ASSERT_TRUE(reload(test_config()).ok());
  EXPECT_EQ(row_of("web", "b1")["weight"], 9);
  EXPECT_EQ(row_of("web", "b2")["state"], "drained");
  EXPECT_TRUE(take({}));
  EXPECT_EQ(row_of("web", "b1")["weight"], 1) << "the file's";
}

TEST_F(Node, an_etcd_that_is_away_changes_nothing_and_is_told_once) {
  control_->await_store();
  EXPECT_TRUE(take({{"/roost/web/b1/weight", "9"}}, 7));
  take_events();
  control_->note_store_away("Connection refused");
  control_->note_store_away("Connection refused");
  EXPECT_EQ(row_of("web", "b1")["weight"], 9);
  EXPECT_EQ(take_events(),
            (std::vector<std::string>{"<4>etcd is away: Connection refused; its settings of "
                                      "revision 7 stay in force\n"}));
  EXPECT_TRUE(take({{"/roost/web/b1/weight", "9"}}, 8));
  EXPECT_EQ(take_events(), (std::vector<std::string>{"<5>etcd is there again\n"}));
}

}  // namespace
}  // namespace roost::lb
