"""What a packet costs beyond parsing in cells (cell_jobs.py), and what cells are as rows."""
import statistics

from lb.cell_jobs import RAW
from report.section import cell

NS = "ns_per_packet"
HEADER = ["", "ns a packet", "Gbit/s at the mean frame", "beyond parsing", "least to greatest",
          "batch p50", "p99", "p99.9", "live at the end", "bytes a place"]
SYNTHETIC = ("Packets are synthetic (roost/traffic), frames come from memory; Gbit/s are packets "
             "times the profile's mean frame, and no wire limits them.")


def own_ns(part, contestant):
    """Beyond parsing, by round."""
    whole = part.by_round(metric=NS, contestant=contestant)
    raw = part.by_round(metric=NS, contestant=RAW)
    return {key: whole[key] - raw[key] for key in whole if key in raw}


def ratios(part, above, below):
    """Of what two cells take beyond parsing, round by round."""
    upper, lower = own_ns(part, above), own_ns(part, below)
    return [upper[key] / lower[key] for key in lower if key in upper]


def cell_rows(part, names, frame_bytes):
    """Under HEADER."""
    for contestant, name in names.items():
        whole = part.median(metric=NS, contestant=contestant)
        if whole is None:
            continue
        own = list(own_ns(part, contestant).values())
        yield [name, cell(whole), cell(frame_bytes * 8 / whole), cell(statistics.median(own)),
               f"{min(own):.1f} to {max(own):.1f}",
               *(cell(part.median(metric=f"batch_ns_{name}", contestant=contestant), 0)
                 for name in ("p50", "p99", "p999")),
               cell(part.median(metric="connections_live", contestant=contestant), 0),
               cell(table_bytes(part, contestant), 0)]


def table_bytes(part, contestant):
    rows = part.select(contestant=contestant).measured().rows
    return rows[0]["table_bytes"] / rows[0]["slots"] if rows else None


def options_of(job_name):
    """Those of a CellJob, by its name in a record: {name: text}."""
    return dict(word.split("=", 1) for word in job_name.split() if "=" in word)
