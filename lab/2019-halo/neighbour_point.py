#!/usr/bin/python3
"""A neighbour of HALO's figure 12 beside lookups in tables of several sizes, as rows of a record:
its trace is written (neighbour_trace.py), and `roost-halo run --neighbour` replays it.
Called as the measuring programs are.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from harness.rows_file import write_rows_file  # noqa: E402
from neighbour_trace import write_trace  # noqa: E402

OF_INTERVAL = {"": "middle", "_least": "least", "_greatest": "greatest"}


class Neighbour:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, Path(folder)
        self.trace = self.folder / "neighbour.trace"
        self.rows = []

    def add(self, flows, contestant, metric, value, note=""):
        self.rows.append({"experiment": "fig12", "kind": "simulated", "contestant": contestant,
                          "form": "", "workload": self.arguments.neighbour, "slots": flows,
                          "entries": flows, "key_bytes": 16, "core_count": 1, "round": 0,
                          "metric": metric, "value": f"{value:.8g}", "note": note})

    def add_interval(self, flows, contestant, metric, interval, note=""):
        for suffix, end in OF_INTERVAL.items():
            self.add(flows, contestant, metric + suffix, interval[end],
                     note="" if suffix else note)

    def simulate(self, flows):
        words = [self.arguments.roost_halo, "run", "--build", flows, "--neighbour", self.trace,
                 "--ways", self.arguments.ways, "--samples", self.arguments.samples, "--warm-up",
                 0, "--lookups", 1, "--ladder", 0, "--json",
                 *(["--no-ends"] if self.arguments.no_ends else [])]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr}")
        return json.loads(done.stdout)

    def add_report(self, flows, said, cut):
        neighbour = said["neighbour"]
        alone = neighbour["alone"]
        self.add(flows, "alone", "instructions_a_cycle", alone["instructions_a_cycle"], note=cut)
        self.add_interval(flows, "alone", "l1d_miss_share", alone["l1d_miss_share"])
        for one in neighbour["beside"]:
            movers = "; ".join(f"{by['parameter']} from {by['low']} to {by['high']}: "
                               f"{by['loss_at_low']:.1%} to {by['loss_at_high']:.1%}"
                               for by in one["decided_by"])
            self.add_interval(flows, one["name"], "loss", one["loss"], note=movers)
            self.add_interval(flows, one["name"], "l1d_miss_share", one["l1d_miss_share"])
            for metric in ("instructions_a_cycle", "lookups_per_second"):
                self.add(flows, one["name"], metric, one["middle"][metric])
        self.add(flows, "", "machines", said["machine"]["machines"])

    def run(self):
        print(f"progress 0.0 trace of {self.arguments.neighbour}", file=sys.stderr, flush=True)
        cut = write_trace(self.arguments.neighbour, self.arguments.programs,
                          self.arguments.instructions, self.trace, self.folder,
                          self.arguments.of_start)
        for place, flows in enumerate(self.arguments.flows):
            share = 0.2 + 0.8 * place / len(self.arguments.flows)
            print(f"progress {share:.2f} {flows} flows", file=sys.stderr, flush=True)
            self.add_report(flows, self.simulate(flows), cut)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--roost-halo", required=True)
    parser.add_argument("--programs", required=True, help="folder of the lab's programs")
    parser.add_argument("--neighbour", required=True)
    parser.add_argument("--instructions", type=int, required=True)
    parser.add_argument("--of-start", action="store_true", help="not of the program's work")
    parser.add_argument("--flows", type=int, nargs="+", required=True)
    parser.add_argument("--ways", required=True)
    parser.add_argument("--samples", type=int, required=True)
    parser.add_argument("--no-ends", action="store_true")
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument("--core", type=int, help="nothing is timed: all cores do")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="roost-lab-") as folder:
        neighbour = Neighbour(arguments, folder)
        try:
            neighbour.run()
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            sys.exit(str(error))
    write_rows_file(arguments.csv, neighbour.rows)


if __name__ == "__main__":
    main()
