#!/usr/bin/python3
"""One case of classification: Open vSwitch's userspace datapath, `roost classify`, and DPDK's
testpmd that only moves packets, in turns on the same core, capture and devices. One of them runs at
a time. They are called as the measuring program in C++ is: see harness/under_load.py.
"""
import json
import re
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent), str(HERE), str(HERE.parents[1] / "tests" / "live")]

import cases  # noqa: E402
from harness.under_load import UnderLoad, arguments_for, write_rows  # noqa: E402
from jobs import MEASURED_SECONDS, OVS  # noqa: E402
from open_vswitch import OpenVswitch  # noqa: E402

PATIENCE_SECONDS = 120
TINY_ROUNDS = 1
TINY_SECONDS = 0.5
MEMORY_MIB = 768
BUFFERS_MIN = 4_096  # of two ports each; the capture takes one for each of its packets
SINK = "net_null1,size=64,no-rx=1"
OVS_CACHES = {"off": ("other_config:emc-insert-inv-prob=0",),
              "emc": ("other_config:emc-insert-inv-prob=1",),
              "smc": ("other_config:emc-insert-inv-prob=0", "other_config:smc-enable=true")}
CONFIG = """[classify]
flows = "flows.txt"
exact_match_cache = "{cache}"
buffers = {buffers}
[[port]]
[[port]]
[control]
socket = "{folder}/classify.sock"
"""


def count_of(name, told):
    found = re.search(re.escape(name) + r": ([\d.]+)", told)
    return float(found[1]) if found else 0.0


def wait_until(what, ask):
    end = time.monotonic() + PATIENCE_SECONDS
    while not (found := ask()):
        if time.monotonic() > end:
            raise RuntimeError(f"{what} does not come")
        time.sleep(0.2)
    return found


