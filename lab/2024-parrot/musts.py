"""What the value-only tables must reach: the line map and Parrot on 48-bit keys and 16-bit values.

A share or a multiple is that of medians within rounds, in the better of the calls of 64 keys and
more, or in plain calls of 32 where it says so. An oracle is the best of its three prefetch hints.
"""
import dataclasses
import statistics

from harness.beside import beside
from report import record as records
from report.section import Section, Table, Verdict, cell

judging = beside(__file__, "judging")
jobs_of, per_key = judging.jobs_of, judging.per_key
PLAIN = "32 keys a call"
FULL_COUNT = 16_000_000.0
HINTS = ("T0", "T1", "NTA")
AT_REST = "at rest"


@dataclasses.dataclass(frozen=True)
class Bound:
    """`at_most`: less is better."""

    must: float
    aim: float = None
    at_most: bool = False

    def verdict(self, source, claim, figure, digits=3):
        if figure is None:
            return Verdict(source, claim, "not run", "nothing was measured")
        said = f"{cell(figure, digits)}, must {self.must:g}"
        said += f", aim {self.aim:g}" if self.aim is not None else ""
        if not self._reaches(figure, self.must):
            return Verdict(source, claim, "MISSED", said)
        is_aim = self.aim is not None and self._reaches(figure, self.aim)
        return Verdict(source, claim, "aim reached" if is_aim else "must reached", said)

    def _reaches(self, figure, bound):
        return figure <= bound if self.at_most else figure >= bound


OF_ORACLE = Bound(0.75, 0.9)
OVER_RTE_HASH, OVER_RTE_EFD = Bound(3, 4.5), Bound(3, 6)
COST = Bound(0.1, 0.03, at_most=True)
BESIDE = Bound(0.15, 0.05, at_most=True)
LINE_MAP_BITS = {0.85: Bound(26.5, at_most=True), 0.95: Bound(24.5, at_most=True)}
BUILD, PARROT_BUILD = Bound(2, 8), Bound(4, 8)
UPDATES = Bound(500_000, 2_000_000)
PARROT_BITS = {"dense": Bound(41, at_most=True), "mac": Bound(61, at_most=True)}
PARROT_OF_ORACLE = {"dense": Bound(0.45, 0.65), "mac": Bound(0.3, 0.45)}


def best_form(part, contestant):
    """The form of the greatest median among calls of 64 keys and more."""
    mine = part.select(contestant=contestant, metric=records.LOOKUPS).measured()
    overlapping = records.Record([row for row in mine.rows if row["lanes_per_call"] >= 64])
    return overlapping.best_form(contestant)


def rate_of(contestant, form):
    return {"contestant": contestant, "form": form, "metric": records.LOOKUPS}


def best_oracle(part, contestant, form=None):
    """Name and form of the fastest oracle over a contestant's bytes; a plain call's is plain."""
    found = {}
    for hint in HINTS:
        name = f"oracle_of_{contestant}_{hint}"
        called = form or best_form(part, name)
        rate = part.median(**rate_of(name, called)) if called else None
        if rate is not None:
            found[name, called] = rate
    return max(found, key=found.get) if found else None


def share_of_oracle(part, contestant, form=None):
    oracle = best_oracle(part, contestant, form)
    called = form or best_form(part, contestant)
    if oracle is None or called is None:
        return None
    return part.ratio(rate_of(contestant, called), rate_of(*oracle))


def multiple(part, contestant, peer):
    """Of the peer's best call, however many keys it has."""
    forms = best_form(part, contestant), part.best_form(peer, metric=records.LOOKUPS)
    if None in forms:
        return None
    return part.ratio(rate_of(contestant, forms[0]), rate_of(peer, forms[1]))


def cost(part, dearer, cheaper):
    ratio = multiple(part, dearer, cheaper)
    return None if ratio is None else 1 - ratio


