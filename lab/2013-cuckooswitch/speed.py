"""How fast the shared packed table is: 48-bit keys, 16-bit values, hits, load 0.95.

Ours, shared with an idle writer and exclusive, beside rte_hash with both forms of its keys, the
published scheme and the oracle; readers of one table; a writer at work; a thousand million entries.
And what sharing costs tables whose entries are several words.
"""
import dataclasses

from harness.job import CEILINGS, SIZES, Job
from report import record as records, rules
from report.bench import PLAIN
from report.section import Section, Table, Verdict, cell, size_name
from table import lookups, targets

SHARED, EXCLUSIVE, PUBLISHED = "roost_packed_shared", "roost_packed", "cuckooswitch"
PEERS = ("rte_hash", "rte_hash_mac")
ORACLE = "oracle_packed"
ORACLES = tuple(f"{ORACLE}_{hint}" for hint in ("t0", "t1", "nta"))
LOAD = 0.95
ZIPF = 0.99
HITS = {"loads": (LOAD,), "misses": (0.0,), "key_bits": 48}
CALLS = ("32", "64", "256", "32+next")
SIZE_NAMES = ("2M", "32M")


@dataclasses.dataclass(frozen=True)
class Target:
    must: float
    aim: float


# Multiples of rte_hash, by size and workload: overlapping calls, plain ones.
OVERLAPPING = {"2M": Target(2.9, 3.8), "32M": Target(3.2, 4.5)}
PLAIN_CALLS = {"2M": Target(2.6, 2.6), "32M": Target(2.4, 2.4)}
ZIPF_PLAIN = Target(1.5, 2.0)
# Shares: of the exclusive table's rate; of the rate with an idle writer; of the oracle's over the
# lines that are touched.
OF_EXCLUSIVE = Target(0.9, 0.97)
OF_EXCLUSIVE_WORDS = Target(1 / 1.25, 1 / 1.1)  # where an entry is several words
OF_IDLE = Target(0.85, 0.95)
OF_ORACLE = Target(0.75, 0.9)
SCALING_LOSS_MAX = 0.05
FILLING_SECONDS = {1: Target(150, 90), 2: Target(75, 40)}  # by threads
BYTES_AN_ENTRY_MAX = 8.61
WIDE = (("roost_flow_table", 0.95, 128), ("roost_inline_2", 0.8, 104))
# A thousand million entries in a table of 2^30 slots.
BILLION_SLOTS = 1 << 30
BILLION = {"loads": (1e9 / BILLION_SLOTS,), "misses": (0.0,), "key_bits": 48}


def jobs(full):
    for name in SIZE_NAMES:
        yield Job("lookups", "speed", SIZES[name],
                  (SHARED, EXCLUSIVE, PUBLISHED, *PEERS, *ORACLES), calls=("14", *CALLS),
                  ceilings=CEILINGS if full else CEILINGS[:2], processes=3 if full else 1,
                  rounds=3, **HITS)
        yield Job("lookups", "zipf", SIZES[name], (SHARED, EXCLUSIVE, *PEERS, *ORACLES),
                  calls=("32",), zipf=ZIPF, processes=2 if full else 1, rounds=4, counts=False,
                  **HITS)
        yield Job("lookups", "readers", SIZES[name], (SHARED, PUBLISHED, *ORACLES), cores=2,
                  calls=("32", "256"), shared=True, processes=2 if full else 1, rounds=4,
                  counts=False, **HITS)
        yield Job("updates", "updates", SIZES[name], (SHARED, PUBLISHED), cores=2,
                  calls=("14", "32", "256"), shared=True, rounds=7 if full else 3, **HITS)
    # Of flows: split, and inline at a load that it takes.
    for name, load, bits in WIDE:
        yield Job("lookups", "wide", SIZES["32M"], (f"{name}_shared", name), loads=(load,),
                  misses=(0.0, 1.0), calls=("32", "256"), key_bits=bits,
                  processes=2 if full else 1, rounds=4)
    if full:
        for threads in FILLING_SECONDS:
            yield Job("bulk", "billion", BILLION_SLOTS, (SHARED,), cores=threads, **BILLION)
        yield Job("lookups", "billion", BILLION_SLOTS, (SHARED, f"{ORACLE}_t1"), calls=CALLS,
                  rounds=5, **BILLION)


