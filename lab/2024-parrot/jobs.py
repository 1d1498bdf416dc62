"""The jobs of the experiment `2024-parrot`, each a process: lab/value_tables/value_job.h."""
import dataclasses
import os
from pathlib import Path

PARROT, RESEEDING, LINE_MAP = "parrot", "parrot_reseeding", "line_map"
FINGERPRINTS, SHARED = "line_map_fingerprints", "line_map_shared"
LUDO, OTHELLO, LMH, CUCKOO = "ludo", "othello", "chained_lmh", "cuckoo_2_4"
PACKED, RTE_HASH, RTE_EFD = "roost_packed", "rte_hash", "rte_efd"

# Of the paper's sets: what it calls them, ours, bits of a value. WIKI and BOOK are stand-ins unless
# SOSD's files are given.
WIKI_FILE, BOOK_FILE = (os.environ.get(name, "") for name in ("SOSD_WIKI", "SOSD_BOOK"))
WIKI, BOOK = WIKI_FILE or "arrivals", BOOK_FILE or "lognormal"
SETS = {"MAC": ("mac", 8), "5-TUPLE": ("addresses", 16), "WIKI": (WIKI, 16), "BOOK": (BOOK, 16)}
WHOLE_TUPLES = ("tuple", 16)
STAND_INS = {"arrivals": "a stand-in for WIKI, synthetic; times are drawn to the millisecond, so "
                         "that neighbours lie as far apart by chance as random keys do, where "
                         "WIKI has whole seconds",
             "lognormal": "a stand-in for BOOK, synthetic"}
ZIPF = 0.99
LOADS = (0.85, 0.9, 0.95)
CALLS = (32, 64, 256)
UPDATE_RATES = (0, 500, 10_000, 100_000, 1_000_000)
MUST_RATE = 500_000
PAPER_PEERS = (LUDO, CUCKOO, LMH)
HOT_PACKETS = 10_000  # that are forwarded again and again, as in the paper

# Bytes a key, with a margin: on the pages of the job; beside them while it is built, and kept.
OF_LINE_MAPS = (LINE_MAP, SHARED, FINGERPRINTS)
ON_PAGES = {LINE_MAP: 4.2, SHARED: 4.2, FINGERPRINTS: 5.6, PARROT: 10, RESEEDING: 10, LUDO: 3.4,
            OTHELLO: 5.2, LMH: 40, CUCKOO: 19, PACKED: 10, RTE_HASH: 110, RTE_EFD: 60}
KEPT = {PARROT: 12, RESEEDING: 12} | dict.fromkeys(OF_LINE_MAPS, 20)
WHILE_BUILT = {PARROT: 40, RESEEDING: 40, LUDO: 48, OTHELLO: 42, LMH: 10} | dict.fromkeys(
    OF_LINE_MAPS, 48)
BYTES_PER_FRAME = 512  # in its buffer
BYTES_PER_KEY = 45  # of the set, its entries and the order in which they are asked for
BYTES_FIXED = 96 << 20
SECONDS_TO_BUILD = {PARROT: 4e-7, RESEEDING: 4e-7, LUDO: 2e-6, OTHELLO: 6e-7, LMH: 2e-7,
                    CUCKOO: 2.5e-7, PACKED: 2e-7, RTE_HASH: 4e-7, RTE_EFD: 1e-5} | dict.fromkeys(
                        OF_LINE_MAPS, 4e-7)


