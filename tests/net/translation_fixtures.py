"""The fixtures of packets that change their IP version: see make_fixtures.py. Scapy makes both,
field by field, each with its own checksums; IPv4 addresses are IPv4-mapped ones in IPv6.
"""

from scapy.all import (AH, ICMP, IP, IPOption_NOP, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment,
                       IPv6ExtHdrHopByHop, ICMPv6DestUnreach, ICMPv6PacketTooBig,
                       ICMPv6ParamProblem, ICMPv6TimeExceeded, PadN, Raw, TCP)

from fixture_format import BACKEND4, add, ethernet, tcp, udp

LOCAL4 = "10.0.0.100"
LOCAL6, BACKEND6 = f"::ffff:{LOCAL4}", f"::ffff:{BACKEND4}"
IDENTIFICATION = 4711


def to4(**fields):
    return IP(**{"src": LOCAL4, "dst": BACKEND4, "ttl": 64, "id": IDENTIFICATION, **fields})


def to6(**fields):
    return IPv6(**{"src": LOCAL6, "dst": BACKEND6, "hlim": 64, **fields})


def fragment6(**fields):
    return IPv6ExtHdrFragment(**{"id": 0x00010000 | IDENTIFICATION, **fields})


def translate(name, about, before, after, how="", verdict="ok", padding=b""):
    """`after`: None if it cannot be translated."""
    e = ethernet()
    rewrite = [f"translate {IDENTIFICATION} {how}".strip()]
    if after is None:
        rewrite, after = [f"translate {IDENTIFICATION} no"], before
    add("translation", name, about, e / before, verdict, rewrite=rewrite,
        expect=bytes(e / after) + padding,
        martian="yes" if IPv6 in before else "no",
        l4_checksum="wrong" if "wrong" in name + about else "right")


def packets():
    for name, data in (("even", b"abcd"), ("odd", b"abc"), ("empty", b"")):
        raw = Raw(data)
        translate(f"tcp_{name}_to4", "a segment", to6(tc=0xb9, fl=0x12345, hlim=9) / tcp() / raw,
                  to4(tos=0xb9, ttl=9) / tcp() / raw)
        translate(f"tcp_{name}_to6", "a segment", to4(tos=0xb9, ttl=9, flags="DF") / tcp() / raw,
                  to6(tc=0xb9, hlim=9) / tcp() / raw)
        translate(f"udp_{name}_to4", "a datagram", to6() / udp() / raw, to4() / udp() / raw)
        translate(f"udp_{name}_to6", "a datagram", to4() / udp() / raw, to6() / udp() / raw)
    wrong = tcp(chksum=0x1234)
    translate("wrong_checksum_to4", "damage stays", to6() / wrong, to4() / wrong)
    translate("wrong_checksum_to6", "damage stays", to4() / wrong, to6() / wrong)
    for size, flags in ((1220, 0), (1221, "DF")):
        raw = Raw(b"x" * size)
        translate(f"{size}_bytes_to4", "1,260 bytes may be cut, more may not", to6() / tcp() / raw,
                  to4(flags=flags) / tcp() / raw)
    translate("options_to4", "extension headers go",
              to6() / IPv6ExtHdrHopByHop(options=[PadN(optdata=bytes(4))])
              / IPv6ExtHdrDestOpt(options=[PadN(optdata=bytes(12))]) / tcp(), to4() / tcp())
    translate("options_to6", "options go", to4(options=[IPOption_NOP()] * 8) / tcp(),
              to6() / tcp())
    translate("forty_bytes_of_options_to6", "what is longer in IPv4",
              to4(options=[IPOption_NOP()] * 40) / tcp(), to6() / tcp())
    translate("authentication_to4", "it covers what changes; TCP's own is wrong behind it",
              to6() / AH(nh=6, icv=bytes(12), payloadlen=4) / tcp(), None)
    translate("no_checksum_to6", "IPv6 requires one", to4() / udp(chksum=0) / Raw(b"abc"),
              to6() / udp() / Raw(b"abc"))
    translate("no_and_so_wrong_checksum_to4", "IPv6 has no such",
              to6() / udp(chksum=0) / Raw(b"abc"), None)


