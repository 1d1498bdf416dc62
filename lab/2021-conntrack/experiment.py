"""the figures of the study of connection tracking (2021)

Parts, for --only: fig1 (tables, one core); sharing (fig3, tables of each worker, and fig4, one
table of all); fig5 (expiry).
"""
import os
import statistics

from lb.cell_jobs import RAW, SLOT_TIMERS, CellJob
from report.section import Section, Table, Verdict, cell, not_run_section, size_name

NS = "ns_per_packet"
STORES = {"roost_split wheel": "ours, split", "roost_inline wheel": "ours, inline",
          "rte_hash wheel": "rte_hash", "tsl_hopscotch_map wheel": "hopscotch",
          "tsl_robin_map wheel": "robin", "chained_map wheel": "chained",
          "std_unordered_map wheel": "std", "boost_flat_map wheel": "boost"}
NAMES = {SLOT_TIMERS: "ours, as it ships"} | STORES
DPDK, CHAINED, STD = "rte_hash wheel", "chained_map wheel", "std_unordered_map wheel"
PROFILES = {"campus-like": 720, "backbone-like": 540}  # bytes of a frame, on average
CONNECTIONS = 1 << 22
MUST = {DPDK: (1.2, 1.5), CHAINED: (1.4, 2.0)}  # and the aims

EXPIRIES = ("none", "scan", "wheel")
SHARDED = {SLOT_TIMERS: "ours, as it ships", "roost_inline wheel": "ours, inline",
           "rte_hash wheel": "rte_hash", "chained_map wheel": "chained"}
COMMON = {"common roost shared": "ours, shared access", "common rte_hash LF": "rte_hash LF",
          "common rte_hash LB": "rte_hash LB",
          "common chained_map hierarchical": "chained, hierarchical",
          "common libcuckoo own": "libcuckoo", "common tbb own": "TBB"} | {
    f"common {store.removesuffix(' wheel')} {lock}": f"{name}, {lock}"
    for store, name in STORES.items() for lock in ("spinlock", "mutex")}
MUST_SHARDED, MUST_COMMON_OVER_LF, MUST_COMMON_ALONE = 1.8, 1.2, 1.1


def jobs(size, _available):
    full = size != "quick"
    found = [CellJob("fig1", CONNECTIONS, (RAW, SLOT_TIMERS, *STORES), profile=profile,
                     windows=16 if full else 4, rounds=40 if full else 10,
                     warm_up=(1 << 25) if full else (1 << 22))
             for profile in PROFILES]
    found.append(CellJob("sharing", CONNECTIONS // 2, (RAW, *SHARDED, *COMMON),
                         windows=8 if full else 2, cores=min(2, os.cpu_count()),
                         rounds=20 if full else 5, packets=1 << 19,
                         warm_up=(1 << 23) if full else (1 << 20)))
    # So many connections begin and end a second that four million are live at a time.
    found.append(CellJob(
        "fig5", 6_000_000,
        (RAW, SLOT_TIMERS, *(f"rte_hash {expiry}" for expiry in EXPIRIES)), windows=1,
        packets=1 << 20, warm_up=100_000_000 if full else 1 << 23, rounds=40 if full else 10,
        options=(("law", "fixed"), ("mean", 20), ("flows", 12_000_000), ("seconds", 60),
                 ("flow-seconds", 19), ("established", 30), ("closed", 1))))
    return found


def own_ns(part, contestant):
    """Beyond parsing, by round."""
    whole = part.by_round(metric=NS, contestant=contestant)
    raw = part.by_round(metric=NS, contestant=RAW)
    return {key: whole[key] - raw[key] for key in whole if key in raw}


def ratios(part, above, below):
    """Of what two cells take beyond parsing, round by round."""
    upper, lower = own_ns(part, above), own_ns(part, below)
    return [upper[key] / lower[key] for key in lower if key in upper]


def gigabits(nanoseconds, frame_bytes):
    return None if nanoseconds is None else frame_bytes * 8 / nanoseconds


def cell_rows(part, names, frame_bytes):
    for contestant, name in names.items():
        whole = part.median(metric=NS, contestant=contestant)
        if whole is None:
            continue
        own = list(own_ns(part, contestant).values())
        yield [name, cell(whole), cell(gigabits(whole, frame_bytes)),
               cell(statistics.median(own)), f"{min(own):.1f} to {max(own):.1f}",
               *(cell(part.median(metric=f"batch_ns_{name}", contestant=contestant), 0)
                 for name in ("p50", "p99", "p999")),
               cell(part.median(metric="connections_live", contestant=contestant), 0),
               cell(table_bytes(part, contestant), 0)]


def table_bytes(part, contestant):
    rows = part.select(contestant=contestant).measured().rows
    return rows[0]["table_bytes"] / rows[0]["slots"] if rows else None


HEADER = ["", "ns a packet", "Gbit/s at the mean frame", "beyond parsing", "least to greatest",
          "batch p50", "p99", "p99.9", "live at the end", "bytes a place"]
SYNTHETIC = ("Packets are synthetic (roost/traffic), frames come from memory; Gbit/s are packets "
             "times the profile's mean frame, and no wire limits them.")


