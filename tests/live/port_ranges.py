"""Services of several ports between real clients and servers: nginx on ten ports of each backend
says which port it was asked on, and dnsmasq answers behind a service of all ports.
"""

import collections
import contextlib
import subprocess
import time

from balancer import Balancer, packet_sockets
from clients import in_parallel
from draining import Control
from namespaces import wait_for
from servers import NGINX
from services import check_refused

VIRTUAL = {4: "198.51.100.90", 6: "2001:db8:ffff::90"}
PORTS = range(8000, 8010)  # of the virtual address
SERVED = range(9000, 9010)  # of the backends
ONE = 8005  # a service of its own, on the first backend's other web server
BY_SOURCE = range(8100, 8110)
FULLNAT = range(8200, 8210)
LOCAL = ("10.0.0.150", "2001:db8:2::150")
FIRST_SOURCE = {4: 24_000, 6: 27_000}  # of clients' ports
CLIENTS_OF_EACH_PORT = 4
QUESTIONS = ["A", "AAAA", "TXT"] * 4


def service_text(name, family, port, backends, backend_port, more=""):
    listed = ", ".join(
        f'{{name = "{backend}", address = "{address}"'
        + (f", port = {backend_port}}}" if backend_port else "}")
        for backend, address in backends
    )
    protocol = "udp" if name.startswith("all") else "tcp"
    return (
        f'\n[[service]]\nname = "{name}"\naddress = "{VIRTUAL[family]}"\nport = {port}\n'
        f'protocol = "{protocol}"\n{more}backends = [{listed}]\n'
    )


def text_of(ports):
    return f'"{ports[0]}-{ports[-1]}"'


def config_of(scene, directory):
    socket = directory / "lb.sock"
    text = scene.config_file.read_text()
    for family in VIRTUAL:
        backends = [
            (name, next(a for a in addresses if (":" in a) == (family == 6)))
            for name, addresses in scene.network.backend_addresses().items()
        ]
        ways = ((PORTS, "range", ""), (BY_SOURCE, "source", 'algorithm = "source"\n'))
        for ports, name, more in (*ways, (FULLNAT, "fullnat", 'mode = "fullnat"\n')):
            text += service_text(
                f"{name}{family}", family, text_of(ports), backends, SERVED[0], more
            )
        text += service_text(f"one{family}", family, ONE, backends[:1], 8080)
        text += service_text(f"all{family}", family, '"any"', backends, None)
    text += f'\n[fullnat]\naddresses = ["{LOCAL[0]}", "{LOCAL[1]}"]\n[lb]\nrefuse = true\n'
    config = directory / "port_ranges.toml"
    config.write_text(f'{text}\n[control]\nsocket = "{socket}"\n')
    return config, socket


@contextlib.contextmanager
def servers(scene, directory):
    """An nginx beside each backend's own, on all the ports."""
    running = []
    try:
        for backend in scene.backends:
            folder = directory / f"ports-{backend.name}"
            folder.mkdir()
            addresses = ("0.0.0.0", "[::]")
            listens = "\n".join(
                f"    listen {address}:{port};" for address in addresses for port in SERVED
            )
            config = folder / "nginx.conf"
            name = f"{backend.name}:$server_port"
            config.write_text(
                NGINX.format(dir=folder, bodies=folder, name=name, listens=listens, rate=0)
            )
            command = ["nginx", "-p", folder, "-e", folder / "nginx.error.log", "-c", config]
            running.append(subprocess.Popen([*backend.namespace.prefix, *command]))
        for backend in scene.backends:
            namespace = backend.namespace
            wait_for(
                f"{backend.name} listens",
                lambda: namespace.run("ss", "-Hltn").count(":900") == 2 * len(SERVED),
            )
        yield
    finally:
        for process in running:
            process.terminate()
            process.wait(10)


def ask(scene, family, ports, source_port):
    """What each port says: its backend and the port that this was asked on."""
    address = VIRTUAL[family]
    host = f"[{address}]" if family == 6 else address

    def fetch(port, source):
        command = ["curl", "-q", "--silent", "--show-error", "--fail", "--max-time", "20"]
        return scene.network.client.run(
            *command, "--local-port", str(source), f"http://{host}:{port}/backend"
        ).strip().split(":")

    return in_parallel(fetch, ports, range(source_port, source_port + len(ports)))


def check_range(scene, family, ports, source_port):
    """Each port is answered by the same port of some backend; the number of connections."""
    backends = collections.Counter()
    for turn in range(CLIENTS_OF_EACH_PORT):
        answers = ask(scene, family, ports, source_port + 100 * turn)
        for port, (name, *served) in zip(ports, answers):
            if port == ONE:
                assert (name, served) == (scene.backends[0].name, []), (port, name, served)
            else:
                assert served == [str(SERVED[port - ports[0]])], (port, name, served)
                backends[name] += 1
    assert len(backends) == (1 if ports is BY_SOURCE else len(scene.backends)), backends
    return CLIENTS_OF_EACH_PORT * len(ports)


def check_flows(control, family, fetched):
    """Every fetch was one connection of its service, told with its own ports while it lives."""
    rows = control.ask("flows", "--service", f"range{family}", "--limit", "1000")["flows"]
    assert 0 < len(rows) <= fetched["range"], (len(rows), fetched)
    for row in rows:
        virtual, end = (int(row[key].rpartition(":")[2]) for key in ("virtual", "endpoint"))
        assert end - virtual == SERVED[0] - PORTS[0] and virtual != ONE, row
    for name, count in fetched.items():
        backends = control.ask("backends", "--service", f"{name}{family}")["backends"]
        assert sum(backend["flows"] for backend in backends) == count, (name, backends)
        told = {backend["endpoint"].rpartition(":")[2] for backend in backends}
        assert told == {"8080" if name == "one" else f"{SERVED[0]}-{SERVED[-1]}"}, told


def check_all_ports(scene, family):
    """Names asked for over UDP, at the port that the servers have."""
    service = {"name": f"all{family}", "address": VIRTUAL[family], "port": 53}
    owner = {text: b.name for b in scene.backends for text in b.records.values()}
    told = {owner[answer.text] for answer in scene.clients.dns(service, QUESTIONS)}
    assert len(told) > 1, told


def check_port_ranges(scene, roost, directory):
    """The report."""
    config, socket = config_of(scene, directory)
    control = Control(roost, socket)
    begin = time.monotonic()
    with contextlib.ExitStack() as stack:
        stack.enter_context(servers(scene, directory))
        balancer = stack.enter_context(
            Balancer(roost, config, scene.network.lb, directory, packet_sockets())
        )
        balancer.wait_until_ready()
        wait_for("ctl is answered", socket.exists)
        for family in VIRTUAL:
            fetched = {
                name: check_range(scene, family, ports, FIRST_SOURCE[family] + 1_000 * turn)
                for turn, (name, ports) in enumerate(
                    {"range": PORTS, "source": BY_SOURCE, "fullnat": FULLNAT}.items()
                )
            }
            fetched["one"] = CLIENTS_OF_EACH_PORT
            fetched["range"] -= fetched["one"]
            check_flows(control, family, fetched)
            check_all_ports(scene, family)
            for name in ("web", "web6"):
                check_refused(scene, name, PORTS[0])
            print(f"  IPv{family}: {fetched} fetched from their ports")
        report = balancer.stop()
    assert report["resets"]["sent"] >= 2, report["resets"]
    print(f"  several ports: {time.monotonic() - begin:.1f} s")
    return report
