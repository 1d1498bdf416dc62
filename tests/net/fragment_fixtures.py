"""The fixtures of fragments: see make_fixtures.py."""

from scapy.all import IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, PadN, Raw

from fixture_format import add, ethernet, ip4, ip6, tcp


def ipv4_fragments():
    g, e = "fragments4", ethernet()
    add(g, "first_fragment", "offset 0 with more to come",
        e / ip4(flags="MF") / tcp() / Raw(b"x" * 4), "fragment")
    add(g, "middle_fragment", "an offset with more to come",
        e / ip4(flags="MF", frag=100, proto=17) / Raw(b"x" * 32), "fragment")
    add(g, "last_fragment", "an offset, and no more to come",
        e / ip4(frag=100, proto=6) / Raw(b"x" * 31), "fragment")
    add(g, "fragment_of_gre", "a later fragment of what is not ours",
        e / ip4(frag=100, proto=47) / Raw(b"x" * 32), "unsupported_protocol")
    for name, about, packet in [
            ("tiny_first_fragment", "the ports and no more of TCP",
             ip4(flags="MF", proto=6) / Raw(bytes(ip4() / tcp())[20:28])),
            ("tiny_first_fragment_of_udp", "not even UDP's header: it has no bytes",
             ip4(flags="MF", proto=17)),
            ("fragment_into_tcp", "its offset of 8 would rewrite the flags (RFC 3128)",
             ip4(frag=1, proto=6) / Raw(b"x" * 32)),
            ("odd_fragment", "more to come behind 31 bytes",
             ip4(flags="MF", frag=100, proto=17) / Raw(b"x" * 31)),
            ("fragment_beyond_65535", "the ping of death: its last byte is the 65,536th",
             ip4(frag=8188, proto=17) / Raw(b"x" * 12)),
            ("empty_fragment", "an offset and nothing there", ip4(frag=100, proto=17))]:
        add(g, name, about, e / packet, "bad_fragment")
    add(g, "fragment_up_to_65535", "the last byte there can be",
        e / ip4(frag=8188, proto=17) / Raw(b"x" * 11), "fragment")


def ipv6_fragments():
    g, e = "fragments6", ethernet()
    dest = IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 12)])
    add(g, "first_fragment", "offset 0 with more to come",
        e / ip6() / IPv6ExtHdrFragment(m=1, id=5) / tcp() / Raw(b"x" * 4), "fragment")
    add(g, "first_fragment_with_options", "the options are in the fragmented part",
        e / ip6() / IPv6ExtHdrFragment(m=1, id=5) / dest / tcp() / Raw(b"x" * 4), "fragment")
    add(g, "later_fragment_of_options", "that TCP follows them only the first fragment says",
        e / ip6() / IPv6ExtHdrFragment(offset=100, m=1, id=5, nh=60) / Raw(b"x" * 32), "fragment")
    add(g, "tiny_first_fragment", "the ports and no more of TCP",
        e / ip6() / IPv6ExtHdrFragment(m=1, id=5, nh=6) / Raw(bytes(ip4() / tcp())[20:28]),
        "bad_fragment")
    add(g, "fragment_of_a_fragment", "two fragment headers",
        e / ip6() / IPv6ExtHdrFragment(m=1, id=5) / IPv6ExtHdrFragment(m=1, id=6) / tcp() /
        Raw(b"x" * 4), "bad_fragment")
    add(g, "fragment_beyond_65535", "its last byte is the 65,536th",
        e / ip6() / IPv6ExtHdrFragment(offset=8188, m=0, id=5, nh=17) / Raw(b"x" * 32),
        "bad_fragment")
    add(g, "last_fragment", "an offset, and no more to come",
        e / ip6() / IPv6ExtHdrFragment(offset=100, m=0, id=5, nh=6) / Raw(b"x" * 32), "fragment")
