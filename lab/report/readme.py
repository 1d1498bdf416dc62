"""README's figures, and those of other pages: blocks made from the records they name.

    <!-- lab: lab/record/table-20261121T1835Z-4cc35f1efb.csv speed -->
    what the experiment's readme_block(record, "speed") gives
    <!-- /lab -->

What a block shows beside its text, as the pictures of its chart, are files that the experiment's
readme_files(record, name) gives; they are made and checked with it.

`./dev lab readme` makes the blocks anew. The check fails when a block or a file of it differs from
its record, when the record's commit is no ancestor of the present one, and when the record cannot
be quoted: made from a changed tree, or on a broken bench.
"""
import importlib
import re
import subprocess

from report import bench
from report.record import Record

PAGES = ("README.md", "docs/choosing.md", "docs/tables.md", "apps/advise/README.md")
BLOCK = re.compile(r"^<!-- lab: (?P<csv>\S+) (?P<name>\S+) -->\n(?P<text>.*?)^<!-- /lab -->$",
                   re.MULTILINE | re.DOTALL)


def why_not_quotable(root, csv, record):
    commit = record.facts["commit"]
    if commit.endswith("-dirty"):
        return f"{csv} was measured on a changed tree"
    asked = subprocess.run(["git", "-C", root, "merge-base", "--is-ancestor", commit, "HEAD"],
                           capture_output=True, text=True, check=False)
    if asked.returncode != 0:
        return f"{csv} was measured at {commit}, which is no ancestor of the present commit"
    reasons = list(bench.broken(record))
    return f"{csv}: {reasons[0]}" if reasons else None


def made_of(record, name):
    """A block's text, and {path: text} of the files beside it."""
    experiment = importlib.import_module(f"{record.facts.get('experiment', 'table')}.experiment")
    files = experiment.readme_files(record, name) if hasattr(experiment, "readme_files") else {}
    return experiment.readme_block(record, name), files


def holds(file, text):
    return file.exists() and file.read_text(encoding="utf-8") == text


def pages(root):
    return [page for page in PAGES if (root / page).exists()]


def problems(root):
    """What is wrong with the figures, one sentence each."""
    for page in pages(root):
        text = (root / page).read_text(encoding="utf-8")
        blocks = list(BLOCK.finditer(text))
        if len(blocks) != text.count("<!-- lab:"):
            yield f"{page}: a block of figures is not closed by <!-- /lab -->"
        if not blocks:
            yield f"{page}: no figure names its record"
        for block in blocks:
            yield from problems_of(root, page, block)


def problems_of(root, page, block):
    csv, name = block["csv"], block["name"]
    if not (root / csv).exists():
        yield f"{page}: there is no record {csv}"
        return
    record = Record.read(root / csv)
    reason = why_not_quotable(root, csv, record)
    if reason:
        yield f"{page}: {reason}"
    text, files = made_of(record, name)
    if block["text"] != text:
        yield f"{page}: block {name} differs from {csv}; ./dev lab readme makes it anew"
    for path, content in files.items():
        if not holds(root / path, content):
            yield f"{path}: differs from {csv}; ./dev lab readme makes it anew"


def is_git_tree(root):
    return subprocess.run(["git", "-C", root, "rev-parse", "HEAD"], capture_output=True,
                          check=False).returncode == 0


def check(root):
    if not is_git_tree(root):
        print("NOT TESTED: README's figures, because this tree is not under git")
        return 0
    found = list(problems(root))
    print("\n".join(found) or f"{', '.join(pages(root))}: every figure is its record's")
    return 1 if found else 0


def renew(root):
    def made_anew(block):
        made, files = made_of(Record.read(root / block["csv"]), block["name"])
        for path, content in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(content, encoding="utf-8")
        return f"<!-- lab: {block['csv']} {block['name']} -->\n{made}<!-- /lab -->"

    for page in pages(root):
        text = (root / page).read_text(encoding="utf-8")
        (root / page).write_text(BLOCK.sub(made_anew, text), encoding="utf-8")
    return check(root)
