#!/usr/bin/python3
"""What a sender costs others who chooses packets to make as many megaflow masks as he can (tuple
space explosion, CVE-2019-25076): Open vSwitch's userspace datapath and `roost classify`, with the
same 1,000 rules and the same captures. Reports; judges nothing.

    tests/ovs/explosion.py [--roost build/release/apps/roost]
        [--vswitchd /usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk] [--no-cache]

Three captures go round and round from memory (DPDK's net_pcap, infinite_rx) into one core, one
after the other: the victim's packets, which leave by a port that takes them at once (net_null), the
attacker's, most of which are dropped, and both in turns, as many of each. Counted are cycles of
batches with packets, from receiving to sending, once all megaflows are there: those that
`pmd-stats-show` calls processing cycles, and all stages of `roost ctl workers`. A victim's packet
under attack costs what it adds: twice a packet of both less one of the attacker's. Needs Debian's
openvswitch-switch-dpdk.
"""

import argparse
import os
import pathlib
import random
import re
import statistics
import sys
import tempfile
import time
import types

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(HERE.parent / name) for name in ("replay", "live", "ctl")]

from scapy.layers.inet import IP, TCP as Tcp, UDP as Udp  # noqa: E402
from scapy.layers.inet6 import IPv6  # noqa: E402
from scapy.layers.l2 import Ether  # noqa: E402

import pcap  # noqa: E402
from endless_run import EndlessRun  # noqa: E402
from fields import WIDTHS, ipv4, ipv6, mac  # noqa: E402
from open_vswitch import OpenVswitch  # noqa: E402
from switches import masks_in  # noqa: E402

RULES = 1_000
PORT_STEP = 2  # bits of ports at which packets differ: 2,048 masks in Open vSwitch, of 8,192
ROUNDS = 3
SECONDS = 2
WARM_SECONDS = 120  # the longest until all megaflows are there
SINK = "net_null2,size=64,no-rx=1"
MEMORY_MB = 2_048
VICTIM_FLOWS = 256
HOST, SOURCE_PORT, WEB = 0x0A00_0001, 12_345, 80
MACS = {"eth_src": 0x0200_0000_0001, "eth_dst": 0x0200_0000_0002}
PREFIXED = {  # a field's word, what goes before it, and the address that passes all its rules
    "eth_src": ("dl_src", "", mac, MACS["eth_src"]),
    "eth_dst": ("dl_dst", "", mac, MACS["eth_dst"]),
    "ipv6_src": ("ipv6_src", "ipv6,", ipv6, 0x2001_0DB8 << 96 | 1),
    "ipv6_dst": ("ipv6_dst", "ipv6,", ipv6, 0x2001_0DB8 << 96 | 2),
    "ipv4_dst": ("nw_dst", "ip,", ipv4, 0xC000_0201),
}


def turned(name, bit):
    """The address with this bit the other way, and what of it is up to that bit, as a mask."""
    width = WIDTHS[name]
    ones = (1 << width) - 1
    return PREFIXED[name][3] ^ 1 << (width - 1 - bit), ones & ~(ones >> (bit + 1))


def rules():
    """A host, a service and a port that are let in: a packet that none of them is for differs from
    each at some bit, and Open vSwitch makes a mask for each three of bits. Then prefixes: a search
    that passes one has looked at a bit more, and each is a mask in Roost.
    """
    lines = [f"ip,nw_src={ipv4(HOST)},actions=output:2", f"tcp,tp_dst={WEB},actions=output:2",
             f"tcp,tp_src={SOURCE_PORT},actions=output:2"]
    for name, (word, kind, text, _) in PREFIXED.items():
        for bit in range(WIDTHS[name]):
            value, mask = turned(name, bit)
            if name.startswith("ipv6"):
                mask |= 0xF << 124  # a mask that begins with a digit is a number of bits
            lines.append(f"{kind}{word}={text(value & mask)}/{text(mask)},actions=drop")
    while len(lines) < RULES:
        lines.append(f"in_port={len(lines)},actions=output:2")
    return [f"priority={RULES - place},{line}" for place, line in enumerate(lines)]


def differing(number, width, bit):
    """First at this bit, and then anyhow."""
    below = width - 1 - bit
    return number ^ 1 << below ^ random.getrandbits(below)


