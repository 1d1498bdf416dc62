"""The jobs of the experiment `advise`, each a run of measure.py on one profile."""
import dataclasses
import os
from pathlib import Path

from harness.under_load import UnderLoadJob


@dataclasses.dataclass(frozen=True)
class Profile:
    """What an operator would say of his traffic: `new` and `packets` are of a second."""

    connections: int
    new: int
    packets: int
    family: str = "ipv4"
    mode: str = "nat"

    def said(self):
        return (f"{self.connections:,} alive, {self.new:,} new a second, "
                f"{self.packets / self.new:g} packets each, {self.family}, {self.mode}")


# Each beside the first is another by ten in one thing, or of the other family and way, and so in
# the other layout of the table.
PROFILES = {
    "base": Profile(100_000, 10_000, 400_000),
    "ten_times_the_connections": Profile(1_000_000, 10_000, 400_000),
    "ten_times_the_new": Profile(100_000, 100_000, 400_000),
    "a_tenth_of_the_packets": Profile(100_000, 10_000, 40_000),
    "other_family_and_mode": Profile(100_000, 10_000, 400_000, "ipv6", "l2dsr"),
}
TINY = "tiny"  # the smoke run's
ALL_PROFILES = {**PROFILES, TINY: Profile(2_000, 1_000, 8_000)}
BYTES_OF_CONNECTION = 400
BYTES_FIXED = 3 << 29  # of two programs' packets, and of connections that are over
MEASURED_SECONDS = 20
LIFETIMES = 3  # after which 95 % of the connections are there
OVER_SECONDS = 15  # that a connection is held when it is over: tcp_closed, and a sweep
ROUNDS = 5
CORES = 2


def warm_up_seconds(profile):
    """Until a table holds what it will hold."""
    return LIFETIMES * profile.connections / profile.new + OVER_SECONDS


@dataclasses.dataclass(frozen=True, kw_only=True)
class AdviseJob(UnderLoadJob):
    """`contestants`: one profile, by name."""

    experiment: str = "profiles"
    rounds: int = ROUNDS
    loads: tuple = (0.8,)

    @property
    def profile(self):
        return ALL_PROFILES[self.contestants[0]]

    @property
    def slots(self):
        return self.profile.connections

    @staticmethod
    def program(_beside):
        return Path(__file__).with_name("measure.py")

    def words(self, beside):
        return ["--roost", str(beside.parents[1] / "apps" / "roost"),
                "--profile", self.contestants[0]]

    def table_bytes(self):
        return self.slots * BYTES_OF_CONNECTION + BYTES_FIXED

    def seconds(self):
        """About how long it takes, the advice's own measurement with it: only the progress bar
        asks."""
        return 1.5 * warm_up_seconds(self.profile) + MEASURED_SECONDS

    def tiny(self):
        return dataclasses.replace(self, contestants=(TINY,), pages="4K", not_run_because="")


def jobs(size, _available):
    names = ("base",) if size == "smoke" else PROFILES
    there = len(os.sched_getaffinity(0))
    why = "" if there >= CORES else f"it takes {CORES} cores, and {there} is there"
    return [AdviseJob(contestants=(name,), not_run_because=why) for name in names]
