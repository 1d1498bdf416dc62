#!/usr/bin/python3
"""`roost forward` from its command line: checks of configurations, a replay whose frames and sums
are looked at, and a capture that is repeated for ever.

    tests/forward/command_line_test.py ROOST
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.utils import rdpcap, wrpcap

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/ctl"))
from endless_run import EndlessRun  # noqa: E402

CAPTURE = ROOT / "demo/lb/client.pcap"
ENDLESS_PACKETS = 10_000  # more than the buffers of two ports by default
NETWORK = """
[[port]]
addresses = ["192.0.2.1/24", "2001:db8:1::1/64"]
mac = "{mac}"

[[port]]
addresses = ["10.0.0.1/24", "2001:db8:2::1/64"]

[[neighbour]]
address = "10.0.0.11"
mac = "02:00:00:00:02:11"

[[neighbour]]
address = "2001:db8:2::11"
mac = "02:00:00:00:02:11"

[[route]]
prefix = "0.0.0.0/0"
via = "10.0.0.11"

[[route]]
prefix = "::/0"
via = "2001:db8:2::11"
"""


def run(roost, directory, toml, *arguments):
    config = directory / "forward.toml"
    config.write_text(toml)
    environment = dict(os.environ, RUNTIME_DIRECTORY=str(directory))
    return subprocess.run(
        [roost, "forward", "-c", config, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
        check=False,
    )


def check_configurations(roost, directory):
    good = run(roost, directory, NETWORK.format(mac="02:00:00:00:00:01"), "--check")
    assert good.returncode == 0 and "2 routes" in good.stdout, good
    wire = run(roost, directory, "[[port]]\n[[port]]\n[forward]\nwire = true\n", "--check")
    assert wire.returncode == 0 and "a wire" in wire.stdout, wire
    bad = run(roost, directory, "[[port]]\n[forward]\nwire = true\n", "--check")
    assert bad.returncode == 3 and "two ends" in bad.stderr, bad


def replay(roost, directory, toml):
    out = directory / "out.pcap"
    processor = min(os.sched_getaffinity(0))
    done = run(
        *(roost, directory, toml, "--json", "--", "--no-huge", "--no-pci", "--no-telemetry"),
        *("-m", 512, "--lcores", f"0@{processor}"),
        f"--vdev=net_pcap0,rx_pcap={CAPTURE},tx_pcap={directory}/back.pcap",
        f"--vdev=net_pcap1,tx_pcap={out}",
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), rdpcap(str(out))


def hops_of(packet):
    layer = packet.getlayer(IP) or packet.getlayer(IPv6)
    return layer.ttl if isinstance(layer, IP) else layer.hlim


def check_replay(roost, directory):
    """Each frame leaves with one hop less, in its order, and nothing else changed but its MACs."""
    received = [packet for packet in rdpcap(str(CAPTURE)) if packet.dst == packet_mac()]
    report, sent = replay(roost, directory, NETWORK.format(mac=packet_mac()))
    assert report["broken"] == [], report["broken"]
    assert report["packets"]["received"] == len(rdpcap(str(CAPTURE)))
    forwarded = sum(hop["packets"] for hop in report["next_hops"])
    assert forwarded == len(sent) > 500, (forwarded, len(sent), report["drops"])
    left = iter(received)
    for packet in sent:
        payload = bytes(packet[Ether].payload.payload)
        before = next(p for p in left if bytes(p[Ether].payload.payload) == payload)
        assert hops_of(packet) == hops_of(before) - 1
        assert packet.dst == "02:00:00:00:02:11"


def check_endless(roost, directory):
    """A capture that is repeated for ever has all of its packets in buffers."""
    capture = directory / "endless.pcap"
    wrpcap(str(capture), [rdpcap(str(CAPTURE), count=1)[0]] * ENDLESS_PACKETS)
    wire = "[[port]]\n[[port]]\n[forward]\nwire = true\n"
    refused = EndlessRun(roost, directory, "forward", wire, captures=[capture],
                         devices=["net_null0,no-rx=1"])
    assert refused.process.wait(timeout=60) != 0
    assert "give more of them" in refused.log.read_text(), refused.log.read_text()
    with EndlessRun(roost, directory, "forward", wire + "buffers = 8_192\n", captures=[capture],
                    devices=["net_null0,no-rx=1"]) as running:
        while running.ask("stats")["packets"]["received"] <= ENDLESS_PACKETS:
            pass
        running.stop()


def packet_mac():
    return rdpcap(str(CAPTURE), count=1)[0].dst


def main():
    with tempfile.TemporaryDirectory() as name:
        check_configurations(sys.argv[1], pathlib.Path(name))
        check_replay(sys.argv[1], pathlib.Path(name))
        check_endless(sys.argv[1], pathlib.Path(name))


if __name__ == "__main__":
    main()
