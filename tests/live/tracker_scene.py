"""Connection trackers between a client and a server that are packet sockets: the kernel's, in a
router of its own namespace, and that of `roost lb`.

    client ── middle ── server
            (tracker)

Both ends' frames are made up, so the ends have no addresses and answer nothing; all neighbours are
static. A tracker is `with KernelTracker(...) as tracker:`; it tells how many frames it has taken,
and the state of each connection by the client's port.
"""

import contextlib
import json
import pathlib
import socket
import struct

from balancer import Balancer, packet_sockets
from draining import Control
from frames import Wire, mac_bytes
from namespaces import LB_INTERFACES, NO_IPV6, NamespaceNetwork, link, run, wait_for

CLIENT, CLIENT_GATEWAY = "192.0.2.10", "192.0.2.1"
SERVER, SERVER_GATEWAY = ("10.0.0.11", 8080), "10.0.0.1"
VIRTUAL = ("198.51.100.80", 80)
ELSEWHERE = "203.0.113.0/24"  # where floods say that they come from; behind the client
MIDDLE_MACS = ("02:00:00:00:00:01", "02:00:00:00:00:02")
END_MACS = ("02:00:00:00:01:10", "02:00:00:00:02:11")
BURST = 256  # frames that are on their way at a time; fewer than any queue holds
LONG_SECONDS = 1_000  # nothing expires while a test looks on

# It has to be asked for somewhere, or the kernel does not track. Nothing is dropped.
RULES = """
table ip trackers {
  chain forward {
    type filter hook forward priority 0
    ct state invalid counter accept
  }
}
"""


def internet_sum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total >> 16) + (total & 0xFFFF)
    return ~total & 0xFFFF


def tcp_frame(macs, source, target, segment):
    """`macs`: sender's and receiver's; ends are an address and a port."""
    ends = socket.inet_aton(source[0]) + socket.inet_aton(target[0])
    head = struct.pack(
        "!HHIIBBH", source[1], target[1], segment.sequence, segment.acknowledgement, 0x50,
        segment.flags, 0xFFFF,
    )
    check = internet_sum(ends + struct.pack("!HH", 6, 20) + head)
    tcp = head + struct.pack("!HH", check, 0)
    ip = struct.pack("!BBHHHBB", 0x45, 0, 40, 1, 0x4000, 64, 6)
    ip += struct.pack("!H", internet_sum(ip + ends)) + ends
    return mac_bytes(macs[1]) + mac_bytes(macs[0]) + b"\x08\x00" + ip + tcp


class TrackerNetwork(NamespaceNetwork):
    def __init__(self, role):
        self.role = role

    def _build(self):
        self.middle = self.add_namespace(f"{self.role}-middle", NO_IPV6)
        self.ends = []
        for end, interface, mac in zip(("client", "server"), LB_INTERFACES, MIDDLE_MACS):
            namespace = self.add_namespace(f"{self.role}-{end}", NO_IPV6)
            link(self.middle, interface, namespace, "eth0")
            self.middle.ip("link", "set", interface, "address", mac)
            self.ends.append(namespace)
        self.wires = [Wire(end) for end in self.ends]
        for wire in self.wires:
            self.stack.callback(wire.close)


def received_frames(namespace, interface):
    told = run("ip", "-n", namespace.name, "-s", "-j", "link", "show", interface)
    return json.loads(told)[0]["stats64"]["rx"]["packets"]


class Tracker(contextlib.AbstractContextManager):
    """Use one of those below."""

    target = None  # where clients send to

    def __init__(self, role):
        self.network = TrackerNetwork(role)

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.network)
            self._start(stack)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def frame(self, port, segment):
        """Of the client's connection by this port."""
        client = CLIENT, port
        if segment.is_from_client:
            return tcp_frame((END_MACS[0], MIDDLE_MACS[0]), client, self.target, segment)
        return tcp_frame((END_MACS[1], MIDDLE_MACS[1]), SERVER, client, segment)

    def send(self, frames):
        """Sends pairs of whether the client is the sender, and its frame; until all are taken."""
        taken = self.taken()
        for first in range(0, len(frames), BURST):
            burst = frames[first : first + BURST]
            for is_from_client, frame in burst:
                self.network.wires[0 if is_from_client else 1].send(frame)
            taken += len(burst)
            wait_for("all frames are taken", lambda wanted=taken: self.taken() == wanted)


