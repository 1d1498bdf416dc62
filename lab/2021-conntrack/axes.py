"""Beyond the paper: what a packet costs by live connections and by how many packets each has, by
load, and by timeout."""
import statistics

from harness.beside import beside
from lb.cell_costs import NS, SYNTHETIC, options_of, own_ns
from lb.cell_jobs import RAW, SLOT_TIMERS, CellJob
from report.section import Plot, Section, Table, cell

cells = beside(__file__, "cells")
CONTESTANTS = {SLOT_TIMERS: "ours, timers in slots", "roost_inline wheel": "ours, wheel",
               "roost_inline scan": "ours, scan of records", "rte_hash wheel": "rte_hash, wheel"}
OF_MOST = (SLOT_TIMERS, "rte_hash wheel")  # what memory has room for beside each other
LOAD = 0.7
LIVE = (10_000, 100_000, 1_000_000, 4_000_000, 16_000_000)
MEANS = (80, 20, 4)  # packets of a connection
PACKETS_MAX = 100_000_000  # until the first connections have ended; what takes longer is not run
SMALL = 200_000  # connections whose arrays are too small for pages of 2 MiB
# Connections are held for up to five seconds more until a sweep comes by. Where these find no place
# others are evicted, by each table in its own way, so that cells are no longer the same.
SECONDS_MIN = 20
LOADS = (0.3, 0.5, 0.7, 0.9)
CLOSED = (0.5, 5, 20)  # seconds
TITLES = {"size": "live connections and packets of each", "load": "load",
          "timeout": "seconds that a closed connection is kept"}


def steady(axis, live, mean=20, load=LOAD, closed=1.0):
    """A job that begins when the first connections have ended."""
    options = cells.steady(live, mean, closed, SECONDS_MIN)
    contestants = CONTESTANTS if live < LIVE[-1] else OF_MOST
    return CellJob(f"axis_{axis}", int(live / load), (RAW, *contestants), windows=1,
                   packets=1 << 19, rounds=10, warm_up=max(1 << 22, int(live * mean * 1.1)),
                   pages="2M" if live > SMALL else "4K",
                   options=tuple(options.items()))


def jobs(full):
    yield from (steady("size", live, mean) for live in (LIVE if full else LIVE[1:2])
                for mean in MEANS if live * mean <= PACKETS_MAX)
    if not full:
        return
    yield from (steady("load", 1_000_000, load=load) for load in LOADS)
    yield from (steady("timeout", 1_000_000 + int(200_000 * closed), closed=closed)
                for closed in CLOSED)


def sections(record):
    for axis, title in TITLES.items():
        part = record.select(experiment=f"axis_{axis}")
        if part.measured().rows:
            yield axis_section(part, axis, title)


def axis_section(part, axis, title):
    section = Section(f"Beyond the paper: by {title}", notes=[
        SYNTHETIC, "Clients send every packet (l2dsr)."])
    curves, rows = {}, []
    for job in part.measured().values("job"):
        mine = part.select(job=job)
        for contestant, name in CONTESTANTS.items():
            own = own_ns(mine, contestant)
            if not own:
                continue
            live = mine.median(metric="connections_live", contestant=contestant)
            begin = mine.median(metric="connections_begin_a_second", contestant=contestant)
            row = mine.select(contestant=contestant).measured().rows[0]
            beyond = statistics.median(own.values())
            options = options_of(job)
            x = {"size": live, "load": live / row["slots"],
                 "timeout": float(options["closed"])}[axis]
            curve = f"{name}, {options['mean']} packets" if axis == "size" else name
            curves.setdefault(curve, []).append((x, beyond))
            rows.append([
                cell(live, 0), options["mean"], cell(begin, 0), options["closed"],
                cell(live / row["slots"], 2), name,
                cell(mine.median(metric=NS, contestant=contestant)), cell(beyond),
                *(cell(mine.median(metric=f"batch_ns_{one}", contestant=contestant), 0)
                  for one in ("p50", "p99", "p999")), cell(row["table_bytes"] / row["slots"], 0)])
    section.tables.append(Table(
        ["live", "packets of each", "begin a second", "kept when closed, s", "occupancy", "",
         "ns a packet", "beyond parsing", "batch p50", "p99", "p99.9", "bytes a place"], rows))
    section.plots.append(Plot(f"ns a packet beyond parsing by {title}",
                              title if axis != "size" else "live connections", "ns", curves))
    return section
