"""What all scenarios are as programs: options, a report a run, an exit status."""

import argparse
import os
import pathlib
import signal
import sys
import tempfile
import time

from namespaces import Refused
from report import Report

ROOT = pathlib.Path(__file__).resolve().parents[2]


def options(doc, modes=None, downloads=None, **numbers):
    """The program's options: `modes` to choose from, a default for `downloads` and for each of
    `numbers`, where a scenario has such."""
    parser = argparse.ArgumentParser(description=doc.partition("\n")[0])
    parser.add_argument("--roost", type=pathlib.Path, default=ROOT / "build/release/apps/roost")
    if modes:
        parser.add_argument("--mode", choices=modes, help="else one after the other")
    if downloads:
        numbers = {"downloads": downloads, **numbers}
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    found = parser.parse_args()
    found.roost = found.roost.resolve()
    if modes:
        found.modes = [found.mode] if found.mode else modes
    return found


def report_runs(name, runs):
    """Runs one after the other and prints their reports; ends the program. A run is a report's
    title and a function that fills the report, with a directory of its own."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(f"{name}: terminated"))
    all_hold = True
    for title, run in runs:
        report, start = Report(""), time.monotonic()
        try:
            with tempfile.TemporaryDirectory(prefix="roost-scenario-") as directory:
                run(pathlib.Path(directory), report)
        except Refused as refusal:
            print(f"NOT TESTED: {name}, network namespaces refused ({refusal})")
            sys.exit(1 if os.environ.get("CI") == "true" else 0)
        report.lines[0] = f"{title}, in {time.monotonic() - start:.0f} s"
        print(report.text(), flush=True)
        all_hold &= report.holds()
    sys.exit(0 if all_hold else 1)