class Measurement(UnderLoad):
    def __init__(self, arguments):
        super().__init__(arguments)
        self.case = cases.ALL_CASES[arguments.case]
        self.is_tiny = arguments.case == cases.TINY
        self.seconds = TINY_SECONDS if self.is_tiny else MEASURED_SECONDS
        self.capture = self.folder / "packets.pcap"
        self.flows = self.folder / "flows.txt"
        self.hertz = None  # of the time stamp counter, as runs of ours say it
        self.raw_rates = []
        self.source = f"net_pcap0,rx_pcap={self.capture},infinite_rx=1,tx_pcap=/dev/null"

    def note(self, contestant, metric, value, number):
        self.add(metric, value, number, experiment=self.case.part, contestant=contestant,
                 form="",
                 workload=self.arguments.case, slots=self.case.flows,
                 note="synthetic packets from memory, net_pcap to net_null")

    def memory(self):
        return ["--no-huge"] if self.is_tiny else ["--in-memory"]

    def run(self):
        cases.write_capture(self.case, self.capture)
        self.flows.write_text("\n".join(cases.rules(self.case)) + "\n", encoding="utf-8")
        rounds = TINY_ROUNDS if self.is_tiny else self.case.rounds
        turns = [("raw", self.raw), ("roost", self.roost),
                 *((f"ovs_{cache}", lambda number, cache=cache: self.ovs(cache, number))
                   for cache in self.case.caches)]
        for number in range(rounds):
            first = number % len(turns)
            for place, (name, measure) in enumerate(turns[first:] + turns[:first]):
                share = (number + place / len(turns)) / rounds
                print(f"progress {share:.2f} {name}", file=sys.stderr, flush=True)
                for metric, value in measure(number).items():
                    self.note(name, metric, value, number)
        for number, rate in enumerate(self.raw_rates):
            self.note("raw", "cycles", self.hertz / rate, number)

    def eal(self):
        return ["--no-pci", "--no-telemetry", *self.memory(), "-m", str(MEMORY_MIB),
                f"--lcores=0@{self.arguments.cores[0]}"]

    def roost(self, _number):
        config = self.folder / "classify.toml"
        config.write_text(CONFIG.format(cache=self.case.own_cache, folder=self.folder,
                                        buffers=max(BUFFERS_MIN, self.case.flows)),
                          encoding="utf-8")
        words = [self.arguments.roost, "classify", "-c", config, "--json", "--", *self.eal(),
                 f"--vdev={self.source}", f"--vdev={SINK}"]
        with (self.folder / "classify.log").open("w") as log:
            running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            wait_until("roost classify's answer", self.stats)
            wait_until("an end of searches", lambda: self.searches() == 0)
            before = self.stats()
            time.sleep(self.seconds)
            after = self.stats()
            running.send_signal(signal.SIGTERM)
            report = json.loads(running.communicate(timeout=PATIENCE_SECONDS)[0])
        finally:
            running.kill()
        if report["broken"]:
            raise RuntimeError(f"roost classify: {report['broken']}")
        packets = after["packets"]["received"] - before["packets"]["received"]
        spent = sum(after["run"]["cycles"].values()) - sum(before["run"]["cycles"].values())
        counts = {name: after["classifiers"][name] - before["classifiers"][name]
                  for name in after["classifiers"]}
        if counts["unmatched"]:
            raise RuntimeError(f"roost classify: packets without a rule: {counts}")
        self.hertz = report["run"]["cycles_per_second"]
        return {"cycles": spent / packets, "cached": counts["cache_hits"] / counts["packets"],
                "lookups": counts["megaflow_lookups"] / counts["packets"]}

    def stats(self):
        words = [self.arguments.roost, "ctl", "--socket", self.folder / "classify.sock", "--json",
                 "stats"]
        result = subprocess.run(words, capture_output=True, text=True, check=False)
        return json.loads(result.stdout) if result.returncode == 0 else None

    def searches(self):
        """Of the rules, in half a second: what nothing that is kept could answer."""
        before = self.stats()["classifiers"]["rule_hits"]
        time.sleep(0.5)
        return self.stats()["classifiers"]["rule_hits"] - before

    def ovs(self, cache, number):
        core = self.arguments.cores[0]
        memory = ["--no-huge", "--legacy-mem"] if self.is_tiny else ["--in-memory"]
        eal = " ".join(["--no-pci", "--no-telemetry", *memory, "-m", str(MEMORY_MIB)])
        settings = ["other_config:dpdk-init=true", f"other_config:pmd-cpu-mask={1 << core:#x}",
                    f'other_config:dpdk-extra="{eal}"', "other_config:max-idle=3600000",
                    *OVS_CACHES[cache]]
        ports = [(f"p{port}", ["--", "set", "Interface", f"p{port}", "type=dpdk",
                               f"ofport_request={port}", f'options:dpdk-devargs="{device}"'])
                 for port, device in enumerate((self.source, SINK), 1)]
        here = types.SimpleNamespace(prefix=["setpriv", "--pdeathsig", "TERM"])
        with OpenVswitch(here, self.folder / f"ovs-{cache}-{number}", ports, OVS,
                         settings) as switch:
            switch.replace_flows(cases.rules(self.case))
            wait_until("an end of upcalls", lambda: self.upcalls(self.pmd_stats(switch, 1)) == 0)
            told = self.pmd_stats(switch, self.seconds)
        return {"cycles": count_of("avg processing cycles per packet", told),
                **self.checked(cache, told)}

    @staticmethod
    def pmd_stats(switch, seconds):
        """Of the thread that has the packets, in this time."""
        switch.ask("dpif-netdev/pmd-stats-clear")
        time.sleep(seconds)
        told = switch.ask("dpif-netdev/pmd-stats-show")
        return max(told.split("pmd thread"), key=lambda part: count_of("packets received", part))

    @staticmethod
    def upcalls(told):
        if count_of("packets received", told) == 0:
            return 1  # not begun
        return (count_of("miss with success upcall", told)
                + count_of("miss with failed upcall", told))

    def checked(self, cache, told):
        """What it counted; an error if it did something else than the case says."""
        packets = count_of("packets received", told)
        found = {"cached": (count_of("emc hits", told) + count_of("smc hits", told)) / packets,
                 "lookups": count_of("avg. subtable lookups per megaflow hit", told)}
        wrong = []
        if self.upcalls(told):
            wrong.append(f"{self.upcalls(told):.0f} upcalls")
        if cache == "off" and found["cached"]:
            wrong.append(f"{found['cached']:.1%} of the packets from caches")
        most = cases.mean_lookups(self.case)
        if cache == "off" and not 0.8 * most <= found["lookups"] <= 1.2 * most:
            wrong.append(f"{found['lookups']} subtables a lookup, where {most} are right")
        if wrong:
            raise RuntimeError(f"Open vSwitch: {', '.join(wrong)}\n{told}")
        return found

    def raw(self, _number):
        """Moves packets from one device to the other, and nothing else: it never waits, so its
        cycles a packet are those of its core."""
        words = ["dpdk-testpmd", *self.eal()[:-1],
                 f"--lcores=0@{self.arguments.cores[1]},1@{self.arguments.cores[0]}",
                 f"--vdev={self.source}", f"--vdev={SINK}", "--", "--forward-mode=io",
                 "--no-lsc-interrupt", "--auto-start", f"--stats-period={max(1, self.seconds)}"]
        with (self.folder / "testpmd.log").open("w") as log:
            running = subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT,
                                       stdin=subprocess.PIPE)
            try:
                rates = wait_until("testpmd's second count", self.rates)
                running.send_signal(signal.SIGINT)
                running.wait(timeout=PATIENCE_SECONDS)
            finally:
                running.kill()
        self.raw_rates.append(rates[-1])
        return {"rate": rates[-1]}

    def rates(self):
        """Packets a second that it received, by periods from the second on."""
        told = (self.folder / "testpmd.log").read_text(errors="replace")
        found = [int(rate) for rate in re.findall(r"Rx-pps:\s+(\d+)", told) if int(rate)]
        return found if len(found) >= 2 else None


def main():
    parser = arguments_for(__doc__)
    parser.add_argument("--case", choices=cases.ALL_CASES, required=True)
    arguments = parser.parse_args()
    write_rows(arguments, arguments.case, Measurement, Measurement.run)


if __name__ == "__main__":
    main()
