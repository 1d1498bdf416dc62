#!/usr/bin/python3
"""Writes the packet fixtures of tests/net: frames, what Roost must say of them and make of them.

Scapy builds every frame and computes every expected byte from the headers' fields, so it is a
model that shares nothing with roost/net. Run without arguments to rewrite fixtures/*.txt.

A fixture is a paragraph of `key: value` lines:
  name, about    what it is
  frame          the bytes, in hexadecimal
  first_segment  (optional) how many of them are in the first segment; default all
  verdict        of parse()
and if that is ok:
  flow           protocol, source address and port, destination address and port
  martian        yes or no
  l4_checksum    right, wrong or not_contiguous
  rewrite        (any number, in this order) destination ADDRESS PORT | source ADDRESS PORT |
                 decrement_ttl | macs SOURCE DESTINATION | vlan [PROTOCOL:CONTROL ...] |
                 ipip SOURCE DESTINATION FLOW_HASH IDENTIFICATION | gue, likewise |
                 translate IDENTIFICATION [cut | no], to the other IP version: it is cut afterwards,
                 or cannot be translated
  expect         the bytes after the rewrites, which other verdicts may have too
"""

import pathlib

from scapy.all import (ARP, AH, Dot1AD, Dot1Q, Ether, ICMP, ICMPv6EchoRequest, IP, IPOption_LSRR,
                       IPOption_NOP, IPOption_Router_Alert, IPOption_RR, IPOption_SSRR,
                       IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, IPv6ExtHdrRouting,
                       PadN, Raw, SCTP, UDP)
from scapy.utils import checksum

from fixture_format import (BACKEND4, BACKEND6, BACKEND_MAC, CLIENT4, CLIENT6, OUT_MAC, VIP4, VIP6,
                            add, chain_of, ethernet, groups, ip4, ip6, patched, tcp,
                            udp, write)
from fragment_fixtures import ipv4_fragments, ipv6_fragments
from translation_fixtures import translations
from tunnel_fixtures import tunnels

HERE = pathlib.Path(__file__).resolve().parent


def ipv4_fixtures():
    g, e = "ipv4", ethernet()
    to_backend = ["destination 10.0.0.11 8080", "decrement_ttl", f"macs {OUT_MAC} {BACKEND_MAC}"]
    out = Ether(src=OUT_MAC, dst=BACKEND_MAC)
    add(g, "tcp_syn", "a plain SYN goes to the backend", e / ip4() / tcp(), "ok",
        rewrite=to_backend,
        expect=out / ip4(dst=BACKEND4, ttl=63) / tcp(dport=8080))
    answer = {"dport": 40000, "flags": "SA"}
    add(g, "tcp_reply", "the backend's answer gets the virtual address as its source",
        e / ip4(src=BACKEND4, dst=CLIENT4) / tcp(sport=8080, **answer) / Raw(b"hello"), "ok",
        rewrite=["source 198.51.100.80 80", "decrement_ttl"],
        expect=e / ip4(src=VIP4, dst=CLIENT4, ttl=63) / tcp(sport=80, **answer) / Raw(b"hello"))
    add(g, "udp_odd_payload", "a UDP datagram of odd length", e / ip4() / udp() / Raw(b"abc"), "ok",
        rewrite=["destination 10.0.0.11 5353"],
        expect=e / ip4(dst=BACKEND4) / udp(dport=5353) / Raw(b"abc"))
    add(g, "udp_zero_checksum", "UDP without a checksum stays without one",
        e / ip4() / udp(chksum=0) / Raw(b"abcd"), "ok",
        rewrite=["destination 10.0.0.11 5353"],
        expect=e / ip4(dst=BACKEND4) / udp(dport=5353, chksum=0) / Raw(b"abcd"))
    zero_sum = udp_payload_with_checksum_ffff(5353)
    add(g, "udp_checksum_becomes_ffff", "a UDP checksum that would become 0 is sent as 0xffff",
        e / ip4() / udp() / Raw(zero_sum), "ok",
        rewrite=["destination 10.0.0.11 5353"],
        expect=e / ip4(dst=BACKEND4) / udp(dport=5353) / Raw(zero_sum))


