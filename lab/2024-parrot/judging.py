"""What the judges of the Parrot paper's figures have in common.

A verdict is by rule: order, sign, figure within 25 %. Where a figure of the paper is not written
out (curves), only what its text says is judged. Its rates are no targets; ratios within a run are.
WIKI and BOOK are stand-ins here unless SOSD's files are given, and say so.
"""
from harness.beside import beside
from report import record as records, rules
from report.rules import Finding
from report.section import Verdict

jobs_of = beside(__file__, "jobs")
WITHIN = 0.25
CALL = "64 keys a call"
SAID = {jobs_of.PARROT: "Parrot", jobs_of.LINE_MAP: "line map", jobs_of.LUDO: "Ludo",
        jobs_of.LMH: "chained LMH", jobs_of.CUCKOO: "(2,4)-cuckoo"}
NOT_MEASURED = Finding(rules.NOT_RUN, "nothing was measured")


def set_name(keys):
    """As a row's workload has it."""
    return keys.rpartition("/")[2]


def workload(paper, exponent=0.0):
    keys = set_name(jobs_of.SETS[paper][0])
    return f"{keys} {f'zipf {exponent:g}' if exponent else 'uniform'}"


def stand_in_notes(part):
    """Which key sets of these rows are synthetic."""
    names = {str(value).partition(" ")[0] for value in part.values("workload")}
    return [f"{name}: {said}." for name, said in jobs_of.STAND_INS.items() if name in names]


def rate(contestant):
    return {"contestant": contestant, "metric": records.LOOKUPS, "form": CALL}


def judged_times(part, verdicts):
    """Verdicts about times count only where all were on huge pages."""
    if part.on_equal_huge_pages():
        return verdicts
    why = "not on equal pages of 2 MiB or more"
    return [Verdict(verdict.source, verdict.claim, rules.NOT_RUN, why) for verdict in verdicts]


def or_not(value, rule):
    return NOT_MEASURED if value is None else rule()


def quotient(above, below):
    return None if above is None or not below else above / below


def per_key(part, metric):
    """Bits a key of a figure in bytes."""
    size, count = part.median(metric=metric), part.field("entries", metric=metric)
    return None if size is None or not count else 8 * size / count
