#!/usr/bin/python3
"""`roost classify` from its command line: checks of configurations, and a replay of a few packets,
each of whose fates is written down.

    tests/classify_function/command_line_test.py ROOST
"""

import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/replay"), str(ROOT / "tests/trace")]

import pcap  # noqa: E402
from watched_replay import command_of, run, run_directory  # noqa: E402

CONFIG = """
[classify]
flows = "flows.txt"
connections = 1000

[[port]]

[[port]]

[[port]]
"""
FLOWS = """# comments, and a dump's head, are passed over
NXST_FLOW reply (xid=0x4):
 table=0,priority=10,arp,actions=output:2,output:3
 table=0,priority=10,dl_type=0x88b5,actions=set_field:02:00:00:00:00:99->eth_dst,output:2
 table=0,priority=10,dl_type=0x88b6,actions=drop
"""
ONE, TWO, ALL = b"\x02\0\0\0\0\x01", b"\x02\0\0\0\0\x02", b"\xff" * 6
WRITTEN = b"\x02\0\0\0\0\x99"
# By port, and what leaves by which.
FRAMES = (
    (0, ALL + ONE + b"\x08\x06" + bytes(46), {1: None, 2: None}),
    (0, TWO + ONE + b"\x88\xb5" + b"rewritten" + bytes(40), {1: WRITTEN}),
    (0, TWO + ONE + b"\x88\xb6" + b"dropped" + bytes(40), {}),
    (2, ONE + TWO + b"\x88\xb7" + b"of no rule" + bytes(40), {}),
    (1, TWO + ONE + b"\x88\xb5" + b"back where it came from" + bytes(40), {}),
)


def run_classify(roost, folder, *options, toml=CONFIG, flows=FLOWS, status=0):
    (folder / "flows.txt").write_text(flows)
    config = folder / "classify.toml"
    config.write_text(toml)
    return run(roost, "classify", "-c", config, *options, status=status,
               environment=run_directory(folder))


def check_configurations(roost, folder):
    good = run_classify(roost, folder, "--check").stdout
    assert "3 ports, 3 flows; room for 1000 connections; a tick of 1 s" in good, good
    bad = run_classify(roost, folder, "--check", flows="actions=output:4\nudpp,actions=drop\n",
                       status=3)
    assert bad.stdout == "" and "classify.toml:3: flows.txt:1: 'output:4'" in bad.stderr, bad
    assert "flows.txt:2: 'udpp'" in bad.stderr, bad


def check_replay(roost, folder):
    captures, expected = [[], [], []], [[], [], []]
    for second, (port, frame, ways) in enumerate(FRAMES):
        captures[port].append(pcap.Record(second * 1_000_000, frame))
        for to, destination in ways.items():
            expected[to].append((destination or frame[:6]) + frame[6:])
    devices = []
    for port, records in enumerate(captures):
        pcap.write(folder / f"in{port}.pcap", records)
        devices.append(f"rx_pcap={folder}/in{port}.pcap,tx_pcap={folder}/out{port}.pcap")
    (folder / "classify.toml").write_text(CONFIG)
    (folder / "flows.txt").write_text(FLOWS)
    trace = folder / "trace.pcapng"
    result = run(*command_of(roost, "classify", folder / "classify.toml", devices, "--capture",
                             trace), environment=run_directory(folder))
    for port, frames in enumerate(expected):
        sent = [record.frame for record in pcap.read(folder / f"out{port}.pcap")]
        assert sent == frames, f"port {port}:\n{sent}\nand not\n{frames}"
    report = json.loads(result.stdout)
    assert report["broken"] == [], report["broken"]
    assert report["drops"]["rule_drop"] == 1 and report["drops"]["no_rule"] == 1, report["drops"]
    assert report["drops"]["to_in_port"] == 1, report["drops"]
    counts = {flow["match"]: flow["packets"] for flow in report["flows"]}
    assert counts == {"priority=10,arp": 1, "priority=10,dl_type=0x88b5": 2,
                      "priority=10,dl_type=0x88b6": 1}, counts
    words = trace.read_bytes()
    assert b"rule" in words and b"of priority 10, by a search; masks looked at:" in words


def main():
    roost = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="roost-classify-") as name:
        for check in (check_configurations, check_replay):
            check(roost, pathlib.Path(name))


if __name__ == "__main__":
    main()
