"""README's chart of lookups that hit: our table, rte_hash and the ceiling, from a record.

It shows every case of the table of speed, at the load and by the calls that the table is of, and
says in words what the chart leaves out: lookups that miss.
"""
from report import bench, record as records
from report.bar_chart import DARK, LIGHT, Bar, Chart, Group, Row, render
from report.bench import PEER
from report.section import size_name
from table import lookups, targets

LOAD = 0.8
HITS = 0.0
MEBI = 1 << 20
FILES = {"docs/speed-light.svg": LIGHT, "docs/speed-dark.svg": DARK}


def _parts(record):
    """(case, the part of the record that it was measured in), by rising size."""
    for case in sorted(targets.CASES, key=lambda case: case.slots):
        part = record.select(load=LOAD, slots=float(case.slots), experiment=case.experiment,
                             metric=records.LOOKUPS).measured()
        mine = part.select(contestant=case.contestant)
        if mine.rows:
            yield case, part.select(job=mine.rows[0]["job"])


def _ratio(part, contestant, miss):
    return lookups.ratio_to_peer(part, contestant,
                                 lookups.overlapped_form(part, contestant, miss), miss)


def _row(case, part):
    def bar(contestant, form):
        return Bar(list(part.by_round(contestant=contestant, form=form,
                                      miss_ratio=HITS).values()))

    form = lookups.overlapped_form(part, case.contestant, HITS)
    ours = part.select(contestant=case.contestant, form=form, miss_ratio=HITS).rows[0]
    key, value = (int(ours[field]) for field in ("key_bytes", "value_bytes"))
    detail = (f"{key}-byte keys and values" if key == value
              else f"{key}-byte keys, {value}-byte values")
    return Row(case.name.rpartition(",")[0], detail, bar(case.contestant, form),
               bar(PEER, part.best_form(PEER, miss_ratio=HITS)),
               Bar(list(bench.best_ceiling(part, ours).values())),
               _ratio(part, case.contestant, HITS))


def _span(numbers, form="{:g}"):
    return " to ".join(dict.fromkeys(form.format(end) for end in (min(numbers), max(numbers))))


def _groups(parts):
    for slots in dict.fromkeys(case.slots for case, _ in parts):
        mine = [(case, part) for case, part in parts if case.slots == slots]
        entries = mine[0][1].field("entries", contestant=mine[0][0].contestant)
        mebibytes = [part.field("table_bytes", contestant=case.contestant) / MEBI
                     for case, part in mine]
        yield Group(f"{size_name(slots)} slots",
                    f"{entries / 1e6:.3g} million entries in {_span(mebibytes, '{:.0f}')} MiB",
                    [_row(case, part) for case, part in mine])


def _notes(parts, groups):
    rounds = [len(row.ours.values) for group in groups for row in group.rows]
    processes = [len(part.values("process")) for _, part in parts]
    pages = [part.field("page_bytes", contestant=case.contestant) / MEBI for case, part in parts]
    absent = [_ratio(part, case.contestant, miss) for case, part in parts
              for miss in part.values("miss_ratio") if miss != HITS]
    yield (f"Medians of {_span(rounds)} interleaved rounds in {_span(processes)} processes of one "
           "run, whiskers and bands from least to greatest; ratios within rounds.")
    yield (f"Load {LOAD:g}, pages of {_span(pages)} MiB. With half or all of the keys absent: "
           f"{_span(absent, '{:.2f}')} × rte_hash; README's table has these, skewed keys, churn.")


def chart(record):
    parts = list(_parts(record))
    groups = list(_groups(parts))
    processor = record.facts.get("cpu", "unknown").partition(" cores")[0].rpartition(", ")[0]
    return Chart(
        title="Lookups that hit, millions a second on one core",
        detail=f"{processor or 'unknown'} · rte_hash of {record.facts.get('rte_hash', 'unknown')}",
        ours="Roost, overlapping calls", peer="rte_hash, best call",
        ceiling="ceiling: only touches the lines a lookup needs", ratio="× rte_hash",
        groups=groups, notes=list(_notes(parts, groups)))


def files(record):
    """{path: text}."""
    made = chart(record)
    return {path: render(made, colours) for path, colours in FILES.items()}


def block(record):
    """The chart on a page that may be light or dark, with its sum in a sentence."""
    rows = [row for group in chart(record).groups for row in group.rows]
    ratios = _span([row.ratio for row in rows], "{:.2f}")
    light, dark = FILES
    return (f'<picture>\n  <source media="(prefers-color-scheme: dark)" srcset="{dark}">\n'
            f'  <img src="{light}" width="840" alt="Lookups that hit, on one core: '
            f'{ratios} times those of rte_hash.">\n</picture>\n')
