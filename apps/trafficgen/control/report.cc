#include "apps/trafficgen/control/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "roost/control/json.h"

namespace roost::trafficgen {
namespace {

using control::Json;
using TextOut = std::back_insert_iterator<std::string>;

constexpr std::array<std::pair<const char*, double>, 5> kQuantiles = {
    {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}}};

double microseconds(uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1'000; }

Json counts_json(const PacketCounts& counts) {
  Json json;
  for (const auto& counter : kPacketCounters) json[counter.name] = counts.*counter.value;
  json["sent"] = counts.sent();
  json["loss"] = counts.loss();
  return json;
}

Json interval_json(const Interval& interval) {
  Json json = counts_json(interval.counts);
  Json& latency = json["latency_microseconds"];
  for (const auto& [name, share] : kQuantiles)
    latency[name] = microseconds(interval.nanoseconds.quantile(share));
  latency["max"] = microseconds(interval.nanoseconds.greatest());
  return json;
}

Json seconds_json(const std::vector<SecondSummary>& seconds) {
  Json json = Json::array();
  for (const SecondSummary& second : seconds) {
    Json one = counts_json(second.counts);
    one["latency_microseconds"] = {{"p50", microseconds(second.p50)},
                                   {"p99", microseconds(second.p99)},
                                   {"max", microseconds(second.greatest)}};
    json.push_back(std::move(one));
  }
  return json;
}

Json search_json(const SearchResult& search) {
  Json json;
  json["loss_max"] = search.loss_max;
  json["packets_per_second"] = search.rate() ? Json(*search.rate()) : Json();
  for (const SearchResult::Trial& trial : search.trials)
    json["trials"].push_back({{"packets_per_second", trial.packets_per_second},
                              {"loss", trial.loss},
                              {"valid", trial.is_valid}});
  return json;
}

std::string verdict_of(const Report& report) {
  const double late = late_share(report.stats.counts());
  if (report.is_valid()) return "valid";
  return fmt::format(
      "no verdict: the generator was late for {:.2f} % of its packets (at most {} %)", late * 100,
      report.late_share_max * 100);
}

void write_interval(const char* name, double seconds, const Interval& interval, TextOut out) {
  const PacketCounts& counts = interval.counts;
  fmt::format_to(out, "{:<8} {:>12.0f} {:>12} {:>12} {:>9.4f} {:>9.3f}", name,
                 seconds > 0 ? static_cast<double>(counts.offered) / seconds : 0, counts.offered,
                 counts.returned, counts.loss() * 100, late_share(counts) * 100);
  for (const auto& [_, share] : kQuantiles)
    fmt::format_to(out, " {:>9.1f}", microseconds(interval.nanoseconds.quantile(share)));
  fmt::format_to(out, " {:>10.1f}\n", microseconds(interval.nanoseconds.greatest()));
}

void write_head(TextOut out) {
  fmt::format_to(out, "{:<8} {:>12} {:>12} {:>12} {:>9} {:>9}", "step", "packets/s", "offered",
                 "returned", "loss %", "late %");
  for (const auto& [name, _] : kQuantiles) fmt::format_to(out, " {:>9}", name);
  fmt::format_to(out, " {:>10}\n", "max");
}

void write_search(const SearchResult& search, TextOut out) {
  fmt::format_to(out, "\nsearch for a loss of at most {:g} %\n", search.loss_max * 100);
  for (const SearchResult::Trial& trial : search.trials)
    fmt::format_to(out, "  {:>12.0f} packets/s  loss {:.4f} %{}\n", trial.packets_per_second,
                   trial.loss * 100, trial.is_valid ? "" : "  (the generator was late)");
  if (const auto rate = search.rate()) {
    fmt::format_to(out, "found: {:.0f} packets/s\n", *rate);
  } else {
    fmt::format_to(out, "found: none that passes\n");
  }
}

}  // namespace

std::optional<double> SearchResult::rate() const {
  std::optional<double> best;
  for (const Trial& trial : trials)
    if (trial.is_valid && trial.loss <= loss_max)
      best = std::max(best.value_or(0), trial.packets_per_second);
  return best;
}

double late_share(const PacketCounts& counts) {
  if (counts.offered == 0) return 0;
  return static_cast<double>(counts.late) / static_cast<double>(counts.offered);
}

bool Report::is_valid() const { return late_share(stats.counts()) <= late_share_max; }

std::vector<std::string> broken_sums(const Report& report) {
  std::vector<std::string> broken;
  const PacketCounts counts = report.stats.counts();
  if (counts.sent() != counts.returned + counts.lost())
    broken.push_back(fmt::format("sent {} = returned {} + lost {} does not hold", counts.sent(),
                                 counts.returned, counts.lost()));
  const ArrivalCounts& arrivals = report.stats.arrivals();
  if (counts.sent() + arrivals.flood_sent != report.sent_by_ports)
    broken.push_back(fmt::format("sent {} + flood {} = {} sent by the ports does not hold",
                                 counts.sent(), arrivals.flood_sent, report.sent_by_ports));
  return broken;
}

std::string format_text(const Report& report) {
  std::string text;
  const TextOut out = std::back_inserter(text);
  fmt::format_to(out, "{} ({:.1f} s{}); latencies in microseconds, from when a packet was due\n\n",
                 verdict_of(report), report.seconds,
                 report.ended_early ? ", all connections were over before the steps" : "");
  write_head(out);
  double seconds = 0;
  for (size_t i = 0; i < report.stats.step_count(); ++i) {
    seconds += report.step_seconds[i];
    write_interval(std::to_string(i + 1).c_str(), report.step_seconds[i], report.stats.step(i),
                   out);
  }
  const Interval total = report.stats.total();
  if (report.stats.step_count() > 1) write_interval("all", seconds, total, out);
  fmt::format_to(out, "\n");
  fmt::format_to(out, "{:<20} {:>14}  packets that the ports took\n", "sent", total.counts.sent());
  for (const auto& counter : kPacketCounters)
    fmt::format_to(out, "{:<20} {:>14}  {}\n", counter.name, total.counts.*counter.value,
                   counter.help);
  for (const auto& counter : kArrivalCounters)
    fmt::format_to(out, "{:<20} {:>14}  {}\n", counter.name, report.stats.arrivals().*counter.value,
                   counter.help);
  if (report.search) write_search(*report.search, out);
  return text;
}

std::string format_json(const Report& report) {
  Json json;
  json["traffic"] = "synthetic";
  json["verdict"] = verdict_of(report);
  json["valid"] = report.is_valid();
  json["seconds"] = report.seconds;
  json["ended_early"] = report.ended_early;
  json["total"] = interval_json(report.stats.total());
  for (const auto& counter : kArrivalCounters)
    json["arrivals"][counter.name] = report.stats.arrivals().*counter.value;
  json["steps"] = Json::array();
  for (size_t i = 0; i < report.stats.step_count(); ++i) {
    Json step = interval_json(report.stats.step(i));
    step["seconds"] = report.step_seconds[i];
    json["steps"].push_back(std::move(step));
  }
  json["by_second"] = seconds_json(report.stats.seconds());
  if (report.search) json["search"] = search_json(*report.search);
  json["broken_sums"] = broken_sums(report);
  return json.dump(2);
}

}  // namespace roost::trafficgen
