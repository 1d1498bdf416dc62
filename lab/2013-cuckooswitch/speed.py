"""How fast the shared packed table is: 48-bit keys, 16-bit values, hits, load 0.95.

Ours, shared with an idle writer and exclusive, beside rte_hash with both forms of its keys, the
published scheme and the oracle; readers of one table; a writer at work; a thousand million entries.
"""
import dataclasses

from harness.job import CEILINGS, SIZES, Job
from report import rules
from report.bench import PLAIN
from report.section import Verdict, cell, size_name
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
OF_EXCLUSIVE = Target(0.9, 0.97)  # share of the exclusive table's rate


def jobs(full):
    for name in SIZE_NAMES:
        yield Job("lookups", "speed", SIZES[name],
                  (SHARED, EXCLUSIVE, *PEERS, *ORACLES), calls=CALLS,
                  ceilings=CEILINGS if full else CEILINGS[:2], processes=3 if full else 1,
                  rounds=3, **HITS)
        yield Job("lookups", "zipf", SIZES[name], (SHARED, EXCLUSIVE, *PEERS, *ORACLES),
                  calls=("32",), zipf=ZIPF, processes=2 if full else 1, rounds=4, counts=False,
                  **HITS)


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


def sections(record):
    return [*rate_sections(record, "speed", "hits"),
            *rate_sections(record, "zipf", f"hits by Zipf {ZIPF:g}")]
