"""Frames no kernel would send, each with one thing wrong with it: the balancer's drop cause is its
name here.
"""

from scapy.layers.inet import ICMP, IP, TCP, IPOption_LSRR
from scapy.layers.inet6 import IPv6, IPv6ExtHdrRouting
from scapy.layers.l2 import ARP, Dot1Q, Ether

EACH = 2  # times a frame is sent
SEND = """
import socket, sys
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
  sender.bind(("eth0", 0))
  for frame in sys.argv[1:]:
    sender.send(bytes.fromhex(frame))
"""


def bad_frames(lb_mac, client, client6, web, web6):
    """Drop cause -> a SYN to a service that exists, spoilt."""
    link = Ether(src="02:00:00:00:01:10", dst=lb_mac)
    elsewhere = Ether(src="02:00:00:00:01:10", dst="02:00:00:00:99:99")
    ip, ip6 = IP(src=client, dst=web), IPv6(src=client6, dst=web6)
    syn = TCP(sport=9999, dport=80, flags="S")
    return {
        "not_for_us": elsewhere / ip / syn,
        "wrong_vlan": link / Dot1Q(vlan=9) / ip / syn,
        "not_ip": Ether(src=link.src, dst=lb_mac, type=0x88CC) / bytes(46),
        "bad_neighbour_message": link / ARP(op=9, psrc=client, pdst=web),
        "truncated": Ether(bytes(link / ip / syn)[:40]),
        "bad_header": link / ip / TCP(sport=9999, dport=80, flags="S", dataofs=3),
        "bad_checksum": link / IP(src=client, dst=web, chksum=1) / syn,
        "unsupported_protocol": link / ip / ICMP(type=13),
        "bad_fragment": link / IP(src=client, dst=web, flags="MF") / syn,
        "martian": link / IP(src="127.0.0.1", dst=web) / syn,
        "ipv4_source_route": link
        / IP(src=client, dst=web, options=[IPOption_LSRR(routers=["10.0.0.11"])])
        / syn,
        "ipv6_routing_header": link / ip6 / IPv6ExtHdrRouting(addresses=[web6]) / syn,
    }


def send_bad_frames(namespace, frames):
    texts = [bytes(frame).hex() for frame in frames.values()]
    namespace.run("/usr/bin/python3", "-c", SEND, *texts * EACH)
