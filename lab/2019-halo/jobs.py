"""The jobs of the experiment `2019-halo`, each a run of measure.py on one case."""
import dataclasses
import os
from pathlib import Path

from harness.beside import beside
from harness.process_job import ProcessJob
from harness.under_load import UnderLoadJob

HERE = Path(__file__).resolve().parent
cases = beside(__file__, "cases")
MEASURED_SECONDS = 3
SECONDS_OF_RUN = 12  # of one program: its start, its megaflows, measuring
PROGRAM_BYTES = 2 << 30  # of one program at a time: packets, rules, megaflows
WAYS_BYTES = 512 << 20  # EAL's, and our tables
CORES = 2
OVS = Path("/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk")


@dataclasses.dataclass(frozen=True, kw_only=True)
class HaloJob(UnderLoadJob):
    """`contestants`: one case, by name."""

    loads: tuple = (0.8,)

    @property
    def case(self):
        return cases.ALL_CASES[self.contestants[0]]

    @property
    def slots(self):
        return self.case.flows

    @staticmethod
    def program(_beside):
        return HERE / "measure.py"

    def words(self, beside):
        return ["--roost", str(beside.parents[1] / "apps" / "roost"), "--case",
                self.contestants[0]]

    @staticmethod
    def table_bytes():
        return PROGRAM_BYTES

    def seconds(self):
        return self.rounds * SECONDS_OF_RUN * (2 + len(self.case.caches))

    def tiny(self):
        return dataclasses.replace(self, contestants=(cases.TINY,), pages="4K", not_run_because="")


@dataclasses.dataclass(frozen=True)
class WaysJob(ProcessJob):
    """A table of one of HALO's functions, asked in several ways: lab/functions/lookup_ways_job.h.
    `slots`: entries."""

    PROGRAM = "roost_lab_functions"

    function: str
    slots: int
    rounds: int = 15
    packets: int = 1 << 17
    passes: int = 4
    experiment: str = "fig13"

    @property
    def contestants(self):
        return tuple(cases.WAYS)

    @property
    def name(self):
        return f"fig13 {self.function} {self.slots}"

    def words(self, _beside):
        return ["ways", "--experiment", self.experiment, "--function", self.function, "--entries",
                str(self.slots), "--packets", str(self.packets), "--passes", str(self.passes),
                "--rounds", str(self.rounds), "--pages", self.pages]

    @staticmethod
    def table_bytes():
        return WAYS_BYTES

    def seconds(self):
        return len(cases.WAYS) * self.rounds * self.passes * self.packets * 1e-7 + 3

    def tiny(self):
        return dataclasses.replace(self, slots=min(self.slots, 1_000), packets=2_000, passes=1,
                                   rounds=2, pages="4K")


def ways_jobs(size):
    rounds = 15 if size == "full" else 5
    for function, entries in cases.FIG13.items():
        for slots in entries[:1] if size == "smoke" else entries:
            yield WaysJob(function, slots, rounds=rounds)


def jobs(size, _available):
    names = ("1_subtable",) if size == "smoke" else (
        *cases.CASES, *cases.FIG3, cases.ONE_FLOW)
    there = len(os.sched_getaffinity(0))
    why = "" if OVS.exists() else f"{OVS} is not there: install openvswitch-switch-dpdk"
    if there < CORES:
        why = f"it takes {CORES} cores, and {there} is there"
    chosen = {name: cases.ALL_CASES[name] for name in names}
    return [*(HaloJob(experiment=case.part, contestants=(name,), rounds=case.rounds,
                      not_run_because=why) for name, case in chosen.items()),
            *ways_jobs(size)]
