#!/usr/bin/python3
"""Hosts, TCP services and SYN fingerprints of captures, by `roost assets` and by Debian's prads:
both demonstration captures, and three that are made here. What differs stands in a list, with a
reason each, and the manual gives the reasons.

    tests/assets/prads_test.py ROOST
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from scapy.all import (ARP, ICMP, IP, TCP, UDP, Dot1AD, Dot1Q, Ether, ICMPv6ND_NS, IPOption_NOP,
                       IPv6, wrpcap)

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/trace"), str(ROOT / "tests/replay")]

from watched_replay import DEMO_INPUTS, command_of, run, run_directory  # noqa: E402

LINE = re.compile(r"([^,]+),\d+,(\d+),(\d+),(\w+),\[(.*)\],\d+,\d+")
# Why one of the two names what the other does not; the words of the manual.
REASONS = {
    "arp": "prads names a host for TCP and known UDP ports, not for ARP",
    "icmp": "prads does not name a host for ICMP alone",
    "udp": "prads names a UDP host by a list of known ports",
    "protocol": "prads does not name hosts of other protocols",
    "middle": "prads names a host of TCP by its SYN, SYN-ACK or FIN",
    "tags": "prads does not read frames with two tags",
    "same": "prads names a service by its first SYN-ACK of a fingerprint, or by what it says",
    "broken": "prads reads frames that roost refuses, with a wrong checksum or a source route",
    "cut": "prads says of each SYN that it may not be cut",
}


class Seen:
    """What one of the two found in a capture."""

    def __init__(self):
        self.hosts, self.services, self.syns = set(), set(), {}


def ask_prads(capture, folder):
    seen, log = Seen(), folder / "prads.log"
    log.unlink(missing_ok=True)
    subprocess.run(["prads", "-r", capture, "-l", log, "-d"], capture_output=True, timeout=60,
                   check=True)
    for line in log.read_text().splitlines()[1:]:
        address, port, protocol, kind, words = LINE.fullmatch(line).groups()
        seen.hosts.add(address)
        if kind in ("SYNACK", "SERVER") and protocol == "6":
            seen.services.add((address, int(port)))
        if kind == "SYN":
            seen.syns.setdefault(address, ":".join(words.split(":")[:6]))
    return seen


def ask_roost(roost, capture, folder):
    seen, log = Seen(), folder / "assets.jsonl"
    log.unlink(missing_ok=True)
    config = folder / "assets.toml"
    config.write_text(f'[assets]\nservices_max = 1024\nlog = "{log}"\n[[port]]\n')
    devices = [f"rx_pcap={capture},tx_pcap={folder}/sent.pcap"]
    report = json.loads(run(*command_of(roost, "assets", config, devices),
                            environment=run_directory(folder)).stdout)
    assert report["broken"] == [] and report["packets"]["sent"] == 0, report
    for line in map(json.loads, log.read_text().splitlines()):
        seen.hosts.add(line["address"])
        if line["found"] == "service" and line["protocol"] == "tcp":
            seen.services.add((line["address"], line["port"]))
        if "syn" in line:
            seen.syns.setdefault(line["address"], line["syn"])
    return seen


def frame(source=1, vlan=None):
    ether = Ether(src=f"02:00:00:00:00:{source:02x}", dst="02:00:00:00:00:ff")
    return ether if vlan is None else ether / Dot1Q(vlan=vlan, prio=3)


def handshake(client, server, port, ether, banner=b"", asks=False):
    """A connection that opens; then the server says something, or answers a question."""
    ip = IPv6 if ":" in client else IP
    there, back = ip(src=client, dst=server), ip(src=server, dst=client)
    frames = [ether / there / TCP(sport=40_000 + port, dport=port, flags="S", seq=7),
              ether / back / TCP(sport=port, dport=40_000 + port, flags="SA", seq=9, ack=8),
              ether / there / TCP(sport=40_000 + port, dport=port, flags="A", seq=8, ack=10)]
    if asks:
        frames.append(frames[-1] / b"GET / HTTP/1.0\r\nUser-Agent: curl/7.88\r\n\r\n")
    if banner:
        frames.append(ether / back / TCP(sport=port, dport=40_000 + port, flags="PA", seq=10,
                                         ack=8 + 42 * asks) / banner)
    return frames


def tagged():
    """VLANs, IPv6, ARP, and two tags."""
    frames = handshake("2001:db8::10", "2001:db8::1", 443, frame(1, 100))
    frames += handshake("192.0.2.10", "192.0.2.1", 443, frame(2, 200))
    frames += [frame(3, 100) / ARP(op=kind, hwsrc="02:00:00:00:00:03", psrc=f"192.0.2.{kind + 50}",
                                   pdst="192.0.2.1") for kind in (1, 2)]
    frames.append(frame(4, 100) / IPv6(src="fe80::4", dst="ff02::1:ff00:9") /
                  ICMPv6ND_NS(tgt="fe80::9"))
    twice = Ether(src="02:00:00:00:00:05", dst="02:00:00:00:00:ff") / Dot1AD(vlan=7) / Dot1Q(vlan=8)
    frames += handshake("198.51.100.10", "198.51.100.1", 80, twice)
    return frames, {"192.0.2.51": "arp", "192.0.2.52": "arp", "fe80::4": "icmp",
                    "198.51.100.10": "tags", "198.51.100.1": "tags",
                    ("198.51.100.1", 80): "tags"}


def scan():
    """Ports that are open, with and without a banner, and ports that are closed."""
    scanner, server = "203.0.113.9", "203.0.113.1"
    frames = handshake(scanner, server, 22, frame(), b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")
    frames += handshake(scanner, server, 80, frame(),
                        b"HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\n\r\n", asks=True)
    frames += handshake(scanner, server, 8_081, frame())
    for port in range(100, 200):
        frames.append(frame() / IP(src=scanner, dst=server) / TCP(sport=5_000, dport=port, seq=7))
        frames.append(frame() / IP(src=server, dst=scanner) /
                      TCP(sport=port, dport=5_000, flags="RA", ack=8))
    frames.append(frame(2) / IP(src="203.0.113.2", dst=scanner) /
                  TCP(sport=80, dport=70, flags="PA", seq=1, ack=1) / b"HTTP/1.1 200 OK\r\n\r\n")
    return frames, {(server, 8_081): "same", "203.0.113.2": "middle"}


def with_options(packet, options):
    """The packet's TCP header with these bytes of options, whatever they say."""
    cut = bytes(packet)
    made = Ether(cut[:46] + bytes([(5 + len(options) // 4) << 4]) + cut[47:54] + options + cut[54:])
    made[IP].len += len(options)
    del made[IP].chksum
    return Ether(bytes(made))


def odd():
    """SYNs of many kinds, datagrams, ICMP, other protocols, and frames that cannot be."""
    frames, sender = [], iter(range(1, 250))

    def syn(data=b"", **fields):
        ip = IP(src=f"10.1.0.{next(sender)}", dst="10.2.0.1", id=7, flags="DF")
        return frame() / ip / TCP(**{"sport": 4_000, "dport": 80, "flags": "S", "seq": 5,
                                     **fields}) / data

    for window in (0, 1, 1_460, 1_500, 5_840, 12_345, 64_240, 65_535):
        frames.append(syn(window=window))
        frames.append(syn(window=window, options=[("MSS", 1_000)]))
        frames.append(syn(window=window, options=[("MSS", 1_460), ("NOP", None), ("WScale", 7)]))
    frames += [syn(window=10_400, options=[("MSS", 1_000)]), syn(options=[("MSS", 0)]),
               syn(options=[("MSS", 65_535)], window=65_535),
               syn(options=[("SAckOK", b""), ("Timestamp", (5, 0))]),
               syn(options=[("Timestamp", (0, 9))]), syn(options=[("Timestamp", (7, 0))] * 2),
               syn(options=[(99, b"abcd")]), syn(options=[(99, b"")])]
    frames += [syn(flags=flags) for flags in ("SU", "SEC", "SF", "SP", "SN")]
    frames += [syn(seq=0), syn(ack=9), syn(ack=5), syn(reserved=3), syn(urgptr=5)]
    frames += [syn(bytes(count)) for count in (1, 59, 60, 400)]
    for options in (b"\2\4\5\xb4\0\1\1\1", b"\2\4\5\xb4\0\0\0\0", b"\1" * 16, b"\1" * 40,
                    b"\2\4\5\xb4\x08\x0a\0\0", b"\x22\x02\1\1", b"\x22\x00\1\1", b"\x22\x28\1\1",
                    b"\1\1\1\2", b"\1\1\3\3", b"\0" * 12, b"\1\x22\0\0", b"\4\2\4\2"):
        frames += [with_options(syn(), options), with_options(syn(b"\5\xb4data"), options)]
    frames.append(frame() / IP(src="10.3.0.1", dst="10.2.0.1", options=[IPOption_NOP()] * 4) /
                  TCP(flags="S", seq=1))
    frames.append(frame() / IP(src="10.3.0.2", dst="10.2.0.1", id=0, ttl=128) / TCP(seq=1))
    for label in (0, 9):
        frames.append(frame() / IPv6(src=f"2001:db8:3::{label + 1}", dst="2001:db8::1", fl=label,
                                     tc=8) / TCP(seq=1, options=[("MSS", 1_440)]))
    frames += [frame() / IP(src="10.4.0.1", dst="10.4.0.2") / UDP(sport=5_000, dport=53) / b"query",
               frame() / IP(src="10.4.0.2", dst="10.4.0.1") / UDP(sport=53, dport=5_000) / b"reply",
               frame() / IP(src="10.4.0.3", dst="10.4.0.4") / UDP(sport=5_001, dport=5_002) / b"a",
               frame() / IP(src="10.4.0.5", dst="10.4.0.4") / ICMP() / b"abcdefgh",
               frame() / IP(src="10.4.0.6", dst="10.4.0.4", proto=132) / bytes(20),
               frame() / IP(src="10.5.0.1", dst="10.2.0.1", chksum=1) / TCP(seq=1),
               frame() / IP(src="10.5.0.2", dst="10.2.0.1", options=b"\x83\x07\4\1\2\3\4\0") /
               TCP(seq=1)]
    return frames, {"10.4.0.3": "udp", "10.4.0.5": "icmp", "10.4.0.6": "protocol",
                    "10.5.0.1": "broken", "10.5.0.2": "broken"}


def compare(capture, roost, folder, accepted):
    ours, theirs = ask_roost(roost, capture, folder), ask_prads(capture, folder)
    found = (ours.hosts ^ theirs.hosts) | (ours.services ^ theirs.services)
    assert found == set(accepted), f"{capture.name}: not as listed: {found ^ set(accepted)}"
    for what, reason in accepted.items():
        is_prads = what in theirs.hosts | theirs.services
        assert is_prads == (reason == "broken"), f"{what}: the other one names it"
    refused = {what for what, reason in accepted.items() if reason == "broken"}
    for address, words in theirs.syns.items():
        if address not in refused:
            may_not_be_cut = re.sub(r"^([^:]+:\d+):0:", r"\1:1:", ours.syns[address])
            assert may_not_be_cut == words, (address, ours.syns[address], words)
    print(f"{capture.name}: {len(theirs.hosts)} hosts, {len(theirs.services)} services and "
          f"{len(theirs.syns)} fingerprints of prads's, {len(ours.hosts)} hosts of ours, "
          f"{len(accepted)} differences")


def main():
    roost = pathlib.Path(sys.argv[1]).resolve()
    manual = (ROOT / "apps/assets/README.md").read_text()
    for reason in REASONS.values():
        assert f"| {reason} |" in manual, f"the manual lacks: {reason}"
    if shutil.which("prads") is None:
        print("NOT TESTED: there is no prads to compare assets with")
        return
    with tempfile.TemporaryDirectory(prefix="roost-prads-") as name:
        folder = pathlib.Path(name)
        for capture in DEMO_INPUTS:
            compare(capture, roost, folder, {})
        for make in (tagged, scan, odd):
            frames, accepted = make()
            assert set(accepted.values()) <= set(REASONS)
            capture = folder / f"{make.__name__}.pcap"
            wrpcap(str(capture), frames)
            compare(capture, roost, folder, accepted)


if __name__ == "__main__":
    main()
