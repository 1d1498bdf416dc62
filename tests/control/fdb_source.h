// A forwarding database of three ports for tests of the command `fdb`, and what was entered in it.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "roost/control/fdb_commands.h"

namespace roost::control {

inline constexpr size_t kFdbPorts = 3;  // 0: VLAN 10; 1: VLANs 10 and 20; 2: VLAN 20
inline constexpr uint64_t kFdbStaticMax = 16;
inline constexpr uint64_t kFdbAgeingTicks = 3'200;
inline constexpr double kFdbTickSeconds = 0.5;

// An entry as it is listed.
struct Row {
  int vlan = 0;
  std::string mac;
  std::string port;
  std::string kind;

  auto operator<=>(const Row&) const = default;
};

[[nodiscard]] inline Row row_of(const Json& row) {
  return {row["vlan"], row["mac"],
          row["port"].is_string() ? row["port"].get<std::string>() : row["port"].dump(),
          row["kind"]};
}

[[nodiscard]] inline std::string mac_of(uint64_t number) {
  return fmt::format("02:00:{:02x}:{:02x}:{:02x}:{:02x}", number >> 24 & 0xFF, number >> 16 & 0xFF,
                     number >> 8 & 0xFF, number & 0xFF);
}

class FdbTest : public testing::Test {
 protected:
  FdbTest() { make({}); }

  // Another database, which is empty.
  void make(std::vector<std::optional<uint64_t>> learn_max, uint64_t entries_max = 131'072) {
    learn_max.resize(kFdbPorts);
    auto made = bridge::Fdb::create({.entries_max = entries_max,
                                     .static_max = kFdbStaticMax,
                                     .learn_max = std::move(learn_max),
                                     .ageing_ticks = kFdbAgeingTicks,
                                     .tick_seconds = kFdbTickSeconds});
    ASSERT_TRUE(made.ok()) << made.error().message;
    fdb_ = std::make_unique<bridge::Fdb>(std::move(made).value());
    entries_.clear();
  }
  [[nodiscard]] bridge::Fdb& fdb() { return *fdb_; }

  [[nodiscard]] static bridge::FdbKey key_of(uint16_t vlan, uint64_t number) {
    return {vlan, net::MacAddress::parse(mac_of(number)).value()};
  }
  void learn(uint16_t vlan, uint64_t number, uint16_t port) {
    ASSERT_EQ(fdb().write().learn(key_of(vlan, number), port, now_), bridge::Learned::kNew);
    entries_.insert({vlan, mac_of(number), std::to_string(port), "learned"});
  }
  // In no other entry's place.
  void add_static(uint16_t vlan, uint64_t number, uint16_t port) {
    ASSERT_TRUE(fdb().write().add_static(key_of(vlan, number), port));
    const bool is_drop = port == bridge::FdbValue::kNoPort;
    entries_.insert({vlan, mac_of(number), is_drop ? "drop" : std::to_string(port), "static"});
  }

  // {} is JSON's null, and means no parameters here.
  Result<Json> run(const Json& parameters) {
    return run_fdb(parameters.is_null() ? Json::object() : parameters,
                   {.fdb = fdb(),
                    .vlans = vlans_,
                    .port_count = kFdbPorts,
                    .static_max = kFdbStaticMax,
                    .static_advice = "ask for more",
                    .tick_seconds = kFdbTickSeconds,
                    .now = [this]() -> Result<Tick> {
                      if (!is_answering_) return Error{"worker 0 does not answer"};
                      return now_;
                    }});
  }
  Json must(const Json& parameters) {
    const Result<Json> result = run(parameters);
    EXPECT_TRUE(result.ok()) << parameters << (result.ok() ? "" : result.error().message);
    return result.ok() ? result.value() : Json();
  }
  std::string refusal(const Json& parameters) {
    const Result<Json> result = run(parameters);
    return result.ok() ? "taken: " + result.value().dump() : result.error().message;
  }
  // Of all pages.
  std::set<Row> listed(Json filter) {
    std::set<Row> rows;
    while (true) {
      const Json page = must(filter);
      for (const Json& row : page["rows"]) rows.insert(row_of(row));
      if (!page.contains("cursor")) return rows;
      filter["cursor"] = page["cursor"];
    }
  }

  // As the configuration says.
  bridge::VlanPorts vlans_{std::array<bridge::VlanPorts::Port, kFdbPorts>{
      {{.untagged = 10}, {.tagged = {10, 20}}, {.untagged = 20}}}};
  std::unique_ptr<bridge::Fdb> fdb_;
  std::set<Row> entries_;  // what learn() and add_static() entered
  Tick now_{};
  bool is_answering_ = true;
};

}  // namespace roost::control
