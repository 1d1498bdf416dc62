#!/usr/bin/python3
"""Makes demo/lb/{client,backends}.pcap: both legs of a live run, as the load balancer received
them.

    tests/live/make_capture.py [--roost build/release/apps/roost] [--out demo/lb]

tcpdump listens on the balancer's two interfaces, incoming frames only (`-Q in`), microsecond
timestamps, whole frames, no filter: what is in a file is what that port was given, strays and IPv6
housekeeping included.
"""

import argparse
import collections
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from balancer import Balancer, packet_sockets  # noqa: E402
from namespaces import LB_INTERFACES  # noqa: E402
from run import (
    check_backends_agree,
    check_conservation,
    check_contents,
    check_shares,
    check_strays,
)  # noqa: E402
from scene import Scene  # noqa: E402
from strays import send_strays  # noqa: E402

FILES = dict(zip(LB_INTERFACES, ("client.pcap", "backends.pcap")))
BYTES_MAX = 2_000_000
WEB_REQUESTS = ["1k", "backend"] * 35 + ["64k"] * 5  # each family
DNS_REQUESTS = ["A", "AAAA", "TXT"] * 35  # each family


class Capture:
    """tcpdump on one interface of the balancer; its file is complete after `stop`."""

    def __init__(self, namespace, interface, file):
        self.process = subprocess.Popen(
            [
                *namespace.prefix,
                "tcpdump",
                "-i",
                interface,
                "-Q",
                "in",
                "-n",
                "-p",
                "-U",
                "-s",
                "0",
                "-B",
                "16384",
                "-Z",
                "root",
                "--time-stamp-precision=micro",
                "-w",
                file,
            ],
            stderr=subprocess.PIPE,
            text=True,
        )
        first = self.process.stderr.readline()
        assert "listening on" in first, first

    def stop(self):
        time.sleep(1)  # what is still in the kernel's ring reaches the file
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=10)
        assert "0 packets dropped by kernel" in said, said


def capture(roost, directory):
    """One live run with its two captures in `directory`; checked as the live test is."""
    with Scene(ROOT / "demo/lb/lb.toml", directory) as scene:
        clients = scene.clients
        with Balancer(
            roost, scene.config_file, scene.network.lb, directory, packet_sockets()
        ) as balancer:
            balancer.wait_until_ready()
            captures = [Capture(scene.network.lb, i, directory / FILES[i]) for i in LB_INTERFACES]
            answers = collections.defaultdict(list)
            for service in scene.config["service"]:
                ask, what = (
                    (clients.web, WEB_REQUESTS)
                    if service["protocol"] == "tcp"
                    else (clients.dns, DNS_REQUESTS)
                )
                answers[service["name"]] += ask(service, what)
            unexpected = send_strays(scene)
            for running in captures:
                running.stop()
            report = balancer.stop()
        assert not unexpected, unexpected
        check_contents(scene, answers)
        check_backends_agree(scene, answers)
        check_shares(scene, answers, report)
        check_conservation(report)
        check_strays(report)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--roost", type=pathlib.Path, default=ROOT / "build/release/apps/roost")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "demo/lb")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="roost-capture-") as name:
        directory = pathlib.Path(name)
        capture(options.roost.resolve(), directory)
        size = sum((directory / file).stat().st_size for file in FILES.values())
        assert size < BYTES_MAX, f"{size} bytes; at most {BYTES_MAX}: lower the request counts"
        for file in FILES.values():
            shutil.copy(directory / file, options.out / file)
            print(f"{options.out / file}: {(directory / file).stat().st_size} bytes")


if __name__ == "__main__":
    main()
