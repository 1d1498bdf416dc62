"""The jobs of the experiment `lb`, each a process: packets between ports, testpmd, a soak."""
import dataclasses
from pathlib import Path

from harness.process_job import ProcessJob
from lb import cell_jobs
from lb.cell_jobs import CellJob
from lb.soak_jobs import SoakJob

SIZES = {"4M": 1 << 22, "16M": 1 << 24}
RAW = ("raw_io", "raw_io_parse")
BALANCER, ON_RTE_HASH, TESTPMD = "balancer", "balancer_on_rte_hash", "testpmd_io"
RTE_HASH_CELL = "rte_hash scan"
CHURN_CELLS = (cell_jobs.RAW, cell_jobs.SLOT_TIMERS, RTE_HASH_CELL)

# A pass is short, so that a slow second of the machine is everyone's; the next one goes on with the
# flows that follow.
ROUNDS_PER_CYCLE = 8
ROUNDS = 40

BYTES_PER_BUFFER = 512  # with its place in the rings
BYTES_PER_FLOW = {BALANCER: 96, ON_RTE_HASH: 224}  # in both tables, with a margin
BYTES_FIXED = 256 << 20


@dataclasses.dataclass(frozen=True)
class LbJob(ProcessJob):
    """`command`: packets or testpmd. `slots`: flows that the tables are made for."""

    PROGRAM = "roost_lab_lb"

    command: str
    experiment: str
    slots: int
    contestants: tuple
    rounds: int = ROUNDS
    zipf: float = 0  # of the flows that packets are of; 0: one after the other

    @property
    def name(self):
        skew = f" zipf {self.zipf:g}" if self.zipf else ""
        return f"{self.experiment} {self.command} {self.slots} x{self.cores}{skew}"

    def program(self, beside):
        """What measures; `beside` is the lab's other program."""
        if self.command == "testpmd":
            return Path(__file__).resolve().parent / "testpmd.py"
        return super().program(beside)

    def words(self, beside):
        common = ["--experiment", self.experiment, "--pages", self.pages,
                  "--flows", str(self.slots), "--rounds", str(self.rounds)]
        if self.command == "testpmd":
            return [*common, "--flow-program", str(beside.with_name("roost_lab_lb"))]
        return ["packets", *common, "--packets", str(self.slots // ROUNDS_PER_CYCLE), "--cores",
                str(self.cores), "--zipf", str(self.zipf),
                "--peers" if ON_RTE_HASH in self.contestants else "--no-peers"]

    def table_bytes(self):
        tables = sum(BYTES_PER_FLOW.get(contestant, 0) for contestant in self.contestants)
        return self.slots * (tables + BYTES_PER_BUFFER) + BYTES_FIXED

    def seconds(self):
        passes = len(self.contestants) * self.rounds * (1 if self.cores == 1 else 2)
        return self.slots * (passes / ROUNDS_PER_CYCLE + 12) * 2.5e-7

    def tiny(self):
        return dataclasses.replace(self, slots=20_000, rounds=2, pages="4K")


def churn_jobs(full):
    """200,000 connections begin a second: those of 20 packets live 16 s, and four million places
    are taken to 0.8; those of one packet live 4 s and are held until a sweep comes by, five more at
    most, so that 2.2 million places are taken to 0.8 then."""
    rounds, share = (40, 1) if full else (10, 4)
    begin = (("law", "fixed"), ("seconds", 120), ("flows", 24_000_000))
    yield CellJob("churn", 4_200_000, CHURN_CELLS, windows=1, mode="nat", rounds=rounds,
                  warm_up=(1 << 27) // share, options=(*begin, ("mean", 20), ("flow-seconds", 16),
                                                       ("established", 30), ("closed", 1)))
    yield CellJob("new", 2_200_000, CHURN_CELLS, windows=1, mode="nat", rounds=rounds,
                  packets=1 << 18, warm_up=1 << 21,
                  options=(*begin, ("mean", 1), ("established", 4), ("closed", 4)))


def jobs(size, _available):
    full = size != "quick"
    found = []
    for name in ("4M", "16M") if full else ("4M",):
        slots = SIZES[name]
        found.append(LbJob("testpmd", "raw", slots, (TESTPMD,), rounds=7))
        found.append(LbJob("packets", "packets", slots, (*RAW, BALANCER, ON_RTE_HASH)))
    found.append(LbJob("packets", "zipf", SIZES["4M"], (*RAW, BALANCER, ON_RTE_HASH), zipf=0.99))
    found += churn_jobs(full)
    found.append(LbJob("packets", "workers", SIZES["4M"], (*RAW, BALANCER), cores=2))
    found.append(SoakJob("soak", SIZES["4M"], (cell_jobs.SLOT_TIMERS,),
                         soak_seconds=1800 if full else 120))
    return found
