"""Jobs that soak a cell: lab/lb/soak_job.h."""
import dataclasses

from harness.process_job import ProcessJob
from lb.cell_jobs import BYTES_FIXED, BYTES_PER_CONNECTION

SECONDS_PER_PLACE = 6e-5  # of filling the tables three times, of the flood, and of the end


@dataclasses.dataclass(frozen=True)
class SoakJob(ProcessJob):
    """`contestants`: one cell, by name. `slots`: connections that its tables take."""

    PROGRAM = "roost_lab_lb"

    experiment: str
    slots: int
    contestants: tuple
    soak_seconds: float
    rounds: int = 1
    loads: tuple = dataclasses.field(default=(0.9,), kw_only=True)

    @property
    def name(self):
        return f"{self.experiment} {self.contestants[0]} {self.slots} x{self.cores}"

    def words(self, _beside):
        return ["soak", "--experiment", self.experiment, "--pages", self.pages,
                "--cell", self.contestants[0], "--connections", str(self.slots),
                "--cores", str(self.cores), "--seconds", str(self.soak_seconds)]

    def table_bytes(self):
        return self.slots * BYTES_PER_CONNECTION + BYTES_FIXED

    def seconds(self):
        return self.soak_seconds + self.slots * SECONDS_PER_PLACE / self.cores

    def tiny(self):
        return dataclasses.replace(self, slots=20_000, pages="4K",
                                   soak_seconds=min(self.soak_seconds, 1))
