"""Servers are told their clients' addresses by the PROXY protocol: nginx, which reads the header,
says whom it got, on two ports of each backend, in `fullnat`. Half of the segments with a header are
lost on purpose behind the balancer, and 2 % of all packets while files pass in both directions.
"""

import collections
import contextlib
import hashlib
import ipaddress
import re
import subprocess
import time

from balancer import Balancer, packet_sockets
from namespaces import wait_for
from servers import NGINX, body, body_digests

VIRTUAL = {4: "198.51.100.91", 6: "2001:db8:ffff::91"}
PORTS = (7000, 7001)  # of the virtual address
SERVED = (9100, 9101)  # of the backends
LOCAL = ("10.0.0.150", "2001:db8:2::150")
TOLD = "|".join(
    f"$proxy_protocol_{what}" for what in ("addr", "port", "server_addr", "server_port")
)
QUESTIONS = 10  # of each port
# An upload is kept, and answered by the backend's own server, which does not read it.
UPLOAD = """
    location = /upload {{
      client_max_body_size 8m;
      client_body_in_file_only on;
      proxy_pass http://{own}/backend;
      proxy_method GET;
      proxy_pass_request_body off;
      proxy_set_header Content-Length "";
    }}
"""
# Of what comes for the backends' ports: data that begins as a header does, behind a TCP header with
# time stamps; every second one is dropped.
HEADERS = "@th,256,96 0x0d0a0d0a000d0a515549540a", "numgen inc mod 2 == 0"
ANYTHING = "", "numgen random mod 50 == 0"


def lose(namespace, direction, ports, which):
    """Of the TCP packets that come from or for these ports, those that match are counted, and some
    of them dropped.
    """
    match, some = which
    namespace.run("nft", "-f", "-", input=f"""
table inet proxy {{
  counter seen {{ }}
  counter lost {{ }}
  chain some {{
    counter name seen
    {some} counter name lost drop
  }}
  chain input {{
    type filter hook input priority -300;
    tcp {direction} {{ {", ".join(map(str, ports))} }} {match} jump some
  }}
}}
""")  # fmt: skip


def lost_since(namespaces):
    """Packets that matched, and how many of them were dropped, of all; no more are."""
    counts = collections.Counter()
    for namespace in namespaces:
        text = namespace.run("nft", "list", "counters")
        for name, packets in re.findall(r"counter (\w+) {\s*packets (\d+)", text):
            counts[name] += int(packets)
        namespace.run("nft", "delete", "table", "inet", "proxy")
    return counts["seen"], counts["lost"]


def proxy_config(scene, directory):
    text = scene.config_file.read_text()
    for family, address in VIRTUAL.items():
        backends = ", ".join(
            f'{{name = "{name}", port = {SERVED[0]}, address = '
            f'"{next(a for a in addresses if (":" in a) == (family == 6))}"}}'
            for name, addresses in scene.network.backend_addresses().items()
        )
        text += (
            f'\n[[service]]\nname = "told{family}"\naddress = "{address}"\n'
            f'port = "{PORTS[0]}-{PORTS[-1]}"\nprotocol = "tcp"\nmode = "fullnat"\n'
            f"proxy_protocol = true\nbackends = [{backends}]\n"
        )
    config = directory / "proxy_protocol.toml"
    config.write_text(f'{text}\n[fullnat]\naddresses = ["{LOCAL[0]}", "{LOCAL[1]}"]\n')
    return config


