"""What an experiment has to say, before it becomes text or HTML."""
import dataclasses

MISS_NAMES = {0.0: "hits", 0.5: "half", 1.0: "misses"}


@dataclasses.dataclass
class Table:
    """`kind` is measured, simulated, emulated or analytic; each row carries it."""

    header: list
    rows: list
    kind: str = "measured"


@dataclasses.dataclass
class Plot:
    """`curves` by name, each [(x, y)]. `claims` are points of the paper, [(x, y)]."""

    title: str
    x: str
    y: str
    curves: dict
    claims: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Verdict:
    """`source` is what made the claim; `verdict` and `said` come from a rule."""

    source: str
    claim: str
    verdict: str
    said: str

    @classmethod
    def of(cls, source, claim, finding):
        return cls(source, claim, finding.verdict, finding.said)


@dataclasses.dataclass
class Section:
    title: str
    notes: list = dataclasses.field(default_factory=list)
    tables: list = dataclasses.field(default_factory=list)
    plots: list = dataclasses.field(default_factory=list)
    verdicts: list = dataclasses.field(default_factory=list)


def size_name(slots):
    slots = int(slots)
    for unit, name in ((1 << 20, "M"), (1 << 10, "K")):
        if slots >= unit and slots % unit == 0:
            return f"{slots // unit}{name}"
    return str(slots)


def cell(number, digits=1, unit=""):
    return "-" if number is None else f"{number:.{digits}f}{unit}"


def joined(cells):
    """Several figures in one cell."""
    return "-" if set(cells) == {"-"} else " / ".join(cells)


def markdown_table(header, rows):
    """As README shows it; cells are text."""
    lines = ["| " + " | ".join(row) + " |" for row in (header, *rows)]
    lines.insert(1, "|" + "---|" * len(header))
    return "\n".join(lines) + "\n"


def not_run_section(record):
    """What a record says was not run, and why: a list of one section or none."""
    rows = [[row["contestant"], row["experiment"], "-" if not row["slots"] else
             size_name(row["slots"]), cell(row["load"], 2), cell(row.get("core_count"), 0),
             row["note"].removeprefix("not run: ")] for row in record.not_run()]
    header = ["contestant", "part", "slots", "load", "cores", "why"]
    return [Section("Not run", tables=[Table(header, rows, kind="not run")])] if rows else []
