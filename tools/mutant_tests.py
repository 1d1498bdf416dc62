"""The tests that a planted bug names: which there are, what builds them, and what runs them.

A name is one of ctest's, whose program is <name>_test, for <name>_on_v2 too; or a word of
OTHER_RUNNERS and a part of the name of a test that such a runner finds.
"""

import functools
import pathlib
import re

INSTALL = "install:"
PYTHON = "python:"
PACKAGE = "package:"
# Where the tests of a word are. Those of a package build what they need.
OTHER_RUNNERS = {INSTALL: "tests/install/", PYTHON: "bindings/python/tests/",
                 PACKAGE: "tests/package/"}
ON_V2 = "_on_v2"
PYTHON_RUN = ["/usr/bin/python3", "bindings/python/tests/run.py", "--only"]


def split(test):
    """(word, rest) of a name; without a word it is ctest's."""
    word = next((word for word in OTHER_RUNNERS if test.startswith(word)), "")
    return word, test.removeprefix(word)


@functools.cache
def ctest_names(tree):
    """The tests that CMake's files declare and that have a target <name>_test to be built by."""
    names, targets = set(), set()
    for path in tree.files:
        if path.endswith(("CMakeLists.txt", ".cmake")):
            text = re.sub(r"#[^\n]*", "", tree.text(path))
            ours = re.findall(r"\broost_test\(\s*NAME\s+(\w+)", text)
            labs = re.findall(r"\blab_test\(\s*(\w+)", text)
            names.update(ours, labs, (name + ON_V2 for name in ours),
                         re.findall(r"\badd_test\(\s*NAME\s+(\w+)", text))
            targets.update((name + "_test" for name in ours + labs),
                           re.findall(r"\badd_(?:executable|custom_target)\(\s*(\w+)", text))
    return {name for name in names if targets_of(name)[0] in targets}


@functools.cache
def unittest_names(tree, folder):
    """What `-k` compares its word with: the names of files, classes and functions."""
    names = set()
    for path in tree.files:
        if path.startswith(folder) and path.endswith("_test.py"):
            names.add(pathlib.PurePosixPath(path).stem)
            names.update(re.findall(r"^\s*(?:class|def)\s+(\w+)", tree.text(path), re.MULTILINE))
    return names


def fault_of(tree, test):
    """Why there is no such test; an empty string if there is."""
    word, rest = split(test)
    if not word:
        if test in ctest_names(tree):
            return ""
        return f"no roost_test or add_test in CMake is named {test} and has a target {test}_test"
    if rest and any(rest in name for name in unittest_names(tree, OTHER_RUNNERS[word])):
        return ""
    return f"no test in {OTHER_RUNNERS[word]} has {rest or 'an empty word'} in its name"


def targets_of(test):
    word, _ = split(test)
    if word:
        return ["roost_shared", "roost_static"] if word == INSTALL else []
    return [f"{test.removesuffix(ON_V2)}_test"]


def builds_of(tests, build, jobs):
    """The commands that build what the tests need."""
    targets = sorted({target for test in tests for target in targets_of(test)})
    if targets:
        yield ["ninja", "-C", build, "-j", str(jobs), *targets]
    if any(split(test)[0] == PYTHON for test in tests):
        yield [*PYTHON_RUN, "install"]


def command_of(test, build):
    word, rest = split(test)
    if word == INSTALL:
        return ["/usr/bin/python3", "tests/install/run.py", "--build", build, "-k", rest]
    if word == PYTHON:
        return [*PYTHON_RUN, "test", "-k", rest]
    if word == PACKAGE:
        return ["/usr/bin/python3", "tests/package/run.py", "-k", rest]
    return ["ctest", "--test-dir", build, "-C", "v2", "-R", f"^{test}$", "--output-on-failure",
            "--no-tests=error"]
