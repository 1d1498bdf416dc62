"""The fixtures of packets in packets: see make_fixtures.py. What a host decapsulates is scapy's own
reading of the expected bytes, compared with what was sent."""

from scapy.all import IP, IPv6, UDP, Ether, Raw

from fixture_format import add, ethernet, ip4, ip6, tcp, udp

SOURCE4, HOST4 = "10.0.0.1", "10.0.0.11"
SOURCE6, HOST6 = "2001:db8:2::1", "2001:db8:2::11"
GUE_PORT, FLOW_HASH, IDENTIFICATION = 6080, 0x1234, 4711
GUE4, GUE6 = bytes([0, 4, 0, 0]), bytes([0, 41, 0, 0])  # version 0, no options; what is inside


def outer4(inner, protocol):
    return IP(src=SOURCE4, dst=HOST4, ttl=64, id=IDENTIFICATION, proto=protocol, tos=inner.tos,
              flags="DF" if inner.flags.DF else 0)


def outer6(inner, next_header):
    return IPv6(src=SOURCE6, dst=HOST6, hlim=64, nh=next_header, tc=inner.tc, fl=FLOW_HASH)


def outer_udp():
    return UDP(sport=0xc000 | FLOW_HASH, dport=GUE_PORT, chksum=0)


def tunnels():
    g, e = "tunnels", ethernet()
    inner_packets = [
        ("syn", "a plain SYN", ip4() / tcp(), ip6() / tcp()),
        ("ecn", "classes and congestion go out with it", ip4(tos=0xb9, flags="DF") / tcp(),
         ip6(tc=0xb9, fl=77) / tcp()),
        ("udp", "an odd datagram", ip4() / udp() / Raw(b"abc"), ip6() / udp() / Raw(b"abc")),
        ("long", "a thousand bytes", ip4() / tcp() / Raw(b"x" * 1000),
         ip6() / tcp() / Raw(b"x" * 1000)),
    ]
    for name, about, inner4, inner6 in inner_packets:
        add(g, f"ipip4_{name}", about, e / inner4, "ok",
            rewrite=[f"ipip {SOURCE4} {HOST4} {FLOW_HASH} {IDENTIFICATION}"],
            expect=opened(e / outer4(inner4, 4) / inner4, inner4, 20))
        add(g, f"ipip6_{name}", about, e / inner6, "ok",
            rewrite=[f"ipip {SOURCE6} {HOST6} {FLOW_HASH} 0"],
            expect=opened(e / outer6(inner6, 41) / inner6, inner6, 40))
        add(g, f"gue4_{name}", about, e / inner4, "ok",
            rewrite=[f"gue {SOURCE4} {HOST4} {FLOW_HASH} {IDENTIFICATION}"],
            expect=opened(e / outer4(inner4, 17) / outer_udp() / Raw(GUE4 + bytes(inner4)),
                          inner4, 32))
        add(g, f"gue6_{name}", about, e / inner6, "ok",
            rewrite=[f"gue {SOURCE6} {HOST6} {FLOW_HASH} 0"],
            expect=opened(e / outer6(inner6, 17) / outer_udp() / Raw(GUE6 + bytes(inner6)),
                          inner6, 52))


def opened(frame, inner, outer_bytes):
    """The frame, if what stands behind its outer headers is the inner packet."""
    received = bytes(Ether(bytes(frame)))
    assert received[14 + outer_bytes:] == bytes(inner), frame.summary()
    return frame
