"""HALO: classification beside Open vSwitch, tables of functions in batches, lookups simulated

Parts, for --only: ovs, fig3, fig13, host, instructions; simulated: fig4, fig8b, fig9, fig10,
fig11, fig12, budget, sharing, misses, fig13_accelerator, table2.
"""
import statistics

from harness.beside import beside
from report import rules
from report.rules import NOT_RUN
from report.section import (Section, Table, Verdict, cell, markdown_table,
                            not_run_section)

jobs_of = beside(__file__, "jobs")
cases = jobs_of.cases
# What has jobs and sections of its own.
tuples, single_tables, host, instruction_mix, flow_register, fig4, neighbours = SIMULATOR = tuple(
    beside(__file__, name) for name in
    ("tuples", "single_tables", "host", "instruction_mix", "flow_register", "fig4",
     "neighbours"))
speed_ups = beside(__file__, "speed_ups")

SOURCE = "classification beside Open vSwitch"
FIG3_SOURCE = "HALO-F3"
# Claimed: 340 to 993 cycles, of which classification takes 30.9 % to 77.8 %.
FIG3_GROWTH = 993 / 340
FIG3_SHARES = (0.309, 0.778)
FIG3_NAMES = {"ovs_emc": "Open vSwitch, exact-match cache on",
              "ovs_off": "Open vSwitch, caches off", "roost": "roost classify"}
# Claimed: so many times as fast as software that asks for one key a call, by an accelerator.
FIG13_SPEED_UP = (2.3, 2.7)
FIG13_NAMES = {"nat": "NAT", "assets": "asset detection", "filter": "packet filter"}
FIG13_NOTES = [
    "By software alone: what calls of 32 keys gain over calls of one, beside what the paper "
    "reports of an accelerator over those. Nothing here is an accelerator.",
    "Synthetic frames of 60 bytes in memory, one core, pages of 2 MiB; each is copied into a "
    "buffer, parsed, asked for by the key of the real function (a NAT's connection of 16 bytes, "
    "an observer's host of 26, a rule's address of 8), and acted upon: source and checksums "
    "rewritten, the host's time written, the verdict counted. Half of a filter's packets have no "
    "rule. Ports and rings are not in it, which a packet pays too and which make every ratio "
    "smaller."]
NOTES = ["Synthetic packets of 60 bytes from memory (net_pcap, infinite_rx) to a port that takes "
         "them at once (net_null), one core, pages of 2 MiB for all, one program at a time, in "
         "turns. Cycles are those of the time stamp counter: of Open vSwitch's `pmd-stats-show`, "
         "of all stages of `roost classify`, and of dpdk-testpmd, which only moves packets and is "
         "taken off both.",
         "Debian's Open vSwitch is compiled for every x86-64 and looks subtables up in scalar "
         "code; one that is compiled for AVX-512 and told so is faster. A run fails where its "
         "counters show upcalls, other subtables, or hits of a cache that should be off."]


def jobs(size, available):
    return [*jobs_of.jobs(size, available),
            *(job for part in SIMULATOR for job in part.jobs(size))]


def sections(record):
    found = []
    part = record.select(experiment="ovs")
    if part.rows:
        found.append(ovs_section(part))
    part = record.select(experiment="fig3")
    if part.rows:
        found.append(fig3_section(part))
    part = record.select(experiment="fig13", metric="ns_per_packet")
    if part.rows:
        found.append(fig13_section(part))
    return [*found, *(one for part in SIMULATOR for one in part.sections(record)),
            *not_run_section(record)]


def beyond(part, contestant):
    """By round, cycles a packet less those of moving it."""
    raw = part.by_round(contestant="raw", metric="cycles")
    own = part.by_round(contestant=contestant, metric="cycles")
    return {number: own[number] - raw[number] for number in own if number in raw}


