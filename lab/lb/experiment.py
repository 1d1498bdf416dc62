"""the load balancer from port to port on our tables and on rte_hash, and a soak

Parts, for --only: raw (testpmd), packets, zipf, churn, new (connections), workers, soak.
"""
import statistics

from lb import cell_costs, nat_point, readme_packets
from lb.cell_jobs import SLOT_TIMERS
from lb.jobs import BALANCER, ON_RTE_HASH, RAW, RTE_HASH_CELL, SIZES, TESTPMD, jobs
from lb.packet_costs import NS, own_ns, ratios_over_rte_hash
from report.section import Section, Table, Verdict, cell, not_run_section, size_name

__all__ = ["jobs", "readme_block", "readme_files", "sections"]

MUST_OVER_RTE_HASH = {SIZES["4M"]: 1.9, SIZES["16M"]: 1.9}
MUST_NS, AIM_NS = 50, 40  # of the balancer without I/O and parsing, at 4M
MUST_TWO_WORKERS = 1.8
MUST_OTHER_TRAFFIC, MUST_NEW = 1.4, 1.3
FRAME_BYTES = 64
SOAK_WITHIN = 0.10
NEW_SWEEP_ROUNDS = 8
NAMES = {TESTPMD: "dpdk-testpmd, io", RAW[0]: "raw I/O", RAW[1]: "raw I/O and parsing",
         BALANCER: "balancer", ON_RTE_HASH: "balancer on rte_hash"}


def sections(record):
    found = []
    packets = record.select(metric=NS)
    for slots in packets.values("slots"):
        if packets.select(slots=slots, experiment="packets").measured().rows:
            found.append(packet_section(packets.select(slots=slots), slots))
    skewed = record.select(experiment="zipf", metric=NS)
    if skewed.measured().rows:
        found.append(skewed_section(skewed))
    for name, section in (("churn", churn_section), ("new", new_section)):
        part = record.select(experiment=name)
        if part.measured().rows:
            found.append(section(part))
    workers = record.select(experiment="workers", metric=NS)
    if workers.measured().rows:
        found.append(worker_section(workers))
    soak = record.select(experiment="soak")
    if soak.measured().rows:
        found.append(soak_section(soak))
    return found + not_run_section(record)


def spread(values):
    return f"{min(values):.1f} to {max(values):.1f}" if values else "-"


def packet_section(part, slots):
    section = Section(f"packets, {size_name(slots)} live flows, one worker", notes=[
        f"Each packet is of another flow: {note_of(part)}. The device (net_pcap, infinite_rx) "
        "copies them from its buffers and drops what is sent."])
    rows = []
    for contestant, name in NAMES.items():
        mine = part.select(contestant=contestant, form="1 worker")
        mine = mine.select(experiment="raw" if contestant == TESTPMD else "packets").measured()
        if not mine.rows:
            continue
        values = [row["value"] for row in mine.rows]
        own = own_ns(part, contestant) if contestant in (BALANCER, ON_RTE_HASH) else {}
        table_bytes = mine.rows[0].get("table_bytes")
        rows.append([name, cell(statistics.median(values)), spread(values),
                     cell(statistics.median(own.values()) if own else None), spread(own.values()),
                     cell(table_bytes / slots if table_bytes else None, 0)])
    section.tables.append(Table(["", "ns a packet", "least to greatest",
                                 "beyond raw I/O and parsing", "least to greatest",
                                 "table bytes a flow"], rows))
    ratios = ratios_over_rte_hash(part)
    if ratios and part.select(experiment="packets").on_equal_huge_pages():
        section.verdicts += packet_verdicts(slots, ratios, own_ns(part, BALANCER))
    return section


def note_of(part):
    return part.select(experiment="packets").measured().rows[0]["note"]


def packet_verdicts(slots, ratios, ours):
    must = MUST_OVER_RTE_HASH.get(int(slots))
    ratio = statistics.median(ratios)
    if must:
        word = "must reached" if ratio >= must else "MISSED"
        yield Verdict(f"{size_name(slots)} flows", f"beyond raw I/O and parsing, rte_hash takes at "
                      f"least {must} times ours", word,
                      f"{ratio:.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
                      + ("" if ratio >= must else f", {ratio / must - 1:+.1%}"))
    if int(slots) == SIZES["4M"]:
        own = statistics.median(ours.values())
        yield Verdict(f"{size_name(slots)} flows", f"a packet beyond raw I/O and parsing: at most "
                      f"{MUST_NS} ns (aim {AIM_NS})",
                      "must reached" if own <= MUST_NS else "MISSED", f"{own:.1f} ns")


def judged(part, subject, claim, found, must):
    """What is at least the must, if pages are equal."""
    if not found or not part.on_equal_huge_pages():
        return []
    ratio = statistics.median(found)
    return [Verdict(subject, claim, "must reached" if ratio >= must else "MISSED",
                    f"{ratio:.2f} ({min(found):.2f} to {max(found):.2f})")]


def skewed_section(part):
    section = Section("packets of flows by Zipf 0.99, 4M live flows, one worker")
    part = part.select(form="1 worker")
    own = {name: own_ns(part, name, "zipf") for name in (BALANCER, ON_RTE_HASH)}
    section.tables.append(Table(
        ["", "ns a packet", "beyond raw I/O and parsing", "least to greatest"],
        [[NAMES[name], cell(part.median(contestant=name)),
          cell(statistics.median(own[name].values()) if name in own else None),
          spread(list(own.get(name, {}).values()))]
         for name in (*RAW, BALANCER, ON_RTE_HASH)]))
    section.verdicts += judged(part, "Zipf 0.99", "beyond raw I/O and parsing, rte_hash takes at "
                               f"least {MUST_OTHER_TRAFFIC} times ours",
                               ratios_over_rte_hash(part, "zipf"), MUST_OTHER_TRAFFIC)
    return section