def ipv4_option_fixtures():
    g, e, out = "ipv4", ethernet(), Ether(src=OUT_MAC, dst=BACKEND_MAC)
    to_backend = ["destination 10.0.0.11 8080", "decrement_ttl", f"macs {OUT_MAC} {BACKEND_MAC}"]
    options = [IPOption_Router_Alert(), IPOption_NOP()]
    add(g, "tcp_with_ip_options", "router alert and padding", e / ip4(options=options) / tcp(),
        "ok",
        rewrite=to_backend,
        expect=out / ip4(dst=BACKEND4, ttl=63, options=options) / tcp(dport=8080))
    add(g, "tcp_with_40_bytes_of_options", "the longest IPv4 header",
        e / ip4(options=[IPOption_NOP()] * 40) / tcp(), "ok",
        rewrite=["decrement_ttl"],
        expect=e / ip4(ttl=63, options=[IPOption_NOP()] * 40) / tcp())
    add(g, "tcp_with_record_route", "an option with a length",
        e / ip4(options=[IPOption_RR()]) / tcp(), "ok")
    add(g, "loose_source_route", "not at its final destination",
        e / ip4(options=[IPOption_LSRR(routers=["10.9.9.9"])]) / tcp(), "ipv4_source_route")
    add(g, "strict_source_route", "not at its final destination",
        e / ip4(options=[IPOption_NOP(), IPOption_SSRR(routers=["10.9.9.9"])]) / tcp(),
        "ipv4_source_route")
    add(g, "option_length_zero", "an option that would never end", with_bad_option(7, 0),
        "bad_header")
    add(g, "option_past_header", "an option longer than the header", with_bad_option(7, 9),
        "bad_header")


def ipv4_size_fixtures():
    g, e = "ipv4", ethernet()
    mss = [("MSS", 1460), ("WScale", 7), ("Timestamp", (1, 2))]
    add(g, "tcp_with_tcp_options", "MSS, window scale, timestamps", e / ip4() / tcp(options=mss),
        "ok",
        rewrite=["destination 10.0.0.11 80"],
        expect=e / ip4(dst=BACKEND4) / tcp(options=mss))
    add(g, "minimum_frame_with_padding", "bytes after the IP packet are padding",
        e / ip4() / udp() / Raw(b"x") / Raw(b""), "ok", flow=f"udp {CLIENT4} 40001 {VIP4} 53")
    groups[g][-1]["frame"] += "00" * 17
    add(g, "giant", "a frame of 2,054 bytes; the parser has no largest frame",
        e / ip4() / tcp(flags="A") / Raw(b"g" * 2000), "ok",
        rewrite=["destination 10.0.0.11 8080"],
        expect=e / ip4(dst=BACKEND4) / tcp(flags="A", dport=8080) / Raw(b"g" * 2000))
    add(g, "ttl_1", "parses; dropping it is the router's decision", e / ip4(ttl=1) / tcp(), "ok",
        rewrite=["decrement_ttl"],
        expect=e / ip4(ttl=0) / tcp())
    add(g, "wrong_tcp_checksum", "parses; the damage stays as large as it was",
        e / ip4() / tcp(chksum=0x1234), "ok", l4_checksum="wrong")
    add(g, "wrong_udp_checksum", "parses; verification says so",
        e / ip4() / udp(chksum=0x1234) / Raw(b"ab"), "ok", l4_checksum="wrong")


def ipv4_protocol_fixtures():
    g, e = "ipv4", ethernet()
    add(g, "dont_fragment", "the DF bit is no fragment", e / ip4(flags="DF") / tcp(), "ok")
    add(g, "icmp", "a protocol without ports", e / ip4() / ICMP(), "unsupported_protocol")
    add(g, "sctp", "a protocol with ports, but not ours", e / ip4() / SCTP(sport=1, dport=2),
        "unsupported_protocol")
    add(g, "payload_in_second_segment", "headers are in the first segment, the payload is not",
        e / ip4() / tcp(flags="PA") / Raw(b"p" * 100), "ok", first_segment=54,
        l4_checksum="not_contiguous",
        rewrite=["destination 10.0.0.11 8080"],
        expect=bytes(e / ip4(dst=BACKEND4) / tcp(flags="PA", dport=8080) / Raw(b"p" * 100)))


def udp_payload_with_checksum_ffff(port):
    """Two bytes that make the checksum of the translated datagram 0, which is sent as 0xffff."""
    probe = bytes(IP(bytes(ip4(dst=BACKEND4) / udp(dport=port) / Raw(b"\0\0"))))
    payload = probe[26:28]  # the checksum itself as data brings the sum to 0xffff
    assert bytes(ip4(dst=BACKEND4) / udp(dport=port) / Raw(payload))[26:28] == b"\xff\xff"
    return payload


