"""What the paper does not show of single tables: one table that many cores ask, misses, our formats
and filter; and HALO-F13 by accelerator. Simulated: single_jobs.py."""
from harness.beside import beside
from report import intervals, rules
from report.section import Section, Table, Verdict, cell, size_name

jobs_of = beside(__file__, "single_jobs")
simulated = jobs_of.simulated
B, NB, OVERLAPPED = simulated.ACCELERATORS
RTE_HASH, RTE_HASH_32, ROOST_32 = simulated.SOFTWARE
MOST_CORES = float(max(jobs_of.CORES))
SCALES = 8  # times one core's rate by 16, to be called scaling
ONE_LINE = 1.1
FIG13_TIMES = (2.3, 2.7)


def sections(record):
    parts = (("sharing", sharing_section), ("misses", misses_section),
             ("fig13_accelerator", fig13_section))
    return [make(part) for name, make in parts
            if (part := record.select(experiment=name)).rows]


def rate(part, **where):
    found = part.median(metric="lookups_per_second", **where)
    return None if found is None else found / 1e6


def sharing_section(part):
    ways = (*simulated.ACCELERATORS, *simulated.SOFTWARE)
    section = Section("One table asked by 1 to 16 cores", notes=[
        "Simulated, million lookups a second of all cores together, on the middle machine. By the "
        "table's address, as the paper dispatches, one accelerator answers all of them; by the "
        "bucket's line, which is ours and needs the hash in the command, all do. "
        f"{size_name(jobs_of.SHARED_SLOTS)} slots of the paper's format."])
    rows = [[f"{cores:.0f}", variant,
             *(cell(rate(part, core_count=cores, workload=variant, contestant=way), 1)
               for way in ways),
             cell(part.median(core_count=cores, workload=variant, contestant=OVERLAPPED,
                              metric="accelerators"), 0),
             cell(100 * (part.median(core_count=cores, workload=variant, contestant=OVERLAPPED,
                                     metric="full_share") or 0), 0, " %")]
            for variant in part.values("workload") for cores in part.values("core_count")]
    section.tables.append(Table(["cores", "dispatch", *ways, "accelerators", "all places taken"],
                                rows, kind="simulated"))
    for variant in jobs_of.DISPATCH:
        for way in (B, OVERLAPPED):
            one, all_cores = (rate(part, core_count=cores, workload=variant, contestant=way)
                              for cores in (1.0, MOST_CORES))
            times_one = all_cores / one if one and all_cores else None
            section.verdicts.append(Verdict.of(
                "beyond HALO-F9", f"16 cores ask one table {SCALES} times as fast as one; {way}, "
                f"{variant}", rules.at_least(times_one, SCALES)))
        section.verdicts.append(Verdict.of(
            "beyond HALO-F9", "16 cores ask one table faster by overlapped LOOKUP_NB than by our "
            f"software of 32 keys a call; {variant}",
            intervals.at_least(intervals.of(part, "times", core_count=MOST_CORES,
                                            workload=variant, contestant=OVERLAPPED,
                                            form=f"over {ROOST_32}"), 1)))
    return section


def misses_section(part):
    section = Section("Misses, the filter and inline lines", notes=[
        f"Simulated, {size_name(jobs_of.MISSES_SLOTS)} slots, middle machine: lines of the table "
        "that an accelerator reads a lookup, and cycles. The filter is Cuckoo++'s in the split and "
        "inline formats, ours; the paper's has none."])
    ways = (B, NB, OVERLAPPED, RTE_HASH, ROOST_32)
    rows = [[variant, f"{misses:.0%}",
             cell(count(part, variant, misses, "lines_per_lookup"), 2),
             cell(100 * (count(part, variant, misses, "second_bucket_share") or 0), 1, " %"),
             *(cell(part.median(workload=variant, miss_ratio=misses, contestant=way,
                                metric="cycles_per_lookup"), 0) for way in ways),
             intervals.text(intervals.of(part, "times", workload=variant, miss_ratio=misses,
                                         contestant=B, form=f"over {RTE_HASH}"))]
            for variant in part.values("workload") for misses in part.values("miss_ratio")]
    section.tables.append(Table(["format", "misses", "lines", "second buckets", *ways,
                                 f"{B} over {RTE_HASH}"], rows, kind="simulated"))
    for variant, misses, claim in (
            ("split, filter", 1.0, "with the filter a miss reads one line"),
            ("paper's format", 1.0, "a miss in the paper's format reads one line"),
            ("inline, filter", 0.0, "a hit in an inline table reads one line"),
            ("inline, filter", 1.0, "a miss in an inline table reads one line")):
        section.verdicts.append(Verdict.of(
            "beyond HALO-F9", f"{claim}, {ONE_LINE} at most",
            rules.at_most(count(part, variant, misses, "lines_per_lookup"), ONE_LINE)))
    return section


def count(part, variant, misses, metric):
    return part.median(workload=variant, miss_ratio=misses, contestant=B, metric=metric)


def fig13_section(part):
    section = Section("HALO-F13 by accelerator: lookups of functions' tables", notes=[
        "Simulated: lookups alone, which is the most that a function can gain. Tables of the "
        "functions' sizes, with keys of as many bytes as those of the real functions have: 16 of a "
        "NAT's connections, 26 of an observer's hosts, 8 of a filter's rules, where the real ones "
        "have an address and zeroes. Their bytes are by chance. Half of a filter's keys are not "
        "there. What the functions gain by software that batches is measured, in HALO-F13 above."])
    rows = []
    for function, (entries, _, key_bytes) in jobs_of.FUNCTIONS.items():
        for reading in (jobs_of.AS_WRITTEN, jobs_of.FRIENDLY):
            mine = part.select(workload=f"{function}, {reading}")
            for size in sorted(mine.values("entries")):
                said = f"{function}, {size:,.0f} entries, keys of {key_bytes} bytes"
                rows.append([said, reading, *(
                    intervals.text(times(mine, way, over, size))
                    for way in (B, NB) for over in (RTE_HASH, ROOST_32))])
            for way in (B, NB):
                section.verdicts.append(Verdict.of(
                    "HALO-F13", f"{function}: {FIG13_TIMES[0]:g} to {FIG13_TIMES[1]:g} times, "
                    f"lookups alone; {way}, {reading}", rules.all_of(**{
                        f"{size:,}": intervals.meets(times(mine, way, RTE_HASH, float(size)),
                                                     FIG13_TIMES) for size in entries})))
    section.tables.append(Table(["table", "reading", *(f"{way} over {over}" for way in (B, NB)
                                                       for over in (RTE_HASH, ROOST_32))],
                                rows, kind="simulated"))
    return section


def times(part, way, over, entries):
    return intervals.of(part, "times", contestant=way, form=f"over {over}", entries=entries)
