"""The balancer under attack, in `nat`, `fullnat` and `l2dsr`: floods from invented addresses of
ten times as many flows as there are places, of one, two and three packets each, while real clients
fetch and ask; RSTs, answers and loops that others make up.

The floods' senders see nothing of what comes back, as an attacker elsewhere does not: their
sequence numbers are right, their acknowledgements are guesses.
"""

import hashlib
import re
import subprocess
import threading
import time

from balancer import Balancer, packet_sockets
from clients import in_parallel
from draining import Control
from modes import DIRECT, LOCAL, add_way_past_the_balancer
from namespaces import wait_for
from servers import DNS_NAME, body_digests

PLACES = 1_500
FLOWS = 10 * PLACES
RATE = 4_000  # packets a second
CLIENT_MAC = "02:00:00:00:01:10"
DOWNLOADS = 8

# Sends a flood from the client's namespace: to a service, from invented addresses behind the
# client, in rounds of 250 flows: their first packets, the second ones, the third.
FLOOD = """
import random, socket, struct, sys, time
target, port, protocol, packets, flows, rate, mac = sys.argv[1:]
random.seed(1)
def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    total = (total >> 16) + (total & 0xffff)
    return ~(total + (total >> 16)) & 0xffff
def frame(number, packet):
    source = bytes([203, 0, 113, 1 + number % 250])
    ends = source + socket.inet_aton(target)
    first = random.Random(number).getrandbits(32)
    if protocol == "6":
        flags = (0x02, 0x00, 0x10)[packet]
        sequence = first if packet == 0 else (first + 1) & 0xffffffff
        acknowledged = 0 if packet == 0 else random.getrandbits(32)
        l4 = struct.pack("!HHIIBBHHH", 1024 + number // 250, int(port), sequence, acknowledged,
                         0x50, flags, 65535, 0, 0)
    else:
        question = struct.pack("!HHHHHH", number & 0xffff, 0x100, 1, 0, 0, 0)
        question += b"\\x07backend\\x05roost\\x04test\\x00\\x00\\x01\\x00\\x01"
        question += b"\\x00" * (len(question) % 2)
        l4 = struct.pack("!HHHH", 1024 + number // 250, int(port), 8 + len(question), 0) + question
    pseudo = ends + struct.pack("!BBH", 0, int(protocol), len(l4))
    at = 16 if protocol == "6" else 6
    l4 = l4[:at] + struct.pack("!H", checksum(pseudo + l4) or 0xffff) + l4[at + 2:]
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(l4), 1, 0x4000, 64, int(protocol), 0) + ends
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    return bytes.fromhex(mac) + b"\\x02\\x00\\x00\\x00\\x01\\x10\\x08\\x00" + ip + l4
flows, rate = int(flows), int(rate)
sent = 0
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
    sender.bind(("eth0", 0))
    begin = time.monotonic()
    for first in range(0, flows, 250):
        for packet in range(int(packets)):
            for number in range(first, min(first + 250, flows)):
                sender.send(frame(number, packet))
                sent += 1
            time.sleep(max(0, begin + sent / rate - time.monotonic()))
print(sent)
"""


def attack_config(config_file, directory, mode, socket):
    """The file's services for IPv4 in the mode, with few places."""
    text = config_file.read_text()
    text = re.sub(r"connections = [\d_]+", f"connections = {PLACES}", text)
    first = 'mac = "02:00:00:00:00:01"\n'
    text = text.replace(first, first + f'default_neighbour_mac = "{CLIENT_MAC}"\n')
    if mode == "fullnat":
        text = re.sub(r'(protocol = "\w+"\n)', r'\1mode = "fullnat"\n', text)
        addresses = ", ".join(f'"{a}"' for a in LOCAL)
        text += f"\n[fullnat]\naddresses = [{addresses}]\n"
    if mode == "l2dsr":
        backends = ", ".join(f'{{name = "b{i}", address = "10.0.0.1{i}"}}' for i in (1, 2, 3))
        text += (
            f'\n[[service]]\nname = "direct"\naddress = "{DIRECT["address"]}"\nport = 80\n'
            f'protocol = "tcp"\nmode = "l2dsr"\nbackends = [{backends}]\n'
        )
    text += f'\n[control]\nsocket = "{socket}"\n'
    out = directory / "attacked.toml"
    out.write_text(text)
    return out