def with_bad_option(kind, length):
    """A frame with a malformed option instead of four no-operations, its checksum right."""
    data = bytearray(bytes(ethernet() / ip4(options=[IPOption_NOP()] * 4) / tcp()))
    data[34:38] = bytes([kind, length, 0, 0])
    data[24:26] = bytes(2)
    data[24:26] = checksum(bytes(data[14:38])).to_bytes(2, "big")
    return bytes(data)


def vlan_fixtures():
    g, tail, out_tail = "vlan", ip4() / tcp(), ip4(dst=BACKEND4, ttl=63) / tcp(dport=8080)
    out = Ether(src=OUT_MAC, dst=BACKEND_MAC)
    forward = ["destination 10.0.0.11 8080", "decrement_ttl", f"macs {OUT_MAC} {BACKEND_MAC}"]
    one, two = Dot1Q(vlan=100), Dot1AD(vlan=200) / Dot1Q(vlan=100)
    add(g, "one_tag_popped", "802.1Q in, nothing out", ethernet() / one / tail, "ok",
        rewrite=forward + ["vlan"],
        expect=out / out_tail)
    add(g, "one_tag_changed", "802.1Q in, another out", ethernet() / one / tail, "ok",
        rewrite=forward + ["vlan 8100:00c8"],
        expect=out / Dot1Q(vlan=200) / out_tail)
    add(g, "one_tag_pushed", "nothing in, 802.1Q out", ethernet() / tail, "ok",
        rewrite=["vlan 8100:0064"] + forward,
        expect=out / one / out_tail)
    add(g, "two_tags_popped", "QinQ in, nothing out", ethernet() / two / tail, "ok",
        rewrite=["vlan"] + forward,
        expect=out / out_tail)
    add(g, "two_tags_pushed", "nothing in, QinQ out", ethernet() / tail, "ok",
        rewrite=forward + ["vlan 88a8:00c8 8100:0064"],
        expect=out / two / out_tail)
    add(g, "one_of_two_tags_popped", "QinQ in, 802.1Q out",
        ethernet() / two / ip6() / udp() / Raw(b"abc"), "ok",
        rewrite=["vlan 8100:0064"],
        expect=ethernet() / one / ip6() / udp() / Raw(b"abc"))
    add(g, "two_customer_tags", "two tags of 0x8100",
        ethernet() / Dot1Q(vlan=1) / Dot1Q(vlan=2) / tail, "ok")
    add(g, "priority_tag", "identifier 0, priority 5", ethernet() / Dot1Q(vlan=0, prio=5) / tail,
        "ok",
        rewrite=["vlan 8100:a00a"],
        expect=ethernet() / Dot1Q(vlan=10, prio=5) / tail)
    add(g, "three_tags", "more tags than are looked behind",
        ethernet() / Dot1AD(vlan=1) / Dot1Q(vlan=2) / Dot1Q(vlan=3) / tail, "not_ip")
    add(g, "tag_cut", "the frame ends inside its tag", bytes(ethernet() / one / tail)[:16],
        "truncated")
    add(g, "second_tag_cut", "the frame ends inside its second tag",
        bytes(ethernet() / two / tail)[:21], "truncated")
    add(g, "ethertype_behind_tag_missing", "a tag, then nothing",
        bytes(ethernet() / one / tail)[:17], "truncated")


def ipv6_fixtures():
    g, e = "ipv6", ethernet()
    hop = IPv6ExtHdrHopByHop(options=[PadN(optdata=b"\0" * 4)])
    dest = IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 12)])
    arrived = IPv6ExtHdrRouting(type=2, segleft=0, addresses=["2001:db8::99"])
    atomic = IPv6ExtHdrFragment(offset=0, m=0, id=5)
    to_backend = ["destination fd00::11 8080", "decrement_ttl"]
    add(g, "tcp_syn", "a plain SYN goes to the backend", e / ip6() / tcp(), "ok",
        rewrite=to_backend,
        expect=e / ip6(dst=BACKEND6, hlim=63) / tcp(dport=8080))
    add(g, "udp_reply", "the backend's answer gets the virtual address as its source",
        e / ip6(src=BACKEND6, dst=CLIENT6) / udp(sport=5353, dport=40001) / Raw(b"answer!"), "ok",
        rewrite=["source 2001:db8:80::80 53", "decrement_ttl"],
        expect=e / ip6(src=VIP6, dst=CLIENT6, hlim=63) / udp(sport=53, dport=40001) /
        Raw(b"answer!"))
    add(g, "udp_zero_checksum", "UDP over IPv6 must have a checksum; it is not invented",
        e / ip6() / udp(chksum=0) / Raw(b"ab"), "ok", l4_checksum="wrong",
        rewrite=["destination fd00::11 53"],
        expect=e / ip6(dst=BACKEND6) / udp(chksum=0) / Raw(b"ab"))
    for name, about, chain in [
            ("hop_by_hop", "one extension header", hop), ("destination_options",
            "24 bytes of options", dest),
            ("routing_arrived", "a routing header with no segment left", arrived),
            ("atomic_fragment", "a fragment header of a whole packet (RFC 6946)", atomic),
            ("long_chain", "every kind that is walked", hop / dest / arrived / atomic / dest)]:
        add(g, name, about, e / ip6() / chain / tcp(), "ok",
            rewrite=to_backend,
            expect=e / ip6(dst=BACKEND6, hlim=63) / chain / tcp(dport=8080))
    ah = AH(nh=6, payloadlen=4, spi=1, seq=1, icv=b"i" * 12)
    authenticated = ip6(nh=51) / Raw(bytes(ah)[:24]) / Raw(bytes(ip6() / tcp())[40:])
    add(g, "authentication_header", "its length counts other units than the others",
        e / authenticated, "ok", flow=f"tcp {CLIENT6} 40000 {VIP6} 80")
    add(g, "eight_extension_headers", "as many as are walked",
        e / ip6() / chain_of(dest, 8) / udp(), "ok")
    add(g, "nine_extension_headers", "more than are walked", e / ip6() / chain_of(dest, 9) / udp(),
        "too_many_extension_headers")


