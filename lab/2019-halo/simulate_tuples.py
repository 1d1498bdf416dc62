#!/usr/bin/python3
"""Tuple space search as `roost-halo` simulates it, as rows of a record. `slots` is the number of
tables, `round` the seed, `workload` which tables have the keys, `form` what a way is compared with.
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from harness.rows_file import write_rows_file  # noqa: E402

MIDDLES = ("cycles_per_lookup", "tables_per_lookup", "busiest_share", "accelerators")
ENDS = ("least", "middle", "greatest")


def rows_of(said, seed):
    """Of one point of a report in JSON."""
    tuples = said["tuples"]
    point, = tuples["points"]
    common = {"kind": "simulated", "workload": tuples["found_in"], "slots": point["tuples"],
              "entries": tuples["entries"], "load": tuples["load"], "key_bytes": 16,
              "core_count": said["cores"], "round": seed, "operations": point["lookups"],
              "note": f"simulated: {said['machine']['machines']} machines"}
    for way in point["ways"]:
        mine = common | {"contestant": way["name"], "form": ""}
        for end in ENDS:
            yield mine | {"metric": f"rate_{end}", "value": way["lookups_per_second"][end]}
        for metric in MIDDLES:
            if metric in way["middle"]:
                yield mine | {"metric": metric, "value": way["middle"][metric]}
    for one in point["speed_ups"]:
        for end in ENDS:
            yield common | {"contestant": one["way"], "form": one["over"],
                            "metric": f"times_{end}", "value": one["times"][end]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--halo", required=True, help="the program")
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--core", type=int, help="ignored: nothing is measured")
    parser.add_argument("--csv", type=Path, required=True)
    arguments, words = parser.parse_known_args()
    done = subprocess.run([arguments.halo, "run", *words, "--seed", str(arguments.seed), "--json"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    rows = [{"experiment": arguments.experiment, **row}
            for row in rows_of(json.loads(done.stdout), arguments.seed)]
    write_rows_file(arguments.csv, rows)


if __name__ == "__main__":
    main()
