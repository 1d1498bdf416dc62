"""Stations around a switch, one at each of its ports, and `roost switch` itself.

    a ── p0 ┐
    b ── p1 │
    c ── p2 ├ switch
    d ── p3 │
    e ── p4 ┘

The namespace `switch` has the ports; what joins them is roost, or a switch to compare it with. A
scene with a loop has two ports more, p5 and p6, which one cable joins.
"""

import hashlib
import json
import os
import re
import signal
import subprocess

from balancer import Balancer
from draining import Control
from frames import Wire, mac_bytes
from namespaces import NO_IPV6, QUIET_IPV6, NamespaceNetwork, link, wait_for
from servers import Backend

STATIONS = "abcde"
SILENT = "e"  # sends nothing by itself, as it has no IPv6
VLAN = 10  # of all
WORKERS = min(2, len(os.sched_getaffinity(0)))
BODY_BYTES = 64 << 20
RING_FRAMES = 2048  # of a port's packet socket


def mac_of(station):
    return f"02:00:00:00:01:{0x10 + STATIONS.index(station):02x}"


def addresses_of(station):
    number = 10 + STATIONS.index(station)
    return f"10.1.0.{number}", f"2001:db8:5::{number}"


class SwitchNetwork(NamespaceNetwork):
    """`role` tells the namespaces of one network from those of another."""

    def __init__(self, role, has_loop=False):
        self.role = role
        self.has_loop = has_loop

    def _build(self):
        self.switch = self.add_namespace(f"{self.role}-switch", NO_IPV6)
        self.stations = {}
        for number, name in enumerate(STATIONS):
            ipv6 = NO_IPV6 if name == SILENT else QUIET_IPV6
            station = self.add_namespace(f"{self.role}-{name}", ipv6)
            self.stations[name] = station
            link(self.switch, f"p{number}", station, "eth0")
            station.ip("link", "set", "eth0", "address", mac_of(name))
            station.give("eth0", addresses_of(name)[: 1 if name == SILENT else 2])
        self.ports = [f"p{number}" for number in range(len(STATIONS))]
        if self.has_loop:
            link(self.switch, "p5", self.switch, "p6")
            self.ports += ["p5", "p6"]

    def wire(self, name):
        """A packet socket at a station's end."""
        wire = Wire(self.stations[name])
        self.stack.callback(wire.close)
        return wire

    @staticmethod
    def mac_bytes(name):
        return mac_bytes(mac_of(name))

    def acquaint(self, *names):
        """These stations know each other's MACs, and ask nobody for them."""
        for name in names:
            for other in set(names) - {name}:
                for address in addresses_of(other)[: 1 if SILENT in names else 2]:
                    self.stations[name].ip(
                        *("neigh", "replace", address, "lladdr", mac_of(other)),
                        *("dev", "eth0", "nud", "permanent"),
                    )

    def serve(self, directory):
        """A large page on the station b; its digest is kept."""
        bodies = directory / "bodies"
        bodies.mkdir()
        body = b"".join(number.to_bytes(8, "big") for number in range(BODY_BYTES // 8))
        (bodies / "large").write_bytes(body)
        self.digest = hashlib.sha256(body).hexdigest()
        server = Backend(
            "b", 11, self.stations["b"], addresses_of("b"), 8080, directory / "b", bodies
        )
        self.stack.callback(server.stop)
        server.wait_until_ready()

    def download(self, *options):
        """The digest of what the station a gets of the station b."""
        url = f"http://{addresses_of('b')[0]}:8080/large"
        curl = ["curl", "-q", "-sS", "--fail", "--max-time", "60", *options, url]
        body = subprocess.run(
            [*self.stations["a"].prefix, *curl], stdout=subprocess.PIPE, timeout=90, check=True
        ).stdout
        return hashlib.sha256(body).hexdigest()

    def ping(self, name, other, *options, version=0):
        """What it says; see sent_and_received()."""
        address = addresses_of(other)[version]
        return subprocess.run(
            [*self.stations[name].prefix, "ping", "-n", "-q", *options, address],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        ).stdout

    def start_ping(self, name, other, *options):
        """A ping that goes on beside what else happens, until finish()."""
        process = subprocess.Popen(
            [*self.stations[name].prefix, "ping", "-n", *options, addresses_of(other)[0]],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        return process


def sent_and_received(told):
    return tuple(map(int, re.search(r"(\d+) packets transmitted, (\d+) received", told).groups()))


def finish(ping):
    """How many were sent, and how many came back. The last one may not have had the time."""
    ping.send_signal(signal.SIGINT)
    told, _ = ping.communicate(timeout=10)
    sent, received = sent_and_received(told)
    is_under_way = f"icmp_seq={sent} " not in told
    return sent - is_under_way, received


class Switch:
    """`roost switch` in a network. Use as `with Switch(...) as switch:`."""

    def __init__(self, roost, network, directory, config, workers=WORKERS, driver="net_af_packet"):
        directory.mkdir(exist_ok=True)
        self.config = directory / "switch.toml"
        socket = directory / "switch.sock"
        self.tail = f'[control]\nsocket = "{socket}"\n'
        self.configure(config)
        is_packet_socket = driver == "net_af_packet"
        options = f",qpairs={workers},framecnt={RING_FRAMES}" if is_packet_socket else ""
        devices = [f"{driver}{i},iface={port}{options}" for i, port in enumerate(network.ports)]
        cores = range(workers) if workers > 1 else ()
        self.balancer = Balancer(
            roost, self.config, network.switch, directory, devices, cores, function="switch"
        )
        self.control = Control(roost, socket)
        self.socket = socket

    def __enter__(self):
        self.balancer.__enter__()
        try:
            self.balancer.wait_until_ready()
            wait_for("it listens", self.socket.exists, self.balancer.log)
        except BaseException:
            self.balancer.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.balancer.__exit__()

    def configure(self, config):
        self.config.write_text(f"{config}\n{self.tail}")

    def reload(self, config):
        self.configure(config)
        return self.control.ask("reload")

    def refuses(self, *words):
        """What `roost ctl` says when it is refused."""
        told = subprocess.run(
            [*self.control.command, *words], capture_output=True, text=True, timeout=30, check=False
        )
        assert told.returncode == 1, told
        return told.stderr

    def entry(self, mac):
        """The station's row in the VLAN of all, or None."""
        rows = self.control.ask("fdb", "list", "--vlan", str(VLAN), "--mac", mac)["rows"]
        return rows[0] if rows else None

    def port_of(self, station):
        row = self.entry(mac_of(station))
        return row and row["port"]

    def stop(self):
        """Its report, whose sums have been compared."""
        report = self.balancer.stop()
        assert report["broken"] == [], report["broken"]
        never = {"tx_refused", "no_buffer", "malformed", "split_headers", "no_headroom"}
        drops = {cause: count for cause, count in report["drops"].items() if count}
        assert not never & drops.keys(), drops
        print(f"  switch: {json.dumps(report['frames'])}, drops {drops}")
        return report


def ports_text(vlans):
    """[[port]]s, each of which has what `vlans` says in TOML."""
    return "".join(f"[[port]]\n{vlan}\n\n" for vlan in vlans)