def fig1_section(part, workload):
    profile = workload.partition(" ")[0]
    slots = part.rows[0]["slots"]
    section = Section(f"Figure 1: tables on one core, {workload} windows, for "
                      f"{size_name(slots)} connections", notes=[
                          SYNTHETIC, "Clients send every packet (l2dsr): a connection is one "
                          "entry. All but the first expire by the timer wheel."])
    section.tables.append(Table(HEADER, list(cell_rows(part, NAMES, PROFILES[profile]))))
    if not part.on_equal_huge_pages():
        return section
    for peer, (must, aim) in MUST.items():
        found = ratios(part, peer, SLOT_TIMERS)
        if not found:
            continue
        ratio = statistics.median(found)
        section.verdicts.append(Verdict(
            workload, f"{NAMES[peer]} takes at least {must} times ours beyond parsing (aim {aim})",
            "must reached" if ratio >= must else "MISSED",
            f"{ratio:.2f} ({min(found):.2f} to {max(found):.2f})"))
    section.verdicts += fig1_claims(part, workload)
    return section


def fig1_claims(part, workload):
    own = {name: statistics.median(own_ns(part, name).values()) for name in STORES
           if own_ns(part, name)}
    if not {"roost_split wheel", DPDK, CHAINED, STD} <= own.keys():
        return
    first = min(own, key=own.get)
    yield Verdict(workload, "a Cuckoo++ table is first of them (CT-F1)",
                  "REPRODUCED" if first.startswith("roost") else "NOT",
                  f"first is {NAMES[first]}")
    best = min(own["roost_split wheel"], own["roost_inline wheel"])
    for peer in (CHAINED, DPDK):
        yield Verdict(workload, f"Cuckoo++ is ahead of {NAMES[peer]} (CT-F1)",
                      "REPRODUCED" if best < own[peer] else "NOT", f"{own[peer] / best:.2f}")
    yield Verdict(workload, "the standard's map is behind the chained one (CT-F1)",
                  "REPRODUCED" if own[STD] > own[CHAINED] else "NOT",
                  f"{own[STD] / own[CHAINED]:.2f}")


def sharing_section(part):
    section = Section("Figures 3 and 4: tables of each worker, and one table of all", notes=[
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
        section.verdicts += sharing_verdicts(part)
    return section


def sharing_verdicts(part):
    part = part.select(metric=NS)

    def gain(contestant):
        return part.ratio({"core_count": 1}, {"core_count": 2}, contestant=contestant)

    sharded = gain(SLOT_TIMERS)
    if sharded is None:
        return
    yield Verdict("two workers", f"move {MUST_SHARDED} times the packets of one, each with its "
                  "tables", "must reached" if sharded >= MUST_SHARDED else "MISSED",
                  f"{sharded:.2f}")
    over = part.ratio({"contestant": "common rte_hash LF"}, {"contestant": "common roost shared"},
                      core_count=2)
    yield Verdict("two workers, one table", f"rte_hash LF takes {MUST_COMMON_OVER_LF} times ours",
                  "must reached" if over >= MUST_COMMON_OVER_LF else "MISSED", f"{over:.2f}")
    alone = part.ratio({"contestant": "common roost shared"}, {"contestant": "roost_inline wheel"},
                       core_count=1)
    yield Verdict("one worker", f"our shared table takes at most {MUST_COMMON_ALONE} times a "
                  "private one", "must reached" if alone <= MUST_COMMON_ALONE else "MISSED",
                  f"{alone:.2f}")
    lock_free = gain("common rte_hash LF")
    yield Verdict("CT-F3, F4", "sharding scales, and LF nearly so", "REPRODUCED" if
                  sharded > 1.7 and lock_free > 1.5 else "NOT", f"{sharded:.2f}, {lock_free:.2f}")
    locked = [gain(contestant) for contestant in COMMON if contestant.endswith(
        ("spinlock", "mutex", "LB", "hierarchical"))]
    yield Verdict("CT-F4", "with any lock two workers gain less than with LF",
                  "REPRODUCED" if max(locked) < lock_free else "NOT",
                  f"at most {max(locked):.2f}, LF {lock_free:.2f}")


def fig5_section(part):
    live, begin = (part.median(metric=f"connections_{metric}", contestant=SLOT_TIMERS)
                   for metric in ("live", "begin_a_second"))
    names = {SLOT_TIMERS: "slot timers, ours"} | {
        f"rte_hash {expiry}": f"{expiry}, rte_hash" for expiry in EXPIRIES}
    section = Section("Figure 5: what it costs to find connections that have expired", notes=[
        SYNTHETIC, f"{cell(live, 0)} connections are live at the end, {cell(begin, 0)} begin and "
        "end a second (of each worker)."])
    section.tables.append(Table(HEADER, list(cell_rows(part, names, PROFILES["campus-like"]))))
    return section


def sections(record):
    found = []
    fig1 = record.select(experiment="fig1")
    for workload in fig1.measured().values("workload"):
        found.append(fig1_section(fig1.select(workload=workload), workload))
    sharing = record.select(experiment="sharing")
    if sharing.measured().rows:
        found.append(sharing_section(sharing))
    fig5 = record.select(experiment="fig5")
    if fig5.measured().rows:
        found.append(fig5_section(fig5))
    processor = record.facts.get("cpu", "unknown").partition(" cores")
    for section in found:
        section.notes.append(f"Processor: {''.join(processor[:2])}.")
    return found + not_run_section(record)
