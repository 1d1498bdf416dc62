#!/usr/bin/python3
"""`roost switch` from its command line: checks of configurations, and a replay of a few frames,
each of whose fates is written down.

    tests/switch/command_line_test.py ROOST
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
[[port]]
untagged = 10

[[port]]
untagged = 10

[[port]]
tagged = [10, 20]

[[station]]
mac = "02:00:00:00:01:10"
vlan = 20
drop = true
"""
ONE, TWO, ALL, TYPE = b"\x02\0\0\0\0\x01", b"\x02\0\0\0\0\x02", b"\xff" * 6, b"\x88\xb5"
TAG10 = b"\x81\x00\x00\x0a"
# By port and second, and which ports get it: with or without a tag.
FRAMES = (
    (0, ALL + ONE + TYPE + b"broadcast", {1: "plain", 2: "tagged"}),
    (2, ONE + TWO + TAG10 + TYPE + b"known", {0: "plain"}),
    (0, TWO + ONE + TYPE + b"back", {2: "tagged"}),
    (1, b"\x02\0\0\0\0\x03" + ONE + TYPE + b"unknown, and it has moved", {0: "plain", 2: "tagged"}),
    (0, ONE + TWO + TYPE + b"so has the other one", {1: "plain"}),
    (1, TWO[:5], {}),
    (1, TWO + ALL + TYPE, {}),
)


def run_switch(roost, folder, toml, *options, status=0):
    config = folder / "switch.toml"
    config.write_text(toml)
    return run(roost, "switch", "-c", config, *options, status=status,
               environment=run_directory(folder))


def check_configurations(roost, folder):
    good = run_switch(roost, folder, CONFIG, "--check").stdout
    assert "3 ports, 1 static stations; room for 1000000 stations; a tick of 1 s" in good, good
    wrong = "[[port]]\nuntagged = 0\n[mirror]\nto = 4\n"
    bad = run_switch(roost, folder, CONFIG + wrong, "--check", status=3)
    assert bad.stdout == "" and "switch.toml:16: [[port]] untagged: 0" in bad.stderr, bad
    assert "switch.toml:18: [mirror] to: 4" in bad.stderr, bad
    missing = run(roost, "switch", "-c", folder / "none.toml", "--check", status=3)
    assert "none.toml" in missing.stderr, missing
    assert "[[port]]" in run(roost, "switch", "--help").stdout


def check_replay(roost, folder):
    captures, expected = [[], [], []], [[], [], []]
    for second, (port, frame, leaves_by) in enumerate(FRAMES):
        captures[port].append(pcap.Record(second * 1_000_000, frame))
        plain = frame.replace(TAG10, b"")
        for to, how in leaves_by.items():
            expected[to].append(plain if how == "plain" else plain[:12] + TAG10 + plain[12:])
    devices = []
    for port, records in enumerate(captures):
        pcap.write(folder / f"in{port}.pcap", records)
        devices.append(f"rx_pcap={folder}/in{port}.pcap,tx_pcap={folder}/out{port}.pcap")
    (folder / "switch.toml").write_text(CONFIG)
    result = run(*command_of(roost, "switch", folder / "switch.toml", devices),
                 environment=run_directory(folder))
    for port, frames in enumerate(expected):
        sent = [record.frame for record in pcap.read(folder / f"out{port}.pcap")]
        assert sent == frames, f"port {port}:\n{sent}\nand not\n{frames}"
    report = json.loads(result.stdout)
    assert report["broken"] == [], report["broken"]
    assert report["frames"] == {"known_unicast": 3, "unknown_unicast": 1, "broadcast": 1,
                                "multicast": 0, "mirrored": 0}, report["frames"]
    assert {cause: n for cause, n in report["drops"].items() if n} == {"truncated": 1,
                                                                       "bad_source": 1}
    assert report["stations"]["learned"] == 2 and report["stations"]["moved"] == 2, report
    text = run(*(word for word in command_of(roost, "switch", folder / "switch.toml", devices)
                 if word != "--json"), environment=run_directory(folder)).stdout
    for part in ("known_unicast", "learned", "bad_source", "static_entries"):
        assert part in text, text


def check_ports(roost, folder):
    """As many as the configuration has."""
    pcap.write(folder / "in0.pcap", [])
    (folder / "switch.toml").write_text(CONFIG)
    devices = [f"rx_pcap={folder}/in0.pcap,tx_pcap={folder}/out0.pcap"]
    result = run(*command_of(roost, "switch", folder / "switch.toml", devices), status=4,
                 environment=run_directory(folder))
    assert "[[port]]" in result.stderr, result.stderr


def main():
    roost = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="roost-switch-") as name:
        for check in (check_configurations, check_replay, check_ports):
            check(roost, pathlib.Path(name))


if __name__ == "__main__":
    main()