def peer_of(part, form):
    """The better of rte_hash's two forms of keys, and how it is called: a plain call is held
    against a plain one, any other against its best."""
    forms = {name: PLAIN if form == PLAIN else part.best_form(name) for name in PEERS}
    rates = {name: part.median(contestant=name, form=forms[name]) or 0 for name in PEERS}
    name = max(PEERS, key=rates.get)
    return {"contestant": name, "form": forms[name]}


def ratio_to_peer(part, contestant, form):
    return part.ratio({"contestant": contestant, "form": form}, peer_of(part, form))


def verdicts_of_peer(part, source, overlapping, plain):
    """Against rte_hash, where there is a target."""
    form = lookups.overlapped_form(part, SHARED, 0.0)
    for claim, called, target in (("overlapping calls", form, overlapping),
                                  ("plain calls", PLAIN, plain)):
        if target is not None:
            yield targets.verdict(source, claim, ratio_to_peer(part, SHARED, called), target.must,
                                  target.aim)


def verdict_of_share(source, claim, share, target):
    """Of the rate of something else, with a must and an aim."""
    if share is None:
        return Verdict(source, claim, rules.NOT_RUN, "nothing was measured")
    word = ("MISSED" if share < target.must else
            "aim reached" if share >= target.aim else "must reached")
    return Verdict(source, claim, word,
                   f"{cell(share, 3)}, must {target.must:g}, aim {target.aim:g}")


def rate_sections(record, experiment, title):
    found = []
    for slots, load, part in lookups.places(record.select(experiment=experiment)):
        name = size_name(slots)
        section = lookups.lookup_section(f"{title}, {name}, load {load:g}", part, ORACLE)
        if part.on_equal_huge_pages():
            is_zipf = experiment == "zipf"
            section.verdicts += verdicts_of_peer(
                part, f"{title}, {name}", None if is_zipf else OVERLAPPING.get(name),
                ZIPF_PLAIN if is_zipf else PLAIN_CALLS.get(name))
            for form in (PLAIN, lookups.overlapped_form(part, SHARED, 0.0)):
                share = part.ratio({"contestant": SHARED, "form": form},
                                   {"contestant": EXCLUSIVE, "form": form})
                if share is not None and not is_zipf:
                    section.verdicts.append(verdict_of_share(
                        f"{title}, {name}", f"{form}: shared, of the exclusive table's rate",
                        share, OF_EXCLUSIVE))
        found.append(section)
    return found


def wide_sections(record):
    """What sharing costs split and inline tables, with an idle writer."""
    part = record.select(experiment="wide")
    section = Section("split and inline tables, shared with an idle writer, 32M")
    rows = []
    for name, load, _ in WIDE:
        for misses in (0.0, 1.0):
            for form in part.select(contestant=name).values("form"):
                there = {"form": form, "miss_ratio": misses}
                share = part.ratio({"contestant": f"{name}_shared"}, {"contestant": name}, **there)
                if share is None:
                    continue
                rows.append([name, f"{load:g}", form, f"{misses:g}",
                             *(cell(part.median(contestant=contestant, **there))
                               for contestant in (name, f"{name}_shared")), cell(share, 3)])
                if misses == 0.0 and part.on_equal_huge_pages():
                    section.verdicts.append(verdict_of_share(
                        f"{name}, 32M", f"{form}: shared, of the exclusive table's rate", share,
                        OF_EXCLUSIVE_WORDS))
    section.tables.append(Table(["table", "load", "form", "misses", "exclusive", "shared", "share"],
                                rows))
    return [section] if rows else []


def scaling(part, contestant, form):
    return part.ratio({"core_count": 2.0}, {"core_count": 1.0}, contestant=contestant, form=form)


def reader_sections(record):
    """Two readers of one table, beside two of one oracle."""
    found = []
    for slots, load, part in lookups.places(record.select(experiment="readers")):
        section = Section(f"two readers of one table, {size_name(slots)}, load {load:g}")
        rows = []
        for name in part.values("contestant"):
            for form in part.select(contestant=name).values("form"):
                if name != "empty_loop" and scaling(part, name, form) is not None:
                    rows.append([name, form, *(cell(part.median(contestant=name, form=form,
                                                                core_count=cores))
                                               for cores in (1.0, 2.0)),
                                 cell(scaling(part, name, form), 2)])
        section.tables.append(Table(["contestant", "form", "1 reader", "2 readers", "ratio"], rows))
        for form in part.select(contestant=SHARED).values("form"):
            oracles = [name for name in lookups.oracles(part, ORACLE)
                       if scaling(part, name, form) is not None]
            if part.on_equal_huge_pages() and oracles:
                best = max(oracles, key=lambda name: part.median(contestant=name, form=form,
                                                                 core_count=1.0))
                bound = scaling(part, best, form)
                section.verdicts.append(targets.verdict_at_least(
                    f"two readers, {size_name(slots)}",
                    f"{form}: as the best oracle scales, but for 5 %",
                    scaling(part, SHARED, form), bound * (1 - SCALING_LOSS_MAX)))
        found.append(section)
    return found


