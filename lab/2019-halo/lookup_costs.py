#!/usr/bin/python3
"""Counts what a lookup takes of real programs, for the simulator: instructions, loads and stores,
by valgrind's `lackey`, as the difference of two run lengths of roost_lab_lookup_costs.

    lab/2019-halo/lookup_costs.py build/release/lab/roost_lab_lookup_costs > sim/software_costs.toml
    lab/2019-halo/lookup_costs.py --check build/release/lab/roost_lab_lookup_costs

The second form counts one of them again, and fails if it is not as the file says. Needs no
counters of the processor and no quiet machine. valgrind has no AVX-512, so the tables take what
they have for AVX2.
"""
import platform
import re
import subprocess
import sys
import tomllib
from pathlib import Path

# All keys once, and five times; of ways with several tables, calls of 32 in a sixth of them.
LOOKUPS = (3_264, 16_320)
WAYS = {"rte_hash_one": (1, (8, 16, 26, 40)), "rte_hash_32": (32, (8, 16, 26, 40)),
        "single_one": (1, (16,)), "split_32": (32, (8, 16, 26, 40)), "inline_32": (32, (13,)),
        "tuples_rte_hash_one": (1, (16,)), "tuples_rte_hash_32": (32, (16,)),
        "megaflow_32": (32, (16,))}
PROGRAM_WAYS = {"split_32": "split", "inline_32": "inline", "single_one": "first_rte_hash_one"}
COSTS = Path(__file__).resolve().parents[2] / "sim" / "software_costs.toml"
CHECKED = ("rte_hash_one", 16, "hit")
BOUND = 0.03  # of the counts that the file has
HEAD = """\
# What a lookup takes of programs that look keys up themselves: written by
# lab/2019-halo/lookup_costs.py, which says how. `instructions` are those of the processor, loads
# and stores among them as valgrind has them; of a lookup of a key that is there, and of one that is
# not, in a table of 4,096 slots at load 0.8, with the loop around the calls. `tuples_` and
# `megaflow_`: of a lookup in one of several tables, with masking the key and with going on to the
# next table. `single_one`, of a table with one bucket a key, is `rte_hash_one` in a table at load
# 0.1, where almost every key is in its first bucket; a miss, which compares no key and goes through
# all signatures, is taken for as much.
"""


def counts_of(told):
    """(instructions, loads, stores) of what lackey says."""
    instructions = int(re.search(r"guest instrs:\s+([\d,]+)", told)[1].replace(",", ""))
    loads = stores = 0
    for kind in re.findall(r"^==\d+==\s+(?:I|F|V|D)\d+\s+([\d,]+)\s+([\d,]+)\s+[\d,]+$", told,
                           re.MULTILINE):
        loads += int(kind[0].replace(",", ""))
        stores += int(kind[1].replace(",", ""))
    return instructions, loads, stores


def counted(program, way, kind, lookups):
    done = subprocess.run(
        ["valgrind", "--tool=lackey", "--basic-counts=yes", "--detailed-counts=yes", program, way,
         kind, str(lookups)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{way} {kind}: {done.stdout}{done.stderr}")
    return counts_of(done.stderr)


def way_cost(program, way, kind):
    """Of a lookup by one of the program's ways: instructions, loads, stores."""
    few, many = (counted(program, way, kind, lookups) for lookups in LOOKUPS)
    return [(more - less) / (LOOKUPS[1] - LOOKUPS[0]) for less, more in zip(few, many)]


def cost(program, name, key_bytes, kind):
    if name == "single_one":
        kind = "hit"
    return way_cost(program, f"{PROGRAM_WAYS.get(name, name)}_{key_bytes}", kind)


def version_of(program, name):
    if "rte_hash" in name or name == "single_one":
        return subprocess.run([program, "version", "hit", "0"], check=True, capture_output=True,
                              text=True).stdout.strip()
    return "roost " + (Path(__file__).resolve().parents[2] / "debian" / "changelog").read_text(
        encoding="utf-8").split("(", 1)[1].split("-", 1)[0].split(")", 1)[0]


def compiler():
    return subprocess.run(["c++", "--version"], check=True, capture_output=True,
                          text=True).stdout.splitlines()[0]


def check(program):
    name, key_bytes, kind = CHECKED
    ways = tomllib.loads(COSTS.read_text(encoding="utf-8"))["way"]
    kept = next(way[kind] for way in ways if (way["name"], way["key_bytes"]) == (name, key_bytes))
    for (what, value), found in zip(kept.items(), cost(program, name, key_bytes, kind)):
        print(f"{name}, {kind}: {what} a lookup: {found:.1f}, kept {value}")
        assert abs(found - value) <= BOUND * value, "count all of them again"


def write(program):
    valgrind = subprocess.run(["valgrind", "--version"], check=True, capture_output=True,
                              text=True).stdout.strip()
    print(HEAD + f'measured_by = "{valgrind} lackey, {compiler()}, {platform.machine()}"')
    for name, (keys, lengths) in WAYS.items():
        for key_bytes in lengths:
            print(f'\n[[way]]\nname = "{name}"\nversion = "{version_of(program, name)}"\n'
                  f"keys_a_call = {keys}\nkey_bytes = {key_bytes}")
            for kind in ("hit", "miss"):
                found = zip(("instructions", "loads", "stores"),
                            cost(program, name, key_bytes, kind))
                print(f"{kind} = {{ "
                      + ", ".join(f"{what} = {value:.1f}" for what, value in found) + " }",
                      flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        check(sys.argv[2])
    else:
        write(sys.argv[1])
