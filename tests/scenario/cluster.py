#!/usr/bin/python3
"""Two balancers behind a router that spreads by ECMP: one is killed, comes back, is drained, while
downloads are under way.

    ./dev scenario cluster [--mode l2dsr|fullnat] [--downloads 2000] [--roost PROGRAM]

BGP by BIRD on the router and beside each node, weights from etcd, downloads by curl from nginx,
IPv4 and IPv6, each checked by SHA-256. Printed is what broke at each event beside what theory says:
the share of connections that the router moves, times the share of these that the other node sends
to another backend (docs/decisions/0036-two-nodes.md).
"""

import contextlib
import functools
import json
import pathlib
import signal
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/live"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from balancer import Balancer, packet_sockets  # noqa: E402
from cluster_network import (  # noqa: E402
    ETCD_PORT, OUTSIDE, VIRTUAL, ClusterNetwork)  # fmt: skip
from draining import Control  # noqa: E402
from downloads import Downloads  # noqa: E402
from namespaces import wait_for  # noqa: E402
from network import BACKENDS, WEB_CLIENTS  # noqa: E402
from program import options, report_runs  # noqa: E402
from servers import Backend, body_digests, write_bodies  # noqa: E402
from settings import SERVER_PORT, prefixed  # noqa: E402

MODES = "l2dsr", "fullnat"
PORT = 80
RATE = "8k"  # of each download, a second: 64 KB take eight seconds
PATHS = ("64k",)
SECONDS_MAX = 40  # of a download; one whose packets go nowhere ends by it
SERVICES = [
    {"name": "web", "address": VIRTUAL[0], "port": PORT},
    {"name": "web6", "address": VIRTUAL[1], "port": PORT},
]
FAVOURED, WEIGHT = "b1", 4  # its weight, of 1 as the others, in the middle of downloads
TOLERANCE = 0.10  # of shares, which are those of some hundred connections


def configuration(mode, number, socket):
    outside = [own.format(1) for own in OUTSIDE[number]]
    inside = [f"10.0.0.{number}", f"2001:db8:2::{number}"]
    router = [own.format(end) for own, end in zip(OUTSIDE[number], ("254", "fe"))]
    parts = [
        "tick_seconds = 1.0\nmaglev_seed = 7\n[table]\nconnections = 100_000\n",
        f"[[port]]\naddresses = [{prefixed(outside)}]\n",
        f"[[port]]\naddresses = [{prefixed(inside)}]\n",
        f'[[route]]\nprefix = "0.0.0.0/0"\nvia = "{router[0]}"\n',
        f'[[route]]\nprefix = "::/0"\nvia = "{router[1]}"\n',
        f'[control]\nsocket = "{socket}"\netcd = "http://10.255.{number}.254:{ETCD_PORT}"\n',
        "[announce]\ntable = 4343\n",
    ]
    # Who gets the client's own packets gets them at the virtual port.
    port = f", port = {SERVER_PORT}" if mode == "fullnat" else ""
    for service in SERVICES:
        is_ipv6 = ":" in service["address"]
        backends = ", ".join(
            f'{{name = "{name}", address = "{addresses[is_ipv6]}"{port}}}'
            for name, addresses in BACKENDS.items()
        )
        parts.append(
            f'[[service]]\nname = "{service["name"]}"\naddress = "{service["address"]}"\n'
            f'port = {PORT}\nprotocol = "tcp"\nmode = "{mode}"\nbackends = [{backends}]\n'
        )
    if mode == "fullnat":
        parts.append(
            f'[fullnat]\naddresses = ["10.0.0.10{number}", "2001:db8:2::10{number}"]\n'
        )
    return "\n".join(parts)


class Node:
    """One of the two: its program, which can be killed and started again."""

    def __init__(self, options, mode, number, network, directory, stack):
        self.number = number
        self.options = options
        self.namespace = network.nodes[number]
        self.directory = directory / f"node{number}"
        self.directory.mkdir()
        self.socket = self.directory / "lb.sock"
        self.config = self.directory / "lb.toml"
        self.config.write_text(configuration(mode, number, self.socket))
        self.control = Control(options.roost, self.socket)
        self.stack = stack
        self.starts = 0

    def start(self):
        folder = self.directory / f"{self.directory.name}-{self.starts}"
        folder.mkdir()
        self.starts += 1
        self.balancer = self.stack.enter_context(
            Balancer(self.options.roost, self.config, self.namespace, folder, packet_sockets())
        )
        self.balancer.wait_until_ready()

    def kill(self):
        self.balancer.process.kill()
        self.balancer.process.wait()

    def created(self):
        return self.control.ask("stats")["flows"]["created"]


