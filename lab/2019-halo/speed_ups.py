"""README's table of the accelerator: the paper's speed-ups, ours over its software and over
software that batches, and the floor under them. From a record of the parts fig9, fig11 and host."""
from harness.beside import beside
from report import intervals
from report.section import Table, size_name

tuples = beside(__file__, "tuples")
single = beside(__file__, "single_tables")
host_points = beside(__file__, "host_points")
TUPLES = (10, 20)
PAPER = {(1, single.B): f"{single.IN_LLC_TIMES:g}", (20, single.NB): f"{tuples.CLAIMED:g}"}
READINGS = (single.jobs_of.AS_WRITTEN, single.jobs_of.FRIENDLY)
WAYS = {single.B: "`LOOKUP_B`", single.NB: "`LOOKUP_NB`, eight at a time",
        single.OVERLAPPED: "`LOOKUP_NB`, 32 at a time (ours)"}
TUPLE_WAYS = {single.B: "`LOOKUP_B`", single.NB: "`LOOKUP_NB`, a key at a time",
              single.OVERLAPPED: "`LOOKUP_NB`, four keys at a time (ours)"}


def single_rows(part):
    """Of the largest table that the last-level cache holds."""
    size = max(single.split_by_llc(part, single.jobs_of.AS_WRITTEN)[0])
    for reading in READINGS:
        for way, said in WAYS.items():
            yield [f"single lookups, {size_name(size)} slots: {said}, {reading}",
                   PAPER.get((1, way), "-"),
                   *(intervals.text(single.times(part, way, over, slots=size, load=0.8,
                                                 workload=reading), 1)
                     for over in (single.RTE_HASH, single.RTE_HASH_32, single.ROOST_32))]


def tuple_rows(part):
    for count in (count for count in TUPLES if float(count) in part.values("slots")):
        for way, said in TUPLE_WAYS.items():
            yield [f"{count} tuples: {said}", PAPER.get((count, way), "-"),
                   *(tuples.said(tuples.speed_up(part, way, count, over))
                     for over in tuples.SOFTWARE)]


def table(record):
    floor = host_points.worst(host_points.points(record))
    said = "not measured" if floor is None else f"{floor.ratio:.2f} ({floor.name})"
    return Table(["simulated, times as fast", "paper", "over `rte_hash`, one key a call (its)",
                  "over `rte_hash`, 32 a call", "over ours, 32 a call"],
                 [*single_rows(record.select(experiment="fig9")),
                  *tuple_rows(record.select(experiment=tuples.EXPERIMENT, workload=tuples.LAST)),
                  ["the floor: predicted over measured, at worst", "-", said, "-", "-"]],
                 kind="simulated")
