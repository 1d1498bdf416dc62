#!/usr/bin/python3
"""`roost forward --capture` and `--trace`: packets of every fate, of which each trace says what
became of it and by which route, and no route of those whose destination was never looked up; then
the demonstration's captures, as for the balancer.

    tests/forward/watch_test.py ROOST
"""

import pathlib
import sys
import tempfile

from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6, IPv6ExtHdrFragment
from scapy.layers.l2 import ARP, Ether

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/trace"), str(ROOT / "tests/replay")]

import pcap  # noqa: E402
from demo_router import config_text  # noqa: E402
from watched_replay import DEMO_INPUTS, Replay  # noqa: E402

TO_ROUTER = Ether(src="02:00:00:00:01:10", dst="02:00:00:00:00:01")
WEB, WEB6 = "198.51.100.80", "2001:db8:ffff::80"
BY_WEB, BY_WEB6 = "198.51.100.0/24", "2001:db8:ffff::/48"
SENT = "sent       by port 1 to 02:00:00:00:02:11"
KEPT = "kept       by the router, for itself or until a neighbour has answered"
MTU = 1400


def from_client(destination, **fields):
    return IP(src="192.0.2.10", dst=destination, **fields)


def from_client6(destination, **fields):
    return IPv6(src="2001:db8:1::10", dst=destination, **fields)


def dropped(cause):
    return f"dropped    {cause}"


# What the packet is, what becomes of it, and its route: None, if nothing is looked up.
FATES = (
    (from_client(WEB) / TCP(dport=80), SENT, BY_WEB),
    (from_client(WEB) / ICMP() / b"echo", SENT, BY_WEB),
    (from_client(WEB, flags="MF") / UDP(dport=53) / bytes(24), SENT, BY_WEB),
    (from_client(WEB, frag=4, proto=17) / bytes(24), SENT, BY_WEB),
    (from_client6(WEB6) / UDP(dport=53) / b"query", SENT, BY_WEB6),
    (from_client6(WEB6) / ICMPv6EchoRequest(), SENT, BY_WEB6),
    (from_client6(WEB6) / IPv6ExtHdrFragment(offset=4, nh=17) / bytes(24), SENT, BY_WEB6),
    (from_client("203.0.113.5") / TCP(), dropped("no_route"), "none"),
    (from_client6("2001:db8:9::5") / TCP(), dropped("no_route"), "none"),
    (from_client("10.0.0.1") / TCP(), dropped("not_served"), "10.0.0.1/32"),
    (from_client("10.0.0.77") / TCP(), KEPT, "10.0.0.0/24"),
    (from_client(WEB, flags="DF") / UDP() / bytes(MTU), dropped("too_big"), BY_WEB),
    (from_client(WEB) / UDP() / bytes(MTU), KEPT, BY_WEB),  # cut
    (from_client(WEB, ttl=1) / TCP(), dropped("ttl_expired"), None),
    (from_client6(WEB6, hlim=1) / TCP(), dropped("ttl_expired"), None),
    (from_client("192.0.2.1", ttl=1) / TCP(), dropped("not_served"), None),
    (IP(src="127.0.0.1", dst=WEB) / TCP(), dropped("martian"), None),
    (IP(src="169.254.1.1", dst=WEB) / TCP(), dropped("martian"), None),
    (from_client(WEB, chksum=1) / TCP(), dropped("bad_checksum"), None),
    (from_client("192.0.2.1") / ICMP(), "sent       by port 0", None),
    (ARP(psrc="192.0.2.10", hwsrc=TO_ROUTER.src, pdst="192.0.2.1"), KEPT, None),
)


def check_fates(roost, folder):
    frames = [bytes(TO_ROUTER / packet) for packet, _, _ in FATES]
    expected = [(fate, route) for _, fate, route in FATES]
    # As the first, but for another MAC.
    frames.append(bytes(Ether(src=TO_ROUTER.src, dst="02:00:00:00:99:99") / FATES[0][0]))
    expected.append((dropped("not_for_us"), None))
    # A second each, so each is a batch: the answers to those of one batch leave in another order
    # than when they are decided one by one.
    records = [pcap.Record(i * 1_000_000, frame) for i, frame in enumerate(frames)]
    pcap.write(folder / "fates.pcap", records)
    pcap.write(folder / "nothing.pcap", [])
    config = folder / "forward.toml"
    second = 'mac = "02:00:00:00:00:02"\n'
    config.write_text(config_text().replace(second, f"{second}mtu = {MTU}\n"))
    replay = Replay(roost, "forward", config, [folder / "fates.pcap", folder / "nothing.pcap"])
    _, captured = replay.check_whole(folder, ["next_hops", "others", "echo_replies"])
    traced = [frame.words for frame in captured if frame.side == "in"]
    for words, (fate, route) in zip(traced, expected, strict=True):
        assert f"\n  {fate}" in words, f"not {fate}:\n{words}"
        lines = [line for line in words.splitlines() if line.startswith("  route ")]
        assert lines == ([] if route is None else [f"  route      {route}"]), f"{route}:\n{words}"


def check_demonstration(roost, folder):
    config = folder / "forward.toml"
    config.write_text(config_text())
    replay = Replay(roost, "forward", config, DEMO_INPUTS)
    report, frames = replay.check_whole(folder, ["next_hops", "others"])
    assert report["packets"]["sent"] > 2_500 and report["drops"]["not_for_us"] == 2, report
    client = "192.0.2.11"
    replay.check_filtered(folder, frames, f"tcp and host {client}", f"tcp && ip.addr == {client}")
    told = [frame.words for frame in frames if frame.side == "in" and "TCP" in frame.words
            and f"{client}:" in frame.words]
    assert len(replay.check_traced(folder, f"tcp and host {client}", told)) > 100
    return len(frames)


def main():
    roost = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="roost-watch-") as name:
        counts = {}
        for check in (check_fates, check_demonstration):
            folder = pathlib.Path(name) / check.__name__
            folder.mkdir()
            counts[check] = check(roost, folder)
    print(f"{counts[check_demonstration]} frames of the demonstration and {len(FATES) + 1} fates: "
          "in and out as they were, and told why")


if __name__ == "__main__":
    main()
