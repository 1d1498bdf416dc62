"""The style's rules that a program can check; `./dev check lint` runs it.

    tools/tidy.py [ROOT]          names every broken rule as file:line: what to do [rule]
    tools/tidy.py --run-readme    runs the README's cheap commands

tools/tidy_allow.txt lists exceptions, one a line: rule, path, and for sizes the size today. The
list only shrinks: an entry that nothing needs, or larger than today's size, is an error.
"""

import pathlib
import sys

import tidy_circles
import tidy_mutants
import tidy_readme
import tidy_rules
import tidy_sizes
import tidy_twins
import tidy_words
from tidy_tree import Finding, Tree

ALLOW_LIST = "tools/tidy_allow.txt"


def read_allow_list(tree):
    """{(rule, path): (line, largest size)} of the exceptions."""
    entries = {}
    if tree.exists(ALLOW_LIST):
        for number, line in enumerate(tree.text(ALLOW_LIST).splitlines(), 1):
            words = line.split("#")[0].split()
            if words:
                entries[words[0], words[1]] = (number, int(words[2]) if len(words) > 2 else 0)
    return entries


def findings(tree):
    """What the rules find and the allow-list does not excuse, and its needless entries."""
    allowed = read_allow_list(tree)
    largest = {}
    for rule in (tidy_rules.RULES + tidy_sizes.RULES + tidy_readme.RULES
                 + tidy_mutants.RULES + tidy_words.RULES + tidy_circles.RULES
                 + tidy_twins.RULES):
        for finding in rule(tree):
            key = finding.rule, finding.path
            if key in allowed:
                largest[key] = max(largest.get(key, 0), finding.size)
                if finding.size <= allowed[key][1]:
                    continue
            yield finding
    for (rule, path), (line, size) in allowed.items():
        if (rule, path) not in largest:
            yield Finding("allow-list", ALLOW_LIST, line, f"{path} keeps {rule}: remove the entry")
        elif largest[rule, path] < size:
            yield Finding("allow-list", ALLOW_LIST, line,
                          f"{path} is down to {largest[rule, path]}: lower the entry")


def main(arguments):
    root = pathlib.Path(__file__).resolve().parent.parent
    if arguments == ["--run-readme"]:
        return tidy_readme.run_readme(Tree(root))
    found = sorted(findings(Tree(arguments[0] if arguments else root)))
    for finding in found:
        print(finding)
    print(f"tidy: {len(found)} broken rules" if found else "tidy: every rule holds")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