def ethernet(addresses=()):
    addresses = {**MACS, **dict(addresses)}
    return Ether(src=mac(addresses["eth_src"]), dst=mac(addresses["eth_dst"]))


def attack():
    packets = [
        ethernet() / IP(src=ipv4(differing(HOST, 32, i)), dst=ipv4(PREFIXED["ipv4_dst"][3]))
        / Tcp(sport=differing(SOURCE_PORT, 16, j), dport=differing(WEB, 16, k))
        for i in range(32) for j in range(0, 16, PORT_STEP) for k in range(0, 16, PORT_STEP)
    ]
    for name in PREFIXED:
        for bit in range(WIDTHS[name]):
            address = differing(PREFIXED[name][3], WIDTHS[name], bit)
            sport, dport = (random.randrange(1_024, 65_536) for _ in range(2))
            if name.startswith("eth"):
                head = ethernet({name: address}) / IP(src="10.9.9.9", dst="192.0.2.1")
            elif name == "ipv4_dst":
                head = ethernet() / IP(src="10.9.9.9", dst=ipv4(address))
            else:
                ends = {"ipv6_src": PREFIXED["ipv6_src"][3], "ipv6_dst": PREFIXED["ipv6_dst"][3],
                        name: address}
                head = ethernet() / IPv6(src=ipv6(ends["ipv6_src"]), dst=ipv6(ends["ipv6_dst"]))
            packets.append(head / Udp(sport=sport, dport=dport))
    random.shuffle(packets)
    return [bytes(packet) for packet in packets]


def victim():
    """Flows of the host that is let in."""
    return [bytes(ethernet() / IP(src=ipv4(HOST), dst=ipv4(0xC633_6400 | flow))
                  / Tcp(sport=random.randrange(1_024, 65_536), dport=random.randrange(65_536)))
            for flow in range(VICTIM_FLOWS)]


def captures(directory):
    """The paths of the three, by name."""
    random.seed(1)
    attacks, victims = attack(), victim()
    mixed = [frame for place, one in enumerate(attacks)
             for frame in (one, victims[place % len(victims)])]
    paths = {}
    for name, frames in (("victim", victims), ("attacker", attacks), ("both", mixed)):
        paths[name] = directory / f"{name}.pcap"
        pcap.write(paths[name], [pcap.Record(0, frame.ljust(60, b"\0")) for frame in frames])
    return paths


def measure_ovs(options, capture, directory):
    """Cycles a packet, and what else the switch says."""
    core = max(os.sched_getaffinity(0))
    eal = f"--no-huge --legacy-mem --no-pci --no-telemetry -m {MEMORY_MB}"
    settings = ["other_config:dpdk-init=true", f"other_config:pmd-cpu-mask={1 << core:#x}",
                f'other_config:dpdk-extra="{eal} --file-prefix ovs-{os.getpid()}"']
    if options.no_cache:
        settings.append("other_config:emc-insert-inv-prob=0")
    devices = (f"net_pcap1,rx_pcap={capture},tx_pcap=/dev/null,infinite_rx=1", SINK)
    ports = [(f"p{port}", ["--", "set", "Interface", f"p{port}", "type=dpdk",
                           f"ofport_request={port}", f'options:dpdk-devargs="{device}"'])
             for port, device in enumerate(devices, 1)]
    here = types.SimpleNamespace(prefix=["setpriv", "--pdeathsig", "TERM"])
    cycles = []
    with OpenVswitch(here, directory, ports, options.vswitchd, settings) as switch:
        switch.replace_flows(rules())
        warm_up(lambda: misses_of(pmd_stats(switch, 1)))
        for _ in range(ROUNDS):
            told = pmd_stats(switch, SECONDS)
            cycles.append(count_of("avg processing cycles per packet", told))
        masks = masks_in(switch.ask("dpctl/dump-flows", "-m"))
    lookups = count_of("avg. subtable lookups per megaflow hit", told)
    share = count_of("emc hits", told) / max(1, count_of("packets received", told))
    return cycles, (f"{masks} masks, {lookups} subtables a megaflow hit, {share:.0%} from its "
                    f"exact-match cache, {misses_of(told):.0f} misses in the last {SECONDS} s")


