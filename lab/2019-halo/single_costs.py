"""Where a lookup's cycles go (HALO-F10, and what blocking lookups wait for), the machine (HALO-T2),
and lines, bytes and hashes beside the paper's energies (HALO-T4). Simulated: single_jobs.py."""
import itertools

from harness.beside import beside
from report import intervals, rules
from report.rules import NOT_RUN, Finding
from report.section import Section, Table, Verdict, cell, size_name

jobs_of = beside(__file__, "single_jobs")
simulated = jobs_of.simulated
B, NB, OVERLAPPED = simulated.ACCELERATORS
RTE_HASH = simulated.RTE_HASH
LINE_BYTES = 64

# HALO-F10.
COMPUTING_LESS = 0.481
ACCESS_TIMES = {jobs_of.IN_LLC: 4.1, jobs_of.IN_DRAM: 1.6}
LOCKS_AT_MOST = 0.05  # of an accelerator's time, for "almost nothing"

# HALO-T2: what the paper gives of the machine, in the words of the machine's file.
TABLE2 = {"clock.megahertz": 2_100, "core.window": 192, "core.load_queue": 128,
          "core.store_queue": 128, "l1d.bytes": 32 << 10, "l1d.ways": 8, "l2.bytes": 1 << 20,
          "l2.ways": 16, "l2.misses_in_flight": 20, "llc.slice_bytes": 2 << 20, "llc.ways": 16,
          "accelerator.scoreboard": 10, "accelerator.metadata_lines": 10,
          "accelerator.flow_bits": 32}

# HALO-T4, as reported: size, tiles, static mW, nJ a query. 100K 5-tuples take about 1 MB.
TABLE4 = {"TCAM, 1 KB": (0.001, 71.1, 0.04), "TCAM, 10 KB": (0.066, 235.3, 0.37),
          "TCAM, 100 KB": (1.044, 3850.5, 13.84), "TCAM, 1 MB": (9.343, 26733.1, 84.82)}
HALO_ENERGY = ("HALO, an accelerator", (0.012, 97.2, 1.76))
SRAM_TCAM = (1 - 0.57, 1 - 0.45, 1 - 0.45)  # of a TCAM: area, and power
ENERGY_TIMES = 48.2


def sections(record):
    parts = (("table2", table2_section), ("fig10", fig10_section), ("budget", budget_section),
             ("misses", table4_section))
    return [make(part, record) for name, make in parts
            if (part := record.select(experiment=name)).rows]


def table2_section(part, _record):
    values = {row["contestant"]: row["value"] for row in part.select(metric="middle").rows}
    ranges = [[name, row["form"], *(cell(part.median(contestant=name, metric=end), 0)
                                    for end in ("low", "middle", "high")),
               cell(TABLE2.get(name), 0), row["note"]]
              for name in part.values("contestant") if name != ""
              for row in part.select(contestant=name, metric="middle").rows]
    equal = [name for name, value in TABLE2.items() if values.get(name) == value]
    tiles = values.get("mesh.columns", 0) * values.get("mesh.rows", 0)
    said = (f"{len(equal)} of {len(TABLE2)} numbers, {tiles:.0f} cores, "
            f"{tiles * values.get('llc.slice_bytes', 0) / 2**20:.0f} MiB of LLC; not so: "
            + (", ".join(sorted(set(TABLE2) - set(equal))) or "none"))
    finding = Finding(rules.REPRODUCED if len(equal) == len(TABLE2) and tiles == 16
                      else rules.NOT, said)
    return Section("HALO-T2: the machine", notes=[
        "What is simulated, each open number with its low and high, and where it comes from; "
        "`roost-halo machine --print`. Switches: single_jobs.py says which are other than the "
        "default."], tables=[Table(["number", "unit", "low", "middle", "high", "paper", "source"],
                                   ranges, kind="simulated")],
        verdicts=[Verdict.of("HALO-T2", "the middle machine has the paper's numbers, 16 cores and "
                             "32 MiB of LLC", finding)])


def stacks(part, variant):
    """By way, [(computing, access, locks)] in cycles, a machine each, the middle one first."""
    found = {}
    for way in (B, RTE_HASH):
        by_form = [{number: value for (_, number), value in part.by_round(
            workload=variant, contestant=way, form=form, metric="cycles_per_lookup").items()}
                   for form in (jobs_of.WHOLE, jobs_of.NO_LOCKS, jobs_of.NO_LATENCY)]
        found[way] = [(still, unlocked - still, whole - unlocked)
                      for number in sorted(by_form[0])
                      for whole, unlocked, still in [[one[number] for one in by_form]]]
    return found


