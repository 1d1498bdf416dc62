"""The balancer's configuration in the scenario."""

from namespaces import LENGTHS
from network import BACKENDS, BALANCER, BALANCER_INSIDE, ROUTER

SERVICES = [
    {"name": "web", "address": "198.51.100.80", "port": 80, "protocol": "tcp"},
    {"name": "web6", "address": "2001:db8:ffff::80", "port": 80, "protocol": "tcp"},
    {"name": "dns", "address": "198.51.100.53", "port": 53, "protocol": "udp"},
    {"name": "dns6", "address": "2001:db8:ffff::53", "port": 53, "protocol": "udp"},
]
WEB = [service for service in SERVICES if service["protocol"] == "tcp"]
DNS = [service for service in SERVICES if service["protocol"] == "udp"]
SERVER_PORT = 8080
CHECK = 'check = {kind = "tcp", every_seconds = 0.5, fall = 2}\n'
LOCAL = ["10.0.0.100", "10.0.0.101", "2001:db8:2::100", "2001:db8:2::101"]


def configuration(mode, socket, hash_seed):
    parts = [
        f"tick_seconds = 1.0\n[table]\nconnections = 100_000\nhash_seed = {hash_seed}\n",
        f"[[port]]\naddresses = [{prefixed(BALANCER)}]\nvlan = [100]\n",
        f"[[port]]\naddresses = [{prefixed(BALANCER_INSIDE)}]\n",
        f'[[route]]\nprefix = "0.0.0.0/0"\nvia = "{ROUTER[0]}"\n',
        f'[[route]]\nprefix = "::/0"\nvia = "{ROUTER[1]}"\n',
        f'[control]\nsocket = "{socket}"\n',
        *(service_table(service, mode) for service in SERVICES),
    ]
    if mode == "fullnat":
        addresses = ", ".join(f'"{address}"' for address in LOCAL)
        parts.append(f"[fullnat]\naddresses = [{addresses}]\n")
    return "\n".join(parts)


def prefixed(addresses):
    return ", ".join(f'"{address}/{LENGTHS[":" in address]}"' for address in addresses)


def service_table(service, mode):
    is_ipv6 = ":" in service["address"]
    port = SERVER_PORT if service in WEB else service["port"]
    backends = ",\n".join(
        f'  {{name = "{name}", address = "{addresses[is_ipv6]}", port = {port}, weight = 1}}'
        for name, addresses in BACKENDS.items()
    )
    return (
        f'[[service]]\nname = "{service["name"]}"\naddress = "{service["address"]}"\n'
        f'port = {service["port"]}\nprotocol = "{service["protocol"]}"\nmode = "{mode}"\n'
        f'{CHECK if service in WEB else ""}backends = [\n{backends}]\n'
    )


def with_weight(text, backend, weight):
    """The configuration with another weight for a backend, in every service."""
    lines = text.splitlines(keepends=True)
    return "".join(
        line.replace("weight = 1", f"weight = {weight}") if f'"{backend}"' in line else line
        for line in lines
    )
