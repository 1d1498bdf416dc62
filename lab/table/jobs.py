"""The jobs of the experiment `table`, by size: which contestants at which sizes and workloads."""
from harness.job import CEILINGS, SIZES, Job
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
# Where a verdict is about 5 %: ratios of single rounds scatter by 3 to 10 %, medians of so many by
# 1 %.
ROUNDS_OF_FINE_VERDICTS = 21


def jobs(size, available):
    """Those whose contestants the program has; a contestant that is not ours is a peer. What has a
    target comes first."""
    full = size != "quick"
    found = [*split_jobs(full), *inline_jobs(), *fill_jobs()]
    if full:
        found += [*timer_jobs(), *core_jobs(), *kernel_jobs(), *peer_jobs(available),
                  *workload_jobs(), *page_jobs()]
    kept = []
    for job in found:
        there = tuple(name for name in job.contestants if name in available)
        if any(name.startswith("roost_") for name in there) or job.experiment == "peers":
            kept.append(job.__class__(**{**job.__dict__, "contestants": there}))
    return kept


def split_jobs(full):
    for name in ("512K", "32M"):
        yield Job("lookups", "split", SIZES[name], (OURS, PEER, *ORACLES), loads=(0.8, 0.95),
                  calls=OVERLAPPED, ceilings=CEILINGS)
    if full:  # no room for oracles with memory of their own
        yield Job("lookups", "split", SIZES["128M"], (OURS, PEER), loads=(0.8, 0.95),
                  calls=OVERLAPPED, ceilings=FEW_CEILINGS, own_oracles=True)


def inline_jobs():
    for case in targets.CASES:
        if case.experiment == "inline":
            yield Job("lookups", "inline", case.slots,
                      (case.contestant, case.contestant + "_timers", PEER,
                       *(case.oracle + name[len(ORACLE):] for name in ORACLES)),
                      calls=OVERLAPPED, ceilings=CEILINGS, key_bits=104)


def fill_jobs():
    yield Job("fills", "fills", SIZES["32M"], targets.INSERT_CONTESTANTS, loads=(0.8, 0.95),
              calls=("32", "256"))


def timer_jobs():
    """With a twin, the same code under another name: what the two differ by is noise."""
    for name in ("32M", "512K"):
        yield Job("lookups", "timers", SIZES[name], (OURS, TIMERS, TWIN, PEER), calls=OVERLAPPED,
                  rounds=ROUNDS_OF_FINE_VERDICTS)
    yield Job("lookups", "timers", SIZES["128M"], (OURS, TIMERS, TWIN), calls=OVERLAPPED,
              counts=False, rounds=ROUNDS_OF_FINE_VERDICTS)


def core_jobs():
    yield Job("lookups", "cores", SIZES["32M"], TRIO, calls=OVERLAPPED, cores=2, counts=False,
              rounds=ROUNDS_OF_FINE_VERDICTS)


def kernel_jobs():
    for name in ("32M", "512K"):
        yield Job("lookups", "kernels", SIZES[name], KERNELS, calls=("32", "256"), counts=False)


def peer_jobs(available):
    """Peers by threes, so that memory holds them beside ours; at the largest size none."""
    peers = [name for name in available if not name.startswith(("roost_", "oracle_"))
             and name != PEER]
    groups = [tuple(peers[i:i + 3]) for i in range(0, len(peers), 3)]
    for name in ("32M", "512K"):
        for group in (*groups, OURS_OTHERWISE):
            yield Job("lookups", "peers", SIZES[name], (OURS, PEER, *group), lookups=1 << 21,
                      ceilings=FEW_CEILINGS, rounds=5)
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
        yield Job("lookups", "zipf", size, TRIO, calls=OVERLAPPED, zipf=0.99, rounds=5,
                  misses=(0.0, 0.2))
        yield Job("lookups", "batches", size, TRIO, calls=("1", "2", "4", "8", "16", "32", "64",
                                                           "128"), misses=(0.2,), rounds=5)
        for ratio in (20, 30, 100):
            yield Job("lookups", "churn", size, (OURS, TIMERS, PEER), misses=(0.2,), churn=ratio,
                      rounds=5, counts=False)


def page_jobs():
    for pages in ("4K", "THP", "2M", "1G"):
        yield Job("lookups", "pages", SIZES["32M"], TRIO, calls=("32", "256"), pages=pages,
                  rounds=5, ceilings=FEW_CEILINGS, lookups=1 << 21, counts=False)
