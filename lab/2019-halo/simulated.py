"""Simulated points as jobs, each a run of `roost-halo` on one table and machine (simulate.py)."""
import dataclasses
import json
from pathlib import Path

from harness.process_job import ProcessJob

SIMULATE = Path(__file__).with_name("simulate.py")
BLOCKING, NON_BLOCKING, OVERLAPPED = "blocking", "non-blocking", "overlapped"
RTE_HASH, RTE_HASH_32, ROOST_32 = "rte_hash", "rte_hash-32", "roost-32"
SINGLE = "single"  # in place of the first two, of a table with one bucket a key
ACCELERATORS = (BLOCKING, NON_BLOCKING, OVERLAPPED)
SOFTWARE = (RTE_HASH, RTE_HASH_32, ROOST_32)
OPEN_NUMBERS = 33  # of the machine, about: two machines each, where their ends are asked for
LOOKUPS_A_SECOND = 45_000  # simulated by one core of the machine of our records
TINY_LOOKUPS = 100


@dataclasses.dataclass(frozen=True, kw_only=True)
class Point(ProcessJob):
    """`variant` names what differs from the default machine: `switches`, and `closed` numbers, by
    their names. `samples` beside the middle machine; with `has_ends` also each number at its ends.
    With `draws`, instead of that, so many closed machines, on each of which costs are switched off
    one after the other: `costs_off`, names and what is off from there on. Without `entries` the
    machine itself."""

    experiment: str
    slots: int = 0
    load: float = 0.8
    variant: str = "as written"
    switches: tuple = ()
    closed: tuple = ()
    format: str = "paper"
    key_bytes: int = 16
    misses: float = 0.0
    ways: tuple = ()
    samples: int = 8
    has_ends: bool = False
    draws: int = 0
    costs_off: tuple = ()
    has_caches: bool = False  # what software misses in caches, and how full the table is
    is_cold: bool = False
    warm_up: int = 2_000
    lookups: int = 2_000
    rounds: int = 1
    pages: str = ""  # none are reserved

    @property
    def contestants(self):
        return self.ways or (*ACCELERATORS, *SOFTWARE)

    @property
    def entries(self):
        # Not one more: the paper's table would have twice the slots.
        return max(1, int(self.slots * self.load)) if self.slots else 0

    @property
    def name(self):
        parts = [self.experiment, self.variant, self.format, f"{self.slots} slots",
                 f"load {self.load}", f"misses {self.misses}", f"{self.cores} cores"]
        return ", ".join(parts)

    @staticmethod
    def program(_beside):
        return SIMULATE

    def words(self, beside):
        said = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        said |= {"entries": self.entries, "switches": dict(self.switches),
                 "closed": dict(self.closed)}
        return ["--roost-halo", str(beside.parents[1] / "apps" / "roost-halo"), "--point",
                json.dumps(said)]

    @staticmethod
    def table_bytes():
        return 0

    def machines(self):
        if self.draws:
            return self.draws * len(self.costs_off)
        return 1 + self.samples + (2 * OPEN_NUMBERS if self.has_ends else 0)

    def seconds(self):
        lookups = self.machines() * len(self.contestants) * (self.warm_up + self.lookups)
        tables = self.slots * (1e-6 + self.machines() * len(self.contestants) * 2e-8)
        return 0.5 + lookups / LOOKUPS_A_SECOND / 2 + tables

    def tiny(self):
        return dataclasses.replace(
            self, slots=min(self.slots, 1 << 10), samples=min(self.samples, 1), has_ends=False,
            draws=min(self.draws, 1), warm_up=TINY_LOOKUPS,
            lookups=max(TINY_LOOKUPS, self.cores))