def mean_hops(at):
    """Between two tiles of the mesh by chance."""
    return sum((side * side - 1) / (3 * side) for side in (at["mesh.columns"], at["mesh.rows"]))


def line_times(record, place, is_near):
    """How many times as long as an accelerator a core waits for one line, added up from the
    machine's numbers: an interval over all their ends."""
    data = (("llc.data_cycles",) if place == jobs_of.IN_LLC else
            ("dram.controller_cycles", "dram.activate_cycles", "dram.read_cycles",
             "dram.burst_cycles"))
    names = ("l2.hit_cycles", "mesh.request_cycles", "mesh.fill_cycles", "mesh.hop_cycles",
             "llc.tag_cycles", *data)
    part = record.select(experiment="table2")
    ends = [[part.median(contestant=name, metric=end) for end in ("middle", "low", "high")]
            for name in names]
    if not part.rows:
        return None
    hops = 2 * mean_hops({row["contestant"]: row["value"]
                          for row in part.select(metric="middle").rows})

    def ratio(numbers):
        near, hop, slice_cycles = sum(numbers[:3]), hops * numbers[3], sum(numbers[4:])
        return (near + hop + slice_cycles) / (slice_cycles + (0 if is_near else hop))

    middle, *_ = zip(*ends)
    return intervals.over([ratio(middle), *map(ratio, itertools.product(
        *(one[1:] for one in ends)))])


def fig10_section(part, record):
    section = Section("HALO-F10: where a lookup's cycles go", notes=[
        "Simulated: each machine once as it is, once with locks off, and once more with all "
        "latencies of caches, mesh, snoops and DRAM at zero. Locks are what the first step takes "
        "away, access to data and the way there and back what the second does, computing what is "
        "left; so what overlaps counts as computing. Of rte_hash the locking is among its "
        "instructions: see HALO-S3.4. Intervals over machines whose open numbers are drawn, the "
        "same ones for both ways and all steps.",
        f"In LLC: a table of {size_name(jobs_of.FIG10_SLOTS[jobs_of.IN_LLC])} slots, whose lines "
        f"are there; in DRAM: {size_name(jobs_of.FIG10_SLOTS[jobs_of.IN_DRAM])} slots, asked "
        "before any line is in a cache."])
    rows = []
    for variant in part.values("workload"):
        of_way = stacks(part, variant)
        for way, machines in of_way.items():
            rows.append([variant, way, *(intervals.text(intervals.over([one[i] for one in
                                                                        machines]), 1)
                                         for i in range(3))])
        section.verdicts += fig10_verdicts(variant, of_way)
    for place, claimed in ACCESS_TIMES.items():
        for reading, is_near in ((jobs_of.AS_WRITTEN, False), (jobs_of.FRIENDLY, True)):
            section.verdicts.append(Verdict.of(
                "HALO-F10", f"one line {place} comes {claimed:g} times as fast as to a core, added "
                f"up from the machine's numbers; {reading}",
                intervals.contains(line_times(record, place, is_near), claimed)))
    section.tables.append(Table(["table, reading", "way", "computing", "access to data", "locks"],
                                rows, kind="simulated"))
    return section


def fig10_verdicts(variant, of_way):
    pairs = list(zip(of_way[B], of_way[RTE_HASH]))
    place = variant.partition(",")[0]
    if place == jobs_of.IN_LLC:
        yield Verdict.of("HALO-F10", f"computing takes {COMPUTING_LESS:.1%} less; {variant}",
                         intervals.contains(intervals.over([1 - ours[0] / theirs[0]
                                                            for ours, theirs in pairs]),
                                            COMPUTING_LESS))
        yield Verdict.of("HALO-F10", "locks take almost nothing, at most "
                         f"{LOCKS_AT_MOST:.0%}; {variant}",
                         intervals.at_most(intervals.over([ours[2] / sum(ours)
                                                           for ours, _ in pairs]), LOCKS_AT_MOST))
    claimed = ACCESS_TIMES[place]
    yield Verdict.of("HALO-F10", f"time for access to data is {claimed:g} times less than of "
                     f"software; {variant}", intervals.contains(intervals.over([
                         theirs[1] / ours[1] for ours, theirs in pairs if ours[1] > 0]), claimed))


def key_cycles(record):
    """What fetching a key costs by the machine's numbers: the core makes the line its own to write
    it, and the accelerator has it snooped."""
    at = {row["contestant"]: row["value"]
          for row in record.select(experiment="table2", metric="middle").rows}
    if not at:
        return None
    way = mean_hops(at) * at["mesh.hop_cycles"]
    write = (at["l2.hit_cycles"] + at["mesh.request_cycles"] + at["llc.tag_cycles"]
             + at["mesh.fill_cycles"] + 2 * way)
    snoop = at["llc.tag_cycles"] + at["core.snoop_cycles"] + 4 * way
    return write, snoop


