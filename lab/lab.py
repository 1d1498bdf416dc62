"""The lab: `./dev lab table --quick` measures the flow table beside its peers and the ceiling.

This script gets pages of 2 MiB for the run and gives them back, calls the measuring program, prints
the report and keeps the record. What is timed and how: lab/README.md.
"""
import argparse
import datetime
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import huge_pages, machine
from table import report

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build" / "lab" / "lab" / "roost_lab"

EXIT_NOT_MEASURED = 1  # a wrong answer, or something could not be set up
EXIT_BROKEN_BENCH = 3
EXIT_NO_RATIO = 4  # without pages of 2 MiB

QUICK_SLOTS = [1 << 19, 1 << 25]
SMOKE = ["--slots", "4096", "--lookups", "20000", "--rounds", "2"]
# What all contestants together take a slot, with a margin, and what rounding to pages adds.
BYTES_PER_SLOT = 340
BYTES_FIXED = 192 << 20


def pages_needed(slots):
    return (slots * BYTES_PER_SLOT + BYTES_FIXED) // huge_pages.PAGE_BYTES


def measure(arguments, csv, words):
    """Runs the measuring program to its end, which comes before this script's."""
    command = [arguments.program, "table", "--csv", csv, *words]
    if arguments.core is not None:
        command += ["--core", str(arguments.core)]
    surroundings = os.environ | {"RUNTIME_DIRECTORY": str(csv.parent)}
    with subprocess.Popen(command, env=surroundings) as program:
        try:
            return program.wait()
        finally:
            program.kill()


def keep_record(arguments, csv, text, commit):
    """Copies the CSV and writes the text beside it; both are named by time and commit."""
    short = commit[:10] + ("-dirty" if commit.endswith("-dirty") else "")
    now = datetime.datetime.now(datetime.timezone.utc)
    name = f"table-{now:%Y%m%dT%H%MZ}-{short}"
    arguments.record.mkdir(parents=True, exist_ok=True)
    (arguments.record / f"{name}.csv").write_bytes(csv.read_bytes())
    (arguments.record / f"{name}.txt").write_text(text, encoding="utf-8")
    print(f"record: {arguments.record / name}.csv and .txt")


def run_table(arguments):
    with tempfile.TemporaryDirectory(prefix="roost-lab-") as folder:
        return measure_and_report(arguments, Path(folder) / "table.csv")


def measure_and_report(arguments, csv):
    if arguments.smoke:
        words = ["--pages", "4K", *SMOKE]
        if measure(arguments, csv, words) != 0:
            return EXIT_NOT_MEASURED
        print(report.render(report.read(csv))[0], end="")
        return 0

    commit = machine.commit(ROOT)
    about = machine.text(commit, arguments.program)
    print(about)
    words = ["--slots", *map(str, arguments.slots)]
    try:
        with huge_pages.HugePages(pages_needed(max(arguments.slots))) as pages:
            about += f"huge pages: {pages.count} of 2 MiB reserved for the run\n"
            status = measure(arguments, csv, ["--pages", "2M", *words])
    except huge_pages.NoHugePages as missing:
        print(f"lab: no pages of 2 MiB: {missing}.\n"
              "lab: measuring on ordinary pages; no ratio will be printed.", file=sys.stderr)
        if measure(arguments, csv, ["--pages", "4K", *words]) != 0:
            return EXIT_NOT_MEASURED
        print(report.render(report.read(csv))[0], end="")
        return EXIT_NO_RATIO
    if status != 0:
        return EXIT_NOT_MEASURED
    text, broken = report.render(report.read(csv))
    print(text, end="")
    keep_record(arguments, csv, about + "\n" + text, commit)
    return EXIT_BROKEN_BENCH if broken else 0


def run_report(arguments):
    text, broken = report.render(report.read(arguments.csv))
    print(text, end="")
    return EXIT_BROKEN_BENCH if broken else 0


def parse(words):
    parser = argparse.ArgumentParser(prog="./dev lab", description="Measures Roost's tables.")
    commands = parser.add_subparsers(required=True)
    table = commands.add_parser(
        "table", help="the flow table beside rte_hash, boost's flat map and the ceiling")
    size = table.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true",
                      help="512K and 32M slots, a few minutes (the default)")
    size.add_argument("--smoke", action="store_true",
                      help="a tiny run on ordinary pages that only shows it works")
    table.add_argument("--slots", type=int, nargs="+", default=QUICK_SLOTS, help="other sizes")
    table.add_argument("--core", type=int, help="the core to measure on; the last one if absent")
    table.add_argument("--record", type=Path, default=ROOT / "lab" / "record",
                       help="where the record goes")
    table.add_argument("--program", type=Path, default=PROGRAM, help=argparse.SUPPRESS)
    table.set_defaults(run=run_table)
    again = commands.add_parser("report", help="the report of a record, from its CSV alone")
    again.add_argument("csv", type=Path)
    again.set_defaults(run=run_report)
    return parser.parse_args(words)


def main(words):
    huge_pages.end_on_signals()
    arguments = parse(words)
    return arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