def slower_beside(part, contestant, updates):
    """Than at rest, by medians: passes at rest and beside updates are not of the same rounds."""
    rest, beside_updates = (part.median(contestant=contestant, metric=records.LOOKUPS, form=form)
                            for form in (AT_REST, f"{updates} updates/s"))
    return None if not rest or beside_updates is None else 1 - beside_updates / rest


def bits(part, contestant):
    return part.median(contestant=contestant, metric="bits_per_key")


def is_judged(part):
    """Musts are about 16M keys on huge pages; a quick run has fewer."""
    return part.on_equal_huge_pages() and FULL_COUNT in part.values("slots")


def speed_section(record, experiment, title):
    part = record.select(experiment=experiment).measured()
    if not part.rows:
        return None
    section = Section(title)
    forms = [form for form in part.select(metric=records.LOOKUPS).values("form")]
    rows = []
    for name in part.select(metric="bits_per_key").values("contestant"):
        there = part.select(contestant=name)
        rows.append([name, *(cell(there.median(form=form, metric=records.LOOKUPS))
                             for form in forms),
                     cell(share_of_oracle(part, name), 2),
                     cell(bits(part, name), 1),
                     cell(per_key(there, "builder_bytes"), 1),
                     cell(there.median(metric="stranger_share"), 4),
                     cell(there.median(metric="stranger_lookups_m_per_s"))])
    section.tables.append(Table(
        ["M lookups/s", *forms, "of its oracle", "bits a key", "builder's bits a key",
         "strangers with a value", "M strangers/s"], rows))
    return section


def line_map_verdicts(record):
    line_map, source = jobs_of.LINE_MAP, "line map"
    for load, bound in LINE_MAP_BITS.items():
        part = record.select(experiment=f"speed_{load:g}").measured()
        if FULL_COUNT in part.values("slots"):
            yield bound.verdict(source, f"load {load:g}: bits a key", bits(part, line_map), 2)
    part = record.select(experiment="speed_0.85").measured()
    if is_judged(part):
        yield OF_ORACLE.verdict(source, "16M: of the oracle", share_of_oracle(part, line_map))
        yield OF_ORACLE.verdict(source, "16M, plain calls: of the oracle",
                                share_of_oracle(part, line_map, PLAIN))
        yield OVER_RTE_HASH.verdict(source, "16M: times rte_hash",
                                    multiple(part, line_map, jobs_of.RTE_HASH), 2)
        yield COST.verdict(source, "cost of 8-bit fingerprints",
                           cost(part, jobs_of.FINGERPRINTS, line_map))
        yield COST.verdict(source, "cost of versions, and of quiescent points",
                           cost(part, jobs_of.SHARED, line_map))
    part = record.select(experiment="speed_64m").measured()
    if part.on_equal_huge_pages():
        yield OF_ORACLE.verdict(source, "64M: of the oracle", share_of_oracle(part, line_map))
    part = record.select(experiment="speed_8_bits").measured()
    if is_judged(part):
        yield OVER_RTE_EFD.verdict(source, "16M, 8-bit values: times rte_efd",
                                   multiple(part, line_map, jobs_of.RTE_EFD), 2)
    part = record.select(experiment="build", workload="mac uniform").measured()
    if FULL_COUNT in part.values("slots"):
        yield BUILD.verdict(source, "build, M keys/s", part.median(
            contestant=line_map, metric="build_m_per_s"), 2)
    part = record.select(experiment="updates").measured()
    if FULL_COUNT in part.values("slots"):
        yield UPDATES.verdict(source, "updates/s", part.median(
            contestant=line_map, metric="changes_per_s"), 0)
    part = record.select(experiment="updates_beside").measured()
    if FULL_COUNT in part.values("slots"):
        yield BESIDE.verdict(source, f"a reader beside {jobs_of.MUST_RATE:,} updates/s: slower by",
                             slower_beside(part, line_map, jobs_of.MUST_RATE))


