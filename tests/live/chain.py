"""Two load balancers one behind the other, a net_memif between them, net_tap towards the clients
and net_af_xdp towards the backends: the virtual addresses of the second are the first one's
backends.

    client ─tap─ A ══ memif ══ B ─AF_XDP─ switch ── b1, b2, b3
"""

import contextlib
import os

from balancer import Balancer
from draining import Control
from namespaces import LB_INTERFACES, wait_for
from scene import Scene
from servers import body_digests

REQUESTS = {"tcp": ["1k", "64k", "backend"] * 10 + ["4m"] * 2, "udp": ["A", "TXT"] * 20}
INNER = {
    "198.51.100.80": "203.0.113.80",
    "198.51.100.53": "203.0.113.53",
    "2001:db8:ffff::80": "2001:db8:eeee::80",
    "2001:db8:ffff::53": "2001:db8:eeee::53",
}
BETWEEN = '[[port]]\naddresses = ["172.16.0.{0}/24", "2001:db8:9::{0}/64"]\n'
VIA = '[[route]]\nprefix = "{}"\nvia = "{}"\n'
SERVICE = """[[service]]
name = "{name}"
address = "{address}"
port = {port}
protocol = "{protocol}"
backends = [{{name = "inner", address = "{inner}"}}]
"""


class NoXdp(Exception):
    """DPDK can make no AF_XDP socket on this machine."""


def outer_config(config):
    """The clients' port and the services of the file; a virtual address of B behind each."""
    port = config["port"][0]
    addresses = ", ".join(f'"{address}"' for address in port["addresses"])
    return "\n".join(
        [
            f'tick_seconds = 1.0\n[[port]]\naddresses = [{addresses}]\nmac = "{port["mac"]}"\n',
            BETWEEN.format(1),
            VIA.format("203.0.113.0/24", "172.16.0.2"),
            VIA.format("2001:db8:eeee::/64", "2001:db8:9::2"),
            *(SERVICE.format(**s, inner=INNER[s["address"]]) for s in config["service"]),
        ]
    )


def inner_config(text):
    """The file with a port towards A instead of the clients', and with addresses of B's own."""
    tables = [t for t in text.split("\n\n") if not t.startswith("[[neighbour]]")]
    at = next(i for i, table in enumerate(tables) if table.startswith("[[port]]"))
    tables[at] = BETWEEN.format(2)
    inner = "\n\n".join(tables)
    for outer_address, inner_address in INNER.items():
        inner = inner.replace(f'"{outer_address}"', f'"{inner_address}"')
    routes = (("192.0.2.0/24", "172.16.0.1"), ("2001:db8:1::/64", "2001:db8:9::1"))
    return "\n\n".join([inner, *(VIA.format(*route) for route in routes)])


def check_chain(roost, config_file, directory):
    """Real requests through both; what A sent into the memif is what B received, and back."""
    processors = sorted(os.sched_getaffinity(0))
    cores = processors[0], processors[-1]
    memif = f"socket={directory / 'memif.sock'},socket-abstract=no"
    with Scene(config_file, directory, False) as scene:
        texts = {"A": outer_config(scene.config), "B": inner_config(config_file.read_text())}
        devices = {
            "A": ["net_tap0,iface=tap0", f"net_memif0,role=server,{memif}"],
            "B": [f"net_memif0,role=client,{memif}", f"net_af_xdp0,iface={LB_INTERFACES[1]}"],
        }
        namespaces = {"A": scene.network.lb, "B": scene.network.split_backends_side()}
        with contextlib.ExitStack() as stack:
            balancers = {}
            for (name, text), core in zip(texts.items(), cores):
                folder = directory / name
                folder.mkdir()
                config = folder / "lb.toml"
                config.write_text(f'{text}\n[control]\nsocket = "{folder / "ctl.sock"}"\n')
                balancers[name] = stack.enter_context(
                    Balancer(roost, config, namespaces[name], folder, devices[name], [core])
                )
                # A memif's client does not start without its server.
                wait_for_start(balancers[name], folder / "ctl.sock")
            scene.network.join_client_by("tap0")
            answers = []
            for service in scene.config["service"]:
                ask = scene.clients.web if service["protocol"] == "tcp" else scene.clients.dns
                answers += ask(service, REQUESTS[service["protocol"]])
            controls = {name: Control(roost, directory / name / "ctl.sock") for name in balancers}
            wait_for("what one sent, the other received", lambda: agree(controls))
            reports = {name: balancer.stop() for name, balancer in balancers.items()}
    digests = body_digests()
    for answer in answers:
        assert digests.get(answer.question, answer.text) == answer.text, answer
    for name, report in reports.items():
        assert report["flows"]["created"] == len(answers), (name, report["flows"], len(answers))
    print(
        f"live: {len(answers)} requests through two balancers, "
        "by net_tap, net_memif and net_af_xdp"
    )


def wait_for_start(balancer, socket):
    wait_for("it listens or ends", lambda: socket.exists() or balancer.process.poll() is not None)
    log = balancer.log.read_text()
    if not socket.exists() and "net_af_xdp0 did not become a port" in log:
        raise NoXdp(log)
    assert socket.exists(), log


def agree(controls):
    """What each sent into the memif is what the other received, and that is not nothing."""
    ports = controls["A"].ask("stats")["ports"][1], controls["B"].ask("stats")["ports"][0]
    return all(
        one["received"] == other["sent"] > 1_000 for one, other in (ports, ports[::-1])
    )
