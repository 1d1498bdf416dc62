#!/usr/bin/python3
"""`roost-halo run --tuples`: how much each point is asked, which tables, text and JSON that say the
same, and what is refused.

    tests/halo/tuples_test.py ROOST_HALO
"""

import json
import pathlib
import sys
import tempfile
import tomllib

from command_line_test import ACCELERATORS, EXIT_USAGE, ROOT, SOFTWARE, Halo, narrow_machine

# Whose costs software has, by way: with masking, and with going on to the next table.
COSTS = {"rte_hash": "tuples_rte_hash_one", "rte_hash-32": "tuples_rte_hash_32",
         "roost-32": "megaflow_32"}


def check_usage(halo):
    for words in (
            ("run", "--table", "x", "--trace", "y", "--tuples", "5"),
            ("run", "--build", "10", "--tuples", "0"),
            ("run", "--build", "10", "--tuples", "5,33"),
            ("run", "--build", "10", "--tuples", "5,4"),
            ("run", "--build", "10", "--tuples", "5,5"),
            ("run", "--build", "10", "--tuples", "5", "--format", "split"),
            ("run", "--build", "10", "--found-in", "any"),
            ("run", "--build", "10", "--tuples", "5", "--found-in", "first")):
        halo.run(*words, status=EXIT_USAGE)


def check_tuples(halo, machine):
    few = ("--machine", machine, "--build", 200, "--tuples", "1,3,9", "--warm-up", 90, "--lookups",
           900, "--samples", 2, "--no-ends", "--ladder", 0)
    for found_in in ("last", "any"):
        words = (*few, "--found-in", found_in) if found_in == "any" else few
        said = json.loads(halo.run("run", *words, "--json"))["tuples"]
        assert (said["found_in"], said["entries"], said["load"]) == (found_in, 200, 0.8), said
        points = said["points"]
        assert [(point["tuples"], point["lookups"], point["warm_up"]) for point in points] == [
            (1, 900, 90), (3, 300, 30), (9, 100, 10)], points
        for point in points:
            check_point(point, found_in)
        times = [{(one["way"], one["over"]): one["times"]["middle"]
                  for one in point["speed_ups"]} for point in points]
        pairs = [(way, over) for way in ACCELERATORS for over in SOFTWARE]
        assert all(list(one) == pairs for one in times), times
        # All at once gain by each table; one after the other gain nothing.
        assert (times[2]["non-blocking", "rte_hash"] > 1.1 * times[1]["non-blocking", "rte_hash"]
                or found_in == "any"), times
        assert times[2]["overlapped", "rte_hash"] > times[2]["blocking", "rte_hash"], times
        for one in said["break_even"]:
            first = next((point["tuples"] for at, point in enumerate(points)
                          if all(one_of[one["way"], one["over"]] >= 1 for one_of in times[at:])),
                         None)
            assert one["simulated"] and one["tuples"]["middle"] == first, (one, times)
        text = halo.run("run", *words)
        assert all(line.startswith("simulated: ") for line in text.splitlines()), text
        rate = points[2]["ways"][0]["lookups_per_second"]
        for line in (f"simulated: 9 tuples: blocking: {rate['least'] / 1e6:.2f} to "
                     f"{rate['greatest'] / 1e6:.2f} million lookups a second, ",
                     "simulated: 9 tuples: non-blocking over roost-32: ",
                     "simulated: 3 tuples: tables of 200 entries, load 0.8, a mask each; ",
                     "simulated: break-even: non-blocking over rte_hash: tuples from which on it "
                     "is as fast: "):
            assert line in text, (line, text)
    other = json.loads(halo.run("run", *few, "--seed", 2, "--json"))["tuples"]["points"]
    shares = {point["ways"][1]["middle"]["busiest_share"] for point in (points[2], other[2])}
    assert len(shares) == 2, f"another seed has other places: {shares}"
    halo.refused("--build", 1 << 20, "--tuples", "16,32", "--threads", 64, says="--tuples: ")
    halo.refused("--build", 128, "--load", 1, "--tuples", 3, says="build it with a lower load")


def check_point(point, found_in):
    count = point["tuples"]
    half = (count + 1) / 2 if found_in == "any" else count
    assert tuple(way["name"] for way in point["ways"]) == ACCELERATORS + SOFTWARE, point
    for way in point["ways"]:
        middle = way["middle"]
        assert way["simulated"] and middle["hit_share"] == 1, way
        if way["is_software"]:
            cost = next(cost for cost in tomllib.loads(
                (ROOT / "sim/software_costs.toml").read_text())["way"]
                if cost["name"] == COSTS[way["name"]])
            counted = (cost["hit"]["instructions"] + (half - 1) * cost["miss"]["instructions"]
                       + 1)  # that writes the key
            assert abs(middle["instructions_per_lookup"] / counted - 1) < (
                0.1 if found_in == "any" else 0.01), (way, counted)
            continue
        asked = half if way["name"] == "blocking" else count
        assert abs(middle["tables_per_lookup"] / asked - 1) < (0.1 if asked != count else 1e-9), way
        assert 1 / count <= middle["busiest_share"] * 1.01 and middle["accelerators"] <= count, way


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        halo = Halo(program, None, pathlib.Path(folder))
        check_usage(halo)
        check_tuples(halo, narrow_machine(halo))
    print("roost-halo --tuples says what it should, and refuses the rest")


if __name__ == "__main__":
    main(*sys.argv[1:])
