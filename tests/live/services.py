"""What a service says beyond its backends, between real clients and servers: a fallback that serves
while the others are away, questions that make no connection, and refusals instead of silence.
"""

import re
import subprocess
import time

from balancer import Balancer, packet_sockets
from draining import NEW_REQUESTS, Control, states_of
from namespaces import wait_for

FALLBACK = "b3"
OTHERS = ("b1", "b2")
QUESTIONS = ["A", "AAAA", "TXT"] * 20
CLOSED_PORT = 81
CURL_COULD_NOT_CONNECT = 7
REFUSED_WITHIN_SECONDS = 2  # else a SYN was sent again


def config_of(config_file, directory):
    """The file with a fallback for web, DNS datagram by datagram, and refusals; and the socket."""
    socket = directory / "lb.sock"
    text = config_file.read_text()
    for name in ("web", "web6"):
        at = text.index(f'name = "{name}"\n')
        end = text.index(f'name = "{FALLBACK}"', at)
        text = f'{text[:end]}fallback = true, {text[end:]}'
    text = re.sub(r'(name = "dns6?"\n)', r"\1one_packet = true\n", text)
    config = directory / "services.toml"
    config.write_text(f'{text}\n[lb]\nrefuse = true\n[control]\nsocket = "{socket}"\n')
    return config, socket


def fetch(scene, name):
    return {answer.backend for answer in scene.clients.web(scene.service(name), NEW_REQUESTS)}


def check_fallback(scene, control, name):
    """It serves when the others are away, and only then."""
    assert FALLBACK not in fetch(scene, name)
    assert states_of(control, name)[FALLBACK] == "standby"
    for backend in OTHERS:
        control.ask("backend", "drain", backend, "--service", name)
    assert fetch(scene, name) == {FALLBACK}
    control.ask("backend", "up", OTHERS[0], "--service", name)
    assert fetch(scene, name) == {OTHERS[0]}
    control.ask("backend", "up", OTHERS[1], "--service", name)
    print(f"  {name}: {FALLBACK} served while {' and '.join(OTHERS)} were drained, and only then")


def check_questions(scene, control, name):
    """Right answers of several backends, and not a connection."""
    answers = scene.clients.dns(scene.service(name), QUESTIONS)
    owner = {text: b.name for b in scene.backends for text in b.records.values()}
    told = {owner[answer.text] for answer in answers}
    assert len(told) > 1, told
    rows = control.ask("backends", "--service", name)["backends"]
    assert all(row["flows"] == 0 for row in rows), rows
    assert sum(row["packets"] for row in rows) >= 2 * len(QUESTIONS), rows
    print(f"  {name}: {len(answers)} questions, answered by {sorted(told)}, made no connection")


def check_refused(scene, name, port):
    """The kernel of the client says that the connection was refused, and at once."""
    address = scene.service(name)["address"]
    host = f"[{address}]" if ":" in address else address
    begin = time.monotonic()
    curl = ["curl", "-q", "--silent", "--show-error", "--max-time", "20"]
    result = subprocess.run(
        [*scene.network.client.prefix, *curl, f"http://{host}:{port}/"],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert result.returncode == CURL_COULD_NOT_CONNECT, result
    assert time.monotonic() - begin < REFUSED_WITHIN_SECONDS, result


def ask_closed_port(scene, name):
    """A connected UDP socket is told that nobody is there."""
    address = scene.service(name)["address"]
    script = (
        "import socket, sys\n"
        "family = socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET\n"
        "asking = socket.socket(family, socket.SOCK_DGRAM)\n"
        "asking.settimeout(5)\n"
        "asking.connect((sys.argv[1], int(sys.argv[2])))\n"
        "asking.send(b'anybody?')\n"
        "try:\n"
        "    asking.recv(100)\n"
        "except ConnectionRefusedError:\n"
        "    print('refused')\n"
    )
    out = scene.network.client.run("/usr/bin/python3", "-c", script, address, str(CLOSED_PORT))
    assert "refused" in out, out


def check_refusals(scene, control):
    for name in ("web", "web6"):
        check_refused(scene, name, CLOSED_PORT)
        ask_closed_port(scene, name)
        for backend in (*OTHERS, FALLBACK):
            control.ask("backend", "down", backend, "--service", name)
        check_refused(scene, name, scene.service(name)["port"])
        for backend in (*OTHERS, FALLBACK):
            control.ask("backend", "up", backend, "--service", name)
        assert fetch(scene, name) == set(OTHERS)
    stats = control.ask("stats")
    assert stats["resets"]["sent"] >= 4, stats["resets"]
    assert stats["icmp_errors_sent"]["unreachable"] >= 2, stats["icmp_errors_sent"]
    print(f"  refused: {stats['resets']['sent']} by resets, "
          f"{stats['icmp_errors_sent']['unreachable']} by ICMP")


def check_services(scene, roost, directory):
    """The report."""
    config, socket = config_of(scene.config_file, directory)
    control = Control(roost, socket)
    with Balancer(roost, config, scene.network.lb, directory, packet_sockets()) as balancer:
        balancer.wait_until_ready()
        wait_for("ctl is answered", socket.exists)
        for name in ("web", "web6"):
            check_fallback(scene, control, name)
        for name in ("dns", "dns6"):
            check_questions(scene, control, name)
        check_refusals(scene, control)
        report = balancer.stop()
    told = balancer.log.read_text()
    for name in ("web", "web6"):
        assert told.count(f"new connections of {name} go to its fallback: no other") == 2, told
    return report