def best_of(part, case):
    """The cache with which Open vSwitch takes fewest cycles, and its cycles by round."""
    by_cache = {cache: beyond(part, f"ovs_{cache}") for cache in case.caches}
    cache = min(case.caches, key=lambda one: statistics.median(by_cache[one].values()))
    return cache, by_cache[cache]


def ovs_section(part):
    section = Section("Classification beside Open vSwitch", notes=NOTES)
    rows = []
    for name, case in cases.ALL_CASES.items():
        mine = part.select(workload=name)
        if not mine.rows:
            continue
        cache, theirs = best_of(mine, case)
        ours = beyond(mine, "roost")
        ratios = [ours[number] / theirs[number] for number in ours if theirs.get(number, 0) > 0]
        section.verdicts += verdicts(case, name, ratios)
        if not ratios:
            continue
        rows.append([case.said(), cell(statistics.median(ours.values()), 0),
                     f"{cell(statistics.median(theirs.values()), 0)} ({cache})",
                     f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
                     cell(mine.median(contestant="roost", metric="lookups"), 2),
                     cell(mine.median(contestant=f"ovs_{cache}", metric="lookups"), 2),
                     cell(mine.median(contestant="raw", metric="cycles"), 0)])
    if rows:
        section.tables.append(Table(
            ["", "cycles", "Open vSwitch's (cache)", "share of them", "lookups a packet",
             "Open vSwitch's a hit", "moving a packet"], rows))
    return section


def verdicts(case, name, ratios):
    if name == cases.TINY:
        yield Verdict(SOURCE, case.said(), NOT_RUN,
                      "a smoke run: small pages, one round, and not alone")
        return
    for word, bound in (("must", case.must), ("aim", case.aim)):
        claim = f"{case.said()}: at most {bound:g} × Open vSwitch's cycles"
        if not ratios:
            yield Verdict(SOURCE, f"{word}: {claim}", NOT_RUN, "nothing was measured")
            continue
        share = statistics.median(ratios)
        yield Verdict(SOURCE, f"{word}: {claim}",
                      f"{word} reached" if share <= bound else "MISSED",
                      f"{share:.3f} ({min(ratios):.3f} to {max(ratios):.3f})")


def fig3_shares(part, contestant, base):
    """By case, the share of a packet's cycles that one of a flow which the cache always has does
    not take."""
    found = []
    floor = part.median(workload=cases.ONE_FLOW, contestant=base, metric="cycles")
    for place, name in enumerate(cases.FIG3):
        cycles = part.median(workload=name, contestant=contestant, metric="cycles")
        if cycles and floor:
            found.append((place, 1 - floor / cycles))
    return found


def fig3_section(part):
    section = Section("HALO-F3: what classification takes of a packet", notes=[
        "Cycles a packet, moving it included. Classification is what is beyond the cycles of a "
        "single flow, which the exact-match cache always has: parsing, moving and counting are the "
        "same there.", cases.FIG3_NOTE])
    curves = {who: [(place, part.median(workload=name, contestant=who, metric="cycles"))
                    for place, name in enumerate(cases.FIG3)] for who in FIG3_NAMES}
    shares = {who: dict(fig3_shares(part, who, "roost" if who == "roost" else "ovs_emc"))
              for who in FIG3_NAMES}
    section.tables.append(Table(
        ["", "", *(name.replace("_", " ") for name in cases.FIG3)],
        [row for who, said in FIG3_NAMES.items() for row in (
            [said, "cycles", *(cell(value, 0) for _, value in curves[who])],
            [said, "of them for classification",
             *(cell(shares[who][place] * 100, 0, " %") if place in shares[who] else "-"
               for place, _ in enumerate(cases.FIG3))])]))
    section.verdicts += fig3_verdicts(part, curves, shares)
    return section


