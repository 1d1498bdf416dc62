#!/usr/bin/python3
"""Loads a cell (lab/lb/serve_job.h) by `roost trafficgen`: see harness/under_load.py.

overload: what comes back of an offer far above; then 70 % of that, 150 %, and 70 % again.
floods: assured connections that go on; then the same with SYNs of ten times the table meanwhile,
and with ACKs.
generator: what the generator sends and receives through a wire, `roost forward`.
"""
import contextlib
import json
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from harness.under_load import (  # noqa: E402
    MEMORY_MIB, PATIENCE_SECONDS, UnderLoad, arguments_for, wait_for, write_rows)

SHARES = (0.7, 1.5, 0.7)  # of the capacity
FLOOD_TIMES_TABLE = 10

WAIT_SECONDS = 1  # for the last packets
TRAFFICGEN = """
wait_seconds = {wait_seconds}
[traffic]
flows = {flows}
seconds = {begin_seconds}
flow_seconds = {flow_seconds}
length_law = "{law}"
mean_packets = {packets}
[clients]
port = 0
mac = "02:00:00:00:01:01"
gateway = "02:00:00:00:00:01"
prefixes = ["64.0.0.0/3"]
[backends]
port = {backends_port}
mac = "02:00:00:00:02:0b"
gateway = "02:00:00:00:00:01"
prefixes = ["10.0.0.0/24"]
[[service]]
address = "198.51.100.80"
port = 80
[late]
share_max = 1
microseconds = {late_microseconds}
"""
# The generator's own part: a virtual machine's processors stand still for milliseconds now and
# then, which rings of 16,384 packets bridge.
WIRE = """
[[port]]
[[port]]
[forward]
wire = true
[control]
socket = "{folder}/forward.sock"
"""
WIRE_RING_BITS = 14
WIRE_LATE_MICROSECONDS = 10_000


@dataclass
class Plan:
    """How long and how much."""

    offer: int  # packets a second that no cell takes
    capacity_seconds: int
    step_seconds: tuple
    flows: int  # of the floods, assured
    begin_seconds: int
    flood_from: int
    flood_seconds: int
    seconds: int  # of a run of the floods: they, tcp_syn and a sweep of 5 s end before
    syn_seconds: int  # tcp_syn
    wire_packets: int  # a second that the generator must send and receive


FULL = Plan(3_500_000, 5, (5, 10, 10), 200_000, 5, 10, 10, 32, 5, 3_000_000)
TINY = Plan(20_000, 2, (2, 2, 3), 1_000, 1, 1, 1, 9, 1, 10_000)


