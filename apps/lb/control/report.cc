#include "apps/lb/control/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/lb/takeover/takeover.h"

namespace roost::lb {

namespace {

// Of all workers.
BackendCounters sum_of_workers(std::span<State* const> states, size_t family, uint32_t index) {
  BackendCounters sum;
  for (const State* state : states) sum += state->backend_counters(family, index);
  return sum;
}

BackendCounters sum_of_backends(const Report& report) {
  BackendCounters sum = report.forgotten;
  for (const ServiceReport& service : report.services) {
    for (const BackendReport& backend : service.backends) sum += backend.counters;
  }
  return sum;
}

void add_state(State& state, Report& report) {
  const auto tracker = state.tracker();
  tracker.settle();
  const FlowCounts counts = tracker.counts();
  const uint64_t live = tracker.count_live();
  report.flows += counts;
  report.live += live;
  report.is_sound = report.is_sound && state.audit();
  control::add_state(state, report);
  report.fragments += tracker.fragment_report();
  add_counters<l3::ResetCounters>(l3::kResetCounters, state.resets(), report.resets);
  report.forgotten += state.forgotten();
  report.worker_flows.push_back({counts.created, live});
  report.table_bytes += tracker.memory_bytes();
  const auto& ipv4 = state.ipv4().connections();
  const auto& ipv6 = state.ipv6().connections();
  const bool is_ipv4_larger = ipv4.memory_bytes() >= ipv6.memory_bytes();
  report.page_size = page_kind_name(is_ipv4_larger ? ipv4.page_kind() : ipv6.page_kind());
  report.kernel = isa_name(ipv4.isa());
}

// By service index of a family: its removed backends.
std::vector<std::vector<uint32_t>> removed_backends(const FamilyRegistry& family) {
  std::vector<std::vector<uint32_t>> removed(family.services.size());
  for (uint32_t index = 0; index < family.backends.size(); ++index) {
    const RegisteredBackend& backend = family.backends[index];
    if (backend.use == Registration::kRemoved) removed[backend.service].push_back(index);
  }
  return removed;
}

}  // namespace

std::vector<ServiceReport> report_services(const BackendRegistry& registry,
                                           const BackendCountersAt& counters_at) {
  const std::array removed = {removed_backends(registry.families[0]),
                              removed_backends(registry.families[1])};
  std::vector<ServiceReport> reports;
  const auto add = [&](const BackendRegistry::Place& place) {
    const FamilyRegistry& family = registry.families[place.family];
    const RegisteredService& service = family.services[place.service];
    std::vector<uint32_t> indices = service.backends;
    const auto& gone = removed[place.family][place.service];
    indices.insert(indices.end(), gone.begin(), gone.end());
    ServiceReport report{service.name,
                         endpoint_text(service.address, service.ports),
                         service.protocol == net::IpProtocol::kTcp ? "tcp" : "udp",
                         std::string(mode_name(service.mode)),
                         {},
                         service.use == Registration::kRemoved,
                         place.family};
    for (const uint32_t index : indices) {
      const RegisteredBackend& backend = family.backends[index];
      const ServicePorts ports = service.ports.moved_to(backend.port);
      report.backends.push_back({backend.name, endpoint_text(backend.address, ports),
                                 counters_at(place.family, index),
                                 backend.use == Registration::kRemoved, index});
    }
    reports.push_back(std::move(report));
  };
  for (const BackendRegistry::Place& place : registry.services) add(place);
  for (size_t family = 0; family < registry.families.size(); ++family) {
    const std::vector<RegisteredService>& services = registry.families[family].services;
    for (uint32_t index = 0; index < services.size(); ++index) {
      if (services[index].use == Registration::kRemoved) add({family, index});
    }
  }
  return reports;
}

Report make_report(std::span<State* const> states, node::RunTotals run) {
  Report report;
  report.run = std::move(run);
  control::add_up_ports(report);
  for (State* state : states) add_state(*state, report);
  if (const auto& takeover = states.front()->config().takeover) {
    report.takeover = takeover->report();
  }
  report.services = report_services(states.front()->registry(), [&](size_t family, uint32_t index) {
    return sum_of_workers(states, family, index);
  });
  return report;
}

std::vector<std::string> broken_sums(const Report& report) {
  control::SumCheck sums;
  sums.check_run(report, kDropCauses);
  sums.expect_equal(report.flows.held(), report.live,
                    "flows created + adopted = live + ended + expired + deleted + evicted + "
                    "moved does not hold");
  const BackendCounters backends = sum_of_backends(report);
  sums.expect_equal(backends.flows, report.flows.created + report.flows.adopted,
                    "flows of all backends + forgotten = flows created + adopted does not hold");
  const auto drops = [&](DropCause cause) { return report.run.drops[cause]; };
  sums.expect_equal(
      backends.packets + report.echo_replies + report.run.originated,
      report.sent + drops(DropCause::kTxRefused) + drops(DropCause::kNoBuffer) +
          report.neighbours.counters.waited,
      "packets of all backends + echo replies + originated = packets sent + tx_refused + "
      "no_buffer + waited does not hold");
  const conntrack::FragmentCounters& fragments = report.fragments.counters;
  sums.expect_equal(fragments.waited,
                    fragments.released + fragments.expired + report.fragments.waiting,
                    "fragments that waited = released + expired + waiting does not hold");
  sums.expect(report.is_sound,
              "every connection must have its reply tuple and the other way round, and that does "
              "not hold");
  return sums.take();
}

}  // namespace roost::lb
