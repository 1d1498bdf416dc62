#include "roost/config/timeouts_config.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "roost/config/message_text.h"
#include "roost/config/toml_table.h"
#include "roost/conntrack/timeouts.h"

namespace roost::config {

conntrack::StateTimeouts read_timeouts(TomlTable& top, double tick_seconds,
                                       std::vector<Fault>& faults) {
  conntrack::StateTimeouts timeouts{};
  const toml::table empty;
  const toml::table* toml = top.table("timeouts");
  TomlTable table(toml == nullptr ? empty : *toml, "[timeouts]", faults);
  const double seconds_max = tick_seconds * kTimeoutTicksMax;
  for (const conntrack::NamedTimeout& named : conntrack::kNamedTimeouts) {
    const std::optional<double> given = table.number(named.name);
    const double seconds = given.value_or(named.seconds_default);
    const std::string largest = "more than " + grouped(kTimeoutTicksMax) +
                                " ticks; the largest at this tick_seconds is " +
                                fmt::format("{:.10g}", seconds_max) + ", or make ticks longer";
    const std::optional<TickCount> ticks = conntrack::timeout_ticks(seconds, tick_seconds);
    if (ticks) {
      for (const conntrack::ConnectionState state : named.states) {
        timeouts[static_cast<size_t>(state)] = *ticks;
      }
    } else if (!(seconds > 0)) {
      table.fault_in(named.name, "not a time; give seconds, more than 0");
    } else if (given) {
      table.fault_in(named.name, largest);
    } else {
      top.fault_in("tick_seconds", "the default of [timeouts] " + std::string(named.name) +
                                       " would be " + largest + " or set it");
    }
  }
  table.refuse_unknown_keys();
  return timeouts;
}

}  // namespace roost::config
