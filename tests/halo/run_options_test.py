#!/usr/bin/python3
"""Options of `roost-halo run` that choose what is simulated: keys that the table has not, ways, the
machines of an interval, and what caches hold at first.

    tests/halo/run_options_test.py ROOST_HALO
"""
import json
import pathlib
import sys
import tempfile

from command_line_test import EXIT_REFUSED, EXIT_USAGE, Halo, narrow_machine

IMAGE_HEADER_BYTES = 4096
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


def check_single(halo, machine):
    """The table of one bucket a key takes more slots for the same keys, and has software of its
    own."""
    words = ("--machine", machine, "--build", 3000, "--load", 0.75, *FEW)
    cuckoo, single = run(halo, *words), run(halo, *words, "--format", "single")
    assert cuckoo["table"]["load"] == 3000 / 4096, cuckoo["table"]
    assert single["table"]["kind"] == "paper, single, crc32c"
    assert 0.1 < single["table"]["load"] < 0.4, single["table"]
    # Slots of eight bytes, and the same entries.
    slots = 3000 / single["table"]["load"]
    assert (single["table"]["image_bytes"] - cuckoo["table"]["image_bytes"]
            == round(slots - 4096) * 8), (single["table"], cuckoo["table"])
    low = run(halo, *words[:4], "--load", 0.02, *FEW, "--format", "single")["table"]["load"]
    assert 0.01 < low <= 0.02, low
    assert list(ways_of(single)) == ["blocking", "non-blocking", "overlapped", "single",
                                     "roost-32"]
    found = ways_of(single)["blocking"]["middle"]
    assert found["second_bucket_share"] == 0 and found["hit_share"] == 1, found
    assert (ways_of(single)["single"]["middle"]["loads_per_lookup"]
            < ways_of(cuckoo)["rte_hash"]["middle"]["loads_per_lookup"])
    absent = run(halo, *words, "--format", "single", "--misses", 1, "--ways", "blocking,single")
    assert {way["middle"]["hit_share"] for way in absent["ways"]} == {0}, absent["ways"]
    for refused, says in ((("--ways", "single"), "single goes with --format single"),
                          (("--format", "single", "--ways", "rte_hash"),
                           "rte_hash goes without --format single"),
                          (("--format", "single", "--tuples", 5), "goes with --format paper only")):
        said = halo.run("run", "--build", 100, *refused, status=EXIT_USAGE)
        assert says in said, said


def check_caches(halo, machine):
    """Software's misses, on all machines: a small table has none, a cold one nothing else."""
    words = ("--machine", machine, "--build", 3000, *FEW, "--ways", "blocking,rte_hash")
    ways = ways_of(run(halo, *words))
    assert "l2_misses_per_lookup" not in ways["blocking"], ways["blocking"]
    assert ways["rte_hash"]["l2_misses_per_lookup"]["greatest"] == 0, ways["rte_hash"]
    cold = ways_of(run(halo, *words, "--cold"))["rte_hash"]
    assert cold["l2_misses_per_lookup"] == cold["llc_misses_per_lookup"], cold
    assert 1 < cold["l2_misses_per_lookup"]["least"] < 3, cold
    stalls = cold["stall_share"]
    assert 0.3 < stalls["least"] <= stalls["middle"] <= stalls["greatest"] < 1, cold
    assert "in DRAM; cores stand still" in halo.run("run", *words)


