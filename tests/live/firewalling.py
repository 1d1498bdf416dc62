"""`roost firewall` beside the kernel's: the same rules as an nftables script, the same 528 scripted
conversations through both, and the same packets come out, byte for byte, but for

  * the identification of IPv6 fragments: the kernel puts datagrams together and cuts them anew;
  * ICMP errors about rejected packets: the kernel sends them from its own address, we in the name
    of the receiver, and it embeds the packet with a hop less.

Then real programs: a download passes, a reload ends it, and what was decided is in the log.

              ┌─ kernel ─┐
    in  hosts ┤          ├ hosts  out
              └─ roost ──┘
"""

import collections
import hashlib
import subprocess
import tomllib

from balancer import Balancer
from classifying import BODY_BYTES, curl
from classifying import HOSTS as HOST_ADDRESSES
from classifying import Network as Hosts
from draining import Control
from firewall_conversations import HOPS, HOST_MACS, HOSTS, ROUTER_MACS, conversations, host
from frames import Wire
from namespaces import NO_IPV6, QUIET_IPV6, NamespaceNetwork, link, wait_for
from nft_rules import nft_script
from scapy.all import TCP, Ether, IPv6

SIDES = ("in", "out")
CONVERSATIONS = 528  # each kind and family eleven times
AT_ONCE = 16  # frames; libpcap's ring has room for 32
ADDRESSES = {"in": ("192.0.2.1/24", "2001:db8:1::1/64"),
             "out": ("198.51.100.1/24", "2001:db8:2::1/64")}
RULES = """
[[rule]]
from = ["port 0"]
protocol = "tcp"
ports = [80]
action = "allow"
[[rule]]
from = ["192.0.2.0/24", "2001:db8:1::/64"]
to = ["port 1"]
protocol = "udp"
ports = [53, "8000-8100"]
action = "allow"
[[rule]]
from = ["port 0"]
protocol = "icmp"
action = "allow"
[[rule]]
from = ["port 0"]
protocol = "icmpv6"
action = "allow"
[[rule]]
from = ["port 0"]
protocol = "gre"
action = "allow"
[[rule]]
protocol = "tcp"
ports = [23]
action = "reject"
[[rule]]
protocol = "udp"
ports = [69]
action = "reject"
"""
def config_text(rules, socket=""):
    text = "[firewall]\nlog_per_second = 100\n"
    for side in SIDES:
        text += f'[[port]]\naddresses = {list(ADDRESSES[side])}\nmac = "{ROUTER_MACS[side]}"\n'
        text += "mtu = 1500\n"
    for side in SIDES:
        for number in range(HOSTS):
            for is_ipv6 in (False, True):
                text += (f'[[neighbour]]\naddress = "{host(side, is_ipv6, number)}"\n'
                         f'mac = "{HOST_MACS[side]}"\n')
    return text.replace("'", '"') + rules + socket


class Network(NamespaceNetwork):
    """Two routers, each between two interfaces of its own where test frames go in and come out."""

    def _build(self):
        self.hosts = self.add_namespace("firewall-hosts", NO_IPV6)
        self.kernel = self.add_namespace("firewall-kernel", QUIET_IPV6)
        self.roost = self.add_namespace("firewall-roost", NO_IPV6)
        for router in (self.kernel, self.roost):
            for side in SIDES:
                link(router, side, self.hosts, f"{'k' if router is self.kernel else 'r'}{side}")
        self.wires = {(name, side): Wire(self.hosts, f"{name}{side}")
                      for name in "kr" for side in SIDES}
        for wire in self.wires.values():
            self.stack.callback(wire.close)
        self._make_kernel_route()

    def _make_kernel_route(self):
        for key, value in (("net.ipv4.ip_forward", 1), ("net.ipv6.conf.all.forwarding", 1),
                           ("net.ipv4.conf.all.rp_filter", 0), ("net.ipv4.icmp_ratelimit", 0),
                           ("net.ipv6.icmp.ratelimit", 0), ("net.ipv4.icmp_msgs_per_sec", 100_000),
                           ("net.ipv4.icmp_msgs_burst", 10_000)):
            self.kernel.run("sysctl", "-q", "-w", f"{key}={value}")
        for side in SIDES:
            self.kernel.run("sysctl", "-q", "-w", f"net.ipv4.conf.{side}.rp_filter=0")
            self.kernel.ip("link", "set", side, "down")
            self.kernel.ip("link", "set", side, "address", ROUTER_MACS[side])
            self.kernel.ip("link", "set", side, "up")
            self.kernel.give(side, [one.split("/")[0] for one in ADDRESSES[side]])
            for number in range(HOSTS):
                for is_ipv6 in (False, True):
                    self.kernel.ip("neigh", "add", host(side, is_ipv6, number), "lladdr",
                                   HOST_MACS[side], "dev", side)

    def filter_by(self, script):
        self.kernel.run("nft", "-f", "-", input=script)


