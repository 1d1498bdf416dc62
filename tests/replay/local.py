"""What is for the balancer itself: ARP messages, and echo requests for an address of its own or a
virtual one.
"""

import struct

from scapy.utils import checksum

from headers import VLAN_TYPES, is_of_port, tags_of, word

ARP, IPV4, IPV6 = 0x0806, 0x0800, 0x86DD
ECHO_REQUEST = {IPV4: (1, 8, 0), IPV6: (58, 128, 129)}  # protocol, request, reply
REPLY_TTL = 64


def link_of(frame):
    """The tags, the EtherType and where what follows it begins."""
    l3, vlan = 14, ()
    while word(frame, l3 - 2) in VLAN_TYPES:
        vlan += (word(frame, l3) & 0xFFF,)
        l3 += 4
    return vlan, word(frame, l3 - 2), l3


def is_arp(port, frame):
    """Whether it is a well-formed ARP message for this port or for all: it is kept."""
    try:
        vlan, ether_type, l3 = link_of(frame)
    except struct.error:
        return False
    arp = frame[l3 : l3 + 28]
    return (
        (frame[:6] == port.mac or frame[0] & 1)
        and is_of_port(vlan, port)
        and ether_type == ARP
        and len(arp) == 28
        and arp[:6] == bytes.fromhex("000108000604")
        and word(arp, 6) in (1, 2)
        and not arp[8] & 1
        and any(arp[8:14])
    )


def echo_reply(config, port, frame):
    """The reply, byte by byte, of an echo request without options or extension headers; None when
    the frame is none of them.
    """
    try:
        vlan, ether_type, l3 = link_of(frame)
        if ether_type not in ECHO_REQUEST or not is_of_port(vlan, port) or frame[:6] != port.mac:
            return None
        protocol, request, reply = ECHO_REQUEST[ether_type]
        is_ipv6 = ether_type == IPV6
        first, size, l4 = (8, 16, l3 + 40) if is_ipv6 else (12, 4, l3 + 20)
        source, target = (frame[l3 + first + i * size :][:size] for i in (0, 1))
        if frame[l3 + (6 if is_ipv6 else 9)] != protocol or target not in config.own_addresses:
            return None
        if frame[l4] != request or frame[l4 + 1] != 0:
            return None
    except (struct.error, IndexError):
        return None
    out = bytearray(frame)
    out[0:6], out[6:12] = frame[6:12], frame[0:6]
    out[l3 + first : l3 + first + 2 * size] = target + source
    out[l4] = reply
    # One's complement: the type's word became less, so the checksum becomes more by as much.
    value = word(frame, l4 + 2) + ((request - reply) << 8)
    struct.pack_into("!H", out, l4 + 2, (value & 0xFFFF) + (value >> 16))
    if is_ipv6:
        out[l3 + 7] = REPLY_TTL
    else:
        out[l3 + 8] = REPLY_TTL
        struct.pack_into("!H", out, l3 + 10, 0)
        struct.pack_into("!H", out, l3 + 10, checksum(bytes(out[l3 : l3 + 20])))
    return bytes(out[:12]) + tags_of(port.vlan) + bytes(out[l3 - 2 :])