class Downloads:
    """Real connections that are assured before a flood and in use all through it."""

    def __init__(self, scene, service):
        url = f"http://{service['address']}:{service['port']}/4m"
        self.processes = [
            subprocess.Popen(
                [*scene.network.client.prefix, "curl", "-q", "-sS", "--limit-rate", "250k", url],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for _ in range(DOWNLOADS)
        ]
        self.outputs = [None] * DOWNLOADS
        self.threads = [
            threading.Thread(target=self._read, args=(i,)) for i in range(DOWNLOADS)
        ]
        for thread in self.threads:
            thread.start()

    def _read(self, number):
        self.outputs[number] = self.processes[number].communicate()

    def whole(self):
        """How many came through."""
        for thread in self.threads:
            thread.join(120)
        wanted = body_digests()["4m"]
        return sum(hashlib.sha256(out).hexdigest() == wanted for out, _ in self.outputs)


def fetch_once(scene, service):
    """Whether one real request is answered: no second try."""
    prefix = scene.network.client.prefix
    if service["protocol"] == "tcp":
        url = f"http://{service['address']}:{service['port']}/backend"
        command = ["curl", "-q", "-s", "--max-time", "5", url]
    else:
        command = ["dig", "+short", "+tries=1", "+time=3", f"@{service['address']}", DNS_NAME, "A"]
    result = subprocess.run([*prefix, *command], capture_output=True, timeout=20)
    return result.returncode == 0 and bool(result.stdout.strip())


def answered_share(scene, service, count):
    return sum(in_parallel(fetch_once, [scene] * count, [service] * count)) / count


def flood(scene, service, packets, mac):
    protocol = "6" if service["protocol"] == "tcp" else "17"
    arguments = (service["address"], service["port"], protocol, packets, FLOWS, RATE, mac)
    return subprocess.Popen(
        [*scene.network.client.prefix, "/usr/bin/python3", "-c", FLOOD, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
    )


def check_flood(scene, control, service, packets, mode):
    """95 % of honest requests are answered during a flood, 99 % after, and no download breaks."""
    downloads = Downloads(scene, service) if service["protocol"] == "tcp" else None
    if downloads:
        time.sleep(1)
    attacker = flood(scene, service, packets, scene.config["port"][0]["mac"].replace(":", ""))
    during = []
    while attacker.poll() is None:
        during.append(answered_share(scene, service, 20))
    sent = int(attacker.communicate()[0])
    assert sent == FLOWS * packets, sent
    during = sum(during) / len(during)
    after = answered_share(scene, service, 100)
    assert during >= 0.95, f"{mode}, {packets} packets a flow: {during:.1%} answered during"
    assert after >= 0.99, f"{mode}, {packets} packets a flow: {after:.1%} answered after"
    whole = downloads.whole() if downloads else DOWNLOADS
    assert whole == DOWNLOADS, f"{mode}, {packets} packets a flow: {whole} downloads came through"
    flows = control.ask("stats")["flows"]
    assert flows["evicted"] > 0, flows
    print(
        f"  {mode} {service['name']}, {packets} packets a flow: {during:.1%} of requests answered "
        f"during, {after:.1%} after, all {whole} downloads"
    )


# In portions that a port's ring has room for, should the balancer not run for a moment.
SPOOF = """
import socket, sys, time
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
    sender.bind(("eth0", 0))
    for number, line in enumerate(sys.stdin, 1):
        sender.send(bytes.fromhex(line))
        if number % 50 == 0:
            time.sleep(0.05)
"""


def send_from_client(scene, frames):
    scene.network.client.run(
        "/usr/bin/python3", "-c", SPOOF, input="\n".join(bytes(f).hex() for f in frames)
    )


def flow_of(control, port):
    flows = control.ask("flows", "--service", "web")["flows"]
    return next(flow for flow in flows if flow["client"].endswith(f":{port}"))


def check_forgeries(scene, control):
    """A connection that is idle survives a thousand RSTs in its client's name and answers in its
    backend's, and one packet in our own name makes no second one.
    """
    from scapy.layers.inet import IP, TCP, UDP
    from scapy.layers.l2 import Ether

    web, dns = scene.service("web"), scene.service("dns")
    link = Ether(src=CLIENT_MAC, dst=scene.config["port"][0]["mac"])
    client = next(a for a in scene.clients.addresses if ":" not in a)
    idle = subprocess.Popen(
        [*scene.network.client.prefix, "/usr/bin/python3", "-c", IDLE, client, web["address"]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    port = int(idle.stdout.readline())
    flow = flow_of(control, port)
    assert flow["state"] == "established" and flow["class"] == "assured", flow
    backend = flow["backend"]
    address = next(b["address"] for b in web["backends"] if b["name"] == backend)
    # No sequence number twice, none near another.
    guesses = [(i * 4_294_967 + 12_345) % (1 << 32) for i in range(1_000)]
    rsts = [
        link / IP(src=client, dst=web["address"]) / TCP(sport=port, dport=80, flags="R", seq=g)
        for g in guesses
    ]
    forged = [
        link / IP(src=address, dst=client) / TCP(sport=8080, dport=port, flags="RA", seq=g)
        for g in guesses[:100]
    ]
    before = control.ask("stats")["drops"]
    send_from_client(scene, rsts + forged)
    loop = link / IP(src=dns["address"], dst=web["address"]) / TCP(sport=9, dport=80, flags="S")
    loop2 = link / IP(src=web["address"], dst=dns["address"]) / UDP(sport=80, dport=53) / bytes(32)
    send_from_client(scene, [loop, loop2])

    def drops(cause):
        return control.ask("stats")["drops"].get(cause, 0) - before.get(cause, 0)

    wait_for("forged answers are dropped", lambda: drops("wrong_side") == len(forged))
    wait_for("packets in our name are dropped", lambda: drops("martian") == 2)
    time.sleep(0.5)
    received = control.ask("stats")["packets"]["received"]
    time.sleep(0.5)
    assert control.ask("stats")["packets"]["received"] - received < 100, "something circles"
    state = flow_of(control, port)["state"]
    assert state == "established", state
    out, _ = idle.communicate("go on\n", timeout=10)
    assert out.startswith("HTTP/1.1 200"), out
    print(f"  an idle connection outlived {len(rsts)} RSTs and {len(forged)} answers made up")


# A connection with one request, silent until it is told to go on with the next.
IDLE = """
import socket, sys
connection = socket.create_connection((sys.argv[2], 80), 10, (sys.argv[1], 0))
request = b"GET /backend HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"
connection.send(request)
connection.recv(4096)
print(connection.getsockname()[1], flush=True)
sys.stdin.readline()
connection.send(request)
print(connection.recv(4096).decode())
"""


def check_attacks(scene, roost, mode, directory, packet_counts):
    socket = directory / "attacked.sock"
    config = attack_config(scene.config_file, directory, mode, socket)
    if mode == "l2dsr":
        add_way_past_the_balancer(scene.network)
        for backend in scene.backends:
            backend.serve_at((DIRECT["address"],), DIRECT["port"])
    control = Control(roost, socket)
    with Balancer(roost, config, scene.network.lb, directory, packet_sockets()) as balancer:
        balancer.wait_until_ready()
        services = [DIRECT] if mode == "l2dsr" else [scene.service("web"), scene.service("dns")]
        if mode == "nat":
            check_forgeries(scene, control)
        for service in services:
            for packets in packet_counts:
                check_flood(scene, control, service, packets, mode)
        report = balancer.stop()
    return report
