#!/usr/bin/python3
"""What the accelerator takes as a circuit: cells, flip-flops and transistors by module, square
micrometres and the longest path in the 0.18 um cells of qflow-tech-osu018.

    rtl/synthesize.py                  all of it, for keys of 16 and 40 bytes: a quarter of an hour
    rtl/synthesize.py --write          the same, into rtl/README.md
    rtl/synthesize.py --top MODULE     one module with its parameters as they are

yosys maps it twice: to plain gates, whose transistors it counts, and to the library's cells.
"""

import argparse
import collections
import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile

RTL = pathlib.Path(__file__).resolve().parent
LIBRARY = pathlib.Path("/usr/share/qflow/tech/osu018/osu018_stdcells.lib")
FETCHED = RTL.parent / "build/osu018" / LIBRARY.relative_to("/")
TOP = "halo_accelerator"
# A CRC of its hash unit, and options that it does not have.
BESIDE = ("halo_crc32c", "halo_keyed_hash", "halo_bucket_scale")
SLICE_TRANSISTORS = 6 * 8 * (2 << 20)  # of the cells of 2 MB of cache, without anything about them
TIMED = "timed"  # the whole netlist's name
MARKS = "<!-- sizes: rtl/synthesize.py --write -->\n", "<!-- end of sizes -->\n"


@dataclasses.dataclass
class Size:
    """Of a module without those in it, or of several."""

    cells: int = 0
    flip_flops: int = 0
    transistors: int = 0
    square_um: float = 0.0

    def add(self, other, times=1):
        for field in dataclasses.fields(self):
            setattr(self, field.name,
                    getattr(self, field.name) + times * getattr(other, field.name))


def library():
    for path in (LIBRARY, FETCHED):
        if path.exists():
            return path
    sys.exit(f"{LIBRARY} is not there: `./dev setup lab` fetches the cells of qflow-tech-osu018")


def run(command, log):
    with log.open("w") as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed:\n{log.read_text()[-2000:]}")
    return log.read_text()


def mapped(top, parameters, cells, folder):
    """Both mappings; what yosys says of each module's cells."""
    sources = " ".join(str(path) for path in sorted(RTL.glob("*.sv"))
                       if "properties" not in path.name)
    chosen = "".join(f"chparam -set {name} {value} {top}; " for name, value in parameters.items())
    # Without the passes of `synth` that look for enables: the library has no such flip-flop, and
    # they take an hour.
    common = (f"read_verilog -sv {sources}; {chosen}hierarchy -check -top {top}; proc; opt_expr; "
              "opt_clean; opt_expr -mux_undef; opt_merge; wreduce; peepopt; opt_clean; alumacc; "
              "share; opt_expr; opt_clean; techmap; opt_expr; opt_merge; opt_clean; "
              "dfflegalize -cell $_DFF_P_ x; opt_expr; opt_merge; opt_clean; ")
    run(["yosys", "-q", "-p", f"{common} write_rtlil {folder}/mapped.il"], folder / "common.log")
    gates = run(["yosys", "-p", f"read_rtlil {folder}/mapped.il; abc -g cmos; opt_clean; "
                 "stat -tech cmos; flatten; opt_clean; stat -tech cmos"], folder / "gates.log")
    netlist = folder / "netlist.v"
    # As quick as can be: with buffers where one cell drives many, and larger cells.
    constraints = folder / "constraints"
    constraints.write_text("set_driving_cell INVX1\nset_load 0.05\n")
    area = run(["yosys", "-p", f"read_rtlil {folder}/mapped.il; dfflibmap -liberty {cells}; "
                f"abc -liberty {cells} -constr {constraints} -D 1000; opt_clean; "
                f"stat -liberty {cells}; flatten; rename -top {TIMED}; splitnets -ports; "
                f"opt_clean -purge; write_verilog -noattr -noexpr {netlist}"], folder / "area.log")
    by_module, whole = gates.split("Printing statistics.")[-2:]
    if not re.search(r"number of transistors: +\d+$", whole, re.MULTILINE):
        sys.exit(f"yosys does not know the transistors of all cells:\n{whole}")
    return modules(by_module), modules(area.rpartition("Printing statistics.")[2]), netlist


