"""What a forwarded packet must look like, byte by byte, in two ways that share no code.

`rebuild` lets scapy dissect the packet, changes its fields and has scapy build it again with every
checksum made from scratch: for well-formed packets. `splice` changes the bytes in place: for fuzzed
packets, which scapy would tidy up. There a wrong transport checksum must stay exactly as wrong as
it was, for a balancer must not repair what the wire broke; that is the only checksum arithmetic
here.
"""

import socket
import struct
from dataclasses import dataclass

from scapy.layers.inet import IP, TCP as TcpLayer, UDP as UdpLayer
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw
from scapy.utils import checksum

from headers import word
from lb_config import TCP, UDP, Endpoint

CUSTOMER_TAG, SERVICE_TAG = 0x8100, 0x88A8


@dataclass(frozen=True)
class Rewrite:
    """One address and port to replace, at the source or at the destination, and the way out."""

    at_source: bool
    endpoint: Endpoint
    source_mac: bytes
    target_mac: bytes
    vlan: tuple

    def tag_types(self):
        return (
            (SERVICE_TAG, CUSTOMER_TAG) if len(self.vlan) == 2 else (CUSTOMER_TAG,) * len(self.vlan)
        )


def rebuild(frame, headers, rewrite):
    """The forwarded packet, built by scapy; what follows the IP packet in the frame is kept."""
    end = end_of_ip(frame, headers)
    layer = (IPv6 if headers.is_ipv6 else IP)(frame[headers.l3 : end])
    transport = layer.getlayer(TcpLayer) or layer.getlayer(UdpLayer)
    header_bytes = 4 * transport.dataofs if headers.protocol == TCP else 8
    transport.remove_payload()
    transport.add_payload(Raw(frame[headers.l4 + header_bytes : end]))
    family = socket.AF_INET6 if headers.is_ipv6 else socket.AF_INET
    address = socket.inet_ntop(family, rewrite.endpoint.address)
    if rewrite.at_source:
        layer.src, transport.sport = address, rewrite.endpoint.port
    else:
        layer.dst, transport.dport = address, rewrite.endpoint.port
    if headers.is_ipv6:
        layer.hlim -= 1
    else:
        layer.ttl -= 1
        del layer.chksum
    if transport.chksum != 0 or headers.protocol == TCP:
        del transport.chksum

    macs = {"dst": mac_text(rewrite.target_mac), "src": mac_text(rewrite.source_mac)}
    types = [*rewrite.tag_types(), 0x86DD if headers.is_ipv6 else 0x0800]
    link = Ether(type=types[0], **macs)
    for tag, next_type in zip(rewrite.vlan, types[1:]):
        link = link / Dot1Q(vlan=tag, type=next_type)
    return bytes(link / layer) + frame[end:]


def end_of_ip(frame, headers):
    if headers.is_ipv6:
        return headers.l3 + 40 + word(frame, headers.l3 + 4)
    return headers.l3 + word(frame, headers.l3 + 2)


def mac_text(mac):
    return mac.hex(":")


def splice(frame, headers, rewrite):
    """The forwarded packet, made by changing bytes."""
    out = bytearray(frame)
    address, port = headers.l3 + (8 if headers.is_ipv6 else 12), headers.l4
    if not rewrite.at_source:
        address, port = address + len(rewrite.endpoint.address), port + 2
    out[address : address + len(rewrite.endpoint.address)] = rewrite.endpoint.address
    put_word(out, port, rewrite.endpoint.port)
    if headers.is_ipv6:
        out[headers.l3 + 7] -= 1
    else:
        out[headers.l3 + 8] -= 1
        put_word(out, headers.l3 + 10, 0)
        header = bytes(out[headers.l3 : headers.l3 + 4 * (frame[headers.l3] & 15)])
        put_word(out, headers.l3 + 10, checksum(header))
    put_word(out, headers.checksum, spliced_checksum(frame, bytes(out), headers))

    tags = b"".join(struct.pack("!HH", *tag) for tag in zip(rewrite.tag_types(), rewrite.vlan))
    return rewrite.target_mac + rewrite.source_mac + tags + bytes(out[headers.l3 - 2 :])


def put_word(packet, offset, value):
    struct.pack_into("!H", packet, offset, value)


def spliced_checksum(before, after, headers):
    """The transport checksum of `after`, as wrong as that of `before`."""
    given = word(before, headers.checksum)
    if headers.protocol == UDP and given == 0:
        return 0
    error = (given - right_checksum(before, headers)) % 0xFFFF
    value = right_checksum(after, headers)
    if error:
        value = (value + error) % 0xFFFF
    return 0xFFFF if headers.protocol == UDP and value == 0 else value


def right_checksum(packet, headers):
    """The transport checksum of these bytes, from scratch."""
    covered = bytearray(packet[headers.l4 : headers.l4_end])
    put_word(covered, headers.checksum - headers.l4, 0)
    first, size = (8, 32) if headers.is_ipv6 else (12, 8)
    addresses = packet[headers.l3 + first : headers.l3 + first + size]
    pseudo = addresses + struct.pack("!II", headers.l4_end - headers.l4, headers.protocol)
    return checksum(pseudo + bytes(covered))