def check_key_bytes(halo, machine):
    """Keys of other lengths: in both formats, found and not, with costs of that length."""
    words = ("--machine", machine, "--build", 3000, "--misses", 0.25, *FEW)
    loads = []
    for key_bytes, entry_bytes in ((8, 16), (16, 32), (26, 48), (40, 48)):
        for form in ("paper", "split"):
            said = run(halo, *words, "--format", form, "--key-bytes", key_bytes)
            # Ours keeps keys in classes of lengths.
            held_bytes = 32 if (form, key_bytes) == ("split", 26) else key_bytes
            assert said["table"]["key_bytes"] == held_bytes, said["table"]
            shares = {way["middle"]["hit_share"] for way in said["ways"]}
            assert len(shares) == 1 and 0.65 < shares.pop() < 0.85, said["ways"]
            if form == "paper":
                slots = 3000 / said["table"]["load"]
                rest = said["table"]["image_bytes"] - slots * 8 - 3000 * entry_bytes
                assert abs(rest - IMAGE_HEADER_BYTES) < 1, (key_bytes, rest)
                loads.append(ways_of(said)["rte_hash"]["middle"]["instructions_per_lookup"])
    assert len(set(loads)) == 4, loads
    default = run(halo, *words)
    assert default["ways"] == run(halo, *words, "--key-bytes", 16)["ways"]
    for refused in (("--key-bytes", 9), ("--key-bytes", 16, "--format", "inline"),
                    ("--key-bytes", 8, "--tuples", 5)):
        halo.run("run", "--build", 100, *refused, status=EXIT_USAGE)


def trace_of(instructions):
    """Text of lackey: a load among four instructions, of 400 lines in turn."""
    lines = []
    for number in range(instructions):
        lines.append(f"I  {0x1000 + number % 64:08x},4")
        if number % 4 == 3:
            lines.append(f" L {0x100000 + number // 4 % 400 * 64:08x},8")
    return "\n".join(lines) + "\n"


def check_neighbour(halo):
    """A program on the other thread of the core that asks."""
    trace = halo.file("neighbour.trace", trace_of(40_000))
    words = ("--build", 3000, *FEW, "--ways", "blocking,rte_hash")
    alone, said = run(halo, *words), run(halo, *words, "--neighbour", trace)
    assert alone["neighbour"] is None and said["neighbour"]["instructions"] == 40_000
    assert said["neighbour"]["loads"] == 10_000 and said["neighbour"]["pages"] == 7
    # How many loads wait is open only where there is a neighbour.
    assert (said["machine"]["open_parameters"] == alone["machine"]["open_parameters"] + 1)
    assert ways_of(said)["rte_hash"]["middle"] == ways_of(alone)["rte_hash"]["middle"]
    beside = {one["name"]: one for one in said["neighbour"]["beside"]}
    assert list(beside) == ["waiting", "blocking", "rte_hash"], beside
    losses = [beside[name]["loss"]["middle"] for name in beside]
    assert 0 <= losses[0] <= losses[1] < 0.05 and 0.1 < losses[2] < 0.6, losses
    # On every machine against that machine, where one that waits costs next to nothing.
    assert 0 <= beside["waiting"]["loss"]["least"] <= beside["waiting"]["loss"]["greatest"] < 0.05
    cycles = said["neighbour"]["alone"]["cycles"]
    loss = 1 - cycles / beside["rte_hash"]["middle"]["cycles"]
    assert abs(loss - losses[2]) < 1e-9, (loss, losses)
    assert all(one["simulated"] and one["emulated"] for one in beside.values())
    text = halo.run("run", *words, "--neighbour", trace)
    assert "neighbour, emulated: beside blocking (LOOKUP_B" in text, text
    halo.run("run", *words, "--neighbour", trace, "--cores", 2, status=EXIT_USAGE)
    refused = halo.run("run", *words, "--neighbour", halo.file("no.trace", "I  1000,4\nhm\n"),
                       status=EXIT_REFUSED)
    assert 'line 2: "hm" is none of valgrind' in refused, refused
    halo.run("run", *words, "--neighbour", "/nowhere", status=EXIT_REFUSED)


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        halo = Halo(program, None, pathlib.Path(folder))
        machine = narrow_machine(halo)
        check_misses(halo, machine)
        check_ways(halo, machine)
        check_ends(halo, machine)
        check_cold(halo, machine)
        check_costs(halo, machine)
        check_single(halo, machine)
        check_caches(halo, machine)
        check_key_bytes(halo, machine)
        check_neighbour(halo)
    print("roost-halo simulates what it was asked for")


if __name__ == "__main__":
    main(*sys.argv[1:])
