"""Packets that are cut off or contradict themselves, and what Open vSwitch sees of them: it takes
what it can of a packet and decides by that. `roost classify` drops them, by a cause.
"""

import struct

from scapy.layers.inet import IP, IPOption_LSRR, TCP as Tcp, UDP as Udp
from scapy.layers.inet6 import IPv6, IPv6ExtHdrRouting
from scapy.packet import Raw

from fields import ANY_FRAGMENT, ICMP, ICMPV6, IPV4, IPV6, SCTP, TCP, UDP, ipv4, ipv6

PAYLOAD = Raw(bytes(12))


class OddPackets:
    """draw() gives the kind, the EtherType, the bytes behind it, and the fields beside the type."""

    # What no rule sees here, and the cause by which it is dropped.
    REFUSED = {
        "IPv4 cut off": "truncated",
        "IPv4 longer than its frame": "truncated",
        "IPv4 with a header of 16 bytes": "bad_header",
        "IPv4 of version 5": "bad_header",
        "IPv4 with a wrong checksum": "bad_checksum",
        "IPv4 with a source route": "ipv4_source_route",
        "TCP cut off": "bad_header",
        "TCP with a header of 12 bytes": "bad_header",
        "UDP of 4 bytes": "bad_header",
        "fragment of an odd length": "bad_fragment",
        "IPv6 longer than its frame": "truncated",
        "IPv6 of version 4": "bad_header",
        "IPv6 with segments left": "ipv6_routing_header",
    }
    # Of which no rule sees more than the protocol: its number, and what of its header is there.
    CUT_OFF = {
        "ICMP of 4 bytes": (ICMP, struct.pack(">BBH", 8, 1, 0)),
        "IPv6's ICMP of 4 bytes": (ICMPV6, struct.pack(">BBH", 128, 1, 0)),
        "SCTP of 8 bytes": (SCTP, struct.pack(">HHI", 22, 53, 0)),
    }
    KINDS = (*REFUSED, *CUT_OFF, "802.3")

    def __init__(self, random, values):
        self.random = random
        self.values = values

    def draw(self):
        kind = self.random.choice(self.KINDS)
        if kind == "802.3":
            # 802.2 for spanning trees; OpenFlow's type for all without one.
            return kind, 38, b"\x42\x42\x03".ljust(38, b"\0"), {"eth_type": 0x05FF}
        source, destination = (self.random.choice(self.values.ports) for _ in range(2))
        ports = {"tp_src": source, "tp_dst": destination}
        udp = Udp(sport=source, dport=destination)
        tcp = Tcp(sport=source, dport=destination, flags="A")
        if "IPv6" in kind:
            return self._ipv6(kind, udp, ports)
        if kind == "IPv4 cut off":
            return kind, IPV4, b"", {}
        return self._ipv4(kind, tcp, udp, ports)

    def _ipv4(self, kind, tcp, udp, ports):
        one, other = (self.values.address(IPV4) for _ in range(2))
        header = IP(src=ipv4(one), dst=ipv4(other), ttl=64)
        addresses = {"ipv4_src": one, "ipv4_dst": other}
        udp_fields = addresses | ports | {"ip_proto": UDP}
        if kind == "IPv4 longer than its frame":
            header.len, packet, fields = 1_400, udp / PAYLOAD, {}
        elif kind == "IPv4 with a header of 16 bytes":
            header.ihl, packet, fields = 4, udp / PAYLOAD, {}
        elif kind == "IPv4 of version 5":
            header.version, packet, fields = 5, udp / PAYLOAD, udp_fields
        elif kind == "IPv4 with a wrong checksum":
            header.chksum, packet, fields = 0xBAD, udp / PAYLOAD, udp_fields
        elif kind == "IPv4 with a source route":
            header.options = [IPOption_LSRR(routers=["192.0.2.9"])]
            packet, fields = udp / PAYLOAD, udp_fields
        elif kind == "TCP cut off":
            header.proto = TCP
            packet, fields = Raw(bytes(tcp)[:10]), addresses | {"ip_proto": TCP}
        elif kind == "TCP with a header of 12 bytes":
            tcp.dataofs = 3
            packet, fields = tcp / PAYLOAD, addresses | {"ip_proto": TCP}
        elif kind == "UDP of 4 bytes":
            udp.len = 4
            packet, fields = udp / PAYLOAD, udp_fields
        elif kind in self.CUT_OFF:
            header.proto, header_bytes = self.CUT_OFF[kind]
            packet, fields = Raw(header_bytes), addresses | {"ip_proto": header.proto}
        else:
            header.flags = "MF"
            packet, fields = udp / Raw(bytes(13)), udp_fields | {"ip_frag": ANY_FRAGMENT}
        return kind, IPV4, bytes(header / packet), fields

    def _ipv6(self, kind, udp, ports):
        one, other = (self.values.address(IPV6) for _ in range(2))
        header = IPv6(src=ipv6(one), dst=ipv6(other), hlim=64)
        fields = {"ipv6_src": one, "ipv6_dst": other, "ip_proto": UDP} | ports
        packet = udp / PAYLOAD
        if kind in self.CUT_OFF:
            header.nh, header_bytes = self.CUT_OFF[kind]
            packet = Raw(header_bytes)
            fields = {name: fields[name] for name in ("ipv6_src", "ipv6_dst")}
            fields["ip_proto"] = header.nh
        elif kind == "IPv6 longer than its frame":
            header.plen, fields = 1_400, {}
        elif kind == "IPv6 of version 4":
            header.version = 4
        else:
            header = header / IPv6ExtHdrRouting(type=0, addresses=["2001:db8::9"], segleft=1)
        return kind, IPV6, bytes(header / packet), fields
