"""Proves the properties of rtl/halo_properties.svh by induction over one cycle, with yosys-smtbmc
and z3; with --bugs, sees each of them fail on a bug that is planted.

Usage: proofs_test.py [--bugs] [PLACES]: of the scoreboard; 3 by default, 10 takes minutes.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

RTL = pathlib.Path(__file__).resolve().parents[2] / "rtl"

# The property that must fail, the file, what stands there, and the bug.
BUGS = [
    ("p1", "halo_accelerator.sv", "assign admit = has_no_command || busy ? '0 : ~is_used",
     "assign admit = has_no_command || busy ? '0 : ~'0"),
    ("p2", "halo_queue.sv", "head = items[i*WIDTH+:WIDTH];",
     "head = items[(DEPTH-1-i)*WIDTH+:WIDTH];"),
    ("p3", "halo_place.sv", "lock_request.line = bucket_locks[1] ? search.secondary : primary;",
     "lock_request.line = bucket_locks[1] ? primary : search.secondary;"),
    ("p4", "halo_bounds.sv", "&& behind <= {1'b0, limit};", "|| behind <= {1'b0, limit};"),
    ("p5", "halo_memory_port.sv", "assign is_memory_free = !memory_valid || memory_ready;",
     "assign is_memory_free = 1'b1;"),
    ("p6", "halo_metadata_cache.sv",
     "(is_filled ? is_table : is_valid[i] && !is_replaced) && !is_invalidated;",
     "is_filled ? is_table : is_valid[i] && !is_replaced;"),
]


def induct(folder, places, arguments):
    """The output of yosys-smtbmc over the sources in a folder."""
    size = 2 if places < 10 else 8
    model = folder / "model.smt2"
    sources = " ".join(sorted(str(path) for path in folder.glob("*.sv")))
    script = (f"read_verilog -formal -sv -DFORMAL -I{folder} {sources}; "
              f"chparam -set KEY_BYTES 8 -set PLACES {places} -set LINES {min(places, 10)} "
              f"-set COMMANDS {size} -set RESULTS {size} halo_accelerator; "
              "prep -flatten -top halo_accelerator; setundef -undriven -anyseq; opt -full; "
              f"async2sync; dffunmap; write_smt2 -wires {model}")
    subprocess.run(["yosys", "-q", "-p", script], check=True, timeout=600)
    ran = subprocess.run(["yosys-smtbmc", "-s", "z3", "--unroll", "--noincr", *arguments, model],
                         stdout=subprocess.PIPE, text=True, timeout=3000, check=False)
    return ran.stdout


def proved(output):
    return "Status: PASSED" in output


def see_bugs(folder):
    for wanted, file, text, bug in BUGS:
        source = (RTL / file).read_text()
        if source.count(text) != 1:
            sys.exit(f"{file}: {text!r} stands there {source.count(text)} times")
        (folder / file).write_text(source.replace(text, bug))
        output = induct(folder, 2, ["-i", "-t", "1"])
        (folder / file).write_text(source)
        failed = re.findall(r"Assert failed in .*: (\S+)", output)
        if proved(output) or not any(wanted in label for label in failed):
            sys.exit(f"{output}\n{wanted} does not fail: {file}: {bug}")
        print(f"{wanted} fails, as it must: {file}: {bug}")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bugs", action="store_true")
    parser.add_argument("places", nargs="?", type=int, default=3)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "rtl"
        shutil.copytree(RTL, folder)
        if given.bugs:
            see_bugs(folder)
            return
        for what, options in (("the first cycles", ["-t", "2"]),
                              ("from each cycle to the next one", ["-i", "-t", "1"])):
            output = induct(folder, given.places, options)
            if not proved(output):
                sys.exit(f"{output}\nnot proved: {what}")
            print(f"proved with {given.places} places: {what}")


if __name__ == "__main__":
    main(sys.argv[1:])
