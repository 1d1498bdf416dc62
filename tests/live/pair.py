"""A network with two balancers that have the same addresses, one at a time, and real programs at
both ends.

              ┌─ one ─┐
    client ─ near ─── far ─ backend
              └─ two ─┘

`near` and `far` are bridges. The service is on the clients' own network and in the mode fullnat, so
that addresses on both networks move from one balancer to the other.
"""

import subprocess
import time

from balancer import Balancer, packet_sockets
from draining import Control
from namespaces import LB_INTERFACES, NO_IPV6, QUIET_IPV6, NamespaceNetwork, wait_for

VIRTUAL = ("192.0.2.80", "2001:db8:1::80")
LOCAL = ("10.0.0.100", "2001:db8:2::100")
BACKEND = ("10.0.0.11", "2001:db8:2::11")
CLIENT = ("192.0.2.10", "2001:db8:1::10")
NAMES = ("one", "two")

PORTS = """[[port]]
addresses = ["192.0.2.{0}/24", "2001:db8:1::{0}/64"]
mac = "02:00:00:00:01:{0:02x}"
[[port]]
addresses = ["10.0.0.{0}/24", "2001:db8:2::{0}/64"]
mac = "02:00:00:00:02:{0:02x}"
[fullnat]
addresses = ["{1[0]}", "{1[1]}"]
[control]
socket = "{2}"
"""
SERVICE = """[[service]]
name = "web{0}"
address = "{1}"
port = 80
protocol = "tcp"
mode = "fullnat"
backends = [{{name = "b", address = "{2}"}}]
"""


def service(number, address):
    return SERVICE.format(number, address, BACKEND[":" in address])


class Pair(NamespaceNetwork):
    def __init__(self, roost, directory):
        self.roost = roost
        self.directory = directory
        self.balancers = {}

    def _build(self):
        self.switch = self.add_namespace("switch", QUIET_IPV6)
        self.lb = {name: self.add_namespace(name, NO_IPV6) for name in NAMES}
        self.client = self.add_namespace("client", QUIET_IPV6)
        self.backend = self.add_namespace("backend", QUIET_IPV6)
        for bridge, host, addresses, interface in (
            ("near", self.client, CLIENT, LB_INTERFACES[0]),
            ("far", self.backend, BACKEND, LB_INTERFACES[1]),
        ):
            self.switch.add_bridge(bridge)
            for name in NAMES:
                self.switch.plug(bridge, f"{bridge}-{name}", self.lb[name], interface)
            self.switch.plug(bridge, f"{bridge}-host", host, "eth0")
            host.give("eth0", addresses)
        server = subprocess.Popen(
            [*self.backend.prefix, "/usr/bin/python3", "-m", "http.server", "80", "--bind", "::"],
            cwd=self.directory,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.stack.callback(server.wait)
        self.stack.callback(server.kill)
        for name in NAMES:
            self.stack.callback(self.kill, name)

    def connect(self, name, is_connected):
        """Whether the bridges forward what a balancer sends, and send it anything."""
        for bridge in ("near", "far"):
            state = "3" if is_connected else "0"
            self.switch.run("bridge", "link", "set", "dev", f"{bridge}-{name}", "state", state)

    def start(self, name, virtual=VIRTUAL):
        """Until it listens to `roost ctl`; its control."""
        directory = self.directory / name
        directory.mkdir(exist_ok=True)
        config, socket = directory / "lb.toml", directory / "ctl.sock"
        socket.unlink(missing_ok=True)
        self.configure(name, virtual)
        balancer = Balancer(self.roost, config, self.lb[name], directory, packet_sockets())
        self.balancers[name] = balancer
        wait_for("it listens", socket.exists, balancer.log)
        return Control(self.roost, socket)

    def configure(self, name, virtual):
        number = 1 + NAMES.index(name)
        ports = PORTS.format(number, LOCAL, self.directory / name / "ctl.sock")
        services = "".join(service(i, address) for i, address in enumerate(virtual))
        (self.directory / name / "lb.toml").write_text(ports + services)

    def kill(self, name):
        """By SIGKILL: it says nothing any more."""
        balancer = self.balancers.pop(name, None)
        if balancer is not None:
            balancer.__exit__()

    def is_answered(self, address):
        """By one ping."""
        ping = ["ping", "-n", "-c", "1", "-W", "0.2", address]
        return subprocess.run([*self.client.prefix, *ping], capture_output=True).returncode == 0

    def fetches(self, address):
        """By curl, from the backend."""
        host = f"[{address}]" if ":" in address else address
        curl = ["curl", "-q", "-s", "-o", "/dev/null", "--connect-timeout", "0.5", f"http://{host}"]
        return subprocess.run([*self.client.prefix, *curl]).returncode == 0

    def seconds_until(self, is_so, since, seconds_max=6):
        """After `since`; more than seconds_max when it is not so even then."""
        while time.monotonic() - since < seconds_max and not is_so():
            time.sleep(0.02)
        return time.monotonic() - since

    def known_mac(self, address):
        """Whom the client takes for the owner of the address."""
        words = self.client.run("ip", "neigh", "show", address).split()
        return words[words.index("lladdr") + 1] if "lladdr" in words else None
