"""Jobs that time timers alone: lab/lb/timer_job.h."""
import dataclasses

from harness.process_job import ProcessJob

BYTES_PER_TIMER = 300  # of both
SECONDS_PER_TIMER = 6e-6


@dataclasses.dataclass(frozen=True)
class TimerJob(ProcessJob):
    """`contestants`: timer_wheel and rte_timer. `slots`: how many timers."""

    PROGRAM = "roost_lab_lb"

    experiment: str
    slots: int
    contestants: tuple
    rounds: int = 5

    @property
    def name(self):
        return f"{self.experiment} {self.slots}"

    def words(self, _beside):
        return ["timers", "--experiment", self.experiment, "--pages", self.pages,
                "--timers", str(self.slots), "--rounds", str(self.rounds)]

    def table_bytes(self):
        return self.slots * BYTES_PER_TIMER + (512 << 20)

    def seconds(self):
        return self.slots * self.rounds * SECONDS_PER_TIMER + 10

    def tiny(self):
        return dataclasses.replace(self, slots=20_000, rounds=2, pages="4K")
