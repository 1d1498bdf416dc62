"""the figures and tables of the CuckooSwitch paper (CoNEXT 2013)

Parts, for --only: of its table fig5, fig6, fig7, table3; of its switch table2, fig8, fig9, fig10;
how fast our shared table is: speed, zipf, readers, updates, wide, billion; and our switch: switch,
workers, stalls.
"""
import dataclasses

from harness.beside import beside
from report.section import not_run_section

speed, figures, readme_speed, switch, switch_jobs, readme_switch = (
    beside(__file__, name) for name in ("speed", "figures", "readme_speed", "switch",
                                        "switch_jobs", "readme_switch"))


def jobs(size, available):
    found = []
    for job in (*speed.jobs(size != "quick"), *figures.jobs(size != "quick")):
        there = tuple(name for name in job.contestants if name in available)
        found += dataclasses.replace(job, contestants=there).each_process()
    found += switch_jobs.jobs(size != "quick")
    return sorted(found, key=lambda job: job.process)


def sections(record):
    found = [*speed.sections(record), *figures.sections(record),
             *switch.sections(record, switch_jobs)]
    processor = record.facts.get("cpu", "unknown").partition(" cores")
    for section in found:
        section.notes.append(f"Processor: {''.join(processor[:2])}.")
    return [*found, *not_run_section(record)]


def readme_block(record, name):
    if name == "speed":
        return readme_speed.rates_block(speed, record)
    if name == "billion":
        return readme_speed.billion_block(speed, record)
    if name == "layouts":
        return readme_speed.layouts_block(speed, record)
    if name == "switch":
        return readme_switch.block(switch, switch_jobs, record)
    raise ValueError(f"experiment 2013-cuckooswitch has no block {name}")
