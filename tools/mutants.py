"""Plants each bug of tests/mutants, one at a time, and requires that the tests named in it fail.

    tools/mutants.py [WORD...] [--slice K/N] [--jobs J] [--record FILE]

tests/mutants/README.md says how a bug is written down, and what the options are. The bugs go into
copies of the tree, so that the tree itself is never touched. Without any bug the tests must pass,
or nothing could be said of them.
"""

import argparse
import concurrent.futures
import contextlib
import os
import pathlib
import queue
import signal
import sys
import tempfile
import time

import mutant_list
from mutant_record import Record
from mutant_turns import Commands, Turns
from mutant_workshop import Verdict, Workshop
from tidy_tree import Tree

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORES = len(os.sched_getaffinity(0))


def slice_of(text):
    """(K, N) of K/N."""
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise argparse.ArgumentTypeError(f"{text}: it is K/N, with K from 1 to N")
    return int(number), int(count)


def jobs_of(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text}: it is a number from 1")
    return int(text)


def chosen(mutants, words, part):
    """Those of a word and a slice, in the order of their files. Most of what a bug costs is to
    compile what its file is part of: so slices of every N-th cost about the same, and from one bug
    to the next there is less to compile."""
    named = [mutant for mutant in mutants
             if not words or any(word in mutant.name for word in words)]
    named.sort(key=lambda mutant: (mutant.edits[0].file, mutant.name))
    number, count = part
    return named[number - 1::count]


def require_green(workshop, mutants):
    """Without any bug, every test that a mutant names passes."""
    for preset in sorted({mutant.preset for mutant in mutants}):
        tests = sorted({test for mutant in mutants if mutant.preset == preset
                        for test in mutant.tests})
        failing, output = workshop.failing(preset, tests, CORES)
        if failing:
            sys.exit(f"mutants: preset {preset} without any bug: {failing} fails already\n{output}")


def tried(mutants, workshops, commands):
    """(mutant, verdict, seconds) as they come; a workshop that is done takes the next mutant."""
    idle = queue.SimpleQueue()
    for workshop in workshops:
        idle.put(workshop)

    def attempt(mutant):
        workshop = idle.get()
        start = time.monotonic()
        try:
            verdict = workshop.verdict_on(mutant, max(1, CORES // len(workshops)))
            return mutant, verdict, time.monotonic() - start
        finally:
            idle.put(workshop)
    with concurrent.futures.ThreadPoolExecutor(len(workshops)) as pool:
        attempts = [pool.submit(attempt, mutant) for mutant in mutants]
        try:
            for done in concurrent.futures.as_completed(attempts):
                yield done.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            commands.stop()


def verdicts_on(tree, mutants, jobs):
    """(mutant, verdict, seconds) of each; those that cannot be planted first."""
    sound = []
    for mutant in mutants:
        faults = list(mutant_list.faults_of_planting(tree, mutant))
        if faults:
            yield mutant, Verdict("BROKEN", "", "; ".join(faults), ""), 0
        else:
            sound.append(mutant)
    if not sound:
        return
    with tempfile.TemporaryDirectory(prefix="roost-mutants-") as folder:
        jobs = min(jobs, len(sound))
        turns, commands = Turns(jobs), Commands()
        seconds_usual = {}
        workshops = [Workshop(tree, pathlib.Path(folder) / str(number), turns, commands,
                              seconds_usual) for number in range(jobs)]
        require_green(workshops[0], sound)
        yield from tried(sound, workshops, commands)


def parsed(words):
    parser = argparse.ArgumentParser(prog="./dev check --mutants")
    parser.add_argument("words", nargs="*", metavar="WORD", help="a part of a mutant's name")
    parser.add_argument("--slice", type=slice_of, default=(1, 1), metavar="K/N",
                        help="every N-th mutant, from the K-th on")
    parser.add_argument("--jobs", type=jobs_of, default=CORES, metavar="J",
                        help=f"so many copies of the tree at work (default: {CORES})")
    parser.add_argument("--record", metavar="FILE", help="put the verdicts into this record")
    return parser.parse_args(words)


def main(words):
    arguments = parsed(words)
    # Commands are in process groups of their own, which somebody must end with this program.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("mutants: ended by SIGTERM"))
    tree = Tree(ROOT)
    mutants, faults = mutant_list.read(tree)
    if faults:
        sys.exit("\n".join(f"{path}:{line}: {message}" for path, line, message in faults))
    record = arguments.record and Record(arguments.record, ROOT,
                                         {mutant.name for mutant in mutants})
    mutants = chosen(mutants, arguments.words, arguments.slice)
    if not mutants:
        sys.exit("mutants: no such mutant in tests/mutants")
    logs = ROOT / "build/logs/mutants"
    logs.mkdir(parents=True, exist_ok=True)
    verdicts = []
    with contextlib.closing(verdicts_on(tree, mutants, arguments.jobs)) as found:
        for mutant, verdict, seconds in found:
            verdicts.append(verdict.word)
            (logs / f"{mutant.name}.log").write_text(verdict.output)
            if record:
                record.add(mutant.name, verdict, seconds)
            print(f"{verdict.word:9}{seconds:5.0f} s  {mutant.name}: {verdict.reason}", flush=True)
    caught = verdicts.count("caught")
    print(f"{caught} of {len(verdicts)} mutants caught; what caught them is in build/logs/mutants")
    return 0 if caught == len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
