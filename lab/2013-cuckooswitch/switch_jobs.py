"""The jobs of the switch's part, each a process of the program roost_lab_switch."""
import dataclasses

from harness.process_job import ProcessJob

RAW, OURS, ON_RTE_HASH = "raw_io", "switch", "switch_on_rte_hash"
PUBLISHED, DENSE, DENSE_PLAIN = ("switch_on_published", "switch_on_dense",
                                 "switch_on_dense_plain")
# The ladder, from below.
LADDER = (("baseline", "switch_on_baseline"), ("+ pages", "switch_on_pages"),
          ("+ order", "switch_on_order"), ("+ batch", "switch_on_batch"),
          ("+ prefetch", PUBLISHED), ("ours", OURS))
RATES = (0, 64_000, 250_000, 500_000, 1_000_000)
SIZES = {"128K": 1 << 17, "2M": 1 << 21, "32M": 1 << 25, "1e9": 10 ** 9}
FRAME_BYTES = (60, 124, 188, 252, 508, 1020, 1514)  # without the check sequence

BYTES_PER_STATION = {OURS: 9, ON_RTE_HASH: 40, DENSE: 40, DENSE_PLAIN: 40}
BYTES_PER_STATION_OF_RUNGS = 9
BYTES_OF_BUFFER = 320  # beside its frame, with its place in the rings
BYTES_FIXED = 512 << 20
ROUNDS = 20


@dataclasses.dataclass(frozen=True)
class SwitchJob(ProcessJob):
    """`slots`: stations; `frames`: that the ports have in memory."""

    PROGRAM = "roost_lab_switch"

    experiment: str
    slots: int
    contestants: tuple
    frames: int = 1 << 22
    frame_bytes: int = 60
    zipf: float = 0.0
    rates: tuple = ()
    rounds: int = ROUNDS

    @property
    def name(self):
        parts = [self.experiment, "switch", str(self.slots), f"x{self.cores}"]
        parts += [f"zipf {self.zipf}"] if self.zipf else []
        parts += [f"{self.frame_bytes} bytes"] if self.frame_bytes != 60 else []
        return " ".join(parts)

    def words(self, _beside):
        words = ["packets", "--experiment", self.experiment, "--pages", self.pages, "--stations",
                 str(self.slots), "--frames", str(self.frames), "--frame-bytes",
                 str(self.frame_bytes), "--zipf", str(self.zipf), "--rounds", str(self.rounds),
                 "--packets", str(max(self.frames // 4, 1 << 12)), "--cores", str(self.cores)]
        if self.rates:
            words += ["--writer", "--updates", *map(str, self.rates)]
        return [*words, "--contestants", *self.contestants]

    def table_bytes(self):
        stations = sum(BYTES_PER_STATION.get(contestant, BYTES_PER_STATION_OF_RUNGS)
                       for contestant in self.contestants if contestant != RAW)
        return (self.slots * stations + self.frames * (BYTES_OF_BUFFER + max(self.frame_bytes, 128))
                + BYTES_FIXED)

    def seconds(self):
        passes = len(self.contestants) * self.rounds * max(1, len(self.rates)) * self.cores
        fills = self.slots * (len(self.contestants) - 1) * 2.5e-7
        return fills + self.frames * (1e-6 + passes / 4 * 1.2e-7)

    def tiny(self):
        return dataclasses.replace(self, slots=4096, frames=8192, rounds=2, pages="4K",
                                   rates=self.rates[:2])


@dataclasses.dataclass(frozen=True)
class StallJob(SwitchJob):
    """A worker's turns while the control thread works on the whole database."""

    imported: int = 1_000_000
    packets: int = 1 << 25

    def words(self, _beside):
        return ["stalls", "--experiment", self.experiment, "--pages", self.pages, "--stations",
                str(self.slots), "--frames", str(self.frames), "--rounds", str(self.rounds),
                "--packets", str(self.packets), "--imported", str(self.imported)]

    def table_bytes(self):
        return super().table_bytes() + 2 * self.imported * BYTES_PER_STATION[OURS] + (1 << 30)

    def seconds(self):
        return self.frames * 1e-6 + self.rounds * 5 * self.packets * 1.2e-7

    def tiny(self):
        return dataclasses.replace(super().tiny(), imported=1000, packets=8192)


def jobs(full):
    sizes = ("128K", "2M", "32M") if full else ("2M",)
    for frame_bytes in FRAME_BYTES:
        yield SwitchJob("table2", 1 << 16, (RAW,), frames=1 << 16, frame_bytes=frame_bytes,
                        rounds=7)
    for size in ("2M", "32M") if full else ("2M",):
        yield SwitchJob("switch", SIZES[size], (RAW, OURS, ON_RTE_HASH))
    yield SwitchJob("switch", SIZES["2M"], (RAW, OURS, ON_RTE_HASH), zipf=0.99)
    yield SwitchJob("workers", SIZES["2M"], (RAW, OURS), cores=2)
    for size in sizes:
        yield SwitchJob("fig8", SIZES[size], (RAW, *(name for _, name in LADDER)), rounds=7)
        yield SwitchJob("fig9", SIZES[size], (RAW, OURS, PUBLISHED, DENSE, DENSE_PLAIN), rounds=7)
    yield SwitchJob("fig10", SIZES["2M"], (RAW, OURS, PUBLISHED), rates=RATES, rounds=7)
    yield StallJob("stalls", SIZES["2M"], (OURS,), rounds=5)
    if full:
        yield SwitchJob("switch", SIZES["1e9"], (RAW, OURS), frames=1 << 24, rounds=7)
