"""Jobs that time timers alone: lab/lb/timer_job.h."""
import dataclasses

BYTES_PER_TIMER = 300  # of both
SECONDS_PER_TIMER = 6e-6


@dataclasses.dataclass(frozen=True)
class TimerJob:
    """`contestants`: timer_wheel and rte_timer. `slots`: how many timers."""

    experiment: str
    slots: int
    contestants: tuple
    rounds: int = 5
    pages: str = "2M"
    cores: int = 1
    loads: tuple = (1.0,)
    not_run_because: str = ""
    process: int = 0  # the only one

    @property
    def name(self):
        return f"{self.experiment} {self.slots}"

    @property
    def process_name(self):
        return self.name

    @staticmethod
    def program(beside):
        return beside.with_name("roost_lab_lb")

    def words(self, _beside):
        return ["timers", "--experiment", self.experiment, "--pages", self.pages,
                "--timers", str(self.slots), "--rounds", str(self.rounds)]

    def table_bytes(self):
        return self.slots * BYTES_PER_TIMER + (512 << 20)

    def reserved_bytes(self):
        return self.table_bytes()

    def seconds(self):
        """About how long it takes: only the progress bar asks."""
        return self.slots * self.rounds * SECONDS_PER_TIMER + 10

    def tiny(self):
        return dataclasses.replace(self, slots=20_000, rounds=2, pages="4K")
