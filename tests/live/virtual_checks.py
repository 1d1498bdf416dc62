"""Health checks that take the way of clients' packets: a backend that answers at its own address
and lacks the virtual one is found failing, in `l2dsr`, `ipip` and `gue`; and well, when it has it.

Kernels without tunnel devices are common, so a program at both ends does what they would: it moves
packets between a TUN device and IP in IP, or GUE.
"""

import subprocess

from balancer import Balancer, packet_sockets
from draining import Control, states_of
from modes import add_way_past_the_balancer
from namespaces import wait_for
from scene import Scene
from topology import MANAGEMENT_ADDRESS

MODES = {"l2dsr": "198.51.100.91", "ipip": "198.51.100.92", "gue": "198.51.100.93"}
TUNNELS = ("ipip", "gue")
BACKENDS = ("b1", "b2", "b3")
LACKING = "b3"
PORT = 80
CHECK = 'check = {kind = "http", path = "/backend", every_seconds = 0.2, timeout_seconds = 0.4}'

# The balancer's host: `DEVICE KIND BACKEND` three at a time, what a device sends is encapsulated.
# A backend: `DEVICE` alone, what arrives encapsulated is received by it.
TUNNEL = """
import fcntl, os, select, socket, struct, sys
def open_device(name):
    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, 0x400454ca, struct.pack("16sH", name.encode(), 0x1001))  # TUN, bare packets
    return device
ipip = socket.socket(socket.AF_INET, socket.SOCK_RAW, 4)
gue = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
arguments = sys.argv[1:]
if len(arguments) == 1:
    device = open_device(arguments[0])
    gue.bind(("", 6080))
    while True:
        for ready in select.select([ipip, gue], [], [])[0]:
            packet = ready.recv(65535)
            os.write(device, packet[4:] if ready is gue else packet[packet[0] % 16 * 4:])
ways = {open_device(name): (kind, backend)
        for name, kind, backend in zip(*[iter(arguments)] * 3)}
while True:
    for ready in select.select(list(ways), [], [])[0]:
        packet = os.read(ready, 65535)
        kind, backend = ways[ready]
        if packet[0] >> 4 != 4:
            continue
        if kind == "gue":
            gue.sendto(bytes([0, 4, 0, 0]) + packet, (backend, 6080))
        else:
            ipip.sendto(packet, (backend, 0))
"""


def address_of(backend):
    return f"10.0.0.1{backend[1:]}"


def mark_of(mode, backend):
    return 100 + 10 * list(MODES).index(mode) + int(backend[1:])


def write_config(scene, directory, has_marks):
    text = scene.config_file.read_text()
    for mode, address in MODES.items():
        backends = ", ".join(
            f'{{name = "{b}", address = "{address_of(b)}"'
            + (f", check_mark = {mark_of(mode, b)}}}" if has_marks else "}")
            for b in BACKENDS
        )
        text += (
            f'\n[[service]]\nname = "{mode}"\naddress = "{address}"\nport = {PORT}\n'
            f'protocol = "tcp"\nmode = "{mode}"\n{CHECK}\nbackends = [{backends}]\n'
        )
    socket = directory / "lb.sock"
    config = directory / "lb.toml"
    config.write_text(f'{text}\n[control]\nsocket = "{socket}"\n')
    return config, socket


def start_tunnel(namespace, devices, arguments, stack):
    process = subprocess.Popen([*namespace.prefix, "/usr/bin/python3", "-c", TUNNEL, *arguments])
    stack.callback(process.wait)
    stack.callback(process.kill)
    for device in devices:
        wait_for(
            f"{namespace.name} has {device}",
            lambda d=device: f"{d}:" in namespace.run("ip", "-o", "link"),
        )
        namespace.ip("link", "set", device, "up")
        namespace.run("sysctl", "-q", "-w", f"net.ipv4.conf.{device}.rp_filter=0")


def route_by_marks(network, stack):
    """As the manual says: a table for each mark, and no way at all without one."""
    host = network.lb
    own = MANAGEMENT_ADDRESS.split("/")[0]
    host.run("sysctl", "-q", "-w", "net.ipv4.conf.all.rp_filter=0")
    host.run("sysctl", "-q", "-w", "net.ipv4.conf.manage.rp_filter=0")
    ways = [(f"{kind}-{b}", kind, address_of(b)) for kind in TUNNELS for b in BACKENDS]
    start_tunnel(host, [way[0] for way in ways], [word for way in ways for word in way], stack)
    for mode, address in MODES.items():
        host.ip("route", "add", "unreachable", address)
        for backend in BACKENDS:
            mark = str(mark_of(mode, backend))
            way = (
                ("via", address_of(backend), "dev", "manage")
                if mode == "l2dsr"
                else ("dev", f"{mode}-{backend}")
            )
            host.ip("rule", "add", "fwmark", mark, "table", mark)
            host.ip("route", "add", "default", *way, "src", own, "table", mark)


def give_virtual_addresses(namespace):
    for mode, address in MODES.items():
        device = "lo" if mode == "l2dsr" else "tunnel"
        namespace.ip("address", "add", f"{address}/32", "dev", device)


def states(control, backend):
    return {states_of(control, mode)[backend] for mode in MODES}


def check_ways(scene, control, config):
    """By its own address the backend without virtual addresses is well; by those it is not."""
    lacking = next(b for b in scene.backends if b.name == LACKING)
    checks = MANAGEMENT_ADDRESS.split("/")[0]
    wait_for(
        "it answers checks at its own address",
        lambda: sum(flow[0] == checks for flow in lacking.web_flows()) > 10,
    )
    assert states(control, LACKING) == {"up"}
    write_config(scene, config.parent, has_marks=True)
    control.ask("reload")
    wait_for("it fails, checked by marks", lambda: states(control, LACKING) == {"failing"})
    for row in control.ask("backends")["backends"]:
        if row["service"] in MODES:
            expected = "timed out after 0.4 s" if row["name"] == LACKING else ""
            assert row["failure"] == expected, row
    for mode, address in MODES.items():
        service = {"name": mode, "address": address, "port": PORT, "protocol": "tcp"}
        given = scene.clients.web(service, ["backend"] * 20)
        assert {answer.backend for answer in given} == set(BACKENDS) - {LACKING}, given
    give_virtual_addresses(lacking.namespace)
    wait_for("it is well again", lambda: states(control, LACKING) == {"up"})
    assert all(states(control, backend) == {"up"} for backend in BACKENDS)
    print(f"  {LACKING} failed its checks in {', '.join(MODES)} while it lacked their addresses")


def check_virtual_checks(roost, config_file, directory):
    with Scene(config_file, directory) as scene:
        network = scene.network
        add_way_past_the_balancer(network)
        route_by_marks(network, network.stack)
        for backend in scene.backends:
            start_tunnel(backend.namespace, ["tunnel"], ["tunnel"], network.stack)
            backend.namespace.run("sysctl", "-q", "-w", "net.ipv4.conf.all.rp_filter=0")
            if backend.name != LACKING:
                give_virtual_addresses(backend.namespace)
            backend.serve_at(("0.0.0.0",), PORT)
        config, socket = write_config(scene, directory, has_marks=False)
        with Balancer(roost, config, network.lb, directory, packet_sockets()) as balancer:
            balancer.wait_until_ready()
            check_ways(scene, Control(roost, socket), config)
            balancer.stop()
