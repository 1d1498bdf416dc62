// Keys of a real etcd, read and followed; and answers that no etcd gives.
#include "roost/control/etcd_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tests/control/health_targets.h"
#include "tests/control/program.h"

namespace roost::control {
namespace {

using Values = std::map<std::string, std::string>;

class Etcd {
 public:
  void start() {
    const std::string url = "http://127.0.0.1:" + std::to_string(port_);
    const std::string peer = "http://127.0.0.1:" + std::to_string(peer_port_);
    program_.emplace(std::vector<std::string>{
        "etcd", "--data-dir", folder_.path("data"), "--listen-client-urls", url,
        "--advertise-client-urls", url, "--listen-peer-urls", peer, "--log-level", "error"});
    wait_for_server(port_);
  }
  void stop() { program_.reset(); }
  void put(const std::string& key, const std::string& value) { ctl({"put", "--", key, value}); }
  void erase(const std::string& key) { ctl({"del", "--", key}); }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  void ctl(const std::vector<std::string>& words) const {
    std::vector<std::string> command = {"env", "ETCDCTL_API=3", "etcdctl",
                                        "--endpoints=127.0.0.1:" + std::to_string(port_)};
    command.insert(command.end(), words.begin(), words.end());
    Program program(command);
    EXPECT_EQ(program.wait(), 0);
  }

  Folder folder_;
  uint16_t port_ = free_port();
  uint16_t peer_port_ = free_port();
  std::optional<Program> program_;
};

// What was told, for those who wait for it.
class Told {
 public:
  EtcdWatch::Config config(const Etcd& etcd) {
    return {.url = etcd.url(),
            .prefix = "/roost/",
            .interval = std::chrono::minutes(1),  // changes are told by the watch alone
            .retry = std::chrono::milliseconds(50),
            .on_keys =
                [this](const EtcdKeys& keys) {
                  const std::scoped_lock lock(mutex_);
                  values_ = keys.values;
                  changed_.notify_all();
                  return true;
                },
            .on_away =
                [this](const std::string& reason) {
                  const std::scoped_lock lock(mutex_);
                  values_.reset();
                  away_ = reason;
                  changed_.notify_all();
                }};
  }
  bool has(const Values& values) {
    return wait([&] { return values_ == values; });
  }
  // Why; empty if it is not.
  std::string away() {
    return wait([&] { return !values_ && !away_.empty(); }) ? away_ : "";
  }

 private:
  template <class Condition>
  bool wait(const Condition& condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), condition);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Values> values_;
  std::string away_;
};

TEST(etcd_watch, keys_below_the_prefix_are_read_and_each_change_is_followed) {
  Etcd etcd;
  etcd.start();
  etcd.put("/roost/web/b1/weight", "3");
  etcd.put("/roost0", "behind the prefix");
  etcd.put("/roos", "before it");
  Told told;
  const EtcdWatch watch(told.config(etcd));
  EXPECT_TRUE(told.has({{"/roost/web/b1/weight", "3"}}));
  etcd.put("/roost/web/b1/weight", "4");
  EXPECT_TRUE(told.has({{"/roost/web/b1/weight", "4"}}));
  etcd.put("/roost/web/b2/drain", "");
  EXPECT_TRUE(told.has({{"/roost/web/b1/weight", "4"}, {"/roost/web/b2/drain", ""}}));
  etcd.erase("/roost/web/b1/weight");
  EXPECT_TRUE(told.has({{"/roost/web/b2/drain", ""}}));
}

TEST(etcd_watch, an_etcd_that_is_away_is_told_and_is_followed_again_when_it_is_there) {
  Etcd etcd;
  Told told;
  EtcdWatch::Config config = told.config(etcd);
  config.interval = std::chrono::milliseconds(50);
  const EtcdWatch watch(config);
  const std::string reason = told.away();
  EXPECT_NE(reason.find("Failed to connect"), std::string::npos) << reason;
  etcd.start();
  etcd.put("/roost/a", "1");
  EXPECT_TRUE(told.has({{"/roost/a", "1"}}));
  etcd.stop();
  EXPECT_NE(told.away(), "");
  etcd.start();
  EXPECT_TRUE(told.has({{"/roost/a", "1"}})) << "the same as before";
}

TEST(etcd_watch, answers_that_no_etcd_gives_are_errors) {
  for (const char* answer :
       {"", "[]", "nonsense", "{}", R"({"header": {"revision": 5}})",
        R"({"header": {"revision": "5x"}})", R"({"header": {"revision": "5"}, "kvs": {}})",
        R"({"header": {"revision": "5"}, "kvs": [{"key": "***"}]})",
        R"({"header": {"revision": "5"}, "kvs": [{"key": 1}]})",
        R"({"header": {"revision": "5"}, "kvs": [7]})"}) {
    EXPECT_FALSE(parse_etcd_range(answer).ok()) << answer;
  }
  const Result<EtcdKeys> said = parse_etcd_range(R"({"error": "no leader", "code": 14})");
  ASSERT_FALSE(said.ok());
  EXPECT_EQ(said.error().message, "it says: no leader");
  const Result<EtcdKeys> keys = parse_etcd_range(
      R"({"header": {"revision": "5"},
          "kvs": [{"key": "L2E=", "value": "MQ=="}, {"key": "L2I="}]})");
  ASSERT_TRUE(keys.ok());
  EXPECT_EQ(keys.value().revision, 5);
  EXPECT_EQ(keys.value().values, (Values{{"/a", "1"}, {"/b", ""}}));
}

TEST(etcd_watch, a_line_of_a_watch_is_a_change_or_none_or_its_end) {
  EXPECT_FALSE(parse_etcd_watch_line(R"({"result": {"created": true}})").value());
  EXPECT_TRUE(parse_etcd_watch_line(R"({"result": {"events": [{}]}})").value());
  for (const char* line : {"", "7", "{}", R"({"result": 1})", R"({"error": {"message": "m"}})",
                           R"({"result": {"canceled": true, "compact_revision": "9"}})"}) {
    EXPECT_FALSE(parse_etcd_watch_line(line).ok()) << line;
  }
}

TEST(etcd_watch, requests_name_the_prefix_and_what_follows_it_in_base64) {
  EXPECT_EQ(etcd_range_request("/a/"), R"({"key":"L2Ev","range_end":"L2Ew"})");
  EXPECT_EQ(etcd_watch_request("/a/", 7),
            R"({"create_request":{"key":"L2Ev","range_end":"L2Ew","start_revision":"8"}})");
  EXPECT_EQ(etcd_range_request("\xff"), R"({"key":"/w==","range_end":"AA=="})");
}

}  // namespace
}  // namespace roost::control