def budget_section(part, record):
    section = Section("What a blocking lookup waits for", notes=[
        "Simulated: cycles of LOOKUP_B by reading, beside rte_hash one key a call on the same "
        "machines. A key that the core has just written costs twice: the line was shared by the "
        "last lookup's snoop, so the store asks its home for it again, and drains only then; the "
        "accelerator's read is snooped out of the core. Both are on the way of each lookup, as a "
        "core that waits does nothing meanwhile.",
        "LOOKUP_B that is like a load gains nothing as long as the key is fetched: its key's store "
        "is behind the lookup before it in the window, and drains when that one has left. With the "
        "key in the command, as many are in flight as the scoreboard has places.",
        "rte_hash begins the next lookup while lines of the last one are on their way, and a table "
        "in L2 costs it 14 cycles a line: blocking lookups cannot gain there."])
    rows = []
    for size in part.values("slots"):
        mine = part.select(slots=size)
        for variant in mine.values("workload"):
            one = mine.select(workload=variant)
            rows.append([size_name(size), variant,
                         *(cell(one.median(contestant=way, metric="cycles_per_lookup"), 0)
                           for way in (B, RTE_HASH)),
                         intervals.text(intervals.of(one, "times", contestant=B,
                                                     form=f"over {RTE_HASH}"))])
    section.tables.append(Table(["slots", "reading", "LOOKUP_B, cycles", "rte_hash, cycles",
                                 "times rte_hash"], rows, kind="simulated"))
    section.verdicts.append(Verdict.of(
        "added up by hand", "a key that is fetched costs what writing its line again and a snoop "
        "take", key_finding(part, record)))
    return section


def key_finding(part, record):
    by_hand = key_cycles(record)
    sizes = [size for size in part.values("slots") if part.median(
        slots=size, workload="key in the command", metric="cycles_per_lookup", contestant=B)]
    if by_hand is None or not sizes:
        return Finding(NOT_RUN, "nothing was simulated")
    fetched, sent = (part.median(slots=sizes[0], workload=variant, contestant=B,
                                 metric="cycles_per_lookup")
                     for variant in (jobs_of.AS_WRITTEN, "key in the command"))
    found = rules.figure(fetched - sent, sum(by_hand), 0.1)
    return Finding(found.verdict, f"{found.said}: {by_hand[0]:.0f} to write, {by_hand[1]:.0f} to "
                                  "snoop")


def table4_section(part, _record):
    paper = [[name, *(cell(value, 3) for value in values), "TCAM, as reported"]
             for name, values in TABLE4.items()]
    paper += [[f"SRAM-{name}", *(cell(value * share, 3) for value, share in zip(values, SRAM_TCAM)),
               "TCAM less 57 % area and 45 % power, as reported"]
              for name, values in TABLE4.items()]
    paper.append([HALO_ENERGY[0], *(cell(value, 3) for value in HALO_ENERGY[1]), "as reported"])
    counts = [[variant, f"{misses:.0%}", *(cell(value, 2) for value in counted)]
              for variant in part.values("workload") for misses in part.values("miss_ratio")
              if (counted := counts_of(part, variant, misses))]
    halo = HALO_ENERGY[1][2]
    shares = {name: values[2] / halo for name, values in TABLE4.items()}
    return Section("HALO-T4: energy as reported, and what we count", notes=[
        "Tiles, power and energy are the paper's constants and nothing else; what we can say is "
        "how much a query reads, moves and hashes. Bytes are those of lines of the table and of "
        "the key that the accelerator reads, each 64."],
        tables=[Table(["paper", "tiles", "static mW", "nJ a query", ""], paper,
                      kind="as reported"),
                Table(["format", "misses", "lines of the table", "lines of keys", "bytes moved",
                       "hashes", "locks"], counts, kind="simulated")],
        verdicts=[Verdict.of("HALO-T4", f"a TCAM takes {ENERGY_TIMES:g} times the energy of a "
                             f"query; {name} (as reported)",
                             rules.figure(share, ENERGY_TIMES, 0.02))
                  for name, share in shares.items()])


def counts_of(part, variant, misses):
    lines, keys, hashes, locks = (
        part.median(workload=variant, miss_ratio=misses, contestant=B, metric=metric)
        for metric in ("lines_per_lookup", "key_lines_per_lookup", "hashes_per_lookup",
                       "locks_per_lookup"))
    if lines is None:
        return None
    return lines, keys, LINE_BYTES * (lines + keys), hashes, locks
