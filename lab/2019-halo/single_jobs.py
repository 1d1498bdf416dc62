"""Simulated points on single tables. Tables are of the paper's format with a power of two of slots
unless something else is said; `variant` names what is read into the paper's words:

    as written   the accelerator fetches the key from the core that wrote it, and lines from their
                 slices over the mesh; the core waits for each LOOKUP_B
    friendly     the key comes in the command, and every line is in the accelerator's own slice
    load-like    friendly, and LOOKUP_B is in the core's window as a load is
"""
from harness.beside import beside

simulated = beside(__file__, "simulated")
Point = simulated.Point

AS_WRITTEN, FRIENDLY, LOAD_LIKE = "as written", "friendly", "load-like"
KEY, LINES, LOAD = ("key", "command"), ("lines", "local"), ("lookup_b", "load")
READINGS = {AS_WRITTEN: (), FRIENDLY: (KEY, LINES), LOAD_LIKE: (KEY, LINES, LOAD)}

# HALO-F9.
SIZES = {"full": (3, 4, 5, 7, 9, 11, 13, 15, 17, 18, 19, 20, 22, 24),
         "quick": (3, 5, 11, 15, 19, 21),
         "smoke": (3, 10)}
OCCUPANCIES = (0.25, 0.5, 0.8, 0.9)
OF_OCCUPANCIES = (10, 15, 18)  # their sizes
LARGE = 21  # from here on, fewer machines: a table is copied into each
COLD = "cold"  # as written, but nothing in a cache before 10,000 lookups
OF_COLD = (15, 18)

# HALO-F10: what is off from there on. The first is nothing.
LATENCIES = ("l1d.hit_cycles", "l2.hit_cycles", "llc.tag_cycles", "llc.data_cycles",
             "mesh.request_cycles", "mesh.fill_cycles", "core.snoop_cycles", "core.forward_cycles",
             "dram.controller_cycles", "dram.activate_cycles", "dram.read_cycles",
             "dram.precharge_cycles", "dram.burst_cycles")
TRAVEL = ("mesh.hop_cycles", "distributor.send_cycles", "distributor.result_cycles")
WHOLE, NO_LOCKS, NO_LATENCY = "whole", "without locks", "and without latency of data"
COSTS_OFF = ((WHOLE, {}), (NO_LOCKS, {"switches": {"locks": "off"}}),
             (NO_LATENCY, {"numbers": LATENCIES + TRAVEL}))
IN_LLC, IN_DRAM = "in LLC", "in DRAM"
FIG10_SLOTS = {IN_LLC: 1 << 17, IN_DRAM: 1 << 20}

# Why blocking lookups take so long: one switch more each.
BUDGET = {AS_WRITTEN: (), "local lines": (LINES,), "key in the command": (KEY,),
          "without locks": (("locks", "off"),), "load-like, key fetched": (LOAD,),
          FRIENDLY: (KEY, LINES), LOAD_LIKE: (KEY, LINES, LOAD)}
BUDGET_SIZES = {"full": (11, 15, 17, 19), "quick": (15, 17), "smoke": (10,)}

# One table that many cores ask.
CORES = (1, 2, 4, 8, 16)
BY_TABLE, BY_BUCKET = "dispatch by table", "dispatch by bucket line"
DISPATCH = {BY_TABLE: (), BY_BUCKET: (("dispatch", "bucket"), ("hash", "command"))}
SHARED_SLOTS = 1 << 17
LOOKUPS_OF_CORE = 500

# Formats and filters under misses.
MISSES = (0.0, 0.25, 0.5, 0.75, 1.0)
FILTER = (("filter", "on"),)
FORMATS = {"paper's format": ("paper", ()), "split, no filter": ("split", ()),
           "split, filter": ("split", FILTER), "inline, filter": ("inline", FILTER)}
MISSES_SLOTS = 1 << 15

