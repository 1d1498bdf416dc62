"""the figures and tables of the Cuckoo++ paper (ANCS 2018)

Parts, for --only: fig2, fig3, fig5 (with table2), fig7, fig8, fig9, table3. Table 1 is counted from
the sources.
"""
import os

from harness.beside import beside
from harness.job import SIZES, Job
from report import record as records, rules
from report.rules import Finding, all_of, at_least, at_most, figure
from report.section import Plot, Section, Table, Verdict, cell, not_run_section, size_name

CUCKOOPP, TIMERS = "roost_flow_table", "roost_flow_table_timers"
OPTIMISTIC, PESSIMISTIC, HORTON = "roost_optimistic", "roost_pessimistic", "roost_horton"
DPDK = "rte_hash"
PAPER_NAMES = {CUCKOOPP: "Cuckoo++", TIMERS: "Cuckoo++ w/ timer", OPTIMISTIC: "optimistic",
               PESSIMISTIC: "pessimistic", HORTON: "Horton", DPDK: "DPDK",
               "roost_slots_1": "1 slot", "roost_slots_2": "2 slots", "roost_slots_4": "4 slots"}
OURS = (CUCKOOPP, TIMERS, OPTIMISTIC, PESSIMISTIC, HORTON)
LOADS = (0.6, 0.8, 0.95)
CORES_OF_PAPER = 18
FILL_LOADS = tuple(step / 10 for step in range(1, 10)) + (0.95,)
DISPLACED_LOADS = tuple(round(0.05 * step, 2) for step in range(1, 20)) + (0.97, 0.98, 0.99)


def misses(full):
    return tuple(step / 10 for step in range(11)) if full else (0.0, 0.25, 0.5, 0.75, 1.0)


def jobs(size, _available):
    full = size != "quick"
    rounds = 5 if full else 3
    structure = {"slots": SIZES["32M"] if full else 1 << 21, "pages": "THP", "lookups": 1 << 21}
    found = [
        Job("structure", "fig2", contestants=("roost_slots_1", "roost_slots_2", "roost_slots_4",
                                              CUCKOOPP), loads=DISPLACED_LOADS, **structure),
        Job("structure", "fig5", contestants=(CUCKOOPP, HORTON), loads=LOADS, **structure),
        Job("structure", "table3", contestants=(CUCKOOPP, TIMERS, DPDK), slots=SIZES["32M"],
            loads=(0.1,), lookups=1000),
        Job("lookups", "fig3", SIZES["32M"], (DPDK, PESSIMISTIC, OPTIMISTIC), misses=misses(full),
            loads=LOADS if full else (0.8,), rounds=rounds, lookups=1 << 21),
        Job("lookups", "fig9", SIZES["32M"], (CUCKOOPP, OPTIMISTIC, DPDK), misses=(0.2,),
            cores=min(os.cpu_count(), CORES_OF_PAPER), rounds=rounds)]
    for name in ("512K", "32M"):
        found.append(Job("lookups", "fig8", SIZES[name], (*OURS, DPDK), loads=LOADS,
                         misses=misses(full), rounds=rounds, lookups=1 << 21))
        found.append(Job("fills", "fig7", SIZES[name], (*OURS, DPDK), loads=FILL_LOADS, rounds=3))
    if full:  # three tables at a time: more has no room
        for three in ((CUCKOOPP, TIMERS, DPDK), (OPTIMISTIC, PESSIMISTIC, HORTON)):
            found.append(Job("lookups", "fig8", SIZES["128M"], three, misses=(0.0, 0.5, 1.0),
                             rounds=5, counts=False))
        found.append(Job("fills", "fig7", SIZES["128M"], (CUCKOOPP, OPTIMISTIC, DPDK),
                         loads=FILL_LOADS, rounds=1))
    return found