class KernelTracker(Tracker):
    """Netfilter's, as it is but for its timeouts."""

    target = SERVER

    def _start(self, stack):
        middle = self.network.middle
        middle.run("sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
        for address, interface in zip((CLIENT_GATEWAY, SERVER_GATEWAY), LB_INTERFACES):
            middle.give(interface, (address,))
        for address, mac, interface in zip((CLIENT, SERVER[0]), END_MACS, LB_INTERFACES):
            middle.ip("neigh", "replace", address, "lladdr", mac, "dev", interface, "nud",
                      "permanent")
        middle.ip("route", "add", ELSEWHERE, "via", CLIENT)
        middle.run("nft", "-f", "-", input=RULES)
        self.settings = dict(
            line.split(" = ")
            for line in middle.run("sysctl", "-a", "-r", "nf_conntrack_").splitlines()
        )
        for name in self.settings:
            if "_tcp_timeout_" in name:
                middle.run("sysctl", "-q", "-w", f"{name}={LONG_SECONDS}")

    def taken(self):
        """Whatever it thinks of a packet, it forwards it."""
        return sum(received_frames(end, "eth0") for end in self.network.ends)

    def arrived(self):
        """From clients, dropped ones included."""
        return received_frames(self.network.middle, LB_INTERFACES[0])

    def states(self):
        states = {}
        for line in self.network.middle.run("conntrack", "-L", "-p", "tcp").splitlines():
            if f"={CLIENT} " not in line:
                continue
            words = line.split()
            ports = [int(word.partition("=")[2]) for word in words if "port=" in word]
            states[next(port for port in ports[:2] if port != SERVER[1])] = words[3]
        return states


CONFIG = f"""
[table]
connections = {{connections}}

[[port]]
addresses = ["{CLIENT_GATEWAY}/24"]
mac = "{MIDDLE_MACS[0]}"
default_neighbour_mac = "{END_MACS[0]}"

[[port]]
addresses = ["{SERVER_GATEWAY}/24"]
mac = "{MIDDLE_MACS[1]}"

[[neighbour]]
address = "{SERVER[0]}"
mac = "{END_MACS[1]}"

[[service]]
name = "web"
address = "{VIRTUAL[0]}"
port = {VIRTUAL[1]}
protocol = "tcp"
backends = [{{{{name = "b1", address = "{SERVER[0]}", port = {SERVER[1]}}}}}]

[timeouts]
tcp_syn = {LONG_SECONDS}
tcp_established = {LONG_SECONDS}
tcp_closing = {LONG_SECONDS}
tcp_closed = {LONG_SECONDS}

[control]
socket = "{{socket}}"
"""


class RoostTracker(Tracker):
    """The balancer's, in mode `nat`."""

    target = VIRTUAL

    def __init__(self, roost, directory, connections=16_384):
        super().__init__("roost")
        self.roost = roost
        self.directory = pathlib.Path(directory)
        self.connections = connections

    def _start(self, stack):
        socket_path = self.directory / "tracker.sock"
        config = self.directory / "tracker.toml"
        config.write_text(CONFIG.format(connections=self.connections, socket=socket_path))
        self.control = Control(self.roost, socket_path)
        self.balancer = stack.enter_context(
            Balancer(self.roost, config, self.network.middle, self.directory, packet_sockets())
        )
        self.balancer.wait_until_ready()

    def taken(self):
        return self.control.ask("stats")["packets"]["received"]

    arrived = taken

    def states(self):
        return {port: flow["state"] for port, flow in self.flows().items()}

    def flows(self):
        """Rows of `roost ctl flows` by the client's port."""
        flows, cursor = {}, "0.0.0"
        while cursor:
            page = self.control.ask(
                "flows", "--client", CLIENT, "--limit", "1000", "--cursor", cursor
            )
            for flow in page["flows"]:
                flows[int(flow["client"].rpartition(":")[2])] = flow
            cursor = page.get("cursor")
        return flows
