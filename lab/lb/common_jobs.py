"""Jobs that time tables which threads share, alone: lab/lb/common_job.h."""
import dataclasses

BYTES_PER_ENTRY = 128  # of any of the tables, with a margin
BYTES_FIXED = 512 << 20
SECONDS_PER_LOOKUP = 3e-7


@dataclasses.dataclass(frozen=True)
class CommonJob:
    """`contestants`: tables by name. `slots`: entries of all threads. `churn`: lookups to an
    insertion and an erasure."""

    experiment: str
    slots: int
    contestants: tuple
    churn: int
    lookups: int = 1 << 21
    rounds: int = 10
    cores: int = 2
    pages: str = "2M"
    loads: tuple = (0.8,)
    not_run_because: str = ""
    process: int = 0  # the only one

    @property
    def name(self):
        return f"{self.experiment} {self.slots} 1:{self.churn}"

    @property
    def process_name(self):
        return self.name

    @staticmethod
    def program(beside):
        return beside.with_name("roost_lab_lb")

    def words(self, _beside):
        return ["common", "--experiment", self.experiment, "--pages", self.pages,
                "--tables", ",".join(self.contestants), "--entries", str(self.slots),
                "--lookups-per-change", str(self.churn), "--lookups", str(self.lookups),
                "--rounds", str(self.rounds), "--cores", str(self.cores)]

    def table_bytes(self):
        return len(self.contestants) * self.slots * BYTES_PER_ENTRY + BYTES_FIXED

    def reserved_bytes(self):
        return self.table_bytes()

    def seconds(self):
        """About how long it takes: only the progress bar asks."""
        passes = self.rounds * (1 if self.cores == 1 else 2) + 1
        return len(self.contestants) * passes * self.lookups * SECONDS_PER_LOOKUP + 10

    def tiny(self):
        return dataclasses.replace(self, slots=20_000, lookups=20_000, rounds=2, pages="4K")