def analytic_rows(root):
    """Rows that no program measures: lines of code, and the cores that this machine has not."""
    rows = [row | {"experiment": "table1"} for row in beside(__file__, "line_counts").rows(root)]
    for cores in range(os.cpu_count() + 1, CORES_OF_PAPER + 1):
        rows.append({"experiment": "fig9", "kind": "measured", "contestant": CUCKOOPP,
                     "slots": SIZES["32M"], "load": 0.8, "core_count": cores,
                     "note": f"not run: the machine has {os.cpu_count()} cores, not {cores}"})
    return rows


def sections(record):
    parts = (("fig2", figure_2), ("fig3", figure_3), ("fig5", figure_5), ("fig7", figure_7),
             ("fig8", figure_8), ("fig9", figure_9), ("table1", table_1), ("fig5", table_2),
             ("table3", table_3))
    found = [make(record.select(experiment=name)) for name, make in parts
             if record.select(experiment=name).rows]
    return found + not_run_section(record)


def named(curves):
    return {PAPER_NAMES[name]: curve for name, curve in curves.items() if curve}


def load_curve(part, contestant, metric):
    return part.curve("load", contestant=contestant, metric=metric)


def figure_2(part):
    curves = {name: load_curve(part, name, "displaced_share")
              for name in ("roost_slots_1", "roost_slots_2", "roost_slots_4", CUCKOOPP)}
    eight, four = dict(curves[CUCKOOPP]), curves["roost_slots_4"]
    reached = {name: part.median(contestant=name, metric="load_reached") for name in curves}
    section = Section("Figure 2: share of entries in their secondary bucket, by load")
    section.plots.append(Plot(section.title, "load", "share", named(curves),
                              [(0.7, 0.06), (0.95, 0.16)]))
    section.tables.append(Table(
        ["slots a bucket", "load reached", "at 0.5", "at 0.7", "at 0.8", "at 0.95"],
        [[PAPER_NAMES[name] if name != CUCKOOPP else "8 slots", cell(reached[name], 3),
          *(cell(dict(curve).get(load), 4) for load in (0.5, 0.7, 0.8, 0.95))]
         for name, curve in curves.items()]))
    section.verdicts += [
        Verdict.of("CPP-F2", "8 slots: almost none at load 0.5", at_most(eight.get(0.5), 0.01, 1)),
        Verdict.of("CPP-F2", "8 slots: 6 % at load 0.7", figure(eight.get(0.7), 0.06, 0.15)),
        Verdict.of("CPP-F2", "8 slots: 16 % at load 0.95", figure(eight.get(0.95), 0.16, 0.15)),
        Verdict.of("CPP-F2", "8 slots: always less than 20 %, to load 0.95",
                   at_most(max((y for x, y in eight.items() if x <= 0.95), default=None), 0.2)),
        Verdict.of("CPP-F2", "4 slots: clearly more than 8 at every load",
                   rules.never_below([(x, y / 1.5) for x, y in four if x >= 0.3],
                                     curves[CUCKOOPP], 0)),
        Verdict.of("CPP-F2", "1 and 2 slots allow no high load",
                   all_of(one_slot=at_most(reached["roost_slots_1"], 0.6),
                          two_slots=at_most(reached["roost_slots_2"], 0.92)))]
    return section


def miss_curve(part, contestant, **where):
    return part.curve("miss_ratio", contestant=contestant, metric=records.LOOKUPS, **where)


def rate_table(part, header, x, **where):
    """A row a contestant, a column a place of the curve; structural counts beside the times."""
    names = [name for name in part.values("contestant") if name in PAPER_NAMES]
    points = sorted({value for value in part.measured().values(x) if value is not None})
    rows = []
    for name in names:
        rows.append([PAPER_NAMES[name],
                     *(cell(part.median(contestant=name, **{x: point}, **where))
                       for point in points),
                     *(cell(part.field(count, contestant=name, **{x: points[-1]}, **where), 3)
                       for count in ("lines_per_lookup", "secondary_visits_per_lookup",
                                     "kicks_per_insert"))])
    return Table([header, *(f"{point:g}" for point in points), "lines, at the last",
                  "second visits", "kicks"], rows)


