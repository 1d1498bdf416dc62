"""The network of the live test: namespaces joined by veth pairs, after the balancer's own
configuration.

    client ── lb ─── switch ──┬─ b1
            (roost) (bridge)  ├─ b2
                              └─ b3

Addresses and MACs come from the TOML file that `roost lb` reads, so that the two cannot disagree.
With `[[neighbour]]` in the file all neighbours are static, the hosts' too; without, everybody asks.
IPv6 sends nothing else by itself, and every offload is off: with offloads on, a veth carries frames
of 64 KB with unfinished checksums, which no wire would.
"""

import ipaddress
import os
import subprocess
import time

LB_INTERFACES = ("clients", "backends")  # in DPDK port order
MANAGEMENT_ADDRESS = "10.0.0.200/24"
OFFLOADS = ("rx", "tx", "sg", "tso", "gso", "gro", "ufo", "rxvlan", "txvlan")
QUIET_IPV6 = {"accept_dad": 0, "accept_ra": 0, "router_solicitations": 0, "addr_gen_mode": 1}


class Refused(Exception):
    """This machine does not let us make network namespaces."""


def run(*command, **options):
    return subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=60, **options
    ).stdout


def wait_for(what, condition, log=None, seconds=20):
    """Until the condition holds; a log is told when it does not."""
    deadline = time.monotonic() + seconds
    while not condition():
        told = f": {log.read_text()}" if log else ""
        assert time.monotonic() < deadline, f"it did not happen: {what}{told}"
        time.sleep(0.05)


class Namespace:
    """One network namespace; `prefix` put before a command runs it inside."""

    def __init__(self, name):
        self.name = name
        self.prefix = ["nsenter", f"--net=/run/netns/{name}"]
        try:
            run("ip", "netns", "add", name)
        except subprocess.CalledProcessError as error:
            raise Refused(error.stderr.strip().splitlines()[-1]) from error
        run("ip", "-n", name, "link", "set", "lo", "up")

    def run(self, *command, **options):
        return run(*self.prefix, *command, **options)

    def ip(self, *arguments):
        run("ip", "-n", self.name, *arguments)

    def ipv6(self, settings):
        for scope in ("all", "default"):
            for key, value in settings.items():
                self.run("sysctl", "-q", "-w", f"net.ipv6.conf.{scope}.{key}={value}")

    def delete(self):
        for pid in subprocess.run(
            ["ip", "netns", "pids", self.name], capture_output=True, text=True
        ).stdout.split():
            os.kill(int(pid), 9)
        subprocess.run(["ip", "netns", "del", self.name], check=False)


class Topology:
    """Use as `with Topology(config) as network:`; everything is gone at the end of the block."""

    def __init__(self, config, has_static_neighbours=True):
        self.config = config
        self.has_static_neighbours = has_static_neighbours
        self.namespaces = []
        self.backends = {}

    def __enter__(self):
        try:
            self._build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for namespace in reversed(self.namespaces):
            namespace.delete()
        self.namespaces = []

    def add_namespace(self, role, ipv6):
        namespace = Namespace(f"roost-{os.getpid()}-{role}")
        self.namespaces.append(namespace)
        namespace.ipv6(ipv6)
        return namespace

    def _build(self):
        silent = {"disable_ipv6": 1}
        self.lb = self.add_namespace("lb", silent)
        self.client = self.add_namespace("client", QUIET_IPV6)
        switch = self.add_namespace("switch", silent)
        switch.ip(
            "link", "add", "bridge", "type", "bridge", "stp_state", "0", "mcast_snooping", "0"
        )
        switch.ip("link", "set", "bridge", "up")

        link(self.lb, LB_INTERFACES[0], self.client, "eth0")
        link(self.lb, LB_INTERFACES[1], switch, "lb")
        switch.ip("link", "set", "lb", "master", "bridge")
        for port, interface in zip(self.config["port"], LB_INTERFACES):
            self.lb.ip("link", "set", interface, "address", port["mac"])

        # The balancer's kernel has a way of its own to the backends, for health checks.
        link(self.lb, "manage", switch, "manage")
        switch.ip("link", "set", "manage", "master", "bridge")
        self.lb.ip("address", "add", MANAGEMENT_ADDRESS, "dev", "manage")

        self._host(self.client, self.config["port"][0], self.client_addresses())
        for name, addresses in self.backend_addresses().items():
            backend = self.add_namespace(name, QUIET_IPV6)
            self.backends[name] = backend
            link(switch, name, backend, "eth0")
            switch.ip("link", "set", name, "master", "bridge")
            self._host(backend, self.config["port"][1], addresses)

    def _host(self, namespace, gateway, addresses):
        """Gives a host its MAC and addresses, and the balancer's port as its only neighbour and its
        default route.
        """
        macs = {n["address"]: n["mac"] for n in self.config["neighbour"]}
        namespace.ip("link", "set", "eth0", "address", macs[addresses[0]], "up")
        for address in addresses:
            prefix = 64 if ":" in address else 24
            namespace.ip(
                "address",
                "add",
                f"{address}/{prefix}",
                "dev",
                "eth0",
                *(["nodad"] if prefix == 64 else []),
            )
        for address in gateway["addresses"]:
            via = address.split("/")[0]
            if self.has_static_neighbours:
                namespace.ip(
                    *("neigh", "replace", via, "lladdr", gateway["mac"]),
                    *("dev", "eth0", "nud", "permanent"),
                )
            namespace.ip("route", "add", "default", "via", via, "dev", "eth0")

    def split_backends_side(self):
        """A namespace that takes the balancer's interface towards the backends over."""
        inner = self.add_namespace("inner", {"disable_ipv6": 1})
        name = LB_INTERFACES[1]
        self.lb.ip("link", "set", name, "netns", inner.name)
        inner.ip("link", "set", name, "up")
        return inner

    def join_client_by(self, tap):
        """The client has the kernel's end of this tap of the balancer's instead of its wire."""
        self.lb.ip("link", "delete", LB_INTERFACES[0])
        self.lb.ip("link", "set", tap, "name", "eth0", "netns", self.client.name)
        self._host(self.client, self.config["port"][0], self.client_addresses())

    def client_addresses(self):
        networks = [ipaddress.ip_interface(a).network for a in self.config["port"][0]["addresses"]]
        addresses = [n["address"] for n in self.config["neighbour"]]
        return [
            a for a in addresses if any(ipaddress.ip_address(a) in network for network in networks)
        ]

    def backend_addresses(self):
        """The addresses of each backend, by its name."""
        addresses = {}
        for service in self.config["service"]:
            for backend in service["backends"]:
                known = addresses.setdefault(backend["name"], [])
                if backend["address"] not in known:
                    known.append(backend["address"])
        return addresses


def link(one, one_name, other, other_name):
    """Joins two namespaces by a veth pair that behaves like a wire."""
    one.ip("link", "add", one_name, "type", "veth", "peer", "name", other_name, "netns", other.name)
    for namespace, name in ((one, one_name), (other, other_name)):
        for offload in OFFLOADS:  # one by one: a kernel without one of them refuses only that one
            subprocess.run(
                [*namespace.prefix, "ethtool", "-K", name, offload, "off"],
                capture_output=True,
                check=False,
            )
        state = namespace.run("ethtool", "-k", name)
        for feature in (
            "tx-checksumming",
            "tcp-segmentation-offload",
            "generic-segmentation-offload",
            "generic-receive-offload",
        ):
            if f"{feature}: off" not in state:
                raise RuntimeError(f"{namespace.name}: ethtool cannot turn {feature} off on {name}")
        namespace.ip("link", "set", name, "up")
