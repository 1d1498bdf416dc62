"""What the model knows of the balancer: its TOML file, read without any of the program's code."""

import ipaddress
import tomllib
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Service:
    name: str
    protocol: int
    virtual: Endpoint
    backends: dict  # Endpoint -> name
    weights: dict  # Endpoint -> weight
    algorithm: str
    timeouts: dict  # seconds, by what it has come to
    is_one_packet: bool  # it makes no connections


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
        self.by_virtual = {(s.protocol, s.virtual): s for s in self.services}

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
        ends = {
            Endpoint(address_bytes(b["address"]), b.get("port", toml["port"])): b
            for b in toml["backends"]
        }
        return Service(
            toml["name"],
            PROTOCOLS[toml["protocol"]],
            Endpoint(address_bytes(toml["address"]), toml["port"]),
            {end: b["name"] for end, b in ends.items()},
            {end: b.get("weight", 1) for end, b in ends.items()},
            toml.get("algorithm", "maglev"),
            timeouts | toml.get("timeouts", {}),
            toml.get("one_packet", False),
        )

    def services_of_backend(self, protocol, endpoint):
        return [s for s in self.services if s.protocol == protocol and endpoint in s.backends]

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
