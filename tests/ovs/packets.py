"""Random packets of the values that rules are of, with the fields that OpenFlow says they have.
Each has its number at its end, behind the IP packet or in the payload, where no rule looks.
"""

import struct
from typing import NamedTuple

from scapy.layers.inet import ICMP as Icmp, IP, IPOption_Router_Alert, TCP as Tcp, UDP as Udp
from scapy.layers.inet6 import (ICMPv6EchoRequest, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment,
                                IPv6ExtHdrHopByHop, IPv6ExtHdrRouting, PadN)
from scapy.layers.l2 import ARP as Arp
from scapy.layers.sctp import SCTP as Sctp
from scapy.packet import Raw

from fields import (ANY_FRAGMENT, ARP, ICMP, ICMPV6, IPV4, IPV6, LATER, PORTS, SCTP, TAG, TCP, UDP,
                    ipv4, ipv6, placed)
from odd_packets import OddPackets

MARK = b"\xd1NR#"
MARKED = struct.Struct(">4sI")
STACKS = 3_000  # different headers behind Ethernet's; with addresses, tags and ports, more
FRAME_FIELDS = ("in_port", "eth_dst", "eth_src", "vlan")  # of packets of any EtherType
TTL_ONE = 0.03  # of IP packets, this share may not be forwarded by who counts
FRAGMENT = 44  # the protocol of later fragments of IPv6: what OpenFlow has, who knows no other


class Packet(NamedTuple):
    number: int
    kind: str
    in_port: int
    frame: bytes
    fields: int  # as fields.placed() has them
    ttl: int  # 0: has none


class Stack(NamedTuple):
    """All behind the tags, from the EtherType on."""

    kind: str
    data: bytes
    fields: dict
    ttl: int = 0


