#!/usr/bin/python3
"""HALO's table 1 and section 3.4: what the instructions of an rte_hash lookup are, and how many of
them readers' locking takes, counted by valgrind's `lackey` as lookup_costs.py does.

It is called as the lab's other measuring programs are: see harness/under_load.py.
"""
import argparse
import concurrent.futures
import dataclasses
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent)]

from harness.beside import beside  # noqa: E402
from harness.process_job import ProcessJob  # noqa: E402
from harness.rows_file import write_rows_file  # noqa: E402
from report import rules  # noqa: E402
from report.section import Section, Table, Verdict, cell  # noqa: E402

lookup_costs = beside(__file__, "lookup_costs")

PART = "instructions"
KEY_BYTES = (4, 8, 16, 32, 40, 64)
PLAIN, LOCKED, LOCK_FREE = "plain", "rw", "lf"
READERS = {PLAIN: "no other threads", LOCKED: "RW_CONCURRENCY", LOCK_FREE: "RW_CONCURRENCY_LF"}
TINY_KEY_BYTES, TINY_READERS = (16,), (PLAIN, LOCKED)
TABLE_1_KEY_BYTES = 16
# Claimed of a lookup: instructions; shares of loads, stores, both.
INSTRUCTIONS, LOADS, STORES, MEMORY = 210, 0.362, 0.118, 0.481
LOCKING = 0.131  # of the time
TOLERANCE = 0.1
NOTES = [
    "Counted by valgrind's `lackey`, as differences of two run lengths, of keys that are there, "
    "one a call, with the loop around the calls; of DPDK's rte_hash as it is installed, where the "
    "paper has one of 2018 under Open vSwitch.",
    "Of arithmetic and the rest (21.0 % and 30.9 % in the paper) nothing is said: `lackey` counts "
    "loads, stores and operations of its own representation, of which an instruction has several.",
    "Locking's share is one of instructions, and of loads and stores: what a lookup with that flag "
    "has more than one without. The paper's is one of time, in which an instruction that locks "
    "counts for more than another."]


@dataclasses.dataclass(frozen=True)
class MixJob(ProcessJob):
    PROGRAM = "roost_lab_lookup_costs"

    key_bytes: tuple = KEY_BYTES
    experiment: str = PART
    contestants: tuple = tuple(READERS)
    slots: int = 4_096
    rounds: int = 1
    name: str = PART
    pages: str = "any"

    def program(self, _beside):
        return HERE / "instruction_mix.py"

    def words(self, beside_program):
        return ["--program", str(beside_program.with_name(self.PROGRAM)), "--key-bytes",
                *map(str, self.key_bytes), "--readers", *self.contestants]

    @staticmethod
    def table_bytes():
        return 0

    def seconds(self):
        return 15 * len(self.key_bytes)

    def tiny(self):
        return dataclasses.replace(self, key_bytes=TINY_KEY_BYTES, contestants=TINY_READERS)


def jobs(_size):
    return [MixJob()]


def way_of(readers, key_bytes):
    return "rte_hash_one" + ("" if readers == PLAIN else f"_{readers}") + f"_{key_bytes}"


def counted_rows(program, all_key_bytes, all_readers):
    places = [(readers, key_bytes) for key_bytes in all_key_bytes for readers in all_readers]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda place: lookup_costs.way_cost(program, way_of(*place), "hit"),
                         places)
        for (readers, key_bytes), counts in zip(places, found):
            print(f"progress {key_bytes / max(all_key_bytes):.2f} {readers} {key_bytes}",
                  file=sys.stderr, flush=True)
            for metric, value in zip(("instructions", "loads", "stores"), counts):
                yield {"experiment": PART, "kind": "measured", "contestant": readers,
                       "form": "1 key a call", "key_bytes": key_bytes, "metric": metric,
                       "value": f"{value:.6g}", "note": "counted"}


# --- What a record says. ---

def counts(record, readers, key_bytes):
    """(instructions, loads, stores) of a lookup, or nothing."""
    found = [record.median(experiment=PART, contestant=readers, key_bytes=float(key_bytes),
                           metric=metric) for metric in ("instructions", "loads", "stores")]
    return None if None in found else found


def locking_share(record, readers, key_bytes, of=slice(0, 1)):
    """What of a lookup's instructions, or of other counts, is not there without the flag."""
    mine, plain = counts(record, readers, key_bytes), counts(record, PLAIN, key_bytes)
    if mine is None or plain is None:
        return None
    return 1 - sum(plain[of]) / sum(mine[of])


def sections(record):
    part = record.select(experiment=PART)
    if not part.rows:
        return []
    return [mix_section(part), locking_section(part)]


def mix_section(part):
    section = Section("HALO-T1: the instructions of an rte_hash lookup", notes=NOTES[:2])
    rows = []
    for key_bytes in sorted(key for key in part.values("key_bytes") if key):
        found = counts(part, PLAIN, key_bytes)
        if found:
            all_of, loads, stores = found
            rows.append([f"{key_bytes:.0f} bytes", cell(all_of),
                         *(cell(100 * share / all_of, 1, " %")
                           for share in (loads, stores, loads + stores))])
    section.tables.append(Table(["key", "instructions", "loads", "stores", "both"], rows))
    all_of, loads, stores = counts(part, PLAIN, TABLE_1_KEY_BYTES) or (None, None, None)
    for claim, measured, claimed in (
            (f"a lookup takes {INSTRUCTIONS} instructions", all_of, INSTRUCTIONS),
            (f"{LOADS:.1%} of them load", all_of and loads / all_of, LOADS),
            (f"{STORES:.1%} of them store", all_of and stores / all_of, STORES),
            (f"{MEMORY:.1%} of them access memory", all_of and (loads + stores) / all_of, MEMORY)):
        section.verdicts.append(Verdict.of("HALO-T1", claim,
                                           rules.figure(measured, claimed, TOLERANCE)))
    return section


def locking_section(part):
    section = Section("HALO-S3.4: readers' locking in an rte_hash lookup",
                      notes=[NOTES[0], NOTES[2]])
    all_key_bytes = sorted(key for key in part.values("key_bytes") if key)
    section.tables.append(Table(
        ["key", *(f"{said}, {what}" for said in list(READERS.values())[1:]
                  for what in ("of instructions", "of loads and stores"))],
        [[f"{key_bytes:.0f} bytes",
          *(cell(None if share is None else 100 * share, 1, " %")
            for readers in (LOCKED, LOCK_FREE) for of in (slice(0, 1), slice(1, 3))
            for share in [locking_share(part, readers, key_bytes, of)])]
         for key_bytes in all_key_bytes]))
    for readers in (LOCKED, LOCK_FREE):
        shares = [locking_share(part, readers, key_bytes) for key_bytes in KEY_BYTES]
        mean = None if None in shares else statistics.mean(shares)
        section.verdicts.append(Verdict.of(
            "HALO-S3.4", f"locking is {LOCKING:.1%} of a lookup (by instructions, keys of 4 to 64 "
            f"bytes, {READERS[readers]})", rules.figure(mean, LOCKING, 2 * TOLERANCE)))
    return section


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--key-bytes", type=int, nargs="+", required=True)
    parser.add_argument("--readers", choices=READERS, nargs="+", required=True)
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument("--core", type=int)
    arguments = parser.parse_args()
    try:
        rows = list(counted_rows(arguments.program, arguments.key_bytes, arguments.readers))
    except RuntimeError as error:
        sys.exit(f"{PART}: {error}")
    write_rows_file(arguments.csv, rows)


if __name__ == "__main__":
    main()
