"""Reads the machine code of batched lookups: every kernel's loop is inlined whole.

For keys of 16 and 40 bytes, values of 4, 8 and 16 bytes and indices of records, with and without
timers, the trampoline of each kernel must contain the loop, prefetch lines with each hint, and
call nothing but the two cold paths; the vector kernel's must use the vector compare. Entries are
prefetched into the second cache level, or past the caches if lines are, and records into the
second. So for the inline layout with two and three slots a bucket, where whole keys are compared
and only lines are prefetched.
Usage: hot_loop_test.py PROCESSOR OBJDUMP OBJECT_FILE
"""

import collections
import re
import subprocess
import sys

Instructions = collections.namedtuple("Instructions", "compare call near far past")
# Of each vector kernel, how it compares tags and whole keys.
PROCESSORS = {
    "x86_64": Instructions({"run_sse42": (r"\bpcmpeqw\b", r"\bpcmpeqb\b"),
                            "run_avx2": (r"\bvpcmpeqw\b", r"\bvpcmpeqb\b")},
                           r"\bcall\b", "prefetcht0", "prefetcht1", "prefetchnta"),
    "aarch64": Instructions({"run_neon": (r"\bcmeq\b.*\.8h", r"\bcmeq\b.*\.16b")},
                            r"\bblr?\b", "pldl1keep", "pldl2keep", "pldl1strm"),
}
COLD = ("search_rest", "assertion_failed")
CONFIGURATIONS = 2 * 4 * 2 + 2 * 2  # key sizes, values and indices, expiry; inline: slots, expiry
LINES, ENTRIES = 2, 2  # the bucket's and the secondary bucket's


def functions(objdump, object_file):
    """Name and instructions of each function, relocations included."""
    text = subprocess.run([objdump, "-drwC", "--no-show-raw-insn", object_file],
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
    processor, objdump, object_file = sys.argv[1:]
    instructions = PROCESSORS[processor]
    failures, checked = [], {"run_scalar": 0, **dict.fromkeys(instructions.compare, 0)}
    for name, body in functions(objdump, object_file):
        kernel = next((k for k in checked if f"{k}<roost::LookupBatch<" in name), None)
        if not kernel or ".cold" in name:
            continue
        checked[kernel] += 1
        calls = [line for line in body
                 if re.search(instructions.call, line) and not any(c in line for c in COLD)]
        failures += [f"{name}\n  calls: {line.strip()[-60:]}" for line in calls]
        # Inline entries come with their line.
        is_inline = "InlineLayout<" in name
        of_entries = 0 if is_inline else ENTRIES
        # The second lines of these entries, and the record.
        of_records = ENTRIES + 1 if "CopyIndex<" in name else 0
        for hint, expected in ((instructions.near, LINES),
                               (instructions.far, LINES + of_entries + of_records),
                               (instructions.past, LINES + of_entries)):
            if sum(hint in line for line in body) < expected:
                failures.append(f"{name}\n  fewer than {expected} {hint}")
        if (kernel in instructions.compare
                and not any(re.search(instructions.compare[kernel][is_inline], line)
                            for line in body)):
            failures.append(f"{name}\n  no vector compare")
    for kernel, count in checked.items():
        print(f"{kernel}: {count} lookups read")
        if count != CONFIGURATIONS:
            failures.append(f"{kernel}: {count} lookups found, {CONFIGURATIONS} expected")
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
