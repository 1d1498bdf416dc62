#!/usr/bin/python3
"""How far HALO's simulator is from this machine: pointer chases and the lookups of software,
measured here, and simulated with this machine's numbers (host_machine.py).

It is called as the lab's other measuring programs are: see harness/under_load.py. Besides:

    lab/2019-halo/host.py --keep RECORD.csv > sim/host_check.toml    the floor of roost-halo
    lab/2019-halo/host.py --machine RECORD.csv > host.toml           the machine, for roost-halo
"""
import argparse
import concurrent.futures
import csv
import dataclasses
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent)]

from harness.beside import beside  # noqa: E402
from harness.process_job import ProcessJob  # noqa: E402
from harness.rows_file import write_rows_file  # noqa: E402
from report.record import Record  # noqa: E402

host_machine = beside(__file__, "host_machine")
host_points = beside(__file__, "host_points")
sections = host_points.sections
PART, WAYS = host_points.PART, host_points.WAYS

LOAD = 0.8
SLOTS = (1 << 10, 1 << 13, 1 << 16, 1 << 19, 1 << 22)
TINY_SLOTS = (1 << 6, 1 << 8)
TINY_CHASE_MAX = 1 << 20
WARM_UP_MAX = 1_310_720  # lookups, that fill a last-level cache of 32 MB more than twice
SIMULATED_WARM_UP = 10_240  # of caches that begin as a long run leaves them
TABLE_BYTES = 1800 << 20  # all tables and chases at once, and EAL's


@dataclasses.dataclass(frozen=True)
class HostJob(ProcessJob):
    """`slots`: of the largest table. A process is a check, with a machine of its own."""

    rounds: int = 15
    operations: int = 1 << 18
    simulated: int = 20_480
    is_tiny: bool = False
    experiment: str = PART
    contestants: tuple = ("clock", "chase", *WAYS)
    slots: int = SLOTS[-1]
    name: str = PART

    @staticmethod
    def program(_beside):
        return HERE / "host.py"

    def words(self, beside_program):
        return ["--programs", str(beside_program.parent), "--pages", self.pages, "--rounds",
                str(self.rounds), "--operations", str(self.operations), "--simulated",
                str(self.simulated), *(["--tiny"] if self.is_tiny else [])]

    @staticmethod
    def table_bytes():
        return TABLE_BYTES

    def seconds(self):
        return 60 + self.rounds * 2

    def tiny(self):
        return dataclasses.replace(self, rounds=2, operations=5_120, simulated=512, is_tiny=True,
                                   processes=1, pages="4K")


def jobs(size):
    why = ""
    try:
        host_machine.read_caches(min(os.sched_getaffinity(0)))
    except (RuntimeError, OSError) as missing:
        why = str(missing)
    job = HostJob(rounds=15 if size == "full" else 7, not_run_because=why,
                  processes=5 if size == "full" else 1)
    return job.each_process()


# --- What is measured and simulated. ---

