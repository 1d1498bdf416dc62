"""README's tables of the shared packed table, as Markdown, from a record of this experiment."""
from harness.job import SIZES
from report.bench import PLAIN
from report.record import LOOKUPS
from report.section import cell, joined, markdown_table, size_name
from table import lookups

SHARING_HEADER = ["32 / 256 keys a call", "shared, of exclusive",
                  "beside 500,000 updates/s, of an idle writer", "two readers, of one"]
HEADER = ["hits, load 0.95", "rte_hash, best call", "published code, best call", "plain calls",
          "overlapping calls", "× rte_hash, plain", "× rte_hash, overlapping", "× published",
          "of the oracle"]

LAYOUT_NAMES = {"roost_packed": "packed, 48 + 16 bits", "roost_flow_table": "split, 128 + 128 bits",
                "roost_inline_2": "inline, 104 + 128 bits"}


def rate_row(speed, name, part):
    """Of one size: peers, ours plain and overlapping, and what ours is of theirs."""
    shared, published = speed.SHARED, speed.PUBLISHED
    form = lookups.overlapped_form(part, shared, 0.0)
    peer = speed.peer_of(part, form)
    best = {"contestant": published, "form": part.best_form(published)}
    of_oracle = lookups.share_of_oracle(part, shared, form, speed.ORACLE, 0.0)
    overlaps = form != PLAIN
    return [name, cell(part.median(**peer)), cell(part.median(**best)),
            cell(part.median(contestant=shared, form=PLAIN)),
            cell(part.median(contestant=shared, form=form)) if overlaps else "-",
            cell(speed.ratio_to_peer(part, shared, PLAIN), 2),
            f"**{cell(speed.ratio_to_peer(part, shared, form), 2)}**" if overlaps else "-",
            cell(part.ratio({"contestant": shared, "form": form}, best), 2),
            f"{of_oracle:.0%}" if of_oracle else "-"]


def sharing_row(speed, name, record, slots):
    """What a writer and a second reader do to a reader, and sharing to a table, by form."""
    def shares(part, ratio):
        return joined([cell(ratio(part.select(contestant=speed.SHARED), form), 2)
                       for form in (PLAIN, "256 keys a call")])

    updates = record.select(experiment="updates", slots=slots)
    busy = next((it for it in updates.values("workload") if "updates" in it), None)
    rates = record.select(experiment="speed", slots=slots)
    of_exclusive = [cell(rates.ratio({"contestant": speed.SHARED}, {"contestant": speed.EXCLUSIVE},
                                     form=form), 2) for form in (PLAIN, "256 keys a call")]
    return [name, joined(of_exclusive),
            shares(updates, lambda part, form: part.ratio(
                {"workload": busy}, {"workload": "idle writer"}, form=form,
                metric=LOOKUPS)),
            shares(record.select(experiment="readers", slots=slots),
                   lambda part, form: speed.scaling(part, speed.SHARED, form))]


def rates_block(speed, record):
    """Of tables of all sizes that peers can have, and what sharing costs."""
    rows, sharing = [], []
    for experiment, title in (("speed", "{}"), ("zipf", f"{{}}, by Zipf {speed.ZIPF:g}")):
        for slots, _, part in lookups.places(record.select(experiment=experiment)):
            rows.append(rate_row(speed, title.format(size_name(slots)), part))
            if experiment == "speed":
                sharing.append(sharing_row(speed, size_name(slots), record, slots))
    return "\n".join([markdown_table(HEADER, rows), markdown_table(SHARING_HEADER, sharing)])


def billion_block(speed, record):
    """Of a thousand million entries."""
    part = record.select(experiment="billion").measured()
    rates = part.select(metric=LOOKUPS)
    shared = speed.SHARED
    form = lookups.overlapped_form(rates, shared, 0.0)
    lines = rates.field("lines_per_lookup", contestant=shared)
    of_oracle = lookups.share_of_oracle(rates, shared, form, speed.ORACLE, 0.0)
    seconds = [cell(part.median(metric="bulk_seconds", contestant=shared, core_count=threads), 0)
               for threads in (1.0, 2.0)]
    rows = [["bytes an entry", cell(part.median(metric="bytes_per_entry", contestant=shared), 2)],
            ["seconds to fill, one / two threads", joined(seconds)],
            ["hits, plain / overlapping calls",
             joined([cell(rates.median(contestant=shared, form=called))
                     for called in (PLAIN, form)])],
            ["of the oracle, over lines touched",
             f"{of_oracle * lines:.0%}" if of_oracle and lines else "-"]]
    return markdown_table(["1,000 million entries", ""], rows)


LAYOUT_HEADER = ["layout, key + value, 32M slots", "load", "bytes an entry", "M hits/s",
                 "shared: hits, of those", "misses, of unshared ones"]


def layouts_block(speed, record):
    """What sharing costs each layout, 256 keys a call: where an entry is a word, and several."""
    rows = []
    for name, experiment in ((speed.EXCLUSIVE, "speed"),
                             *((wide, "wide") for wide, _, _ in speed.WIDE)):
        part = record.select(experiment=experiment, slots=float(SIZES["32M"]),
                             form="256 keys a call").measured()
        mine = part.select(contestant=name, metric=LOOKUPS)
        if not mine.rows:
            continue
        shares = [part.ratio({"contestant": f"{name}_shared"}, {"contestant": name},
                             miss_ratio=miss) for miss in (0.0, 1.0)]
        rows.append([LAYOUT_NAMES[name], cell(mine.field("load"), 2),
                     cell(lookups.bytes_an_entry(mine, name)), cell(mine.median(miss_ratio=0.0)),
                     *("-" if share is None else f"{share:.0%}" for share in shares)])
    processor = record.facts.get("cpu", "unknown").partition(" cores")
    return markdown_table(LAYOUT_HEADER, rows) + f"\nProcessor: {''.join(processor[:2])}.\n"
