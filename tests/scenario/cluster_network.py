"""The network of two balancers: a router that spreads by ECMP, both nodes, the backends.

    clients ── router ──┬── node 1 ──┬── switch ──┬─ b1
                  │     └── node 2 ──┘            ├─ b2
                  └──────────────────── switch ───┴─ b3

The router is the backends' way to the clients, past the nodes. It speaks BGP (BIRD) with a BIRD on
each node, over a wire of the kernel's own; etcd runs there too.
"""

import pathlib
import subprocess
import time

from namespaces import LB_INTERFACES, QUIET_IPV6, NamespaceNetwork, link, wait_for
from network import BACKENDS, FAR_GATEWAY, WEB_CLIENTS

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "debian/bird.conf"  # a node's; the package installs it
QUIET = {**QUIET_IPV6, "addr_gen_mode": 0}
ROUTER_INSIDE = "10.0.0.254", "2001:db8:2::fe"
VIRTUAL = "198.51.100.80", "2001:db8:ffff::80"
OUTSIDE = {1: ("192.0.2.{}", "2001:db8:1::{}"), 2: ("203.0.113.{}", "2001:db8:3::{}")}
ETCD_PORT = 2379
ROUTER_BIRD = """
router id 10.255.1.254;
protocol device {{ }}
protocol direct {{ ipv4; ipv6; }}
protocol kernel {{ ipv4 {{ import none; export where source = RTS_BGP; }}; merge paths yes; }}
protocol kernel {{ ipv6 {{ import none; export where source = RTS_BGP; }}; merge paths yes; }}
protocol bfd {{ }}
{sessions}
"""
SESSION = """
protocol bgp node{n} {{
  local 10.255.{n}.254 as 65000;
  neighbor 10.255.{n}.1 as 65001;
  bfd yes;
  ipv4 {{ import all; export none; gateway recursive; }};
  ipv6 {{ import all; export none; gateway recursive; }};
}}
"""


def node_bird(number):
    """The package's example, with the addresses of this node."""
    text = EXAMPLE.read_text().replace("10.255.1.", f"10.255.{number}.")
    for example, own in zip(("192.0.2.1", "2001:db8:1::1"), OUTSIDE[number]):
        text = text.replace(f"bgp_next_hop = {example};", f"bgp_next_hop = {own.format(1)};")
    return text


class ClusterNetwork(NamespaceNetwork):
    def __init__(self, directory):
        self.directory = directory
        self.nodes = {}
        self.backends = {}

    def _build(self):
        self.far = self.add_namespace("far", QUIET)
        self.router = self.add_namespace("router", QUIET)
        self.switch = self.add_namespace("switch", {"disable_ipv6": 1})
        self.switch.add_bridge("bridge")
        link(self.router, "far", self.far, "eth0")
        self.switch.plug("bridge", "past", self.router, "past")
        self.router.give("far", FAR_GATEWAY)
        self.router.give("past", ROUTER_INSIDE)
        for setting in ("net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding",
                        "net.ipv4.fib_multipath_hash_policy",
                        "net.ipv6.fib_multipath_hash_policy"):  # fmt: skip
            self.router.run("sysctl", "-q", "-w", f"{setting}=1")
        self.router.run("sysctl", "-q", "-w", "net.ipv4.conf.all.rp_filter=0")
        self.far.give("eth0", [a for family in WEB_CLIENTS for a in family])
        for via in FAR_GATEWAY:
            self.far.ip("route", "add", "default", "via", via, "dev", "eth0")
        for name, addresses in BACKENDS.items():
            self._make_backend(name, addresses)
        for number in OUTSIDE:
            self._make_node(number)
        self._start_daemons()

    def _make_backend(self, name, addresses):
        backend = self.backends[name] = self.add_namespace(name, QUIET)
        self.switch.plug("bridge", name, backend, "eth0")
        backend.give("eth0", addresses)
        for via in ROUTER_INSIDE:
            backend.ip("route", "add", "default", "via", via, "dev", "eth0")
        for setting in ("arp_ignore=1", "arp_announce=2"):  # nobody but a node has the address
            backend.run("sysctl", "-q", "-w", f"net.ipv4.conf.all.{setting}")
        backend.ip("address", "add", f"{VIRTUAL[0]}/32", "dev", "lo")
        backend.ip("address", "add", f"{VIRTUAL[1]}/128", "dev", "lo", "nodad")

    def _make_node(self, number):
        node = self.nodes[number] = self.add_namespace(f"node{number}", {"disable_ipv6": 0})
        for name in LB_INTERFACES:  # these are DPDK's
            role = {"clients": (self.router, f"node{number}"), "backends": None}[name]
            if role:
                link(node, name, *role)
            else:
                self.switch.plug("bridge", f"node{number}", node, name)
            node.run("sysctl", "-q", "-w", f"net.ipv6.conf.{name}.disable_ipv6=1")
        link(node, "manage", self.router, f"bgp{number}")
        node.give("manage", [f"10.255.{number}.1"])
        self.router.give(f"bgp{number}", [f"10.255.{number}.254"])
        self.router.give(f"node{number}", [own.format(e)
                                           for own, e in zip(OUTSIDE[number], ("254", "fe"))])

    def _start_daemons(self):
        sessions = "".join(SESSION.format(n=number) for number in OUTSIDE)
        self._bird("router", self.router, ROUTER_BIRD.format(sessions=sessions))
        for number, node in self.nodes.items():
            self._bird(f"node{number}", node, node_bird(number))
        self.start_etcd()

    def _bird(self, name, namespace, text):
        config = self.directory / f"bird.{name}.conf"
        config.write_text(text)
        self._daemon(namespace, f"bird.{name}", "bird", "-f", "-c", config,
                     "-s", self.directory / f"bird.{name}.ctl",
                     "-P", self.directory / f"bird.{name}.pid")  # fmt: skip

    def start_etcd(self):
        url = f"http://0.0.0.0:{ETCD_PORT}"
        self.etcd = self._daemon(
            self.router, "etcd", "etcd", "--data-dir", self.directory / "etcd",
            "--listen-client-urls", url, "--advertise-client-urls", url,
            "--listen-peer-urls", "http://127.0.0.1:2380")  # fmt: skip
        wait_for("etcd answers", lambda: self.etcdctl("endpoint", "health").returncode == 0)

    def _daemon(self, namespace, name, *command):
        with (self.directory / f"{name}.log").open("a") as log:
            process = subprocess.Popen(
                [*namespace.prefix, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self.stack.callback(end, process)
        return process

    def etcdctl(self, *words):
        return subprocess.run(
            [*self.router.prefix, "etcdctl", f"--endpoints=127.0.0.1:{ETCD_PORT}", *words],
            capture_output=True, text=True, check=False, env={"ETCDCTL_API": "3",
                                                              "PATH": "/usr/bin:/bin"})  # fmt: skip

    def put(self, key, value):
        told = self.etcdctl("put", key, value)
        assert told.returncode == 0, told.stderr

    def ways(self):
        """The nodes that the router sends each virtual address to, by its kernel's routes."""
        ways = []
        for family, address in zip(("-4", "-6"), VIRTUAL):
            text = self.router.run("ip", family, "route", "show", address)
            ways.append({n for n in OUTSIDE if f"dev node{n} " in text + " "})
        return ways

    def wait_for_ways(self, *numbers):
        """How long it took until the router sends to these nodes."""
        start = time.monotonic()
        wait_for(f"the router sends to {numbers}", lambda: self.ways() == [set(numbers)] * 2)
        return time.monotonic() - start


def end(process):
    if process.poll() is None:
        process.kill()
    process.wait()
