"""the figures of the study of connection tracking (2021)

Parts, for --only: fig1 (tables, one core); fig2 (by load); sharing (fig3, fig4 and fig6: tables of
each worker, and one table of all); common (any key from any thread); fig5 and fig5_period (expiry);
timers (the wheel beside rte_timer); axis_size, axis_load, axis_timeout; soak (that nothing is lost
or left).
"""
import os

from harness.beside import beside
from report.section import not_run_section

PARTS = tuple(beside(__file__, name) for name in ("figures", "sharing", "expiry", "timers",
                                                  "axes", "soak"))
choosing, cost_points = (beside(__file__, name) for name in ("choosing", "cost_points"))
CORES_OF_PAPER = 8
# What cannot be, and why.
IMPOSSIBLE = {
    "transactional memory": ("sharing", "the processor has no restricted transactional memory"),
    "lazy, chained, hopscotch, robin, std, boost": (
        "fig5", "an insert evicts only where a bucket has a fixed number of slots (X-85)"),
    "lazy, rte_hash": ("fig5", "it has no hook for an insert that evicts; ours stands for it"),
    "LF with lazy": ("fig6", "the same, of several threads"),
    "rte_timer behind a table": ("fig5", "it goes by the processor's clock, cells by that of "
                                 "their packets; see part timers")}


def jobs(size, _available):
    return [job for part in PARTS for job in part.jobs(size != "quick")]


def analytic_rows(_root):
    """Rows that nothing measures: what cannot be, and the cores that this machine has not."""
    rows = [{"experiment": part, "kind": "measured", "contestant": name, "slots": "", "load": "",
             "core_count": "", "note": f"not run: {why}"}
            for name, (part, why) in IMPOSSIBLE.items()]
    for cores in range(os.cpu_count() + 1, CORES_OF_PAPER + 1):
        rows.append({"experiment": "sharing", "kind": "measured", "contestant": "all",
                     "slots": "", "load": "", "core_count": cores,
                     "note": f"not run: the machine has {os.cpu_count()} cores, not {cores}"})
    return rows


def sections(record):
    found = [section for part in PARTS for section in part.sections(record)]
    processor = record.facts.get("cpu", "unknown").partition(" cores")
    for section in found:
        section.notes.append(f"Processor: {''.join(processor[:2])}.")
    return found + not_run_section(record)


def readme_block(record, name):
    """Of docs/choosing.md, and of apps/advise/README.md."""
    return cost_points.block(record) if name == "cost" else choosing.BLOCKS[name](record)


def readme_files(record, name):
    return {cost_points.FILE: cost_points.header(record)} if name == "cost" else {}
