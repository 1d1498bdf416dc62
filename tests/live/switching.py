"""`roost switch` between five stations, on several workers: pings, a download, iperf3, arping; a
station that moves, a silent one that is found, and one that is forgotten.
"""

import concurrent.futures
import itertools
import json
import subprocess
import time

from namespaces import wait_for
from switch_attacks import check_switch_attacks
from switch_matrix import check_matrix
from switch_reload import check_switch_reload
from switch_scene import (
    BODY_BYTES,
    STATIONS,
    WORKERS,
    Switch,
    SwitchNetwork,
    addresses_of,
    mac_of,
    ports_text,
    sent_and_received,
)

AGEING_SECONDS = 10
# The last frame is seen somewhere in a sixteenth of the ageing time; 16 of them later the entry is
# unknown, and erased within three more. It is measured from a moment after that frame.
GONE_AFTER = AGEING_SECONDS * 15 / 16 - 0.3, AGEING_SECONDS * 19 / 16 + 0.3
ANOTHER_MAC = "02:00:00:00:06:10"
MOVED_TO = 4  # the port of the station that is silent

CONFIG = f"""[switch]
ageing_seconds = {AGEING_SECONDS}
entries_max = 2_000_000
workers = {WORKERS}

"""
IPERF_SECONDS = 1.5


def check_pings(network):
    """Between all that speak, in both families."""
    pairs = [
        (name, other, version)
        for name, other in itertools.permutations("abcd", 2)
        for version in (0, 1)
    ]

    def ask(pair):
        name, other, version = pair
        told = network.ping(name, other, "-c", "3", "-i", "0.2", "-W", "3", version=version)
        assert sent_and_received(told) == (3, 3), (pair, told)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, pairs))
    return len(pairs)


def iperf(network):
    """Gbit/s from a to b, and back. Whatever the rate is, it is not judged."""
    rates = []
    for options in ((), ("-R",)):
        server = subprocess.Popen(
            [*network.stations["b"].prefix, "iperf3", "-s", "-1"], stdout=subprocess.DEVNULL
        )
        network.stack.callback(server.wait)
        network.stack.callback(server.kill)
        listening = lambda: ":5201 " in network.stations["b"].run("ss", "-Hltn")  # noqa: E731
        wait_for("iperf3 listens", listening)
        out = network.stations["a"].run(
            *("iperf3", "-c", addresses_of("b")[0], "-t", str(IPERF_SECONDS), "-J", *options)
        )
        received = json.loads(out)["end"]["sum_received"]
        assert received["bytes"] > 0, received
        rates.append(received["bits_per_second"] / 1e9)
        server.wait(10)
    return rates


def check_arping(network):
    out = network.stations["c"].run(
        *("arping", "-c", "3", "-W", "0.2", "-i", "eth0", addresses_of("d")[0])
    )
    assert "3 packets received" in out and out.count(mac_of("d")) == 3, out


def check_silent(network, switch):
    """A station that never sent anything is flooded to, answers, and is known; the time then."""
    network.acquaint("a", "e")
    bystander = network.wire("c")
    assert switch.entry(mac_of("e")) is None, switch.entry(mac_of("e"))
    told = network.ping("a", "e", "-c", "4", "-i", "0.3", "-W", "2")
    since = time.monotonic()
    assert sent_and_received(told) == (4, 4), told
    assert switch.port_of("e") == STATIONS.index("e")
    seen = [f for f in bystander.received(0.2) if f[:6].hex(":") == mac_of("e")]
    assert len(seen) == 1, f"{len(seen)} frames for a station came to another one"
    bystander.close()
    return since


def check_forgotten(switch, since):
    assert switch.entry(mac_of("e")) is not None
    wait_for("it is forgotten", lambda: switch.entry(mac_of("e")) is None)
    seconds = time.monotonic() - since
    assert GONE_AFTER[0] < seconds < GONE_AFTER[1], f"forgotten after {seconds:.2f} s"
    return seconds


def check_move(network, switch):
    """The station d unplugs, and goes on at the port of e, with its MAC and its address."""
    network.acquaint("c", "d")
    old, new = network.stations["d"], network.stations["e"]
    assert sent_and_received(network.ping("c", "d", "-c", "2", "-i", "0.2")) == (2, 2)
    assert switch.port_of("d") == STATIONS.index("d")
    # Whatever its kernel still says at the old port, it says by another MAC.
    old.ip("link", "set", "eth0", "address", ANOTHER_MAC)
    old.ip("address", "flush", "dev", "eth0")
    new.ip("link", "set", "eth0", "address", mac_of("d"))
    new.ip("address", "add", f"{addresses_of('d')[0]}/24", "dev", "eth0")
    told = network.ping("c", "d", "-c", "2", "-i", "0.2", "-W", "0.3")
    assert sent_and_received(told) == (2, 0), f"it said nothing yet: {told}"
    wire = network.wire("e")
    broadcast, source = b"\xff" * 6, bytes.fromhex(mac_of("d").replace(":", ""))
    wire.send(broadcast + source + b"\x88\xb5" + bytes(46))
    wait_for("it is at its new port", lambda: switch.port_of("d") == MOVED_TO)
    # It has to know whom it answers; it asks by ARP.
    told = network.ping("c", "d", "-c", "3", "-i", "0.2", "-W", "2")
    assert sent_and_received(told) == (3, 3), told
    wire.close()
    moves = switch.control.ask("moves")["moves"]
    assert [(m["mac"], m["port"], m["moves"], m["held"]) for m in moves] == [
        (mac_of("d"), MOVED_TO, 1, False)
    ], moves


def check_stations(roost, directory):
    config = CONFIG + ports_text(["untagged = 10"] * len(STATIONS))
    with SwitchNetwork("switching") as network:
        with Switch(roost, network, directory, config) as switch:
            pairs = check_pings(network)
            since = check_silent(network, switch)
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                seconds = pool.submit(check_forgotten, switch, since)
                network.serve(directory)
                assert network.download() == network.digest
                rates = iperf(network)
                check_arping(network)
                check_switch_reload(network, switch, CONFIG, directory)
                seconds = seconds.result()
            check_move(network, switch)
            report = switch.stop()
    rows = report["workers"]
    assert len(rows) == WORKERS and all(row["received"] > 0 for row in rows), rows
    print(
        f"live: roost switch, workers: {WORKERS}: {pairs} pairs ping, {BODY_BYTES >> 20} MiB have "
        f"their digest, iperf3 {rates[0]:.2f} and {rates[1]:.2f} Gbit/s; a station moved, a silent "
        f"one was found, and forgotten after {seconds:.2f} s of {AGEING_SECONDS}"
    )


def check_switching(roost, directory):
    check_matrix(roost, directory / "matrix")
    check_stations(roost, directory / "stations")
    check_switch_attacks(roost, directory / "attacks")
