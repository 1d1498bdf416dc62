"""Cache arrays set to LRU against valgrind's cachegrind: misses of a real program, on the addresses
that valgrind's lackey prints. Both run without address randomisation, so they see the same ones.

    cachegrind_test.py REPLAY       REPLAY is the program sim_cache_replay

First-level misses are equal, those of the last level within 0.1 %.
"""

import re
import subprocess
import sys
import tempfile

PROGRAM = ["/usr/bin/sort", "--numeric-sort", "--parallel=1", __file__]
CACHES = ["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64"]


def valgrind(*options, **more):
    return (["setarch", "-R", "valgrind", *options, *PROGRAM],
            {"stdout": subprocess.DEVNULL, "text": True, **more})


def cachegrind():
    with tempfile.NamedTemporaryFile() as out:
        command, options = valgrind("--tool=cachegrind", *CACHES,
                                    f"--cachegrind-out-file={out.name}")
        text = subprocess.run(command, check=True, stderr=subprocess.PIPE, **options).stderr
    return [int(re.search(rf"{name} +misses: +([\d,]+)", text).group(1).replace(",", ""))
            for name in ("I1 ", "D1 ", "LL")]


def replayed(replay):
    # lackey prints to valgrind's log; its lines there begin with I or a blank.
    with tempfile.NamedTemporaryFile() as log:
        command, options = valgrind("--tool=lackey", "--trace-mem=yes", f"--log-file={log.name}",
                                    stderr=subprocess.DEVNULL)
        subprocess.run(command, check=True, **options)
        with open(log.name, "rb") as trace:
            return [int(word) for word in subprocess.run(
                [replay, "trace"], check=True, stdin=trace, stdout=subprocess.PIPE).stdout.split()]


def main():
    theirs, ours = cachegrind(), replayed(sys.argv[1])
    print("misses of I1, D1, LL: cachegrind", theirs, "replayed", ours)
    assert theirs[1] == ours[1] > 1000, "first-level data misses differ"
    assert abs(theirs[2] - ours[2]) <= theirs[2] / 1000, "last-level misses differ"


main()
