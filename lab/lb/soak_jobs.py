"""Jobs that soak a cell: lab/lb/soak_job.h."""
import dataclasses

from lb.cell_jobs import BYTES_FIXED, BYTES_PER_CONNECTION

SECONDS_PER_PLACE = 6e-5  # of filling the tables three times, of the flood, and of the end


@dataclasses.dataclass(frozen=True)
class SoakJob:
    """`contestants`: one cell, by name. `slots`: connections that its tables take."""

    experiment: str
    slots: int
    contestants: tuple
    soak_seconds: float
    rounds: int = 1
    cores: int = 1
    pages: str = "2M"
    loads: tuple = (0.9,)
    not_run_because: str = ""
    process: int = 0  # the only one

    @property
    def name(self):
        return f"{self.experiment} {self.contestants[0]} {self.slots} x{self.cores}"

    @property
    def process_name(self):
        return self.name

    @staticmethod
    def program(beside):
        return beside.with_name("roost_lab_lb")

    def words(self, _beside):
        return ["soak", "--experiment", self.experiment, "--pages", self.pages,
                "--cell", self.contestants[0], "--connections", str(self.slots),
                "--cores", str(self.cores), "--seconds", str(self.soak_seconds)]

    def table_bytes(self):
        return self.slots * BYTES_PER_CONNECTION + BYTES_FIXED

    def reserved_bytes(self):
        return self.table_bytes()

    def seconds(self):
        """About how long it takes: only the progress bar asks."""
        return self.soak_seconds + self.slots * SECONDS_PER_PLACE / self.cores

    def tiny(self):
        return dataclasses.replace(self, slots=20_000, pages="4K",
                                   soak_seconds=min(self.soak_seconds, 1))
