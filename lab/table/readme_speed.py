"""The speed tables of README, as Markdown, from a record of the experiment `table`.

A row that the record knows nothing of is not there; one that was not run says why.
"""
from report import bench, record as records
from report.bench import PEER, PLAIN
from report.section import MISS_NAMES, cell, joined, markdown_table, size_name
from table import lookups, replacements, targets
from table.jobs import AGED_CASES, AGES, CHURNS, ZIPFS
from table.targets import OURS

HEADER = ["", "rte_hash, best call", "plain calls", "overlapping calls", "× rte_hash, plain",
          "× rte_hash, overlapping", "of the ceiling", "of the oracle"]
HINT_HEADER = "lines by"
AGED_HEADER = ["second lines, of hits / of misses", "new",
               *(f"each entry replaced {age} times" for age in AGES),
               f"{AGES[-1]} times over new"]
CHURN_MISSES = 0.2


def _why_not_run(part):
    return next((row["note"] for row in part.not_run()), None)


def _row_not_run(name, part):
    return [name, _why_not_run(part), *["-"] * (len(HEADER) - 2)]


def _peer_cell(part, figure):
    """What rte_hash reached; where it was not run, that."""
    why = _why_not_run(part.select(contestant=PEER))
    return why if figure == "-" and why else figure


def _lookup_row(name, part, contestant, oracle, misses=tuple(MISS_NAMES)):
    def form(miss):
        return lookups.overlapped_form(part, contestant, miss)

    def each(figure, digits):
        return joined([cell(figure(miss), digits) for miss in misses])

    def percent(figure):
        return joined([f"{share:.0%}" if share is not None else "-"
                        for share in map(figure, misses)])

    plain = lookups.ratios_to_peer(part, contestant, plain=True, misses=misses)
    overlapped = lookups.ratios_to_peer(part, contestant, misses=misses)
    peer = each(lambda miss: part.median(contestant=PEER, miss_ratio=miss,
                                         form=part.best_form(PEER, miss_ratio=miss)), 1)
    return [name, _peer_cell(part, peer),
            each(lambda miss: part.median(contestant=contestant, form=PLAIN, miss_ratio=miss), 1),
            each(lambda miss: part.median(contestant=contestant, form=form(miss),
                                          miss_ratio=miss), 1),
            each(plain.get, 2), f"**{each(overlapped.get, 2)}**",
            percent(lambda miss: bench.share_of_ceiling(part, contestant, form(miss),
                                                        miss_ratio=miss)),
            percent(lambda miss: lookups.share_of_oracle(part, contestant, form(miss), oracle,
                                                         miss))]


def _lookup_rows(record):
    """(row, our part of the record) of evenly drawn lookups, then of skewed and churning ones."""
    rates = record.select(load=0.8)
    for case in targets.CASES:
        part = rates.select(slots=float(case.slots), experiment=case.experiment)
        yield from _of_case(case.name, part, case.contestant, case.oracle)
    if not _is_of_processes(record):
        return
    for case in targets.CASES:
        for exponent in ZIPFS:
            part = rates.select(slots=float(case.slots), experiment="zipf",
                                workload=f"zipf {exponent:g}")
            yield from _of_case(f"{case.name}, hits by Zipf {exponent:g}", part, case.contestant,
                                case.oracle, (0.0,))
    for case in targets.CASES:
        for ratio in CHURNS:
            part = rates.select(slots=float(case.slots), experiment="churn",
                                workload=f"churn 1:{ratio}")
            yield from _of_case(f"{case.name}, an entry replaced in {ratio} lookups, "
                                f"{CHURN_MISSES:.0%} misses", part, case.contestant, case.oracle,
                                (CHURN_MISSES,))


def _is_of_processes(record):
    """Records of before, when tables did not change places in memory, have the rows of then."""
    return any(row.get("process") is not None for row in record.rows)


