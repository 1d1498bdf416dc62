"""IPv6 clients before IPv4 backends: curl and dig over IPv6, nginx and dnsmasq over IPv4. Files
pass in both directions with less room for clients, who are named by the PROXY protocol,
datagrams are cut and come without checksums, and each kernel believes the other version's
ICMP.
"""

import contextlib
import re
import subprocess
import sys
import time

from balancer import Balancer, packet_sockets
from draining import Control
from namespaces import LB_INTERFACES, wait_for
from proxy_protocol import SERVED, ToldServers
from servers import body, body_digests

VIRTUAL = "2001:db8:ffff::92"
LOCAL = "10.0.0.160"
WEB, TOLD, ECHO, CLOSED = 80, 81, 7, 9
MTU = {"clients": 1400, "backends": 1500}  # of the balancer's ports; hosts begin with 1500
DOWNLOADS = 6
ECHO_BYTES = (1, 1000, 1432, 1452, 1453, 1472)
FRAGMENTED_BYTES = (3001, 8000)  # by ports whose kernel leaves fragments as they are

# A server whose answers have no checksum (SO_NO_CHECK) if they begin with "n"; those that are not
# whole have one.
ECHO_SERVER = f"""
import socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("0.0.0.0", {ECHO}))
server.setsockopt(socket.IPPROTO_IP, 10, 5)  # IP_MTU_DISCOVER: may be cut, here and on the way
while True:
    text, client = server.recvfrom(65535)
    server.setsockopt(socket.SOL_SOCKET, 11, int(text[:1] == b"n"))
    server.sendto(text, client)
"""
ECHO_CLIENT = """
import socket, sys
address, port, size, first = sys.argv[1:]
client = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
client.settimeout(5)
client.connect((address, int(port)))
text = first.encode() + bytes(i * 7 % 251 for i in range(int(size) - 1))
client.send(text)
try:
    print("same" if client.recv(65535) == text else "other")
except ConnectionRefusedError:
    print("refused")
"""
# Asks and is gone before the answer comes.
GONE_CLIENT = """
import socket, sys
client = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
client.connect((sys.argv[1], int(sys.argv[2])))
client.send(b"is anybody there?")
client.close()
"""


def config_of(scene, directory):
    """The demo's file, with less room on both ports, and services between versions."""
    socket = directory / "lb.sock"
    text = scene.config_file.read_text()
    for port, mtu in zip(scene.config["port"], MTU.values()):
        mac = f'mac = "{port["mac"]}"\n'
        text = text.replace(mac, f"{mac}mtu = {mtu}\n", 1)
    addresses = {
        name: next(a for a in all_of if ":" not in a)
        for name, all_of in scene.network.backend_addresses().items()
    }
    for name, port, protocol, backend_port, more in (
        ("web64", WEB, "tcp", 8080, ""),
        ("told64", TOLD, "tcp", SERVED[0], "proxy_protocol = true\n"),
        ("dns64", 53, "udp", 53, ""),
        ("echo64", ECHO, "udp", ECHO, ""),
        ("closed64", CLOSED, "udp", CLOSED, ""),
    ):
        backends = ", ".join(
            f'{{name = "{backend}", address = "{address}", port = {backend_port}}}'
            for backend, address in addresses.items()
        )
        text += (
            f'\n[[service]]\nname = "{name}"\naddress = "{VIRTUAL}"\nport = {port}\n'
            f'protocol = "{protocol}"\nmode = "fullnat"\n{more}backends = [{backends}]\n'
        )
    config = directory / "nat64.toml"
    config.write_text(
        f'{text}\n[fullnat]\nnat64_addresses = ["{LOCAL}"]\n[control]\nsocket = "{socket}"\n'
    )
    return config, socket


@contextlib.contextmanager
def echo_servers(scene):
    running = [
        subprocess.Popen([*backend.namespace.prefix, sys.executable, "-c", ECHO_SERVER])
        for backend in scene.backends
    ]
    try:
        for backend in scene.backends:
            namespace = backend.namespace
            wait_for(f"{backend.name} echoes", lambda: f":{ECHO} " in namespace.run("ss", "-Hlun"))
        yield
    finally:
        for process in running:
            process.terminate()
            process.wait(10)


def forget_paths(scene):
    """No kernel knows yet that there is less room somewhere."""
    for namespace in (scene.network.client, *(b.namespace for b in scene.backends)):
        for family in "-4", "-6":
            namespace.ip(family, "route", "flush", "cache")


def learned_mtu(namespace, family, address):
    """What the kernel was told by ICMP of the way to the address; none if it was told nothing."""
    told = re.search(r"mtu (\d+)", namespace.run("ip", family, "route", "get", address))
    return int(told[1]) if told else None