class HostCheck:
    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.folder = Path(folder)
        self.programs = arguments.programs
        core = 0 if arguments.core is None else arguments.core
        self.caches = host_machine.read_caches(core)
        self.chases = [(min(size, TINY_CHASE_MAX) if arguments.tiny else size, finds)
                       for size, finds in host_machine.chases(self.caches)]
        self.slots = TINY_SLOTS if arguments.tiny else SLOTS

    def call(self, share, what, *words):
        print(f"progress {share:.2f} {what}", file=sys.stderr, flush=True)
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{what}: {done.stdout}{done.stderr}")
        return done.stdout

    def csv_of(self, share, what, command, *words):
        file = self.folder / f"{command}.csv"
        self.call(share, what, self.programs / "roost_lab_halo", command, "--csv", file, *words)
        with file.open(newline="", encoding="utf-8") as opened:
            return list(csv.DictReader(opened))

    def measure(self):
        core = [] if self.arguments.core is None else ["--core", self.arguments.core]
        return self.csv_of(0, "measuring", "measure", "--chases",
                           *dict.fromkeys(size for size, _ in self.chases), "--slots", *self.slots,
                           "--warm-up", WARM_UP_MAX, "--operations", self.arguments.operations,
                           "--rounds", self.arguments.rounds, "--pages", self.arguments.pages,
                           *core)

    def machine_file(self, found):
        path = self.folder / "host.toml"
        path.write_text(host_machine.machine_text(found), encoding="utf-8")
        return path

    def simulated_chases(self, found, sizes):
        rows = self.csv_of(0.5, "simulating chases", "simulate", "--machine",
                           self.machine_file(found), "--chases", *sizes, "--operations",
                           self.arguments.simulated)
        return [float(row["value"]) for row in rows]

    def find(self, measured):
        """{number: (value, how)} of this machine."""
        def median(**where):
            return statistics.median(float(row["value"]) for row in measured
                                     if all(row[name] == str(value)
                                            for name, value in where.items()))

        add = median(contestant="clock")
        cycles = {(size, finds): median(contestant="chase", table_bytes=size) / add
                  for size, finds in self.chases if finds}
        return host_machine.found_by_chases(
            host_machine.found_without_chases(self.caches, add), self.caches, cycles,
            lambda found, size: self.simulated_chases(found, [size])[0])

    def simulated_lookups(self, machine, slots):
        """By way, cycles a lookup."""
        entries = int(slots * LOAD)
        said = json.loads(self.call(
            0.6, f"simulating lookups in {slots} slots",
            self.programs.parent / "apps" / "roost-halo", "run", "--machine", machine, "--build",
            entries, "--load", LOAD, "--ways", ",".join(WAYS), "--warm-up", SIMULATED_WARM_UP,
            "--lookups", self.arguments.simulated, "--samples", 0, "--ladder", 0, "--threads", 1,
            "--json"))
        return {way["name"]: way["middle"]["cycles_per_lookup"] for way in said["ways"]}

    def rows(self):
        measured = self.measured_rows()
        found = self.find(measured)
        machine = self.machine_file(found)
        self.call(0.5, "checking the machine", self.programs.parent / "apps" / "roost-halo",
                  "machine", "--check", machine)
        nanoseconds = 1000 / found["clock.megahertz"][0]

        def simulated(contestant, cycles, **fields):
            return {"experiment": PART, "kind": "simulated", "contestant": contestant,
                    "form": "plain", "metric": "ns", "value": f"{cycles * nanoseconds:.6g}",
                    **fields}

        sizes = list(dict.fromkeys(size for size, _ in self.chases))
        rows = [simulated("chase", cycles, table_bytes=size)
                for size, cycles in zip(sizes, self.simulated_chases(found, sizes))]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            by_slots = pool.map(lambda slots: self.simulated_lookups(machine, slots), self.slots)
            for slots, cycles in zip(self.slots, by_slots):
                rows += [simulated(way, cycles[way], slots=slots, entries=int(slots * LOAD),
                                   load=LOAD) for way in WAYS]
        rows += [{"experiment": PART, "kind": "simulated", "contestant": name, "form": finds,
                  "metric": "number", "value": value, "note": how}
                 for name, (value, how) in found.items()
                 for finds in [" ".join(str(size) for size, one in self.chases if one == name)]]
        return measured + rows

    def measured_rows(self):
        """Kept where the arguments say so: then they are not measured again."""
        kept = self.arguments.measured
        if kept and kept.exists():
            with kept.open(newline="", encoding="utf-8") as opened:
                return list(csv.DictReader(opened))
        rows = self.measure()
        if kept:
            write_rows_file(kept, rows)
        return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, metavar="RECORD", help="print sim/host_check.toml")
    parser.add_argument("--machine", type=Path, metavar="RECORD", help="print the machine")
    parser.add_argument("--programs", type=Path, help="the folder of the lab's programs")
    parser.add_argument("--core", type=int)
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--measured", type=Path,
                        help="a file of what was measured: read if it is there, else written")
    parser.add_argument("--pages", default="4K")
    for name in ("rounds", "operations", "simulated"):
        parser.add_argument(f"--{name}", type=int)
    parser.add_argument("--tiny", action="store_true")
    arguments = parser.parse_args()
    if arguments.keep:
        print(host_points.kept_text(Record.read(arguments.keep)), end="")
    elif arguments.machine:
        found = host_points.found_numbers(Record.read(arguments.machine))
        print(host_machine.machine_text(found), end="")
    else:
        with tempfile.TemporaryDirectory(prefix="roost-lab-") as folder:
            try:
                rows = HostCheck(arguments, folder).rows()
            except (RuntimeError, OSError, ValueError) as error:
                sys.exit(f"{PART}: {error}")
        write_rows_file(arguments.csv, rows)


if __name__ == "__main__":
    main()
