"""A job: what one process of the measuring program does. A run is a list of them."""
import dataclasses

SIZES = {"512K": 1 << 19, "32M": 1 << 25, "128M": 1 << 27}
HITS_TO_MISSES = (0.0, 0.5, 1.0)
CEILINGS = tuple(hint + lead for hint in ("T0", "T1", "NTA") for lead in ("", "+1", "+2"))

# Bytes a slot that contestants take, with a margin.
BYTES_PER_SLOT = {"rte_hash": 52, "rte_hash_records": 88, "boost_flat_map": 40,
                  "absl_flat_hash_map": 44, "tsl_robin_map": 88, "tsl_hopscotch_map": 52,
                  "google_dense_hash_map": 72, "libcuckoo": 52, "std_unordered_map": 84,
                  "tbb_concurrent_hash_map": 128}
BYTES_PER_SLOT_OURS = 41
BYTES_PER_SLOT_DEFAULT = 140
BYTES_FIXED = 96 << 20


def is_ours(contestant):
    return contestant.startswith(("roost_", "oracle_"))


def bytes_per_slot(contestant):
    if is_ours(contestant):
        return BYTES_PER_SLOT_OURS
    return BYTES_PER_SLOT.get(contestant, BYTES_PER_SLOT_DEFAULT)


@dataclasses.dataclass(frozen=True)
class Job:
    """`command` is a subcommand of the program: lookups, fills or structure."""

    command: str
    experiment: str
    slots: int
    contestants: tuple
    loads: tuple = (0.8,)
    misses: tuple = HITS_TO_MISSES
    calls: tuple = ("32",)
    ceilings: tuple = ()
    lookups: int = 1 << 22
    rounds: int = 7
    pages: str = "2M"
    cores: int = 1
    zipf: float = 0.0
    churn: int = 0
    key_bits: int = 128
    counts: bool = True
    own_oracles: bool = False
    not_run_because: str = ""  # a rule, not the machine, keeps it from being run

    @property
    def name(self):
        """Unique in a run, and the same when the run is asked for again."""
        parts = [self.experiment, self.command, str(self.slots), "+".join(self.contestants)]
        parts += [self.pages] if self.pages != "2M" else []
        parts += [f"zipf {self.zipf}"] if self.zipf else []
        parts += [f"churn {self.churn}"] if self.churn else []
        return " ".join(parts)

    def program(self, given):
        """What measures: the lab's program. An experiment may have another one beside it."""
        return given

    def words(self, _given):
        """The program's arguments, without those that the machine decides."""
        listed = {"contestants": self.contestants, "loads": self.loads, "misses": self.misses,
                  "calls": self.calls, "ceilings": self.ceilings}
        words = [self.command, "--experiment", self.experiment, "--slots", str(self.slots),
                 "--lookups", str(self.lookups), "--rounds", str(self.rounds),
                 "--pages", self.pages, "--cores", str(self.cores), "--zipf", str(self.zipf),
                 "--churn", str(self.churn), "--key-bits", str(self.key_bits),
                 "--counts" if self.counts else "--no-counts",
                 *(["--own-oracles"] if self.own_oracles else [])]
        for option, values in listed.items():
            if values:
                words += [f"--{option}", *map(str, values)]
        return words

    def table_bytes(self):
        """What its tables and ceilings take, with a margin."""
        shares = [bytes_per_slot(contestant) for contestant in self.contestants]
        if self.ceilings:
            shares.append(max(shares) if max(shares) > BYTES_PER_SLOT["rte_hash"] else
                          BYTES_PER_SLOT_OURS)
        return (self.slots * sum(shares) + BYTES_FIXED * (1 + len(shares))) * self.cores

    def seconds(self):
        """About how long it takes: only the progress bar asks."""
        fills = self.slots * len(self.contestants) * self.cores * 1.2e-7
        if self.command == "fills":
            return fills * (self.rounds + 1) * len(self.calls)
        if self.command == "structure":
            return fills * 3
        passes = len(self.contestants) * len(self.calls) + len(self.ceilings)
        passes += 3 * len(self.calls) * self.own_oracles
        speed = 35e6 if self.slots > 1 << 22 else 80e6
        return 2 * fills + (passes * len(self.misses) * len(self.loads) * (self.rounds + 2)
                            * self.lookups * self.cores / speed)

    def tiny(self):
        """The same on ordinary pages in a second or less: it shows that the job works."""
        return dataclasses.replace(
            self, slots=1 << 14 if self.command == "structure" else 4096, lookups=20000, rounds=2,
            pages="4K", cores=min(self.cores, 2), churn=min(self.churn, 20),
            ceilings=self.ceilings[:2])
