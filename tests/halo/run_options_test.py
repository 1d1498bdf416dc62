#!/usr/bin/python3
"""Options of `roost-halo run` that choose what is simulated: keys that the table has not, ways, the
machines of an interval, and what caches hold at first.

    tests/halo/run_options_test.py ROOST_HALO
"""
import json
import pathlib
import sys
import tempfile

from command_line_test import EXIT_USAGE, Halo, narrow_machine

FEW = ("--warm-up", 100, "--lookups", 400, "--samples", 2, "--ladder", 0, "--no-ends")


def run(halo, *words):
    return json.loads(halo.run("run", *words, "--json"))


def ways_of(said):
    return {way["name"]: way for way in said["ways"]}


def check_misses(halo, machine):
    for form in ("paper", "split", "inline"):
        for misses, least, most in ((0, 0, 0), (0.25, 0.18, 0.32), (1, 1, 1)):
            said = run(halo, "--machine", machine, "--build", 3000, "--format", form, "--misses",
                       misses, *FEW)
            share = 1 - said["trace"]["hits"] / said["trace"]["keys"]
            assert least <= share <= most, (form, misses, share)
            found = {way["middle"]["hit_share"] for way in said["ways"]}
            assert len(found) == 1 and abs(1 - found.pop() - share) < 0.05, said["ways"]
    halo.run("run", "--misses", 0.5, status=EXIT_USAGE)
    halo.run("run", "--build", 100, "--misses", 1.1, status=EXIT_USAGE)


def check_ways(halo, machine):
    words = ("--machine", machine, "--build", 3000, *FEW)
    said, some = run(halo, *words), run(halo, *words, "--ways", "rte_hash,overlapped")
    assert list(ways_of(some)) == ["overlapped", "rte_hash"], some
    assert all(ways_of(said)[way["name"]] == way for way in some["ways"]), "ways meet"
    assert [(one["way"], one["over"]) for one in some["speed_ups"]] == [("overlapped", "rte_hash")]
    halo.run("run", "--build", 100, "--ways", "fastest", status=EXIT_USAGE)


def check_ends(halo, machine):
    words = ("--machine", machine, "--build", 3000, *FEW)
    few, all_ends = run(halo, *words), run(halo, *words[:-1])
    open_numbers = few["machine"]["open_parameters"]
    assert open_numbers == all_ends["machine"]["open_parameters"] > 0
    assert few["machine"]["machines"] == 3, few["machine"]
    assert all_ends["machine"]["machines"] == 3 + 2 * open_numbers, all_ends["machine"]
    for one, other in zip(few["speed_ups"], all_ends["speed_ups"]):
        assert one["decided_by"] == [] and one["times"]["middle"] == other["times"]["middle"]
        # The samples are the same ones.
        assert (other["times"]["least"] <= one["times"]["least"] <= one["times"]["greatest"]
                <= other["times"]["greatest"]), (one, other)
    assert "moved most by" not in halo.run("run", *words)


def check_cold(halo, machine):
    """Caches begin as many lookups leave them, unless the run is cold."""
    words = ("--machine", machine, "--build", 3000, "--lookups", 2000, "--samples", 0, "--ladder",
             0, "--no-ends", "--ways", "blocking,rte_hash")
    warm = run(halo, *words, "--warm-up", 100)
    cold = run(halo, *words, "--warm-up", 100, "--cold")
    long = run(halo, *words, "--warm-up", 30_000, "--cold")
    assert not warm["begins_cold"] and cold["begins_cold"]
    for name in ("blocking", "rte_hash"):
        warm_cycles, cold_cycles, long_cycles = (
            ways_of(said)[name]["middle"]["cycles_per_lookup"] for said in (warm, cold, long))
        assert abs(warm_cycles / long_cycles - 1) < 0.03, (name, warm_cycles, long_cycles)
        assert cold_cycles > 1.3 * long_cycles, (name, cold_cycles, long_cycles)


def check_costs(halo, machine):
    words = ("--machine", machine, "--build", 3000, *FEW, "--ways", "blocking")
    costs = ways_of(run(halo, *words))["blocking"]["middle"]
    assert costs["hashes_per_lookup"] == costs["key_lines_per_lookup"] == 1, costs
    # Both buckets and each entry that is read; one lock where both buckets are the same.
    locks = 2 + 1 + costs["mismatches_per_lookup"]
    assert locks - 0.1 < costs["locks_per_lookup"] <= locks, costs
    unlocked = halo.file("unlocked.toml", machine.read_text().replace(
        'locks = { value = "on"', 'locks = { value = "off"').replace(
        'key = { value = "snoop"', 'key = { value = "command"'))
    costs = ways_of(run(halo, "--machine", unlocked, *words[2:]))["blocking"]["middle"]
    assert costs["locks_per_lookup"] == costs["key_lines_per_lookup"] == 0, costs


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        halo = Halo(program, None, pathlib.Path(folder))
        machine = narrow_machine(halo)
        check_misses(halo, machine)
        check_ways(halo, machine)
        check_ends(halo, machine)
        check_cold(halo, machine)
        check_costs(halo, machine)
    print("roost-halo simulates what it was asked for")


if __name__ == "__main__":
    main(*sys.argv[1:])
