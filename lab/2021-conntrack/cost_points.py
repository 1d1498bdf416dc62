"""What `roost advise` expects a packet to cost: axis "size", as C++ and as a table."""
import statistics

from harness.beside import beside
from lb.cell_costs import NS, options_of, own_ns
from lb.cell_jobs import RAW, SLOT_TIMERS
from report.section import cell, markdown_table

axes = beside(__file__, "axes")
FILE = "apps/advise/cost_points.h"
HEAD = """\
// What a packet costs by live connections and packets of each: made by `./dev lab readme` from the
// record that apps/advise/README.md names beside these figures, and checked against it.
#pragma once

#include <array>
#include <string_view>

namespace roost::advise {

struct CostPoint {
  double live = 0;          // connections
  double packets_each = 0;  // of a connection
  double parsing_ns = 0;
  double state_ns = 0;  // beyond parsing
  std::string_view job{};
};

"""


def points(record):
    """(live, packets of each, parsing, beyond parsing, job), those of many packets first."""
    part = record.select(experiment="axis_size")
    found = []
    for job in part.measured().values("job"):
        mine = part.select(job=job)
        beyond = statistics.median(own_ns(mine, SLOT_TIMERS).values())
        found.append((mine.median(metric="connections_live", contestant=SLOT_TIMERS),
                      float(options_of(job)["mean"]), mine.median(metric=NS, contestant=RAW),
                      beyond, job))
    return sorted(found, key=lambda point: (-point[1], point[0]))


def block(record):
    return markdown_table(
        ["live", "packets of each", "ns to parse", "ns beyond parsing"],
        [[cell(live, 0), cell(each, 0), cell(parsing), cell(beyond)]
         for live, each, parsing, beyond, _ in points(record)])


def short(job):
    """As much of a job's name as tells it apart."""
    return " ".join(word for word in job.split() if "=" not in word or word.startswith("mean="))


def header(record):
    lines = [HEAD, "inline constexpr std::string_view kCostRecord =\n"
             f'    "lab/record/{record.name}";\n',
             "\n// Those of many packets first; of as many, those of few connections.\n",
             "inline constexpr std::array kCostPoints = {\n"]
    lines += [f"    CostPoint{{{live:.0f}, {each:g}, {parsing:.1f}, {beyond:.1f}, "
              f'"{short(job)}"}},\n'
              for live, each, parsing, beyond, job in points(record)]
    return "".join([*lines[:-1], lines[-1].removesuffix(",\n"), "};\n\n"
                    "}  // namespace roost::advise\n"])
