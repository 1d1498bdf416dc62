#include "apps/advise/survey_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "roost/conntrack/timeouts.h"

namespace roost::advise {
namespace {

using control::Json;
using TextOut = std::back_insert_iterator<std::string>;

constexpr std::array kQuantiles = {0.01, 0.05, 0.1,  0.25,  0.5,   0.75,
                                   0.9,  0.95, 0.99, 0.999, 0.9999};

void survey_line(TextOut out, std::string_view name, std::string_view text) {
  fmt::format_to(out, "{:<12} {}\n", name, text);
}

uint64_t alive_peak(const Survey& survey) { return std::ranges::max(survey.alive_by_second()); }

template <class Count>
uint64_t worst_second(const Survey& survey, Count count) {
  return std::ranges::max(survey.by_second, {}, count).*count;
}

double of_connections(const Survey& survey, uint64_t packets) {
  return static_cast<double>(packets) / static_cast<double>(survey.connections);
}

void write_not_counted(const Survey& survey, TextOut out) {
  if (survey.other_packets != 0)
    survey_line(out, "",
                fmt::format("{} packets are of no connection: neither TCP nor UDP, later "
                            "fragments, damaged",
                            survey.other_packets));
  if (survey.untracked_packets != 0)
    survey_line(out, "",
                fmt::format("NOT FOLLOWED: {} packets of connections beyond the places "
                            "there are; give more by --follow",
                            survey.untracked_packets));
  if (survey.cut_reason)
    survey_line(out, "", "THE FILE IS CUT, this is what stands before: " + *survey.cut_reason);
}

void write_ladder(const Survey& survey, TextOut out) {
  fmt::format_to(out,
                 "\nConnections that spoke again after a longer silence, by timeout (seconds)\n"
                 "{:<16} {:>12}",
                 "", "connections");
  for (const uint32_t seconds : kLadderSeconds) fmt::format_to(out, " {:>8}", seconds);
  fmt::format_to(out, "\n");
  for (size_t timeout = 0; timeout < kTimeoutCount; ++timeout) {
    fmt::format_to(out, "{:<16} {:>12}", conntrack::kTcpUdpTimeouts[timeout].name,
                   survey.under[timeout]);
    for (size_t step = 0; step < kLadderSeconds.size(); ++step) {
      const bool is_seen = kLadderSeconds[step] < survey.seconds();
      fmt::format_to(out, " {:>8}",
                     is_seen ? std::to_string(survey.cut_by(timeout, step)) : std::string("-"));
    }
    fmt::format_to(out, "\n");
  }
  fmt::format_to(out, "\n");
}

}  // namespace

std::string format_survey(const Survey& survey) {
  std::string text;
  const TextOut out = std::back_inserter(text);
  survey_line(out, "capture",
              fmt::format("{}: {} packets in {:.0f} seconds", survey.path, survey.packets,
                          survey.seconds()));
  write_not_counted(survey, out);
  survey_line(
      out, "connections",
      fmt::format("{}, {} of them UDP, {} IPv6; {} alive at once at most", survey.connections,
                  survey.udp_connections, survey.ipv6_connections, alive_peak(survey)));
  survey_line(out, "arrivals",
              fmt::format("{:.1f} a second on average, {} in the worst second",
                          static_cast<double>(survey.connections) / survey.seconds(),
                          worst_second(survey, &SecondCounts::begun)));
  survey_line(out, "packets",
              fmt::format("{:.1f} a second on average, {} in the worst second",
                          static_cast<double>(survey.counted_packets()) / survey.seconds(),
                          worst_second(survey, &SecondCounts::packets)));
  std::string quantiles;
  for (const double share : {0.5, 0.9, 0.99})
    quantiles += fmt::format(", p{:g} {}", share * 100, survey.packets_each.quantile(share));
  survey_line(out, "of each",
              fmt::format("{:.1f} packets on average{}, {} at most; the largest 1 % of the "
                          "connections has {:.1f} % of them",
                          of_connections(survey, survey.counted_packets()), quantiles,
                          survey.packets_each.greatest(), survey.largest_share() * 100));
  write_ladder(survey, out);
  return text;
}

Json survey_json(const Survey& survey) {
  Json json = {{"file", survey.path},
               {"packets", survey.packets},
               {"other_packets", survey.other_packets},
               {"untracked_packets", survey.untracked_packets},
               {"seconds", survey.seconds()},
               {"connections", survey.connections},
               {"udp_connections", survey.udp_connections},
               {"ipv6_connections", survey.ipv6_connections},
               {"alive_peak", alive_peak(survey)},
               {"largest_share", survey.largest_share()},
               {"cut", survey.cut_reason ? Json(*survey.cut_reason) : Json()}};
  json["arrivals"] = {
      {"mean_per_second", static_cast<double>(survey.connections) / survey.seconds()},
      {"worst_second", worst_second(survey, &SecondCounts::begun)}};
  Json& each = json["packets_each"];
  each["mean"] = of_connections(survey, survey.counted_packets());
  for (const double share : kQuantiles)
    each["quantiles"].push_back({share, survey.packets_each.quantile(share)});
  each["max"] = survey.packets_each.greatest();
  json["ladder_seconds"] = kLadderSeconds;
  for (size_t timeout = 0; timeout < kTimeoutCount; ++timeout) {
    Json& one = json["timeouts"][std::string(conntrack::kTcpUdpTimeouts[timeout].name)];
    one["connections"] = survey.under[timeout];
    for (size_t step = 0; step < kLadderSeconds.size(); ++step)
      one["cut"].push_back(survey.cut_by(timeout, step));
  }
  const std::vector<uint64_t> alive = survey.alive_by_second();
  for (size_t second = 0; second < alive.size(); ++second)
    json["by_second"].push_back({{"alive", alive[second]},
                                 {"begun", survey.by_second[second].begun},
                                 {"packets", survey.by_second[second].packets}});
  return json;
}

}  // namespace roost::advise
