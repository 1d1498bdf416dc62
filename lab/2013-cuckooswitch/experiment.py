"""the figures and tables of the CuckooSwitch paper (CoNEXT 2013)

Parts, for --only: of its table fig5, fig6, fig7, table3; of its switch table2, fig8, fig9, fig10;
how fast our shared table is: speed, zipf, readers, updates, wide, billion; and our switch: switch,
workers, stalls.
"""
import dataclasses
import importlib.util
import sys
from pathlib import Path

from report.section import not_run_section


def beside(name):
    """A file of this folder, whose name is no package's."""
    spec = importlib.util.spec_from_file_location(f"cuckooswitch_{name}",
                                                  Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


speed, figures, readme_speed = beside("speed"), beside("figures"), beside("readme_speed")
switch, switch_jobs, readme_switch = (beside(name)
                                      for name in ("switch", "switch_jobs", "readme_switch"))


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
    if name == "switch":
        return readme_switch.block(switch, switch_jobs, record)
    raise ValueError(f"experiment 2013-cuckooswitch has no block {name}")
