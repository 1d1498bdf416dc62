"""No file includes itself by way of others: C++ by its includes, Python by its imports."""

import ast
import pathlib
import re

from tidy_tree import Finding

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def modules_of(text):
    """(number of leading dots, dotted name) of each module that a Python file may import."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield 0, alias.name
        elif isinstance(node, ast.ImportFrom):
            if node.module:
                yield node.level, node.module
            for alias in node.names:  # a name of the module, or a module of the package
                yield node.level, f"{node.module}.{alias.name}" if node.module else alias.name


def imports_of(tree, path):
    """The files of the tree that a Python file imports, also inside a function.

    A module is looked for in the file's own folder and in those around it, the nearest first; what
    a script adds to sys.path besides is not followed.
    """
    try:
        modules = list(modules_of(tree.text(path)))
    except SyntaxError:
        return []
    folders = list(pathlib.PurePosixPath(path).parents)
    used = []
    for level, name in modules:
        places = folders[level - 1 : level] if level else folders
        files = [f"{place / name.replace('.', '/')}{end}" for place in places
                 for end in (".py", "/__init__.py")]
        used += [file for file in files if tree.exists(file)][:1]
    return used


def uses_of(tree):
    """The files of the tree that each file needs."""
    uses = {path: INCLUDE.findall(tree.text(path)) for path in tree.cpp()}
    for path in tree.files:
        if path.endswith(".py"):
            uses[path] = imports_of(tree, path)
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
