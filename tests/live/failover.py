"""A balancer that is killed and started again, and routes that move to a second one: connections go
on with the backend that they have, whoever of the two ends speaks next.
"""

import subprocess
import time

from balancer import Balancer, packet_sockets
from namespaces import wait_for

TALK_PORT = 7000
OF_EACH_KIND = 20
SECONDS = 12  # that the connections last
SECOND_MACS = {"02:00:00:00:00:01": "02:00:00:00:00:a1", "02:00:00:00:00:02": "02:00:00:00:00:a2"}
CLIENT_MAC = "02:00:00:00:01:a0"

# A backend. The first line of a connection is its kind: E echoes lines, P pushes a line five times
# a second, S says one at the end, C waits for the client's.
SERVER = """
import socketserver, sys, time
seconds = float(sys.argv[2])
class Talk(socketserver.StreamRequestHandler):
    def handle(self):
        kind = self.rfile.readline().strip()
        self.wfile.write(b"here\\n")
        if kind == b"P":
            for i in range(int(seconds * 5)):
                self.wfile.write(b"%d\\n" % i)
                time.sleep(0.2)
        if kind == b"S":
            time.sleep(seconds * 0.9)
            self.wfile.write(b"at last\\n")
        if kind in (b"E", b"C"):
            for line in self.rfile:
                self.wfile.write(line)
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 200
Server((sys.argv[1], 7000), Talk).serve_forever()
"""

# The clients, all at once; a line a connection that broke, and at the end how many there were.
CLIENTS = """
import socket, sys, threading, time
target, each, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
broken = []
def talk(kind, number):
    try:
        with socket.create_connection((target, 80), 10) as connection:
            connection.settimeout(30)
            reader = connection.makefile("rb")
            connection.sendall(kind + b"\\n")
            assert reader.readline() == b"here\\n"
            ready.release()
            if kind == b"P":
                for i in range(int(seconds * 5)):
                    assert reader.readline() == b"%d\\n" % i
            if kind == b"S":
                assert reader.readline() == b"at last\\n"
            if kind == b"E":
                for i in range(int(seconds * 5)):
                    connection.sendall(b"%d\\n" % i)
                    assert reader.readline() == b"%d\\n" % i
                    time.sleep(0.2)
            if kind == b"C":
                time.sleep(seconds * 0.9)
                connection.sendall(b"still here\\n")
                assert reader.readline() == b"still here\\n"
    except Exception as error:
        broken.append(f"{kind.decode()} {number}: {error!r}")
ready = threading.Semaphore(0)
threads = [threading.Thread(target=talk, args=(kind, number))
           for number in range(each) for kind in (b"E", b"P", b"S", b"C")]
for thread in threads:
    thread.start()
for thread in threads:
    ready.acquire(timeout=10)
print("ready", flush=True)
for thread in threads:
    thread.join()
for line in broken:
    print(line)
print(len(threads))
"""


def config_with_talk(config_file, directory):
    backends = ", ".join(
        f'{{name = "b{i}", address = "10.0.0.1{i}", port = {TALK_PORT}}}' for i in (1, 2, 3)
    )
    out = directory / "talk.toml"
    out.write_text(
        f"{config_file.read_text()}\n[[service]]\nname = \"talk\"\naddress = \"198.51.100.70\"\n"
        f'port = 80\nprotocol = "tcp"\nbackends = [{backends}]\n'
    )
    return out


def second_config(config, directory):
    """The same services behind other ports; a client is reached by its other interface."""
    text = config.read_text()
    for first, second in SECOND_MACS.items():
        text = text.replace(first, second)
    text = text.replace("192.0.2.1/24", "192.0.2.2/24").replace("10.0.0.1/24", "10.0.0.2/24")
    text = text.replace("2001:db8:1::1/64", "2001:db8:1::2/64")
    text = text.replace("2001:db8:2::1/64", "2001:db8:2::2/64")
    out = directory / "second.toml"
    out.write_text(text.replace("02:00:00:00:01:10", CLIENT_MAC))
    return out


def add_second_balancer(network):
    """A namespace with a way to the clients and one to the backends, which nobody uses yet."""
    second, client = network.add_balancer("lb2", "eth1", SECOND_MACS.values()), network.client
    client.ip("link", "set", "eth1", "address", CLIENT_MAC)
    for setting in ("all", "eth0", "eth1"):
        client.run("sysctl", "-q", "-w", f"net.ipv4.conf.{setting}.rp_filter=0")
    return second


def move_routes(network):
    """The virtual addresses and the clients are behind the second balancer from now on."""
    to_clients, to_backends = SECOND_MACS.values()
    for host, via, mac, device in [
        (network.client, "192.0.2.2", to_clients, "eth1"),
        *[(b, "10.0.0.2", to_backends, "eth0") for b in network.backends.values()],
    ]:
        host.ip("neigh", "replace", via, "lladdr", mac, "dev", device, "nud", "permanent")
        host.ip("route", "replace", "default", "via", via, "dev", device, "onlink")


def start_talking(scene):
    """The clients' process, when all of their connections are under way."""
    each = map(str, ("198.51.100.70", OF_EACH_KIND, SECONDS))
    clients = subprocess.Popen(
        [*scene.network.client.prefix, "/usr/bin/python3", "-c", CLIENTS, *each],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert clients.stdout.readline() == "ready\n"
    time.sleep(1)
    return clients


def check_unbroken(clients, what):
    *broken, count = clients.communicate(timeout=90)[0].splitlines()
    assert not broken, f"{what}: {len(broken)} of {count} connections broke: {broken[:5]}"
    assert int(count) == 4 * OF_EACH_KIND, count
    print(f"  {what}: {count} connections of four kinds, none broken")


def check_failover(scene, roost, directory):
    config = config_with_talk(scene.config_file, directory)
    servers = []
    for name, backend in scene.network.backends.items():
        address = f"10.0.0.1{name[1:]}"
        command = ["/usr/bin/python3", "-c", SERVER, address, str(SECONDS)]
        servers.append(subprocess.Popen([*backend.prefix, *command]))
        wait_for(
            f"{name} listens", lambda b=backend: f":{TALK_PORT} " in b.run("ss", "-Hltn")
        )
    second = add_second_balancer(scene.network)
    folder = directory / "second"
    folder.mkdir()
    try:
        with Balancer(roost, config, scene.network.lb, directory, packet_sockets()) as balancer:
            balancer.wait_until_ready()
            clients = start_talking(scene)
            balancer.process.kill()
            balancer.process.wait()
        with Balancer(roost, config, scene.network.lb, directory, packet_sockets()) as balancer:
            balancer.wait_until_ready()
            check_unbroken(clients, "killed and started again")
            clients = start_talking(scene)
            file = second_config(config, directory)
            with Balancer(roost, file, second, folder, packet_sockets()) as other:
                other.wait_until_ready()
                move_routes(scene.network)
                check_unbroken(clients, "routes moved to a second balancer")
                other.stop()
            return balancer.stop()
    finally:
        for server in servers:
            server.kill()
