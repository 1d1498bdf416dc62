"""The scenario's network.

    clients ──(1280)── router ──(VLAN 100)── lb ──tap── switch ──┬─ b1
                                          (roost)      (bridge)  ├─ b2
                                                                 └─ b3

The router forwards at most 1280 bytes towards the clients, whose own interface takes 1500: so they
ask for segments that do not fit, and path MTU discovery has to find out. Neighbours are learned.
"""

import os
import pathlib
import subprocess

from namespaces import LB_INTERFACES, NO_IPV6, QUIET_IPV6, NamespaceNetwork, Refused, link, run

HERE = pathlib.Path(__file__).resolve().parent
NARROW = 1280
WEB_CLIENTS = [f"198.18.0.{10 + i}" for i in range(4)], [f"2001:db8:f::{10 + i}" for i in range(4)]
DNS_CLIENTS = [f"198.18.0.{20 + i}" for i in range(4)], [f"2001:db8:f::{20 + i}" for i in range(4)]
FAR_GATEWAY = "198.18.0.1", "2001:db8:f::1"
ROUTER = "192.0.2.254", "2001:db8:1::fe"
BALANCER = "192.0.2.1", "2001:db8:1::1"
VIRTUAL = "198.51.100.0/24", "2001:db8:ffff::/64"
BACKENDS = {f"b{i}": (f"10.0.0.1{i}", f"2001:db8:2::1{i}") for i in (1, 2, 3)}
BALANCER_INSIDE = "10.0.0.1", "2001:db8:2::1"
MANAGEMENT = "10.0.0.200", "2001:db8:2::200"  # the balancer's host, for health checks
TAP = "inside"
TAP_MAC = "02:00:00:00:03:01"
# Link-local addresses as well: a host without one asks nobody in the name of another address.
QUIET = {**QUIET_IPV6, "addr_gen_mode": 0}
OPENING = "(tcp[tcpflags] & tcp-syn != 0 or (ip6 and ip6[6] = 6 and ip6[53] & 2 != 0))"


class Network(NamespaceNetwork):
    def __init__(self, directory):
        self.directory = directory
        self.backends = {}

    def _build(self):
        self.lb = self.add_namespace("lb", NO_IPV6)
        self.far = self.add_namespace("far", QUIET)
        self.router = self.add_namespace("router", QUIET)
        self.switch = self.add_namespace("switch", NO_IPV6)
        self.switch.add_bridge("bridge")
        link(self.lb, LB_INTERFACES[0], self.router, "lb")
        link(self.router, "far", self.far, "eth0")
        self._manage()
        self._make_router()
        self._make_clients()
        for name, addresses in BACKENDS.items():
            self.backends[name] = self.add_namespace(name, QUIET)
            self._make_backend(name, addresses)

    def _manage(self):
        """The balancer's kernel has a way of its own to the backends."""
        self.switch.plug("bridge", "manage", self.lb, "manage")
        self.lb.run("sysctl", "-q", "-w", "net.ipv6.conf.manage.disable_ipv6=0")
        self.lb.give("manage", MANAGEMENT)

    def _make_router(self):
        self.router.run("sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
        self.router.run("sysctl", "-q", "-w", "net.ipv6.conf.all.forwarding=1")
        self.router.give("lb", ROUTER)
        self.router.give("far", FAR_GATEWAY)
        self.router.ip("link", "set", "far", "mtu", str(NARROW))
        for prefix, via in zip(VIRTUAL, BALANCER):
            self.router.ip("route", "add", prefix, "via", via, "dev", "lb")
        program = self.directory / "tag.o"
        run("clang-16", "-O2", "-g", "-target", "bpf",
            f"-I/usr/include/{os.uname().machine}-linux-gnu",
            "-c", HERE / "tag.bpf.c", "-o", program)  # fmt: skip
        try:
            self.router.run("tc", "qdisc", "add", "dev", "lb", "clsact")
            for direction, section in (("egress", "push"), ("ingress", "pop")):
                self.router.run("tc", "filter", "add", "dev", "lb", direction, "bpf", "da",
                                "obj", program, "sec", section)  # fmt: skip
        except subprocess.CalledProcessError as error:
            raise Refused(f"tc takes no BPF program: {error.stderr.strip()}") from error

    def _make_clients(self):
        for addresses in (*WEB_CLIENTS, *DNS_CLIENTS):
            self.far.give("eth0", addresses)
        for via in FAR_GATEWAY:
            self.far.ip("route", "add", "default", "via", via, "dev", "eth0")

    def _make_backend(self, name, addresses):
        backend = self.backends[name]
        self.switch.plug("bridge", name, backend, "eth0")
        backend.give("eth0", addresses)
        for via in BALANCER_INSIDE:
            backend.ip("route", "add", "default", "via", via, "dev", "eth0")

    def join_backends(self):
        """The kernel's end of the balancer's tap is a port of the switch, under an address of its
        own: what is for a port's address, a bridge takes for itself. A packet socket would not do
        there, because for it the kernel puts IPv4 fragments together.
        """
        self.lb.ip("link", "set", TAP, "netns", self.switch.name)
        self.switch.ip("link", "set", TAP, "address", TAP_MAC)
        self.switch.ip("link", "set", TAP, "master", "bridge", "up")

    def watch_segment(self):
        """Counts on the segment between router and balancer: what has no tag, and what opens a
        connection under the tag, SYNs and their answers.
        """
        return Sniffer(self.router, "not vlan"), Sniffer(self.router, f"vlan 100 and {OPENING}")


class Sniffer:
    """tcpdump at a namespace's interface `lb`, from now until `count()`."""

    def __init__(self, namespace, frames):
        self.process = subprocess.Popen(
            [*namespace.prefix, "tcpdump", "-n", "-U", "-Z", "root", "-i", "lb", "-w", "/dev/null",
             frames],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        line = self.process.stderr.readline()
        if "listening" not in line:
            raise RuntimeError(f"tcpdump: {line}{self.process.stderr.read()}")

    def count(self):
        """How many frames its filter took."""
        self.process.terminate()
        _, told = self.process.communicate(timeout=10)
        words = next(line for line in told.splitlines() if "received by filter" in line)
        return int(words.split()[0])


def kernel_counters(namespace):
    """What the kernel of a namespace has counted, by nstat's names."""
    lines = namespace.run("nstat", "-asz").splitlines()[1:]
    return {line.split()[0]: int(line.split()[1]) for line in lines}
