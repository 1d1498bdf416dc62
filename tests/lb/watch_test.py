#!/usr/bin/python3
"""`roost lb --capture` and `--trace` on the demonstration's captures: what is watched is what went
in and out, frame by frame; what is said of it is what became of it; and watching changes nothing.

    tests/lb/watch_test.py ROOST
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEMO = ROOT / "demo/lb"
sys.path[:0] = [str(ROOT / "tests/replay"), str(ROOT / "tests/ctl")]

import pcap  # noqa: E402
from endless_balancer import EndlessBalancer  # noqa: E402

INPUTS = ["client", "backends"]
TIMES = [record.time for name in INPUTS for record in pcap.read(DEMO / f"{name}.pcap")]
# A replay's time is that of its packets, in whole ticks: seconds.
FIRST_SECOND, LAST_SECOND = min(TIMES) // 1_000_000, max(TIMES) // 1_000_000
SIDE = {"0x00000001": "in", "0x00000002": "out"}


def run(*command, status=0, environment=None):
    result = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, text=True,
                            capture_output=True, timeout=300, check=False,
                            env={**os.environ, **(environment or {})})
    told = f"{command}: status {result.returncode}\n{result.stdout}\n{result.stderr}"
    assert result.returncode == status, told
    return result


def replay(roost, folder, *options, status=0):
    """The report, what was said beside it, and the frames that left by each port."""
    folder.mkdir()
    devices = [f"--vdev=net_pcap{i},rx_pcap={DEMO / name}.pcap,tx_pcap={folder / name}.pcap"
               for i, name in enumerate(INPUTS)]
    result = run(roost, "lb", "-c", DEMO / "lb.toml", "--json", *options, "--", "--no-huge",
                 "--no-pci", "--no-telemetry", "-m", "256", *devices, status=status,
                 environment={"RUNTIME_DIRECTORY": str(folder), "XDG_RUNTIME_DIR": str(folder)})
    if status != 0:
        return None, result.stderr, None
    sent = [[record.frame for record in pcap.read(folder / f"{name}.pcap")] for name in INPUTS]
    return json.loads(result.stdout), result.stderr, sent


def frames_of(capture):
    """(port, "in" or "out", frame, comment) of each packet, as tshark reads it."""
    listing = run("tshark", "-r", capture, "-T", "json", "-x", "-j",
                  "frame pkt_comment").stdout
    found = []
    for packet in json.loads(listing, object_pairs_hook=lists_of):
        layers = packet["_source"][0]["layers"][0]
        frame = layers["frame"][0]
        found.append((int(frame["frame.interface_id"][0]),
                      SIDE[frame["frame.packet_flags"][0]],
                      bytes.fromhex(layers["frame_raw"][0][0]),
                      comment_of(layers)))
        second = float(frame["frame.time_epoch"][0])
        assert FIRST_SECOND <= second <= LAST_SECOND, frame
    return found


def lists_of(pairs):
    """An object whose names may be there several times, as tshark writes them."""
    found = collections.defaultdict(list)
    for name, value in pairs:
        found[name].append(value)
    return found


def comment_of(layers):
    return layers["pkt_comment"][0]["frame.comment"][0] if "pkt_comment" in layers else ""


def check_whole(roost, folder, plain):
    """Without a filter: every frame in and out, at its port, in its order; drops by cause."""
    report, said, sent = replay(roost, folder / "whole", "--capture", folder / "all.pcapng")
    report_before, _, sent_before = plain
    assert sent == sent_before, "watching changes what leaves"
    for part in ("packets", "flows", "drops", "services"):
        assert report[part] == report_before[part], part
    frames = frames_of(folder / "all.pcapng")
    for port, name in enumerate(INPUTS):
        received = [record.frame for record in pcap.read(DEMO / f"{name}.pcap")]
        for side, expected in (("in", received), ("out", sent[port])):
            seen = [frame for at, where, frame, _ in frames if (at, where) == (port, side)]
            assert seen == expected, f"port {port}, {side}: {len(seen)} of {len(expected)}"
    words = [comment for _, side, _, comment in frames if side == "in"]
    dropped = collections.Counter(re.search(r"dropped +(\w+)", text).group(1)
                                  for text in words if "dropped " in text)
    assert dropped == {cause: n for cause, n in report["drops"].items() if n}, dropped
    created = sum("flow       created" in text or "created anew" in text
                  or "closed -> syn_sent" in text for text in words)
    assert created == report["flows"]["created"], (created, report["flows"])
    count = report["packets"]["received"] + sum(
        comment.startswith("the balancer's own") for _, _, _, comment in frames)
    assert f"{count} packets watched, 0 found no room" in said, said
    about = run("capinfos", "-M", folder / "all.pcapng").stdout
    assert re.search(rf"Number of packets: +{len(frames)}\b", about), about
    assert "Number of interfaces in file: 2" in about and "roost lb" in about, about
    listed = run("tcpdump", "-n", "-r", folder / "all.pcapng").stdout
    assert len(listed.splitlines()) == len(frames)
    return frames


def first_flow(frames):
    """Client's address and port of the first TCP connection that a service got."""
    for _, side, _, comment in frames:
        found = re.search(r"TCP ([\d.]+):(\d+) -> 198\.51\.100\.80:80, SYN,", comment)
        if side == "in" and found:
            return found.groups()
    raise AssertionError("no TCP connection in the capture")