def warm_up(misses):
    """Until there are none any more, or it was long enough."""
    deadline = time.monotonic() + WARM_SECONDS
    while misses() and time.monotonic() < deadline:
        pass


def pmd_stats(switch, seconds):
    """Of the thread that has the packets."""
    switch.ask("dpif-netdev/pmd-stats-clear")
    time.sleep(seconds)
    told = switch.ask("dpif-netdev/pmd-stats-show")
    return max(told.split("pmd thread"), key=lambda part: count_of("packets received", part))


def misses_of(told):
    return count_of("miss with success upcall", told) + count_of("miss with failed upcall", told)


def searches(running, seconds):
    """Of the rules: packets that nothing else could answer."""
    before = searches_in(running.ask("stats")["classifiers"])
    time.sleep(seconds)
    return searches_in(running.ask("stats")["classifiers"]) - before


def searches_in(counts):
    return counts["rule_hits"] + counts["unmatched"]


def measure_roost(options, capture, directory):
    directory.mkdir()
    (directory / "flows.txt").write_text("\n".join(rules()) + "\n")
    config = '[classify]\nflows = "flows.txt"\n'
    if options.no_cache:
        config += 'exact_match_cache = "off"\n'
    # DPDK takes the cores that it may run on.
    core = max(os.sched_getaffinity(0))
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    running = EndlessRun(options.roost, directory, "classify", config + "[[port]]\n" * 2,
                         captures=[capture], devices=[SINK])
    os.sched_setaffinity(0, before)
    cycles = []
    with running:
        warm_up(lambda: searches(running, 1))
        for _ in range(ROUNDS):
            first, counted = running.ask("workers")["workers"][0], running.ask("stats")
            time.sleep(SECONDS)
            last, stats = running.ask("workers")["workers"][0], running.ask("stats")
            spent = sum(last["cycles"].values()) - sum(first["cycles"].values())
            cycles.append(spent / (last["packets"] - first["packets"]))
        running.stop()
    counts = {name: count - counted["classifiers"][name]
              for name, count in stats["classifiers"].items()}
    packets = max(1, counts["packets"])
    share = counts["cache_hits"] / packets
    lookups = counts["megaflow_lookups"] / max(1, packets - counts["cache_hits"])
    masks = stats["tables"]["megaflow_masks"]
    return cycles, (f"{masks} masks, {lookups:.2f} lookups in megaflows of a packet that is not in "
                    f"the exact-match cache, {share:.0%} from that, "
                    f"{searches_in(counts)} misses in the last {SECONDS} s")


def count_of(name, told):
    found = re.search(re.escape(name) + r": ([\d.]+)", told)
    return float(found[1]) if found else 0


def told_of(who, measured):
    middle = {name: statistics.median(cycles) for name, (cycles, _) in measured.items()}
    under_attack = 2 * middle["both"] - middle["attacker"]
    lines = [f"{who}, cycles a packet:"]
    for name, (cycles, more) in measured.items():
        spread = f"{min(cycles):.0f} to {max(cycles):.0f}"
        lines.append(f"  {name}: {middle[name]:.0f} ({spread}); {more}")
    lines.append(f"  a victim's packet under attack: {under_attack:.0f}, "
                 f"{under_attack / middle['victim']:.2f} times one without")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-cache", action="store_true", help="without exact-match caches")
    parser.add_argument("--roost", type=pathlib.Path, default=ROOT / "build/release/apps/roost")
    parser.add_argument(
        "--vswitchd", default="/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"
    )
    options = parser.parse_args()
    if not pathlib.Path(options.vswitchd).exists():
        sys.exit(f"{options.vswitchd} is not there: install openvswitch-switch-dpdk")
    with tempfile.TemporaryDirectory(prefix="roost-explosion-") as name:
        directory = pathlib.Path(name)
        paths = captures(directory)
        for who, measure in (("Open vSwitch", measure_ovs), ("roost classify", measure_roost)):
            print(told_of(who, {
                which: measure(options, path, directory / f"{measure.__name__}-{which}")
                for which, path in paths.items()
            }), flush=True)


if __name__ == "__main__":
    main()
