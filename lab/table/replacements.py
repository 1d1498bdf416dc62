"""What a record says of tables whose entries are replaced: how fast, and what it leaves behind.

Ages are counts, which repeat exactly: of lookups in a table that is new and in one each of whose
entries has been replaced so many times, the share that touches a second line.
"""
import re

from report.bench import PEER
from report.section import Section, Table, cell, joined, size_name

REPLACEMENTS = "replacements_m_per_s"
SECOND_LINES = "second_lines"
HITS, MISSES = 0.0, 1.0
PEER_LOAD = 0.8  # what rte_hash is held at, whatever ours holds


def ratio(part, contestant, load):
    return part.ratio({"contestant": contestant, "load": load},
                      {"contestant": PEER, "load": PEER_LOAD}, metric=REPLACEMENTS)


def replacement_sections(record, _name):
    found = []
    for slots in record.measured().values("slots"):
        part = record.measured().select(slots=slots)
        fair = part.on_equal_huge_pages()
        rows = [[contestant, f"{load:g}", cell(part.median(contestant=contestant, load=load), 2),
                 cell(ratio(part, contestant, load) if fair else None, 2)]
                for contestant in part.values("contestant")
                for load in part.select(contestant=contestant).values("load")]
        found.append(Section(
            f"replacements one by one, {size_name(slots)}",
            tables=[Table(["contestant", "load", "M replacements/s",
                           f"x rte_hash at load {PEER_LOAD:g}"], rows)]))
    return found


def age_of(workload):
    """How many times each entry has been replaced."""
    said = re.fullmatch(r"replaced (\d+) times", workload)
    return int(said[1]) if said else 0


def second_lines(part, contestant):
    """{age: (share of hits, share of misses)} that touch a second line."""
    mine = part.select(metric=SECOND_LINES, contestant=contestant).measured()
    return {age_of(workload): tuple(mine.median(workload=workload, miss_ratio=miss)
                                    for miss in (HITS, MISSES))
            for workload in mine.values("workload")}


def aged_sections(record, _name):
    rows = []
    for contestant in record.values("contestant"):
        part = record.select(contestant=contestant, metric=SECOND_LINES).measured()
        by_age = second_lines(part, contestant)
        for age, (hits, misses) in by_age.items():
            new_hits, new_misses = by_age.get(0, (None, None))
            rows.append([contestant, f"{part.rows[0]['load']:g}", str(age), cell(hits, 4),
                         cell(_over(hits, new_hits), 2), cell(misses, 4),
                         cell(_over(misses, new_misses), 2)])
    return [Section("second lines of tables that have aged", tables=[Table(
        ["contestant", "load", "replacements of each entry", "a hit", "x new", "a miss", "x new"],
        rows)])]


def _over(figure, new):
    return figure / new if figure is not None and new else None


def aged_row(name, part, contestant, ages):
    """For README: second lines of hits and misses in percent, new, aged, and aged over new."""
    by_age = second_lines(part, contestant)
    shares = [by_age.get(age, (None, None)) for age in (0, *ages)]
    over = [_over(aged, new) for aged, new in zip(shares[-1], shares[0])]
    return [name, *(joined([cell(share and share * 100, 1, "%") for share in pair])
                    for pair in shares), joined([cell(figure, 1) for figure in over])]
