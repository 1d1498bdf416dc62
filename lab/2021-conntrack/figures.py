"""Tables on one core: figure 1 by the balancer's datapath, figure 2 by tables alone."""
import statistics

from harness.beside import beside
from harness.job import SIZES, Job
from lb.cell_costs import HEADER, SYNTHETIC, cell_rows, own_ns, ratios
from lb.cell_jobs import RAW, SLOT_TIMERS, CellJob
from report.record import INSERTS, LOOKUPS
from report.section import Plot, Section, Table, Verdict, cell, size_name

cells = beside(__file__, "cells")
MUST = {cells.DPDK: (1.2, 1.5), cells.CHAINED: (1.4, 2.0)}  # and the aims
# Maps that grow at a load of their own choice fill up to 0.95 here.
FIG2 = {"roost_flow_table": "ours, split", "rte_hash": "rte_hash",
        "tsl_hopscotch_map_95": "hopscotch", "tsl_robin_map_95": "robin",
        "chained_map": "chained", "std_unordered_map": "std"}
CUCKOOS, BLOWING_UP = ("roost_flow_table", "rte_hash"), ("tsl_hopscotch_map_95",
                                                         "tsl_robin_map_95")
FIG2_LOADS = tuple(step / 10 for step in range(1, 10)) + (0.95,)
FLAT_FROM = 0.5


def jobs(full):
    for profile in cells.PROFILES:
        yield CellJob("fig1", cells.CONNECTIONS, (RAW, SLOT_TIMERS, *cells.STORES),
                      profile=profile, windows=16 if full else 4, rounds=25 if full else 10,
                      warm_up=(1 << 25) if full else (1 << 22))
    # Maps answer one key after the other, whatever the call, and are timed in those of 32.
    for command, calls in (("fills", ("1",)), ("lookups", ("1", "32"))):
        yield Job(command, "fig2", SIZES["2M"], tuple(FIG2), loads=FIG2_LOADS, calls=calls,
                  misses=(0.0,), rounds=5 if full else 2, lookups=1 << 21, counts=False)


def sections(record):
    fig1 = record.select(experiment="fig1")
    for workload in fig1.measured().values("workload"):
        yield fig1_section(fig1.select(workload=workload), workload)
    fig2 = record.select(experiment="fig2")
    if fig2.measured().rows:
        yield fig2_section(fig2)


def fig1_section(part, workload):
    profile = workload.partition(" ")[0]
    slots = part.rows[0]["slots"]
    section = Section(f"Figure 1: tables on one core, {workload} windows, for "
                      f"{size_name(slots)} connections", notes=[
                          SYNTHETIC, "Clients send every packet (l2dsr): a connection is one "
                          "entry. All but the first expire by the timer wheel."])
    section.tables.append(Table(HEADER, list(cell_rows(part, cells.NAMES,
                                                       cells.PROFILES[profile]))))
    if not part.on_equal_huge_pages():
        return section
    for peer, (must, aim) in MUST.items():
        found = ratios(part, peer, SLOT_TIMERS)
        if not found:
            continue
        ratio = statistics.median(found)
        section.verdicts.append(Verdict(
            workload,
            f"{cells.NAMES[peer]} takes at least {must} times ours beyond parsing (aim {aim})",
            cells.reached(ratio >= must), f"{ratio:.2f} ({min(found):.2f} to {max(found):.2f})"))
    section.verdicts += fig1_claims(part, workload)
    return section


def fig1_claims(part, workload):
    own = {name: statistics.median(own_ns(part, name).values()) for name in cells.STORES
           if own_ns(part, name)}
    if not {"roost_split wheel", cells.DPDK, cells.CHAINED, cells.STD} <= own.keys():
        return
    first = min(own, key=own.get)
    yield Verdict(workload, "a Cuckoo++ table is first of them (CT-F1)",
                  "REPRODUCED" if first.startswith("roost") else "NOT",
                  f"first is {cells.NAMES[first]}")
    best = min(own["roost_split wheel"], own["roost_inline wheel"])
    for peer in (cells.CHAINED, cells.DPDK):
        yield Verdict(workload, f"Cuckoo++ is ahead of {cells.NAMES[peer]} (CT-F1)",
                      "REPRODUCED" if best < own[peer] else "NOT", f"{own[peer] / best:.2f}")
    yield Verdict(workload, "the standard's map is behind the chained one (CT-F1)",
                  "REPRODUCED" if own[cells.STD] > own[cells.CHAINED] else "NOT",
                  f"{own[cells.STD] / own[cells.CHAINED]:.2f}")


def insert_curve(part, contestant):
    """[(load, nanoseconds)]: each from the load before. Rows count from empty."""
    totals = {}
    for row in part.select(metric=INSERTS, contestant=contestant).measured().rows:
        totals.setdefault(row["round"], []).append((row["load"], row["seconds"],
                                                    row["operations"]))
    by_load = {}
    for of_round in totals.values():
        seconds = operations = 0
        for load, until, count in sorted(of_round):
            by_load.setdefault(load, []).append((until - seconds) / (count - operations) * 1e9)
            seconds, operations = until, count
    return [(load, statistics.median(found)) for load, found in sorted(by_load.items())]


def lookup_curve(part, contestant):
    mine = part.select(metric=LOOKUPS, contestant=contestant)
    single = mine.select(lanes_per_call=1.0)
    return [(load, 1e3 / rate) for load, rate in (single if single.rows else mine).curve("load")]


def fig2_section(part):
    section = Section("Figure 2: an insert and a lookup by load, one key a call", notes=[
        "Tables of 2M places, 16-byte keys, hits. Inserts are those from one load to the next."])
    for name, curve_of in (("insert", insert_curve), ("lookup", lookup_curve)):
        curves = {said: curve_of(part, contestant) for contestant, said in FIG2.items()}
        loads = sorted({load for curve in curves.values() for load, _ in curve})
        section.tables.append(Table(
            [f"ns {'an' if name == 'insert' else 'a'} {name}", *(f"{load:g}" for load in loads)],
            [[said, *(cell(dict(curve).get(load), 0) for load in loads)]
             for said, curve in curves.items()]))
        section.plots.append(Plot(f"Figure 2: {name}", "load", "ns", curves))
    section.verdicts += fig2_verdicts(part)
    return section


def growth(curve):
    """How many times as much the last load costs as the middle one; nothing if it is not there."""
    middle = dict(curve).get(FLAT_FROM)
    return curve[-1][1] / middle if middle and curve[-1][0] > FLAT_FROM else None


def fig2_verdicts(part):
    grown = {name: growth(insert_curve(part, name)) for name in (*CUCKOOS, *BLOWING_UP)}
    if None in grown.values():
        return
    said = ", ".join(f"{FIG2[name]} {times:.2f}" for name, times in grown.items())
    flattest, steepest = (pick(grown[name] for name in names)
                          for pick, names in ((max, CUCKOOS), (min, BLOWING_UP)))
    yield Verdict("CT-F2", "nearly full, inserts into hopscotch and robin grow more than those "
                  "into cuckoo tables", "REPRODUCED" if steepest > flattest else "NOT", said)
