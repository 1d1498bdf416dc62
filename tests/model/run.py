"""Runs the model of the shared table, as it is and with each bug put back.

    /usr/bin/python3 tests/model/run.py        in `./dev stage model`

As it is, no interleaving may break an assertion, whatever the number of counters and words; with a
bug, spin must find one where the bug can show, and none where it cannot.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

MODEL = pathlib.Path(__file__).with_name("shared_table.pml")
SHAPES = [(stripes, words) for stripes in (1, 3) for words in ("one word", "wide")]

# What is put back, and in which shapes it shows.
BUGS = {
    # A step that touches two buckets of one counter leaves it even. With several counters, a wide
    # entry's step that touches one bucket is counted twice, too.
    "BUMPED_TWICE": [(1, "one word"), (1, "wide"), (3, "wide")],
    # The first word of one key, the second of another. One word is of one key.
    "BY_KEY": [(1, "wide"), (3, "wide")],
    "MISS_NOT_VALIDATED": SHAPES,
    "FROM_THE_FRONT": SHAPES,
}


def cases():
    for shape in SHAPES:
        yield shape, [], None
    for bug, shown in BUGS.items():
        for shape in SHAPES:
            yield shape, [f"-DBUG={bug}"], shape in shown
    for shape in SHAPES:
        yield shape, ["-DSHOW_RETRY"], True


def checked(folder, shape, options):
    """How many states there are, and the assertion that breaks, or None."""
    stripes, words = shape
    defines = [f"-DSTRIPES={stripes}", *(["-DWIDE"] if words == "wide" else []), *options]
    for command in (["spin", "-a", *defines, str(MODEL)],
                    ["gcc", "-O1", "-DSAFETY", "-o", "pan", "pan.c"]):
        made = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            sys.exit(f"{' '.join(command)} failed:\n{made.stdout}{made.stderr}")
    output = subprocess.run(["./pan", "-m100000"], cwd=folder, capture_output=True, text=True,
                            check=True).stdout
    if "max search depth too small" in output or "errors:" not in output:
        sys.exit(f"the search did not end:\n{output}")
    broken = re.search(r"assertion violated (.*) \(at depth", output)
    states = int(re.search(r"(\d+) states, stored", output).group(1))
    if (broken is not None) != ("errors: 0" not in output):
        sys.exit(f"an error that is no assertion's:\n{output}")
    return states, broken and broken.group(1)


def main():
    is_right = True
    with tempfile.TemporaryDirectory() as folder:
        for shape, options, shows in cases():
            states, broken = checked(folder, shape, options)
            expected = shows is True
            is_right = is_right and (broken is not None) == expected
            verdict = "as expected" if (broken is not None) == expected else "NOT AS EXPECTED"
            what = options[0][2:].replace("BUG=", "") if options else "as it is"
            found = f"breaks {broken}" if broken else "holds"
            print(f"   {what:20} {shape[0]} counters, {shape[1]:8}  {states:8} states  {verdict}: "
                  f"{found}", flush=True)
    sys.exit(0 if is_right else "the model is not what it was")


if __name__ == "__main__":
    main()
