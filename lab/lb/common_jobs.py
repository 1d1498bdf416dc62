"""Jobs that time tables which threads share, alone: lab/lb/common_job.h."""
import dataclasses

from harness.process_job import ProcessJob

BYTES_PER_ENTRY = 128  # of any of the tables, with a margin
BYTES_FIXED = 512 << 20
SECONDS_PER_LOOKUP = 3e-7


@dataclasses.dataclass(frozen=True)
class CommonJob(ProcessJob):
    """`contestants`: tables by name. `slots`: entries of all threads. `churn`: lookups to an
    insertion and an erasure."""

    PROGRAM = "roost_lab_lb"

    experiment: str
    slots: int
    contestants: tuple
    churn: int
    lookups: int = 1 << 21
    rounds: int = 10
    cores: int = dataclasses.field(default=2, kw_only=True)
    loads: tuple = dataclasses.field(default=(0.8,), kw_only=True)

    @property
    def name(self):
        return f"{self.experiment} {self.slots} 1:{self.churn}"

    def words(self, _beside):
        return ["common", "--experiment", self.experiment, "--pages", self.pages,
                "--tables", ",".join(self.contestants), "--entries", str(self.slots),
                "--lookups-per-change", str(self.churn), "--lookups", str(self.lookups),
                "--rounds", str(self.rounds), "--cores", str(self.cores)]

    def table_bytes(self):
        return len(self.contestants) * self.slots * BYTES_PER_ENTRY + BYTES_FIXED

    def seconds(self):
        passes = self.rounds * (1 if self.cores == 1 else 2) + 1
        return len(self.contestants) * passes * self.lookups * SECONDS_PER_LOOKUP + 10

    def tiny(self):
        return dataclasses.replace(self, slots=20_000, lookups=20_000, rounds=2, pages="4K")
