"""The record of which planted bugs are caught: a line a bug, by name, kept from run to run.

A bug that is tried again replaces its line, so that the runs of all slices give one record. The
line of a bug that is no longer in the list goes.
"""

import csv
import io
import pathlib
import subprocess

COLUMNS = ["name", "verdict", "caught_by", "seconds", "commit"]


def rows_of(text):
    """{name: row} of a record's text."""
    if not text:
        return {}
    reader = csv.DictReader(io.StringIO(text))
    if reader.fieldnames != COLUMNS:
        raise ValueError(f"its first line is not {','.join(COLUMNS)}")
    return {row["name"]: row for row in reader}


def text_of(rows):
    output = io.StringIO()
    writer = csv.DictWriter(output, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows[name] for name in sorted(rows))
    return output.getvalue()


def commit_of(root, record):
    """What was tried: the commit, and a + if the tree is another. The record is no part of it."""
    def git(*words):
        return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True,
                              text=True).stdout.strip()
    others = [f":(exclude){record.relative_to(root)}"] if record.is_relative_to(root) else []
    changes = git("status", "--porcelain", "--", ".", *others)
    return git("rev-parse", "--short=10", "HEAD") + ("+" if changes else "")


class Record:
    """A record in a file, written anew with each line: a run that is broken off loses nothing."""

    def __init__(self, path, root, names):
        self._path = pathlib.Path(path).resolve()
        self._commit = commit_of(root, self._path)
        before = rows_of(self._path.read_text() if self._path.exists() else "")
        self._rows = {name: row for name, row in before.items() if name in names}

    def add(self, name, verdict, seconds):
        self._rows[name] = {"name": name, "verdict": verdict.word, "caught_by": verdict.catcher,
                            "seconds": f"{seconds:.0f}", "commit": self._commit}
        self._path.write_text(text_of(self._rows))
