#!/usr/bin/python3
"""Random rules and packets through Open vSwitch's userspace datapath, `roost classify` and a model.

    tests/ovs/run.py [--sets 10] [--packets 20000] [--seed 1] [--roost build/release/apps/roost]

Exit status 0 when all agree. The report is build/ovs/report.md.
"""

import argparse
import pathlib
import random
import signal
import sys
import tempfile
import time

from comparison import Comparison
from fields import Values
from packets import Packets
from planted import check_planted
from rule_model import Model
from rules import RuleSet
from switches import Ovs, run_roost

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Rules and tables of a set; the first ones are those of a short run.
SETS = ((500, 1), (400, 4), (1, 1), (20, 2), (100, 1), (100, 8), (1_000, 1), (1_000, 3), (2_000, 1),
        (2_000, 6))


def compare(seed, options, directory):
    rules, tables = SETS[(seed - 1) % len(SETS)]
    draw = random.Random(seed)
    values = Values(draw)
    rule_set = RuleSet(draw, values, rules, tables)
    packets = Packets(draw, values).draw(options.packets)
    comparison = Comparison(rule_set, packets, Model(rule_set))
    ovs = Ovs(directory).run(rule_set, packets)
    comparison.check_ovs(ovs)
    if seed == options.seed and not comparison.differences:
        check_planted(comparison, ovs)
    if not options.alone:
        ours = run_roost(options.roost.resolve(), rule_set, packets, directory)
        comparison.check_ours(ours, ovs)
    return comparison


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=len(SETS))
    parser.add_argument("--packets", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--roost", type=pathlib.Path, default=ROOT / "build/release/apps/roost")
    parser.add_argument("--alone", action="store_true", help="Open vSwitch and the model only")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ovs: terminated"))
    report, differences = [], 0
    for number in range(options.sets):
        seed = options.seed + number
        with tempfile.TemporaryDirectory(prefix="roost-ovs-") as name:
            began = time.monotonic()
            comparison = compare(seed, options, pathlib.Path(name))
        told = f"## Seed {seed}\n{comparison.report()}"
        print(f"{told}\n({time.monotonic() - began:.1f} s)", flush=True)
        report.append(told)
        differences += len(comparison.differences)
    out = ROOT / "build/ovs/report.md"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("# Open vSwitch and roost classify\n\n" + "\n\n".join(report) + "\n")
    print(f"ovs: {options.sets} rule sets, {options.sets * options.packets} packets, "
          f"{differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
