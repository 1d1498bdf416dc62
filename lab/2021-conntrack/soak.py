"""Connections that come and go for ten minutes, and a flood: nothing is lost, and nothing left."""
import os

from harness.beside import beside
from lb.cell_jobs import SLOT_TIMERS
from lb.soak_jobs import SoakJob
from report.section import Section, Table, cell, size_name

cells, sharing = (beside(__file__, name) for name in ("cells", "sharing"))
NAMES = sharing.SHARDED | sharing.COMMON
CONTESTANTS = (SLOT_TIMERS, "roost_inline wheel", "common roost shared")
CONNECTIONS = cells.CONNECTIONS // 4  # so that each place has many, one after the other
COUNTS = {"packets": "packets", "flows_created": "connections created", "flows_ended": "ended",
          "flows_expired": "expired", "flows_evicted": "evicted", "packets_lost": "packets lost",
          "flows_left": "connections left", "heap_bytes_left": "bytes of heap left"}


def jobs(full):
    for contestant in CONTESTANTS:
        yield SoakJob("soak", CONNECTIONS, (contestant,), soak_seconds=600 if full else 10,
                      cores=min(2, os.cpu_count()))


def sections(record):
    part = record.select(experiment="soak", form="whole run")
    if not part.measured().rows:
        return
    section = Section(f"Soak, for {size_name(part.rows[0]['slots'])} connections", notes=[
        "Packets are synthetic (roost/traffic), frames come from memory. In the middle stands a "
        "flood of ten SYNs a place. That every count, index and byte was right at the end is a "
        "condition for the rows to exist (lab/lb/soak_job.h)."])
    rows = [[NAMES[contestant], "one" if contestant in sharing.COMMON else "each",
             cell(part.field("core_count", contestant=contestant), 0),
             *(cell(part.median(contestant=contestant, metric=metric), 0) for metric in COUNTS)]
            for contestant in part.values("contestant")]
    section.tables.append(Table(["", "tables", "workers", *COUNTS.values()], rows))
    yield section
