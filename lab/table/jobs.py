"""The jobs of the experiment `table`, by size: which contestants at which sizes and workloads."""
import dataclasses

from harness.job import CEILINGS, SIZES, Job, has_keys_of_48_bits
from report.bench import PEER
from table import targets
from table.targets import OURS

OVERLAPPED = ("32", "64", "256", "32+next")  # rte_hash takes 64 at most
ORACLE = "oracle_two_line"  # and a prefetch hint
ORACLES = tuple(f"{ORACLE}_{hint}" for hint in ("t0", "t1", "nta"))
OURS_OTHERWISE = ("roost_optimistic", "roost_pessimistic", "roost_horton", "roost_c_table")
TIMERS = OURS + "_timers"
TWIN = OURS + "_avx2"  # what OURS runs by itself where the processor has AVX2
MISS_SWEEP = tuple(step / 10 for step in range(11))
KERNELS = tuple(f"{OURS}_{kernel}" for kernel in ("scalar", "sse42", "avx2"))
TRIO = (OURS, PEER, f"{ORACLE}_t1")
ONLY_THREE = "at this size only ours, rte_hash and the oracle take part"
FEW_CEILINGS = ("T0", "T1+2", "NTA+1")
# What README shows is measured in several processes, so that tables change places; in two where
# filling the tables takes most of the time.
IN_PROCESSES = {"processes": 3, "rounds": 3}
IN_TWO = {"processes": 2, "rounds": 4}
# Where a verdict is about 5 %: ratios of single rounds scatter by 3 to 10 %, medians of so many by
# 1 %.
FINELY = {"processes": 3, "rounds": 5}
FINELY_IN_TWO = {"processes": 2, "rounds": 7}
ZIPFS = (0.99, 1.1)
ZIPF_CASES = ("split, 512K", "split, 32M", "inline, 2 slots a line, 32M")
CHURNS = (100, 30, 20)  # lookups an insertion and an erasure
# Name, contestant, the highest load that it is filled to, bits of its keys.
AGED_CASES = (("split", OURS, 0.95, 128), ("inline, 2 slots a line", "roost_inline_2", 0.85, 104),
              ("inline, 3 slots a line", "roost_inline_3", 0.9, 104))
AGES = (8, 30)  # replacements of each entry
AGED_SLOTS = 3 << 17  # whole buckets of 2, 3 and 8 slots; counts depend on the load alone


def jobs(size, available):
    """Those whose contestants the program has; a contestant that is not ours is a peer. What has a
    target comes first, and first the first process of each job: what differs with the hour then
    differs between processes, whose medians are shown."""
    full = size != "quick"
    found = [*split_jobs(full), *inline_jobs(), *fill_jobs(), *replacement_jobs(), *aged_jobs()]
    if full:
        found += [*timer_jobs(), *core_jobs(), *kernel_jobs(), *peer_jobs(available),
                  *workload_jobs(), *zipf_jobs(), *hint_jobs(), *page_jobs()]
    kept = []
    for job in found:
        there = tuple(name for name in job.contestants if name in available)
        if any(name.startswith("roost_") for name in there) or job.experiment == "peers":
            kept += dataclasses.replace(job, contestants=there).each_process()
    return sorted(kept, key=lambda job: job.process)


def split_jobs(full):
    for name in ("512K", "32M"):
        yield Job("lookups", "split", SIZES[name], (OURS, PEER, *ORACLES), loads=(0.8, 0.95),
                  calls=OVERLAPPED, ceilings=CEILINGS, **IN_PROCESSES)
    if full:  # no room for oracles with memory of their own
        yield Job("lookups", "split", SIZES["128M"], (OURS, PEER), loads=(0.8, 0.95),
                  calls=OVERLAPPED, ceilings=FEW_CEILINGS, own_oracles=True, **IN_TWO)


def oracles_of(case):
    return (case.oracle + name[len(ORACLE):] for name in ORACLES)


def inline_jobs():
    for case in targets.CASES:
        if case.experiment == "inline":
            timed = (case.contestant + "_timers",) if case.slots == SIZES["32M"] else ()
            yield Job("lookups", "inline", case.slots,
                      (case.contestant, *timed, PEER, *oracles_of(case)),
                      calls=OVERLAPPED, ceilings=CEILINGS, key_bits=104, **IN_TWO)


def fill_jobs():
    for name, loads in (("32M", (0.8, 0.95)), ("3M", (0.8,))):
        yield Job("fills", "fills", SIZES[name], targets.INSERT_CONTESTANTS, loads=loads,
                  calls=("1", "32", "256"), processes=2, rounds=3)


def replacement_jobs():
    yield Job("replacements", "replacements", SIZES["32M"], targets.INSERT_CONTESTANTS,
              loads=(0.8, 0.95), lookups=1 << 21, processes=2, rounds=5)