class Measurement(UnderLoad):
    def __init__(self, arguments):
        super().__init__(arguments)
        self.plan = TINY if arguments.tiny else FULL

    @contextlib.contextmanager
    def served(self):
        """The cell, and the lines that it says, once a second."""
        said = []
        words = [self.arguments.program, "serve", "--cell", self.arguments.cell,
                 "--connections", str(self.arguments.connections), "--established", "900",
                 "--syn", str(self.plan.syn_seconds), "--closed", "2", "--tick", "1",
                 "--device", self.device("server"), "--core", str(self.arguments.cores[0]),
                 "--memory", str(MEMORY_MIB)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            reader = threading.Thread(
                target=lambda: said.extend(map(json.loads, process.stdout)))
            try:
                if "ready" not in process.stdout.readline():
                    raise RuntimeError(f"the cell does not start: status {process.wait()}")
                reader.start()
                yield said
                process.send_signal(signal.SIGINT)
                if process.wait(timeout=60) != 0:
                    raise RuntimeError(f"the cell ended with status {process.returncode}")
                reader.join()
            finally:
                process.kill()

    @contextlib.contextmanager
    def wired(self):
        """`roost forward` in the place of a cell; the devices of the generator's two ports."""
        def devices(role):
            return [self.device(role, number, WIRE_RING_BITS) for number in (0, 1)]
        config = self.folder / "forward.toml"
        config.write_text(WIRE.format(folder=self.folder), encoding="utf-8")
        words = [self.arguments.roost, "forward", "-c", config, "--",
                 *self.eal(self.arguments.cores[0], "server", devices=devices("server"))]
        with (self.folder / "forward.log").open("w") as log, \
                subprocess.Popen(words, stdout=log, stderr=log) as process:
            try:
                wait_for("roost forward's end of the wire", self.memif_socket(1).exists, process)
                yield devices("client")
                process.send_signal(signal.SIGINT)
                process.wait(timeout=PATIENCE_SECONDS)
            finally:
                process.kill()

    def generated(self, toml, devices=None):
        """A generator's report."""
        config = self.folder / "trafficgen.toml"
        config.write_text(toml, encoding="utf-8")
        words = [self.arguments.roost, "trafficgen", "-c", config, "--json", "--",
                 *self.eal(self.arguments.cores[1], "client", devices=devices)]
        with open(self.folder / "trafficgen.log", "w+", encoding="utf-8") as log:
            result = subprocess.run(words, stdout=subprocess.PIPE, stderr=log, text=True,
                                    check=False)
            if result.returncode not in (0, 5):  # 5: late too often, which the report says
                log.seek(0)
                raise RuntimeError(f"roost trafficgen: {log.read()[-2000:]}")
        return json.loads(result.stdout)

    def note(self, form, metric, value, second=0):
        self.add(metric, value, second, experiment=self.arguments.part,
                 contestant=self.arguments.cell, form=form, workload=self.arguments.part,
                 slots=self.arguments.connections)

    def note_seconds(self, form, report):
        for number, second in enumerate(report["by_second"]):
            for name in ("offered", "returned", "loss"):
                self.note(form, name, second[name], number)
            for name in ("p50", "p99", "max"):
                self.note(form, f"{name}_us", second["latency_microseconds"][name] or 0, number)
        self.note(form, "late", report["total"]["late"] / max(1, report["total"]["offered"]))
        self.note(form, "backend_changed", report["arrivals"]["backend_changed"])

    def steps(self, *steps, backends_port=0, late_microseconds=100):
        rate = max(rate for _, rate in steps)
        seconds = sum(seconds for seconds, _ in steps)
        toml = TRAFFICGEN.format(flows=int(max(1_000, rate * seconds / 15)),
                                 begin_seconds=seconds, flow_seconds=2, law="pareto", packets=20,
                                 backends_port=backends_port, wait_seconds=WAIT_SECONDS,
                                 late_microseconds=late_microseconds)
        return toml + "".join(f"[[step]]\nseconds = {seconds}\npackets_per_second = {rate:.0f}\n"
                              for seconds, rate in steps)

    def overload(self):
        with self.served():
            report = self.generated(self.steps((self.plan.capacity_seconds, self.plan.offer)))
        returned = sorted(second["returned"] for second in report["by_second"][1:])
        capacity = returned[len(returned) // 2]
        self.note("capacity", "capacity", capacity)
        self.note("capacity", "sent_over_returned",
                  report["total"]["sent"] / max(1, report["total"]["returned"]))
        with self.served():
            report = self.generated(self.steps(*(
                (seconds, share * capacity)
                for seconds, share in zip(self.plan.step_seconds, SHARES))))
        self.note_seconds("steps", report)
        for number, seconds in enumerate(self.plan.step_seconds):
            self.note("steps", "step_seconds", seconds, number)

    def floods(self):
        plan = self.plan
        table = self.arguments.connections
        toml = TRAFFICGEN.format(flows=plan.flows, begin_seconds=plan.begin_seconds,
                                 flow_seconds=400, law="fixed", packets=400, backends_port=0,
                                 wait_seconds=WAIT_SECONDS, late_microseconds=100)
        toml += f"[[step]]\nseconds = {plan.seconds}\n"
        for number, kind in enumerate(("none", "syn", "ack")):
            print(f"progress {number / 3:.2f} {kind}", file=sys.stderr, flush=True)
            flood = "" if kind == "none" else (
                f'[flood]\nkind = "{kind}"\nfrom = {plan.flood_from}\n'
                f"to = {plan.flood_from + plan.flood_seconds}\n"
                f"packets_per_second = {FLOOD_TIMES_TABLE * table / plan.flood_seconds}\n")
            with self.served() as said:
                report = self.generated(toml + flood)
            self.note_seconds(kind, report)
            # The generator begins a little later than the cell: seconds count from its end.
            seconds = [line for line in said if "held" in line]
            for number, line in enumerate(seconds):
                self.note(kind, "held", line["held"], number - len(seconds))
            for name in ("created", "ended", "expired", "evicted", "dropped"):
                self.note(kind, name, said[-1][name])

    def generator(self):
        """First a second at a tenth of the rate, in which memory is taken and caches fill."""
        def report_at(rate):
            toml = self.steps((1, rate / 10), (self.plan.capacity_seconds, rate), backends_port=1,
                              late_microseconds=WIRE_LATE_MICROSECONDS)
            with self.wired() as devices:
                return self.generated(toml, devices)
        step = report_at(self.plan.wire_packets)["steps"][1]
        for name in ("offered", "returned", "loss", "late"):
            self.note("rate", name, step[name])
        for name in ("p50", "p99", "max"):
            self.note("rate", f"{name}_us", step["latency_microseconds"][name])
        # What is due too fast comes back later than that: what counts is how long all of it takes.
        report = report_at(2 * self.plan.wire_packets)
        self.note("capacity", "capacity",
                  report["steps"][1]["returned"] / (report["seconds"] - 1 - WAIT_SECONDS))


def main():
    parser = arguments_for(__doc__)
    parser.add_argument("part", choices=("overload", "floods", "generator"))
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--cell", required=True)
    parser.add_argument("--connections", type=int, required=True)
    parser.add_argument("--tiny", action="store_true")
    arguments = parser.parse_args()
    write_rows(arguments, f"{arguments.part}, {arguments.cell}", Measurement,
               lambda measurement: getattr(measurement, arguments.part)())


if __name__ == "__main__":
    main()