def ends_within(embedded):
    """Addresses and ports of the packet that an ICMP error embeds; its hops are as it was received,
    or one less."""
    return embedded[8:44].hex() if embedded[0] >> 4 == 6 else embedded[12:24].hex()


def described(frame):
    """What came out, so that the two can be compared: what was forwarded, or what the answer of a
    rejection says."""
    ip = Ether(frame).payload
    is_ipv6 = IPv6 in ip
    if (ip.hlim if is_ipv6 else ip.ttl) == HOPS - 1:
        is_fragment = is_ipv6 and ip.nh == 44
        return (frame[:58] + bytes(4) + frame[62:] if is_fragment else frame).hex()
    if TCP in ip:
        tcp = ip[TCP]
        return "reset", ip.src, ip.dst, tcp.sport, tcp.dport, str(tcp.flags), tcp.seq, tcp.ack
    message = bytes(ip.payload)
    return "error", ip.dst, message[0], message[1], ends_within(message[8:])


class Both:
    """The two firewalls: frames go into both, and what comes out is counted."""

    def __init__(self, network, control):
        self.network = network
        self.control = control
        self.sent = 0
        self.out = {"k": collections.Counter(), "r": collections.Counter()}

    def send(self, steps):
        """Some frames, until roost has received them; what came out is read."""
        for side, frame in steps:
            for name in "kr":
                self.network.wires[name, side].send(frame)
        self.sent += len(steps)
        wait_for("all frames were received", lambda: self.received() >= self.sent)
        for (name, side), wire in self.network.wires.items():
            for frame in wire.received(0.002):
                if frame[12:14] in (b"\x08\x00", b"\x86\xdd") and frame[0] & 1 == 0:
                    self.out[name][side, described(frame)] += 1

    def received(self):
        return self.control.ask("stats")["packets"]["received"]

    def differences(self):
        def words(what):
            return Ether(bytes.fromhex(what)).summary() if isinstance(what, str) else what

        return [(only, side, words(what))
                for name, other, only in (("k", "r", "only the kernel"), ("r", "k", "only roost"))
                for side, what in self.out[name] - self.out[other]]


def check_conversations(both):
    """All conversations at the same time, a step of each after the other."""
    talks = conversations(CONVERSATIONS)
    for step in range(max(len(talk.steps) for talk in talks)):
        steps = [talk.steps[step] for talk in talks if step < len(talk.steps)]
        for begin in range(0, len(steps), AT_ONCE):
            both.send(steps[begin:begin + AT_ONCE])
    both.send([])
    differences = both.differences()
    for one in differences[:20]:
        print(*one)
    assert not differences, f"the firewalls differ in {len(differences)} frames"
    return sum(both.out["r"].values())