@dataclasses.dataclass(frozen=True)
class ValueJob:
    """`command`: a subcommand of the program. `slots`: how many keys."""

    command: str
    experiment: str
    keys: str
    slots: int
    contestants: tuple
    loads: tuple = (0.85,)
    calls: tuple = (64,)
    oracles_of: tuple = ()
    value_bits: int = 16
    zipf: tuple = (0.0,)  # exponents of lookups; 0 draws evenly
    lookups: int = 1 << 22
    lengths: tuple = ()
    rates: tuple = ()  # of updates a second, beside lookups
    frames: int = 0  # that ports have
    strangers: bool = False
    rounds: int = 5
    pages: str = "2M"
    cores: int = 1
    not_run_because: str = ""
    processes: int = 1
    process: int = 0

    @property
    def name(self):
        parts = [self.experiment, self.command, Path(self.keys).name, str(self.slots),
                 "+".join(self.contestants)]
        parts += [f"values of {self.value_bits} bits"] if self.value_bits != 16 else []
        parts += [f"{self.frames} packets zipf {self.zipf[0]:g}"] if self.frames else []
        return " ".join(parts)

    @property
    def process_name(self):
        return f"{self.name}, process {self.process}" if self.process else self.name

    def each_process(self):
        """Contestants change places in memory from process to process."""
        return [dataclasses.replace(self, process=number) for number in range(self.processes)]

    @staticmethod
    def program(beside):
        return beside.with_name("roost_lab_value_tables")

    def words(self, _beside):
        turn = self.process * len(self.contestants) // self.processes
        listed = {"contestants": self.contestants[turn:] + self.contestants[:turn],
                  "loads": self.loads, "calls": self.calls, "oracles-of": self.oracles_of,
                  "lengths": self.lengths, "rates": self.rates, "zipf": self.zipf}
        words = [self.command, "--experiment", self.experiment, "--keys", self.keys,
                 "--count", str(self.slots), "--value-bits", str(self.value_bits),
                 "--lookups", str(self.lookups),
                 *(["--frames", str(self.frames)] if self.frames else []),
                 "--rounds", str(self.rounds), "--pages", self.pages,
                 *(["--strangers"] if self.strangers else [])]
        for option, values in listed.items():
            if values:
                words += [f"--{option}", *map(str, values)]
        return words

    def _sum(self, by_name):
        return sum(by_name.get(name, 0) for name in self.contestants)

    @property
    def is_one_at_a_time(self):
        return self.command in ("builds", "beside")

    def reserved_bytes(self):
        """What is on the job's pages: tables, three oracles over some of them, frames."""
        shares = [ON_PAGES.get(name, 0) for name in self.contestants]
        share = max(shares, default=0) if self.is_one_at_a_time else sum(shares)
        share *= 2 if self.command == "beside" else 1  # a table, and what it is rebuilt as
        share += 3 * sum(ON_PAGES[name] for name in self.oracles_of)
        return (int(self.slots * share) + BYTES_FIXED * (1 + len(shares))
                + BYTES_PER_FRAME * self.frames)

    def table_bytes(self):
        """And what is beside them on ordinary pages."""
        kept = 0 if self.command == "builds" else self._sum(KEPT)
        built = max((WHILE_BUILT.get(name, 0) for name in self.contestants), default=0)
        return self.reserved_bytes() + int(self.slots * (BYTES_PER_KEY + kept + built))

    def seconds(self):
        """About how long it takes: for the progress bar and for what a run says at its start."""
        if self.not_run_because:
            return 0
        once = self.slots * (self._sum(SECONDS_TO_BUILD) + 3e-7)
        if self.command == "crc":
            return self.slots * 0.015
        if self.command == "shapes":
            return self.slots * 3e-7
        if self.command == "switch":
            return 5 + self.rounds * self.lookups * 1e-6
        if self.command == "builds":
            return once * self.rounds * len(self.loads)
        if self.command == "changes":
            return once + len(self.contestants) * self.rounds * (self.lookups * 2e-6
                                                                 + self.slots * 1e-7)
        if self.command == "beside":
            passes = len(self.contestants) * (self.rounds + 1)
            return (1 + len(self.rates)) * (once + passes * self.lookups * 4e-8)
        if self.command == "forwards":
            passes = (len(self.contestants) + 2) * (self.rounds + 1)
            return (2 + once + self.frames * (1e-6 + 1e-7 * len(self.contestants))
                    + passes * self.lookups * 1e-7)
        if self.command == "scans":
            return once + (len(self.lengths) * len(self.contestants) * (self.rounds + 2)
                           * self.lookups * 1e-7)
        entrants = len(self.contestants) + 3 * len(self.oracles_of)
        passes = (entrants * len(self.calls) * (self.rounds + 2)
                  * (len(self.zipf) + self.strangers))
        return len(self.loads) * (once + passes * self.lookups * 3e-8)

    def tiny(self):
        """The same on ordinary pages in a second or less: it shows that the job works."""
        return dataclasses.replace(
            self, slots=200 if self.command == "crc" else 2_000, lookups=4_000, rounds=2,
            processes=1, pages="4K", calls=self.calls[:2], lengths=self.lengths[:3],
            rates=self.rates[:2], frames=min(self.frames, 2_000))


def beside(experiment, keys, count, rates):
    """Lookups beside a builder on another core. Passes last: some are to meet a rebuild."""
    return ValueJob("beside", experiment, keys, count, (LINE_MAP, PARROT), rates=rates,
                    lookups=10 * 1_000_000, rounds=7, cores=2, not_run_because=(
                        "" if len(os.sched_getaffinity(0)) > 1 else "it takes two cores"))