def pass_files(scene, servers):
    """Downloads and uploads, each whole; what backends' kernels have learned of the way."""
    forget_paths(scene)
    service = {"name": "web64", "address": VIRTUAL, "port": WEB}
    answers = scene.clients.web(service, ["4m"] * DOWNLOADS)
    assert {answer.text for answer in answers} == {body_digests()["4m"]}, answers
    assert len({answer.backend for answer in answers}) > 1, answers
    learned = {learned_mtu(b.namespace, "-4", LOCAL) for b in scene.backends}
    assert MTU["clients"] - 20 in learned, learned
    # Longer frames than its own MTU a port does not receive.
    scene.network.client.ip("link", "set", "eth0", "mtu", str(MTU["clients"]))
    told = {"name": "told64", "address": VIRTUAL, "port": TOLD}
    file = servers.folders[0] / "upload"
    file.write_bytes(body("4m"))
    uploads = ("--data-binary", f"@{file}", "-H", "Expect:")
    scene.clients.web(told, ["upload"] * 2, uploads)
    assert servers.uploads() == [body_digests()["4m"]] * 2
    named = scene.clients.web(told, ["backend"] * 20)
    check_named(named)
    return len(answers), len(named)


def check_named(answers):
    for answer in answers:
        _, address, port, virtual, virtual_port = answer.backend.split("|")
        assert (address, port) == (answer.address, answer.port), answer
        assert (virtual, virtual_port) == (VIRTUAL, str(TOLD)), answer


def ask_names(scene):
    """Answers of dnsmasq."""
    service = {"name": "dns64", "address": VIRTUAL, "port": 53}
    answers = scene.clients.dns(service, ["A", "AAAA", "TXT"] * 8)
    owner = {text: b.name for b in scene.backends for text in b.records.values()}
    assert len({owner[answer.text] for answer in answers}) > 1, answers
    return len(answers)


def ask_client(scene, script, *arguments):
    text = scene.network.client.run(sys.executable, "-c", script, *map(str, arguments))
    return text.strip()


def echo(scene, sizes):
    """Datagrams of all sizes come back as they were, cut or not, with a checksum or without."""
    for size in sizes:
        for first in "cn" if size <= 1472 else "c":
            answer = ask_client(scene, ECHO_CLIENT, VIRTUAL, ECHO, size, first)
            assert answer == "same", (answer, size, first)


def icmp_counts(backend):
    text = backend.namespace.run("nstat", "-asz", "IcmpInDestUnreachs", "IcmpInCsumErrors")
    counts = re.findall(r"^(Icmp\w+) +(\d+)", text, re.MULTILINE)
    return {name: int(count) for name, count in counts}


def report_unreachable(scene):
    """A client's kernel believes a backend's word, and the other way round."""
    for _ in range(4):
        assert ask_client(scene, ECHO_CLIENT, VIRTUAL, CLOSED, 100, "c") == "refused"
    before = [icmp_counts(backend) for backend in scene.backends]
    for _ in range(6):
        ask_client(scene, GONE_CLIENT, VIRTUAL, ECHO)

    def told():
        after = [icmp_counts(backend) for backend in scene.backends]
        rises = [b["IcmpInDestUnreachs"] - a["IcmpInDestUnreachs"] for a, b in zip(before, after)]
        # Kernels do not say it of each packet.
        return sum(rises) >= 3 and all(b["IcmpInCsumErrors"] == 0 for b in after)

    wait_for("backends are told that their clients are gone", told)


def pass_fragments(scene, roost, config, directory):
    """Datagrams that both ends' kernels cut. A packet socket of net_af_packet is in a group for
    which the kernel puts IPv4 datagrams together, and those that exceed its frames arrive cut off;
    libpcap's is not."""
    devices = [f"net_pcap{i},rx_iface_in={name},tx_iface={name}"
               for i, name in enumerate(LB_INTERFACES)]
    with Balancer(roost, config, scene.network.lb, directory, devices) as balancer:
        balancer.wait_until_ready()
        echo(scene, FRAGMENTED_BYTES)
        report = balancer.stop()
    assert report["broken"] == [] and report["drops"]["truncated"] == 0, report["drops"]
    assert report["fragments"]["followed"] >= 2 * (2 + 5), report["fragments"]


def check_nat64(scene, roost, directory):
    """The report."""
    directory.mkdir()
    config, socket = config_of(scene, directory)
    begin = time.monotonic()
    with contextlib.ExitStack() as stack:
        servers = stack.enter_context(ToldServers(scene, directory))
        stack.enter_context(echo_servers(scene))
        balancer = stack.enter_context(
            Balancer(roost, config, scene.network.lb, directory, packet_sockets())
        )
        balancer.wait_until_ready()
        wait_for("ctl is answered", socket.exists)
        downloads, named = pass_files(scene, servers)
        rows = Control(roost, socket).ask("flows", "--service", "web64", "--limit", "100")["flows"]
        assert rows and all(row["local"].startswith(f"{LOCAL}:") for row in rows), rows
        assert all(row["endpoint"].startswith("10.0.0.") for row in rows), rows
        asked = ask_names(scene)
        echo(scene, ECHO_BYTES)
        report_unreachable(scene)
        report = balancer.stop()
        pass_fragments(scene, roost, config, directory)
    scene.network.client.ip("link", "set", "eth0", "mtu", "1500")
    assert report["drops"]["untranslatable"] == 0, report["drops"]
    assert report["icmp_errors_sent"]["too_big"] >= 1, report["icmp_errors_sent"]
    print(
        f"  IPv6 before IPv4: {downloads} downloads and 2 uploads whole through less room, "
        f"{named} clients named, {asked} names and {len(ECHO_BYTES + FRAGMENTED_BYTES)} "
        "sizes of datagrams: "
        f"{time.monotonic() - begin:.1f} s"
    )
    return report
