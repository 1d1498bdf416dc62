"""Network namespaces and the wires between them: what the networks of the tests are made of.

IPv6 sends nothing by itself, and every offload is off: with offloads on, a veth carries frames of
64 KB with unfinished checksums, which no wire would.
"""

import contextlib
import os
import subprocess
import time

LB_INTERFACES = ("clients", "backends")  # in DPDK port order
OFFLOADS = ("rx", "tx", "sg", "tso", "gso", "gro", "ufo", "rxvlan", "txvlan")
QUIET_IPV6 = {"accept_dad": 0, "accept_ra": 0, "router_solicitations": 0, "addr_gen_mode": 1}
NO_IPV6 = {"disable_ipv6": 1}
LENGTHS = 24, 64  # of a network's prefix, in IPv4 and in IPv6


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

    def give(self, interface, addresses):
        """The interface has these addresses at once."""
        for address in addresses:
            is_ipv6 = ":" in address
            nodad = ["nodad"] if is_ipv6 else []
            self.ip("address", "add", f"{address}/{LENGTHS[is_ipv6]}", "dev", interface, *nodad)

    def add_bridge(self, name):
        self.ip("link", "add", "name", name, "type", "bridge", "mcast_snooping", "0")
        self.ip("link", "set", name, "up")

    def plug(self, bridge, port, other, other_name):
        """A wire from a port of the bridge to another namespace."""
        link(self, port, other, other_name)
        self.ip("link", "set", port, "master", bridge)

    def delete(self):
        for pid in subprocess.run(
            ["ip", "netns", "pids", self.name], capture_output=True, text=True
        ).stdout.split():
            os.kill(int(pid), 9)
        subprocess.run(["ip", "netns", "del", self.name], check=False)


class NamespaceNetwork:
    """Use as `with Network(...) as network:`; everything is gone at the end of the block. A network
    says in `_build` what it is made of; `stack` has what ends it.
    """

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.stack = stack
            self._build()
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def add_namespace(self, role, ipv6):
        namespace = Namespace(f"roost-{os.getpid()}-{role}")
        self.stack.callback(namespace.delete)
        namespace.ipv6(ipv6)
        return namespace


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
