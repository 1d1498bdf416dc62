"""The tables of docs/choosing.md, from a record."""
import statistics

from harness.beside import beside
from lb.cell_costs import NS, options_of, own_ns
from lb.cell_jobs import SLOT_TIMERS
from report.section import cell, markdown_table

axes, sharing, expiry = (beside(__file__, name) for name in ("axes", "sharing", "expiry"))


def count_name(count):
    return f"{count / 1e6:g}M" if count >= 1e6 else f"{count / 1e3:g}K"


def size_block(record):
    """The fastest by live connections and packets of each, on one core."""
    part = record.select(experiment="axis_size")
    rows = []
    for job in part.measured().values("job"):
        mine = part.select(job=job)
        options = options_of(job)
        by_round = {name: own_ns(mine, contestant)
                    for contestant, name in axes.CONTESTANTS.items()}
        own = {name: statistics.median(of.values()) for name, of in by_round.items() if of}
        first, second = sorted(own, key=own.get)[:2]
        live = mine.median(metric="connections_live", contestant=SLOT_TIMERS)
        bytes_of = {name: of["table_bytes"] / of["slots"]
                    for contestant, name in axes.CONTESTANTS.items()
                    for of in mine.select(contestant=contestant).measured().rows[:1]}
        rows.append([count_name(round(live, -3)), options["mean"],
                     f"**{first}** ({own[first]:.0f})", f"{second} ({own[second]:.0f})",
                     *(cell(bytes_of[name], 0) for name in (first, second))])
    return markdown_table(["live", "packets of each", "least (ns beyond parsing)", "then",
                           "bytes a place", "of the second"], rows)


def sharing_block(record):
    """By cores, whether packets of a connection reach the same worker."""
    part = record.select(experiment="sharing", metric=NS)
    named = sharing.SHARDED | sharing.COMMON
    rows = []
    for said, names in (("yes: tables of each", sharing.SHARDED),
                        ("no: one table", sharing.COMMON)):
        for cores in part.measured().values("core_count"):
            times = {name: part.median(contestant=name, core_count=cores) for name in names}
            first, second = sorted((name for name in times if times[name]), key=times.get)[:2]
            rows.append([said, f"{cores:g}", f"**{named[first]}** ({times[first]:.0f})",
                         f"{named[second]} ({times[second]:.0f})"])
    return markdown_table(["a connection stays on its worker", "workers",
                           "least (ns a packet, all together)", "then"], rows)


def expiry_block(record):
    part = record.select(experiment="fig5")
    rows = []
    for contestant, name in expiry.FIG5.items():
        own = own_ns(part, contestant)
        rows.append([name, cell(statistics.median(own.values())), *(
            cell(part.median(metric=f"batch_ns_{one}", contestant=contestant), 0)
            for one in ("p99", "p999")),
            cell(part.median(metric="connections_live", contestant=contestant), 0)])
    return markdown_table(["expiry", "ns a packet beyond parsing", "batch p99, ns", "p99.9, ns",
                           "live at the end"], rows)


BLOCKS = {"size": size_block, "sharing": sharing_block, "expiry": expiry_block}
