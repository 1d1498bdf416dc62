#!/usr/bin/python3
"""The switch's replay test: captures of seven ports through `roost switch`, compared with a model,
frame by frame and drop by drop.

    tests/switch/replay_test.py ROOST
"""

import collections
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/replay"), str(ROOT / "tests/trace")]

import pcap  # noqa: E402
from switch_frames import Frames  # noqa: E402
from switch_model import GONE, UNKNOWN, Model  # noqa: E402
from watched_replay import command_of, run, run_directory  # noqa: E402

PORTS = """
[[port]]
untagged = 10

[[port]]
untagged = 10
tagged = [20]
broadcast_max = 20
multicast_max = 25
unknown_unicast_max = 0

[[port]]
tagged = [10, 20, 30]
unknown_unicast_max = 15
mtu = 9_100

[[port]]
untagged = 20
tagged = [10]
learn_max = 40
learn_full = "drop"

[[port]]
untagged = 20
learn_max = 30
mtu = 9_100

[[port]]

[[port]]
untagged = 30
tagged = [40]
"""
# Untagged VLAN and tagged ones, of each.
VLANS = ((10, ()), (10, (20,)), (None, (10, 20, 30)), (20, (10,)), (20, ()), (None, ()),
         (30, (40,)))
STATIONS = """
[[station]]
mac = "02:00:00:00:00:66"
vlan = 10
drop = true

[[station]]
mac = "02:00:00:00:00:77"
vlan = 10
port = 2
"""
SWITCH = """
tick_seconds = 0.001
[switch]
entries_max = 131_072
ageing_seconds = 10
moves_max = 3
moves_seconds = 4
hold_seconds = 6
"""
CONFIGURATIONS = (
    SWITCH + PORTS + STATIONS + "[mirror]\nto = 5\nports = [1]\nvlans = [30]\n",
    SWITCH + 'bpdu = "drop"\n' + PORTS + "[mirror]\nto = 2\nports = [0, 6]\n",
)
CAUSES = {"truncated", "bad_source", "link_local", "wrong_vlan", "same_port", "not_learned",
          "too_big", "no_other_port", "broadcast_storm", "multicast_storm", "unknown_unicast_storm"}


def replay(roost, folder, config_text, captures):
    """The report, and the frames that each port sent."""
    config = folder / "switch.toml"
    config.write_text(config_text)
    devices = []
    for port, records in enumerate(captures):
        pcap.write(folder / f"in{port}.pcap", records)
        devices.append(f"rx_pcap={folder}/in{port}.pcap,tx_pcap={folder}/out{port}.pcap")
    result = run(*command_of(roost, "switch", config, devices), environment=run_directory(folder))
    sent = [[record.frame for record in pcap.read(folder / f"out{port}.pcap")]
            for port in range(len(captures))]
    return json.loads(result.stdout), sent


def check_frames(model, sent):
    for port, (expected, found) in enumerate(zip(model.sent, sent, strict=True)):
        for number, (one, other) in enumerate(zip(expected, found)):
            assert one == other, (
                f"port {port}, frame {number}: {other[:32].hex(' ')}, {len(other)} bytes\n"
                f"the model says {one[:32].hex(' ')}, {len(one)} bytes")
        assert len(expected) == len(found), f"port {port}: {len(found)}, not {len(expected)}"


def check_report(model, report, captures):
    assert report["broken"] == [], report["broken"]
    drops = {cause: count for cause, count in report["drops"].items() if count}
    assert drops == dict(model.drops), f"{drops}\nthe model says {dict(model.drops)}"
    assert report["packets"]["received"] == sum(map(len, captures))
    assert report["packets"]["sent"] == sum(map(len, model.sent))
    for part, expected in (("frames", model.frames), ("stations", model.stations)):
        found = {name: report[part][name] for name in expected}
        assert found == dict(expected), f"{found}\nthe model says {dict(expected)}"
    fdb = report["fdb"]
    assert fdb["static_entries"] == len(model.config.stations), fdb
    known = model.database.learned_between(0, UNKNOWN, model.sixteenth)
    unknown = model.database.learned_between(UNKNOWN, GONE, model.sixteenth)
    assert known <= fdb["entries"] <= known + unknown, (known, fdb, unknown)


def check(roost, folder, number, config_text):
    captures = Frames(number + 1, VLANS).make()
    model = Model(config_text)
    model.run(captures)
    assert CAUSES | {("static_drop", "bpdu")[number]} == set(model.drops), model.drops
    assert set(model.stations) == {"learned", "moved", "held", "refused"}, model.stations
    assert min(model.frames.values()) > 100, model.frames
    report, sent = replay(roost, folder, config_text, captures)
    check_frames(model, sent)
    check_report(model, report, captures)
    return collections.Counter(frames=sum(map(len, captures)), sent=sum(map(len, sent)))


def main():
    roost = pathlib.Path(sys.argv[1]).resolve()
    told = collections.Counter()
    for number, config_text in enumerate(CONFIGURATIONS):
        with tempfile.TemporaryDirectory(prefix="roost-switch-") as name:
            told += check(roost, pathlib.Path(name), number, config_text)
    print(f"{told['frames']} frames in, {told['sent']} out: each where the model says")


if __name__ == "__main__":
    main()