def aged_jobs():
    """Counts, without a clock."""
    for _, contestant, load, key_bits in AGED_CASES:
        yield Job("structure", "aged", AGED_SLOTS, (contestant,), loads=(load,), ages=AGES,
                  lookups=1 << 21, key_bits=key_bits)


def timer_jobs():
    """With a twin, the same code under another name: what the two differ by is noise."""
    for name in ("32M", "512K"):
        yield Job("lookups", "timers", SIZES[name], (OURS, TIMERS, TWIN, PEER), calls=OVERLAPPED,
                  **FINELY)
    yield Job("lookups", "timers", SIZES["128M"], (OURS, TIMERS, TWIN), calls=OVERLAPPED,
              counts=False, **FINELY_IN_TWO)


def core_jobs():
    yield Job("lookups", "cores", SIZES["32M"], TRIO, calls=OVERLAPPED, cores=2, counts=False,
              **FINELY_IN_TWO)


def kernel_jobs():
    for name in ("32M", "512K"):
        yield Job("lookups", "kernels", SIZES[name], KERNELS, calls=("32", "256"), counts=False)


def peer_jobs(available):
    """Peers by threes, so that memory holds them beside ours; at the largest size none. Lines are
    counted at the small size, which takes a fill of its own: they depend on the load alone."""
    peers = [name for name in available if not name.startswith(("roost_", "oracle_"))
             and name != PEER and not has_keys_of_48_bits(name)]
    groups = [tuple(peers[i:i + 3]) for i in range(0, len(peers), 3)]
    for name in ("32M", "512K"):
        for group in (*groups, OURS_OTHERWISE):
            yield Job("lookups", "peers", SIZES[name], (OURS, PEER, *group), lookups=1 << 21,
                      ceilings=FEW_CEILINGS, counts=name == "512K", rounds=5)
    for name in ("32M", "512K"):
        for group in groups:
            yield Job("fills", "peers", SIZES[name], (OURS, PEER, *group),
                      rounds=2 if name == "32M" else 5)
    yield Job("lookups", "peers", SIZES["128M"], tuple(peers), not_run_because=ONLY_THREE)


def workload_jobs():
    for name in ("32M", "512K"):
        size = SIZES[name]
        yield Job("lookups", "misses", size, TRIO, misses=MISS_SWEEP, calls=("32", "32+next"),
                  ceilings=FEW_CEILINGS, rounds=5, lookups=1 << 21)
        yield Job("lookups", "batches", size, TRIO, calls=("1", "2", "4", "8", "16", "32", "64",
                                                           "128"), misses=(0.2,), rounds=3)
        for ratio in CHURNS:
            yield Job("lookups", "churn", size, (OURS, TIMERS, PEER), calls=OVERLAPPED,
                      misses=(0.2,), churn=ratio, counts=False, lookups=1 << 21, **IN_TWO)


def zipf_jobs():
    """Of hits; with each hint's oracle and ceilings: T1 need not be the best for hot lines."""
    for exponent in ZIPFS:
        for case in targets.CASES:
            if case.name in ZIPF_CASES:
                yield Job("lookups", "zipf", case.slots,
                          (case.contestant, PEER, *oracles_of(case)), calls=OVERLAPPED,
                          zipf=exponent, misses=(0.0,), ceilings=CEILINGS, lookups=1 << 21,
                          key_bits=104 if case.experiment == "inline" else 128, **IN_TWO)


def hint_jobs():
    """Each with lookups of one kind only, so that the hint that the table comes to is that kind's;
    at 128M without misses, since each job fills the table anew."""
    hits, skewed, misses = {}, {"zipf": 0.99}, {"misses": (1.0,)}
    for contestant, name, calls, kinds in (
            (OURS, "512K", ("32", "256"), (hits, skewed, misses)),
            (OURS, "3M", ("32", "256"), (hits, skewed, misses)),
            (OURS, "32M", ("32", "256"), (hits, skewed, misses)),
            (OURS, "128M", ("32", "256"), (hits, skewed)),
            ("roost_inline_2", "512K", ("256",), (hits, skewed, misses)),
            ("roost_inline_2", "32M", ("256",), (hits, skewed, misses))):
        for call in calls:
            for kind in kinds:
                yield Job("lookups", "hints", SIZES[name], (contestant,), calls=(call,),
                          **{"misses": (0.0,)} | kind, forced_hints=True, counts=False,
                          lookups=1 << 21, rounds=12,
                          key_bits=128 if contestant == OURS else 104)


def page_jobs():
    for pages in ("4K", "THP", "2M", "1G"):
        yield Job("lookups", "pages", SIZES["32M"], TRIO, calls=("32", "256"), pages=pages,
                  rounds=3, ceilings=FEW_CEILINGS, lookups=1 << 21, counts=False)