def paper_jobs(full):
    million = 1_000_000
    yield ValueJob("crc", "crc", "mac", 20_000 if full else 4_000, ("crc",), pages="4K")
    for keys in (WIKI, BOOK):
        yield ValueJob("lookups", "f2", keys, (20 if full else 2) * million, (LMH, LUDO),
                       lookups=million, rounds=7)
        yield ValueJob("shapes", "f3", keys, (20 if full else 2) * million, ("probe_lmh",),
                       pages="4K")
    for millions in (10, 20, 30, 40, 50) if full else (2, 4):
        yield ValueJob("parts", "f3", WIKI, millions * million, (LUDO,), rounds=7)
    for paper, (keys, bits) in (*SETS.items(), ("5-TUPLE", WHOLE_TUPLES)):
        yield ValueJob("lookups", "f8", keys, (80 if full else 2) * million,
                       (PARROT, LINE_MAP, *PAPER_PEERS), loads=LOADS, value_bits=bits,
                       zipf=(0.0, ZIPF), lookups=10 * million if full else 1 << 21, rounds=3)
        if paper == "5-TUPLE" and keys == "tuple":
            continue
        for millions in (16, 32, 64, 96) if full else (1, 2, 4):
            yield ValueJob("builds", "f10", keys, millions * million,
                           (PARROT, LINE_MAP, *PAPER_PEERS), loads=(0.95,), value_bits=bits,
                           rounds=1)
    yield ValueJob("scans", "f11", WIKI, (80 if full else 2) * million, (PARROT, LMH),
                   lengths=(1, 10, 100, 1_000, 10_000), lookups=1 << 22)
    yield beside("f12", WIKI, (50 if full else 2) * million, UPDATE_RATES)
    for keys in ("mac", "vendor", "dense"):
        yield ValueJob("switch", "f16", keys, 100_000, (PARROT,), lookups=400_000, pages="4K",
                       rounds=3)
    for keys in (WIKI, BOOK):
        yield ValueJob("builds", "t1", keys, (64 if full else 2) * million,
                       (PARROT, LINE_MAP, *PAPER_PEERS), rounds=3)


def forwarding_jobs(full):
    """The paper's tables in one process, others beside the line map in another, by memory. Packets
    of all keys are as many as buffers find room; no cache holds what a table has for them."""
    hot = [(HOT_PACKETS, exponent) for exponent in (0.0, ZIPF)]
    for keys, bits in (SETS["MAC"], SETS["WIKI"]):
        for frames, exponent in (*hot, (1 << 22 if full else 1 << 20, 0.0)):
            for names in ((PARROT, LINE_MAP, *PAPER_PEERS), (LINE_MAP, PACKED, RTE_HASH)):
                yield ValueJob("forwards", "f14", keys, (64 if full else 1) * 1_000_000, names,
                               value_bits=bits, zipf=(exponent,), frames=frames,
                               lookups=1 << 19, rounds=40 if full else 10)


def musts_jobs(full):
    sixteen = 16_000_000 if full else 2_000_000
    processes = 3 if full else 1
    hashing = (LINE_MAP, SHARED, FINGERPRINTS, PARROT, PACKED, RTE_HASH, LUDO, OTHELLO, LMH, CUCKOO)
    for load in (0.85, 0.95):
        yield ValueJob("lookups", f"speed_{load:g}", "mac", sixteen, hashing, loads=(load,),
                       calls=CALLS, oracles_of=(LINE_MAP, PARROT), strangers=load == 0.85,
                       rounds=3, processes=processes)
    yield ValueJob("lookups", "speed_8_bits", "mac", sixteen, (LINE_MAP, RTE_EFD), value_bits=8,
                   calls=CALLS, rounds=3, processes=processes)
    if full:
        yield ValueJob("lookups", "speed_64m", "mac", 64_000_000, (LINE_MAP, PARROT), calls=CALLS,
                       oracles_of=(LINE_MAP,), rounds=5)
    for count in (sixteen, 64_000_000) if full else (sixteen,):
        yield ValueJob("lookups", "speed_fingerprints", "mac", count, (LINE_MAP, FINGERPRINTS),
                       calls=CALLS, oracles_of=(LINE_MAP, FINGERPRINTS), rounds=5,
                       processes=processes)
    for keys in ("dense", "vendor"):
        yield ValueJob("lookups", f"speed_{keys}", keys, sixteen,
                       (PARROT, LINE_MAP, PACKED, RTE_HASH, LUDO, LMH), calls=CALLS,
                       oracles_of=(PARROT,), strangers=True, rounds=3, processes=processes)
    for keys in ("mac", "dense"):
        yield ValueJob("builds", "build", keys, sixteen,
                       (LINE_MAP, PARROT, LUDO, OTHELLO, LMH, CUCKOO, PACKED, RTE_HASH),
                       rounds=5 if full else 2)
    yield ValueJob("changes", "updates", "mac", sixteen,
                   (LINE_MAP, PARROT, RESEEDING, CUCKOO, PACKED, RTE_HASH),
                   lookups=4_000_000 if full else 200_000, rounds=3)
    yield beside("updates_beside", "mac", sixteen, (MUST_RATE,))


def jobs(size, _available):
    full = size != "quick"
    found = [*paper_jobs(full), *forwarding_jobs(full), *musts_jobs(full)]
    if size == "smoke":  # of one count of keys, which tiny() makes small, and once
        found = [dataclasses.replace(job, processes=1)
                 for job in {job.tiny().name: job for job in found}.values()]
    return sorted((process for job in found for process in job.each_process()),
                  key=lambda job: job.process)