def fragments():
    data = b"x" * 32
    whole4 = bytes(to4() / udp() / Raw(data))[20:]
    parts = [(0, whole4[:24], True), (3, whole4[24:], False)]
    for offset, part, is_more in parts:
        before6 = to6() / fragment6(nh=17, offset=offset, m=int(is_more)) / Raw(part)
        after4 = to4(proto=17, flags="MF" if is_more else 0, frag=offset) / Raw(part)
        translate(f"fragment_{offset}_to4", "a fragment", before6, after4, verdict="fragment")
        before4 = to4(proto=17, flags="MF" if is_more else 0, frag=offset) / Raw(part)
        header = fragment6(nh=17, id=IDENTIFICATION, offset=offset, m=int(is_more))
        after6 = to6() / header / Raw(part)
        translate(f"fragment_{offset}_to6", "a fragment", before4, after6, verdict="fragment")
    translate("fragment_behind_options_to4", "what stands before a fragment header goes",
              to6() / IPv6ExtHdrHopByHop(options=[PadN(optdata=bytes(4))])
              / fragment6(nh=17, offset=3, m=0) / Raw(parts[1][1]),
              to4(proto=17, frag=3) / Raw(parts[1][1]), verdict="fragment")
    options = bytes(IPv6ExtHdrDestOpt(nh=17, options=[PadN(optdata=bytes(4))]))
    translate("options_behind_fragment_to4", "IPv4 would carry them as data",
              to6() / fragment6(nh=60, offset=0, m=1) / Raw(options + parts[0][1]), None,
              verdict="fragment")
    translate("no_checksum_in_fragments_to6", "the whole datagram is not here",
              to4(proto=17, flags="MF") / Raw(bytes(udp(chksum=0, len=40)) + bytes(16)), None,
              verdict="fragment")
    translate("whole_with_fragment_header_to4", "it may be cut, and has an identification",
              to6() / fragment6(nh=6, offset=0, m=0) / tcp() / Raw(b"x" * 1300),
              to4() / tcp() / Raw(b"x" * 1300))
    translate("to_be_cut_to6", "cut later, so it gets a fragment header",
              to4() / tcp() / Raw(b"abc"),
              to6() / fragment6(nh=6, id=IDENTIFICATION, offset=0, m=0) / tcp() / Raw(b"abc"),
              how="cut")


def embedded4(**fields):
    return IP(**{"src": BACKEND4, "dst": LOCAL4, "ttl": 63, "id": 0, **fields})


def embedded6(**fields):
    return IPv6(**{"src": BACKEND6, "dst": LOCAL6, "hlim": 63, **fields})


def segment():
    return TCP(sport=8080, dport=1024, flags="A", seq=77, ack=88)


def errors_to6():
    """What an IPv4 router says of a packet that we sent to the backend."""
    segment6, segment4 = embedded6() / segment(), embedded4() / segment()
    unreachable = {**dict.fromkeys((0, 1, 5, 6, 7, 8, 11, 12), 0), 3: 4,
                   **dict.fromkeys((9, 10, 13, 15), 1)}
    for code in range(17):
        if code in (2, 4):
            continue
        after = None
        if code in unreachable:
            after = to6() / ICMPv6DestUnreach(code=unreachable[code]) / segment6
        translate(f"unreachable_{code}_to6", "destination unreachable",
                  to4() / ICMP(type=3, code=code) / segment4, after, verdict="unsupported_protocol")
    translate("unreachable_2_to6", "an unknown protocol", to4() / ICMP(type=3, code=2) / segment4,
              to6() / ICMPv6ParamProblem(code=1, ptr=6) / segment6, verdict="unsupported_protocol")
    for named, mtu in ((1400, 1420), (1259, 1280), (576, 1280), (65535, 65555)):
        translate(f"too_big_{named}_to6", "fragmentation needed",
                  to4() / ICMP(type=3, code=4, nexthopmtu=named) / segment4,
                  to6() / ICMPv6PacketTooBig(mtu=mtu) / segment6, verdict="unsupported_protocol")
    for length, mtu in ((1500, 1512), (1492, 1280), (9000, 8186), (65535, 32020)):
        translate(f"too_big_of_{length}_without_mtu_to6", "a router that names no MTU",
                  to4() / ICMP(type=3, code=4, nexthopmtu=0) / embedded4(len=length, proto=6)
                  / Raw(bytes(segment4)[20:]),
                  to6() / ICMPv6PacketTooBig(mtu=mtu) / embedded6(plen=length - 20)
                  / TCP(bytes(segment4)[20:]), verdict="unsupported_protocol")
    for code in (0, 1):
        translate(f"time_exceeded_{code}_to6", "time exceeded",
                  to4() / ICMP(type=11, code=code) / segment4,
                  to6() / ICMPv6TimeExceeded(code=code) / segment6, verdict="unsupported_protocol")
    pointers = {0: 0, 1: 1, 2: 4, 3: 4, 8: 7, 9: 6, 12: 8, 15: 8, 16: 24, 19: 24}
    for pointer in (0, 1, 2, 3, 4, 7, 8, 9, 10, 12, 15, 16, 19, 20):
        after = None
        if pointer in pointers:
            after = to6() / ICMPv6ParamProblem(code=0, ptr=pointers[pointer]) / segment6
        translate(f"parameter_problem_at_{pointer}_to6", "a field of the header",
                  to4() / ICMP(type=12, code=0, ptr=pointer) / segment4, after,
                  verdict="unsupported_protocol")
    translate("missing_option_to6", "IPv6 has no such",
              to4() / ICMP(type=12, code=1, ptr=0) / segment4, None, verdict="unsupported_protocol")
    options = [IPOption_NOP()] * 4
    translate("error_with_options_to6", "options within and without",
              to4(options=options) / ICMP(type=3, code=3) / embedded4(options=options) / segment(),
              to6() / ICMPv6DestUnreach(code=4) / segment6, verdict="unsupported_protocol")
    fragment = IPv6ExtHdrFragment(nh=6, id=9, offset=0, m=1)
    translate("error_about_first_fragment_to6", "the embedded one gets a fragment header",
              to4() / ICMP(type=3, code=3) / embedded4(flags="MF", id=9, proto=6)
              / Raw(bytes(segment4)[20:]),
              to6() / ICMPv6DestUnreach(code=4) / embedded6() / fragment
              / Raw(bytes(segment4)[20:]),
              verdict="unsupported_protocol")


