"""Measuring programs in Python: what is measured serves an end of a net_memif wire on one core,
`roost trafficgen` loads it from the other end on another core. They are called as the measuring
program in C++ is, and write the same rows.
"""
import argparse
import dataclasses
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.process_job import ProcessJob
from harness.rows_file import write_rows_file

MEMORY_MIB = 400  # of each program, for packets; tables have their own
PATIENCE_SECONDS = 120  # with a busy machine


def wait_for(what, ask, process):
    """What `ask` returns once that is true; an error if the process ends before, or it takes too
    long."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not (found := ask()):
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"{what} does not come; status {process.poll()}")
        time.sleep(0.1)
    return found


@dataclasses.dataclass(frozen=True, kw_only=True)
class UnderLoadJob(ProcessJob):
    """A job that is one process, on one contestant."""

    experiment: str
    contestants: tuple
    rounds: int
    loads: tuple

    @property
    def name(self):
        return f"{self.experiment} {self.contestants[0]}"


class UnderLoad:
    """What one run measures, by rows."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.folder = Path(arguments.folder)
        self.rows = []

    def memif_socket(self, number=0):
        return self.folder / f"memif{number}.sock"

    def device(self, role, number=0, ring_bits=10):
        return (f"net_memif{number},role={role},id={number},rsize={ring_bits},"
                f"socket={self.memif_socket(number)},socket-abstract=no")

    def eal(self, core, role, has_huge_pages=True, devices=None):
        return ["--no-pci", "--no-telemetry", "--in-memory" if has_huge_pages else "--no-huge",
                f"--lcores=0@{core}", "-m", str(MEMORY_MIB),
                *(f"--vdev={device}" for device in devices or [self.device(role)])]

    def add(self, metric, value, number=0, **fields):
        self.rows.append({"kind": "measured", "core_count": 1, "round": number, "metric": metric,
                          "value": f"{value:.8g}", "core": self.arguments.cores[0],
                          "note": "synthetic packets over net_memif", **fields})

    def logs(self):
        """The ends of what the programs said."""
        return "".join(log.read_text(errors="replace")[-1000:]
                       for log in sorted(self.folder.glob("*.log")))


def arguments_for(doc):
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--roost", type=Path, required=True)
    parser.add_argument("--core", type=int)
    parser.add_argument("--csv", type=Path, required=True)
    return parser


def write_rows(arguments, name, kind, measure):
    """Calls `measure` with a `kind` of UnderLoad, and writes the rows that it has then."""
    allowed = sorted(os.sched_getaffinity(0))
    first = allowed[-1] if arguments.core is None else arguments.core
    arguments.cores = (first, next((core for core in allowed if core != first), first))
    with tempfile.TemporaryDirectory(prefix="roost-lab-") as arguments.folder:
        measurement = kind(arguments)
        try:
            measure(measurement)
        except (RuntimeError, OSError, ValueError, subprocess.TimeoutExpired) as error:
            sys.exit(f"{name}: {error}\n{measurement.logs()}")
    write_rows_file(arguments.csv, measurement.rows)
