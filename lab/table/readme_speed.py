"""The speed table of README, as Markdown, from a record of the experiment `table`."""
from report import bench, record as records
from report.bench import PEER, PLAIN
from report.section import MISS_NAMES, cell, markdown_table, size_name
from table import experiment, lookups, targets
from table.targets import OURS

HEADER = ["", "rte_hash, best call", "plain calls", "overlapping calls", "× rte_hash, plain",
          "× rte_hash, overlapping", "of the ceiling", "of the oracle"]


def _of_misses(figure, digits):
    cells = [cell(figure(miss), digits) for miss in MISS_NAMES]
    return "-" if set(cells) == {"-"} else " / ".join(cells)


def _percent(figure):
    cells = [f"{share:.0%}" if share is not None else "-" for share in map(figure, MISS_NAMES)]
    return "-" if set(cells) == {"-"} else " / ".join(cells)


def _lookup_row(name, part, contestant, oracle):
    def form(miss):
        return lookups.overlapped_form(part, contestant, miss)

    plain = lookups.ratios_to_peer(part, contestant, plain=True)
    overlapped = lookups.ratios_to_peer(part, contestant)
    return [name,
            _of_misses(lambda miss: part.median(contestant=PEER, miss_ratio=miss,
                                                form=part.best_form(PEER, miss_ratio=miss)), 1),
            _of_misses(lambda miss: part.median(contestant=contestant, form=PLAIN,
                                                miss_ratio=miss), 1),
            _of_misses(lambda miss: part.median(contestant=contestant, form=form(miss),
                                                miss_ratio=miss), 1),
            _of_misses(plain.get, 2), f"**{_of_misses(overlapped.get, 2)}**",
            _percent(lambda miss: bench.share_of_ceiling(part, contestant, form(miss),
                                                         miss_ratio=miss)),
            _percent(lambda miss: lookups.share_of_oracle(part, contestant, form(miss), oracle,
                                                             miss))]


def _insert_row(part, load):
    form = part.best_form(OURS, load=load)
    return [f"batched insert, {size_name(part.rows[0]['slots'])}, to load {load:g}",
            cell(part.median(contestant=PEER, load=load)), "-",
            cell(part.median(contestant=OURS, form=form, load=load)), "-",
            f"**{cell(experiment.best_insert_ratio(part, load), 2)}**", "-", "-"]


def rows(record):
    rates = record.select(metric=records.LOOKUPS, load=0.8)
    for case in targets.CASES:
        part = rates.select(slots=float(case.slots), experiment=case.experiment)
        if part.select(contestant=case.contestant).measured().rows:
            yield _lookup_row(case.name, part, case.contestant, case.oracle)
    fills = record.select(metric=records.INSERTS, experiment="fills",
                          slots=float(experiment.SIZES["32M"])).measured()
    for load in targets.INSERTS if fills.rows else ():
        yield _insert_row(fills, load)


def block(record):
    return markdown_table(HEADER, rows(record))
