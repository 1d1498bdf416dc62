#!/usr/bin/python3
"""An advice for a profile, timed by `roost advise --measure`; then `roost lb` with the
configuration that it gives, under `roost trafficgen`: see harness/under_load.py.
"""
import json
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from advise.jobs import (  # noqa: E402
    ALL_PROFILES, MEASURED_SECONDS, ROUNDS, TINY, warm_up_seconds)
from harness.under_load import (  # noqa: E402
    PATIENCE_SECONDS, UnderLoad, arguments_for, wait_for, write_rows)

TINY_SECONDS = 2  # of warming up, and of measuring
BURST_PACKETS = 400  # that come together: fewer than a ring holds, many more than a batch
LB_MAC, PEER_MAC = "02:00:00:00:00:01", "02:00:00:00:00:02"
PREFIXES = {"ipv4": ("64.0.0.0/3", "10.0.0.0/24"), "ipv6": ("2600::/16", "2001:db8:2::/64")}
SERVICES = {"ipv4": "198.51.100.80", "ipv6": "2001:db8:3::80"}  # those that an advice has
FRAME_BYTES = {"ipv4": 64, "ipv6": 84}
# Connections end as those of `--measure` do.
TRAFFICGEN = """
[traffic]
flows = {flows}
seconds = {seconds}
flow_seconds = {flow_seconds}
length_law = "fixed"
mean_packets = {packets}
frame_bytes = {frame_bytes}
answers = {answers}
fin = 0
rst = 1
[clients]
port = 0
mac = "{peer}"
gateway = "{lb}"
prefixes = ["{clients}"]
[backends]
port = 0
mac = "{peer}"
gateway = "{lb}"
prefixes = ["{backends}"]
[[service]]
address = "{service}"
port = 80
[[step]]
seconds = {seconds}
burst_microseconds = {burst_microseconds}
[late]
share_max = 1
"""