def fig3_verdicts(part, curves, shares):
    first, last = 0, len(cases.FIG3) - 1
    cached = [(place, part.median(workload=name, contestant="ovs_emc", metric="cached"))
              for place, name in enumerate(cases.FIG3)]
    emc = [value for _, value in curves["ovs_emc"] if value is not None]
    gain = [off - on for (_, off), (_, on) in zip(curves["ovs_off"], curves["ovs_emc"])
            if off is not None and on is not None]
    is_whole = len(emc) == len(gain) == len(cases.FIG3)
    yield Verdict.of(FIG3_SOURCE, "cycles rise over the five configurations, by "
                     f"{FIG3_GROWTH:.1f} times in all", rules.all_of(
                         order=rules.rises(curves["ovs_emc"] if is_whole else []),
                         growth=rules.figure(emc[last] / emc[first] if is_whole else None,
                                             FIG3_GROWTH, 0.25)))
    for place, claimed in zip((first, last), FIG3_SHARES):
        yield Verdict.of(FIG3_SOURCE, f"classification takes {claimed:.1%} of the cycles of "
                         f"{list(cases.FIG3)[place].replace('_', ' ')}",
                         rules.figure(shares["ovs_emc"].get(place), claimed, 0.25))
    yield Verdict.of(FIG3_SOURCE, "the exact-match cache stops helping where flows are many",
                     rules.all_of(
                         hits=rules.falls(cached if is_whole else [], 0.5),
                         gain=rules.at_most(gain[last] / emc[last] if is_whole else None, 0)))
    ours = curves["roost"][last][1]
    yield Verdict.of("beyond HALO-F3", "ours takes fewer cycles in the last of them",
                     rules.at_most(ours / min(emc[last], curves["ovs_off"][last][1])
                                   if is_whole and ours else None, 1))


def fig13_speed_ups(part, function, way):
    """By entries, how many times as fast packets are as by one key a call; medians of rounds."""
    found = []
    for entries in part.select(workload=function).values("slots"):
        one, other = (part.by_round(workload=function, slots=entries, contestant=who)
                      for who in (cases.BY_ONE, way))
        ratios = [one[number] / other[number] for number in one if other.get(number, 0) > 0]
        if ratios:
            found.append((entries, statistics.median(ratios)))
    return found


def fig13_section(part):
    section = Section("HALO-F13: NAT, asset detection, packet filter, by software alone",
                      notes=FIG13_NOTES)
    rows = []
    for function, said in FIG13_NAMES.items():
        bulk, ours = (dict(fig13_speed_ups(part, function, way))
                      for way in (cases.BULK, cases.OURS))
        for entries in part.select(workload=function).values("slots"):
            rows.append([f"{said}, {entries:,.0f} entries",
                         *(cell(part.median(workload=function, slots=entries, contestant=way))
                           for way in cases.WAYS),
                         cell(bulk.get(entries), 2), cell(ours.get(entries), 2)])
    section.tables.append(Table(
        ["ns a packet", *cases.WAYS.values(), "32 keys over one, times as fast",
         "ours over it"], rows))
    for function, said in FIG13_NAMES.items():
        section.verdicts += fig13_verdicts(part, function, said)
    return section


def fig13_verdicts(part, function, said):
    least, _ = FIG13_SPEED_UP
    is_whole = len(part.select(workload=function).values("slots")) == len(cases.FIG13[function])
    for way, who in ((cases.BULK, "rte_hash"), (cases.OURS, "ours")):
        found = [ratio for _, ratio in fig13_speed_ups(part, function, way)]
        is_measured = is_whole and len(found) == len(cases.FIG13[function])
        yield Verdict.of("beyond HALO-F13",
                         f"{said}: {who} by 32 keys a call reaches the {least:g} times that an "
                         "accelerator is reported to reach over one, at every size",
                         rules.at_least(min(found) if is_measured else None, least))


def readme_block(record, name):
    """`classification`: beside Open vSwitch; `speed-ups`: the accelerator's, simulated."""
    table = (speed_ups.table(record) if name == "speed-ups"
             else ovs_section(record.select(experiment="ovs")).tables[0])
    return markdown_table(table.header, table.rows)
