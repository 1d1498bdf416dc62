#!/usr/bin/python3
"""What tracking costs a packet of 200,000 TCP flows: Open vSwitch's userspace datapath with `ct`
minus without, and `roost lb` minus input, output and parsing, which the lab's program measures.
Reports; judges nothing.

    tests/live/ovs_tracker_cost.py --lab build/release/lab/roost_lab_lb \\
        [--vswitchd /usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk]

Both read the same frames, one flow after the other, from memory (DPDK's net_pcap, infinite_rx), on
one core, and drop what they send. Needs Debian's openvswitch-switch-dpdk. The switch's packets pass
twice, before and after `ct`, as they do in its users' tables; roost translates addresses as well,
which the switch does not here.
"""

import argparse
import csv
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import types

from open_vswitch import OpenVswitch

FLOWS = 200_000
ROUNDS = 7
SECONDS = 2
MEMORY_MB = 2_048
PLAIN = ["in_port=source,actions=output:sink"]
TRACKED = [
    "table=0,in_port=source,ip,actions=ct(table=1)",
    "table=1,in_port=source,ip,ct_state=+trk+new,actions=ct(commit),output:sink",
    "table=1,in_port=source,ip,ct_state=+trk+est,actions=output:sink",
    "table=1,in_port=source,ip,ct_state=+trk+inv,actions=drop",
]


def switch_settings():
    eal = f"--no-huge --legacy-mem --no-pci --no-telemetry -m {MEMORY_MB}"
    core = max(os.sched_getaffinity(0))
    return (
        "other_config:dpdk-init=true",
        f"other_config:pmd-cpu-mask={1 << core:#x}",
        # The exact-match cache has 8,192 entries: with 200,000 flows it would only cost.
        "other_config:emc-insert-inv-prob=0",
        f'other_config:dpdk-extra="{eal} --file-prefix ovs-{os.getpid()}"',
    )


def switch_ports(capture):
    source = f"net_pcap1,rx_pcap={capture},tx_pcap=/dev/null,infinite_rx=1"
    return [
        (name, ["--", "set", "Interface", name, "type=dpdk", f'options:dpdk-devargs="{device}"'])
        for name, device in (("source", source), ("sink", "net_null2,size=64,no-rx=1"))
    ]


def nanoseconds(ovs):
    """Of a packet, and how often it passes the tables. The thread with the port does nothing else;
    the other one has no packets.
    """
    ovs.ask("dpif-netdev/pmd-stats-clear")
    begin = time.monotonic()
    time.sleep(SECONDS)
    told = ovs.ask("dpif-netdev/pmd-stats-show")
    elapsed = time.monotonic() - begin
    counts = [int(count) for count in re.findall(r"packets received: (\d+)", told)]
    passes = re.findall(r"avg\. datapath passes per packet: ([\d.]+)", told)
    return elapsed * 1e9 / max(counts), max(map(float, passes))


def measure_switch(program, capture, directory):
    """ns a packet, plain and tracked, round by round."""
    alone = types.SimpleNamespace(prefix=[])
    plain, tracked = [], []
    with OpenVswitch(
        alone, directory, switch_ports(capture), program, switch_settings()
    ) as ovs:
        for number in range(ROUNDS + 1):
            ovs.replace_flows(PLAIN)
            time.sleep(1)
            without = nanoseconds(ovs)
            ovs.replace_flows(TRACKED)
            time.sleep(3 if number == 0 else 1)  # all connections are there
            with_ct = nanoseconds(ovs)
            assert (round(without[1]), round(with_ct[1])) == (1, 2), (without, with_ct)
            if number:
                plain.append(without[0])
                tracked.append(with_ct[0])
        entries = ovs.ask("dpctl/ct-get-nconns").strip()
    assert int(entries) == FLOWS, f"{entries} connections are tracked"
    return plain, tracked


def measure_ours(lab, directory):
    """ns a packet by contestant, round by round."""
    rows = directory / "rows.csv"
    words = ["--flows", str(FLOWS), "--packets", str(FLOWS), "--rounds", str(ROUNDS)]
    subprocess.run(
        [lab, "packets", "--experiment", "packets", "--pages", "4K", "--no-peers", *words, "--csv",
         rows],
        check=True, stderr=subprocess.DEVNULL,
    )
    found = {}
    with rows.open() as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            if row["metric"] == "ns_per_packet":
                found.setdefault(row["contestant"], []).append(float(row["value"]))
    return found


def told(name, more, less):
    own = [a - b for a, b in zip(more, less)]
    middle = [statistics.median(values) for values in (more, less, own)]
    print(f"{name}: {middle[0]:.0f} ns a packet, {middle[1]:.0f} without tracking, "
          f"{middle[2]:.0f} of its own ({min(own):.0f} to {max(own):.0f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lab", type=pathlib.Path, required=True)
    parser.add_argument(
        "--vswitchd", default="/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"
    )
    options = parser.parse_args()
    if not pathlib.Path(options.vswitchd).exists():
        sys.exit(f"{options.vswitchd} is not there: install openvswitch-switch-dpdk")
    with tempfile.TemporaryDirectory(prefix="roost-ovs-") as name:
        directory = pathlib.Path(name)
        capture = directory / "flows.pcap"
        subprocess.run(
            [options.lab, "flows", "--flows", str(FLOWS), "--out", capture], check=True
        )
        plain, tracked = measure_switch(options.vswitchd, capture, directory / "ovs")
        told("Open vSwitch", tracked, plain)
        ours = measure_ours(options.lab, directory)
        told("roost lb", ours["balancer"], ours["raw_io_parse"])


if __name__ == "__main__":
    main()