def modules(said):
    """By name, the cells by kind, their transistors and their area."""
    found = {}
    for name, text in re.findall(r"^=== (.+?) ===$(.*?)(?=^=== |\Z)", said,
                                 re.MULTILINE | re.DOTALL):
        if name == "design hierarchy":
            continue
        kinds = {kind: int(count) for kind, count in
                 re.findall(r"^     (\S+) +(\d+)$", text, re.MULTILINE)}
        transistors = re.search(r"number of transistors: +(\d+)", text)
        area = re.search(r"Chip area for module .*: ([\d.]+)", text)
        found[name.lstrip("\\")] = (kinds, int(transistors[1]) if transistors else 0,
                                    float(area[1]) if area else 0.0)
    return found


def plain_name(name):
    return re.search(r"halo_\w+", name)[0]


def instances(found, name, times=1, counts=None):
    """How often each module is there, in all places together."""
    counts = collections.Counter() if counts is None else counts
    counts[name] += times
    for kind, count in found[name][0].items():
        if kind.lstrip("\\") in found:
            instances(found, kind.lstrip("\\"), times * count, counts)
    return counts


def sizes(top, parameters, folder):
    """By module, and the whole's longest path."""
    cells = library()
    gates, area, netlist = mapped(top, parameters, cells, folder)
    found = collections.defaultdict(Size)
    for stated in (gates, area):
        name = next(one for one in stated if plain_name(one) == top)
        for module, times in instances(stated, name).items():
            kinds, transistors, square_um = stated[module]
            own = Size(square_um=square_um)
            if stated is gates:
                own = Size(cells=sum(count for kind, count in kinds.items()
                                     if kind.lstrip("\\") not in stated),
                           flip_flops=kinds.get("$_DFF_P_", 0), transistors=transistors)
            found[plain_name(module)].add(own, times)
    return found, longest_path(cells, netlist, folder)


def longest_path(cells, netlist, folder):
    """Nanoseconds between flip-flops or ports, whichever is longest."""
    script = folder / "timing.tcl"
    script.write_text(f"""read_liberty {cells}
read_verilog {netlist}
link_design {TIMED}
create_clock -name clk -period 1 {"[get_ports clk]" if "input clk;" in netlist.read_text() else ""}
set_input_delay 0 -clock clk [all_inputs]
set_output_delay 0 -clock clk [all_outputs]
report_checks -path_delay max -digits 3
exit
""")
    said = run(["sta", "-no_splash", "-exit", str(script)], folder / "timing.log")
    arrival = re.search(r"([\d.]+) +data arrival time", said)
    if not arrival:
        sys.exit(f"OpenSTA found no path:\n{said[-2000:]}")
    return float(arrival[1])


def table_of(found):
    """Largest first, with their sum, as text."""
    whole = Size()
    for size in found.values():
        whole.add(size)
    lines = ["| module | cells | flip-flops | transistors | um2 |", "|---|---|---|---|---|"]
    for name, size in [*sorted(found.items(), key=lambda item: -item[1].transistors),
                       ("*all*", whole)]:
        label = name if name == "*all*" else f"`{name}`"
        lines.append(f"| {label} | {size.cells:,} | {size.flip_flops:,} | {size.transistors:,} | "
                     f"{size.square_um:,.0f} |")
    return "\n".join(lines), whole


def said_of(top, parameters):
    with tempfile.TemporaryDirectory(prefix="roost-rtl-") as folder:
        found, nanoseconds = sizes(top, parameters, pathlib.Path(folder))
    table, whole = table_of(found)
    share = whole.transistors / SLICE_TRANSISTORS
    chosen = ", ".join(f"`{name}` {value}" for name, value in parameters.items())
    chosen = f", {chosen}" if chosen else ""
    return (f"`{top}`{chosen}: {share:.2%} of the transistors of the cells of 2 MB of cache, six a "
            f"bit; longest path {nanoseconds:.1f} ns.\n\n{table}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--top", help="one module, with its parameters as they are")
    parser.add_argument("--write", action="store_true", help="into rtl/README.md")
    arguments = parser.parse_args()
    wanted = ([(arguments.top, {})] if arguments.top else
              [*((TOP, {"KEY_BYTES": size}) for size in (16, 40)), *((top, {}) for top in BESIDE)])
    parts = []
    for top, parameters in wanted:
        parts.append(said_of(top, parameters))
        print(parts[-1], flush=True)
    if arguments.write:
        readme = RTL / "README.md"
        before, _, rest = readme.read_text().partition(MARKS[0])
        after = rest.partition(MARKS[1])[2]
        readme.write_text(before + MARKS[0] + "\n".join(parts) + MARKS[1] + after)


if __name__ == "__main__":
    main()
