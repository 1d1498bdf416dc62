"""What the model knows of the balancer: its TOML file, read without any of the program's code."""

import functools
import ipaddress
import tomllib
from dataclasses import dataclass, replace
from typing import NamedTuple

TCP, UDP = 6, 17
PROTOCOLS = {"tcp": TCP, "udp": UDP}
DEFAULT_TIMEOUTS = {
    "tcp_syn": 60,
    "tcp_established": 900,
    "tcp_closing": 120,
    "tcp_closed": 10,
    "udp": 60,
}


class Endpoint(NamedTuple):
    address: bytes  # 4 or 16 bytes
    port: int


@dataclass(frozen=True)
class Port:
    mac: bytes
    vlan: tuple
    addresses: tuple  # its own, each with its network
    networks: tuple
    mtu: int
    is_promiscuous: bool
    default_neighbour: bytes  # the MAC of whoever knows the way to other networks, or None


@dataclass(frozen=True, eq=False)
class Service:
    """With one port, or several: then those of its ends are the first ones, and `at` gives it for
    each port.
    """

    name: str
    protocol: int
    virtual: Endpoint
    last_port: int
    backends: dict  # Endpoint -> name
    weights: dict  # Endpoint -> weight
    algorithm: str
    timeouts: dict  # seconds, by what it has come to
    is_one_packet: bool  # it makes no connections

    @functools.cache
    def at(self, port):
        if self.last_port == self.virtual.port:
            return self
        moved = {
            end: Endpoint(end.address, end.port + port - self.virtual.port) for end in self.backends
        }
        return replace(
            self,
            virtual=Endpoint(self.virtual.address, port),
            last_port=port,
            backends={moved[end]: name for end, name in self.backends.items()},
            weights={moved[end]: weight for end, weight in self.weights.items()},
        )

    def ports_on(self, end):
        """Those that a backend with this end serves there."""
        for backend in self.backends:
            port = end.port - backend.port + self.virtual.port
            if end.address == backend.address and self.virtual.port <= port <= self.last_port:
                yield port


def ports_of(value):
    """The first and the last."""
    if value == "any":
        return 1, 65535
    first, _, last = str(value).partition("-")
    return int(first), int(last or first)


def mac_bytes(text):
    return bytes.fromhex(text.replace(":", ""))


def address_bytes(text):
    return ipaddress.ip_address(text).packed


class LbConfig:
    def __init__(self, path):
        toml = tomllib.loads(path.read_text())
        self.tick_seconds = toml["tick_seconds"]
        self.timeouts = DEFAULT_TIMEOUTS | toml.get("timeouts", {})
        self.ports = [self._port(p) for p in toml["port"]]
        self.neighbours = {
            address_bytes(n["address"]): mac_bytes(n["mac"]) for n in toml.get("neighbour", ())
        }
        self.services = [self._service(s, self.timeouts) for s in toml["service"]]
        self.refuses_closed_ports = toml.get("lb", {}).get("refuse", False)
        self.own_addresses = {s.virtual.address for s in self.services} | {
            ipaddress.ip_interface(a).packed for p in toml["port"] for a in p["addresses"]
        }

    @staticmethod
    def _port(toml):
        default = toml.get("default_neighbour_mac")
        return Port(
            mac_bytes(toml["mac"]),
            tuple(toml.get("vlan", ())),
            tuple(ipaddress.ip_interface(a) for a in toml["addresses"]),
            tuple(ipaddress.ip_interface(a).network for a in toml["addresses"]),
            toml.get("mtu", 1500),
            toml.get("promiscuous", False),
            mac_bytes(default) if default else None,
        )

    @staticmethod
    def _service(toml, timeouts):
        first, last = ports_of(toml["port"])
        ends = {
            Endpoint(address_bytes(b["address"]), b.get("port", first)): b
            for b in toml["backends"]
        }
        return Service(
            toml["name"],
            PROTOCOLS[toml["protocol"]],
            Endpoint(address_bytes(toml["address"]), first),
            last,
            {end: b["name"] for end, b in ends.items()},
            {end: b.get("weight", 1) for end, b in ends.items()},
            toml.get("algorithm", "maglev"),
            timeouts | toml.get("timeouts", {}),
            toml.get("one_packet", False),
        )

    @functools.cache
    def service_at(self, protocol, virtual):
        """Of the services that have this port the one with the fewest, as it is for this port."""
        there = [
            s
            for s in self.services
            if (s.protocol, s.virtual.address) == (protocol, virtual.address)
            and s.virtual.port <= virtual.port <= s.last_port
        ]
        if not there:
            return None
        return min(there, key=lambda s: s.last_port - s.virtual.port).at(virtual.port)

    @functools.cache
    def services_of_backend(self, protocol, endpoint):
        """In whose name this end of a backend may send: each as it is for one port."""
        named = [s.at(port) for s in self.services for port in s.ports_on(endpoint)]
        return [
            s
            for s in named
            if s.protocol == protocol and self.service_at(protocol, s.virtual) is s
        ]

    def next_hop(self, address):
        """(port index, MAC) on the way to an address; None when there is no way."""
        parsed = ipaddress.ip_address(address)
        for number, port in enumerate(self.ports):
            if any(parsed in network for network in port.networks):
                mac = self.neighbours.get(address)
                return (number, mac) if mac else None
        for number, port in enumerate(self.ports):
            if port.default_neighbour:
                return number, port.default_neighbour
        return None