# HALO-F13: entries, the share of misses, and bytes of a key as lab/functions/lookup_ways_job.cc has
# them: a NAT's connection; an observer's host, by VLAN, MAC and address; a rule's address, zeroes.
FUNCTIONS = {"nat": ((1_000, 10_000, 100_000), 0.0, 16),
             "assets": ((1_000, 10_000, 100_000), 0.0, 26),
             "filter": ((100, 1_000, 10_000), 0.5, 8)}

SAMPLES = {"full": 40, "quick": 6, "smoke": 1}
FEW_SAMPLES = {"full": 12, "quick": 2, "smoke": 1}
DRAWS = {"full": 12, "quick": 3, "smoke": 1}


def fig9_jobs(size):
    samples, few = SAMPLES[size], FEW_SAMPLES[size]
    for bits in SIZES[size]:
        for variant, switches in READINGS.items():
            yield Point(experiment="fig9", slots=1 << bits, variant=variant, switches=switches,
                        samples=few if bits >= LARGE else samples,
                        has_ends=size == "full" and bits == 17)
    if size != "full":
        return
    for bits in OF_OCCUPANCIES:
        for load in OCCUPANCIES:
            if load != 0.8:
                yield Point(experiment="fig9", slots=1 << bits, load=load, samples=samples)
    for bits in OF_COLD:
        yield Point(experiment="fig9", slots=1 << bits, variant=COLD, is_cold=True,
                    warm_up=10_000, samples=samples)


def fig10_jobs(size):
    for variant, slots in FIG10_SLOTS.items():
        for reading in (AS_WRITTEN, FRIENDLY)[:1 if size == "smoke" else 2]:
            yield Point(experiment="fig10", slots=slots, variant=f"{variant}, {reading}",
                        switches=READINGS[reading], draws=DRAWS[size], costs_off=COSTS_OFF,
                        ways=(simulated.BLOCKING, simulated.RTE_HASH), samples=0,
                        is_cold=variant == IN_DRAM, warm_up=500 if variant == IN_DRAM else 2_000)


def budget_jobs(size):
    for bits in BUDGET_SIZES[size]:
        for variant, switches in list(BUDGET.items())[:1 if size == "smoke" else None]:
            yield Point(experiment="budget", slots=1 << bits, variant=variant, switches=switches,
                        ways=(simulated.BLOCKING, simulated.RTE_HASH), samples=FEW_SAMPLES[size])


def sharing_jobs(size):
    for cores in (1, 2) if size == "smoke" else CORES:
        for variant, switches in DISPATCH.items():
            yield Point(experiment="sharing", slots=SHARED_SLOTS, variant=variant,
                        switches=switches, cores=cores, samples=FEW_SAMPLES[size],
                        warm_up=LOOKUPS_OF_CORE * cores,
                        lookups=max(2_000, LOOKUPS_OF_CORE * cores))


def misses_jobs(size):
    for misses in (0.5,) if size == "smoke" else MISSES:
        for variant, (form, switches) in FORMATS.items():
            yield Point(experiment="misses", slots=MISSES_SLOTS, variant=variant,
                        switches=switches, format=form, misses=misses,
                        samples=FEW_SAMPLES[size])


def fig13_jobs(size):
    for function, (entries, misses, key_bytes) in FUNCTIONS.items():
        for count in entries[:1] if size == "smoke" else entries:
            for variant in (AS_WRITTEN, FRIENDLY)[:1 if size == "smoke" else 2]:
                yield Point(experiment="fig13_accelerator", slots=round(count / 0.8),
                            variant=f"{function}, {variant}", switches=READINGS[variant],
                            misses=misses, key_bytes=key_bytes, samples=FEW_SAMPLES[size])


def jobs(size):
    yield Point(experiment="table2", ways=("machine",))
    for part in (fig9_jobs, fig10_jobs, budget_jobs, sharing_jobs, misses_jobs, fig13_jobs):
        yield from part(size)