def pages_note(part):
    return ([] if part.on_equal_huge_pages()
            else ["NO RATIO: not every contestant was on equal pages of 2 MiB or more"])


def judged(part, verdicts):
    """Verdicts about times count only on equal huge pages."""
    if part.on_equal_huge_pages():
        return verdicts
    why = "not on equal pages of 2 MiB or more"
    return [Verdict(verdict.source, verdict.claim, rules.NOT_RUN, why) for verdict in verdicts]


def figure_3(part):
    section = Section("Figure 3: batched lookups by share of negative ones, 32M",
                      pages_note(part.measured()))
    for load in part.measured().values("load"):
        mine = part.measured().select(load=load)
        curves = {name: miss_curve(mine, name) for name in (DPDK, PESSIMISTIC, OPTIMISTIC)}
        section.plots.append(Plot(f"Figure 3, load {load:g}", "negative share", "M lookups/s",
                                  named(curves)))
        section.tables.append(rate_table(mine, f"load {load:g}", "miss_ratio"))
        if load == 0.8:
            section.verdicts += judged(mine, [
                Verdict.of("CPP-F3", "optimistic wins on hits, pessimistic on misses, one crossing",
                           rules.crosses_once(curves[OPTIMISTIC], curves[PESSIMISTIC])),
                Verdict.of("CPP-F3", "pessimistic at DPDK's level or slightly above",
                           rules.never_below(curves[PESSIMISTIC], curves[DPDK]))])
    return section


def figure_5(part):
    section = Section("Figure 5: how many keys are away from a bucket")
    curves = {}
    for load in LOADS:
        points = [(moved, part.median(contestant=CUCKOOPP, load=load,
                                      metric=f"buckets_with_{moved}_moved"))
                  for moved in range(9)]
        curves[f"load {load:g}"] = [(x, y) for x, y in points if y is not None]
    section.plots.append(Plot(section.title, "moved count", "share of buckets", curves))
    section.tables.append(Table(["moved", *map(str, range(9))],
                                [[name, *(cell(y, 4) for _, y in curve)]
                                 for name, curve in curves.items()]))
    none = dict(curves["load 0.95"]).get(0)
    section.verdicts.append(Verdict.of("CPP-F5", "more than half of the buckets have none at 0.95",
                                       at_least(none, 0.5)))
    section.notes.append("How many depends on which entry an insertion moves: ours searches the "
                         "shortest chain of moves in breadth.")
    return section


def figure_7(part):
    section = Section("Figure 7: insertions a second up to a load", pages_note(part.measured()))
    for slots in part.measured().values("slots"):
        mine = part.measured().select(slots=slots)
        curves = {name: load_curve(mine, name, records.INSERTS) for name in (*OURS, DPDK)}
        name = size_name(slots)
        section.plots.append(Plot(f"Figure 7, {name}", "load", "M inserts/s", named(curves)))
        section.tables.append(rate_table(mine, name, "load"))
        close = {PAPER_NAMES[other].replace(" ", "_").replace("/", "").replace("+", "p"):
                 rules.never_below([(x, y / 0.75) for x, y in curves[other]], curves[OPTIMISTIC])
                 for other in (PESSIMISTIC, CUCKOOPP, TIMERS)}
        section.verdicts += judged(mine, [
            Verdict.of(f"CPP-F7, {name}", "Horton's rate falls with load",
                       rules.falls(curves[HORTON], 0.3)),
            Verdict.of(f"CPP-F7, {name}", "all others of ours within a quarter of optimistic",
                       all_of(**close)),
            Verdict.of(f"CPP-F7, {name}", "Cuckoo++ at DPDK's level or above",
                       rules.never_below(curves[CUCKOOPP], curves[DPDK]))])
    return section