def errors_with_extensions():
    """RFC 4884: behind so much of the embedded packet, which is filled up with zeroes."""
    extension = bytes.fromhex("2000dead00080101") + bytes(4)
    data = bytes(range(200))
    packet4, packet6 = embedded4() / segment() / Raw(data), embedded6() / segment() / Raw(data)
    translate("extension_to6", "it stays behind the packet, as padding",
              to4() / ICMP(type=3, code=3, length=32) / Raw(bytes(packet4)[:128] + extension),
              to6() / ICMPv6DestUnreach(code=4) / Raw(bytes(packet6)[:148]), padding=extension,
              verdict="unsupported_protocol")
    translate("extension_to4", "it stays behind the packet, as padding",
              to6() / ICMPv6DestUnreach(code=4, length=16) / Raw(bytes(packet6)[:128] + extension),
              to4() / ICMP(type=3, code=3) / Raw(bytes(packet4)[:108]), padding=extension,
              verdict="unsupported_protocol")


def errors_to4():
    """What an IPv6 router says of a packet that we sent to the client; its ends are changed."""
    segment6, segment4 = embedded6() / segment(), embedded4() / segment()
    unreachable = {0: 1, 1: 10, 2: 1, 3: 1, 4: 3}
    for code in range(7):
        after = None
        if code in unreachable:
            after = to4() / ICMP(type=3, code=unreachable[code]) / segment4
        translate(f"unreachable_{code}_to4", "destination unreachable",
                  to6() / ICMPv6DestUnreach(code=code) / segment6, after,
                  verdict="unsupported_protocol")
    for named, mtu in ((1500, 1480), (1280, 1260), (68, 1260), (0, 1260), (65555, 65535),
                       (0xffffffff, 65535)):
        translate(f"too_big_{named}_to4", "packet too big",
                  to6() / ICMPv6PacketTooBig(mtu=named) / segment6,
                  to4() / ICMP(type=3, code=4, nexthopmtu=mtu) / segment4,
                  verdict="unsupported_protocol")
    for code in (0, 1):
        translate(f"time_exceeded_{code}_to4", "time exceeded",
                  to6() / ICMPv6TimeExceeded(code=code) / segment6,
                  to4() / ICMP(type=11, code=code) / segment4, verdict="unsupported_protocol")
    pointers = {0: 0, 1: 1, 4: 2, 5: 2, 6: 9, 7: 8, 8: 12, 23: 12, 24: 16, 39: 16}
    for pointer in (0, 1, 2, 3, 4, 5, 6, 7, 8, 23, 24, 39, 40, 0xffffffff):
        after = None
        if pointer in pointers:
            after = to4() / ICMP(type=12, code=0, ptr=pointers[pointer]) / segment4
        translate(f"parameter_problem_at_{pointer}_to4", "a field of the header",
                  to6() / ICMPv6ParamProblem(code=0, ptr=pointer) / segment6, after,
                  verdict="unsupported_protocol")
    translate("unknown_next_header_to4", "an unknown protocol",
              to6() / ICMPv6ParamProblem(code=1, ptr=6) / segment6,
              to4() / ICMP(type=3, code=2) / segment4, verdict="unsupported_protocol")
    translate("unknown_option_to4", "IPv4 has no such",
              to6() / ICMPv6ParamProblem(code=2, ptr=6) / segment6, None,
              verdict="unsupported_protocol")
    data = Raw(b"x" * 1232)  # as much as such an error embeds
    translate("long_error_to4", "the longest one",
              to6() / ICMPv6PacketTooBig(mtu=1400)
              / Raw(bytes(embedded6() / segment() / data)[:1232]),
              to4() / ICMP(type=3, code=4, nexthopmtu=1380)
              / Raw(bytes(embedded4(flags="DF") / segment() / data)[:1212]),
              verdict="unsupported_protocol")


def translations():
    packets()
    fragments()
    errors_to6()
    errors_with_extensions()
    errors_to4()
