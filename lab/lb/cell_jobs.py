"""Jobs that time the datapath on connections that come and go: lab/lb/cell_job.h."""
import dataclasses

from harness.process_job import ProcessJob

RAW, SLOT_TIMERS = "raw_parse", "slot_timers"
BYTES_PER_CONNECTION = 240  # of any table with its records, keys and replies, with a margin
BYTES_FIXED = 512 << 20
SECONDS_PER_PACKET = 2.5e-7  # with making the frames


@dataclasses.dataclass(frozen=True)
class CellJob(ProcessJob):
    """`contestants`: cells by name. `slots`: connections that each table takes. `options`: more of
    the program's, (name, value)."""

    PROGRAM = "roost_lab_lb"

    experiment: str
    slots: int
    contestants: tuple
    profile: str = "campus-like"
    windows: int = 16
    mode: str = "l2dsr"
    packets: int = 1 << 20
    warm_up: int = 1 << 24
    rounds: int = 20
    options: tuple = ()

    @property
    def name(self):
        options = "".join(f" {name}={value}" for name, value in self.options)
        return f"{self.experiment} {self.slots} {self.profile} x{self.windows} {self.mode}{options}"

    def words(self, _beside):
        return ["cells", "--experiment", self.experiment, "--pages", self.pages,
                "--cells", ",".join(self.contestants), "--mode", self.mode,
                "--connections", str(self.slots), "--profile", self.profile,
                "--windows", str(self.windows), "--packets", str(self.packets),
                "--warm-up", str(self.warm_up), "--rounds", str(self.rounds),
                "--cores", str(self.cores),
                *(word for name, value in self.options for word in (f"--{name}", str(value)))]

    def table_bytes(self):
        tables = sum(name != RAW for name in self.contestants)
        return tables * self.slots * BYTES_PER_CONNECTION + BYTES_FIXED

    def seconds(self):
        packets = self.warm_up + self.rounds * self.packets * (1 if self.cores == 1 else 2)
        return len(self.contestants) * packets * SECONDS_PER_PACKET + 10

    def tiny(self):
        return dataclasses.replace(
            self, slots=20_000, windows=1, packets=5_000, warm_up=5_000, rounds=2, pages="4K",
            options=tuple(option for option in self.options if option[0] != "flows")
            + (("flows", 30_000),))
