"""This machine in the words of HALO's simulator: the numbers that were found here, each with how,
and sim/machine.toml's middle for the rest (docs/decisions/0060)."""
import tomllib
from pathlib import Path

from harness.beside import beside

machine_file = beside(__file__, "machine_file")

HEAD = """\
# This machine as HALO's simulator sees it: lab/2019-halo/host.py, which says how.

"""
CACHES = Path("/sys/devices/system/cpu")
DEFAULT = Path(__file__).resolve().parents[2] / "sim" / "machine.toml"
LINE = 64
WAYS_MAX = 32
FILTER_OF_L2 = 1.5  # lines of Skylake-SP's snoop filter for each of its L2's
DRAM_NANOSECONDS = ("activate_cycles", "read_cycles", "precharge_cycles", "burst_cycles")
SEEN = "seen from one core: one slice that is the whole last-level cache"
IN_SUM = "in mesh.request_cycles and mesh.fill_cycles, because a chase tells only the sum"
# Chases, by bytes in shares of a cache, and the number that each finds, if it does.
CHASES = (("l1d", 1, 2, "l1d.hit_cycles"), ("l1d", 2, 1, ""), ("l2", 1, 2, "l2.hit_cycles"),
          ("l2", 2, 1, ""), ("l2", 4, 1, "mesh.request_cycles"), ("llc", 1, 4, "llc.slice_bytes"),
          ("llc", 1, 2, "llc.slice_bytes"), ("llc", 2, 1, ""),
          ("llc", 8, 1, "dram.controller_cycles"))


def read_caches(core):
    """By level, (bytes, ways) as Linux has them of a core's data caches."""
    found = {}
    for index in (CACHES / f"cpu{core}" / "cache").glob("index*"):
        level, kind, size, ways = ((index / name).read_text(encoding="ascii").strip() for name in
                                   ("level", "type", "size", "ways_of_associativity"))
        if kind != "Instruction":
            found[("l1d", "l2", "llc")[int(level) - 1]] = (int(size.removesuffix("K")) << 10,
                                                           int(ways))
    if len(found) != 3:
        raise RuntimeError("this machine does not have three levels of caches, or does not say so")
    return found


def chases(caches):
    """[(bytes, number that it finds or "")]."""
    return [(caches[name][0] * times // parts // LINE * LINE, finds)
            for name, times, parts, finds in CHASES]


def geometry(size, ways):
    """(bytes, ways) that the simulator takes: sets are a power of two, so the ways of a cache whose
    sets are none become more, with about as many bytes."""
    sets = 1 << (size // LINE // ways).bit_length() - 1
    ways = min(WAYS_MAX, max(1, round(size / LINE / sets)))
    return sets * ways * LINE, ways


def found_without_chases(caches, nanoseconds_of_add):
    """{number: (value, how)}, with nothing yet between L2 and memory."""
    megahertz = round(1000 / nanoseconds_of_add)
    found = {"clock.megahertz": (megahertz, "measured: a chain of additions takes "
                                            f"{nanoseconds_of_add:.4f} ns each")}
    for name, size_name in (("l1d", "bytes"), ("l2", "bytes"), ("llc", "slice_bytes")):
        size, ways = geometry(*caches[name])
        how = f"Linux: {caches[name][0]} bytes in {caches[name][1]} ways"
        found |= {f"{name}.{size_name}": (size, how), f"{name}.ways": (ways, how)}
    default = tomllib.loads(DEFAULT.read_text(encoding="utf-8"))
    sets = caches["l2"][0] / LINE * FILTER_OF_L2 / default["snoop_filter"]["ways"]["middle"]
    found["snoop_filter.sets"] = (1 << max(4, round(sets) - 1).bit_length(),
                                  "as many lines for one of L2 as Skylake-SP has")
    found |= {name: (1, SEEN) for name in ("mesh.columns", "mesh.rows")}
    found["mesh.hop_cycles"] = (0, SEEN)
    found |= {name: (0, IN_SUM) for name in ("llc.tag_cycles", "llc.data_cycles",
                                             "mesh.request_cycles", "mesh.fill_cycles")}
    found["dram.controller_cycles"] = (0, "")
    clock = default["clock"]["megahertz"]["middle"]
    for name in DRAM_NANOSECONDS:
        cycles = round(default["dram"][name]["middle"] * megahertz / clock)
        found[f"dram.{name}"] = (cycles, "sim/machine.toml's middle in nanoseconds, at this clock")
    return found


def llc_bytes(caches, cycles):
    """(bytes, how): what of the last-level cache is ours. On a virtual machine others have a part
    that nobody says. Chases of a quarter and of half of it fit if they take less than the middle
    between that cache and memory."""
    size, ways = caches["llc"]
    plateau, memory = (next(value for (_, one), value in cycles.items() if one == name)
                       for name in ("mesh.request_cycles", "dram.controller_cycles"))
    fits = [bytes_of for (bytes_of, finds), value in cycles.items()
            if finds == "llc.slice_bytes" and value <= (plateau + memory) / 2]
    if size // 2 in fits:
        return geometry(size, ways)[0], f"Linux: {size} bytes in {ways} ways"
    ours = size // 4 if size // 4 in fits else min(4 * caches["l2"][0], size)
    steps = ", ".join(f"{bytes_of >> 20} MiB: {value:.1f} cycles"
                      for (bytes_of, finds), value in cycles.items() if finds == "llc.slice_bytes")
    return (geometry(ours, ways)[0],
            f"measured: of Linux's {size} bytes a chase of half does not fit ({steps} a step)")


def found_by_chases(found, caches, cycles, simulate):
    """`cycles` by chases that find numbers, (bytes, number); simulate({number: (value, how)},
    bytes) says how many cycles that chase takes on a machine."""
    found = dict(found)
    places = {name: size for size, name in cycles}

    def step(name):
        return cycles[places[name], name]

    def how(name):
        return f"measured: {step(name):.1f} cycles a step of a chase"

    for name in ("l1d.hit_cycles", "l2.hit_cycles"):
        found[name] = (max(1, round(step(name))), how(name))
    found["llc.slice_bytes"] = llc_bytes(caches, cycles)
    missing = step("mesh.request_cycles") - simulate(found, places["mesh.request_cycles"])
    between = max(0, round(missing))
    found["mesh.request_cycles"] = (between // 2, f"{how('mesh.request_cycles')}; half of what "
                                                  "it takes beyond L2")
    found["mesh.fill_cycles"] = (between - between // 2, "the other half")
    missing = step("dram.controller_cycles") - simulate(found, places["dram.controller_cycles"])
    found["dram.controller_cycles"] = (max(0, round(missing)),
                                       f"{how('dram.controller_cycles')}; what is left of it")
    return found


def machine_text(found):
    """The machine file: what was found, and the default's middle."""
    machine = tomllib.loads(DEFAULT.read_text(encoding="utf-8"))
    for table, numbers in machine.items():
        for name, number in numbers.items() if table != "switches" else ():
            value, source = found.get(f"{table}.{name}",
                                      (number["middle"], "sim/machine.toml's middle"))
            number |= dict.fromkeys(machine_file.ENDS, value) | {"source": source}
    return HEAD + machine_file.written(machine)
