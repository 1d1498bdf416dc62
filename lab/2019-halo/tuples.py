"""HALO-F11: tuple space search, simulated by `roost-halo run --tuples`."""
import dataclasses
import statistics
from pathlib import Path

from harness.process_job import ProcessJob
from report import intervals, rules
from report.section import Plot, Section, Table, Verdict, cell

HERE = Path(__file__).resolve().parent
EXPERIMENT = "fig11"
SOURCE = "HALO-F11"
COUNTS = (5, 10, 15, 20)
ENTRIES = 1_024
LAST, ANY = "last", "any"
CLAIMED = 23.4  # times, non-blocking, at 20 tuples
ACCELERATED = {"blocking": "blocking", "non-blocking": "non-blocking",
               "overlapped": "four keys at a time (ours)"}
SOFTWARE = {"rte_hash": "rte_hash, one key a call (the paper's)",
            "rte_hash-32": "rte_hash, 32 keys a table", "roost-32": "our classifier"}
PAPER_S, BATCHED, OURS = SOFTWARE
# A TCAM takes a few cycles for all rules, and its query goes there and back as one to an
# accelerator does: 2.5 hops of 2 cycles, and 2 at the core's end.
TCAM_CYCLES = 4 + 2 * (5 + 2)
CLOCK = 2.1e9
SECONDS_OF_LOOKUP = 1e-5  # to simulate
NOTES = [
    "Simulated by `roost-halo run --tuples`: one core; tables of 1,024 entries of 16 bytes in the "
    "paper's format, load at most 0.8, a mask each; caches begin as a long run leaves them. Each "
    "figure is the least and the greatest of the machine in the middle of all open numbers and of "
    "24 samples of them, over the seeds, which also draw where the tables lie; in parentheses the "
    "machine in the middle, of several seeds the median.",
    "The paper does not say in which table a key is found. In the last one, all are asked by "
    "everybody; where keys are in each table as often, who asks one after the other stops half "
    "way, and who asks all at once gains half as much.",
    "Non-blocking sends one key to all tables and waits for its words. The paper's sentence, "
    "queries of eight lookups each to all the tuples at once, may also mean several keys at a "
    "time; ours has four in flight.",
    f"TCAM is analytic: {TCAM_CYCLES} cycles a search however many rules, for a TCAM large enough. "
    "SRAM-TCAM is taken as fast: the paper gives its area and power, no time of its own."]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TuplesJob(ProcessJob):
    """`slots`: tables."""

    slots: int
    found_in: str
    seed: int
    samples: int = 24
    lookups: int = 4_000
    warm_up: int = 4_000
    entries: int = ENTRIES
    experiment: str = EXPERIMENT
    contestants: tuple = tuple(ACCELERATED)
    rounds: int = 1
    pages: str = "4K"
    loads: tuple = (0.8,)

    @property
    def name(self):
        return f"{self.experiment} {self.slots} {self.found_in} {self.seed}"

    @staticmethod
    def program(_beside):
        return HERE / "simulate_tuples.py"

    def words(self, beside):
        return ["--halo", str(beside.parents[1] / "apps" / "roost-halo"),
                "--experiment", self.experiment, "--seed", str(self.seed),
                "--build", str(self.entries), "--load", str(self.loads[0]), "--tuples",
                str(self.slots), "--found-in", self.found_in, "--lookups", str(self.lookups),
                "--warm-up", str(self.warm_up), "--samples", str(self.samples), "--no-ends",
                "--ladder", "0"]

    @staticmethod
    def table_bytes():
        return 1 << 28  # machines and tables of two processes

    def seconds(self):
        """Six ways, of one table and of several."""
        return 12 * (1 + self.samples) * (self.warm_up + self.lookups) * SECONDS_OF_LOOKUP

    def tiny(self):
        return dataclasses.replace(self, slots=3, entries=40, lookups=60, warm_up=60, samples=1)


def jobs(size):
    counts = COUNTS[:1] if size == "smoke" else (5, 20) if size == "quick" else COUNTS
    seeds = (1, 2, 3) if size == "full" else (1,)
    for found_in in (LAST,) if size == "smoke" else (LAST, ANY):
        for count in counts:
            for seed in seeds:
                yield TuplesJob(slots=count, found_in=found_in, seed=seed)


def said(times):
    return intervals.text(times, 1)


def interval(part, metric, **where):
    """Over the seeds, or None."""
    ends = [[row["value"] for row in part.select(metric=f"{metric}_{end}", **where).rows]
            for end in ("least", "middle", "greatest")]
    if not all(ends):
        return None
    return min(ends[0]), statistics.median(ends[1]), max(ends[2])


def speed_up(part, way, count, over=PAPER_S):
    return interval(part, "times", contestant=way, form=over, slots=float(count))


def tcam(part, count):
    """Over the paper's software."""
    rate = interval(part, "rate", contestant=PAPER_S, slots=float(count))
    if rate is None:
        return None
    return tuple(CLOCK / TCAM_CYCLES / one for one in reversed(rate))