def figure_8(part):
    section = Section("Figure 8: lookups by capacity, load and share of negative ones",
                      pages_note(part.measured()))
    section.notes.append("The paper's 37 and 60 million a second belong to its processor and are "
                         "no target here; ratios and shapes are.")
    for slots in part.measured().values("slots"):
        size = part.measured().select(slots=slots)
        name = size_name(slots)
        for load in size.values("load"):
            mine = size.select(load=load)
            curves = {other: miss_curve(mine, other) for other in (*OURS, DPDK)}
            section.plots.append(Plot(f"Figure 8, {name}, load {load:g}", "negative share",
                                      "M lookups/s", named(curves)))
            section.tables.append(rate_table(mine, f"{name}, load {load:g}", "miss_ratio"))
            section.verdicts += judged(mine, verdicts_of_place(
                f"CPP-F8, {name}, {load:g}", mine, curves))
        section.verdicts += judged(size, verdicts_of_size(f"CPP-F8, {name}", slots, size))
    section.verdicts += judged(part.measured(), [size_verdict(part.measured())])
    return section


def verdicts_of_place(source, part, curves):
    ours = curves[CUCKOOPP]
    yield Verdict.of(source, "never below optimistic, pessimistic, Horton and DPDK",
                     all_of(optimistic=rules.never_below(ours, curves[OPTIMISTIC]),
                            pessimistic=rules.never_below(ours, curves[PESSIMISTIC]),
                            Horton=rules.never_below(ours, curves[HORTON]),
                            DPDK=rules.never_below(ours, curves[DPDK])))
    ratio = part.ratio({"contestant": CUCKOOPP}, {"contestant": DPDK}, miss_ratio=1.0)
    yield Verdict.of(source, "half as fast again as DPDK on misses", at_least(ratio, 1.5, 0.1))
    cost = [(x, 1 - y / dict(ours)[x]) for x, y in curves[TIMERS] if x in dict(ours)]
    yield Verdict.of(source, "timers cost less than 5 %",
                     at_most(max((y for _, y in cost), default=None), 0.05, 1))


def verdicts_of_size(source, slots, size):
    u_shape = rules.has_minimum_inside(miss_curve(size.select(load=0.8), CUCKOOPP))
    if slots == SIZES["512K"]:
        yield Verdict.of(source, "U-shaped: slowest where half of the lookups hit", u_shape)
    else:
        yield Verdict.of(source, "no U-shape", rules.opposite(u_shape))
    yield Verdict.of(source, "the load matters little to Cuckoo++",
                     rules.stays(size.curve("load", contestant=CUCKOOPP, miss_ratio=0.5), 0.1))


def size_verdict(part):
    shares = [
        (miss, large / small) for miss in (0.0, 0.5, 1.0)
        for small, large in [[part.median(contestant=CUCKOOPP, load=0.8, miss_ratio=miss,
                                          slots=float(SIZES[name])) for name in ("32M", "128M")]]
        if small and large]
    finding = (at_least(min(share for _, share in shares), 0.9, 0.1) if shares
               else Finding(rules.NOT_RUN, "nothing was measured at both sizes"))
    return Verdict.of("CPP-F8", "128M about as fast as 32M", finding)


def figure_9(part):
    measured = part.measured()
    section = Section("Figure 9: private tables on several cores, 32M each, load 0.8, 20 % "
                      "negative", pages_note(measured))
    curves = {name: measured.curve("core_count", contestant=name)
              for name in (CUCKOOPP, OPTIMISTIC, DPDK)}
    section.plots.append(Plot("Figure 9", "cores", "M lookups/s", named(curves)))
    section.tables.append(rate_table(measured, "cores", "core_count"))
    cores = max(measured.values("core_count"), default=0)
    section.notes.append(f"The paper went to {CORES_OF_PAPER} threads on two sockets; this machine "
                         f"gives {cores:g}, and nothing is extrapolated.")
    scaled = measured.ratio({"core_count": cores}, {"core_count": 1.0}, contestant=CUCKOOPP)
    over = measured.ratio({"contestant": CUCKOOPP}, {"contestant": DPDK}, core_count=cores)
    section.verdicts += judged(measured, [
        Verdict.of("CPP-F9", f"{cores:g} cores: no more than as many times one core",
                   at_most(scaled, cores, 0.1)),
        Verdict.of("CPP-F9", f"45 % over DPDK, on {cores:g} cores",
                   at_least(over, 1.45, 0.1))])
    return section


