#!/usr/bin/python3
"""`roost nat` from its command line: checks of configurations, and a replay of frames from inside
whose translations are looked at by scapy, which computes checksums by itself.

    tests/nat/command_line_test.py ROOST
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import rdpcap, wrpcap

CONFIG = """
[nat]
external = ["192.0.2.100", "192.0.2.101"]
ports_per_host = 4

[[port]]
addresses = ["10.0.0.1/24"]
mac = "02:00:00:00:00:01"
inside = true

[[port]]
addresses = ["192.0.2.1/24"]

[[neighbour]]
address = "192.0.2.254"
mac = "02:00:00:00:02:fe"

[[route]]
prefix = "0.0.0.0/0"
via = "192.0.2.254"
"""
HOSTS = [f"10.0.0.{i}" for i in range(10, 18)]
REMOTE = ["198.51.100.1", "198.51.100.2"]


def run(roost, directory, toml, *arguments):
    config = directory / "nat.toml"
    config.write_text(toml)
    return subprocess.run(
        [roost, "nat", "-c", config, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        env=dict(os.environ, RUNTIME_DIRECTORY=str(directory)),
        check=False,
    )


def frames():
    """Each host asks both servers by UDP twice and TCP, and pings one; then one port too many."""
    ether = Ether(src="02:00:00:00:01:10", dst="02:00:00:00:00:01")
    for host in HOSTS:
        for remote in REMOTE:
            for port in (5000, 5001):
                yield ether / IP(src=host, dst=remote) / UDP(sport=port, dport=53) / b"ask"
            yield ether / IP(src=host, dst=remote) / TCP(sport=6000, dport=80, flags="S")
        yield ether / IP(src=host, dst=REMOTE[0]) / ICMP(id=7, seq=1) / b"ping"
        yield ether / IP(src=host, dst=REMOTE[0]) / UDP(sport=5002, dport=53) / b"more"
    yield ether / IP(src=HOSTS[0], dst=REMOTE[0], proto=47) / b"no protocol of ours"


def endpoint(frame):
    """Protocol, address, and port or identifier of who sent it."""
    ip = frame[IP]
    layer = next(layer for layer in (UDP, TCP, ICMP) if layer in ip)
    return layer.__name__, ip.src, ip[layer].id if layer is ICMP else ip[layer].sport


def with_own_checksums(frame):
    """The same, its checksums computed from scratch."""
    again = frame.copy()
    for layer in (IP, UDP, TCP, ICMP):
        if layer in again:
            del again[layer].chksum
    return bytes(Ether(bytes(again)))


def check_replay(roost, directory):
    sent = list(frames())
    wrpcap(str(directory / "inside.pcap"), sent)
    wrpcap(str(directory / "outside.pcap"), [])
    devices = [
        f"--vdev=net_pcap{i},rx_pcap={directory}/{name}.pcap,tx_pcap={directory}/{name}-out.pcap"
        for i, name in enumerate(("inside", "outside"))
    ]
    eal = ("--no-huge", "--no-pci", "-m", 256, *devices)
    ran = run(roost, directory, CONFIG, "--json", "--", *eal)
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    assert report["broken"] == [], report["broken"]
    assert report["drops"]["host_limit"] == len(HOSTS), report["drops"]
    assert report["drops"]["unsupported_protocol"] == 1, report["drops"]
    assert report["mappings"]["created"] == 4 * len(HOSTS), report["mappings"]
    left = [frame for frame in rdpcap(str(directory / "outside-out.pcap")) if IP in frame]
    passed = [one for one in sent if one[IP].proto != 47 and b"more" not in bytes(one)]
    assert len(left) == len(passed), (len(left), len(passed))
    mapped = {}
    for before, after in zip(passed, left):
        assert with_own_checksums(after) == bytes(after), after.show(dump=True)
        assert after[IP].dst == before[IP].dst and after[IP].ttl == before[IP].ttl - 1
        assert after[IP].payload.payload == before[IP].payload.payload
        assert mapped.setdefault(endpoint(before), endpoint(after)) == endpoint(after)
    assert len(set(mapped.values())) == len(mapped) == 4 * len(HOSTS), "a port with two owners"
    of_host = {host: {out[1] for (_, inside, _), out in mapped.items() if inside == host}
               for host in HOSTS}
    assert all(len(addresses) == 1 for addresses in of_host.values()), of_host
    assert set.union(*of_host.values()) == {"192.0.2.100", "192.0.2.101"}, of_host
    assert all(out[2] >= 1024 for out in mapped.values()), mapped
    even = [(inside[2] - out[2]) % 2 == 0 for inside, out in mapped.items()]
    assert all(even), "ports keep their parity"
    print(f"{len(passed)} frames by {len(mapped)} mappings, {len(HOSTS)} refused")


def main():
    roost = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="roost-nat-") as name:
        directory = pathlib.Path(name)
        good = run(roost, directory, CONFIG, "--check")
        assert good.returncode == 0 and "2 external addresses" in good.stdout + good.stderr, good
        bad = run(roost, directory, CONFIG.replace("192.0.2.101", "10.0.0.1"), "--check")
        assert bad.returncode == 3 and "nat.toml:3:" in bad.stderr, bad.stderr
        check_replay(roost, directory)


if __name__ == "__main__":
    main()
