"""The jobs of the experiment `overload`, each a run of measure.py on one cell."""
import dataclasses
from pathlib import Path

from harness.under_load import UnderLoadJob

SLOT_TIMERS, WHEEL = "slot_timers", "roost_inline wheel"
COMMON, COMMON_RTE_HASH = "common roost shared", "common rte_hash LF"
CELLS = {SLOT_TIMERS: "sharded, slot timers (as it ships)", WHEEL: "sharded, wheel",
         COMMON: "common table of ours, wheel", COMMON_RTE_HASH: "common rte_hash, wheel"}
CONNECTIONS = 400_000  # that a table takes
BYTES_PER_CONNECTION = 400
BYTES_FIXED = 1 << 30  # of two programs, and of their rings
WIRE = "roost forward, a wire"  # for the generator's own part
PARTS = {"overload": 40, "floods": 130, "generator": 30}  # seconds


@dataclasses.dataclass(frozen=True, kw_only=True)
class OverloadJob(UnderLoadJob):
    """`contestants`: one cell, by name. `slots`: connections that its table takes."""

    slots: int = CONNECTIONS
    is_tiny: bool = False
    rounds: int = 1
    loads: tuple = (0.5,)

    @staticmethod
    def program(_beside):
        return Path(__file__).with_name("measure.py")

    def words(self, beside):
        return [self.experiment, "--program", str(beside.with_name("roost_lab_lb")),
                "--roost", str(beside.parents[1] / "apps" / "roost"),
                "--cell", self.contestants[0], "--connections", str(self.slots),
                *(["--tiny"] if self.is_tiny else [])]

    def table_bytes(self):
        return self.slots * BYTES_PER_CONNECTION + BYTES_FIXED

    def seconds(self):
        """About how long it takes: only the progress bar asks."""
        return PARTS[self.experiment]

    def tiny(self):
        """Its tables and rings are on huge pages all the same: memif has none of others."""
        return dataclasses.replace(self, slots=2_000, is_tiny=True)


def jobs(size, _available):
    cells = (SLOT_TIMERS,) if size == "smoke" else CELLS
    return [OverloadJob(experiment=part, contestants=(cell,)) for part in PARTS
            for cell in ((WIRE,) if part == "generator" else cells)]
