#include "apps/switch/control/report.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "roost/bridge/switch_causes.h"
#include "roost/control/report_json.h"
#include "roost/control/report_text.h"

namespace roost::switching {

namespace {

void add_worker(const bridge::SwitchCounters& frames, const bridge::LearnCounters& learning,
                Report& report) {
  add_counters<bridge::SwitchCounters>(bridge::kSwitchCounters, frames, report.frames);
  add_counters<bridge::LearnCounters>(bridge::kLearnCounters, learning, report.learning);
}

// Drops that the switch decided; devices and buffers lose what was decided to be sent.
uint64_t decided_drops(const net::DropCounts& drops) {
  return drops.sum() - drops[net::DropCause::kTxRefused] - drops[net::DropCause::kNoBuffer];
}

}  // namespace

bool SampleRequest::step() {
  read();
  frames = state_.switching().counters();
  learning = state_.switching().learn_counters();
  now = state_.now();
  return true;
}

void add(const SampleRequest& request, Report& report) {
  control::add(request, report);
  add_worker(request.frames, request.learning, report);
  report.now = std::max(report.now, request.now);
}

FdbReport report_fdb(bridge::Fdb& fdb, size_t port_count, Tick now) {
  bridge::Fdb::Writer writer = fdb.write();
  FdbReport report{{writer.counters()}};
  report.static_entries = writer.static_count();
  report.entries = writer.size() - report.static_entries;
  report.moving = writer.moves(now).size();
  for (size_t port = 0; port < port_count; ++port) {
    report.entries_of.push_back(writer.learned_at(static_cast<uint16_t>(port)));
  }
  return report;
}

Report make_report(std::span<State* const> states, node::RunTotals run) {
  Report report;
  report.run = std::move(run);
  control::add_up_ports(report);
  for (const State* state : states) {
    add_worker(state->switching().counters(), state->switching().learn_counters(), report);
    report.now = std::max(report.now, state->now());
  }
  report.fdb = report_fdb(states.front()->shared().fdb, report.run.ports.size(), report.now);
  return report;
}

std::vector<std::string> broken_sums(const Report& report) {
  control::SumCheck sums;
  sums.check_run(report, bridge::kSwitchDropCauses);
  const bridge::SwitchCounters& frames = report.frames;
  sums.expect_equal(
      report.received,
      frames.known_unicast + frames.unknown_unicast + frames.broadcast + frames.multicast +
          decided_drops(report.run.drops),
      "packets received = known_unicast + unknown_unicast + broadcast + multicast + drops but "
      "tx_refused and no_buffer does not hold");
  sums.expect_equal(report.learning.learned + report.fdb.added,
                    report.learning.reclaimed + report.fdb.erased + report.fdb.entries +
                        report.fdb.static_entries,
                    "stations learned + added = reclaimed + erased + entries + static_entries does "
                    "not hold");
  return sums.take();
}

std::string format_text(const Report& report) {
  std::string text;
  const control::TextOut out = std::back_inserter(text);
  control::write_ports(report, "switch", out);
  control::write_captures(report, out);
  control::write_workers(
      report, [](control::TextOut) {}, [](size_t, control::TextOut) {}, out);
  control::write_counts<bridge::SwitchCounters>("frames", bridge::kSwitchCounters, report.frames,
                                                out);
  control::write_counts<bridge::LearnCounters>("stations", bridge::kLearnCounters, report.learning,
                                               out);
  control::write_counts<bridge::FdbCounters>("by hand", bridge::kFdbCounters, report.fdb, out);
  control::write_counts<FdbReport>("forwarding database", kFdbReportCounters, report.fdb, out);
  control::write_drops(report, bridge::kSwitchDropCauses, out);
  control::write_cycles(report, out);
  return text;
}

control::Json report_json(const Report& report) {
  control::Json json = control::first_part_json(report, bridge::kSwitchDropCauses);
  json["frames"] =
      control::counters_json<bridge::SwitchCounters>(bridge::kSwitchCounters, report.frames);
  json["stations"] =
      control::counters_json<bridge::LearnCounters>(bridge::kLearnCounters, report.learning);
  json["fdb"] = control::counters_json<FdbReport>(kFdbReportCounters, report.fdb);
  json["fdb"].update(control::counters_json<bridge::FdbCounters>(bridge::kFdbCounters, report.fdb));
  json.update(control::last_part_json(report));
  return json;
}

std::string format_json(const Report& report) {
  return control::format_json(report_json(report), report, broken_sums(report));
}

}  // namespace roost::switching
