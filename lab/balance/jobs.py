"""The jobs of the experiment `balance`, each a process: lab/balance/balance_job.h."""
import dataclasses

from harness.process_job import ProcessJob

HASHES = ("maglev", "ring", "rendezvous", "jump", "anchor", "dx")
COUNTS = ("least_connections", "least_connections_4")
RAW = "raw_loop"
SCENARIOS = ("leave", "come", "fail", "weights", "rolling", "restart")

PACKETS = 10  # of a connection
SECONDS_PER_PACKET = 3e-7
SECONDS_PER_PICK = 4e-8
SECONDS_PER_BACKEND = 5e-9  # of a choice that asks them all
BYTES_PER_CONNECTION = 64
BYTES_FIXED = 256 << 20


@dataclasses.dataclass(frozen=True)
class BalanceJob(ProcessJob):
    """`command`: events or picks. `slots`: backends. `count`: connections, or choices of a pass."""

    PROGRAM = "roost_lab_balance"

    command: str
    slots: int
    contestants: tuple
    count: int
    scenario: str = ""
    probes: int = 1 << 18
    rounds: int = 1
    # What is chosen from is as large as a cache.
    pages: str = dataclasses.field(default="4K", kw_only=True)

    @property
    def experiment(self):
        return self.command

    @property
    def name(self):
        return " ".join(filter(None, (self.command, str(self.slots), self.scenario)))

    def words(self, _beside):
        common = [self.command, "--experiment", self.experiment, "--backends", str(self.slots),
                  "--contestants", ",".join(self.contestants)]
        if self.command == "picks":
            return [*common, "--picks", str(self.count), "--rounds", str(self.rounds)]
        return [*common, "--scenario", self.scenario, "--connections", str(self.count),
                "--probes", str(self.probes)]

    def table_bytes(self):
        return self.count * BYTES_PER_CONNECTION + BYTES_FIXED

    def reserved_bytes(self):
        return 0

    def seconds(self):
        if self.command == "picks":
            each = len(self.contestants) * SECONDS_PER_PICK + 2 * self.slots * SECONDS_PER_BACKEND
            return 2 * self.rounds * self.count * each
        packets = 2 * len(self.contestants) * self.count * PACKETS
        return packets * (SECONDS_PER_PACKET + self.slots * SECONDS_PER_BACKEND / 5)

    def tiny(self):
        return dataclasses.replace(self, slots=min(self.slots, 12), count=2_000, probes=2_000,
                                   rounds=2)


def jobs(size, _available):
    full = size != "quick"
    found = []
    for backends in (10, 100, 1_000) if full else (10, 100):
        for scenario in SCENARIOS:
            found.append(BalanceJob("events", backends, (*HASHES, *COUNTS),
                                    1_000_000 if full else 100_000, scenario))
        found.append(BalanceJob("picks", backends, (RAW, *HASHES, COUNTS[0]), 1 << 20,
                                rounds=11 if full else 5))
    if size == "smoke":  # of one size, which tiny() makes smaller
        found = [job for job in found if job.slots == 10]
    return found
