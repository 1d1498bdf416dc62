"""The paper's table 2 and figures 8, 9 and 10, and how fast our switch is beside raw I/O."""
import statistics

from report.rules import at_least, at_most, figure
from report.section import Plot, Section, Table, Verdict, cell, size_name

NS = "ns_per_packet"
MUST_NS, AIM_NS, MUST_NS_ZIPF = 70, 45, 55  # a packet beyond raw I/O, at 2M stations
MUST_OF_RTE_HASH = 0.6
MUST_TWO_WORKERS = 1.8
TURN_US_MAX = 50
TURN_P9999 = "turn_ns_p9999"
TURN_FIGURES = ("turn_ns_p50", "turn_ns_p99", "turn_ns_p999", TURN_P9999, "turn_ns_max")
NOTHING = "beside nothing"
NOT_COMPARABLE = ("Ports have their frames in memory and drop what is sent: what PCIe and wires "
                  "limited in the paper limits nothing here, and is not comparable.")


def sections(record, jobs):
    parts = (("table2", table_2), ("switch", cost), ("workers", workers), ("fig8", figure_8),
             ("fig9", figure_9), ("fig10", figure_10))
    for name, make in parts:
        part = record.select(experiment=name, metric=NS).measured()
        if part.rows:
            yield make(part, jobs)
    part = record.select(experiment="stalls").measured()
    if part.rows:
        yield stalls(part)


def own_ns(part, contestant, raw):
    """Beyond raw I/O, by round."""
    whole, bare = part.by_round(contestant=contestant), part.by_round(contestant=raw)
    return [whole[key] - bare[key] for key in whole if key in bare]


def of_rte_hash(part, jobs):
    """What ours takes beyond raw I/O, of what the same switch on rte_hash does, by round."""
    ours, theirs = (own_ns(part, name, jobs.RAW) for name in (jobs.OURS, jobs.ON_RTE_HASH))
    return [a / b for a, b in zip(ours, theirs)]


def spread(values):
    return f"{min(values):.1f} to {max(values):.1f}" if values else "-"


def millions(nanoseconds):
    return 1e3 / nanoseconds if nanoseconds else None


def bytes_of(note):
    """Of a frame, from what a row says of its buffers."""
    return int(note.split("a ")[-1].split("-byte")[0])


def table_2(part, jobs):
    rows = []
    for note in part.values("note"):
        ns = part.median(note=note, contestant=jobs.RAW)
        size = bytes_of(note) + 4
        rows.append([size, cell(millions(ns)), cell(8 * (size + 20) / ns)])
    return Section("Table 2: raw I/O by frame size", notes=[NOT_COMPARABLE], tables=[
        Table(["bytes a frame", "M packets/s", "as Gbit/s on a wire"], rows)])


def cost(part, jobs):
    section = Section("What a packet costs a switch beyond raw I/O, one worker", notes=[
        "Two ports; each frame is from a station at one to a station at the other. "
        + NOT_COMPARABLE])
    rows = []
    for slots in part.values("slots"):
        for workload in part.select(slots=slots).values("workload"):
            mine = part.select(slots=slots, workload=workload)
            rows += cost_rows(mine, slots, workload, jobs)
            if mine.on_equal_huge_pages():
                section.verdicts += cost_verdicts(mine, slots, workload, jobs)
    section.tables.append(Table(
        ["stations", "workload", "", "ns a packet", "beyond raw I/O", "least to greatest",
         "table bytes a station"], rows))
    return section


def cost_rows(part, slots, workload, jobs):
    for contestant, name in ((jobs.RAW, "raw I/O"), (jobs.OURS, "switch"),
                             (jobs.ON_RTE_HASH, "switch on rte_hash")):
        ns = part.median(contestant=contestant)
        if ns is None:
            continue
        own = own_ns(part, contestant, jobs.RAW) if contestant != jobs.RAW else []
        table = part.field("table_bytes", contestant=contestant)
        yield [size_name(slots), workload, name, cell(ns),
               cell(statistics.median(own) if own else None), spread(own),
               cell(table / slots if own and table else None)]


def cost_verdicts(part, slots, workload, jobs):
    ours = own_ns(part, jobs.OURS, jobs.RAW)
    ratios = of_rte_hash(part, jobs)
    source = f"{size_name(slots)} stations, {workload}"
    if slots == jobs.SIZES["2M"]:
        must = MUST_NS if workload == "uniform" else MUST_NS_ZIPF
        yield Verdict.of(source, f"at most {must} ns a packet beyond raw I/O (aim {AIM_NS})",
                         at_most(statistics.median(ours), must, 0))
    if ratios:
        yield Verdict.of(source, f"at most {MUST_OF_RTE_HASH} of the same switch on rte_hash",
                         at_most(statistics.median(ratios), MUST_OF_RTE_HASH, 0))


def gains_of_workers(part, contestant):
    """Packets of two workers, of those of one, round by round."""
    one, two = (part.by_round(contestant=contestant, form=form)
                for form in ("1 worker", "2 workers"))
    return [one[key] / two[key] for key in one if key in two]


def workers(part, jobs):
    section = Section("Two workers of a switch share its database")
    rows = []
    for contestant, name in ((jobs.RAW, "raw I/O"), (jobs.OURS, "switch")):
        gains = gains_of_workers(part, contestant)
        both = (part.median(contestant=contestant, form=form) for form in ("1 worker", "2 workers"))
        rows.append([name, *map(cell, both), cell(statistics.median(gains), 2),
                     f"{min(gains):.2f} to {max(gains):.2f}"])
        if contestant == jobs.OURS and part.on_equal_huge_pages():
            section.verdicts.append(Verdict.of(
                "two workers", f"move {MUST_TWO_WORKERS} times the packets of one",
                at_least(statistics.median(gains), MUST_TWO_WORKERS, 0)))
    section.tables.append(Table(["", "ns a packet, one", "two", "gain", "least to greatest"], rows))
    return section


