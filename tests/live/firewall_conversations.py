"""Scripted conversations between an inside and an outside host: what each of them sends, step by
step, whatever came of the steps before. Each has its own ports or identifier, so that all can be
under way at once.
"""

from scapy.all import (ICMP, IP, TCP, UDP, Ether, ICMPv6DestUnreach, ICMPv6EchoReply,
                       ICMPv6EchoRequest, ICMPv6TimeExceeded, IPv6, IPv6ExtHdrFragment, Raw,
                       fragment, fragment6)

ROUTER_MACS = {"in": "02:00:00:00:01:01", "out": "02:00:00:00:02:01"}
HOST_MACS = {"in": "02:00:00:00:01:10", "out": "02:00:00:00:02:10"}
OTHER = {"in": "out", "out": "in"}
HOSTS = 8  # a side and family
HOPS = 64
NETWORKS = {"in": ("192.0.2.", "2001:db8:1::"), "out": ("198.51.100.", "2001:db8:2::")}
ELSEWHERE = ("203.0.113.9", "2001:db8:9::9")  # a router behind the outside


def host(side, is_ipv6, number):
    return f"{NETWORKS[side][is_ipv6]}{10 + number % HOSTS}"


class Talk:
    """One conversation. `steps` are (side that sends, frame)."""

    def __init__(self, kind, number, is_ipv6):
        self.kind = kind
        self.number = number
        self.is_ipv6 = is_ipv6
        self.steps = []

    def ip(self, side, **fields):
        source, target = (host(one, self.is_ipv6, self.number) for one in (side, OTHER[side]))
        if self.is_ipv6:
            return IPv6(**{"src": source, "dst": target, "hlim": HOPS, **fields})
        return IP(**{"src": source, "dst": target, "ttl": HOPS, "id": self.number, **fields})

    def say(self, side, packet):
        """An IP packet, as bytes of a frame to the router."""
        ether = Ether(src=HOST_MACS[side], dst=ROUTER_MACS[side])
        self.steps.append((side, bytes(ether / packet)))

    # What most conversations are made of; the inside's port is the talk's own.
    def tcp(self, side, port, flags, seq, ack=0, payload=b""):
        own = 20_000 + self.number
        ports = {"sport": own, "dport": port} if side == "in" else {"sport": port, "dport": own}
        segment = TCP(flags=flags, seq=seq, ack=ack, window=8_192, **ports)
        self.say(side, self.ip(side) / segment / Raw(payload))

    def udp(self, side, port, payload=b"datagram"):
        own = 20_000 + self.number
        ports = {"sport": own, "dport": port} if side == "in" else {"sport": port, "dport": own}
        return self.ip(side) / UDP(**ports) / Raw(payload)

    def echo(self, side, is_request):
        kind = {(0, 0): 0, (0, 1): 8, (1, 0): 129, (1, 1): 128}[self.is_ipv6, is_request]
        body = {"id": self.number, "seq": 1}
        if self.is_ipv6:
            message = (ICMPv6EchoRequest if kind == 128 else ICMPv6EchoReply)(**body)
        else:
            message = ICMP(type=kind, **body)
        return self.ip(side) / message / Raw(b"ping" * 8)

    def error(self, side, about, is_time_exceeded=False, source=None):
        """About a packet that the other side sent, from a host of this side or from `source`."""
        fields = {"dst": about.src, **({"src": source} if source else {})}
        if self.is_ipv6:
            message = ICMPv6TimeExceeded() if is_time_exceeded else ICMPv6DestUnreach(code=4)
        else:
            message = ICMP(type=11 if is_time_exceeded else 3, code=0 if is_time_exceeded else 3)
        inner = bytes(about)[:1_000] if self.is_ipv6 else bytes(about)[:28]
        return self.ip(side, **fields) / message / Raw(inner)

    def shake_hands(self, port):
        self.tcp("in", port, "S", 1_000)
        self.tcp("out", port, "SA", 9_000, 1_001)
        self.tcp("in", port, "A", 1_001, 9_001)

    def parts(self, packet):
        """Its fragments."""
        if not self.is_ipv6:
            return fragment(packet, 1_000)
        packet = self.ip("in") / IPv6ExtHdrFragment(id=self.number) / packet.payload
        return fragment6(packet, 1_000)