def check_beside_nftables(roost, folder):
    text = config_text(RULES, f'[control]\nsocket = "{folder}/firewall.sock"\n')
    (folder / "firewall.toml").write_text(text)
    devices = [f"net_pcap{i},rx_iface_in={side},tx_iface={side}" for i, side in enumerate(SIDES)]
    with Network() as network:
        network.filter_by(nft_script(tomllib.loads(text), SIDES))
        with Balancer(roost, folder / "firewall.toml", network.roost, folder, devices,
                      function="firewall") as firewall:
            firewall.wait_until_ready()
            both = Both(network, Control(roost, folder / "firewall.sock"))
            passed = check_conversations(both)
            report = firewall.stop()
    assert report["broken"] == [], report["broken"]
    assert report["packets"]["received"] == both.sent, report["packets"]
    return passed, report["connections"]["created"]


def wire_text(folder, action):
    """A wire on which the inside may ask for pages, or not; pings pass, and nothing else."""
    return (f'[firewall]\nwire = true\n[control]\nsocket = "{folder}/wire.sock"\n'
            '[[port]]\n[[port]]\n[[rule]]\nname = "web"\nfrom = ["port 0"]\n'
            f'protocol = "tcp"\nports = [80]\naction = "{action}"\nlog = true\n'
            '[[rule]]\nfrom = ["port 0"]\nprotocol = "icmp"\naction = "allow"\n'
            '[[rule]]\nfrom = ["port 0"]\nprotocol = "icmpv6"\naction = "allow"\n')


def check_reload(network, control, folder, digest):
    """A download is under way when its rule goes, and one that the rules still allow goes on."""
    address = HOST_ADDRESSES["outside"][0]
    ping = subprocess.Popen([*network.inside.prefix, "ping", "-q", "-i", "0.05", "-w", "4",
                             address], stdout=subprocess.PIPE, text=True)
    slow = subprocess.Popen([*network.inside.prefix, "curl", "-q", "-s", "-m", "4", "-o",
                             "/dev/null", "--limit-rate", "400k", f"http://{address}/body"])
    wait_for("the download begins", lambda: control.ask("connections", "count", "--state",
                                                        "established")["by"])
    (folder / "wire.toml").write_text(wire_text(folder, "deny"))
    taken = control.ask("reload")
    assert taken["connections_ended"] >= 1, taken
    assert slow.wait(timeout=30) != 0, "the download went on"
    told = ping.communicate(timeout=30)[0]
    assert " 0% packet loss" in told, told
    assert curl(network.inside, address, 80, seconds=1) == "", "a new one is denied"
    (folder / "wire.toml").write_text(wire_text(folder, "allow"))
    control.ask("reload")
    assert curl(network.inside, address, 80) == digest


def check_programs(roost, folder):
    body = bytes(i * 7 % 251 for i in range(1 << 16)) * (BODY_BYTES >> 16)
    (folder / "body").write_bytes(body)
    digest = hashlib.sha256(body).hexdigest()
    (folder / "wire.toml").write_text(wire_text(folder, "allow"))
    devices = [f"net_af_packet{i},iface={side}" for i, side in enumerate(HOST_ADDRESSES)]
    with Hosts() as network:
        network.serve("outside", 80, folder)
        network.serve("inside", 80, folder)
        with Balancer(roost, folder / "wire.toml", network.middle, folder, devices,
                      function="firewall") as firewall:
            firewall.wait_until_ready()
            for address in HOST_ADDRESSES["outside"]:
                assert curl(network.inside, address, 80) == digest, address
            for address in HOST_ADDRESSES["inside"]:
                assert curl(network.outside, address, 80, seconds=1) == "", "it may not begin"
            check_reload(network, Control(roost, folder / "wire.sock"), folder, digest)
            report = firewall.stop()
        log = firewall.log.read_text()
    assert report["broken"] == [], report["broken"]
    for words in ("allow by rule web: port 0, tcp 192.0.2.10:", "deny by rule web: port 0, tcp "):
        assert words in log, log
    return report["packets"]["received"]


def check_firewalling(roost, folder):
    passed, connections = check_beside_nftables(roost, folder)
    received = check_programs(roost, folder)
    print(f"live: roost firewall: {CONVERSATIONS} conversations, {passed} frames out, the same as "
          f"nftables' but for what is listed; {connections} connections; as a wire {received} "
          "packets, a download ended by a reload")
