"""No file includes itself by way of others: C++ by its includes, Python by its imports."""

import pathlib
import re

from tidy_tree import Finding

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
IMPORT = re.compile(r"^\s*(?:from|import)\s+(\w+)", re.MULTILINE)


def uses_of(tree):
    """The files of the tree that each file needs."""
    uses = {path: INCLUDE.findall(tree.text(path)) for path in tree.cpp()}
    for path in tree.files:
        if path.endswith(".py"):
            folder = pathlib.PurePath(path).parent
            names = IMPORT.findall(tree.text(path))
            uses[path] = [str(folder / f"{name}.py") for name in names]
    return {path: [use for use in used if use in uses] for path, used in uses.items()}


def circles(uses):
    """One way round each circle, from the file that comes first."""
    done = set()

    def walk(path, way):
        for used in uses[path]:
            if used in way:
                yield way[way.index(used) :] + [used]
            elif used not in done:
                yield from walk(used, way + [used])
        done.add(path)

    for path in sorted(uses):
        if path not in done:
            yield from walk(path, [path])


def nothing_includes_itself(tree):
    for circle in circles(uses_of(tree)):
        yield Finding("circles", circle[0], 1, " -> ".join(circle) + ": break this circle")


RULES = [nothing_includes_itself]