class Measurement(UnderLoad):
    def __init__(self, arguments):
        super().__init__(arguments)
        self.profile = ALL_PROFILES[arguments.profile]
        self.is_tiny = arguments.profile == TINY
        self.seconds = TINY_SECONDS if self.is_tiny else MEASURED_SECONDS
        self.warm_up = TINY_SECONDS if self.is_tiny else warm_up_seconds(self.profile)
        self.socket = self.folder / "lb.sock"

    def note(self, metric, value, number=0):
        self.add(metric, value, number, experiment="profiles", contestant=self.arguments.profile,
                 form=self.profile.mode, workload="profiles", slots=self.profile.connections)

    def tell(self, share, what):
        print(f"progress {share:.2f} {what}", file=sys.stderr, flush=True)

    def advice(self):
        """Measured on the core that the balancer gets."""
        profile = self.profile
        words = ["taskset", "-c", str(self.arguments.cores[0]), self.arguments.roost, "advise",
                 "--connections", str(profile.connections), "--new", str(profile.new),
                 "--packets", str(profile.packets), "--family", profile.family,
                 "--mode", profile.mode, "--measure", "--json"]
        result = subprocess.run(words, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise RuntimeError(f"roost advise: {result.stderr[-2000:]}")
        advice = json.loads(result.stdout)
        if advice["measured"]["lost"] != 0:
            raise RuntimeError(f"roost advise lost packets: {advice['measured']}")
        self.note("advised_bytes", advice["bytes"])
        self.note("advised_held", advice["held"])
        self.note("advised_ns", advice["measured"]["datapath_ns"])
        if advice["packet"] is not None:
            self.note("recorded_ns", advice["packet"]["datapath_ns"])
        return advice

    def configuration(self, advice):
        """The advice's own, with the generator as everybody's neighbour, and a socket to ask."""
        head, ports = advice["toml"].split("\n[[port]]")
        ports = ports.replace(
            "\naddresses = ", f'\nmac = "{LB_MAC}"\ndefault_neighbour_mac = "{PEER_MAC}"\n'
            "addresses = ", 1)
        if self.profile.mode == "l2dsr":  # which takes no station by a default
            ports += "".join(f'\n[[neighbour]]\naddress = "{address}"\nmac = "{PEER_MAC}"\n'
                             for address in backends_of(self.profile.family))
        file = self.folder / "lb.toml"
        file.write_text(f'{head}\n[control]\nsocket = "{self.socket}"\n\n[[port]]{ports}',
                        encoding="utf-8")
        return file

    def sample(self):
        """What the balancer has counted so far; nothing while it does not answer."""
        words = [self.arguments.roost, "ctl", "--socket", self.socket, "--json", "stats"]
        result = subprocess.run(words, capture_output=True, text=True, check=False)
        return json.loads(result.stdout) if result.returncode == 0 else None

    def program(self, words, core, role):
        """One of the two, begun."""
        eal = self.eal(core, role, has_huge_pages=not self.is_tiny)
        with (self.folder / f"{words[0]}.log").open("w") as log:
            return subprocess.Popen([self.arguments.roost, *words, "--json", "--", *eal],
                                    stdout=subprocess.PIPE, stderr=log, text=True)

    def generator(self):
        profile = self.profile
        clients, backends = PREFIXES[profile.family]
        seconds = int(self.warm_up + self.seconds + 3)
        config = self.folder / "trafficgen.toml"
        config.write_text(TRAFFICGEN.format(
            flows=profile.new * seconds, seconds=seconds,
            flow_seconds=profile.connections / profile.new,
            packets=profile.packets / profile.new, frame_bytes=FRAME_BYTES[profile.family],
            answers=str(profile.mode in ("nat", "fullnat")).lower(), peer=PEER_MAC, lb=LB_MAC,
            clients=clients, backends=backends, service=SERVICES[profile.family],
            burst_microseconds=BURST_PACKETS / profile.packets * 1e6), encoding="utf-8")
        return self.program(["trafficgen", "-c", config], self.arguments.cores[1], "client")

    def samples(self, generator):
        """Those that follow one another, from when the table holds what it will hold."""
        wait_for("the generator's first packet",
                 lambda: self.sample()["packets"]["received"], generator)
        time.sleep(self.warm_up)
        found = [self.sample()]
        for number in range(ROUNDS):
            time.sleep(self.seconds / ROUNDS)
            found.append(self.sample())
            self.tell(0.8 + 0.2 * number / ROUNDS, "measuring")
        if None in found:
            raise RuntimeError("roost lb does not answer any more")
        return found

    def run(self):
        self.tell(0, "roost advise --measure")
        advice = self.advice()
        config = self.configuration(advice)
        self.tell(0.3, "warming up")
        with self.program(["lb", "-c", config], self.arguments.cores[0], "server") as balancer:
            try:
                wait_for("roost lb's answer", self.sample, balancer)
                with self.generator() as generator:
                    try:
                        samples = self.samples(generator)
                        generated = json.loads(generator.communicate(timeout=PATIENCE_SECONDS)[0])
                    finally:
                        generator.kill()
                balancer.send_signal(signal.SIGINT)
                report = json.loads(balancer.communicate(timeout=PATIENCE_SECONDS)[0])
            finally:
                balancer.kill()
        if balancer.returncode != 0 or generator.returncode != 0:
            raise RuntimeError(f"roost lb: status {balancer.returncode}, {report['broken']}; "
                               f"roost trafficgen: status {generator.returncode}")
        self.note_all(samples, generated["total"], report)

    def note_all(self, samples, total, report):
        self.note("bytes", report["tables"]["bytes"])
        self.note("held", statistics.median(sample["flows"]["live"] for sample in samples))
        self.note("evicted", report["flows"]["evicted"])
        self.note("loss", 1 - total["returned"] / max(1, total["offered"]))
        hertz = report["run"]["cycles_per_second"]
        for number, (before, after) in enumerate(zip(samples, samples[1:])):
            packets = after["packets"]["received"] - before["packets"]["received"]
            if packets == 0:
                raise RuntimeError("no packet came: the generator ended too early")
            first, last = before["run"], after["run"]
            cycles = sum(last["cycles"][stage] - first["cycles"][stage]
                         for stage in ("process", "upkeep"))
            self.note("ns", cycles / packets / hertz * 1e9, number)
            self.note("batch", packets / (last["batches"] - first["batches"]), number)


def backends_of(family):
    return [f"10.0.0.{11 + n}" if family == "ipv4" else f"2001:db8:2::{11 + n:x}" for n in range(2)]


def main():
    parser = arguments_for(__doc__)
    parser.add_argument("--profile", choices=ALL_PROFILES, required=True)
    arguments = parser.parse_args()
    write_rows(arguments, arguments.profile, Measurement, Measurement.run)


if __name__ == "__main__":
    main()
