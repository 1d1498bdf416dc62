"""The tables of README and of docs/tables.md about value-only tables, as Markdown, from a record.

A part that the record has not is not there; a figure that it has not is "-".
"""
from harness.beside import beside
from report import record as records
from report.section import cell, markdown_table

musts = beside(__file__, "musts")
jobs_of = musts.jobs_of
NAMES = {jobs_of.LINE_MAP: "**line map**", jobs_of.SHARED: "**line map**, shared",
         jobs_of.FINGERPRINTS: "**line map**, 8-bit fingerprints", jobs_of.PARROT: "**Parrot**",
         jobs_of.RESEEDING: "**Parrot**, re-seeding", jobs_of.PACKED: "**packed**",
         jobs_of.RTE_HASH: "rte_hash", jobs_of.RTE_EFD: "rte_efd", jobs_of.LUDO: "Ludo",
         jobs_of.OTHELLO: "Othello", jobs_of.LMH: "chained LMH", jobs_of.CUCKOO: "(2,4)-cuckoo"}
KEYS = {"mac": "random", "dense": "dense", "vendor": "in vendors' runs"}
OF_DPDK = (jobs_of.RTE_HASH, jobs_of.RTE_EFD)
CHOICE = (jobs_of.LINE_MAP, jobs_of.FINGERPRINTS, jobs_of.PARROT, jobs_of.PACKED, jobs_of.RTE_HASH)
CHOICE_COLUMNS = ["", "keys", "bits a key", "and the builder's", "M lookups/s",
                  "strangers with a value"]
SPEED_COLUMNS = ["", "keys", "bits a key", "and the builder's", "plain calls", "overlapping calls",
                 "× DPDK's", "of the oracle", "strangers with a value"]
WORK_HEADER = ["", *(f"built, M keys/s, {KEYS[keys]}" for keys in ("mac", "dense")), "updates/s",
               f"lookups beside {jobs_of.MUST_RATE:,} updates/s, of those at rest"]
SWITCH = {"stages of 12": "stages", "SRAM blocks": "sram_blocks", "TCAM blocks": "tcam_blocks",
          "largest table that fits": "keys_max"}


def keys_of(part):
    """What keys a part is of, how many, and how full."""
    count, load = part.field("entries"), part.field("load")
    keys = part.values("workload")[0].partition(" ")[0]
    values = "" if part.field("value_bytes") == 2 else ", 8-bit values"
    return f"{count / 1e6:g}M {KEYS.get(keys, keys)}, load {load:g}{values}"


def parts(record):
    for experiment in musts.TITLES:
        part = record.select(experiment=experiment).measured()
        if part.rows:
            yield part


def names_in(part):
    return [name for name in part.select(metric="bits_per_key").values("contestant")
            if name in NAMES]


def rate_cell(part, name, form):
    return cell(part.median(**musts.rate_of(name, form))) if form else "-"


def builder_cell(part, name):
    """Of tables that keep their keys there is no builder beside them."""
    bits = musts.per_key(part.select(contestant=name), "builder_bytes")
    return cell(bits) if bits else "-"


def stranger_cell(part, name):
    share = part.median(contestant=name, metric="stranger_share")
    return "-" if share is None else f"{share:.1%}" if share else "none"


def speed_row(part, name):
    """By column. Of DPDK's tables, whose best call counts, a part has one at most."""
    peer = next((one for one in OF_DPDK if one in part.values("contestant")), None)
    times = musts.multiple(part, name, peer) if peer and name != peer else None
    share = musts.share_of_oracle(part, name)
    best = part.best_form(name, metric=records.LOOKUPS)
    return {"": NAMES[name], "keys": keys_of(part), "bits a key": cell(musts.bits(part, name)),
            "and the builder's": builder_cell(part, name),
            "plain calls": rate_cell(part, name, musts.PLAIN),
            "overlapping calls": rate_cell(part, name, musts.best_form(part, name)),
            "M lookups/s": rate_cell(part, name, best), "× DPDK's": cell(times, 2),
            "of the oracle": "-" if share is None else f"{share:.0%}",
            "strangers with a value": stranger_cell(part, name)}


def speed_table(record, columns, contestants):
    rows = [speed_row(part, name) for part in parts(record) for name in names_in(part)
            if name in contestants]
    return markdown_table(columns, [[row[column] for column in columns] for row in rows])


def work_rows(record):
    """Of what builds and changes tables: none where nothing of it was measured."""
    built, changed, beside_updates = (record.select(experiment=name).measured()
                                      for name in ("build", "updates", "updates_beside"))
    for name, said in NAMES.items():
        slower = musts.slower_beside(beside_updates, name, jobs_of.MUST_RATE)
        figures = [*(cell(built.median(contestant=name, workload=f"{keys} uniform",
                                       metric="build_m_per_s"), 2) for keys in ("mac", "dense")),
                   cell(changed.median(contestant=name, metric="changes_per_s"), 0),
                   "-" if slower is None else f"{1 - slower:.0%}"]
        if set(figures) != {"-"}:
            yield [said, *figures]


def caption(record):
    """Of what lookups were timed on."""
    timed = [part.select(metric=records.LOOKUPS) for part in parts(record)]
    rounds, processes = (joined_counts(len(part.values(field)) for part in timed)
                         for field in ("round", "process"))
    processor = record.facts.get("cpu", "unknown").partition(" cores")
    return (f"\nProcessor: {''.join(processor[:2])}. Rounds: {rounds}, in {processes} "
            "processes.\n")


def joined_counts(counts):
    return " or ".join(map(str, sorted(set(counts))))


def speed_block(record):
    """README's: every table, and what builds and changes them."""
    text = speed_table(record, SPEED_COLUMNS, NAMES) + caption(record)
    rows = list(work_rows(record))
    return text + ("\n" + markdown_table(WORK_HEADER, rows) if rows else "")


def choice_block(record):
    """Ours beside rte_hash, by what decides between them."""
    return speed_table(record, CHOICE_COLUMNS, CHOICE) + caption(record)


def switch_block(record):
    """What Tofino 1 would need, by arithmetic."""
    part = record.select(experiment="f16", kind="analytic").measured()
    rows = []
    for keys in part.values("workload"):
        mine = part.select(workload=keys)
        rows.append([f"{mine.field('entries'):,.0f} {KEYS.get(keys.partition(' ')[0], keys)}",
                     *(cell(mine.median(metric=metric), 0) for metric in SWITCH.values())])
    return markdown_table(["keys", *SWITCH], rows)


BLOCKS = {"speed": speed_block, "choice": choice_block, "switch": switch_block}
