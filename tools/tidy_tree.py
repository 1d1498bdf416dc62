"""The tree that tools/tidy.py checks: its files, and their code without comments and strings."""

import functools
import pathlib
import re
import subprocess
import typing


class Finding(typing.NamedTuple):
    """One broken rule: which, where, and what to do. `size` is set by the rules about sizes."""

    rule: str
    path: str
    line: int
    message: str
    size: int = 0

    def __str__(self):
        return f"{self.path}:{self.line}: {self.message} [{self.rule}]"


COMMENT_OR_STRING = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<delimiter>[^(\s]*)\(.*?\)(?P=delimiter)"'
    r'|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|"(?:\\.|[^"\\\n])*"',
    re.DOTALL)


def without_comments(text, keep_strings=False):
    """The code alone, every line at its place: comments and strings become nothing."""
    def blank(match):
        found = match.group()
        if not found.startswith(("//", "/*")):
            return found if keep_strings else '""' + "\n" * found.count("\n")
        return "\n" * found.count("\n")
    return COMMENT_OR_STRING.sub(blank, text)


class Tree:
    """Files by repository path: what git tracks or would; in a folder without git, everything."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        if (self.root / ".git").exists():
            listing = subprocess.run(
                ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                cwd=self.root, check=True, capture_output=True, text=True).stdout
            names = [name for name in listing.split("\0") if name]
        else:
            names = [str(path.relative_to(self.root)) for path in self.root.rglob("*")]
        self.files = sorted({name for name in names if (self.root / name).is_file()})

    @functools.cache
    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8", errors="replace")

    @functools.cache
    def code(self, path):
        return without_comments(self.text(path))

    def cpp(self, *folders):
        """C++ and C files, of the given folders or of all."""
        return [path for path in self.files
                if path.endswith((".cc", ".c", ".h")) and (not folders or path.startswith(folders))]

    def exists(self, path):
        return (self.root / path).is_file()
