#!/usr/bin/python3
"""`roost firewall` from its command line: checks of configurations, and a replay of a few packets
through a wire, each of whose fates is written down.

    tests/firewall/command_line_test.py ROOST
"""

import json
import pathlib
import struct
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/replay"), str(ROOT / "tests/trace")]

import pcap  # noqa: E402
from watched_replay import command_of, run, run_directory  # noqa: E402

CONFIG = """
[firewall]
wire = true
connections = 1000
pick_up = false

[[port]]

[[port]]

[[rule]]
name = "web"
from = ["port 0"]
protocol = "tcp"
ports = [80]
action = "allow"
log = true

[[rule]]
name = "dns"
protocol = "udp"
ports = ["53"]
action = "reject"
"""
FAULTS = """
[firewall]
wire = true
connections = 0

[[port]]
addresses = ["192.0.2.1/24"]

[[port]]

[[rule]]
from = ["port 7"]
action = "drop"

[[rule]]
protocol = "gre"
ports = [80]
colour = "red"
"""
FAULT_LINES = (4, 6, 12, 13, 15, 18)
FAULT_COUNT = 7
INSIDE, OUTSIDE = bytes([192, 0, 2, 10]), bytes([198, 51, 100, 80])
MACS = b"\x02\0\0\0\0\x02\x02\0\0\0\0\x01"
SYN, ACK, RST = 2, 16, 4


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def ipv4(protocol, source, destination, payload):
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 1, 0, 64, protocol, 0)
    whole = header + source + destination
    whole = whole[:10] + struct.pack("!H", checksum(whole)) + whole[12:]
    return (MACS + b"\x08\0" + whole + payload).ljust(60, b"\0")


def tcp(source, destination, ports, flags):
    segment = struct.pack("!HHIIBBHHH", *ports, 1, 1, 0x50, flags, 8192, 0, 0)
    pseudo = source + destination + struct.pack("!HH", 6, len(segment))
    segment = segment[:16] + struct.pack("!H", checksum(pseudo + segment)) + segment[18:]
    return ipv4(6, source, destination, segment)


def udp(source, destination, ports):
    return ipv4(17, source, destination, struct.pack("!HHHH", *ports, 8, 0))


# By port, and whether it passes.
FRAMES = (
    (0, b"\xff" * 6 + MACS[6:] + b"\x08\x06" + bytes(46), True),
    (1, tcp(OUTSIDE, INSIDE, (80, 4000), SYN | ACK), False),
    (0, tcp(INSIDE, OUTSIDE, (4000, 80), SYN), True),
    (1, tcp(OUTSIDE, INSIDE, (80, 4000), SYN | ACK), True),
    (0, tcp(INSIDE, OUTSIDE, (4000, 80), ACK), True),
    (0, tcp(INSIDE, OUTSIDE, (4001, 80), ACK), False),
    (0, tcp(INSIDE, OUTSIDE, (4000, 81), SYN), False),
    (0, udp(INSIDE, OUTSIDE, (4000, 53)), False),
    (0, MACS + b"\x88\xcc" + bytes(46), False),
    (0, tcp(INSIDE, OUTSIDE, (4000, 80), RST | ACK), True),
)
DROPS = {"denied": 2, "no_flow": 1, "rejected": 1, "not_ip": 1}


def run_firewall(roost, folder, toml, *options, status=0):
    config = folder / "firewall.toml"
    config.write_text(toml)
    return run(roost, "firewall", "-c", config, *options, status=status,
               environment=run_directory(folder))


def check_configurations(roost, folder):
    good = run_firewall(roost, folder, CONFIG, "--check").stdout
    assert "2 ports as a wire, 2 rules; room for 1000 connections; a tick of 1 s" in good, good
    example = (ROOT / "apps/firewall/demo.toml").read_text()
    good = run_firewall(roost, folder, example, "--check").stdout
    assert "2 ports, 7 rules; room for 1000000 connections" in good, good
    bad = run_firewall(roost, folder, FAULTS, "--check", status=3)
    assert bad.stdout == "", bad.stdout
    assert bad.stderr.count("firewall.toml:") == FAULT_COUNT, bad.stderr
    for line in FAULT_LINES:
        assert f"firewall.toml:{line}: " in bad.stderr, (line, bad.stderr)


def replayed(roost, folder, *options):
    captures = ([], [])
    for second, (port, frame, _) in enumerate(FRAMES):
        captures[port].append(pcap.Record(second * 1_000_000, frame))
    devices = []
    for port, records in enumerate(captures):
        pcap.write(folder / f"in{port}.pcap", records)
        devices.append(f"rx_pcap={folder}/in{port}.pcap,tx_pcap={folder}/out{port}.pcap")
    config = folder / "firewall.toml"
    config.write_text(CONFIG)
    return run(*command_of(roost, "firewall", config, devices, *options),
               environment=run_directory(folder))


def check_replay(roost, folder):
    trace = folder / "trace.pcapng"
    run_of_all = replayed(roost, folder, "--capture", trace)
    report = json.loads(run_of_all.stdout)
    for port in (0, 1):
        passed = [frame for by, frame, passes in FRAMES if by != port and passes]
        sent = [record.frame for record in pcap.read(folder / f"out{port}.pcap")]
        if port == 0:  # and what tells the sender that nobody answers
            unreachable = sent.pop()
            assert unreachable[23] == 1 and unreachable[34:36] == b"\x03\x03", unreachable
        assert sent == passed, f"port {port}:\n{sent}\nand not\n{passed}"
    assert report["broken"] == [], report["broken"]
    drops = {cause: count for cause, count in report["drops"].items() if count}
    assert drops == DROPS, drops
    assert report["filter"] == {"established": 3, "related": 0, "begun": 1,
                                "without_connection": 0, "link": 1}, report["filter"]
    counts = {rule["rule"]: rule["packets"] for rule in report["rules"]}
    assert counts == {"web": 2, "dns": 1, "none": 2}, counts
    assert report["connections"]["created"] == 1, report["connections"]
    logged = run_of_all.stderr.count("allow by rule web: port 0, tcp")
    assert logged == counts["web"] and report["log_suppressed"] == 0, run_of_all.stderr
    words = trace.read_bytes()
    for text in (b"connection begun", b"connection found, from its server", b"rule       dns: rej",
                 b"rule       none: deny"):
        assert text in words, text


def main():
    roost = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="roost-firewall-") as name:
        for check in (check_configurations, check_replay):
            check(roost, pathlib.Path(name))


if __name__ == "__main__":
    main()