def rates(part, names):
    """By name: M packets/s by stations."""
    found = {}
    for said, contestant in names:
        points = [(slots, millions(part.median(slots=slots, contestant=contestant)))
                  for slots in part.values("slots")]
        points = [(slots, rate) for slots, rate in points if rate]
        if points:
            found[said] = points
    return found


def rate_section(title, part, names):
    curves = rates(part, names)
    sizes = part.values("slots")
    return Section(title, notes=[NOT_COMPARABLE], plots=[
        Plot(title, "stations", "M packets/s", curves)], tables=[
        Table(["M packets/s", *map(size_name, sizes)],
              [[said, *(cell(dict(curve).get(slots)) for slots in sizes)]
               for said, curve in curves.items()])])


def gain(part, slots, above, below):
    upper, lower = (part.median(slots=slots, contestant=name) for name in (above, below))
    return lower / upper if upper and lower else None


def figure_8(part, jobs):
    section = rate_section("Figure 8: packets by the ladder's rungs", part,
                           (("raw I/O", jobs.RAW), *jobs.LADDER))
    for slots in part.values("slots"):
        source = f"CSW-F8, {size_name(slots)}"
        section.verdicts += [
            Verdict.of(source, "the whole ladder: about twice the packets",
                       figure(gain(part, slots, jobs.PUBLISHED, "switch_on_baseline"), 2.0, 0.25)),
            Verdict.of(source, "ours above the published one",
                       at_least(gain(part, slots, jobs.OURS, jobs.PUBLISHED), 1.0))]
    return section


def figure_9(part, jobs):
    section = rate_section("Figure 9: packets on other tables", part, (
        ("raw I/O", jobs.RAW), ("ours", jobs.OURS), ("CuckooSwitch", jobs.PUBLISHED),
        ("dense, a burst at a time", jobs.DENSE), ("dense, frame by frame", jobs.DENSE_PLAIN)))
    for slots in part.values("slots"):
        section.verdicts += [
            Verdict.of(f"CSW-F9, {size_name(slots)}", claim,
                       at_least(gain(part, slots, above, below), 1.0))
            for claim, above, below in (
                ("above dense, asked frame by frame", jobs.PUBLISHED, jobs.DENSE_PLAIN),
                ("above dense, asked a burst at a time", jobs.PUBLISHED, jobs.DENSE),
                ("dense gains by bursts", jobs.DENSE, jobs.DENSE_PLAIN))]
    return section


def updates_of(workload):
    """Changes a second, from a workload's name."""
    return int(workload.split(" beside ")[1].split()[0]) if "updates" in workload else 0


def figure_10(part, jobs):
    section = Section("Figure 10: packets beside a thread that changes the database, 2M stations",
                      notes=[NOT_COMPARABLE, "One core forwards, the other one writes."])
    workloads = sorted(part.values("workload"), key=updates_of)
    curves, kept = {}, {}
    for name, contestant in (("ours", jobs.OURS), ("CuckooSwitch", jobs.PUBLISHED)):
        curves[name] = [(updates_of(workload) / 1e3,
                         millions(part.median(workload=workload, contestant=contestant)))
                        for workload in workloads]
        kept[name] = {updates * 1e3: rate / curves[name][0][1] for updates, rate in curves[name]}
    section.plots.append(Plot(section.title, "thousand updates/s", "M packets/s", curves))
    section.tables.append(Table(
        ["M packets/s", *(f"{updates_of(workload):,}/s" for workload in workloads)],
        [[name, *(cell(rate) for _, rate in curve)] for name, curve in curves.items()]))
    for name, shares in kept.items():
        section.verdicts += [
            Verdict.of(f"CSW-F10, {name}", claim, at_least(shares[updates], least))
            for updates, claim, least in (
                (64_000, "64,000 updates/s are nearly free", 0.95),
                (500_000, "500,000 updates/s cost at most a quarter", 0.75))
            if updates in shares]
    return section


def stalls(part):
    section = Section(
        "A worker's turns while the control thread works on the whole database, 2M stations",
        notes=["A turn is a batch of 32 frames from port to port, with all that is done beside it. "
               "The control thread has the other core. Beside nothing stands what the machine does "
               "to a worker by itself."])
    rows = []
    for workload in part.values("workload"):
        mine = part.select(workload=workload)
        micros = [mine.median(metric=metric) / 1e3 for metric in TURN_FIGURES]
        counts = mine.select(metric="turns_over_50us").rows
        over, turns = (sum(row[field] for row in counts) for field in ("value", "operations"))
        rows.append([workload, *map(cell, micros),
                     f"{over:,.0f} of {turns:,.0f}"])
        undisturbed = part.median(workload=NOTHING, metric=TURN_P9999) / 1e3
        if workload != NOTHING and mine.on_equal_huge_pages():
            section.verdicts.append(Verdict.of(
                f"stalls, {workload}", "99.99 of 100 turns take at most 1.1 times what they do "
                f"{NOTHING}, or {TURN_US_MAX} us",
                at_most(micros[TURN_FIGURES.index(TURN_P9999)],
                        max(1.1 * undisturbed, TURN_US_MAX), 0)))
    section.tables.append(Table(
        ["", "p50 us", "p99", "p99.9", "p99.99", "longest", f"over {TURN_US_MAX} us"], rows))
    return section
