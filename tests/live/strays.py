"""Traffic that the balancer must drop, each packet by its own cause; by real programs where one
exists.
"""

import subprocess

from bad_frames import EACH, bad_frames, send_bad_frames

# How often `send_strays` makes each drop cause happen, at least: TCP and dig may repeat themselves.
# The fragments are not in it: net_af_packet has the kernel reassemble IPv4, so a lone one never
# arrives there. They are in the captures that tcpdump takes beside it.
EXPECTED = {
    "unsupported_protocol": EACH,
    "no_service": 3,
    "ttl_expired": 2,
    "no_flow": 2,
    "not_for_us": EACH,
    "wrong_vlan": EACH,
    "not_ip": EACH,
    "bad_neighbour_message": EACH,
    "truncated": EACH,
    "bad_header": EACH,
    "bad_checksum": EACH,
    "martian": EACH,
    "ipv4_source_route": EACH,
    "ipv6_routing_header": EACH,
}

DATAGRAMS = """
import socket, sys
source, source6, target, target6, port, hops = sys.argv[1:]
for family, level, option, address, to in (
    (socket.AF_INET, socket.IPPROTO_IP, socket.IP_TTL, source, target),
    (socket.AF_INET6, socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, source6, target6)):
  with socket.socket(family, socket.SOCK_DGRAM) as sender:
    sender.setsockopt(level, option, int(hops))
    sender.bind((address, 7777))
    sender.sendto(b"stray", (to, int(port)))
"""


def send_strays(scene):
    """Returns the requests that got an answer though none may: an empty list when all is well."""
    web, web6, dns, dns6 = (
        scene.service(name)["address"] for name in ("web", "web6", "dns", "dns6")
    )
    backend = scene.service("web")["backends"][0]["address"]
    backend6 = scene.service("web6")["backends"][0]["address"]
    client = next(a for a in scene.clients.addresses if ":" not in a)
    client6 = next(a for a in scene.clients.addresses if ":" in a)

    requests = [
        # A port without a service, on an address that has one.
        ("curl", "-q", "-s", "--connect-timeout", "1", f"http://{web}:81/"),
        ("curl", "-q", "-s", "--connect-timeout", "1", f"http://[{web6}]:81/"),
        ("dig", "+tries=1", "+time=1", f"@{web}", "backend.roost.test"),
    ]
    running = [
        (
            r,
            subprocess.Popen(
                [*scene.network.client.prefix, *r],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ),
        )
        for r in requests
    ]
    lb_mac = scene.config["port"][0]["mac"]
    send_bad_frames(scene.network.client, bad_frames(lb_mac, client, client6, web, web6))
    # A client's packets at the end of their hops, and a backend that speaks before it was asked.
    scene.network.client.run(
        "/usr/bin/python3", "-c", DATAGRAMS, client, client6, dns, dns6, "53", "1"
    )
    scene.backends[0].namespace.run(
        "/usr/bin/python3", "-c", DATAGRAMS, backend, backend6, client, client6, "7777", "64"
    )
    return [" ".join(request) for request, process in running if process.wait(20) == 0]
