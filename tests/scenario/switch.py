#!/usr/bin/python3
"""The switch under everything at once, with real programs between network namespaces.

    tests/scenario/switch.py [--roost PROGRAM]

Two stations ping each other and fetch a large page over and over. Meanwhile a million stations are
imported, another port floods frames of invented sources, somebody sends in the two stations' names,
the configuration is reloaded, and a cable joins two ports for half a minute. What happened is
printed as a report; the exit status is 0 when every line of it holds.
"""

import concurrent.futures
import functools
import pathlib
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/live"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from program import options, report_runs  # noqa: E402
from switch_attacks import FLOOD, LIMITS, REPEAT, frame, start  # noqa: E402
from switch_reload import IMPORTED, downloads, write_stations  # noqa: E402
from switch_scene import STATIONS, WORKERS, Switch, SwitchNetwork, finish  # noqa: E402
from switch_scene import mac_of, ports_text  # noqa: E402

ENTRIES_MAX = 4_000_000
FLOOD_SECONDS, SPOOF_SECONDS, CABLE_SECONDS, HOLD_SECONDS = 15, 5, 30, 2
PING_SECONDS = 0.02
SPEAKERS = ("a", "b")
IMPORTED_AT, ATTACKER = STATIONS.index("d"), "e"
BEFORE_AND_AFTER = ("untagged = 98", "untagged = 99")  # of the two ports of the cable
JOINED = (f"untagged = 10{LIMITS}",) * 2
MOVES_MAX = 5
LOST_MAX = 0.01  # of the pings beside a cable

HEAD = f"""[switch]
entries_max = {ENTRIES_MAX}
moves_max = {MOVES_MAX}
hold_seconds = {HOLD_SECONDS}
workers = {WORKERS}

"""


def config_with(cable):
    return HEAD + ports_text(["untagged = 10"] * len(STATIONS) + list(cable))


class Pings:
    """Between the two that speak, while something happens."""

    def __init__(self, network):
        self.pings = [
            network.start_ping(*pair, "-i", str(PING_SECONDS), "-W", "1")
            for pair in (SPEAKERS, SPEAKERS[::-1])
        ]

    def counts(self):
        return tuple(map(sum, zip(*(finish(ping) for ping in self.pings))))


def while_pinging(network, happen):
    """What it gives, and pings sent and received meanwhile."""
    pings = Pings(network)
    time.sleep(0.5)
    outcome = happen()
    time.sleep(0.5)
    return outcome, *pings.counts()


def row(report, what, sent, received, lost_max=0.0):
    report.row(what, sent, received, holds=sent > 50 and received >= (1 - lost_max) * sent)


def describe_import(network, switch, directory, report):
    path = directory / "stations.txt"
    write_stations(path, IMPORTED_AT)
    since = time.monotonic()
    taken, sent, received = while_pinging(
        network, lambda: switch.control.ask("fdb", "import", str(path))
    )
    row(report, f"{IMPORTED:,} stations imported", sent, received)
    seconds = time.monotonic() - since - 1
    report.row("  entered, and the seconds", taken["imported"], f"{seconds:.1f}",
               holds=taken == {"imported": IMPORTED, "refused": 0})  # fmt: skip


def describe_flood(network, switch, report):
    to = mac_of(ATTACKER).replace(":", "")

    def flood():
        attacker = start(network, ATTACKER, FLOOD, to, FLOOD_SECONDS)
        return int(attacker.communicate(timeout=FLOOD_SECONDS + 60)[0])

    frames, sent, received = while_pinging(network, flood)
    row(report, f"invented sources for {FLOOD_SECONDS} s", sent, received)
    entries = switch.control.ask("ports")["ports"][STATIONS.index(ATTACKER)]["entries"]
    report.row("  of them, and how many were learned", frames, entries, holds=entries > 0)
    flushed = switch.control.ask("fdb", "flush", "--port", str(STATIONS.index(ATTACKER)))
    report.row("  flushed by hand", flushed["flushed"], holds=flushed["flushed"] == entries)


