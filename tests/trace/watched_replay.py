"""A function's replay, watched and not: what `--capture` and `--trace` hold of it is what went in
and out, frame by frame, and watching changes nothing.
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEMO = ROOT / "demo/lb"
sys.path[:0] = [str(ROOT / "tests/replay"), str(ROOT / "tests/ctl")]

import pcap  # noqa: E402
from function_checks import check_packet_sum  # noqa: E402

DEMO_INPUTS = (DEMO / "client.pcap", DEMO / "backends.pcap")
SIDE = {"0x00000001": "in", "0x00000002": "out"}


def run(*command, status=0, environment=None):
    result = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, text=True,
                            capture_output=True, timeout=300, check=False,
                            env={**os.environ, **(environment or {})})
    told = f"{command}: status {result.returncode}\n{result.stdout}\n{result.stderr}"
    assert result.returncode == status, told
    return result


def command_of(roost, function, config, devices, *options):
    """A replay, whose environment has `run_directory`."""
    return [roost, function, "-c", config, "--json", *options, "--", "--no-huge", "--no-pci",
            "--no-telemetry", "-m", "256",
            *(f"--vdev=net_pcap{i},{device}" for i, device in enumerate(devices))]


def run_directory(folder):
    return {"RUNTIME_DIRECTORY": str(folder), "XDG_RUNTIME_DIR": str(folder)}


class Frame(NamedTuple):
    port: int
    side: str  # "in" or "out"
    bytes: bytes
    words: str  # of the trace; of an "out" only if the function made it


class Replayed(NamedTuple):
    report: dict
    said: str  # on standard error
    sent: list  # frames, by port


class Replay:
    """Of captures, one a port, through a function with a configuration."""

    def __init__(self, roost, function, config, inputs):
        self.roost = roost
        self.function = function
        self.config = config
        self.inputs = inputs
        records = [pcap.read(path) for path in inputs]
        self.received = [[record.frame for record in of_port] for of_port in records]
        # A replay's time is that of its packets, in whole ticks: seconds.
        times = [record.time for of_port in records for record in of_port]
        self.seconds = (min(times) // 1_000_000, max(times) // 1_000_000)

    def run(self, folder, *options, status=0):
        folder.mkdir()
        devices = [f"rx_pcap={path},tx_pcap={folder / path.name}" for path in self.inputs]
        result = run(*command_of(self.roost, self.function, self.config, devices, *options),
                     status=status, environment=run_directory(folder))
        if status != 0:
            return Replayed({}, result.stderr, [])
        sent = [[record.frame for record in pcap.read(folder / path.name)] for path in self.inputs]
        return Replayed(json.loads(result.stdout), result.stderr, sent)

    def frames_of(self, capture):
        """As tshark reads them."""
        listing = run("tshark", "-r", capture, "-T", "json", "-x", "-j",
                      "frame pkt_comment").stdout
        found = []
        for packet in json.loads(listing, object_pairs_hook=lists_of):
            layers = packet["_source"][0]["layers"][0]
            frame = layers["frame"][0]
            found.append(Frame(int(frame["frame.interface_id"][0]),
                               SIDE[frame["frame.packet_flags"][0]],
                               bytes.fromhex(layers["frame_raw"][0][0]), comment_of(layers)))
            second = float(frame["frame.time_epoch"][0])
            assert self.seconds[0] <= second <= self.seconds[1], frame
        return found

    def check_whole(self, folder, own_parts):
        """Without a filter: every frame in and out, at its port, in its order; drops by cause. The
        report, of which `own_parts` are the function's own, and the frames.
        """
        before = self.run(folder / "plain")
        capture = folder / "all.pcapng"
        watched = self.run(folder / "whole", "--capture", capture)
        assert watched.sent == before.sent, "watching changes what leaves"
        report = watched.report
        for part in ("packets", "drops", *own_parts):
            assert report[part] == before.report[part], part
        frames = self.frames_of(capture)
        own = [frame for frame in frames if frame.words.startswith("the ")]
        for port in range(len(self.inputs)):
            # What the function made leaves behind its batch, and is captured behind its cause.
            made = [frame.bytes for frame in own if frame.port == port]
            forwarded = without(made, watched.sent[port])
            for side, expected in (("in", self.received[port]), ("out", forwarded)):
                seen = [frame.bytes for frame in frames
                        if frame[:2] == (port, side) and frame not in own]
                assert seen == expected, f"port {port}, {side}: {len(seen)} of {len(expected)}"
        check_sums(report, frames)
        count = report["packets"]["received"] + len(own)
        assert f"{count} packets watched, 0 found no room" in watched.said, watched.said
        about = run("capinfos", "-M", capture).stdout
        assert re.search(rf"Number of packets: +{len(frames)}\b", about), about
        assert f"Number of interfaces in file: {len(self.inputs)}" in about, about
        assert f"roost {self.function}" in about, about
        listed = run("tcpdump", "-n", "-r", capture).stdout
        assert len(listed.splitlines()) == len(frames)
        return report, frames

    def check_filtered(self, folder, frames, expression, display_filter):
        """Of the whole capture those packets that tshark finds by `display_filter`, and no
        others. Both forms of a packet count.
        """
        self.run(folder / "part", "--capture", folder / "part.pcapng", "--capture-filter",
                 expression)
        seen = [frame[:3] for frame in self.frames_of(folder / "part.pcapng")]
        listed = run("tshark", "-r", folder / "all.pcapng", "-T", "fields", "-e", "frame.number",
                     "-Y", display_filter).stdout
        expected = [frames[int(number) - 1][:3] for number in listed.split()]
        assert seen == expected, (len(seen), len(expected))
        assert {frame[0] for frame in seen} == {0, 1}
        assert {frame[1] for frame in seen} == {"in", "out"}

    def check_traced(self, folder, expression, expected):
        """What `--trace` prints of each packet is what a capture says of it. Returns that."""
        said = self.run(folder / "trace", "--trace", expression).said
        packets = re.split(r"^(?=packet )", said[said.index("packet "):], flags=re.MULTILINE)[1:]
        for words, comment in zip(packets, expected, strict=True):
            assert words.startswith(comment), f"{words}\nis not\n{comment}"
        return packets


def check_sums(report, frames):
    """What came is what left, was dropped, or was for the function: by the report, by the frames,
    and by what the traces say.
    """
    assert report["broken"] == [], report["broken"]
    check_packet_sum(report)
    sides = collections.Counter(frame.side for frame in frames)
    packets = report["packets"]
    assert sides == collections.Counter({"in": packets["received"], "out": packets["sent"]}), sides
    words = [frame.words for frame in frames if frame.side == "in"]
    dropped = collections.Counter(re.search(r"dropped +(\w+)", text).group(1)
                                  for text in words if "dropped " in text)
    assert dropped == {cause: n for cause, n in report["drops"].items() if n}, dropped
    consumed = sum("\n  kept       by the " in text for text in words)
    assert consumed == packets["consumed"], (consumed, packets)


def without(some, frames):
    """The frames that are left, in their order; all of `some` are among them."""
    to_leave_out = collections.Counter(some)
    left = []
    for frame in frames:
        if to_leave_out[frame]:
            to_leave_out[frame] -= 1
        else:
            left.append(frame)
    assert not to_leave_out.total(), f"{to_leave_out.total()} frames did not leave"
    return left


def lists_of(pairs):
    """An object whose names may be there several times, as tshark writes them."""
    found = collections.defaultdict(list)
    for name, value in pairs:
        found[name].append(value)
    return found


def comment_of(layers):
    return layers["pkt_comment"][0]["frame.comment"][0] if "pkt_comment" in layers else ""
