"""What a record of the host check says: each point measured and predicted, the machine, verdicts,
the floor under speed-ups. Of several checks a point is what the one says whose ratio is the median.
"""
import collections
import dataclasses
import math
import statistics

from report.rules import NOT, NOT_RUN, PARTLY, REPRODUCED, Finding
from report.section import Section, Table, Verdict, cell

PART = "host"
WAYS = {"rte_hash": "rte_hash, one key a call", "rte_hash-32": "rte_hash, 32 keys a call",
        "roost-32": "ours, 32 keys a call"}
TRIED = "rte_hash-32"
EXPECTED = (0.75, 1.25)
HALF = 0.5
NOTES = [
    "Nanoseconds a step or lookup: measured here, median (least to greatest) of rounds in turns, "
    "on one core and pages of 2 MiB; and simulated with this machine's numbers, below. "
    "Predicted is over measured. A check measures, finds the machine's numbers and predicts; of "
    "several, each row is the one whose ratio is the median, and all are in the parentheses behind "
    "it: how much of the last-level cache strangers leave differs from minute to minute. They may "
    "have the core's other hardware thread, too, which takes from what a core does at a time and "
    "hardly from what it waits for: *over the least* is predicted over the round of that check "
    "which was disturbed least. Verdicts are by medians.",
    "What counts as a test of the simulator is said in each row. Six chases find numbers, and say "
    "nothing. `rte_hash` by 32 keys a call is not independent: [software] "
    "ten_instructions_cycles of sim/machine.toml was set after looking at a trial of it on "
    "another machine; that number is in the other lookups too, which no trial set it by.",
    "Simulated are one core, one slice that is the whole last-level cache, and the middle of "
    "sim/machine.toml for all that was not found: also for the core's width and window, which "
    "this machine may have more of."]


@dataclasses.dataclass(frozen=True)
class Check:
    measured: tuple  # nanoseconds by round
    predicted: float

    @property
    def median(self):
        return statistics.median(self.measured)

    @property
    def ratio(self):
        return self.predicted / self.median


@dataclasses.dataclass(frozen=True)
class Point:
    name: str
    kind: str  # "chase", or a way
    finds: str  # the number that it finds
    checks: tuple

    @property
    def middle(self):
        """The check whose ratio is the median."""
        by_ratio = sorted(self.checks, key=lambda check: check.ratio)
        return by_ratio[(len(by_ratio) - 1) // 2]

    @property
    def ratio(self):
        return self.middle.ratio

    @property
    def row(self):
        check, ratios = self.middle, [check.ratio for check in self.checks]
        several = f" ({min(ratios):.2f} to {max(ratios):.2f})" if len(ratios) > 1 else ""
        return [self.name, f"{check.median:.2f} ({min(check.measured):.2f} to "
                f"{max(check.measured):.2f})", cell(check.predicted, 2),
                f"{self.ratio:.2f}{several}", cell(check.predicted / min(check.measured), 2),
                self.standing]

    @property
    def standing(self):
        if self.finds:
            return f"finds {self.finds}"
        return "after a trial" if self.kind == TRIED else "independent"


def size_of(count):
    return f"{count / 2**20:g} MiB" if count >= 1 << 20 else f"{count / 2**10:g} KiB"


def found_numbers(record):
    """{number: (value, how)} of the machine that was simulated; of several checks the median."""
    found = collections.defaultdict(list)
    for row in record.select(experiment=PART, metric="number").rows:
        found[row["contestant"]].append((int(row["value"]), row["note"]))
    return {name: statistics.median_low(values) for name, values in found.items()}


def points(record):
    part = record.select(experiment=PART)
    finds = {int(size): row["contestant"] for row in part.select(metric="number").rows
             for size in row["form"].split()}
    found = {}
    for row in part.select(kind="simulated", metric="ns").rows:
        place = {name: row.get(name) for name in ("contestant", "slots", "table_bytes", "process")}
        if row["contestant"] == "chase":
            place.pop("slots")
            name = f"chase of {size_of(row['table_bytes'])}"
        else:
            place.pop("table_bytes")
            name = f"{WAYS[row['contestant']]}, {row['entries']:,.0f} entries"
        measured = tuple(one["value"] for one in
                         part.select(kind="measured", metric="ns", **place).measured().rows)
        if measured:
            before = found[name].checks if name in found else ()
            number = finds.get(int(row["table_bytes"] or 0), "")
            found[name] = Point(name, row["contestant"], number,
                                (*before, Check(measured, row["value"])))
    return list(found.values())


def within(found, expected):
    """All ratios are within bounds; partly if half of them are."""
    if not found:
        return Finding(NOT_RUN, "nothing was measured on pages of 2 MiB")
    least, greatest = expected
    good = [point for point in found if least <= point.ratio <= greatest]
    ratios = [point.ratio for point in found]
    said = (f"{len(good)} of {len(found)} are; {min(ratios):.2f} to {max(ratios):.2f}, "
            f"median {statistics.median(ratios):.2f}")
    return Finding(REPRODUCED if len(good) == len(found) else
                   PARTLY if len(good) >= HALF * len(found) else NOT, said)


def worst(found):
    """The point that is farthest off, of those that do not find numbers."""
    return max((point for point in found if not point.finds),
               key=lambda point: abs(math.log(point.ratio)), default=None)


def sections(record):
    found = points(record)
    if not found:
        return []
    section = Section("Host check: the simulator beside this machine", notes=list(NOTES))
    section.tables.append(Table(
        ["", "measured ns", "simulated ns", "predicted over measured", "over the least",
         "what it is"],
        [point.row for point in found]))
    section.tables.append(Table(
        ["number of this machine", "value", "how it was found"],
        [[name, str(value), how] for name, (value, how) in found_numbers(record).items()],
        kind="simulated"))
    least, greatest = EXPECTED
    judged = found if record.select(experiment=PART).on_equal_huge_pages() else []
    for kinds, who in ((("chase",), "pointer chases"), (("rte_hash",), WAYS["rte_hash"]),
                       (("roost-32",), WAYS["roost-32"]), ((TRIED,), WAYS[TRIED]),
                       (("chase", "rte_hash", "roost-32"), "all that is independent")):
        mine = [point for point in judged if point.kind in kinds and not point.finds]
        section.verdicts.append(Verdict.of(
            "host check", f"{who}: predicted over measured is from {least} to {greatest}"
            + (" (not independent)" if kinds == (TRIED,) else ""), within(mine, EXPECTED)))
    off = worst(judged)
    if off:
        section.notes.append(f"The floor under speed-ups: {off.ratio:.2f}, {off.name}.")
    return [section]


KEPT_HEAD = """\
# How far the simulator was from a machine: written by lab/2019-halo/host.py --keep, of a record of
# `./dev lab 2019-halo --only host`. roost-halo prints the worst ratio of predicted over measured as
# the floor under its speed-ups. `standing`: independent; "after a trial", if a number of the
# simulator was set after looking at measurements of its kind; "finds ...", if it found that number.
"""


def kept_text(record):
    lines = [KEPT_HEAD + f'machine = "{record.facts["cpu"]}"', f'date = "{record.facts["date"]}"']
    for point in points(record):
        lines.append(f'\n[[point]]\nname = "{point.name}"\nstanding = "{point.standing}"\n'
                     f"measured_ns = {point.middle.median:.2f}\n"
                     f"predicted_ns = {point.middle.predicted:.2f}")
    return "\n".join(lines) + "\n"
