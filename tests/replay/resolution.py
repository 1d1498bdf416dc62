"""A balancer whose configuration names no neighbour: it answers ARP and neighbour discovery, asks
for its backend and its client, and holds packets back until they answer. What it must send is
written down here, frame by frame, by scapy.
"""

from scapy.layers.inet import ICMP, IP, TCP
from scapy.layers.inet6 import (
    ICMPv6EchoReply,
    ICMPv6EchoRequest,
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6NDOptDstLLAddr,
    ICMPv6NDOptSrcLLAddr,
    IPv6,
)
from scapy.layers.l2 import ARP, Dot1Q, Ether

import pcap
from compare import check_conservation
from roost_replay import replay

CONFIG = """
tick_seconds = 1.0
[[port]]
addresses = ["192.0.2.1/24", "2001:db8:1::1/64"]
mac = "02:00:00:00:00:01"
[[port]]
addresses = ["10.0.0.1/24", "2001:db8:2::1/64"]
mac = "02:00:00:00:00:02"
vlan = [7]
[[route]]
prefix = "0.0.0.0/0"
via = "192.0.2.254"
[[route]]
prefix = "10.5.0.0/16"
via = "10.0.0.5"
[[service]]
name = "web"
address = "192.0.2.80"
port = 80
protocol = "tcp"
backends = [{name = "b1", address = "10.5.0.11"}]
[[service]]
name = "web6"
address = "2001:db8:1::80"
port = 80
protocol = "tcp"
backends = [{name = "b1", address = "2001:db8:2::11"}]
"""
LB0, LB1 = "02:00:00:00:00:01", "02:00:00:00:00:02"
CLIENT, ROUTER, BACKEND = "02:00:00:00:01:10", "02:00:00:00:01:fe", "02:00:00:00:02:11"
ALL, NOBODY = "ff:ff:ff:ff:ff:ff", "00:00:00:00:00:00"
TAG = Dot1Q(vlan=7)


def ether(source, target):
    return Ether(src=source, dst=target)


def who_has(mac, sender, target):
    return ARP(op=1, hwsrc=mac, psrc=sender, hwdst=NOBODY, pdst=target)


def is_at(mac, sender, to_mac, target):
    return ARP(op=2, hwsrc=mac, psrc=sender, hwdst=to_mac, pdst=target)


def ipv4_story():
    """(second, port) -> what comes in, and (port) -> what goes out, in order."""
    syn = TCP(sport=4000, dport=80, flags="S", seq=1)
    syn_ack = TCP(sport=80, dport=4000, flags="SA", seq=7, ack=2)
    far, near = "203.0.113.9", "192.0.2.10"
    arrivals = [
        # The client asks for the virtual address, and pings it.
        (1, 0, ether(CLIENT, ALL) / who_has(CLIENT, near, "192.0.2.80")),
        (2, 0, ether(CLIENT, LB0) / IP(src=near, dst="192.0.2.80") / ICMP(id=5, seq=1) / b"x"),
        # Two clients, one of them behind the router; the backend is behind 10.0.0.5.
        (10, 0, ether(CLIENT, LB0) / IP(src=near, dst="192.0.2.80") / syn),
        (10, 0, ether(ROUTER, LB0) / IP(src=far, dst="192.0.2.80") / syn),
        (11, 1, ether(BACKEND, LB1) / TAG / is_at(BACKEND, "10.0.0.5", LB1, "10.0.0.1")),
        (12, 1, ether(BACKEND, LB1) / TAG / IP(src="10.5.0.11", dst=near) / syn_ack),
        (12, 1, ether(BACKEND, LB1) / TAG / IP(src="10.5.0.11", dst=far) / syn_ack),
        (13, 0, ether(ROUTER, LB0) / is_at(ROUTER, "192.0.2.254", LB0, "192.0.2.1")),
    ]
    port0 = [
        ether(LB0, CLIENT) / is_at(LB0, "192.0.2.80", CLIENT, near),
        ether(LB0, CLIENT) / IP(src="192.0.2.80", dst=near) / ICMP(type=0, id=5, seq=1) / b"x",
        # The client solicited us, so its MAC is known and used, while it is probed.
        ether(LB0, CLIENT) / IP(src="192.0.2.80", dst=near, ttl=63) / syn_ack,
        ether(LB0, CLIENT) / who_has(LB0, "192.0.2.1", near),
        ether(LB0, ALL) / who_has(LB0, "192.0.2.1", "192.0.2.254"),
    ]
    # A second later both are solicited again, before all; then the router's advertisement is read.
    after = [
        ether(LB0, ALL) / who_has(LB0, "192.0.2.1", "192.0.2.254"),
        ether(LB0, ALL) / who_has(LB0, "192.0.2.1", near),
        ether(LB0, ROUTER) / IP(src="192.0.2.80", dst=far, ttl=63) / syn_ack,
    ]
    port1 = [
        ether(LB1, ALL) / TAG / who_has(LB1, "10.0.0.1", "10.0.0.5"),
        ether(LB1, ALL) / TAG / who_has(LB1, "10.0.0.1", "10.0.0.5"),  # a second later
        ether(LB1, BACKEND) / TAG / IP(src=near, dst="10.5.0.11", ttl=63) / syn,
        ether(LB1, BACKEND) / TAG / IP(src=far, dst="10.5.0.11", ttl=63) / syn,
    ]
    return arrivals, [port0 + after, port1]


