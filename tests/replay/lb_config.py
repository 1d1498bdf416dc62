"""What the model knows of the balancer: its TOML file, read without any of the program's code."""

import ipaddress
import tomllib
from dataclasses import dataclass
from typing import NamedTuple

TCP, UDP = 6, 17
PROTOCOLS = {"tcp": TCP, "udp": UDP}


class Endpoint(NamedTuple):
    address: bytes  # 4 or 16 bytes
    port: int


@dataclass(frozen=True)
class Port:
    mac: bytes
    vlan: tuple
    networks: tuple
    mtu: int


@dataclass(frozen=True)
class Service:
    name: str
    protocol: int
    virtual: Endpoint
    backends: dict  # Endpoint -> name


def mac_bytes(text):
    return bytes.fromhex(text.replace(":", ""))


def address_bytes(text):
    return ipaddress.ip_address(text).packed


class LbConfig:
    def __init__(self, path):
        toml = tomllib.loads(path.read_text())
        self.tick_seconds = toml["tick_seconds"]
        self.timeouts = toml["timeouts"]
        self.ports = [self._port(p) for p in toml["port"]]
        self.neighbours = {
            address_bytes(n["address"]): mac_bytes(n["mac"]) for n in toml["neighbour"]
        }
        self.services = [self._service(s) for s in toml["service"]]
        self.by_virtual = {(s.protocol, s.virtual): s for s in self.services}

    @staticmethod
    def _port(toml):
        networks = tuple(ipaddress.ip_interface(a).network for a in toml["addresses"])
        return Port(
            mac_bytes(toml["mac"]), tuple(toml.get("vlan", ())), networks, toml.get("mtu", 1500)
        )

    @staticmethod
    def _service(toml):
        backends = {
            Endpoint(address_bytes(b["address"]), b.get("port", toml["port"])): b["name"]
            for b in toml["backends"]
        }
        virtual = Endpoint(address_bytes(toml["address"]), toml["port"])
        return Service(toml["name"], PROTOCOLS[toml["protocol"]], virtual, backends)

    def services_of_backend(self, protocol, endpoint):
        return [s for s in self.services if s.protocol == protocol and endpoint in s.backends]

    def port_towards(self, address):
        """The index of the port whose connected prefix holds the address, or None."""
        parsed = ipaddress.ip_address(address)
        return next(
            (
                i
                for i, port in enumerate(self.ports)
                if any(parsed in network for network in port.networks)
            ),
            None,
        )