def describe_spoofing(network, switch, report):
    before = switch.control.ask("stats")["stations"]
    forged = [frame(mac_of(ATTACKER), mac_of(name)).hex() for name in SPEAKERS]

    def spoof():
        start(network, ATTACKER, REPEAT, 200, SPOOF_SECONDS, *forged).wait(SPOOF_SECONDS + 30)

    _, sent, received = while_pinging(network, spoof)
    report.row(f"both stations' names forged for {SPOOF_SECONDS} s", sent, received,
               holds=sent > 50)  # fmt: skip
    after = switch.control.ask("stats")["stations"]
    moved, held = (after[name] - before[name] for name in ("moved", "held"))
    rounds = 1 + (SPOOF_SECONDS + 4) / HOLD_SECONDS
    report.row("  moves, and frames held", moved, held,
               holds=0 < moved <= 2 * MOVES_MAX * rounds and held > 0)  # fmt: skip
    time.sleep(HOLD_SECONDS + 1)
    _, sent, received = while_pinging(network, lambda: time.sleep(1))
    row(report, "  afterwards", sent, received)


def describe_cable(network, switch, report):
    broadcasts = [frame("ff:ff:ff:ff:ff:ff", mac_of("c")), frame("01:00:5e:00:00:05", mac_of("c"))]
    switch.reload(config_with(JOINED))

    def circle():
        noise = start(network, "c", REPEAT, 20, CABLE_SECONDS, *(f.hex() for f in broadcasts))
        noise.wait(CABLE_SECONDS + 30)

    _, sent, received = while_pinging(network, circle)
    taken = switch.reload(config_with(BEFORE_AND_AFTER))
    row(report, f"a cable between two ports for {CABLE_SECONDS} s", sent, received, LOST_MAX)
    drops = switch.control.ask("stats")["drops"]
    storms = drops["broadcast_storm"] + drops["multicast_storm"]
    report.row("  frames of the storm dropped", storms, holds=storms > 0)
    report.row("  reloads, VLANs since", 2, taken["vlans"], holds=taken["vlans"] == 3)


def describe_end(network, fetched, numbers, report):
    report.heading("Downloads of 64 MiB between the two", "fetched", "right")
    right = sum(digest == network.digest for digest in fetched)
    report.row("by SHA-256", len(fetched), right, holds=len(fetched) == right > 0)
    report.heading("The switch's own numbers", "frames")
    for name, count in (*numbers["frames"].items(), *numbers["stations"].items()):
        if count:
            report.row(name, count)
    lost = {"tx_refused", "no_buffer", "malformed", "split_headers", "no_headroom"}
    for cause, count in numbers["drops"].items():
        if count:
            report.row(f"dropped: {cause}", count, holds=cause not in lost)
    report.row("sums that do not close", len(numbers["broken"]), holds=not numbers["broken"])
    workers = [worker["received"] for worker in numbers["workers"]]
    report.row("received by each worker", *workers, holds=min(workers) > 0)


def run_scenario(roost, directory, report):
    with SwitchNetwork("scenario", has_loop=True) as network:
        network.acquaint(*SPEAKERS)
        with Switch(roost, network, directory, config_with(BEFORE_AND_AFTER)) as switch:
            network.serve(directory)
            is_over = threading.Event()
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                fetched = pool.submit(downloads, network, is_over)
                try:
                    report.heading("Pings between two stations, while", "sent", "came back")
                    describe_import(network, switch, directory, report)
                    describe_flood(network, switch, report)
                    describe_spoofing(network, switch, report)
                    describe_cable(network, switch, report)
                finally:
                    is_over.set()
                fetched = fetched.result()
            describe_end(network, fetched, switch.balancer.stop(), report)


def main():
    roost = options(__doc__).roost
    report_runs("scenario of the switch", [(
        f"roost switch, workers: {WORKERS}, {len(STATIONS)} stations",
        functools.partial(run_scenario, roost))])


if __name__ == "__main__":
    main()