def ipv6_damage_fixtures():
    g, e = "ipv6", ethernet()
    hop = IPv6ExtHdrHopByHop(options=[PadN(optdata=b"\0" * 4)])
    dest = IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 12)])
    add(g, "routing_on_its_way", "a routing header with a segment left",
        e / ip6() / IPv6ExtHdrRouting(type=2, segleft=1, addresses=["2001:db8::99"]) / tcp(),
        "ipv6_routing_header")
    add(g, "hop_by_hop_late", "hop-by-hop options stand first or not at all",
        e / ip6() / dest / hop / tcp(), "bad_header")
    add(g, "icmpv6", "a protocol without ports", e / ip6() / ICMPv6EchoRequest(),
        "unsupported_protocol")
    add(g, "no_next_header", "nothing follows", e / ip6(nh=59), "unsupported_protocol")
    add(g, "extension_past_packet", "an extension header longer than the packet",
        patched(e / ip6() / hop / tcp(), 55, [200]), "bad_header")
    add(g, "extension_cut", "the packet's length ends before its extension header",
        patched(e / ip6() / hop / tcp(), 18, [0, 4]), "bad_header")
    add(g, "transport_cut_by_length", "the payload length leaves no room for TCP",
        patched(e / ip6() / tcp(), 18, [0, 19]), "bad_header")
    add(g, "jumbo_length_zero", "a payload length of 0 with a transport header behind",
        patched(e / ip6() / tcp(), 18, [0, 0]), "bad_header")
    add(g, "chain_in_second_segment", "the first segment ends inside the chain",
        e / ip6() / hop / tcp(), "split_headers", first_segment=60)


def cut_fixtures():
    g, e = "damaged", ethernet()
    whole, whole6 = bytes(e / ip4() / tcp()), bytes(e / ip6() / tcp())
    add(g, "empty", "no bytes at all", b"", "truncated")
    add(g, "runt", "less than an Ethernet header", whole[:13], "truncated")
    for cut, where in [(14, "behind Ethernet"), (33, "inside the IPv4 header"), (34,
            "behind the IPv4 header"),
                       (53, "inside the TCP header")]:
        add(g, f"ipv4_cut_at_{cut}", f"the frame ends {where}", whole[:cut], "truncated")
    options = bytes(e / ip4(options=[IPOption_NOP()] * 8) / tcp())
    add(g, "ipv4_options_cut", "the frame ends inside the options", options[:38], "truncated")
    for cut, where in [(53, "inside the IPv6 header"), (54, "behind the IPv6 header"), (73,
            "inside the TCP header")]:
        add(g, f"ipv6_cut_at_{cut}", f"the frame ends {where}", whole6[:cut], "truncated")
    add(g, "payload_cut", "the frame ends inside the payload",
        bytes(e / ip4() / udp() / Raw(b"x" * 20))[:-1], "truncated")
    add(g, "ipv6_payload_cut", "the frame ends inside the payload",
        bytes(e / ip6() / udp() / Raw(b"x" * 20))[:-1], "truncated")
    add(g, "ipv4_header_in_second_segment", "the first segment ends inside the IPv4 header", whole,
        "split_headers", first_segment=30)
    add(g, "tcp_header_in_second_segment", "the first segment ends inside the TCP header", whole,
        "split_headers", first_segment=53)
    add(g, "ethernet_in_second_segment", "the first segment ends inside the Ethernet header", whole,
        "split_headers", first_segment=10)


