#!/usr/bin/python3
"""Times dpdk-testpmd's io forwarding on the same flows, port and core: what DPDK's own program
needs to move a packet. Called as the measuring program is, and writes the same rows."""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness.rows_file import write_rows_file  # noqa: E402

PROMPT = b"testpmd> "
ROUND_SECONDS = 1.0
BUFFERS_IN_FLIGHT = 4096
BUFFER_BYTES = 256  # headroom and the least data room that our own port takes
FRAME_BYTES = 60


class Testpmd:
    """A testpmd that forwards, asked by its prompt."""

    def __init__(self, words):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        self.said = self._until_prompt()

    def _until_prompt(self):
        said = b""
        while not said.endswith(PROMPT):
            byte = self.process.stdout.read(1)
            if not byte:
                sys.exit(f"testpmd ended: {said.decode(errors='replace')[-2000:]}")
            said += byte
        return said.decode(errors="replace")

    def ask(self, command):
        self.process.stdin.write(command.encode() + b"\n")
        self.process.stdin.flush()
        return self._until_prompt()

    def packets_per_second(self):
        """Since it was asked last."""
        return int(re.search(r"Rx-pps:\s*(\d+)", self.ask("show port stats 0")).group(1))

    def end(self):
        self.process.stdin.write(b"stop\nquit\n")
        self.process.stdin.flush()
        rest = self.process.stdout.read().decode(errors="replace")
        self.process.wait()
        return rest


def words_of(arguments, capture):
    buffers = arguments.flows + BUFFERS_IN_FLIGHT
    # Its main thread sleeps, on another core if there is one.
    other = min(os.sched_getaffinity(0) - {arguments.core}, default=arguments.core)
    memory = (["--in-memory"] if arguments.pages == "2M" else
              ["--no-huge", "-m", str(256 + (buffers >> 10) * 2)])
    # It writes prompts at once, and must not keep back what it prints before them.
    return ["stdbuf", "-oL", "dpdk-testpmd", "--no-pci", "--no-telemetry", "--no-shconf", *memory,
            f"--lcores=0@{other},1@{arguments.core}",
            f"--vdev=net_pcap0,infinite_rx=1,rx_pcap={capture}", "--", "-i", "--auto-start",
            "--forward-mode=io", "--port-topology=loop", "--burst=32", "--nb-cores=1",
            f"--total-num-mbufs={buffers}", f"--mbuf-size={BUFFER_BYTES}"]


def measure(arguments):
    with tempfile.TemporaryDirectory(prefix="roost-lab-") as folder:
        capture = Path(folder) / "flows.pcap"
        subprocess.run([arguments.flow_program, "flows", "--flows", str(arguments.flows), "--out",
                        capture], check=True)
        testpmd = Testpmd(words_of(arguments, capture))
    testpmd.packets_per_second()
    rates = []
    for number in range(arguments.rounds):
        print(f"progress {number / arguments.rounds:.3f} round {number + 1}", file=sys.stderr)
        time.sleep(ROUND_SECONDS)
        rates.append(testpmd.packets_per_second())
    lost = re.search(r"RX-dropped: (\d+)", testpmd.end())
    if not lost or int(lost.group(1)) != 0 or min(rates) == 0:
        sys.exit("testpmd did not forward all it received")
    return rates


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--flows", type=int, required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--pages", default="4K")
    parser.add_argument("--core", type=int, default=1)
    parser.add_argument("--flow-program", type=Path, required=True)
    parser.add_argument("--csv", type=Path, required=True)
    arguments = parser.parse_args()
    note = f"{arguments.flows} buffers of {BUFFER_BYTES} bytes and a {FRAME_BYTES}-byte frame each"
    rows = [{"experiment": arguments.experiment, "kind": "measured", "contestant": "testpmd_io",
             "form": "1 worker", "workload": "uniform", "slots": arguments.flows,
             "entries": arguments.flows, "core_count": 1, "round": number,
             "metric": "ns_per_packet", "value": f"{1e9 / rate:.6g}", "core": arguments.core,
             "note": note} for number, rate in enumerate(measure(arguments))]
    write_rows_file(arguments.csv, rows)


if __name__ == "__main__":
    main()
