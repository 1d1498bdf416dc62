"""Finds the headers of a frame that may be garbage.

It forgives all it can: to say what must be dropped is not its business.
"""

import struct
from dataclasses import dataclass

from lb_config import TCP, UDP, Endpoint

VLAN_TYPES = (0x8100, 0x88A8)
ROUTING, FRAGMENT, AUTHENTICATION = 43, 44, 51
IPV6_EXTENSIONS = (0, 60, ROUTING, FRAGMENT, AUTHENTICATION)


@dataclass(frozen=True)
class Headers:
    vlan: tuple
    l3: int  # offset of the IP header
    l4: int  # offset of the TCP or UDP header
    l4_end: int  # where the bytes end that its checksum covers
    is_ipv6: bool
    protocol: int
    source: Endpoint
    target: Endpoint
    hops: int  # time to live or hop limit
    tcp_flags: int  # 0 for UDP

    @property
    def checksum(self):
        return self.l4 + (16 if self.protocol == TCP else 6)


def is_of_port(vlan, port):
    """Whether a frame with these tags is of the port; a tag of VLAN 0 says a priority only."""
    return vlan == port.vlan or (vlan, port.vlan) == ((0,), ())


def tags_of(vlan):
    """The tags as the balancer writes them: of two the outer is a service tag, priorities are 0."""
    types = (VLAN_TYPES[1], VLAN_TYPES[0]) if len(vlan) == 2 else (VLAN_TYPES[0],) * len(vlan)
    return b"".join(struct.pack("!HH", *tag) for tag in zip(types, vlan))


def find_headers(frame):
    """None when there is no TCP or UDP header to be found."""
    try:
        return _find_headers(frame)
    except (struct.error, IndexError):
        return None


def _find_headers(frame):
    l3, vlan = 14, []
    while word(frame, l3 - 2) in VLAN_TYPES:
        vlan.append(word(frame, l3) & 0xFFF)
        l3 += 4
    ether_type = word(frame, l3 - 2)
    if ether_type == 0x0800:
        is_ipv6, protocol, hops = False, frame[l3 + 9], frame[l3 + 8]
        l4, end = l3 + 4 * (frame[l3] & 15), l3 + word(frame, l3 + 2)
    elif ether_type == 0x86DD:
        is_ipv6, hops = True, frame[l3 + 7]
        protocol, l4 = skip_extensions(frame, frame[l3 + 6], l3 + 40)
        end = l3 + 40 + word(frame, l3 + 4)
    else:
        return None
    if protocol not in (TCP, UDP):
        return None
    if protocol == UDP:
        end = min(end, l4 + word(frame, l4 + 4))
    source, target = addresses(frame, l3, is_ipv6)
    headers = Headers(
        tuple(vlan),
        l3,
        l4,
        max(end, l4),
        is_ipv6,
        protocol,
        Endpoint(source, word(frame, l4)),
        Endpoint(target, word(frame, l4 + 2)),
        hops,
        frame[l4 + 13] if protocol == TCP else 0,
    )
    return headers if headers.checksum + 2 <= min(headers.l4_end, len(frame)) else None


def word(frame, offset):
    return struct.unpack_from("!H", frame, offset)[0]


def skip_extensions(frame, protocol, offset):
    while protocol in IPV6_EXTENSIONS:
        units = {FRAGMENT: 8, AUTHENTICATION: 4 * (frame[offset + 1] + 2)}
        length = units.get(protocol, 8 * (frame[offset + 1] + 1))
        protocol, offset = frame[offset], offset + length
    return protocol, offset


def addresses(frame, l3, is_ipv6):
    first, size = (l3 + 8, 16) if is_ipv6 else (l3 + 12, 4)
    return frame[first : first + size], frame[first + size : first + 2 * size]
