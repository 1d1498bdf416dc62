"""HALO's software half: classification beside Open vSwitch, in cycles beyond moving packets"""
import statistics

from harness.beside import beside
from report.rules import NOT_RUN
from report.section import Section, Table, Verdict, cell, not_run_section

jobs_of = beside(__file__, "jobs")
cases = jobs_of.cases
jobs = jobs_of.jobs

SOURCE = "classification beside Open vSwitch"
NOTES = ["Synthetic packets of 60 bytes from memory (net_pcap, infinite_rx) to a port that takes "
         "them at once (net_null), one core, pages of 2 MiB for all, one program at a time, in "
         "turns. Cycles are those of the time stamp counter: of Open vSwitch's `pmd-stats-show`, "
         "of all stages of `roost classify`, and of dpdk-testpmd, which only moves packets and is "
         "taken off both.",
         "Debian's Open vSwitch is compiled for every x86-64 and looks subtables up in scalar "
         "code; one that is compiled for AVX-512 and told so is faster. A run fails where its "
         "counters show upcalls, other subtables, or hits of a cache that should be off."]


def sections(record):
    found = []
    part = record.select(experiment="ovs")
    if part.rows:
        found.append(ovs_section(part))
    return found + not_run_section(record)


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