class Cluster:
    def __init__(self, options, mode, network, directory, stack):
        self.network = network
        self.directory = directory
        self.each = options.downloads // 5
        self.number = 0
        self.rows = []
        self.nodes = {n: Node(options, mode, n, network, directory, stack) for n in OUTSIDE}
        self.mode = mode
        for node in self.nodes.values():
            node.start()
        network.wait_for_ways(1, 2)

    def wave(self, nodes):
        """Downloads under way, by all of these nodes together; what each node has of them."""
        before = {n: self.nodes[n].created() for n in nodes}
        numbers = range(self.number, self.number + self.each)
        self.number += self.each
        wave = Downloads(self.network.far, SERVICES, WEB_CLIENTS, numbers,
                         self.directory / f"wave{self.number}", PATHS, SECONDS_MAX)  # fmt: skip

        def made():
            return {n: self.nodes[n].created() - before[n] for n in nodes}

        wait_for("every download has a connection", lambda: sum(made().values()) >= self.each,
                 seconds=60)  # fmt: skip
        return wave, made()

    def note(self, what, wave, moved, remapped, seconds):
        """`moved`: how many connections; None: those that node 2 has made since it began.
        `remapped`: the share of these that another backend gets, by theory."""
        results = wave.results(body_digests())
        moved = moved if moved is not None else self.nodes[2].created()
        broken = sum(bool(result.error) for result in results)
        wrong = sum(not result.is_right and not result.error for result in results)
        self.rows.append((what, len(results), moved, remapped, broken, wrong, seconds))
        time.sleep(1)

    def killed(self):
        wave, made = self.wave((1, 2))
        self.nodes[2].kill()
        seconds = self.network.wait_for_ways(1)
        self.note("node 2 is killed", wave, made[2], self.lost_when_moved(), seconds)

    def back(self):
        wave, _ = self.wave((1,))
        self.nodes[2].start()
        seconds = self.network.wait_for_ways(1, 2)
        self.note("node 2 is back", wave, None, self.lost_when_moved(), seconds)

    def drained(self):
        wave, made = self.wave((1, 2))
        self.nodes[2].control.ask("node", "drain")
        seconds = self.network.wait_for_ways(1)
        self.note("node 2 is drained", wave, made[2], self.lost_when_moved(), seconds)
        self.nodes[2].control.ask("node", "up")
        self.network.wait_for_ways(1, 2)

    def stopped(self):
        wave, made = self.wave((1, 2))
        process = self.nodes[2].balancer.process
        process.send_signal(signal.SIGTERM)
        seconds = self.network.wait_for_ways(1)
        assert process.poll() is None, "it stopped before the router was told"
        self.report2 = json.loads(process.communicate(timeout=30)[0])
        assert process.returncode == 0, self.nodes[2].balancer.log.read_text()
        self.note("node 2 is stopped", wave, made[2], self.lost_when_moved(), seconds)
        self.nodes[2].start()
        self.network.wait_for_ways(1, 2)

    def weighted(self):
        wave, made = self.wave((1, 2))
        for service in SERVICES:
            self.network.put(f"/roost/{service['name']}/{FAVOURED}/weight", str(WEIGHT))
        wait_for("both nodes have the weight", lambda: all(
            self.weight_at(node) == WEIGHT for node in self.nodes.values()))  # fmt: skip
        self.nodes[2].kill()
        seconds = self.network.wait_for_ways(1)
        # The favoured one's share grows at the cost of all others, and only those are moved.
        gain = WEIGHT / (WEIGHT + len(BACKENDS) - 1) - 1 / len(BACKENDS)
        remapped = 1 if self.mode == "fullnat" else gain
        what = f"{FAVOURED}'s weight 1 → {WEIGHT}, then killed"
        self.note(what, wave, made[2], remapped, seconds)

    @staticmethod
    def weight_at(node):
        rows = node.control.ask("backends", "--service", "web6")["backends"]
        return next(row["weight"] for row in rows if row["name"] == FAVOURED)

    def lost_when_moved(self):
        """Nobody else knows a local port; a backend is known by the hash."""
        return 1 if self.mode == "fullnat" else 0


def describe(cluster, report):
    report.heading("While downloads are under way", "downloads", "moved", "of these", "in theory",
                   "broken", "noticed")  # fmt: skip
    for what, count, moved, remapped, broken, wrong, seconds in cluster.rows:
        expected = moved * remapped
        is_near = abs(broken - expected) <= TOLERANCE * count if remapped else broken == 0
        report.row(what, count, moved, f"{remapped:.0%}", f"{expected / count:.1%}",
                   f"{broken / count:.1%}", f"{seconds * 1000:.0f} ms",
                   holds=is_near and wrong == 0)  # fmt: skip
    report.heading("Sums of node 1")
    numbers = cluster.nodes[1].balancer.stop()
    packets, flows = numbers["packets"], numbers["flows"]
    left = (packets["received"] + packets["originated"] - packets["sent"] - packets["consumed"]
            - sum(numbers["drops"].values()))  # fmt: skip
    report.row("packets received", packets["received"])
    report.row("packets unaccounted for", left, holds=left == 0)
    ways = ("live", "ended", "expired", "evicted", "deleted")
    report.row("connections created", flows["created"])
    left = flows["created"] - sum(flows[way] for way in ways)
    report.row("connections unaccounted for", left, holds=left == 0)


def run_mode(options, mode, directory, report):
    with contextlib.ExitStack() as stack:
        network = stack.enter_context(ClusterNetwork(directory))
        bodies = directory / "bodies"
        write_bodies(bodies)
        for number, (name, addresses) in enumerate(BACKENDS.items(), start=11):
            backend = Backend(name, number, network.backends[name], addresses, SERVER_PORT,
                              directory / name, bodies, RATE)  # fmt: skip
            stack.callback(backend.stop)
            backend.wait_until_ready()
            backend.serve_at(VIRTUAL, PORT)
        cluster = Cluster(options, mode, network, directory, stack)
        cluster.killed()
        cluster.back()
        cluster.drained()
        cluster.stopped()
        cluster.weighted()
        describe(cluster, report)


def main():
    chosen = options(__doc__, MODES, downloads=2_000)
    report_runs("cluster", (
        (f"two nodes of roost lb in the mode {mode}: {chosen.downloads:,} downloads",
         functools.partial(run_mode, chosen, mode)) for mode in chosen.modes))


if __name__ == "__main__":
    main()