CELL_NAMES = {SLOT_TIMERS: "balancer", RTE_HASH_CELL: "balancer on rte_hash"}


def cells_section(part, title):
    section = Section(title, notes=[cell_costs.SYNTHETIC])
    section.tables.append(Table(cell_costs.HEADER,
                                list(cell_costs.cell_rows(part, CELL_NAMES, FRAME_BYTES))))
    return section


def churn_section(part):
    section = cells_section(part, "one packet in 20 of a new connection")
    section.verdicts += judged(part, "churn", f"beyond parsing, rte_hash takes at least "
                               f"{MUST_OTHER_TRAFFIC} times ours",
                               cell_costs.ratios(part, RTE_HASH_CELL, SLOT_TIMERS),
                               MUST_OTHER_TRAFFIC)
    return section


def new_section(part):
    section = cells_section(part, "every packet of a new connection")
    section.notes.append(
        "Connections expire in waves, of which rte_hash's table is swept: about "
        f"{NEW_SWEEP_ROUNDS} rounds from wave to wave, half of them twice as slow as the others. "
        f"So the verdict compares times of {NEW_SWEEP_ROUNDS} rounds together, not round by round.")
    theirs, ours = (in_turns(part.by_round(metric=NS, contestant=name), NEW_SWEEP_ROUNDS)
                    for name in (RTE_HASH_CELL, SLOT_TIMERS))
    section.verdicts += judged(part, "new connections", f"a second, at least {MUST_NEW} times "
                               "those on rte_hash",
                               [theirs[key] / ours[key] for key in ours if key in theirs],
                               MUST_NEW)
    return section


def in_turns(by_round, count):
    """The mean of each `count` rounds in a row; those that are too few in the end are left out,
    unless there are no others."""
    values = [by_round[number] for number in sorted(by_round)]
    whole = len(values) - len(values) % count or len(values)
    return {first: statistics.mean(values[first:first + count])
            for first in range(0, whole, count)}


def worker_section(part):
    section = Section("two workers", notes=[
        "Each worker has a queue with the flows that it owns and a table for them, so that nothing "
        "is handed off; one worker, then both, in each round. Nobody asks the control plane "
        "anything."])
    rows = []
    for contestant in (*RAW, BALANCER):
        one = part.by_round(contestant=contestant, form="1 worker")
        two = part.by_round(contestant=contestant, form="2 workers")
        gains = [one[key] / two[key] for key in one if key in two]
        if not gains:
            continue
        rows.append([NAMES[contestant], cell(statistics.median(one.values())),
                     cell(statistics.median(two.values())), cell(statistics.median(gains), 2),
                     f"{min(gains):.2f} to {max(gains):.2f}"])
        if contestant == BALANCER and part.on_equal_huge_pages():
            gain = statistics.median(gains)
            raw = float(rows[0][3])
            word = "must reached" if gain >= MUST_TWO_WORKERS else "MISSED"
            section.verdicts.append(Verdict(
                "two workers", f"move {MUST_TWO_WORKERS} times the packets of one", word,
                f"{gain:.2f}; raw I/O, which shares nothing, {raw:.2f}"))
    section.tables.append(Table(["", "ns a packet, one", "two", "gain", "least to greatest"],
                                rows))
    return section


def soak_section(part):
    section = Section("soak", notes=[
        "Packets are synthetic (roost/traffic), frames come from memory and time is the traffic's "
        "own; see lab/lb/soak_job.h. That every count, index and byte was right at the end is a "
        "condition for the rows to exist."])
    phases = []
    for phase in ("before", "flood", "after"):
        mine = part.select(form=phase)
        figures = [mine.median(metric=f"batch_ns_{name}") for name in ("p50", "p99", "p999")]
        loads = [mine.median(metric=f"load_{end}") for end in ("min", "max")]
        batches = mine.field("operations", metric="batch_ns_p50")
        phases.append([phase, cell(batches, 0), *(cell(figure, 0) for figure in figures),
                       f"{cell(loads[0], 3)} to {cell(loads[1], 3)}"])
    section.tables.append(Table(["phase", "batches", "p50 ns", "p99 ns", "p99.9 ns", "load"],
                                phases))
    whole = part.select(form="whole run")
    section.tables.append(Table(["counted", "number"], [
        [metric.replace("_", " "), f"{whole.median(metric=metric):.0f}"]
        for metric in whole.values("metric")]))
    if part.on_equal_huge_pages():
        before, after = (part.select(form=phase).median(metric="batch_ns_p999")
                         for phase in ("before", "after"))
        change = after / before - 1
        section.verdicts.append(Verdict(
            "soak", f"p99.9 of a batch after the flood is that before, within {SOAK_WITHIN:.0%}",
            "must reached" if abs(change) <= SOAK_WITHIN else "MISSED", f"{change:+.1%}"))
    return section


BLOCKS = {"packets": readme_packets.block, "nat": nat_point.block}


def readme_block(record, name):
    if name not in BLOCKS:
        raise ValueError(f"experiment lb has no block {name}")
    return BLOCKS[name](record)


def readme_files(record, name):
    return {nat_point.FILE: nat_point.header(record)} if name == "nat" else {}