def update_sections(record):
    """A reader beside a writer: what that costs, and whether every answer was right."""
    found = []
    for slots, load, part in lookups.places(record.select(experiment="updates")):
        name = size_name(slots)
        section = Section(f"a reader beside a writer, {name}, load {load:g}")
        [busy] = [workload for workload in part.values("workload") if "updates" in workload]
        rows = []
        for contestant in part.values("contestant"):
            mine = part.select(contestant=contestant)
            for form in mine.values("form"):
                where = {"contestant": contestant, "form": form}
                share = part.ratio({"workload": busy}, {"workload": "idle writer"},
                                   metric=records.LOOKUPS, **where)
                rows.append([contestant, form,
                             *(cell(mine.median(form=form, workload=workload,
                                                metric=records.LOOKUPS))
                               for workload in ("idle writer", busy)), cell(share, 3),
                             cell(mine.median(form=form, metric="updates_k_per_s"), 0)])
                if contestant == SHARED and part.on_equal_huge_pages():
                    section.verdicts.append(verdict_of_share(
                        f"{busy}, {name}", f"{form}: of the rate with an idle writer", share,
                        OF_IDLE))
            section.verdicts.append(wrong_reads_verdict(f"{busy}, {name}", contestant, mine))
        section.tables.append(Table(["contestant", "form", "idle writer", busy, "share",
                                     "K updates/s"], rows))
        found.append(section)
    return found


def wrong_reads_verdict(source, contestant, part):
    counted = part.select(metric="wrong_reads").measured().rows
    wrong = sum(row["value"] for row in counted)
    said = f"{wrong:.0f} of {sum(row['operations'] for row in counted):,.0f} that were checked"
    return Verdict(source, f"{contestant}: no stale or wrong reads",
                   "must reached" if counted and wrong == 0 else "MISSED", said)


def billion_sections(record):
    part = record.select(experiment="billion").measured()
    if not part.rows:
        return []
    section = Section("a thousand million entries")
    rows = [[row["contestant"], f"{row['core_count']:g}", row["metric"], cell(row["value"], 2)]
            for row in part.rows if row["metric"] != records.LOOKUPS]
    section.tables.append(Table(["contestant", "threads", "figure", "value"], rows))
    for threads, target in FILLING_SECONDS.items():
        seconds = part.median(metric="bulk_seconds", contestant=SHARED, core_count=float(threads))
        section.verdicts.append(verdict_of_seconds(f"filled by {threads}", seconds, target))
    section.verdicts.append(Verdict.of(
        "a thousand million", f"at most {BYTES_AN_ENTRY_MAX} bytes an entry", rules.at_most(
            part.median(metric="bytes_per_entry", contestant=SHARED), BYTES_AN_ENTRY_MAX, 0)))
    found = [section]
    for _, load, there in lookups.places(part.select(metric=records.LOOKUPS)):
        rates = lookups.lookup_section(f"hits among a thousand million, load {load:.3g}", there,
                                       ORACLE)
        for form in there.select(contestant=SHARED).values("form"):
            lines = there.field("lines_per_lookup", contestant=SHARED)
            share = lookups.share_of_oracle(there, SHARED, form, ORACLE, 0.0)
            if there.on_equal_huge_pages():
                rates.verdicts.append(verdict_of_share(
                    "a thousand million", f"{form}: of the oracle over lines touched",
                    share and lines and share * lines, OF_ORACLE))
        found.append(rates)
    return found


def verdict_of_seconds(claim, seconds, target):
    if seconds is None:
        return Verdict("a thousand million", claim, rules.NOT_RUN, "nothing was measured")
    word = ("MISSED" if seconds > target.must else
            "aim reached" if seconds <= target.aim else "must reached")
    return Verdict("a thousand million", claim, word,
                   f"{seconds:.0f} s, must {target.must:g}, aim {target.aim:g}")


def sections(record):
    return [*rate_sections(record, "speed", "hits"),
            *rate_sections(record, "zipf", f"hits by Zipf {ZIPF:g}"), *reader_sections(record),
            *update_sections(record), *wide_sections(record), *billion_sections(record)]
