"""Why a packet is dropped before any connection is looked at.

The model asks this for well-meant captures with single faults, so that the order of the questions
does not matter: a packet with two faults would have two right answers.
"""

import ipaddress

from headers import (
    AUTHENTICATION,
    FRAGMENT,
    IPV6_EXTENSIONS,
    ROUTING,
    VLAN_TYPES,
    is_of_port,
    word,
)
from lb_config import TCP, UDP
from scapy.utils import checksum

LOOSE_SOURCE_ROUTE, STRICT_SOURCE_ROUTE = 131, 137


def refusal(port, frame, headers):
    """A drop cause, or None; `headers` as find_headers gives them."""
    if frame[:6] != port.mac and (frame[0] & 1 or not port.is_promiscuous):
        return "not_for_us"
    l3, vlan = 14, ()
    while word(frame, l3 - 2) in VLAN_TYPES:
        vlan += (word(frame, l3) & 0xFFF,)
        l3 += 4
    if not is_of_port(vlan, port):
        return "wrong_vlan"
    ask = {0x0800: refuse_ipv4, 0x86DD: refuse_ipv6}.get(word(frame, l3 - 2))
    if ask is None:
        return "not_ip"
    cause = ask(frame[l3:])
    if cause is not None:
        return cause
    if headers is None:
        return "bad_header"
    if headers.protocol == TCP and frame[headers.l4 + 12] >> 4 < 5:
        return "bad_header"
    if any(is_martian(end.address) for end in (headers.source, headers.target)):
        return "martian"
    if len(frame) - l3 > port.mtu:
        return "too_big"
    return "ttl_expired" if headers.hops <= 1 else None


def refuse_ipv4(packet):
    header_bytes = 4 * (packet[0] & 15)
    if packet[0] >> 4 != 4 or header_bytes < 20:
        return "bad_header"
    if word(packet, 2) > len(packet):
        return "truncated"
    if checksum(packet[:header_bytes]) != 0:
        return "bad_checksum"
    if word(packet, 6) & 0x3FFF:
        return refuse_fragment(word(packet, 6) & 0x2000, word(packet, 2) - header_bytes)
    if header_bytes > 20 and packet[20] in (LOOSE_SOURCE_ROUTE, STRICT_SOURCE_ROUTE):
        return "ipv4_source_route"
    return None if packet[9] in (TCP, UDP) else "unsupported_protocol"


def refuse_fragment(is_followed, size):
    """The well-meant captures have no fragments but those that cannot be."""
    assert is_followed and size % 8, "the model does not follow fragments"
    return "bad_fragment"


def refuse_ipv6(packet):
    if packet[0] >> 4 != 6:
        return "bad_header"
    if 40 + word(packet, 4) > len(packet):
        return "truncated"
    protocol, offset = packet[6], 40
    while protocol in IPV6_EXTENSIONS:
        if protocol == ROUTING and packet[offset + 3] > 0:
            return "ipv6_routing_header"
        if protocol == FRAGMENT and word(packet, offset + 2) & 0xFFF9:
            return refuse_fragment(word(packet, offset + 2) & 1, 32 + word(packet, 4) - offset)
        units = {FRAGMENT: 8, AUTHENTICATION: 4 * (packet[offset + 1] + 2)}
        length = units.get(protocol, 8 * (packet[offset + 1] + 1))
        protocol, offset = packet[offset], offset + length
    return None if protocol in (TCP, UDP) else "unsupported_protocol"


def is_martian(address):
    parsed = ipaddress.ip_address(address)
    return (
        parsed.is_loopback or parsed.is_multicast or parsed.is_unspecified or parsed.is_link_local
    )