def ipv6_story():
    syn = TCP(sport=4000, dport=80, flags="S", seq=1)
    syn_ack = TCP(sport=80, dport=4000, flags="SA", seq=7, ack=2)
    near, virtual, own = "2001:db8:1::10", "2001:db8:1::80", "2001:db8:1::1"
    backend, own1 = "2001:db8:2::11", "2001:db8:2::1"

    ping = ICMPv6EchoRequest(id=5, data=b"xyz")

    def solicit(mac, source, target, to=None):
        group = f"ff02::1:ff00:{target.split(':')[-1]}"
        return (
            IPv6(src=source, dst=to or group)
            / ICMPv6ND_NS(tgt=target)
            / ICMPv6NDOptSrcLLAddr(lladdr=mac)
        )

    def advertise(mac, source, target, router):
        return (
            IPv6(src=source, dst=target)
            / ICMPv6ND_NA(R=router, S=1, O=1, tgt=source)
            / ICMPv6NDOptDstLLAddr(lladdr=mac)
        )

    arrivals = [
        (20, 0, ether(CLIENT, "33:33:ff:00:00:80") / solicit(CLIENT, near, virtual)),
        (21, 0, ether(CLIENT, LB0) / IPv6(src=near, dst=own) / ping),
        (30, 0, ether(CLIENT, LB0) / IPv6(src=near, dst=virtual) / syn),
        (31, 1, ether(BACKEND, LB1) / TAG / advertise(BACKEND, backend, own1, 0)),
        (32, 1, ether(BACKEND, LB1) / TAG / IPv6(src=backend, dst=near) / syn_ack),
        (33, 0, ether(CLIENT, LB0) / advertise(CLIENT, near, own, 0)),
    ]
    port0 = [
        ether(LB0, CLIENT) / advertise(LB0, virtual, near, 1),
        ether(LB0, CLIENT) / IPv6(src=own, dst=near) / ICMPv6EchoReply(id=5, data=b"xyz"),
        ether(LB0, CLIENT) / IPv6(src=virtual, dst=near, hlim=63) / syn_ack,
        ether(LB0, CLIENT) / solicit(LB0, own, near, near),
        ether(LB0, "33:33:ff:00:00:10") / solicit(LB0, own, near),
    ]
    port1 = [
        ether(LB1, "33:33:ff:00:00:11") / TAG / solicit(LB1, own1, backend),
        ether(LB1, "33:33:ff:00:00:11") / TAG / solicit(LB1, own1, backend),  # a second later
        ether(LB1, BACKEND) / TAG / IPv6(src=near, dst=backend, hlim=63) / syn,
    ]
    return arrivals, [port0, port1]


class Resolution:
    def __init__(self, roost, directory):
        self.roost = roost
        self.directory = directory

    def ipv4_neighbours_are_asked_for_and_answered(self):
        report = self._play(ipv4_story())
        neighbours = report["neighbours"]
        assert neighbours["waited"] == neighbours["released"] == 3, neighbours
        assert neighbours["learned"] == 1 and neighbours["advertisements_sent"] == 1, neighbours

    def ipv6_neighbours_are_asked_for_and_answered(self):
        report = self._play(ipv6_story())
        neighbours = report["neighbours"]
        assert neighbours["waited"] == neighbours["released"] == 1, neighbours
        assert neighbours["learned"] == 1 and neighbours["confirmed"] == 2, neighbours

    def one_that_never_answers_is_given_up_by_cause(self):
        arrivals, _ = ipv4_story()
        last = arrivals[2][2]
        arrivals = [(10, 0, last), *((10 + i, 0, last) for i in (1, 2, 3, 4, 5))]
        report, _ = self._run(arrivals)
        assert report["drops"]["neighbour_failed"] == 1, report["drops"]
        neighbours = report["neighbours"]
        assert neighbours["failed"] == 1 and neighbours["lost_failed"] == 3, neighbours

    def _play(self, story):
        arrivals, expected = story
        report, sent = self._run(arrivals)
        for port, frames in enumerate(expected):
            want = [bytes(frame).hex() for frame in frames]
            got = [record.frame.hex() for record in sent[port]]
            assert got == want, "\n".join([f"port {port} sent", *got, "and must send", *want])
        assert not any(report["drops"].values()), report["drops"]
        return report

    def _run(self, arrivals):
        config = self.directory / "resolution.toml"
        config.write_text(CONFIG)
        files = [self.directory / f"resolution{port}.pcap" for port in (0, 1)]
        for port, file in enumerate(files):
            records = [
                pcap.Record(1_700_000_000_000_000 + second * 1_000_000 + number, bytes(frame))
                for number, (second, at, frame) in enumerate(arrivals)
                if at == port
            ]
            pcap.write(file, records)
        result = replay(self.roost, config, files)
        check_conservation(result)
        return result.report, result.sent