def parrot_verdicts(record):
    parrot, source = jobs_of.PARROT, "Parrot"
    for keys, experiment in (("dense", "speed_dense"), ("mac", "speed_0.85")):
        part = record.select(experiment=experiment).measured()
        if FULL_COUNT in part.values("slots"):
            yield PARROT_BITS[keys].verdict(source, f"{keys}: bits a key", bits(part, parrot), 2)
        if is_judged(part):
            yield PARROT_OF_ORACLE[keys].verdict(source, f"{keys}: of the oracle",
                                                 share_of_oracle(part, parrot))
    part = record.select(experiment="build", workload="mac uniform").measured()
    if FULL_COUNT in part.values("slots"):
        yield PARROT_BUILD.verdict(source, "build of sorted keys, M keys/s", part.median(
            contestant=parrot, metric="build_m_per_s"), 2)


TITLES = {"speed_0.85": "48-bit keys, 16-bit values, load 0.85",
          "speed_0.95": "48-bit keys, 16-bit values, load 0.95",
          "speed_8_bits": "8-bit values beside rte_efd", "speed_64m": "64M keys",
          "speed_dense": "dense keys", "speed_vendor": "addresses in runs under vendors' prefixes"}


def fingerprint_section(record):
    """What fingerprints cost, beside what their bytes cost: an oracle touches nothing else."""
    part = record.select(experiment="speed_fingerprints").measured()
    section = Section("8-bit fingerprints", notes=[
        "They cost a share of the lookups without them, in the best calls of each. Their bytes "
        "alone: the same share of the oracles, which touch a line of as many bytes and compute "
        "nothing. No layout of so many bits avoids that."])
    plain, longer = jobs_of.LINE_MAP, jobs_of.FINGERPRINTS
    rows = []
    for count in part.values("slots"):
        mine = part.select(slots=count)
        oracles = [best_oracle(mine, name) for name in (longer, plain)]
        by_bytes = None if None in oracles else cost(mine, *(name for name, _ in oracles))
        rows.append([f"{count / 1e6:g}M", *(cell(bits(mine, name), 1) for name in (plain, longer)),
                     cell(cost(mine, longer, plain), 3), cell(by_bytes, 3),
                     *(cell(share_of_oracle(mine, name), 2) for name in (plain, longer))])
    section.tables.append(Table(["keys", "bits a key", "with fingerprints", "they cost",
                                 "their bytes alone", "of its oracle",
                                 "of its oracle, with fingerprints"], rows))
    return section if part.rows else None


def build_section(record):
    part = record.select(experiment="build").measured()
    section = Section("building", notes=["From sorted entries, one at a time."])
    sets = part.values("workload")
    rows = [[name, *(cell(part.median(contestant=name, workload=keys, metric="build_m_per_s"), 2)
                     for keys in sets)] for name in part.values("contestant")]
    section.tables.append(Table(["M keys/s", *sets], rows))
    return section if part.rows else None


def update_section(record):
    part = record.select(experiment="updates").measured()
    section = Section("updates", notes=["Half give a key another value, a quarter bring a key in, "
                                        "a quarter take one out. A rebuild is in the time."])
    rows = []
    for name in part.select(metric="changes_per_s").values("contestant"):
        mine = part.select(contestant=name)
        rebuilds = [row["value"] for row in mine.select(metric="rebuilds").rows]
        refused = [row["value"] for row in mine.select(metric="refused").rows]
        rows.append([name, cell(mine.median(metric="changes_per_s"), 0),
                     cell(statistics.fmean(rebuilds), 1), cell(sum(refused), 0),
                     *(cell(mine.median(form=form, metric="bits_per_key"), 1)
                       for form in ("as built", "after changes"))])
    section.tables.append(Table(["", "updates/s", "rebuilds a round", "refused",
                                 "bits a key, as built", "after"], rows))
    return section if part.rows else None


def sections(record):
    found = [speed_section(record, experiment, title) for experiment, title in TITLES.items()]
    found += [fingerprint_section(record), build_section(record), update_section(record)]
    verdicts = [*line_map_verdicts(record), *parrot_verdicts(record)]
    if verdicts:
        found.append(Section("What value-only tables must reach", verdicts=verdicts))
    return [section for section in found if section is not None]