def _of_case(name, part, contestant, oracle, misses=tuple(MISS_NAMES)):
    mine = part.select(contestant=contestant)
    measured = mine.select(metric=records.LOOKUPS).measured()
    if measured.rows:
        if _is_of_processes(part):  # before, rte_hash's figures were those of the first job
            part = part.select(job=measured.rows[0]["job"])
        yield _lookup_row(name, part, contestant, oracle, misses), mine
    elif mine.not_run():
        yield _row_not_run(name, mine), mine


def _insert_rows(record):
    for slots in record.select(experiment="fills").values("slots"):
        part = record.select(experiment="fills", slots=slots)
        for load in targets.INSERTS:
            at_load = part.select(load=load)
            mine = at_load.select(contestant=OURS)
            for form in (None, "1 keys a call"):
                name = "insert one key a call" if form else "batched insert"
                name += f", {size_name(slots)}, to load {load:g}"
                if mine.select(**({"form": form} if form else {})).measured().rows:
                    yield _insert_row(name, at_load, load, form), mine
                elif mine.not_run() and not form:
                    yield _row_not_run(name, mine), mine


def _insert_row(name, part, load, form):
    """By one key a call, as rte_hash inserts; or in batches, by the best of them."""
    is_single = form is not None
    form = form or part.best_form(OURS, load=load)
    rate = cell(part.median(contestant=OURS, form=form))
    ratio = cell(part.ratio({"contestant": OURS, "form": form}, {"contestant": PEER}), 2)
    figures = [rate, "-", ratio, "-"] if is_single else ["-", rate, "-", f"**{ratio}**"]
    return [name, _peer_cell(part, cell(part.median(contestant=PEER))), *figures, "-", "-"]


def _replacement_rows(record):
    for slots in record.select(experiment="replacements").values("slots"):
        part = record.select(experiment="replacements", slots=slots)
        at_peer = part.select(load=replacements.PEER_LOAD)
        for load in part.values("load"):
            mine = part.select(contestant=OURS, load=load)
            name = (f"replace one by one, {size_name(slots)}, load {load:g}"
                    + (f" (rte_hash: {replacements.PEER_LOAD:g})"
                       if load != replacements.PEER_LOAD else ""))
            if mine.measured().rows:
                yield [name, _peer_cell(at_peer, cell(at_peer.median(contestant=PEER))),
                       cell(mine.median()), "-", cell(replacements.ratio(part, OURS, load), 2),
                       "-", "-", "-"], mine
            elif mine.not_run():
                yield _row_not_run(name, mine), mine


def _aged_table(record):
    part = record.select(experiment="aged")
    rows = []
    for case, contestant, load, _ in AGED_CASES:
        name = f"{case}, load {load:g}"
        mine = part.select(contestant=contestant)
        if mine.measured().rows:
            rows.append(replacements.aged_row(name, mine, contestant, AGES))
        why = _why_not_run(mine)
        if why and mine.measured().rows:
            rows[-1][0] += f" ({why})"
        elif why:
            rows.append([name, why, *["-"] * (len(AGED_HEADER) - 2)])
    return "\n" + markdown_table(AGED_HEADER, rows) if rows else ""


def _span(found, field):
    """How many values of a field the rows have, from the fewest to the most."""
    counts = {len(mine.measured().values(field)) for _, mine in found if mine.measured().rows}
    return " to ".join(map(str, sorted({min(counts, default=0), max(counts, default=0)})))


def block(record):
    found = [*_lookup_rows(record), *_insert_rows(record), *_replacement_rows(record)]
    header, rows = HEADER, [row for row, _ in found]
    caption = ""
    if any(row.get("line_hint") for row in record.rows):
        header = [*HEADER, HINT_HEADER]
        rows = [[*row, mine.select(metric=records.LOOKUPS).field("line_hint") or "-"]
                for row, mine in found]
        processor = record.facts.get("cpu", "unknown").partition(" cores")
        caption = (f"\nProcessor: {''.join(processor[:2])}. Rounds: {_span(found, 'round')}, in "
                   f"{_span(found, 'process')} processes. \"{HINT_HEADER}\": the hint that lookups "
                   "in our table prefetch its buckets' lines by.\n")
    return markdown_table(header, rows) + caption + _aged_table(record)