def curve(part, way, over=PAPER_S):
    found = [(count, tcam(part, count) if way == "tcam" else speed_up(part, way, count, over))
             for count in COUNTS]
    return [(count, times[1]) for count, times in found if times is not None]


def sections(record):
    part = record.select(experiment=EXPERIMENT)
    return [section_of(part.select(workload=found_in), found_in) for found_in in (LAST, ANY)
            if part.select(workload=found_in).rows]


def section_of(part, found_in):
    where = {LAST: "keys in the last table", ANY: "keys in each table as often"}[found_in]
    section = Section(f"HALO-F11: tuple space search, simulated; {where}",
                      notes=NOTES if found_in == LAST else [])
    counts = [count for count in COUNTS if float(count) in part.values("slots")]
    for over, name in SOFTWARE.items():
        section.tables.append(Table(
            [f"times as fast as {name}", *(f"{count} tuples" for count in counts)],
            [[label, *(said(speed_up(part, way, count, over)) for count in counts)]
             for way, label in ACCELERATED.items()]
            + ([["TCAM, SRAM-TCAM (analytic)", *(said(tcam(part, count)) for count in counts)]]
               if over == PAPER_S else []), kind="simulated"))
    section.tables.append(Table(
        ["cycles a search, machines in the middle", *(f"{count} tuples" for count in counts)],
        [[label, *(cell(median_of(part, way, "cycles_per_lookup", count), 0) for count in counts)]
         for way, label in (ACCELERATED | SOFTWARE).items()], kind="simulated"))
    section.tables.append(Table(
        ["where tables lie, by seeds", *(f"{count} tuples" for count in counts)],
        [["accelerators in use", *(by_seeds(part, "accelerators", count) for count in counts)],
         ["tables of the busiest one", *(by_seeds(part, "busiest_share", count, count)
                                         for count in counts)]], kind="simulated"))
    section.plots.append(Plot(
        f"Tuple space search over rte_hash, one key a call; {where} (simulated)", "tuples",
        "times as fast", {label: curve(part, way) for way, label in ACCELERATED.items()}
        | {"TCAM (analytic)": curve(part, "tcam")},
        [(20, CLAIMED)] if found_in == LAST else []))
    section.verdicts += verdicts(part) if found_in == LAST else verdicts_of_any(part)
    return section


def median_of(part, way, metric, count):
    figures = [row["value"] for row in part.select(contestant=way, metric=metric,
                                                   slots=float(count)).rows]
    return statistics.median(figures) if figures else None


def by_seeds(part, metric, count, times=1):
    figures = [row["value"] for row in part.select(contestant="non-blocking", metric=metric,
                                                   slots=float(count)).rows]
    return ", ".join(f"{figure * times:.0f}" for figure in figures) or "-"


def verdicts(part):
    last = COUNTS[-1]
    ours, blocking = (curve(part, way) for way in ("non-blocking", "blocking"))
    at_last = speed_up(part, "non-blocking", last)
    yield Verdict.of(SOURCE, f"non-blocking: up to {CLAIMED} times as fast at {last} tuples",
                     intervals.contains(at_last, CLAIMED))
    together = speed_up(part, "overlapped", last)
    yield Verdict.of(SOURCE, f"the same, if it means several keys at a time (here four): {CLAIMED}",
                     intervals.contains(together, CLAIMED))
    yield Verdict.of(SOURCE, "non-blocking scales with the number of tuples", rules.rises(ours))
    yield Verdict.of(SOURCE, "blocking is limited: more tuples gain nothing, and non-blocking more",
                     rules.all_of(gain=rules.stays(blocking, 0.25),
                                  non_blocking=rules.never_below(ours, blocking)))
    yield Verdict.of(SOURCE, "TCAM and SRAM-TCAM are the fastest (analytic)",
                     rules.all_of(**{way.replace("-", "_"): rules.never_below(
                         curve(part, "tcam"), curve(part, way), 0) for way in ACCELERATED}))
    yield from beyond(part, LAST)


def verdicts_of_any(part):
    yield from beyond(part, ANY)


def beyond(part, found_in):
    """What the paper does not show: at 20 tuples, over software that batches, on every machine."""
    last = COUNTS[-1]
    where = "" if found_in == LAST else "keys in each table as often: "
    if found_in == ANY:
        at_last = speed_up(part, "non-blocking", last)
        yield Verdict.of("beyond HALO-F11", f"{where}non-blocking reaches {CLAIMED} times",
                         intervals.contains(at_last, CLAIMED))
    for over, name in ((BATCHED, "rte_hash by 32 keys"), (OURS, "our classifier")):
        yield Verdict.of("beyond HALO-F11", f"{where}non-blocking is faster than {name} at {last} "
                         "tuples, on every machine",
                         intervals.at_least(speed_up(part, "non-blocking", last, over), 1))
    yield Verdict.of("beyond HALO-F11", f"{where}four keys at a time are faster than one",
                     rules.never_below(curve(part, "overlapped"), curve(part, "non-blocking"), 0))
