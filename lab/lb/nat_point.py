"""What `roost advise` knows of mode `nat` and of ports: single points, as C++ and as a table."""
import statistics

from lb import cell_costs
from lb.cell_jobs import RAW, SLOT_TIMERS
from lb.jobs import RAW as RAW_PORTS
from report.section import cell, markdown_table

FILE = "apps/advise/nat_points.h"
PORTS_SLOTS = 1 << 22
HEAD = """\
// What a packet costs in mode `nat` at one point, and at ports: made by `./dev lab readme` from the
// record that apps/advise/README.md names beside these figures, and checked against it.
#pragma once

#include <string_view>

#include "apps/advise/cost_points.h"

namespace roost::advise {

"""


def figures(record):
    """(live, packets of each, parsing, beyond parsing, job) and (ns at ports, job)."""
    part = record.select(experiment="churn")
    job = part.measured().values("job")[0]
    point = (part.median(metric="connections_live", contestant=SLOT_TIMERS),
             float(cell_costs.options_of(job)["mean"]),
             part.median(metric=cell_costs.NS, contestant=RAW),
             statistics.median(cell_costs.own_ns(part, SLOT_TIMERS).values()), job)
    ports = record.select(experiment="packets", metric=cell_costs.NS, slots=float(PORTS_SLOTS),
                          contestant=RAW_PORTS[0])
    return point, (ports.median(), ports.measured().values("job")[0])


def block(record):
    (live, each, parsing, beyond, _), (ports, _) = figures(record)
    return markdown_table(
        ["mode `nat`: live", "packets of each", "ns to parse", "ns beyond parsing",
         "ns at ports of rings"],
        [[cell(live, 0), cell(each, 0), cell(parsing), cell(beyond), cell(ports)]])


def header(record):
    (live, each, parsing, beyond, job), (ports, ports_job) = figures(record)
    name = " ".join(word for word in job.split() if "=" not in word or word.startswith("mean="))
    return (f'{HEAD}inline constexpr std::string_view kNatRecord = "lab/record/{record.name}";\n'
            f"inline constexpr CostPoint kNatPoint = {{{live:.0f}, {each:g}, {parsing:.1f}, "
            f'{beyond:.1f},\n                                        "{name}"}};\n'
            f"inline constexpr double kPortsNs = {ports:.1f};\n"
            f'inline constexpr std::string_view kPortsJob = "{ports_job} raw_io";\n\n'
            "}  // namespace roost::advise\n")
