"""The modes beside `nat`: every service in `fullnat`, and a web service of each family in `l2dsr`,
to backends whose way to the clients does not lead through the balancer.
"""

import collections
import re

from balancer import Balancer, packet_sockets
from draining import Control, check_control_agrees
from servers import body_digests
from topology import MANAGEMENT_ADDRESS

LOCAL = ("10.0.0.100", "10.0.0.101", "2001:db8:2::100", "2001:db8:2::101")
DIRECT = {
    "name": "direct",
    "address": "198.51.100.81",
    "port": 80,
    "protocol": "tcp",
}
DIRECT6 = {**DIRECT, "name": "direct6", "address": "2001:db8:ffff::81"}
ROUTER_MAC = "02:00:00:00:01:fe"
ROUTER = ("10.0.0.254", "2001:db8:2::254")
PATHS = ["1k", "64k", "backend", "1k"] * 25 + ["4m"] * 2
QUESTIONS = ["A", "AAAA", "TXT"] * 35


def config_with_modes(config_file, directory):
    """All services of the file in `fullnat`, and the direct ones beside them."""
    text = re.sub(r'(protocol = "\w+"\n)', r'\1mode = "fullnat"\n', config_file.read_text())
    for service in (DIRECT, DIRECT6):
        network = "2001:db8:2::" if ":" in service["address"] else "10.0.0."
        backends = ", ".join(f'{{name = "b{i}", address = "{network}1{i}"}}' for i in (1, 2, 3))
        text += (
            f'\n[[service]]\nname = "{service["name"]}"\naddress = "{service["address"]}"\n'
            f'port = 80\nprotocol = "tcp"\nmode = "l2dsr"\nbackends = [{backends}]\n'
        )
    addresses = ", ".join(f'"{a}"' for a in LOCAL)
    text += f"\n[fullnat]\naddresses = [{addresses}]\nports = [20000, 60000]\n"
    out = directory / "modes.toml"
    out.write_text(text)
    return out


def add_way_past_the_balancer(network):
    """The client's host is on the backends' network too, and their default route. Its MAC is given,
    because a host without a link-local address asks for nobody in the name of its loopback's.
    """
    client = network.client
    network.switch.plug("bridge", "past", client, "past")
    client.ip("link", "set", "past", "address", ROUTER_MAC)
    client.run("sysctl", "-q", "-w", "net.ipv4.conf.all.rp_filter=0")
    client.run("sysctl", "-q", "-w", "net.ipv4.conf.past.rp_filter=0")
    client.give("past", ROUTER)
    for via in ROUTER:
        for backend in network.backends.values():
            backend.ip("route", "replace", "default", "via", via)
            backend.ip("neigh", "replace", via, "lladdr", ROUTER_MAC, "dev", "eth0")
    for backend in network.backends.values():
        backend.ip("address", "add", f"{DIRECT['address']}/32", "dev", "lo")
        backend.ip("address", "add", f"{DIRECT6['address']}/128", "dev", "lo", "nodad")


def ask_everything(scene):
    answers = {s["name"]: scene.clients.web(s, PATHS) for s in (DIRECT, DIRECT6)}
    for service in scene.config["service"]:
        is_web = service["protocol"] == "tcp"
        answers[service["name"]] = (
            scene.clients.web(service, PATHS) if is_web else scene.clients.dns(service, QUESTIONS)
        )
    return answers


def check_clients_seen(scene, answers):
    """In `fullnat` servers see local addresses only, each worker's; in `l2dsr` the clients'."""
    seen = collections.Counter(a for b in scene.backends for a, _ in b.web_flows() | b.dns_flows())
    for address in LOCAL:
        assert seen.pop(address, 0) > 0, f"nobody came from {address}: {seen}"
    seen.pop(MANAGEMENT_ADDRESS.split("/")[0])  # health checks
    direct = {(a.address, a.port) for name in ("direct", "direct6") for a in answers[name]}
    logged = {flow for b in scene.backends for flow in b.web_flows() if flow[0] in seen}
    assert logged == direct, (logged ^ direct, seen)


def check_dsr(report):
    """Half of such a connection went through the balancer: no backend's bytes."""
    for service in report["services"]:
        if not service["name"].startswith("direct"):
            continue
        assert service["mode"] == "l2dsr"
        for backend in service["backends"]:
            assert backend["bytes"] < 400 * 1024, backend  # requests and acknowledgements


def ping_local_addresses(scene):
    for address in LOCAL:
        out = scene.backends[0].namespace.run("ping", "-n", "-c", "1", "-W", "2", address)
        assert "1 received" in out, out
    return len(LOCAL)


def live_modes(scene, roost, config, socket, directory, workers):
    """Answers, the report, and how many pings were answered."""
    add_way_past_the_balancer(scene.network)
    for backend in scene.backends:
        backend.serve_at((DIRECT["address"], DIRECT6["address"]), DIRECT["port"])
    control = Control(roost, socket)
    devices, cores = packet_sockets(workers), range(workers) if workers > 1 else ()
    with Balancer(roost, config, scene.network.lb, directory, devices, cores) as balancer:
        balancer.wait_until_ready()
        answers = ask_everything(scene)
        ping_count = ping_local_addresses(scene)
        local = {flow["local"] for flow in control.ask("flows", "--service", "dns")["flows"]}
        assert local and all(one.split(":")[0] in LOCAL for one in local), local
        report = check_control_agrees(control, balancer.stop)
    digests = body_digests()
    for answer in (a for given in answers.values() for a in given if a.backend):
        assert answer.question == "backend" or answer.text == digests[answer.question], answer
    check_clients_seen(scene, answers)
    check_dsr(report)
    return answers, report, ping_count
