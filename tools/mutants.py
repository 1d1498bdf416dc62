"""Plants each bug of tests/mutants, one at a time, and requires that the tests named in it fail.

    tools/mutants.py [WORD...]    all mutants, or those whose file name contains a word

A mutant is a patch with lines before the diff:  # tests: flow_table expiry
(names of ctest; their programs are <name>_test, for <name>_on_v2 too). The bugs go into a copy of
the tree, so that the tree itself is never touched. A patch that does not apply is a failure: it
protects nothing. A bug that does not compile counts as caught only if the patch says
# caught-by: compiler
A test named  install:WORD  stands for those of tests/install with that word in their names,
python:WORD  for those of bindings/python/tests, package:WORD  for those of tests/package.
A bug that only another build shows names it:  # preset: aarch64  (without it: debug).
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEST_SECONDS_MAX = 300
INSTALL = "install:"
PYTHON = "python:"
PACKAGE = "package:"  # these tests build what they need
PYTHON_TESTS = ["/usr/bin/python3", "bindings/python/tests/run.py", "--only"]


def run(command, folder, seconds=None):
    try:
        return subprocess.run(command, cwd=folder, timeout=seconds, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, f"no end after {seconds} s")


def targets_of(test):
    if test.startswith(INSTALL):
        return ["roost_shared", "roost_static"]
    return [f"{test.removesuffix('_on_v2')}_test"]


def builds_of(tests, build):
    """The commands that build what the tests need."""
    by_pip = {test for test in tests if test.startswith(PYTHON)}
    built = {test for test in tests if not test.startswith((PYTHON, PACKAGE))}
    targets = sorted({target for test in built for target in targets_of(test)})
    if targets:
        yield ["ninja", "-C", build, "-j", str(os.cpu_count()), *targets]
    if by_pip:
        yield [*PYTHON_TESTS, "install"]


def command_of(test, build):
    if test.startswith(INSTALL):
        return ["/usr/bin/python3", "tests/install/run.py", "--build", build, "-k",
                test.removeprefix(INSTALL)]
    if test.startswith(PYTHON):
        return [*PYTHON_TESTS, "test", "-k", test.removeprefix(PYTHON)]
    if test.startswith(PACKAGE):
        return ["/usr/bin/python3", "tests/package/run.py", "-k", test.removeprefix(PACKAGE)]
    return ["ctest", "--test-dir", build, "-C", "v2", "-R", f"^{test}$", "--output-on-failure",
            "--no-tests=error"]


def header(patch, word):
    lines_above = patch.read_text().split("diff --git")[0]
    found = re.search(rf"^# {word}:\s*(.+)$", lines_above, re.MULTILINE)
    return found.group(1).split() if found else []


def preset_of(patch):
    return (header(patch, "preset") or ["debug"])[0]


def copy_tree(folder):
    """The tree as git sees it, uncommitted work included."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


class Workshop:
    """A copy of the tree and its build folder, in which bugs come and go."""

    def __init__(self, folder):
        self.tree = folder / "tree"
        self.builds = folder / "build"
        copy_tree(self.tree)

    def configured(self, preset):
        build = self.builds / preset
        if not build.exists():
            launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
            result = run(["cmake", "--preset", preset, "-B", build, *launcher], self.tree)
            if result.returncode != 0:
                sys.exit(f"mutants: preset {preset} does not configure\n{result.stdout}")
        return build

    def programs_fail(self, preset, tests):
        """(what failed first, its output); two empty strings if every test passes."""
        build = self.configured(preset)
        for command in builds_of(tests, build):
            built = run(command, self.tree)
            if built.returncode != 0:
                return "compiler", built.stdout
        for test in tests:
            result = run(command_of(test, build), self.tree, TEST_SECONDS_MAX)
            if result.returncode != 0:
                return test, result.stdout
        return "", ""

    def try_mutant(self, patch):
        """(verdict, what caught it or why it is no mutant, the output that shows it)."""
        tests = header(patch, "tests")
        if not tests:
            return "BROKEN", "names no tests: add a line '# tests: <name>' above the diff", ""
        applied = run(["git", "apply", "--whitespace=nowarn", patch], self.tree)
        if applied.returncode != 0:
            return "BROKEN", "does not apply", applied.stdout
        try:
            catcher, output = self.programs_fail(preset_of(patch), tests)
        finally:
            run(["git", "apply", "-R", "--whitespace=nowarn", patch], self.tree)
        if not catcher:
            return "SURVIVED", "all of its tests pass", ""
        if catcher == "compiler" and header(patch, "caught-by") != ["compiler"]:
            return "BROKEN", "does not compile", output
        return "caught", f"by {catcher}", output


def main(words):
    patches = sorted((ROOT / "tests/mutants").glob("*.patch"))
    patches = [patch for patch in patches
               if not words or any(word in patch.name for word in words)]
    if not patches:
        sys.exit("mutants: no such patch in tests/mutants")
    logs = ROOT / "build/logs/mutants"
    logs.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="roost-mutants-") as folder:
        workshop = Workshop(pathlib.Path(folder))
        for preset in sorted({preset_of(patch) for patch in patches}):
            tests = sorted({test for patch in patches if preset_of(patch) == preset
                            for test in header(patch, "tests")})
            failing, output = workshop.programs_fail(preset, tests)
            if failing:
                sys.exit(f"mutants: preset {preset} without any bug: {failing} fails already\n"
                         f"{output}")
        verdicts = []
        for patch in patches:
            start = time.monotonic()
            verdict, reason, output = workshop.try_mutant(patch)
            verdicts.append(verdict)
            (logs / f"{patch.stem}.log").write_text(output)
            seconds = time.monotonic() - start
            print(f"{verdict:9}{seconds:5.0f} s  {patch.stem}: {reason}", flush=True)
    caught = verdicts.count("caught")
    print(f"{caught} of {len(verdicts)} mutants caught; what caught them is in build/logs/mutants")
    return 0 if caught == len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
