"""`roost classify` as a stateful filter between two hosts, by flows as Open vSwitch has them: what
the inside begins comes back, what the outside begins does not, but for one service; flows change
and are replaced under a download, and each counts what it matched.

    inside ── middle ── outside
              (roost)
"""

import hashlib
import subprocess
import time

from balancer import Balancer
from draining import Control
from namespaces import NO_IPV6, QUIET_IPV6, NamespaceNetwork, link, wait_for

SIDES = ("inside", "outside")
HOSTS = {"inside": ("192.0.2.10", "2001:db8:1::10"), "outside": ("192.0.2.11", "2001:db8:1::11")}
BODY_BYTES = 4 << 20

CONFIG = """[classify]
flows = "flows.txt"
connections = 10_000
[[port]]
[[port]]
[control]
socket = "{}/classify.sock"
"""
# ARP and neighbour discovery pass; else what table 1 says of the inside's packets and table 2 of
# the outside's. `{}` is what the outside may begin.
FLOWS = """priority=300,arp,in_port=1,actions=output:2
priority=300,arp,in_port=2,actions=output:1
priority=300,icmp6,in_port=1,actions=output:2
priority=300,icmp6,in_port=2,actions=output:1
priority=100,in_port=1,ip,actions=ct(commit,table=1)
priority=100,in_port=1,ipv6,actions=ct(commit,table=1)
priority=100,in_port=2,ip,actions=ct(table=2)
priority=100,in_port=2,ipv6,actions=ct(table=2)
table=1,ct_state=-inv,ip,actions=dec_ttl,output:2
table=1,ct_state=-inv,ipv6,actions=dec_ttl,output:2
table=2,priority=20,ct_state=+est,actions=output:1
table=2,priority=20,ct_state=+rel,actions=output:1
{}"""
MAY_BEGIN = "".join(
    f"table=2,priority=10,ct_state=+new,{kind},tp_dst=8080,actions=ct(commit),output:1\n"
    for kind in ("tcp", "tcp6"))


class Network(NamespaceNetwork):
    def _build(self):
        self.middle = self.add_namespace("classify-middle", NO_IPV6)
        self.inside, self.outside = (self.add_namespace(f"classify-{side}", QUIET_IPV6)
                                     for side in SIDES)
        for side in SIDES:
            host = getattr(self, side)
            link(self.middle, side, host, "eth0")
            host.give("eth0", HOSTS[side])

    def serve(self, side, port, folder):
        host = getattr(self, side)
        server = subprocess.Popen(
            [*host.prefix, "/usr/bin/python3", "-m", "http.server", str(port), "--bind", "::"],
            cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.stack.callback(server.wait)
        self.stack.callback(server.kill)
        wait_for(f"{side} serves", lambda: f":{port} " in host.run("ss", "-Hltn"))


def curl(host, address, port, *options, seconds=30):
    """A download's digest, "" if it did not come about."""
    name = f"[{address}]" if ":" in address else address
    got = subprocess.run([*host.prefix, "curl", "-q", "-s", "-m", str(seconds), *options,
                          f"http://{name}:{port}/body"], capture_output=True, timeout=60)
    return hashlib.sha256(got.stdout).hexdigest() if got.returncode == 0 else ""


def packets_of(control, match):
    return control.ask("rules", "count", match)["packets"]


def check_filter(network, digest):
    for address in HOSTS["outside"]:
        assert curl(network.inside, address, 80) == digest, address
    for address in HOSTS["inside"]:
        assert curl(network.outside, address, 80, seconds=1) == "", "the outside begins nothing"
        assert curl(network.outside, address, 8080) == digest, "but this"


def check_changes(network, control, folder, digest):
    """A flow by hand, then all of them anew, while a download is under way."""
    address = HOSTS["outside"][0]
    slow = subprocess.Popen([*network.inside.prefix, "curl", "-q", "-s", "-m", "60",
                             "--limit-rate", "800k", f"http://{address}:80/body"],
                            stdout=subprocess.PIPE)
    time.sleep(0.5)
    blocked = "table=2,priority=30,ct_state=+new,tcp,tp_dst=8080,actions=drop"
    assert control.ask("rules", "add", blocked) == {"added": 1, "replaced": 0}
    assert curl(network.outside, HOSTS["inside"][0], 8080, seconds=1) == ""
    assert packets_of(control, "table=2,priority=30,ct_state=+new,tcp,tp_dst=8080") > 0
    (folder / "flows.txt").write_text(FLOWS.format(""))
    taken = control.ask("reload")
    assert taken["kept"] == taken["flows"] == 12 and taken["flows_before"] == 15, taken
    (folder / "flows.txt").write_text(FLOWS.format("tcp,actions=output:9\n"))
    assert subprocess.run([*control.command, "reload"], capture_output=True).returncode == 1
    assert curl(network.outside, HOSTS["inside"][0], 8080, seconds=1) == "", "it may no longer"
    (folder / "more.txt").write_text(FLOWS.format(MAY_BEGIN))
    assert control.ask("rules", "replace", str(folder / "more.txt"))["flows"] == 14
    assert curl(network.outside, HOSTS["inside"][0], 8080) == digest
    body, _ = slow.communicate(timeout=60)
    assert hashlib.sha256(body).hexdigest() == digest, "a download under changes"


def check_classifying(roost, folder):
    body = bytes(i * 7 % 251 for i in range(1 << 16)) * (BODY_BYTES >> 16)
    (folder / "body").write_bytes(body)
    digest = hashlib.sha256(body).hexdigest()
    (folder / "classify.toml").write_text(CONFIG.format(folder))
    (folder / "flows.txt").write_text(FLOWS.format(MAY_BEGIN))
    devices = [f"net_af_packet{i},iface={side}" for i, side in enumerate(SIDES)]
    with Network() as network:
        for side, port in (("outside", 80), ("inside", 80), ("inside", 8080)):
            network.serve(side, port, folder)
        with Balancer(roost, folder / "classify.toml", network.middle, folder, devices,
                      function="classify") as classifier:
            classifier.wait_until_ready()
            control = Control(roost, folder / "classify.sock")
            check_filter(network, digest)
            check_changes(network, control, folder, digest)
            report = classifier.stop()
    assert report["broken"] == [], report["broken"]
    assert report["drops"]["rule_drop"] > 0 and report["connections"]["created"] >= 6, report
    matched = sum(flow["packets"] for flow in report["flows"])
    print(f"live: roost classify: {report['packets']['received']} packets, {matched} lookups won, "
          f"{report['connections']['created']} connections; flows changed under a download")
