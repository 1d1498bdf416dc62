"""A switch under attack, and with a cable between two of its ports, while two stations ping each
other: invented sources that fill the database, frames in the stations' own names from another port,
and a loop of which nobody but the limits of storms knows.
"""

import subprocess
import time

from switch_scene import (
    STATIONS,
    WORKERS,
    Switch,
    SwitchNetwork,
    finish,
    mac_of,
    ports_text,
    sent_and_received,
)

ENTRIES_MAX = 131_072
# A port's own part of one half, and the other half.
ROOM_OF_ONE_PORT = ENTRIES_MAX // 2 // 7 + ENTRIES_MAX // 2
HOLD_SECONDS, MOVES_MAX, WINDOW_SECONDS = 2, 5, 10
FLOOD_SECONDS, SPOOF_SECONDS, LOOP_SECONDS = 8, 5, 5
RECOVERY_SECONDS_MAX = HOLD_SECONDS + 2
STORM_MAX = 200  # frames a second, of each kind
ATTACKER = "e"
ATTACKER_PORT = STATIONS.index(ATTACKER)
PING = ("-i", "0.02", "-W", "1")

HEAD = f"""[switch]
entries_max = {ENTRIES_MAX}
moves_max = {MOVES_MAX}
moves_seconds = {WINDOW_SECONDS}
hold_seconds = {HOLD_SECONDS}
workers = {WORKERS}

"""
LIMITS = "".join(
    f"\n{kind}_max = {STORM_MAX}" for kind in ("broadcast", "multicast", "unknown_unicast")
)

# Sends frames of ever other sources to one address, for so many seconds, as fast as it can.
FLOOD = """
import random, socket, sys, time
to, seconds = bytes.fromhex(sys.argv[1]), float(sys.argv[2])
draw = random.Random(1)
rest = b"\\x88\\xb5" + bytes(46)
sent, until = 0, time.monotonic() + seconds
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
    sender.bind(("eth0", 0))
    while time.monotonic() < until:
        sources = draw.randbytes(5 * 512)
        for i in range(0, len(sources), 5):
            sender.send(to + b"\\x06" + sources[i:i + 5] + rest)
        sent += 512
print(sent)
"""

# Sends each of these frames so many times a second, for so many seconds.
REPEAT = """
import socket, sys, time
rate, seconds = float(sys.argv[1]), float(sys.argv[2])
frames = [bytes.fromhex(word) for word in sys.argv[3:]]
begin, sent = time.monotonic(), 0
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
    sender.bind(("eth0", 0))
    while time.monotonic() < begin + seconds:
        for frame in frames:
            sender.send(frame)
        sent += 1
        time.sleep(max(0, begin + sent / rate - time.monotonic()))
"""


def config_with(loop):
    """`loop`: what is said of the two ports that the cable joins."""
    return HEAD + ports_text(["untagged = 10"] * len(STATIONS) + list(loop))


APART = config_with(("untagged = 98", "untagged = 99"))
LOOPED = config_with((f"untagged = 10{LIMITS}",) * 2)


def frame(to, source):
    return bytes.fromhex((to + source).replace(":", "")) + b"\x88\xb5" + bytes(46)


