#!/usr/bin/python3
"""Lines of code that each way of probing, and the timers, add to the common algorithm (CPP-T1).

A line of code is what cloc leaves of a file without comments and blank lines. The sources below
are the algorithm; of them, named structs, functions and lines belong to one part, and what
belongs to no part is common. A table has the common lines, those of the parts of its way of
probing, and those of the timers if it has them. Only the order of such sums, and what a part adds
in per cent, can be compared with the paper's table: it counts a C program that does more and less
than this one.

Prints the rows as CSV.
"""

import csv
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

SOURCES = tuple(f"roost/{path}.h" for path in (
    "hash/bucket_map", "expiry/tick", "expiry/slot_timers",
    "table/tag_line", "table/split_layout", "table/places", "table/placement", "table/probing",
    "table/horton_probing", "table/kick_path", "table/overflow_scan", "table/engine",
    "table/lookup_batch", "table/mutate_batch"))

# What belongs to a part: whole files, and structs or functions of a file by the line that names
# them.
PARTS = {
    "paired": [("table/probing", r"struct PairedProbing\b")],
    "pessimistic": [("table/probing", r"struct PessimisticProbing\b"),
                    ("table/lookup_batch", r"void match_both\(")],
    "one_after_the_other": [("table/lookup_batch", r"void match\("),
                            ("table/lookup_batch", r"void match_secondary\(")],
    "optimistic": [("table/probing", r"struct OptimisticProbing\b")],
    "filtered": [("table/probing", r"struct FilteredProbing\b"),
                 ("table/tag_line", r"uint64_t filter_bits\(")],
    "horton": [("table/horton_probing", None)],
    "timers": [("expiry/tick", None), ("expiry/slot_timers", None), ("table/overflow_scan", None),
               ("table/engine", r"void refresh\("), ("table/engine", r"AdvanceOutcome advance\("),
               ("table/engine", r"uint64_t maintain\("), ("table/engine", r"uint16_t timer_of\("),
               ("table/engine", r"bool is_live\("),
               ("table/engine", r"bool reclaim\("), ("table/engine", r"bool expire\("),
               ("table/engine", r"SlotMask live_slots\("),
               ("table/split_layout", r"SlotMask live_timers\(")],
    # What only tables have that others read while they change; no row has it.
    "shared": [("table/engine", r"bool refresh_seen\("),
               ("table/split_layout", r"SlotMask read_candidates\("),
               ("table/split_layout", r"bool read_value\("),
               ("table/placement", r"void append_entry\(")],
}

# Lines that are there for the timers wherever they stand, outside of the above.
TIMER_LINE = re.compile(r"\btimers?\b|\btimer_of\b|\bexpired_overwritten\b|\bscan_\b|OverflowScan")

# The rows: our name of a table, and the parts that it has.
TABLES = {
    "roost_pessimistic": ("paired", "pessimistic"),
    "roost_optimistic": ("paired", "one_after_the_other", "optimistic"),
    "roost_flow_table": ("paired", "one_after_the_other", "filtered"),
    "roost_horton": ("one_after_the_other", "horton"),
}


class NotFound(Exception):
    """The sources have no such struct or function any more: the list above needs care."""


def code_of(path):
    """The lines of code of a file, as cloc sees them."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["cloc", "--quiet", "--strip-comments=code", "--force-lang=C++", str(path)],
                       cwd=folder, check=True, stdout=subprocess.DEVNULL)
        stripped = pathlib.Path(folder) / f"{path.name}.code"
        return [line for line in stripped.read_text().splitlines() if line.strip()]


def find_item(code, pattern):
    """The range of lines of a struct or function: from what stands before its name (template,
    attributes, return type) to its closing brace."""
    starts = [number for number, line in enumerate(code) if re.search(pattern, line)]
    if not starts:
        raise NotFound(f"no line matches {pattern}")
    first = past = starts[0]
    while first > 0 and not re.search(r"[;{}:]$", code[first - 1]):
        first -= 1
    depth = 0
    was_open = False
    while past < len(code) and not (was_open and depth == 0):
        depth += code[past].count("{") - code[past].count("}")
        was_open = was_open or "{" in code[past]
        past += 1
    return range(first, past)


def count_parts(code_by_source):
    """Lines by part; what belongs to none is `common`."""
    owner = {source: ["common"] * len(code) for source, code in code_by_source.items()}
    for part, items in PARTS.items():
        for path, pattern in items:
            source = f"roost/{path}.h"
            code = code_by_source[source]
            lines = range(len(code)) if pattern is None else find_item(code, pattern)
            for line in lines:
                owner[source][line] = part
    counts = dict.fromkeys(("common", *PARTS), 0)
    for source, parts in owner.items():
        for line, part in zip(code_by_source[source], parts):
            is_timer_line = part == "common" and TIMER_LINE.search(line)
            counts["timers" if is_timer_line else part] += 1
    return counts


def rows(root=ROOT):
    """One row a table, without timers and with."""
    counts = count_parts({source: code_of(root / source) for source in SOURCES})
    result = []
    for name, parts in TABLES.items():
        added = sum(counts[part] for part in parts)
        for suffix, timers in (("", 0), ("_timers", counts["timers"])):
            result.append({
                "experiment": "CPP-T1", "kind": "analytic", "contestant": name + suffix,
                "metric": "lines_of_code", "value": counts["common"] + added + timers,
                "note": f"common {counts['common']} + probing {added} + timers {timers}"})
    return result


def main():
    table = rows()
    writer = csv.DictWriter(sys.stdout, fieldnames=list(table[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)


if __name__ == "__main__":
    main()