class ToldServers:
    """An nginx beside each backend's own, which expects the header. Its answers say, in the place
    of the backend's name, whom it was told of.
    """

    def __init__(self, scene, directory):
        self.backends = scene.backends
        self.own = {
            name: next(a for a in addresses if ":" not in a)
            for name, addresses in scene.network.backend_addresses().items()
        }
        self.folders = [directory / f"told-{backend.name}" for backend in scene.backends]
        self.bodies = scene.directory / "bodies"
        self.processes = []

    def __enter__(self):
        listens = "".join(
            f"    listen {address}:{port} proxy_protocol;\n"
            for address in ("0.0.0.0", "[::]")
            for port in SERVED
        )
        for backend, folder in zip(self.backends, self.folders):
            folder.mkdir()
            text = NGINX.format(
                dir=folder,
                bodies=self.bodies,
                name=f"{backend.name}|{TOLD}",
                listens=listens + UPLOAD.format(own=f"{self.own[backend.name]}:8080"),
                rate=0,
            )
            config = folder / "nginx.conf"
            config.write_text(text)
            command = ["nginx", "-p", folder, "-e", folder / "nginx.error.log", "-c", config]
            self.processes.append(subprocess.Popen([*backend.namespace.prefix, *command]))
        for backend, folder in zip(self.backends, self.folders):
            wait_for(
                f"{backend.name} listens",
                lambda: backend.namespace.run("ss", "-Hltn").count(":910") == 2 * len(SERVED),
                folder / "nginx.error.log",
            )
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.terminate()
            process.wait(10)

    def uploads(self):
        """The SHA-256 of each."""
        files = [file for folder in self.folders for file in (folder / "t1").iterdir()]
        return [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]


def check_told(answers, port):
    """Each answer names its client's own address and port, and the port that it asked; how many
    answers of each backend.
    """
    for answer in answers:
        _, *told = answer.backend.split("|")
        addresses = [ipaddress.ip_address(text) for text in told[::2]]
        family = addresses[0].version
        assert addresses == [
            ipaddress.ip_address(answer.address),
            ipaddress.ip_address(VIRTUAL[family]),
        ], answer
        assert told[1::2] == [answer.port, str(port)], answer
    return collections.Counter(answer.backend.partition("|")[0] for answer in answers)


def ask_under_loss_of_headers(scene):
    """Every second header is lost, and each client is named all the same."""
    backends = [backend.namespace for backend in scene.backends]
    for backend in backends:
        lose(backend, "dport", SERVED, HEADERS)
    asked = 0
    for family, address in VIRTUAL.items():
        told = collections.Counter()
        for port in PORTS:
            service = {"name": f"told{family}", "address": address, "port": port}
            answers = scene.clients.web(service, ["backend"] * QUESTIONS)
            told += check_told(answers, port)
            asked += len(answers)
        assert len(told) == len(scene.backends), told
    headers, lost = lost_since(backends)
    assert headers - lost >= asked and lost > asked / 4, (headers, lost, asked)
    return asked, lost


def pass_files(scene, servers):
    """Files in both directions, while both lose packets; how many were lost."""
    ends = [scene.network.client] + [backend.namespace for backend in scene.backends]
    for end in ends:
        from_servers = end is scene.network.client
        lose(end, "sport" if from_servers else "dport", PORTS if from_servers else SERVED, ANYTHING)
    file = servers.folders[0] / "upload"
    file.write_bytes(body("4m"))
    digest = body_digests()["4m"]
    upload = ("--data-binary", f"@{file}", "-H", "Expect:")
    for family, address in VIRTUAL.items():
        service = {"name": f"told{family}", "address": address, "port": PORTS[0]}
        downloads = scene.clients.web(service, ["4m"] * 2)
        check_told(downloads, PORTS[0])
        assert {answer.text for answer in downloads} == {digest}, downloads
        scene.clients.web(service, ["upload"] * 2, upload)
    assert servers.uploads() == [digest] * 4, servers.uploads()
    return lost_since(ends)[1]


def check_proxy_protocol(scene, roost, directory):
    """The report."""
    begin = time.monotonic()
    with contextlib.ExitStack() as stack:
        servers = stack.enter_context(ToldServers(scene, directory))
        balancer = stack.enter_context(
            Balancer(
                roost,
                proxy_config(scene, directory),
                scene.network.lb,
                directory,
                packet_sockets(),
            )
        )
        balancer.wait_until_ready()
        asked, lost = ask_under_loss_of_headers(scene)
        lost_of_files = pass_files(scene, servers)
        report = balancer.stop()
    assert report["drops"]["no_proxy_header"] == 0, report["drops"]
    print(
        f"  PROXY protocol: {asked} clients named by nginx, {lost} headers lost and sent again; "
        f"files whole in both directions, {lost_of_files} packets lost: "
        f"{time.monotonic() - begin:.1f} s"
    )
    return report