def download(talk, port=80):
    talk.shake_hands(port)
    talk.tcp("in", port, "PA", 1_001, 9_001, b"GET / HTTP/1.0\r\n\r\n")
    talk.tcp("out", port, "PA", 9_001, 1_019, b"x" * 700)
    talk.tcp("out", port, "FA", 9_701, 1_019)
    talk.tcp("in", port, "FA", 1_019, 9_702)
    talk.tcp("out", port, "A", 9_702, 1_020)


def half_open(talk):
    talk.tcp("in", 80, "S", 1_000)
    talk.tcp("in", 80, "S", 1_000)
    talk.tcp("in", 80, "R", 1_001)


def refused_by_server(talk):
    talk.tcp("in", 80, "S", 1_000)
    talk.tcp("out", 80, "RA", 0, 1_001)


def reset_under_way(talk):
    talk.shake_hands(80)
    talk.tcp("out", 80, "R", 9_001)


def denied(talk):
    talk.tcp("in", 25, "S", 1_000)
    talk.tcp("out", 25, "SA", 9_000, 1_001)


def rejected(talk):
    talk.tcp("in", 23, "S", 1_000)


def rejected_in_the_middle(talk):
    talk.tcp("in", 23, "A", 1_000, 5_000)


def picked_up(talk):
    talk.tcp("in", 80, "A", 1_000, 9_000)
    talk.tcp("out", 80, "A", 9_000, 1_000)


def begun_by_the_outside(talk):
    talk.tcp("out", 4_000, "S", 9_000)
    talk.tcp("out", 4_000, "SA", 9_000, 1_001)
    talk.tcp("out", 4_000, "R", 9_000)


def lone_reset(talk):
    talk.tcp("in", 80, "R", 1_000)


def asked_and_answered(talk):
    for _ in range(2):
        talk.say("in", talk.udp("in", 53))
        talk.say("out", talk.udp("out", 53))


def answered_by_a_stranger(talk):
    talk.say("in", talk.udp("in", 53))
    talk.say("out", talk.udp("out", 54))


def rejected_datagram(talk):
    talk.say("in", talk.udp("in", 69))


def denied_datagram(talk):
    talk.say("in", talk.udp("in", 111))


def high_ports(talk):
    for port in (8_000, 8_100, 8_101):
        talk.say("in", talk.udp("in", port))


def ping(talk):
    talk.say("in", talk.echo("in", True))
    talk.say("out", talk.echo("out", False))


def ping_from_outside(talk):
    talk.say("out", talk.echo("out", True))
    talk.say("out", talk.echo("out", False))


def unreachable(talk):
    query = talk.udp("in", 53)
    talk.say("in", query)
    talk.say("out", talk.error("out", query))


def expired_on_the_way(talk):
    query = talk.udp("in", 53)
    talk.say("in", query)
    talk.say("out", talk.error("out", query, True, ELSEWHERE[talk.is_ipv6]))


def error_about_nothing(talk):
    talk.say("out", talk.error("out", talk.udp("in", 53)))


def error_about_ping(talk):
    request = talk.echo("in", True)
    talk.say("in", request)
    talk.say("out", talk.error("out", request, True, ELSEWHERE[talk.is_ipv6]))


def in_fragments(talk):
    for part in talk.parts(talk.udp("in", 53, b"fragment" * 300)):
        talk.say("in", part)
    talk.say("out", talk.udp("out", 53))


def denied_in_fragments(talk):
    for part in talk.parts(talk.udp("in", 111, b"fragment" * 300)):
        talk.say("in", part)


def another_protocol(talk):
    for side in ("in", "out"):
        fields = {"nh": 47} if talk.is_ipv6 else {"proto": 47}
        talk.say(side, talk.ip(side, **fields) / Raw(b"\0\0\x08\0" + b"tunnel" * 4))


KINDS = (download, half_open, refused_by_server, reset_under_way, denied, rejected,
         rejected_in_the_middle, picked_up, begun_by_the_outside, lone_reset, asked_and_answered,
         answered_by_a_stranger, rejected_datagram, denied_datagram, high_ports, ping,
         ping_from_outside, unreachable, expired_on_the_way, error_about_nothing, error_about_ping,
         in_fragments, denied_in_fragments, another_protocol)


def conversations(count):
    """So many, of all kinds in turn, in both families."""
    talks = []
    for number in range(count):
        kind = KINDS[number // 2 % len(KINDS)]
        talk = Talk(kind.__name__, number, number % 2 == 1)
        kind(talk)
        talks.append(talk)
    return talks
