#!/usr/bin/python3
"""One simulated point: `roost-halo run` on a machine and a table, its report as rows of a record.
Called as the measuring programs are; `--point` has the fields of simulated.Point as JSON.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import machine_file  # noqa: E402
from harness.rows_file import write_rows_file  # noqa: E402

OF_INTERVAL = {"": "middle", "_least": "least", "_greatest": "greatest"}
OF_CACHES = ("l2_misses_per_lookup", "llc_misses_per_lookup", "stall_share")
OF_ACCELERATORS = ("lines_per_lookup", "second_bucket_share", "hashes_per_lookup",
                   "key_lines_per_lookup", "locks_per_lookup", "full_share", "accelerators")


class Point:
    def __init__(self, roost_halo, point, folder):
        self.roost_halo, self.point = roost_halo, point
        self.machine = Path(folder, "machine.toml")
        self.rows = []

    def add(self, metric, value, **fields):
        self.rows.append({"experiment": self.point["experiment"], "kind": "simulated",
                          "contestant": "", "form": "", "workload": self.point["variant"],
                          "slots": self.point["slots"], "entries": self.point["entries"],
                          "load": self.point["load"], "miss_ratio": self.point["misses"],
                          "core_count": self.point["cores"], "round": 0, "metric": metric,
                          "value": f"{value:.8g}", "table_bytes": "", "note": "", **fields})

    def run(self, switches, closed):
        text = machine_file.default_machine(self.roost_halo)
        self.machine.write_text(machine_file.changed(text, switches, closed), encoding="utf-8")
        asked = self.point
        words = [self.roost_halo, "run", "--machine", self.machine, "--build", asked["entries"],
                 "--load", asked["load"], "--format", asked["format"], "--misses",
                 asked["misses"], "--cores", asked["cores"], "--ladder", 0, "--samples",
                 asked["samples"], "--warm-up", asked["warm_up"], "--lookups", asked["lookups"],
                 "--json", *(["--cold"] if asked["is_cold"] else []),
                 *([] if asked["has_ends"] else ["--no-ends"]),
                 *(["--key-bytes", asked["key_bytes"]] if asked["key_bytes"] != 16 else []),
                 *(["--ways", ",".join(asked["ways"])] if asked["ways"] else [])]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr}")
        return json.loads(done.stdout)

    def add_interval(self, metric, interval, decided_by, unit, **fields):
        movers = "; ".join(f"{one['parameter']} from {one['low']} to {one['high']}: "
                           f"{one[unit + '_at_low']:.4g} to {one[unit + '_at_high']:.4g}"
                           for one in decided_by)
        for suffix, end in OF_INTERVAL.items():
            self.add(metric + suffix, interval[end], note=movers if not suffix else "", **fields)

    def add_report(self, said):
        """All that a report says, of the machine in the middle and of the interval."""
        image = said["table"]["image_bytes"]
        for way in said["ways"]:
            fields = {"contestant": way["name"], "table_bytes": image}
            self.add_interval("lookups_per_second", way["lookups_per_second"], way["decided_by"],
                              "lookups_per_second", **fields)
            middle = way["middle"]
            self.add("cycles_per_lookup", middle["cycles_per_lookup"], **fields)
            for metric in OF_ACCELERATORS if not way["is_software"] else (
                    "instructions_per_lookup",):
                self.add(metric, middle[metric], **fields)
            if way["is_software"] and self.point["has_caches"]:
                self.add("use", said["table"]["load"], **fields)
                self.add("loads_per_lookup", middle["loads_per_lookup"], **fields)
                for metric in OF_CACHES:
                    self.add_interval(metric, way[metric], [], "", **fields)
        for one in said["speed_ups"]:
            self.add_interval("times", one["times"], one["decided_by"], "times",
                              contestant=one["way"], form=f"over {one['over']}",
                              table_bytes=image)
        self.add("machines", said["machine"]["machines"])

    def simulate(self):
        """Of a point with `draws`: cycles on each of so many closed machines, by costs that are
        switched off one after the other. Else what the program reports."""
        if not self.point["draws"]:
            self.add_report(self.run(self.point["switches"], self.point["closed"]))
            return
        text = machine_file.default_machine(self.roost_halo)
        for draw in range(self.point["draws"]):
            switches = dict(self.point["switches"])
            closed = machine_file.drawn(text, draw) | self.point["closed"]
            for name, off in self.point["costs_off"]:
                switches |= off.get("switches", {})
                closed |= dict.fromkeys(off.get("numbers", ()), 0)
                for way in self.run(switches, closed)["ways"]:
                    self.add("cycles_per_lookup", way["middle"]["cycles_per_lookup"],
                             contestant=way["name"], form=name, round=draw)

    def print_machine(self):
        """Every number of the default machine."""
        for name, values in machine_file.numbers_of(
                machine_file.default_machine(self.roost_halo)).items():
            for metric, value in zip(("low", "middle", "high"), values[1:4]):
                self.add(metric, value, contestant=name, form=values[0], note=values[4])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--roost-halo", type=Path, required=True)
    parser.add_argument("--point", type=json.loads, required=True)
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument("--core", type=int, help="nothing is timed: all cores do")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="roost-lab-") as folder:
        point = Point(arguments.roost_halo, arguments.point, folder)
        try:
            if arguments.point["entries"]:
                point.simulate()
            else:
                point.print_machine()
        except (RuntimeError, OSError, ValueError) as error:
            sys.exit(str(error))
    write_rows_file(arguments.csv, point.rows)


if __name__ == "__main__":
    main()