def damaged_fixtures():
    g, e = "damaged", ethernet()
    add(g, "bad_ip_checksum", "one bit of the checksum is wrong", e / ip4(chksum=0xbeef) / tcp(),
        "bad_checksum")
    add(g, "version_5", "EtherType IPv4, version 5", e / ip4(version=5) / tcp(), "bad_header")
    add(g, "ipv6_version_4", "EtherType IPv6, version 4", ethernet(0x86dd) / ip4() / tcp(),
        "bad_header")
    add(g, "ihl_4", "an IPv4 header shorter than it can be", e / ip4(ihl=4) / tcp(), "bad_header")
    add(g, "total_length_short", "a total length inside the header", e / ip4(len=19) / tcp(),
        "bad_header")
    add(g, "total_length_leaves_no_tcp", "a total length inside the TCP header",
        e / ip4(len=39) / tcp(), "bad_header")
    add(g, "total_length_long", "a total length beyond the frame", e / ip4(len=41) / tcp(),
        "truncated")
    add(g, "tcp_data_offset_4", "a TCP header shorter than it can be", e / ip4() / tcp(dataofs=4),
        "bad_header")
    add(g, "tcp_data_offset_long", "a TCP header longer than the packet",
        e / ip4() / tcp(dataofs=6), "bad_header")
    add(g, "udp_length_7", "a UDP length shorter than its header", e / ip4() / udp(len=7),
        "bad_header")
    add(g, "udp_length_long", "a UDP length beyond the packet", e / ip4() / udp(len=9),
        "bad_header")
    add(g, "udp_length_leaves_bytes", "bytes behind the UDP length are allowed (RFC 9868)",
        e / ip4() / udp(len=10, chksum=udp_checksum(b"ab")) / Raw(b"abcd"), "ok")
    add(g, "arp", "not IP", e / ARP(), "not_ip")
    add(g, "lldp", "not IP", ethernet(0x88cc) / Raw(bytes.fromhex("0207040200000000010403000000")),
        "not_ip")
    add(g, "length_field", "an 802.3 frame: the EtherType is a length",
        ethernet(0x0026) / Raw(b"\x42\x42\x03" + b"\0" * 35), "not_ip")


def udp_checksum(payload):
    return IP(bytes(ip4() / udp() / Raw(payload)))[UDP].chksum


def martian_fixtures():
    g, e = "martian", ethernet()
    for name, about, fields in [
            ("source_loopback", "127.0.0.0/8", {"src": "127.0.0.1"}),
            ("source_this_network", "0.0.0.0/8", {"src": "0.0.0.0"}),
            ("source_multicast", "224.0.0.0/4", {"src": "224.0.0.9"}),
            ("source_broadcast", "255.255.255.255", {"src": "255.255.255.255"}),
            ("source_link_local", "169.254.0.0/16", {"src": "169.254.1.1"}),
            ("destination_reserved", "240.0.0.0/4", {"dst": "240.0.0.1"}),
            ("land", "from an address to itself", {"src": VIP4})]:
        add(g, name, about, e / ip4(**fields) / tcp(), "ok", martian="yes")
    add(g, "source_private", "private addresses are no martians", e / ip4(src="10.1.2.3") / tcp(),
        "ok")
    for name, about, fields in [
            ("source6_unspecified", "::", {"src": "::"}), ("source6_loopback", "::1",
            {"src": "::1"}),
            ("source6_link_local", "fe80::/10", {"src": "fe80::1"}),
            ("source6_mapped", "::ffff:0:0/96", {"src": "::ffff:192.0.2.1"}),
            ("destination6_multicast", "ff00::/8", {"dst": "ff02::1"})]:
        add(g, name, about, e / ip6(**fields) / udp(), "ok", martian="yes")


def main():
    for make in (ipv4_fixtures, ipv4_option_fixtures, ipv4_size_fixtures, ipv4_protocol_fixtures,
                 vlan_fixtures, ipv6_fixtures, ipv6_damage_fixtures, cut_fixtures, damaged_fixtures,
                 martian_fixtures, ipv4_fragments, ipv6_fragments, tunnels, translations):
        make()
    (HERE / "fixtures").mkdir(exist_ok=True)
    write(HERE)
    print(f"{sum(len(fixtures) for fixtures in groups.values())} fixtures")


if __name__ == "__main__":
    main()
