"""`roost switch` changed by its operator under traffic: other VLANs, limits and a mirror by
`roost ctl reload`, a million stations by `roost ctl fdb import`; a ping and a download between two
other ports notice nothing, and a wrong file changes nothing.
"""

import concurrent.futures
import itertools
import signal
import threading
import time

from switch_scene import STATIONS, finish, ports_text, sent_and_received

IMPORTED = 1_000_000
IMPORTED_AT = 4  # the port
OTHER_VLAN = 30
PING_SECONDS = 0.02
SLOW = ("--limit-rate", "20M")  # bytes a second


def config_with(head, c="untagged = 10", more=""):
    vlans = ["untagged = 10", "untagged = 10", c, "untagged = 10", "untagged = 10"]
    return head + ports_text(vlans) + more


def reaches(network, name, other):
    told = network.ping(name, other, "-c", "2", "-i", "0.2", "-W", "0.4")
    return sent_and_received(told)[1] == 2


def check_reloads(network, switch, head):
    """The station c moves to another VLAN and back, by reloads; limits and a mirror come and go."""
    network.acquaint("c", "d")
    assert reaches(network, "c", "d")
    taken = switch.reload(config_with(head, f"untagged = {OTHER_VLAN}\nbroadcast_max = 10"))
    assert (taken["vlans"], taken["stations"]) == (2, 0) and taken["flushed"] >= 1, taken
    assert switch.port_of("c") is None, "its entry is of a VLAN that its port has no longer"
    assert not reaches(network, "c", "d"), "c and d are in one VLAN no longer"
    # Back again, with a tag.
    taken = switch.reload(config_with(head, f"tagged = [10, {OTHER_VLAN}]"))
    assert taken["vlans"] == 2, taken
    assert not reaches(network, "c", "d"), "c sends no tags"
    mirror = f"[mirror]\nto = {STATIONS.index('e')}\nports = [{STATIONS.index('c')}]\n"
    taken = switch.reload(config_with(head, more=mirror))
    assert taken["vlans"] == 1, taken
    wire = network.wire("e")
    assert reaches(network, "c", "d") and reaches(network, "d", "c")
    # What comes from the mirrored port and goes to it, and nothing of the traffic of a and b.
    c, d = network.mac_bytes("c"), network.mac_bytes("d")
    ends = {(f[:6], f[6:12]) for f in wire.received(0.2) if f[0] & 1 == 0}
    assert ends == {(c, d), (d, c)}, f"the mirror saw {ends}"
    wire.close()
    taken = switch.reload(config_with(head))
    assert taken["vlans"] == 1, taken


def write_stations(path, port):
    """As many lines as are imported."""
    ends = [f"{i:02x}:{j:02x}" for i in range(256) for j in range(256)]
    middles = [f"10 06:00:00:{i:02x}:" for i in range(1 + IMPORTED // len(ends))]
    lines = (f"{middle}{end} {port} learned\n" for middle in middles for end in ends)
    path.write_text("".join(itertools.islice(lines, IMPORTED)))


def check_import(switch, directory):
    path = directory / "stations.txt"
    write_stations(path, IMPORTED_AT)
    since = time.monotonic()
    taken = switch.control.ask("fdb", "import", str(path))
    seconds = time.monotonic() - since
    assert taken == {"imported": IMPORTED, "refused": 0}, taken
    count = switch.control.ask("fdb", "count", "--port", str(IMPORTED_AT))["entries"]
    assert count >= IMPORTED, count
    return seconds


def check_wrong_files(switch, directory, config):
    """Of the configuration and of stations: a reload, SIGHUP and an import change nothing."""
    asked = ("vlans",), ("fdb", "count", "--port", "0"), ("fdb", "count", "--kind", "static")
    before = [switch.control.ask(*words) for words in asked]
    for wrong, words in (
        ("untagged = 5000", "untagged"),
        ("untagged = 10\ntagged = [10]", "twice"),
        ("untagged = 20\nmtu = 1400", "mtu"),
    ):
        text = config.replace("untagged = 10", wrong, 1)
        switch.configure(text)
        told = switch.refuses("reload")
        assert words in told, told
    refused = switch.control.ask("stats")["reloads"]["refused"]
    switch.balancer.process.send_signal(signal.SIGHUP)
    deadline = time.monotonic() + 10
    while switch.control.ask("stats")["reloads"]["refused"] == refused:
        assert time.monotonic() < deadline, "SIGHUP was not heard"
    path = directory / "wrong.txt"
    path.write_text("10 06:00:00:00:00:01 3 static\n10 06:00:00:00:00:02 9 learned\n")
    told = switch.refuses("fdb", "import", str(path))
    assert "wrong.txt:2" in told and "nothing was imported" in told, told
    assert [switch.control.ask(*words) for words in asked] == before
    switch.configure(config)


def downloads(network, is_over):
    """The digests of one download after the other, until it is over."""
    digests = []
    while not is_over.is_set():
        digests.append(network.download(*SLOW))
    return digests


def check_switch_reload(network, switch, head, directory):
    """While the stations a and b ping and fetch, all else changes."""
    network.acquaint("a", "b")
    ping = network.start_ping("a", "b", "-i", str(PING_SECONDS))
    is_over = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        digests = pool.submit(downloads, network, is_over)
        try:
            check_reloads(network, switch, head)
            seconds = check_import(switch, directory)
            check_wrong_files(switch, directory, config_with(head))
        finally:
            is_over.set()
        digests = digests.result()
    assert set(digests) == {network.digest}, "a download is not what was served"
    sent, received = finish(ping)
    assert sent == received, f"{sent - received} pings of {sent} were lost"
    assert sent > 100, sent
    reloads = switch.control.ask("stats")["reloads"]
    assert reloads == {"taken": 4, "refused": 4}, reloads
    print(
        f"  reloads under traffic: {sent} pings and {len(digests)} downloads noticed nothing of 4 "
        f"reloads, {IMPORTED:,} stations imported in {seconds:.2f} s, and 5 wrong files"
    )
