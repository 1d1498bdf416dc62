"""Reads the machine code of batched lookups: every kernel's loop is inlined whole.

For keys of 16 and 40 bytes, values of 4, 8 and 16 bytes and indices of records, with and without
timers, the trampoline of each kernel must contain the loop, prefetch with either hint, and call
nothing but the two cold paths; the SSE4.2 one must use the vector compare. Records are prefetched
into the second cache level, whatever the table's hint. Usage: hot_loop_test.py OBJECT_FILE
"""

import re
import subprocess
import sys

COLD = ("search_rest", "assertion_failed")
CONFIGURATIONS = 2 * 4 * 2  # key sizes, values and indices, expiry
PREFETCHES = 3  # the bucket's line, what a match asks for, an entry in the secondary bucket


def functions(object_file):
    """Name and instructions of each function, relocations included."""
    text = subprocess.run(["objdump", "-drwC", "--no-show-raw-insn", object_file],
                          check=True, capture_output=True, text=True).stdout
    name, body = None, []
    for line in text.splitlines():
        head = re.match(r"^[0-9a-f]+ <(.*)>:$", line)
        if head:
            if name:
                yield name, body
            name, body = head.group(1), []
        elif name:
            body.append(line)
    if name:
        yield name, body


def main():
    failures, checked = [], {"run_scalar": 0, "run_sse42": 0}
    for name, body in functions(sys.argv[1]):
        kernel = next((k for k in checked if f"{k}<roost::LookupBatch<" in name), None)
        if not kernel or ".cold" in name:
            continue
        checked[kernel] += 1
        calls = [line for line in body
                 if re.search(r"\bcall\b", line) and not any(c in line for c in COLD)]
        failures += [f"{name}\n  calls: {line.strip()[-60:]}" for line in calls]
        # The second lines of these entries, twice; and the record, in the loop of each hint.
        of_records = 2 + 2 if "CopyIndex<" in name else 0
        for hint, expected in (("prefetcht0", PREFETCHES), ("prefetcht1", PREFETCHES + of_records)):
            if sum(hint in line for line in body) < expected:
                failures.append(f"{name}\n  fewer than {expected} {hint}")
        if kernel == "run_sse42" and not any("pcmpeqw" in line for line in body):
            failures.append(f"{name}\n  no vector compare")
    for kernel, count in checked.items():
        print(f"{kernel}: {count} lookups read")
        if count != CONFIGURATIONS:
            failures.append(f"{kernel}: {count} lookups found, {CONFIGURATIONS} expected")
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