def check_filtered(roost, folder, frames):
    """One connection: its packets of both directions in both forms, and no others."""
    address, port = first_flow(frames)
    expression = f"tcp and host {address} and port {port}"
    replay(roost, folder / "one", "--capture", folder / "one.pcapng", "--capture-filter",
           expression)
    seen = [frame[:3] for frame in frames_of(folder / "one.pcapng")]
    listed = run("tshark", "-r", folder / "all.pcapng", "-T", "fields", "-e", "frame.number", "-Y",
                 f"tcp && ip.addr == {address} && tcp.port == {port}").stdout
    expected = [frames[int(number) - 1][:3] for number in listed.split()]
    assert seen == expected, (len(seen), len(expected))
    assert {at for at, _, _ in seen} == {0, 1} and {side for _, side, _ in seen} == {"in", "out"}
    return address, port, expression


def check_trace(roost, folder, frames, flow):
    """The same connection in words: from its SYN to its end, and nothing of others."""
    address, port, expression = flow
    _, said, _ = replay(roost, folder / "trace", "--trace", expression)
    packets = re.split(r"^(?=packet )", said[said.index("packet "):], flags=re.MULTILINE)[1:]
    told = [comment for _, side, _, comment in frames
            if side == "in" and f"{address}:{port}" in comment and "TCP" in comment]
    assert len(packets) == len(told) > 5
    for words, comment in zip(packets, told):
        assert words.startswith(comment), f"{words}\nis not\n{comment}"
    assert "flow       created: backend b" in packets[0] and "syn_sent" in packets[0]
    assert "service    web" in packets[0], packets[0]
    assert "sent       by port 1 to 02:00:00:00:02:1" in packets[0], packets[0]
    assert re.search(r"found, from its backend: backend b\d of web, syn_sent -> syn_received",
                     packets[1]), packets[1]
    backend = re.search(r"backend (b\d) of web", packets[0]).group(1)
    for words in packets:
        assert f"backend {backend} of web" in words, words


def check_errors(roost, folder):
    _, said, _ = replay(roost, folder / "a", "--capture", folder / "none/a.pcapng", status=4)
    assert "a.pcapng: cannot be written: No such file" in said, said


FULL = "not all of it could be written: No space left on device"


def check_full_disk(roost, folder):
    """It is told at once, the run goes on without a capture, and the report is not lost."""
    (folder / "full").mkdir()
    capture = ["--capture", "/dev/full"]
    with EndlessBalancer(roost, folder / "full", lb_arguments=capture) as balancer:
        deadline = time.monotonic() + 20
        while FULL not in balancer.log.read_text():
            assert time.monotonic() < deadline, "nothing is told of a full disk"
            time.sleep(0.02)
        sent = balancer.ask("stats")["packets"]["sent"]
        while balancer.ask("stats")["packets"]["sent"] == sent:
            assert time.monotonic() < deadline, "the run does not go on"
        report = balancer.stop(status=4)
        said = balancer.log.read_text()
    assert report["broken"] == [] and report["packets"]["sent"] > sent, report
    event = rf"^\d{{4}}-\d\d-\d\dT[\d:.]+Z error: /dev/full: {FULL}; the capture ends here"
    assert len(re.findall(event, said, re.MULTILINE)) == 1, said
    seen = int(re.search(r"(\d+) packets watched", said).group(1))
    assert seen < report["packets"]["received"], "packets are watched for no capture"


def check_full_file_system(roost, folder):
    """The same on a file system of 64 KiB, and what fits is a capture."""
    command = [str(roost), "lb", "-c", str(DEMO / "lb.toml"), "--json", "--capture",
               str(folder / "small/all.pcapng"), "--", "--no-huge", "--no-pci", "--no-telemetry",
               "-m", "256"]
    command += [f"--vdev=net_pcap{i},rx_pcap={DEMO / name}.pcap,tx_pcap=/dev/null"
                for i, name in enumerate(INPUTS)]
    (folder / "small").mkdir()
    script = ('mount -t tmpfs -o size=64k none "$0" || exit 77; "$@"; status=$?; '
              'cp "$0/all.pcapng" "$0.pcapng"; exit $status')
    result = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script,
                             str(folder / "small"), *command], capture_output=True, text=True,
                            timeout=120, check=False, stdin=subprocess.DEVNULL,
                            env={**os.environ, "RUNTIME_DIRECTORY": str(folder),
                                 "XDG_RUNTIME_DIR": str(folder)})
    if result.returncode in (1, 77) and "Operation not permitted" in result.stderr:
        print("NOT TESTED: a capture on a small file system: no namespaces here")
        return
    assert result.returncode == 4, result.stderr
    assert json.loads(result.stdout)["broken"] == []
    assert f"all.pcapng: {FULL}; the capture ends here" in result.stderr, result.stderr
    listed = subprocess.run(["tshark", "-r", str(folder / "small.pcapng")], capture_output=True,
                            text=True, check=False).stdout  # its last packet is cut
    assert len(listed.splitlines()) > 50, listed


def main():
    roost = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="roost-watch-") as name:
        folder = pathlib.Path(name)
        frames = check_whole(roost, folder, replay(roost, folder / "plain"))
        flow = check_filtered(roost, folder, frames)
        check_trace(roost, folder, frames, flow)
        check_errors(roost, folder)
        check_full_disk(roost, folder)
        check_full_file_system(roost, folder)
        print(f"{len(frames)} frames: in and out as they were, and told why")


if __name__ == "__main__":
    main()
