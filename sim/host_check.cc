#include "sim/host_check.h"

#include <cmath>
#include <utility>

#include "roost/base/assert.h"
#include "roost/config/toml_table.h"

namespace roost::sim {

namespace {

double read_nanoseconds(config::TomlTable& table, std::string_view name) {
  table.require(name, "12.5");
  const double nanoseconds = table.number(name).value_or(1);
  if (!(nanoseconds > 0 && nanoseconds <= 1e6)) table.fault_in(name, "not from 0 to 1000000");
  return nanoseconds;
}

std::string read_words(config::TomlTable& table, std::string_view name) {
  table.require(name, "\"a few words\"");
  return table.text(name).value_or("");
}

HostPoint read_point(const toml::table& toml, std::vector<config::Fault>& faults) {
  config::TomlTable table(toml, "[[point]]", faults);
  HostPoint point{.name = read_words(table, "name"),
                  .standing = read_words(table, "standing"),
                  .measured_ns = read_nanoseconds(table, "measured_ns"),
                  .predicted_ns = read_nanoseconds(table, "predicted_ns")};
  table.refuse_unknown_keys();
  return point;
}

HostCheck read_host_check(config::TomlTable& top, std::vector<config::Fault>& faults) {
  HostCheck check{.machine = read_words(top, "machine"), .date = read_words(top, "date")};
  top.require("point", "[[point]]");
  if (const toml::array* points = top.array("point")) {
    for (const toml::node& point : *points) {
      if (const toml::table* table = point.as_table()) {
        check.points.push_back(read_point(*table, faults));
      } else {
        top.fault_in("point", "not a list of tables; write [[point]]");
      }
    }
  }
  top.refuse_unknown_keys();
  return check;
}

double distance_from_one(const HostPoint& point) { return std::abs(std::log(point.ratio())); }

}  // namespace

const HostPoint* HostCheck::worst() const {
  const HostPoint* worst = nullptr;
  for (const HostPoint& point : points) {
    if (point.finds_a_number()) continue;
    if (worst == nullptr || distance_from_one(point) > distance_from_one(*worst)) worst = &point;
  }
  return worst;
}

config::Outcome<HostCheck> parse_host_check(std::string_view text) {
  return config::parse(text, read_host_check);
}

const HostCheck& host_check() {
  static const HostCheck check = [] {
    auto outcome = parse_host_check(host_check_text());
    ROOST_ASSERT(outcome.config.has_value());
    return *std::move(outcome.config);
  }();
  return check;
}

}  // namespace roost::sim
