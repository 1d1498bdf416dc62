"""Figure 14 of the Parrot paper: packets forwarded by the value that a table has for them.

The paper plays 10K packets of keys that are drawn from 64M, so that a cache holds what is asked of
any table (X-114); here packets of keys from all over a table are played too. It has up to 20 cores,
here is one.
"""
import statistics

from harness.beside import beside
from lb.packet_costs import NS, own_ns
from report.rules import all_of, at_least, multiple
from report.section import Section, Table, Verdict, cell

judging = beside(__file__, "judging")
jobs_of = judging.jobs_of
PARROT, LUDO, LMH, CUCKOO = jobs_of.PARROT, jobs_of.LUDO, jobs_of.LMH, jobs_of.CUCKOO
FIRST = (PARROT, jobs_of.LINE_MAP)  # what others are held against
NO_TABLE = "raw_io_parse"
SAID = judging.SAID | {jobs_of.PACKED: "our packed table", jobs_of.RTE_HASH: "rte_hash",
                       "raw_io": "raw I/O", NO_TABLE: "raw I/O, key and port by arithmetic"}
EXPERIMENT = "f14"
HOT = f"{jobs_of.HOT_PACKETS} packets"
# Times Parrot's rate is another's; of WIKI, drawn evenly, that is all the text has.
CLAIMED = {CUCKOO: 1.08, LUDO: 1.21, LMH: 1.76}
SLACK = 0.05


def figure_14(part):
    times = part.select(metric=NS)
    count = part.field("entries")
    section = Section(f"Figure 14: forwarding, {count / 1e6:g}M keys", notes=[
        *judging.stand_in_notes(part),
        "Synthetic frames, one worker, one core. The device (net_pcap, infinite_rx) copies them "
        "from its buffers and drops what is sent. 48-bit keys are the destination's MAC address; "
        "64-bit ones that and the first two bytes of the source's. A value is a next hop; which "
        "port it leaves by was checked of every frame before anything was timed.",
        "With 10K packets, as in the paper, caches hold what is asked of any table (X-114); the "
        "others are as many as buffers find room, drawn evenly from all keys. A table's head says "
        "how many different keys the packets have. Our packed table and rte_hash are in a process "
        "of their own, beside the line map."])
    for keys, form in workloads(times):
        section.tables.append(rates(part.select(workload=keys, form=form), f"{keys}, {form}"))
    section.verdicts += judging.judged_times(times, list(verdicts(times)))
    return section


def workloads(times):
    return [(keys, form) for keys in times.values("workload")
            for form in times.select(workload=keys).values("form")]


def rates(part, said):
    """Of packets of one kind."""
    times = part.select(metric=NS)
    different = part.median(metric="different_keys")
    rows = []
    for name in times.values("contestant"):
        took = times.median(contestant=name)
        own = [] if name.startswith("raw_io") else list(own_ns(times, name, EXPERIMENT).values())
        rows.append([SAID[name], cell(1e3 / took, 2), cell(took),
                     cell(statistics.median(own) if own else None),
                     *(cell(rate_over(times, first, name), 2) for first in FIRST)])
    head = f"{said} of {cell(different, 0)} keys"
    return Table([head, "M packets/s", "ns a packet", "beyond I/O and parsing",
                  *(f"{SAID[first]}'s rate over it" for first in FIRST)], rows)


def rate_over(times, name, other):
    """How many times another's rate a contestant's is, round by round."""
    return times.ratio({"contestant": other}, {"contestant": name})


def above_all(times, name, others):
    ratios = {other: rate_over(times, name, other) for other in others}
    return all_of(**{other: above(ratio) for other, ratio in ratios.items()})


def above(ratio):
    return judging.or_not(ratio, lambda: at_least(ratio, 1.0, SLACK))


def verdicts(times):
    for keys, form in workloads(times):
        yield Verdict.of("PAR-F14" if form == HOT else "X-114",
                         f"{keys}, {form}: Parrot forwards most", above_all(
                             times.select(workload=keys, form=form), PARROT, jobs_of.PAPER_PEERS))
    wiki = times.select(workload=judging.workload("WIKI"))
    hot = wiki.select(form=HOT)
    for name, claimed in CLAIMED.items():
        yield Verdict.of("PAR-F14", f"WIKI, evenly: {claimed:g} times {SAID[name]}",
                         multiple(rate_over(hot, PARROT, name), claimed, judging.WITHIN))
    order = list(CLAIMED)
    yield Verdict.of("PAR-F14", "WIKI, evenly: cuckoo, Ludo, LMH behind it in this order", all_of(
        **{f"{first}_{then}": above(rate_over(hot, first, then))
           for first, then in zip(order, order[1:])}))
    # Of two processes: each beside the same packets without a table.
    mac = times.select(workload=judging.workload("MAC"), form=HOT)
    fall = judging.quotient(*(rate_over(part, NO_TABLE, LMH) for part in (mac, hot)))
    yield Verdict.of("PAR-F14", "LMH forwards less of MAC than of WIKI",
                     judging.or_not(fall, lambda: at_least(fall, 1.0, 0)))
    whole = wiki.select(form=next((form for form in wiki.values("form") if form != HOT), None))
    yield Verdict.of("X-114", "LMH is second where all keys come (figure 8), last where 10K do",
                     all_of(all=above_all(whole, LMH, (CUCKOO, LUDO)),
                            hot=all_of(**{name: above(rate_over(hot, name, LMH))
                                          for name in (PARROT, CUCKOO, LUDO)})))


def sections(record):
    part = record.select(experiment=EXPERIMENT).measured()
    return [figure_14(part)] if part.rows else []