def table_1(part):
    lines = {row["contestant"]: row["value"] for row in part.rows}
    section = Section("Table 1: lines of code")
    section.tables.append(Table(
        ["way of probing", "no timer", "timer", "paper", "paper, timer"],
        [[PAPER_NAMES[name], cell(lines.get(name), 0), cell(lines.get(f"{name}_timers"), 0), *paper]
         for name, paper in ((PESSIMISTIC, (850, 881)), (OPTIMISTIC, (871, 902)),
                             (HORTON, (954, 985)), (CUCKOOPP, (892, 923)))], "analytic"))
    if {PESSIMISTIC, OPTIMISTIC, HORTON, CUCKOOPP, TIMERS} <= lines.keys():
        base = lines[PESSIMISTIC]
        section.verdicts += [
            Verdict.of("CPP-T1", "Cuckoo++ adds 5 % to pessimistic",
                       at_most(lines[CUCKOOPP] / base - 1, 0.05, 1)),
            Verdict.of("CPP-T1", "Cuckoo++ adds 2 % to optimistic",
                       at_most(lines[CUCKOOPP] / lines[OPTIMISTIC] - 1, 0.025, 1)),
            Verdict.of("CPP-T1", "Horton adds more than twice as much",
                       at_least(lines[HORTON] - base, 2 * (lines[CUCKOOPP] - base))),
            Verdict.of("CPP-T1", "timers add less than 5 %",
                       at_most(lines[TIMERS] / lines[CUCKOOPP] - 1, 0.05, 1))]
    return section


def table_2(part):
    claimed = {CUCKOOPP: (0.0002, 0.001, 0.003), HORTON: (0.004, 0.02, 0.05)}
    section = Section("Table 2: how often the hint to look in a second bucket is wrong")
    rows = []
    for name, figures in claimed.items():
        found = [part.median(contestant=name, load=load, metric="filter_false_positive_rate")
                 for load in LOADS]
        rows.append([PAPER_NAMES[name], *(cell(rate, 5) for rate in found), *figures])
        # The paper gives one digit.
        section.verdicts.append(Verdict.of("CPP-T2", PAPER_NAMES[name], all_of(**{
            f"load_{load:g}": figure(rate, paper, 0.3)
            for load, rate, paper in zip(LOADS, found, figures)})))
    section.tables.append(Table(["", *(f"load {load:g}" for load in LOADS),
                                 *(f"paper, {load:g}" for load in LOADS)], rows))
    return section


def table_3(part):
    claimed = {CUCKOOPP: 48, TIMERS: 64, DPDK: 64}
    section = Section("Table 3: bytes a slot")
    found = {name: part.median(contestant=name, metric="bytes_per_slot") for name in claimed}
    section.tables.append(Table(["", "ours", "paper"],
                                [[PAPER_NAMES[name], cell(found[name]), claimed[name]]
                                 for name in claimed]))
    section.verdicts += [
        Verdict.of("CPP-T3", "Cuckoo++: 48", at_most(found[CUCKOOPP], 48)),
        Verdict.of("CPP-T3", "Cuckoo++ with timers: 64", at_most(found[TIMERS], 64)),
        Verdict.of("CPP-T3", "DPDK: 64", figure(found[DPDK], 64, 0.1))]
    section.notes.append("Ours keeps timers in the line that the paper pads, and DPDK's signatures "
                         "have become 16 bits wide since the paper.")
    return section
