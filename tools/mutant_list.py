"""The list of planted bugs, the files of tests/mutants, and whether each can still be planted.

tests/mutants/README.md describes the format. tools/mutants.py plants the bugs, and
tools/tidy_mutants.py names those that the tree has outgrown.
"""

import json
import pathlib
import re
import tomllib
import typing

import mutant_tests

FOLDER = "tests/mutants/"
COMPILER = "compiler"  # what catches a bug that must not compile
TYPES = {"name": str, "why": str, "tests": list, "preset": str, "caught_by": str,
         "file": str, "find": str, "replace": str, "edit": list}


class Edit(typing.NamedTuple):
    """A text that stands in a file once, and what the bug has in its place."""

    file: str
    find: str
    replace: str


class Mutant(typing.NamedTuple):
    """A planted bug; path and line are where it is written down."""

    name: str
    tests: tuple
    edits: tuple
    preset: str
    caught_by: str
    path: str
    line: int


class Fault(typing.NamedTuple):
    """What is wrong with the list, and what to do."""

    path: str
    line: int
    message: str


class CannotPlant(Exception):
    """The tree is not as the bug expects it."""


def edits_of(entry):
    """The edits of an entry, as they are written: in it, or in its [[mutant.edit]]."""
    own = {key: entry[key] for key in Edit._fields if key in entry}
    return ([own] if own else []) + entry.get("edit", [])


def fault_of_form(entry, room):
    """What is wrong with an entry as it is written; an empty string if nothing."""
    for key, value in entry.items():
        if not isinstance(value, TYPES.get(key, ())):
            return f"{key}: there is no such key, or its value is of another type"
    for key in ("name", "why", "tests"):
        if not entry.get(key):
            return f"has no {key}"
    if not re.fullmatch(rf"{re.escape(room)}-[a-z0-9-]+", entry["name"]):
        return f"{entry['name']}: name it {room}-<what>, of small letters, digits and hyphens"
    if not all(isinstance(test, str) for test in entry["tests"]):
        return f"{entry['name']}: tests are named by strings"
    if entry.get("caught_by", COMPILER) != COMPILER:
        return f'{entry["name"]}: caught_by is "{COMPILER}", or left out'
    edits = edits_of(entry)
    if not edits or not all(
            isinstance(edit, dict) and set(edit) == set(Edit._fields)
            and all(isinstance(text, str) for text in edit.values()) for edit in edits):
        return f"{entry['name']}: an edit is file, find and replace, and nothing else"
    return ""


def mutants_of(tree, path, faults):
    """The mutants of one file; what is wrong with it goes to `faults`."""
    text = tree.text(path)
    try:
        entries = tomllib.loads(text).get("mutant", [])
    except tomllib.TOMLDecodeError as error:
        faults.append(Fault(path, 1, f"is no TOML: {error}"))
        return
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line == "[[mutant]]"]
    if not entries or len(lines) != len(entries):
        faults.append(Fault(path, 1, "begin each mutant with a line [[mutant]]"))
        return
    for line, entry in zip(lines, entries):
        message = fault_of_form(entry, pathlib.PurePosixPath(path).stem)
        if message:
            faults.append(Fault(path, line, message))
            continue
        yield Mutant(entry["name"], tuple(entry["tests"]),
                     tuple(Edit(**edit) for edit in edits_of(entry)),
                     entry.get("preset", "debug"), entry.get("caught_by", ""), path, line)


def read(tree):
    """(the mutants, what is wrong with how they are written down)."""
    mutants, faults = {}, []
    for path in tree.files:
        if path.startswith(FOLDER) and path.endswith(".toml"):
            for mutant in mutants_of(tree, path, faults):
                if mutant.name in mutants:
                    faults.append(Fault(path, mutant.line, f"{mutant.name}: the name is taken"))
                mutants[mutant.name] = mutant
    return list(mutants.values()), faults


def edited_files(mutant, text_of):
    """{path: its text with the bug}; `text_of` gives the text of a path, or None."""
    texts = {}
    for file, find, replace in mutant.edits:
        text = texts.get(file, text_of(file))
        if text is None:
            raise CannotPlant(f"there is no file {file}: name the one that has its code now")
        count = text.count(find)
        if count == 0:
            raise CannotPlant(f"its text is not in {file}: the code has changed, so give find and "
                              "replace anew, or drop the mutant if nothing is left to get wrong")
        if count > 1 or not find:
            raise CannotPlant(f"its text is {count} times in {file}: make find longer, so that it "
                              "says which of them is meant")
        if find == replace:
            raise CannotPlant(f"changes nothing in {file}: replace is what find is")
        texts[file] = text.replace(find, replace)
    return texts


def preset_names(tree):
    presets = json.loads(tree.text("CMakePresets.json"))["configurePresets"]
    return {preset["name"] for preset in presets if not preset.get("hidden")}


def faults_of_planting(tree, mutant):
    """Why a mutant cannot be planted in this tree, or its tests not be run."""
    try:
        edited_files(mutant, lambda path: tree.text(path) if tree.exists(path) else None)
    except CannotPlant as error:
        yield str(error)
    for test in mutant.tests:
        message = mutant_tests.fault_of(tree, test)
        if message:
            yield message
    if tree.exists("CMakePresets.json") and mutant.preset not in preset_names(tree):
        yield f"there is no preset {mutant.preset}"
