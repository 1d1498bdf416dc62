"""the figures and table of the CuckooSwitch paper (CoNEXT 2013) that are about its table

Parts, for --only: speed, zipf.
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


speed = beside("speed")


def jobs(size, available):
    found = []
    for job in speed.jobs(size == "full"):
        there = tuple(name for name in job.contestants if name in available)
        found += dataclasses.replace(job, contestants=there).each_process()
    return sorted(found, key=lambda job: job.process)


def sections(record):
    return [*speed.sections(record), *not_run_section(record)]
