"""The ICMP errors that the balancer itself sends, built by scapy from the packet that they are
about.

They leave after the batch that their packet came in, and which packets share a batch the model does
not know. So they are told apart from what was forwarded, and compared on their own.
"""

import ipaddress

from scapy.layers.inet import ICMP, IP
from scapy.layers.inet6 import (
    ICMPv6DestUnreach,
    ICMPv6PacketTooBig,
    ICMPv6TimeExceeded,
    IPv6,
)
from scapy.packet import Raw

from headers import addresses, tags_of, word
from translate import end_of_ip

EMBEDDED_MAX = {4: 576 - 28, 6: 1280 - 48}


def answer(port, frame, headers, mtu=None):
    """What `port`, which received the frame, sends back: time exceeded, or too big for `mtu`."""
    source = ipaddress.ip_address(headers.source.address)
    own = own_address(port, source)
    if own is None:
        return None
    if source.version == 4:
        kind = ICMP(type=11, code=0) if mtu is None else ICMP(type=3, code=4, nexthopmtu=mtu)
        if mtu is None:
            kind.unused = 0
    else:
        kind = ICMPv6TimeExceeded() if mtu is None else ICMPv6PacketTooBig(mtu=mtu)
    return error(port, frame, headers, own, kind)


def port_unreachable(port, frame, headers):
    """What the virtual address itself sends back, of which no service has the port."""
    own = ipaddress.ip_address(headers.target.address)
    kind = ICMP(type=3, code=3) if own.version == 4 else ICMPv6DestUnreach(code=4)
    return error(port, frame, headers, own, kind)


def error(port, frame, headers, own, kind):
    """The error of this kind about a frame that came by `port`, from `own` to its sender."""
    source = ipaddress.ip_address(headers.source.address)
    end = min(end_of_ip(frame, headers), headers.l3 + EMBEDDED_MAX[source.version])
    about = Raw(frame[headers.l3 : end])
    if source.version == 4:
        packet = IP(src=str(own), dst=str(source), tos=0xC0, id=0, flags="DF", ttl=64) / kind
    else:
        packet = IPv6(src=str(own), dst=str(source), hlim=64) / kind
    ether_type = frame[headers.l3 - 2 : headers.l3]
    return frame[6:12] + port.mac + tags_of(port.vlan) + ether_type + bytes(packet / about)


def own_address(port, asker):
    """The port's address in the asker's network, else its first of that family."""
    of_family = [a for a in port.addresses if a.version == asker.version]
    near = [a.ip for a in of_family if asker in a.network]
    return (near or [a.ip for a in of_family] or [None])[0]


def is_answer(port, frame):
    """Whether a frame that left by this port is an error of the balancer's own."""
    l3 = 14 + 4 * len(port.vlan)
    is_ipv6 = word(frame, l3 - 2) == 0x86DD
    if frame[l3 + 6 if is_ipv6 else l3 + 9] != (58 if is_ipv6 else 1):
        return False
    source, _ = addresses(frame, l3, is_ipv6)
    kind = tuple(frame[l3 + (40 if is_ipv6 else 20) :][:2])
    is_port_unreachable = kind == ((1, 4) if is_ipv6 else (3, 3))
    return is_port_unreachable or any(a.ip.packed == source for a in port.addresses)


def is_solicitation(port, frame):
    """Whether a frame asks in the port's name who has an address of its networks: a client's, whose
    connection its backend goes on with.
    """
    l3 = 14 + 4 * len(port.vlan)
    own = {a.ip.packed for a in port.addresses}
    if word(frame, l3 - 2) == 0x0806:
        asked, sender = frame[l3 + 24 : l3 + 28], frame[l3 + 14 : l3 + 18]
        is_asking = word(frame, l3 + 6) == 1
    else:
        asked, sender = frame[l3 + 48 : l3 + 64], frame[l3 + 8 : l3 + 24]
        is_asking = word(frame, l3 - 2) == 0x86DD and frame[l3 + 6] == 58 and frame[l3 + 40] == 135
    if not is_asking or frame[6:12] != port.mac or sender not in own:
        return False
    target = ipaddress.ip_address(asked)
    return any(target in a.network for a in port.addresses if a.version == target.version)


def split(config, sent):
    """(forwarded, answers): for each port the records of each sort, in their order."""
    sent = [
        [r for r in records if not is_solicitation(port, r.frame)]
        for port, records in zip(config.ports, sent)
    ]
    forwarded = [
        [r for r in records if not is_answer(port, r.frame)]
        for port, records in zip(config.ports, sent)
    ]
    answers = [
        [r for r in records if is_answer(port, r.frame)]
        for port, records in zip(config.ports, sent)
    ]
    return forwarded, answers