def start(network, name, program, *arguments):
    process = subprocess.Popen(
        [*network.stations[name].prefix, "/usr/bin/python3", "-c", program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
    )
    network.stack.callback(process.wait)
    network.stack.callback(process.kill)
    return process


def entries_at(switch, port):
    return switch.control.ask("ports")["ports"][port]["entries"]


def check_flood(network, switch):
    """Nobody is forgotten, nothing is flooded that has a place, and others may still learn."""
    own = frame(mac_of(ATTACKER), mac_of(ATTACKER))
    network.wire(ATTACKER).send(own)
    bystander = network.wire("d")
    ping = network.start_ping("a", "b", *PING)
    time.sleep(0.5)
    bystander.received()
    to = mac_of(ATTACKER).replace(":", "")
    attacker = start(network, ATTACKER, FLOOD, to, FLOOD_SECONDS)
    frames_sent = int(attacker.communicate(timeout=60)[0])
    entries = entries_at(switch, ATTACKER_PORT)
    refused = switch.control.ask("stats")["stations"]["refused"]
    assert 0.99 * ROOM_OF_ONE_PORT <= entries <= 1.01 * ROOM_OF_ONE_PORT, entries
    assert refused > 0, "the database was not full"
    # Those who come late find the room of their own port.
    newcomer = "02:00:00:00:07:10"
    network.wire("c").send(frame(mac_of("a"), newcomer))
    time.sleep(0.3)
    row = switch.entry(newcomer)
    assert row is not None and row["port"] == STATIONS.index("c"), row
    sent, received = finish(ping)
    assert received >= 0.99 * sent, f"{sent - received} pings of {sent} were lost"
    strangers = [f for f in bystander.received() if f[12:14] in (b"\x08\x00", b"\x88\xb5")]
    assert not strangers, f"{len(strangers)} frames of others came to a third station"
    flushed = switch.control.ask("fdb", "flush", "--port", str(ATTACKER_PORT))["flushed"]
    assert flushed == entries and entries_at(switch, ATTACKER_PORT) == 0, flushed
    assert switch.port_of("a") == 0 and switch.port_of("b") == 1
    print(
        f"  {frames_sent:,} invented sources at one port: {entries:,} learned, {refused:,} "
        f"refused; {received} of {sent} pings came back, and none was flooded"
    )


def check_spoofing(network, switch):
    """Frames in the names of both stations: they move, but not often, and are back with their own
    first frames, once they are held no longer. A station that says nothing would not be back.
    """
    before = switch.control.ask("stats")["stations"]
    frames = [frame(mac_of(ATTACKER), mac_of(name)).hex() for name in "ab"]
    attacker = start(network, ATTACKER, REPEAT, 200, SPOOF_SECONDS, *frames)
    pings = [network.start_ping(*pair, *PING) for pair in ("ab", "ba")]
    rows = []
    while attacker.poll() is None:
        rows += switch.control.ask("moves")["moves"]
        time.sleep(0.2)
    since = time.monotonic()
    own = [row for row in rows if row["mac"] in (mac_of("a"), mac_of("b"))]
    assert own and all(row["moves"] <= MOVES_MAX for row in own), own
    assert any(row["held"] for row in own), own
    while sent_and_received(network.ping("a", "b", "-c", "1", "-W", "0.1"))[1] == 0:
        assert time.monotonic() - since < RECOVERY_SECONDS_MAX, "the stations do not come back"
    seconds = time.monotonic() - since
    moved, held = (
        switch.control.ask("stats")["stations"][name] - before[name] for name in ("moved", "held")
    )
    # Two stations, and each is held at least so long after so many moves.
    rounds = 1 + (SPOOF_SECONDS + seconds) / HOLD_SECONDS
    assert 0 < moved <= 2 * MOVES_MAX * rounds and held > 100, (moved, held)
    sent, received = map(sum, zip(*(finish(ping) for ping in pings)))
    print(
        f"  frames in the stations' names from another port, for {SPOOF_SECONDS} s: {moved} moves, "
        f"{held} frames held, {received} of {sent} pings came back, all {seconds:.2f} s later"
    )


def check_loop(network, switch):
    """Two ports are joined, a third station's broadcasts circle; two that know each other do not
    care, as what circles is so little.
    """
    broadcasts = [frame("ff:ff:ff:ff:ff:ff", mac_of("c")), frame("01:00:5e:00:00:05", mac_of("c"))]
    bystander = network.wire("d")
    taken = switch.reload(LOOPED)
    assert taken["vlans"] == 1, taken
    noise = start(network, "c", REPEAT, 20, LOOP_SECONDS, *(f.hex() for f in broadcasts))
    ping = network.start_ping("a", "b", "-i", "0.01", "-W", "1")
    noise.wait(LOOP_SECONDS + 10)
    sent, received = finish(ping)
    drops = switch.control.ask("stats")["drops"]
    taken = switch.reload(APART)
    assert taken["vlans"] == 3, taken
    circled = len([f for f in bystander.received() if f[12:14] == b"\x88\xb5"])
    assert sent > 100, sent
    assert received >= 0.99 * sent, f"{sent - received} pings of {sent} were lost"
    # Two ports and two kinds, and a second begun is a second; and what c sent itself.
    most = 2 * 2 * STORM_MAX * (LOOP_SECONDS + 3) + 2 * 20 * (LOOP_SECONDS + 1)
    assert STORM_MAX < circled <= most, circled
    assert min(drops["broadcast_storm"], drops["multicast_storm"]) > LOOP_SECONDS, drops
    assert switch.port_of("c") in (None, STATIONS.index("c"))
    bystander.received(0.3)
    time.sleep(0.5)
    still = [f for f in bystander.received() if f[12:14] == b"\x88\xb5"]
    assert not still, f"{len(still)} frames circle, though the loop is gone"
    print(
        f"  a loop for {LOOP_SECONDS} s: {received} of {sent} pings came back, {circled} frames "
        f"of the storm at another port"
    )


def check_switch_attacks(roost, directory):
    with SwitchNetwork("attacks", has_loop=True) as network:
        network.acquaint("a", "b")
        with Switch(roost, network, directory, APART) as switch:
            assert sent_and_received(network.ping("a", "b", "-c", "2", "-i", "0.2"))[1] == 2
            check_flood(network, switch)
            check_spoofing(network, switch)
            check_loop(network, switch)
            switch.stop()
    print("live: roost switch under invented sources, forged ones, and a loop")
