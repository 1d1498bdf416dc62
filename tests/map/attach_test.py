#!/usr/bin/python3
"""`roost map attach` in a network namespace of its own: frames go where it was told, `show` counts
them, another image takes the place of the first one, and what is not ours stays.

    tests/map/attach_test.py ROOST
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

EXIT_USAGE, EXIT_FILES = 2, 4
INSIDE = "ROOST_MAP_TEST_INSIDE"


def command(*words, status=0):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          check=False)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done


def make_network():
    """A wire into the interface `in`, and one out of each of `out1` and `out2`."""
    for near, far in (("in", "host"), ("out1", "host1"), ("out2", "host2")):
        command("ip", "link", "add", near, "type", "veth", "peer", "name", far)
        for name in (near, far):
            command("ip", "link", "set", name, "promisc", "on", "up")
            command("ethtool", "-K", name, "gro", "on")


def listening(interface):
    listener = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88b5))
    listener.bind((interface, 0))
    listener.settimeout(2)
    return listener


def frame_to(number):
    return number.to_bytes(6, "big") + bytes.fromhex("020000000099 88b5") + bytes(50)


def packets(roost, at_least=0):
    """Counts by verdict; when there are so many, or not after all."""
    for _ in range(50):
        said = command(roost, "map", "show", "in", "--attached", "--json").stdout
        counts = json.loads(said)["packets"]
        if sum(counts.values()) >= at_least:
            break
        time.sleep(0.1)
    return counts


def check_traffic(roost, folder):
    entries, image = folder / "entries.txt", folder / "image"
    first = 0x020000000001
    entries.write_text("".join(f"0x{first + i:x} {i % 3 + 1}\n" for i in range(300)))
    command(roost, "map", "build", entries, "-o", image, "--fingerprint-bits", "16")
    attach = (roost, "map", "attach", image, "in", "--action", "1=out1", "--action", "2=out2",
              "--strangers", "drop")
    command(*attach)
    hosts = {1: listening("host1"), 2: listening("host2")}
    sender = listening("host")
    before = packets(roost)
    for i in range(300):
        sender.send(frame_to(first + i))
        if i % 3 + 1 in hosts:
            arrived = hosts[i % 3 + 1].recv(2048)
            assert arrived[:6] == (first + i).to_bytes(6, "big"), (i, arrived)
    for i in range(50):
        sender.send(frame_to(0x02ffff000000 + i))
    counts = packets(roost, sum(before.values()) + 350)
    more = {verdict: counts[verdict] - before[verdict] for verdict in counts}
    assert more["redirected"] == 200 and more["unassigned"] == 100, more
    assert more["stranger"] >= 50 and more["busy"] == more["port_gone"] == 0, more  # IPv6's, too
    text = command(roost, "map", "show", "in", "--attached").stdout
    assert "packets:" in text and "longest walk" in text, text
    command(roost, "map", "ask", "in", "--attached", "--file", entries, "--compare")
    command(roost, "map", "export", "in", folder / "parts", "--attached")
    assert (folder / "parts/level0.bin").exists()

    # Another image, by which all of it goes to the second host.
    entries.write_text("".join(f"0x{first + i:x} 7\n" for i in range(300)))
    command(roost, "map", "build", entries, "-o", image)
    refused = command(*attach, "--mode", "generic", status=EXIT_FILES)
    assert "of the other mode" in refused.stderr, refused
    command(roost, "map", "attach", image, "in", "--action", "7=out2")
    assert packets(roost)["redirected"] >= counts["redirected"]
    sender.send(frame_to(first))
    assert hosts[2].recv(2048)[:6] == first.to_bytes(6, "big")
    command(roost, "map", "detach", "in")
    for words in (("detach", "in"), ("show", "in", "--attached")):
        assert "in has no XDP program" in command(roost, "map", *words, status=EXIT_FILES).stderr


def check_refusals(roost, folder):
    entries, image = folder / "entries.txt", folder / "image"
    entries.write_text("1 1\n")
    command(roost, "map", "build", entries, "-o", image)
    for options, words in (
            (("--action", "1"), "assigns no action"), (("--action", "x=drop"), "assigns no action"),
            (("--action", "1=none"), "none is no action"),
            (("--action", "1=drop", "--action", "1=pass"), "the value 1 has two"),
            (("--strangers", "none"), "none is no action"), (("--mode", "fast"), "--mode")):
        refused = command(roost, "map", "attach", image, "in", *options, status=EXIT_USAGE)
        assert words in refused.stdout + refused.stderr, refused
    refused = command(roost, "map", "attach", image, "none", status=EXIT_FILES)
    assert "there is no interface none" in refused.stderr, refused
    command(roost, "map", "build", entries, "-o", image, "--kind", "parrot")
    refused = command(roost, "map", "attach", image, "in", status=EXIT_FILES)
    assert "XDP takes line maps" in refused.stderr, refused
    image.write_bytes(image.read_bytes()[:-1])
    assert "it is cut" in command(roost, "map", "attach", image, "in", status=EXIT_FILES).stderr


def why_not(roost, folder):
    """Why there is nothing to test, or None."""
    (folder / "one.txt").write_text("1 1\n")
    command(roost, "map", "build", folder / "one.txt", "-o", folder / "one")
    tried = subprocess.run([roost, "map", "attach", folder / "one", "in"], capture_output=True,
                           text=True, check=False)
    if tried.returncode != 0:
        return tried.stderr.strip()
    command(roost, "map", "detach", "in")
    return None


def main(roost):
    if INSIDE not in os.environ:
        here = ["unshare", "--net", sys.executable, *sys.argv]
        if subprocess.run(here[:2] + ["true"], check=False).returncode != 0:
            print("NOT TESTED: no right to make a network namespace")
            return
        os.execvpe(here[0], here, {**os.environ, INSIDE: "1"})
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_network()
        reason = why_not(roost, folder)
        if reason:
            print(f"NOT TESTED: {reason}")
            return
        check_traffic(roost, folder)
        check_refusals(roost, folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
