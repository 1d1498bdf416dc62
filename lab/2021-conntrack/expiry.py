"""Finding connections that have expired: figure 5."""
from harness.beside import beside
from lb.cell_costs import HEADER, NS, SYNTHETIC, cell_rows, options_of
from lb.cell_jobs import RAW, SLOT_TIMERS, CellJob
from report.section import Section, Table, Verdict, cell

cells = beside(__file__, "cells")
LAZY, LAST_SEEN = f"{SLOT_TIMERS} lazy", f"{SLOT_TIMERS} last_seen"
FIG5 = {SLOT_TIMERS: "slot timers, ours", LAZY: "lazy, ours",
        f"{SLOT_TIMERS} none": "none, ours", "rte_hash none": "none, rte_hash",
        "rte_hash scan": "scan of records, rte_hash", "rte_hash wheel": "wheel, rte_hash"}
# Of each mechanism: against what, how much slower it may be, and the aim.
MUST_EXPIRY = {SLOT_TIMERS: (f"{SLOT_TIMERS} none", 0.05, 0.02),
               "rte_hash wheel": ("rte_hash none", 0.10, 0.05)}
MUST_P999 = (1.5, 1.2)  # of the wheel, over no expiry; and the aim
# Seconds of a tick: the wheel's buckets. The scan is the paper's.
PERIODS = (0.03, 0.1, 1)
SCAN = {"scan-share": 0.001, "scan-period": 0.001}
FIG5_PERIOD = {SLOT_TIMERS: "slot timers, ours", LAZY: "lazy, ours",
               "rte_hash wheel": "wheel, rte_hash", "rte_hash table_scan": "scan, rte_hash"}
FIG5_LAST_SEEN = {SLOT_TIMERS: "slot timers, ours", LAZY: "lazy, by expiration",
                  LAST_SEEN: "lazy, by last seen", "rte_hash wheel": "wheel, rte_hash"}
ONE_TIMEOUT = {"established": 10, "closed": 10}


def jobs(full):
    # Four million live; where none ends, all that begin have room.
    yield CellJob("fig5", 8_400_000, (RAW, *FIG5), windows=1, packets=1 << 20,
                  warm_up=80_000_000 if full else 1 << 23, rounds=40 if full else 10,
                  options=tuple(cells.steady(4_000_000, 20).items()))
    for period in PERIODS if full else PERIODS[:1]:
        steady = cells.steady(1_000_000, 20, tick=period, **SCAN)
        yield CellJob("fig5_period", 1_430_000, (RAW, *FIG5_PERIOD), windows=1, packets=1 << 20,
                      warm_up=(1 << 25) if full else 1 << 22, rounds=20 if full else 5,
                      options=tuple(steady.items()))
    one_timeout = cells.steady(1_000_000, 20) | ONE_TIMEOUT
    yield CellJob("fig5_last_seen", 4_200_000, (RAW, *FIG5_LAST_SEEN), windows=1, packets=1 << 20,
                  warm_up=(1 << 26) if full else 1 << 22, rounds=20 if full else 5,
                  options=tuple(one_timeout.items()))


def sections(record):
    fig5 = record.select(experiment="fig5")
    if fig5.measured().rows:
        yield fig5_section(fig5)
    last_seen = record.select(experiment="fig5_last_seen")
    if last_seen.measured().rows:
        yield last_seen_section(last_seen)
    period = record.select(experiment="fig5_period")
    if period.measured().rows:
        yield period_section(period)


def fig5_section(part):
    live, begin = (part.median(metric=f"connections_{metric}", contestant=SLOT_TIMERS)
                   for metric in ("live", "begin_a_second"))
    section = Section("Figure 5: what it costs to find connections that have expired", notes=[
        SYNTHETIC, f"{cell(live, 0)} connections are live at the end, {cell(begin, 0)} begin and "
        "end a second (of each worker)."])
    section.tables.append(Table(HEADER, list(cell_rows(part, FIG5, cells.PROFILES["campus-like"]))))
    if part.on_equal_huge_pages():
        section.verdicts += expiry_verdicts(part)
    return section


