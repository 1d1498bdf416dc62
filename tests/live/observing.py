"""`roost assets` at a port of a bridge that floods what two hosts send each other: real
kernels, nginx, dnsmasq, pings. The hosts and services that it lists are
the real ones, and nothing leaves it.

    client ── bridge ── server
                │ copies
              roost
"""

import json
import subprocess

from balancer import Balancer
from draining import Control
from namespaces import NO_IPV6, QUIET_IPV6, NamespaceNetwork, wait_for
from servers import DNS_NAME, Backend, write_bodies

SIDES = ("client", "server")
HOSTS = {"client": ("192.0.2.10", "2001:db8:1::10"), "server": ("192.0.2.11", "2001:db8:1::11")}
SERVED = {("tcp", 8080), ("udp", 53), ("tcp", 53)}

CONFIG = """[assets]
log = "{0}/assets.jsonl"
[[port]]
[control]
socket = "{0}/assets.sock"
"""


def link_of(namespace, name):
    return json.loads(namespace.run("ip", "-j", "-s", "link", "show", "dev", name))[0]


class Network(NamespaceNetwork):
    def _build(self):
        self.middle = self.add_namespace("assets-middle", NO_IPV6)
        self.watcher = self.add_namespace("assets-watcher", NO_IPV6)
        self.middle.add_bridge("bridge")
        self.middle.ip("link", "set", "bridge", "type", "bridge", "ageing_time", "0")
        self.middle.plug("bridge", "copies", self.watcher, "mirror")
        for side in SIDES:
            host = self.add_namespace(f"assets-{side}", QUIET_IPV6)
            setattr(self, side, host)
            self.middle.plug("bridge", side, host, "eth0")
            host.give("eth0", HOSTS[side])

    def mac(self, side):
        return link_of(getattr(self, side), "eth0")["address"]

    def frames_back(self):
        """What came out of roost's port, by the kernel's count."""
        return link_of(self.middle, "copies")["stats64"]["rx"]["packets"]

    def ask_everything(self):
        for address in HOSTS["server"]:
            name = f"[{address}]" if ":" in address else address
            self.client.run("ping", "-c", "1", address)
            self.client.run("curl", "-q", "-s", "-f", f"http://{name}:8080/backend")
            self.client.run("dig", "+time=2", f"@{address}", DNS_NAME)
            self.client.run("dig", "+time=2", "+tcp", f"@{address}", DNS_NAME)
            refused = subprocess.run(
                [*self.client.prefix, "curl", "-q", "-s", f"http://{name}:81/"], check=False)
            assert refused.returncode == 7, "nothing serves there"


def check_rows(rows, network):
    """Hosts with their MACs, the services of the server, and nothing that is not there."""
    found = {(row["address"], row["mac"]): {(one["protocol"], one["port"])
                                            for one in row["services"]} for row in rows}
    expected = {(address, network.mac(side)): SERVED if side == "server" else set()
                for side in SIDES for address in HOSTS[side]}
    assert found == expected, (found, expected)
    for row in rows:
        if row["address"] in HOSTS["client"]:
            assert row["syn"].startswith(("S", "64")) and ":64:1:" in row["syn"], row


def check_observing(roost, folder):
    write_bodies(folder / "bodies")
    (folder / "assets.toml").write_text(CONFIG.format(folder))
    with Network() as network:
        server = Backend("assets", 1, network.server, HOSTS["server"], 8080, folder / "server",
                         folder / "bodies")
        for process in server.processes:
            network.stack.callback(process.wait)
            network.stack.callback(process.kill)
        server.wait_until_ready()
        before = network.frames_back()
        with Balancer(roost, folder / "assets.toml", network.watcher, folder,
                      ["net_af_packet0,iface=mirror"], function="assets") as observer:
            observer.wait_until_ready()
            control = Control(roost, folder / "assets.sock")
            network.ask_everything()
            wait_for("roost has seen both hosts",
                     lambda: control.ask("stats")["stock"]["services"] == 2 * len(SERVED))
            check_rows(control.ask("assets")["rows"], network)
            served = control.ask("assets", "--port", "8080", "--network", "192.0.2.0/24")["rows"]
            assert [row["address"] for row in served] == [HOSTS["server"][0]], served
            report = observer.stop()
        assert network.frames_back() == before, "a frame came back"
    assert report["broken"] == [] and report["packets"]["sent"] == 0, report
    lines = [json.loads(line) for line in (folder / "assets.jsonl").read_text().splitlines()]
    assert sum(line["found"] == "host" for line in lines) == 4, lines
    assert sum(line["found"] == "service" for line in lines) == 2 * len(SERVED), lines
    print(f"live: roost assets: {report['packets']['received']} frames, "
          f"{report['stock']['hosts']} hosts and {report['stock']['services']} services, none sent")
