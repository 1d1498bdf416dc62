"""HALO-F4: what lookups of one key a call miss in L2 and in the last-level cache, in a cuckoo table
and in one with a bucket a key. Simulated: jobs and verdicts; simulated.py says what a job is."""
import dataclasses

from harness.beside import beside
from report import intervals, rules
from report.rules import NOT_RUN, Finding
from report.section import Section, Table, Verdict, cell

simulated = beside(__file__, "simulated")

SOURCE = "HALO-F4"
CUCKOO, SINGLE = "cuckoo", "single-function"
WAYS = {CUCKOO: simulated.RTE_HASH, SINGLE: simulated.SINGLE}
FORMATS = {CUCKOO: "paper", SINGLE: "single"}
USE = {CUCKOO: 0.95, SINGLE: 0.2}  # entries over slots, as claimed
NEAR_USE = 0.05
# The single-function table has a power of two of slots: half as full, or twice, is the same table.
SINGLE_USES = (USE[SINGLE] / 2, USE[SINGLE] * 2)
MANY_FLOWS = 100_000  # from here on the single-function table is said to miss
MOST = 0.5  # what "most" and "many" are: of L2's misses, of cycles
MORE_MISSES = 0.1  # of a lookup's lines, to be called more
LLC_MIB = 32

SIZES = {"full": (10, 12, 14, 15, 16, 17, 18, 19, 20, 21, 22), "quick": (10, 14, 17, 19, 22),
         "smoke": (10,)}
LARGE = 21  # from here on, fewer machines: a table is copied into each
SAMPLES = {"full": 40, "quick": 4, "smoke": 1}
FEW_SAMPLES = {"full": 12, "quick": 2, "smoke": 1}
NOTES = [
    "Simulated, one core, keys by chance, tables in the caches as a long run leaves them. The "
    "single-function table has the fewest slots, a power of two, with which no bucket of eight is "
    "overfull; it is asked by rte_hash's own instructions for a key in its first bucket.",
    "Misses are of a thousand loads, as the paper counts them: lines that L2 asks a slice for, and "
    "of those the ones that DRAM has. Stalls are cycles in which nothing leaves the core because "
    "the oldest operation is a load of such a line. The paper's own figure is of another machine "
    "(Xeon 8160, 33 MB) and a whole switch."]


def jobs(size):
    for bits in SIZES[size]:
        for variant, way in WAYS.items():
            samples = (FEW_SAMPLES if bits >= LARGE else SAMPLES)[size]
            yield simulated.Point(experiment="fig4", slots=1 << bits, load=USE[CUCKOO],
                                  variant=variant, format=FORMATS[variant], ways=(way,),
                                  samples=samples, has_caches=True)


def sections(record):
    part = record.select(experiment="fig4")
    return [section_of(part)] if part.rows else []


@dataclasses.dataclass(frozen=True)
class Figures:
    """Of one table: figures, and intervals of them."""

    entries: float
    use: float
    table_bytes: float
    l2: tuple  # misses a lookup
    llc: tuple
    stalls: tuple
    loads: float
    cycles: float

    @property
    def beyond(self):
        """Which share of what L2 misses is in DRAM, if it misses anything."""
        return tuple(llc / l2 if l2 else 0 for llc, l2 in zip(self.llc, self.l2))


def figures_of(part, variant):
    """By size, those that were simulated."""
    mine = part.select(workload=variant)
    found = []
    for entries in sorted(mine.values("entries")):
        one = mine.select(entries=entries)
        made = Figures(entries=entries, use=one.median(metric="use"),
                       table_bytes=one.values("table_bytes")[0],
                       l2=intervals.of(one, "l2_misses_per_lookup"),
                       llc=intervals.of(one, "llc_misses_per_lookup"),
                       stalls=intervals.of(one, "stall_share"),
                       loads=one.median(metric="loads_per_lookup"),
                       cycles=one.median(metric="cycles_per_lookup"))
        if None not in dataclasses.astuple(made):
            found.append(made)
    return found


def of_thousand_loads(interval, figures):
    return intervals.text(tuple(1000 * one / figures.loads for one in interval), 1)


def section_of(part):
    section = Section("HALO-F4: misses of L2 and of the last-level cache", notes=NOTES)
    tables = {variant: figures_of(part, variant) for variant in WAYS}
    rows = [[f"{one.entries:,.0f}", variant, cell(100 * one.use, 1, " %"),
             cell(one.table_bytes / 2**20, 1), of_thousand_loads(one.l2, one),
             of_thousand_loads(one.llc, one), cell(100 * one.beyond[1], 0, " %"),
             intervals.text(tuple(100 * share for share in one.stalls), 0), cell(one.cycles, 0)]
            for variant, found in tables.items() for one in found]
    section.tables.append(Table(
        ["flows", "table", "use", "MiB", "L2 misses", "LLC misses", "of L2's", "stalls, %",
         "cycles"], rows, kind="simulated"))
    section.verdicts += use_verdicts(tables)
    section.verdicts += cuckoo_verdicts(tables[CUCKOO])
    section.verdicts += single_verdicts(tables)
    return section


def use_verdicts(tables):
    uses = {variant: [one.use for one in found] for variant, found in tables.items()}
    yield Verdict.of(SOURCE, f"the cuckoo table takes keys at about {USE[CUCKOO]:.0%} use",
                     rules.figure(min(uses[CUCKOO], default=None), USE[CUCKOO], NEAR_USE))
    yield Verdict.of(SOURCE, f"the single-function table takes keys up to about {USE[SINGLE]:.0%}, "
                     "half and twice that among it", intervals.between(uses[SINGLE], *SINGLE_USES))


def is_largest(one):
    return one.entries >= USE[CUCKOO] * (1 << max(SIZES["full"])) - 1


def cuckoo_verdicts(found):
    largest = next((one for one in found if is_largest(one)), None)
    yield Verdict.of(SOURCE, "at 4M flows, most of what the cuckoo table's lookups miss in L2 is "
                     "in the LLC (expected not to hold)",
                     intervals.at_most(largest and largest.beyond, MOST))
    yield Verdict.of(SOURCE, "4M flows in a cuckoo table are in the LLC of 32 MiB (expected not to "
                     "hold)", rules.at_most(largest and largest.table_bytes / 2**20, LLC_MIB))


def single_verdicts(tables):
    many = {one.entries: one for one in tables[SINGLE] if one.entries >= MANY_FLOWS}
    yield Verdict.of(SOURCE, "from 100K flows on, most of what the single-function table's lookups "
                     "miss in L2 is in DRAM", of_all(
                         many, lambda one: intervals.at_least(one.beyond, MOST)))
    yield Verdict.of(SOURCE, "from 100K flows on, its lookups miss the LLC more often than the "
                     f"cuckoo table's, by {MORE_MISSES:g} lines", of_all(
                         {one.entries: (many[one.entries], one) for one in tables[CUCKOO]
                          if one.entries in many},
                         lambda both: intervals.at_least(difference(*both), MORE_MISSES)))
    yield Verdict.of(SOURCE, "from 100K flows on, cores that ask it stall most of the time",
                     of_all(many, lambda one: intervals.at_least(one.stalls, MOST)))


def difference(single, cuckoo):
    """Of misses of the LLC, as far apart as the machines may have them."""
    return (single.llc[0] - cuckoo.llc[2], single.llc[1] - cuckoo.llc[1],
            single.llc[2] - cuckoo.llc[0])


def of_all(found, rule):
    if not found:
        return Finding(NOT_RUN, "nothing was simulated")
    return rules.all_of(**{f"{entries:,.0f}": rule(one) for entries, one in found.items()})
