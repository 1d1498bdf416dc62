"""A copy of the tree and its builds, in which bugs come and go."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
import typing

import mutant_tests
from mutant_list import COMPILER, edited_files

TEST_SECONDS_MAX = 300
# Sources compiled together and without what a debugger reads take a third of the time after an edit
# of a header: 46 s instead of 128 for the balancer's datapath.
QUICKLY = ("-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_CXX_FLAGS_DEBUG=-g0")


def seconds_max(seconds_usual):
    """What a test may take that takes so long without a bug: with one, it may never end."""
    return min(TEST_SECONDS_MAX, 30 + 10 * seconds_usual)


class Verdict(typing.NamedTuple):
    """What became of a bug, what caught it, why that is so in words, and the output to show it."""

    word: str
    catcher: str
    reason: str
    output: str


class Workshop:
    """Works beside others of its kind, as `turns` lets it. It has a process at a time."""

    def __init__(self, tree, folder, turns, commands, seconds_usual):
        """`seconds_usual`, of all workshops: what a (preset, test) took when it first passed."""
        self._folder = folder
        self._turns = turns
        self._commands = commands
        self._seconds_usual = seconds_usual
        self._wide_tests = {}  # of a preset: those that ctest runs on several processors
        # A compilation is worth the same in every copy, and as much as one of the tree itself.
        self._environment = {**os.environ, "CCACHE_BASEDIR": str(folder), "CCACHE_NOHASHDIR": "1"}
        for name in tree.files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(tree.root / name, folder / name)

    def _run(self, command, seconds=None):
        return self._commands.run(command, self._folder, self._environment, seconds)

    def _configured(self, preset):
        """The preset's build folder, where the tree itself has it."""
        build = self._folder / "build" / preset
        if preset not in self._wide_tests:
            launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
            # Of the lab, which needs DPDK, only what a test needs is built.
            lab = ["-DROOST_LAB=ON"] if preset == "debug" else []
            outcome = self._run(["cmake", "--preset", preset, *QUICKLY, *lab, *launcher])
            if outcome.status != 0:
                sys.exit(f"mutants: preset {preset} does not configure\n{outcome.output}")
            listing = subprocess.run(
                ["ctest", "--test-dir", build, "-C", "v2", "--show-only=json-v1"],
                check=True, capture_output=True, text=True).stdout
            self._wide_tests[preset] = {
                test["name"] for test in json.loads(listing)["tests"]
                for entry in test.get("properties", [])
                if entry["name"] == "PROCESSORS" and entry["value"] > 1}
        return build

    def _test(self, test, preset, build):
        """Tests of other runners than ctest build, install and listen: one of them at a time."""
        word, _ = mutant_tests.split(test)
        turn = "other runners" if word else test
        processors = 2 if word or test in self._wide_tests[preset] else 1
        command = mutant_tests.command_of(test, build)
        usual = self._seconds_usual.get((preset, test), TEST_SECONDS_MAX)
        with self._turns.test(turn, processors):
            start = time.monotonic()
            outcome = self._run(command, seconds_max(usual))
            seconds = time.monotonic() - start
        if outcome.is_late and self._turns.processors > 1:
            with self._turns.test(turn, self._turns.processors):  # was it the others' fault?
                outcome = self._run(command, seconds_max(usual))
        if outcome.status == 0:
            self._seconds_usual.setdefault((preset, test), seconds)
        return outcome

    def failing(self, preset, tests, jobs):
        """(what failed first, its output); two empty strings if every test passes."""
        with self._turns.taken(1):
            build = self._configured(preset)
        for command in mutant_tests.builds_of(tests, build, jobs):
            with self._turns.taken(1):
                outcome = self._run(command)
            if outcome.status != 0:
                return COMPILER, outcome.output
        for test in tests:
            outcome = self._test(test, preset, build)
            if outcome.status != 0:
                return test, outcome.output
        return "", ""

    @contextlib.contextmanager
    def _planted(self, mutant):
        before = {edit.file: (self._folder / edit.file).read_bytes() for edit in mutant.edits}
        after = edited_files(mutant, lambda path: before[path].decode())
        try:
            for path, text in after.items():
                (self._folder / path).write_bytes(text.encode())
            yield
        finally:
            for path, content in before.items():
                (self._folder / path).write_bytes(content)

    def verdict_on(self, mutant, jobs):
        with self._planted(mutant):
            # A test that the first one has made needless is not even compiled.
            attempts = (self.failing(mutant.preset, [test], jobs) for test in mutant.tests)
            catcher, output = next((found for found in attempts if found[0]), ("", ""))
        must_compile = mutant.caught_by != COMPILER
        if must_compile and catcher == COMPILER:
            return Verdict("BROKEN", "", "does not compile", output)
        if not must_compile and catcher != COMPILER:
            return Verdict("SURVIVED", "", "compiles", output)
        if not catcher:
            return Verdict("SURVIVED", "", "all of its tests pass", "")
        return Verdict("caught", catcher, f"by {catcher}", output)
