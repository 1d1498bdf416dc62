// An advice in words: a line a decision, its reason and its record behind it.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <iterator>
#include <string_view>

#include "apps/advise/report.h"
#include "apps/advise/survey_report.h"

namespace roost::advise {
namespace {

using TextOut = std::back_insert_iterator<std::string>;

constexpr std::array<std::string_view, 3> kFamilyNames = {"IPv4", "IPv6", "IPv4 and IPv6"};

std::string mebibytes(uint64_t bytes) {
  return fmt::format("{} bytes ({:.1f} MiB)", bytes, static_cast<double>(bytes) / (1 << 20));
}

void line(TextOut out, std::string_view name, std::string_view text) {
  fmt::format_to(out, "{:<12} {}\n", name, text);
}

void write_asked(const Advice& advice, TextOut out) {
  const Workload& workload = advice.workload;
  line(out, "asked",
       fmt::format("{} connections alive, {} begin a second, {} packets a second, {} in mode {}",
                   workload.connections, workload.new_per_second, workload.packets_per_second,
                   kFamilyNames[static_cast<size_t>(workload.families)],
                   lb::mode_name(workload.mode)));
}

void write_tables(const Advice& advice, TextOut out) {
  const Workload& workload = advice.workload;
  const Sizing& sizing = advice.sizing;
  std::string layouts;
  if (workload.has_ipv4()) layouts += fmt::format("IPv4 {}", layout_name(false));
  if (workload.has_ipv6())
    layouts += fmt::format("{}IPv6 {}", layouts.empty() ? "" : ", ", layout_name(true));
  line(out, "table", fmt::format("flow table, timers in its slots ({})", layouts));
  line(
      out, "sharing",
      fmt::format("a table a worker, {} of them: clients' addresses say whose a connection is. One "
                  "common table is for where any core may see any packet, and costs more [{}]",
                  workload.cores, kSharingRecord));
  line(out, "expiry",
       fmt::format("slot timers, and a sweep in {:g} s. A wheel is for tables without timers, or "
                   "where an end must be noticed at once, and costs more [{}]",
                   kSweepSeconds, kExpiryRecord));
  line(out, "held",
       fmt::format("{} connections at the peak, those included that are over and wait for their "
                   "timeout",
                   sizing.held));
  line(out, "capacity",
       fmt::format("{} connections of a family in each worker, {:.0f} % more than its share",
                   sizing.connections, (kHeadroom - 1) * 100));
  line(out, "load", fmt::format("{:.2f} of {} slots at the peak", sizing.load, sizing.slots));
  line(out, "tick", fmt::format("{:g} s", sizing.tick_seconds));
}

void write_timeouts(const Advice& advice, TextOut out) {
  std::string text;
  for (size_t i = 0; i < kTimeoutCount; ++i)
    text += fmt::format("{}{} {:g}", i == 0 ? "" : ", ", conntrack::kTcpUdpTimeouts[i].name,
                        advice.timeouts[i]);
  line(out, "timeouts", text + " (seconds)");
}

void write_memory(const Advice& advice, TextOut out) {
  const Sizing& sizing = advice.sizing;
  line(out, "memory",
       fmt::format("{}: {} a worker, {:.0f} bytes a connection", mebibytes(sizing.bytes),
                   sizing.bytes_of_worker(),
                   static_cast<double>(sizing.bytes_of_worker()) /
                       static_cast<double>(sizing.connections)));
  if (!advice.memory_there) {
    line(out, "", "how much memory is there is not known");
  } else if (advice.fits()) {
    line(out, "", "it fits: " + mebibytes(*advice.memory_there) + " are there");
  } else {
    line(out, "",
         fmt::format("IT DOES NOT FIT: {} are needed, {} are there, {} are missing", sizing.bytes,
                     *advice.memory_there, sizing.bytes - *advice.memory_there));
  }
}

void write_cost(const Advice& advice, TextOut out) {
  if (!advice.cost) {
    line(out, "a packet", "not known: " + advice.no_cost);
    return;
  }
  const Cost& cost = *advice.cost;
  line(out, "a packet",
       fmt::format("{:.0f} ns expected: {:.0f} for its connection, {:.0f} to parse it, {:.0f} for "
                   "ports of rings in memory",
                   cost.packet_ns(), cost.state_ns, cost.parsing_ns, cost.ports_ns));
  line(out, "a core",
       fmt::format("{:.2f} million packets a second", cost.packets_per_second() / 1e6));
  const uint32_t needed = advice.cores_needed().value_or(1);
  if (needed > advice.workload.cores)
    line(out, "",
         fmt::format("TOO FEW CORES: the packets need {}, and {} {} given", needed,
                     advice.workload.cores, advice.workload.cores == 1 ? "is" : "are"));
  if (!cost.outside.empty()) line(out, "", "NOT MEASURED: " + cost.outside);
  line(out, "records", "on the processor that they name; yours will differ");
  for (const std::string& record : cost.records) line(out, "", record);
}

void write_measurement(const Measurement& measured, TextOut out) {
  line(
      out, "measured",
      fmt::format("{:.1f} ns a packet here, without ports ({:.1f} to {:.1f}): {} connections held, "
                  "{} begin a second, {:.1f} packets each, after {} packets; synthetic",
                  measured.datapath_ns, measured.least_ns, measured.greatest_ns, measured.live,
                  measured.begun_per_second, measured.packets_each, measured.warm_up_packets));
  if (measured.lost != 0)
    line(out, "", fmt::format("{} packets were not forwarded", measured.lost));
}

}  // namespace

std::string format_text(const Advice& advice, const Findings& findings) {
  std::string text = findings.survey == nullptr ? std::string() : format_survey(*findings.survey);
  const TextOut out = std::back_inserter(text);
  write_asked(advice, out);
  write_tables(advice, out);
  write_timeouts(advice, out);
  write_memory(advice, out);
  write_cost(advice, out);
  if (findings.measurement != nullptr) write_measurement(*findings.measurement, out);
  return text;
}

}  // namespace roost::advise