class Packets:
    def __init__(self, random, values):
        self.random = random
        self.values = values
        self.odd = OddPackets(random, values)
        self.stacks = [self._stack() for _ in range(STACKS)]

    def draw(self, count):
        return [self._packet(number) for number in range(count)]

    def _maybe(self, share):
        return self.random.random() < share

    def _packet(self, number):
        stack = self.random.choice(self.stacks)
        in_port = self.random.randrange(1, PORTS + 1)
        fields = dict(stack.fields, in_port=in_port,
                      eth_dst=self.random.choice(self.values.macs),
                      eth_src=self.random.choice(self.values.macs[:10]))
        tags, kind = b"", stack.kind
        if self._maybe(0.3):
            control = self.random.choice(self.values.vlans) | self.random.randrange(8) << 13
            fields["vlan"] = control | TAG
            eligible = TAG if self._maybe(0.1) else 0  # to be dropped: no rule sees it
            tags = struct.pack(">HH", 0x8100, control | eligible)
            kind = "tagged " + kind
            if self._maybe(0.1):
                tags += struct.pack(">HH", 0x8100, self.random.choice(self.values.vlans))
                kind = "twice " + kind
            if kind.startswith("twice") and self._maybe(0.1):
                tags += struct.pack(">HH", 0x8100, 7)
                kind = "thrice tagged"
                fields = {name: fields[name] for name in FRAME_FIELDS} | {"eth_type": 0x8100}
        frame = (fields["eth_dst"].to_bytes(6, "big") + fields["eth_src"].to_bytes(6, "big")
                 + tags + stack.data)
        if stack.kind != "IPv4 cut off":
            frame = frame.ljust(60 - MARKED.size, b"\0")
        return Packet(number, kind, in_port, frame + MARKED.pack(MARK, number), placed(fields),
                      stack.ttl)

    def _stack(self):
        kind = self.random.random()
        if kind < 0.05:
            return self._arp()
        if kind < 0.10:
            name, eth_type, data, fields = self.odd.draw()
            ttl = 64 if eth_type in (IPV4, IPV6) and "ip_proto" in fields else 0
            return Stack(name, struct.pack(">H", eth_type) + data, {"eth_type": eth_type} | fields,
                         ttl)
        if kind < 0.15:
            eth_type = self.random.choice(self.values.types)
            data = self.random.randbytes(self.random.randrange(40))
            return Stack("no IP", struct.pack(">H", eth_type) + data, {"eth_type": eth_type})
        return self._ip(IPV4 if kind < 0.65 else IPV6)

    def _arp(self):
        one, other = (ipv4(self.values.address(IPV4)) for _ in range(2))
        arp = Arp(op=self.random.choice((1, 2)), psrc=one, pdst=other)
        return Stack("ARP", struct.pack(">H", ARP) + bytes(arp), {"eth_type": ARP})

    def _ip(self, eth_type):
        family = "ipv6" if eth_type == IPV6 else "ipv4"
        source, destination = (self.values.address(eth_type) for _ in range(2))
        dscp = self.random.choice(self.values.dscps)
        ttl = 1 if self._maybe(TTL_ONE) else self.random.randrange(2, 256)
        fields = {"eth_type": eth_type, f"{family}_src": source, f"{family}_dst": destination,
                  "ip_dscp": dscp}
        service = dscp << 2 | self.random.randrange(4)
        name, protocol, transport, more = self._transport(eth_type)
        header = self._ipv4 if eth_type == IPV4 else self._ipv6
        datagram, fragment, extra = header(source, destination, service, ttl, protocol, transport)
        is_later = fragment == ANY_FRAGMENT | LATER
        if is_later and eth_type == IPV6:
            protocol = FRAGMENT
        fields |= {"ip_proto": protocol, "ip_frag": fragment} | ({} if is_later else more)
        kind = {0: "", ANY_FRAGMENT: "first fragment of ", 3: "later fragment of "}[fragment]
        kind = f"{kind}{name} over IPv{'6' if eth_type == IPV6 else '4'}{extra}"
        return Stack(kind, struct.pack(">H", eth_type) + datagram, fields, ttl)

    def _transport(self, eth_type):
        """Its name, its protocol, its bytes (a multiple of 8, as fragments have them), and its
        fields.
        """
        icmp = ICMP if eth_type == IPV4 else ICMPV6
        protocol = self.random.choice((TCP, TCP, TCP, UDP, UDP, UDP, icmp, icmp, SCTP, None))
        source, destination = (self._port() for _ in range(2))
        ports = {"tp_src": source, "tp_dst": destination}
        payload = Raw(bytes(4 + 8 * self.random.randrange(4)))
        if protocol == TCP:
            flags = self.random.choice((0x02, 0x12, 0x10, 0x18, 0x11, 0x04, 0xC2, 0x110))
            reserved = self.random.choice((0, 0, 0, 1, 4))
            header = Tcp(sport=source, dport=destination, flags=flags, reserved=reserved)
            return "TCP", TCP, header / payload, ports | {"tcp_flags": reserved << 9 | flags}
        if protocol == UDP:
            return "UDP", UDP, Udp(sport=source, dport=destination) / payload / Raw(b"more"), ports
        if protocol == SCTP:
            return "SCTP", SCTP, Sctp(sport=source, dport=destination) / payload, ports
        if protocol is None:
            protocol = self.random.choice(self.values.protocols)
            return f"protocol {protocol}", protocol, payload / Raw(b"more"), {}
        kind, code = self.random.choice(self.values.icmp_types[icmp]), self.random.randrange(3)
        fields = {"icmp_type": kind, "icmp_code": code}
        message = (Icmp if icmp == ICMP else ICMPv6EchoRequest)(type=kind, code=code)
        return "ICMP", icmp, message / Raw(bytes(8)), fields

    def _port(self):
        return self.random.choice(self.values.ports)

    def _fragment(self):
        """Its offset, and whether more follow: mostly none."""
        kind = self.random.random()
        if kind < 0.85:
            return 0, 0, 0
        if kind < 0.92:
            return 0, 1, ANY_FRAGMENT
        return self.random.randrange(3, 100), int(self._maybe(0.5)), ANY_FRAGMENT | LATER

    def _ipv4(self, source, destination, service, ttl, protocol, transport):
        offset, more, fragment = self._fragment()
        options = [IPOption_Router_Alert()] if self._maybe(0.1) else []
        header = IP(src=ipv4(source), dst=ipv4(destination), tos=service, ttl=ttl, proto=protocol,
                    flags=more, frag=offset, options=options)
        return bytes(header / transport), fragment, ", with options" if options else ""

    def _ipv6(self, source, destination, service, ttl, protocol, transport):
        offset, more, fragment = self._fragment()
        header = IPv6(src=ipv6(source), dst=ipv6(destination), tc=service, hlim=ttl)
        # Scapy writes the next header's number for what it knows, and cannot for raw bytes.
        parts, extra = [], ""
        if self._maybe(0.15):
            part = self.random.choice((IPv6ExtHdrHopByHop, IPv6ExtHdrDestOpt, None))
            parts.append(part(options=[PadN(optdata=bytes(4))]) if part
                         else IPv6ExtHdrRouting(type=2, segleft=0))
            extra = ", with options"
        if fragment or self._maybe(0.02):
            parts.append(IPv6ExtHdrFragment(offset=offset, m=more, id=self.random.getrandbits(32)))
            extra += ", alone behind a fragment header" if not fragment else ""
        chain = header
        for part in parts:
            chain = chain / part
        chain.lastlayer().nh = protocol
        return bytes(chain / transport), fragment, extra


def number_of(frame):
    """The number of a packet whose frame this is."""
    mark, number = MARKED.unpack_from(frame, frame.rindex(MARK))
    return number
