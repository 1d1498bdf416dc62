"""A flood of SYNs from invented addresses, at least ten times as many as the tracker has places:
how many of 2,000 assured connections live on that are silent meanwhile, and how many of 2,000
clients that come then get in. Ours, and the kernel's beside it with as many places.

    tests/live/run.py --attacks      has both, with as many places as the kernel has
"""

import time

import numpy as np

from tcp_sequences import SYN, Segment, segments_of
from tracker_scene import KernelTracker, RoostTracker

CONNECTIONS = 2_000
FIRST_OLD, FIRST_NEW = 10_000, 20_000
PLACES = 8_192
TIMES = 10
RATE = 60_000  # frames a second
ROUND = 600  # frames between two looks at the clock
FLOOD_ADDRESSES = 250
IP_AT, TCP_AT = 14, 34  # in a frame


def shake_hands(tracker, first_port):
    """SYN, SYN-ACK, ACK of all clients, in lockstep; then whose connections are established."""
    ports = range(first_port, first_port + CONNECTIONS)
    packets = [segments_of("SsA", port) for port in ports]
    for number in range(3):
        tracker.send(
            [
                (segments[number].is_from_client, tracker.frame(port, segments[number]))
                for port, segments in zip(ports, packets)
            ]
        )
    return established(tracker, first_port)


def established(tracker, first_port):
    states = tracker.states()
    ports = range(first_port, first_port + CONNECTIONS)
    return sum(states.get(port, "").lower() == "established" for port in ports)


def checksums(words):
    """RFC 1071 of each row of 16-bit words."""
    total = words.astype(np.uint32).sum(axis=1)
    total = (total >> 16) + (total & 0xFFFF)
    return (~((total >> 16) + total) & 0xFFFF).astype(">u2")


def flood_frames(tracker, first, count):
    """SYNs of flows `first` and so on, each another: rows of bytes."""
    frame = tracker.frame(0, Segment(True, SYN, 0, 0))
    rows = np.tile(np.frombuffer(frame, np.uint8), (count, 1))
    numbers = np.arange(first, first + count)
    rows[:, IP_AT + 12 : IP_AT + 15] = 203, 0, 113
    rows[:, IP_AT + 15] = 1 + numbers % FLOOD_ADDRESSES
    ports = (1024 + numbers // FLOOD_ADDRESSES).astype(">u2")
    rows[:, TCP_AT : TCP_AT + 2] = ports.view(np.uint8).reshape(-1, 2)
    numbers = np.random.default_rng(first).integers(0, 1 << 32, count).astype(">u4")
    rows[:, TCP_AT + 4 : TCP_AT + 8] = numbers.view(np.uint8).reshape(-1, 4)
    for field, begin, end, pseudo in (
        (IP_AT + 10, IP_AT, TCP_AT, 0),
        (TCP_AT + 16, IP_AT + 12, TCP_AT + 20, 6 + 20),
    ):
        rows[:, field : field + 2] = 0
        words = np.ascontiguousarray(rows[:, begin:end]).view(">u2").astype(np.uint32)
        words[:, 0] += pseudo
        rows[:, field : field + 2] = checksums(words).view(np.uint8).reshape(-1, 2)
    return rows


def send_flood(tracker, count):
    """Until so many SYNs have arrived at the tracker: queues in front of it may lose some. How many
    were sent.
    """
    wire = tracker.network.wires[0]
    wanted = tracker.arrived() + count
    sent, begin = 0, time.monotonic()
    while (missing := wanted - tracker.arrived()) > 0:
        rows = flood_frames(tracker, sent, min(missing + ROUND, 50_000))
        frame_bytes, data = rows.shape[1], memoryview(rows.tobytes())
        for first in range(0, len(data), ROUND * frame_bytes):
            burst = data[first : first + ROUND * frame_bytes]
            for at in range(0, len(burst), frame_bytes):
                wire.send(burst[at : at + frame_bytes])
            sent += len(burst) // frame_bytes
            time.sleep(max(0, begin + sent / RATE - time.monotonic()))
        time.sleep(0.05)
    return sent


def survive(tracker, places):
    """Who lives on, and who gets in."""
    assert shake_hands(tracker, FIRST_OLD) == CONNECTIONS, "not all could begin in peace"
    sent = send_flood(tracker, TIMES * places)
    old = established(tracker, FIRST_OLD)
    new = shake_hands(tracker, FIRST_NEW)
    still = established(tracker, FIRST_OLD)
    return {"sent": sent, "survivors": min(old, still), "newcomers": new}


def flood_ours(roost, directory, places):
    with RoostTracker(roost, directory, places) as tracker:
        figures = survive(tracker, places)
        report = tracker.balancer.stop()
    flows = report["flows"]
    assert flows["evicted"] >= (TIMES - 1) * places, flows
    print(
        f"live: roost lb with {places} places, after {figures['sent']} SYNs: of {CONNECTIONS} old "
        f"connections {figures['survivors']} live, of {CONNECTIONS} new ones "
        f"{figures['newcomers']} get in"
    )
    assert figures["survivors"] == figures["newcomers"] == CONNECTIONS, figures


def flood_kernel():
    """Reported only. Its places are the machine's, and no namespace can have others."""
    with KernelTracker("flooded") as tracker:
        places = int(tracker.settings["net.netfilter.nf_conntrack_max"])
        figures = survive(tracker, places)
    print(
        f"live: the kernel's tracker with {places} places, after {figures['sent']} SYNs: of "
        f"{CONNECTIONS} old connections {figures['survivors']} live, of {CONNECTIONS} new ones "
        f"{figures['newcomers']} get in"
    )
    return places


def check_flood_of_syns(roost, directory):
    flood_ours(roost, directory, PLACES)


def compare_floods(roost, directory):
    flood_ours(roost, directory, flood_kernel())
