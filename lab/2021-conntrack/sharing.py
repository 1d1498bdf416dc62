"""Several workers: figures 3, 4 and 6 by the balancer's datapath, a flow staying on its worker; and
tables alone, any key from any thread."""
import os
import statistics

from harness.beside import beside
from lb.cell_costs import NS, SYNTHETIC
from lb.cell_jobs import RAW, SLOT_TIMERS, CellJob
from lb.common_jobs import CommonJob
from report.section import Section, Table, Verdict, cell

cells = beside(__file__, "cells")
SHARDED = {SLOT_TIMERS: "ours, as it ships", "roost_inline wheel": "ours, inline",
           "rte_hash wheel": "rte_hash", "chained_map wheel": "chained"}
COMMON = {"common roost shared": "ours, shared access", "common rte_hash LF": "rte_hash LF",
          "common rte_hash LB": "rte_hash LB",
          "common chained_map hierarchical": "chained, hierarchical",
          "common libcuckoo own": "libcuckoo", "common tbb own": "TBB",
          "common urcu own": "liburcu's cds_lfht"} | {
    f"common {store.removesuffix(' wheel')} {lock}": f"{name}, {lock}"
    for store, name in cells.STORES.items() for lock in ("spinlock", "mutex")}
CHURNS = (100, 30, 20)  # lookups to an insertion and an erasure
MUST_SHARDED, MUST_COMMON_OVER_LF, MUST_COMMON_ALONE = 1.8, 1.2, 1.1


def jobs(full):
    cores = min(2, os.cpu_count())
    yield CellJob("sharing", cells.CONNECTIONS // 2, (RAW, *SHARDED, *COMMON),
                  windows=8 if full else 2, cores=cores, rounds=10 if full else 5,
                  packets=1 << 19, warm_up=(1 << 23) if full else (1 << 20))
    for churn in CHURNS if full else CHURNS[-1:]:
        yield CommonJob("common", 1 << 21, tuple(name.removeprefix("common ") for name in COMMON),
                        churn, cores=cores, rounds=3)


def sections(record):
    sharing = record.select(experiment="sharing")
    if sharing.measured().rows:
        yield sharing_section(sharing)
    common = record.select(experiment="common")
    for workload in common.measured().values("workload"):
        yield common_section(common.select(workload=workload), workload)


def sharing_section(part):
    section = Section("Figures 3, 4 and 6: tables of each worker, and one table of all", notes=[
        SYNTHETIC, "A flow stays on its worker. Each round is timed on one worker, then on both. "
        "The paper's figures go on to eight cores: not run here."])
    rows = []
    for contestant, name in ({RAW: "raw parsing"} | SHARDED | COMMON).items():
        one = part.by_round(metric=NS, contestant=contestant, core_count=1)
        two = part.by_round(metric=NS, contestant=contestant, core_count=2)
        gains = part.ratios({"core_count": 1}, {"core_count": 2}, metric=NS, contestant=contestant)
        if not one:
            continue
        rows.append([name, "each" if contestant in SHARDED or contestant == RAW else "one",
                     cell(statistics.median(one.values())),
                     cell(statistics.median(two.values()) if two else None),
                     cell(statistics.median(gains) if gains else None, 2),
                     f"{min(gains):.2f} to {max(gains):.2f}" if gains else "-"])
    section.tables.append(Table(["", "tables", "ns a packet, one worker", "two workers", "gain",
                                 "least to greatest"], rows))
    if part.on_equal_huge_pages():
        section.verdicts += sharing_verdicts(part.select(metric=NS))
    return section


def sharing_verdicts(part):
    def gain(contestant):
        return part.ratio({"core_count": 1}, {"core_count": 2}, contestant=contestant)

    sharded = gain(SLOT_TIMERS)
    if sharded is None:
        return
    yield Verdict("two workers", f"move {MUST_SHARDED} times the packets of one, each with its "
                  "tables", cells.reached(sharded >= MUST_SHARDED), f"{sharded:.2f}")
    over = part.ratio({"contestant": "common rte_hash LF"}, {"contestant": "common roost shared"},
                      core_count=2)
    yield Verdict("two workers, one table", f"rte_hash LF takes {MUST_COMMON_OVER_LF} times ours",
                  cells.reached(over >= MUST_COMMON_OVER_LF), f"{over:.2f}")
    alone = part.ratio({"contestant": "common roost shared"}, {"contestant": "roost_inline wheel"},
                       core_count=1)
    yield Verdict("one worker", f"our shared table takes at most {MUST_COMMON_ALONE} times a "
                  "private one", cells.reached(alone <= MUST_COMMON_ALONE), f"{alone:.2f}")
    lock_free = gain("common rte_hash LF")
    yield Verdict("CT-F3, F4", "sharding scales, and LF nearly so", "REPRODUCED" if
                  sharded > 1.7 and lock_free > 1.5 else "NOT", f"{sharded:.2f}, {lock_free:.2f}")
    locked = [gain(contestant) for contestant in COMMON if contestant.endswith(
        ("spinlock", "mutex", "LB", "hierarchical"))]
    yield Verdict("CT-F4", "with any lock two workers gain less than with LF",
                  "REPRODUCED" if max(locked) < lock_free else "NOT",
                  f"at most {max(locked):.2f}, LF {lock_free:.2f}")
    uncontended = part.ratio({"contestant": "common rte_hash LB"}, {"contestant": "rte_hash wheel"},
                             core_count=1)
    yield Verdict("CT-text", "a lock that nobody else wants costs about a tenth",
                  "REPRODUCED" if 1.05 <= uncontended <= 1.2 else "NOT",
                  f"{uncontended - 1:.0%} a packet, rte_hash LB")
    behind = part.ratio({"contestant": "common rte_hash LF"}, {"contestant": "rte_hash wheel"},
                        core_count=2)
    yield Verdict("CT-F6", "tables of each worker with a wheel are ahead of LF",
                  "REPRODUCED" if behind > 1 else "NOT", f"{behind:.2f}")


def common_section(part, workload):
    section = Section(f"One table of all threads, any key from any thread, {workload}", notes=[
        "The tables alone, without packets: million lookups a second, with their insertions and "
        "erasures in the time."])
    rows = []
    for contestant, name in COMMON.items():
        mine = part.select(contestant=contestant.removeprefix("common "))
        rows.append([name, cell(mine.median(core_count=1)), cell(mine.median(core_count=2)),
                     cell(mine.ratio({"core_count": 2}, {"core_count": 1}), 2)])
    section.tables.append(Table(["", "one thread", "two threads", "gain"], rows))
    return section
