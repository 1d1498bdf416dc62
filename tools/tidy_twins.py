"""No six lines of code stand in two folders of apps: what both need is a room's."""

import pathlib
import re

from tidy_tree import Finding, without_comments

LINES_MAX = 5
# What says nothing by itself: includes, and lines of brackets and separators.
EMPTY = re.compile(r"#\s*(?:include\b.*|pragma once)|[^\w\"']*")


def telling_lines(text):
    """(number, line without indentation) of what is neither comment, include nor brackets."""
    code = without_comments(text, keep_strings=True)
    for number, line in enumerate(code.splitlines(), 1):
        if not EMPTY.fullmatch(line.strip()):
            yield number, " ".join(line.split())


def no_lines_stand_in_two_folders(tree):
    """Each place where lines of an earlier folder begin again is named once."""
    first = {}  # of some lines in a row: where they stand
    for path in tree.cpp("apps/"):
        folder = pathlib.PurePosixPath(path).parts[1]
        lines = list(telling_lines(tree.text(path)))
        end_of_twin = 0
        for place in range(len(lines) - LINES_MAX):
            row = tuple(line for _, line in lines[place:place + LINES_MAX + 1])
            other_folder, other_path, other_line = first.setdefault(
                row, (folder, path, lines[place][0]))
            if other_folder == folder:
                continue
            if place >= end_of_twin:
                yield Finding("twins", path, lines[place][0],
                              f"at least {LINES_MAX + 1} lines as in {other_path}:{other_line}: "
                              "what two folders of apps need is a room's")
            end_of_twin = place + LINES_MAX + 1


RULES = [no_lines_stand_in_two_folders]