def last_seen_section(part):
    section = Section("Figure 5, lazy deletion by last seen", notes=[
        SYNTHETIC, "All connections have one timeout of 10 seconds, closed ones too: the paper's "
        "deleter knows no other. Each lookup writes the tick to the entry, once a tick at most."])
    section.tables.append(Table(HEADER, list(cell_rows(part, FIG5_LAST_SEEN,
                                                       cells.PROFILES["campus-like"]))))
    return section


def expiry_verdicts(part):
    source = "4M live, 200,000 begin and end a second"
    for contestant, (without, must, aim) in MUST_EXPIRY.items():
        slower = part.ratio({"contestant": contestant}, {"contestant": without}, metric=NS)
        if slower is None:
            continue
        yield Verdict(source, f"{FIG5[contestant]}: packets a second at most {must:.0%} fewer than "
                      f"without (aim {aim:.0%})", cells.reached(1 - 1 / slower <= must),
                      f"{1 - 1 / slower:.1%}")
    wheel, none = (part.median(metric="batch_ns_p999", contestant=f"rte_hash {expiry}")
                   for expiry in ("wheel", "none"))
    if wheel and none:
        must, aim = MUST_P999
        yield Verdict(source, f"p99.9 of a batch with the wheel at most {must} times that without "
                      f"expiry (aim {aim})", cells.reached(wheel / none <= must),
                      f"{wheel / none:.2f}")


def period_section(part):
    section = Section("Figure 5 by period, 1M live in tables of 1.43M places", notes=[
        SYNTHETIC, "The scan goes through the table in its own order, a thousandth of it at 1 kHz; "
        "the others see to what has expired when a tick begins. Lost, emulated: of packets that "
        "come at 70 % of what the fastest takes, what a ring of 1,024 has no room for."])
    rows, figures = [], {}
    for job in part.measured().values("job"):
        mine = part.select(job=job)
        period = float(options_of(job)["tick"])
        for contestant, name in FIG5_PERIOD.items():
            def figure(metric, contestant=contestant, mine=mine):
                return mine.median(metric=metric, contestant=contestant)

            lost, looks = figure("lost_share_emulated"), figure("looks_per_batch")
            figures[period, contestant] = (figure(NS), looks, lost)
            rows.append([f"{period:g} s", name, cell(figure(NS)),
                         *(cell(figure(f"batch_ns_{one}"), 0) for one in ("p50", "p99", "p999")),
                         cell(looks, 1), cell(None if lost is None else lost * 100, 2, " %")])
    section.tables.append(Table(["tick", "", "ns a packet", "batch p50", "p99", "p99.9",
                                 "records looked at a batch", "lost, emulated"], rows))
    section.verdicts += period_verdicts(figures)
    return section


def period_verdicts(figures):
    often = min(period for period, _ in figures)
    wheel, lazy, scan = (figures[often, name] for name in ("rte_hash wheel", LAZY,
                                                           "rte_hash table_scan"))
    if None in (wheel[1], scan[1], scan[2], lazy[2]):
        return
    times = scan[1] / max(wheel[1], 1e-9)
    yield Verdict("CT-F5", "a scan touches ten times the records that a wheel does",
                  "REPRODUCED" if times >= 10 else "NOT", f"{times:.1f} times, {often:g} s")
    yield Verdict("CT-F5", "a scan of a thousandth at 1 kHz loses packets",
                  "REPRODUCED" if scan[2] > lazy[2] and scan[2] > 1e-4 else "NOT",
                  f"{scan[2]:.2%}, emulated; lazy {lazy[2]:.2%}")
    rare = max(period for period, _ in figures)
    if rare != often:
        lost = [figures[period, "rte_hash wheel"][2] for period in (often, rare)]
        yield Verdict("CT-F5", "a wheel with long buckets is worse than one with short ones",
                      "REPRODUCED" if lost[1] > lost[0] else "NOT",
                      f"lost, emulated: {lost[0]:.3%} at {often:g} s, {lost[1]:.3%} at {rare:g} s")
