#include "roost/config/timeouts_config.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "roost/config/message_text.h"
#include "roost/config/toml_table.h"

namespace roost::config {

namespace {

std::string largest(double tick_seconds) {
  return "more than " + grouped(kTimeoutTicksMax) + " ticks; the largest at this tick_seconds is " +
         fmt::format("{:.10g}", tick_seconds * kTimeoutTicksMax) + ", or make ticks longer";
}

void set(conntrack::StateTimeouts& timeouts, const conntrack::NamedTimeout& named,
         TickCount ticks) {
  for (const conntrack::ConnectionState state : named.states) {
    timeouts[static_cast<size_t>(state)] = ticks;
  }
}

}  // namespace

conntrack::StateTimeouts read_given_timeouts(TomlTable& above, std::string_view name,
                                             TimeoutNames names, double tick_seconds,
                                             std::vector<Fault>& faults) {
  conntrack::StateTimeouts timeouts{};
  const toml::table* toml = above.table("timeouts");
  if (toml == nullptr) return timeouts;
  TomlTable table(*toml, std::string(name), faults);
  for (const conntrack::NamedTimeout& named : names) {
    const std::optional<double> seconds = table.number(named.name);
    if (!seconds) continue;
    if (const auto ticks = conntrack::timeout_ticks(*seconds, tick_seconds)) {
      set(timeouts, named, *ticks);
    } else {
      table.fault_in(named.name, *seconds > 0 ? largest(tick_seconds)
                                              : "not a time; give seconds, more than 0");
      set(timeouts, named, kTimeoutTicksMax);  // it was given
    }
  }
  table.refuse_unknown_keys();
  return timeouts;
}

conntrack::StateTimeouts read_timeouts(TomlTable& top, TimeoutNames names, double tick_seconds,
                                       std::vector<Fault>& faults) {
  conntrack::StateTimeouts timeouts =
      read_given_timeouts(top, "[timeouts]", names, tick_seconds, faults);
  for (const conntrack::NamedTimeout& named : names) {
    if (timeouts[static_cast<size_t>(named.states[0])] != 0) continue;
    const auto ticks = conntrack::timeout_ticks(named.seconds_default, tick_seconds);
    if (!ticks) {
      top.fault_in("tick_seconds", "the default of [timeouts] " + std::string(named.name) +
                                       " would be " + largest(tick_seconds) + " or set it");
    }
    set(timeouts, named, ticks.value_or(kTimeoutTicksMax));
  }
  return timeouts;
}

}  // namespace roost::config
