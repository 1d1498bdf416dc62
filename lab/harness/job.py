"""A job: what a process of the measuring program does. A run is a list of them.

Where in memory a table lies decides part of its rate, on virtual machines a good part. So what is
compared closely is measured in several processes: each makes its tables anew, in another
order, so that they change places. In the record they are one job, whose rounds go on from process
to process; the column `process` tells them apart."""
import dataclasses

SIZES = {"512K": 1 << 19, "2M": 1 << 21, "3M": 3 << 20, "32M": 1 << 25, "128M": 1 << 27}
HITS_TO_MISSES = (0.0, 0.5, 1.0)
CEILINGS = tuple(hint + lead for hint in ("T0", "T1", "NTA") for lead in ("", "+1", "+2"))

# Bytes a slot that contestants take, with a margin.
BYTES_PER_SLOT = {"rte_hash": 52, "rte_hash_records": 88, "boost_flat_map": 40,
                  "absl_flat_hash_map": 44, "tsl_robin_map": 88, "tsl_hopscotch_map": 52,
                  "tsl_robin_map_95": 44, "tsl_hopscotch_map_95": 44, "chained_map": 60,
                  "google_dense_hash_map": 72, "libcuckoo": 52, "std_unordered_map": 84,
                  "tbb_concurrent_hash_map": 128, "rte_hash_mac": 36,
                  "google_dense_hash_map_mac": 34, "google_dense_hash_map_mac_identity": 34,
                  "google_sparse_hash_map_mac": 32, "std_unordered_map_mac": 64}
BYTES_PER_SLOT_OURS = 41
BYTES_PER_SLOT_PACKED = 8.1  # of tables whose entry is a word
PACKED = ("roost_packed", "oracle_packed", "cuckooswitch")
ON_SMALL_PAGES = ("cuckooswitch_baseline",)  # whatever pages a job is on
BYTES_PER_SLOT_DEFAULT = 140
BYTES_FIXED = 96 << 20


def process_name(job_name, process):
    """Of a process of a job; the first one has the job's."""
    return f"{job_name}, process {process}" if int(process or 0) else job_name


def is_ours(contestant):
    return contestant.startswith(("roost_", "oracle_"))


def has_keys_of_48_bits(contestant):
    """Whether it is for a forwarding table's keys, and no others."""
    return contestant.startswith(PACKED) or "_mac" in contestant


def bytes_per_slot(contestant):
    if contestant.startswith(PACKED):
        return BYTES_PER_SLOT_PACKED
    if is_ours(contestant):
        return BYTES_PER_SLOT_OURS
    return BYTES_PER_SLOT.get(contestant, BYTES_PER_SLOT_DEFAULT)


@dataclasses.dataclass(frozen=True)
class Job:
    """`command` is a subcommand of the program: lookups, fills, replacements, structure, updates or
    bulk."""

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
    updates: int = 500_000  # a second, of a job that has a writer
    key_bits: int = 128
    counts: bool = True
    own_oracles: bool = False
    forced_hints: bool = False
    shared: bool = False
    ages: tuple = ()
    processes: int = 1
    process: int = 0  # which of them this is
    not_run_because: str = ""  # a rule, not the machine, keeps it from being run

    @property
    def name(self):
        """What the record calls it: unique in a run but for its processes, and the same when the
        run is asked for again."""
        parts = [self.experiment, self.command, str(self.slots), "+".join(self.contestants)]
        parts += [self.pages] if self.pages != "2M" else []
        parts += [f"zipf {self.zipf}"] if self.zipf else []
        parts += [f"churn {self.churn}"] if self.churn else []
        parts += ["shared"] if self.shared else []
        parts += [f"{self.cores} cores"] if self.command == "bulk" and self.cores > 1 else []
        if self.forced_hints:
            parts += [f"{'+'.join(self.calls)} a call", f"misses {'+'.join(map(str, self.misses))}"]
        return " ".join(parts)

    @property
    def process_name(self):
        return process_name(self.name, self.process)

    def each_process(self):
        """Counts do not depend on places, so the first process alone counts."""
        return [dataclasses.replace(self, process=number, counts=self.counts and number == 0)
                for number in range(self.processes)]

    def in_order_of_creation(self):
        """The contestants, turned on from process to process."""
        turn = self.process * len(self.contestants) // self.processes
        return self.contestants[turn:] + self.contestants[:turn]

    def program(self, given):
        """What measures: the lab's program. An experiment may have another one beside it."""
        return given

    def words(self, _given):
        """The program's arguments, without those that the machine decides."""
        listed = {"contestants": self.in_order_of_creation(), "loads": self.loads,
                  "misses": self.misses, "calls": self.calls, "ceilings": self.ceilings,
                  "ages": self.ages}
        words = [self.command, "--experiment", self.experiment, "--slots", str(self.slots),
                 "--lookups", str(self.lookups), "--rounds", str(self.rounds),
                 "--pages", self.pages, "--cores", str(self.cores), "--zipf", str(self.zipf),
                 "--churn", str(self.churn), "--updates", str(self.updates),
                 "--key-bits", str(self.key_bits),
                 "--counts" if self.counts else "--no-counts",
                 *(["--own-oracles"] if self.own_oracles else []),
                 *(["--forced-hints"] if self.forced_hints else []),
                 *(["--shared"] if self.shared else [])]
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
        if self.command == "bulk":  # one table at a time
            return int(self.slots * max(shares)) + 2 * BYTES_FIXED
        tables = 1 if self.shared else self.cores
        return int(self.slots * sum(shares) + BYTES_FIXED * (1 + len(shares))) * tables

    def reserved_bytes(self):
        """What of that is on the job's pages."""
        return self.table_bytes() - int(self.slots * sum(
            bytes_per_slot(name) for name in self.contestants if name in ON_SMALL_PAGES))

    def seconds(self):
        """About how long it takes, as on the machine of our records: for the progress bar and for
        what a run says at its start."""
        if self.not_run_because:
            return 0
        fills = self.slots * len(self.contestants) * self.cores * 1.2e-7
        if self.command == "fills":
            by_calls = sum(1.1e-7 * len(self.calls) if is_ours(contestant) else 2.5e-7
                           for contestant in self.contestants)
            return self.slots * by_calls * (self.rounds + 1)
        if self.command == "replacements":
            return 2 * fills + (len(self.contestants) * len(self.loads) * (self.rounds + 1)
                                * self.lookups * 5e-7)
        if self.command == "bulk":
            return 2 * fills / self.cores
        if self.command == "updates":
            return fills + (len(self.contestants) * len(self.calls) * (self.rounds + 1)
                            * self.lookups * 1e-7)
        if self.command == "structure":
            return fills * 3 + self.slots * max(self.ages, default=0) * 1e-6
        passes = len(self.contestants) * len(self.calls) + len(self.ceilings)
        passes += 3 * len(self.calls) * (self.own_oracles + self.forced_hints)
        speed = 43e6 if self.slots > 1 << 22 else 90e6
        return (1 + self.counts) * fills + (passes * len(self.misses) * len(self.loads)
                                            * (self.rounds + 2) * self.lookups * self.cores / speed)

    def tiny(self):
        """The same on ordinary pages in a second or less: it shows that the job works."""
        return dataclasses.replace(
            self, slots=1 << 14 if self.command == "structure" else 4096, lookups=20000, rounds=2,
            pages="4K", cores=min(self.cores, 2), churn=min(self.churn, 20),
            ceilings=self.ceilings[:2], ages=self.ages[:1])
