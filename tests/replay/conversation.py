"""One conversation of the long capture: packets of a client and its backend, built by scapy, on its
own clock.
"""

import ipaddress

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether
from scapy.packet import Raw

from lb_config import UDP as UDP_NUMBER
from translate import mac_text

CLIENT, BACKEND = 0, 1  # the port a packet arrives at
HOST = {
    4: {CLIENT: "192.0.2.10", BACKEND: "10.0.0.11"},
    6: {CLIENT: "2001:db8:1::10", BACKEND: "2001:db8:2::11"},
}
HOST_MAC = {CLIENT: "02:00:00:00:01:10", BACKEND: "02:00:00:00:02:11"}
SHORTEST_FRAME = 60


def link_header(config, side):
    port = config.ports[side]
    link = Ether(src=HOST_MAC[side], dst=mac_text(port.mac))
    layers = (Dot1AD, Dot1Q) if len(port.vlan) == 2 else (Dot1Q,)
    for layer, tag in zip(layers, port.vlan):
        link = link / layer(vlan=tag)
    return link


class Conversation:
    """Appends (microseconds, port, frame) to `timeline`, each packet some milliseconds after the
    last.

    `fields` of a packet are scapy's, of its IP header; `between` is a layer to put behind that
    header; `udp_fields` are those of every UDP header.
    """

    def __init__(self, config, timeline, service, client_port, start, random):
        self.config = config
        self.timeline = timeline
        self.service = service
        self.family = 6 if len(service.virtual.address) == 16 else 4
        self.client_port = client_port
        self.now = round(start * 1_000_000)
        self.random = random
        self.udp_fields = {}
        self.sent_bytes = {CLIENT: random.randrange(1 << 30), BACKEND: random.randrange(1 << 30)}

    def service_named(self, name):
        """The service of this name in the conversation's family."""
        wanted = name + ("6" if self.family == 6 else "")
        return next(s for s in self.config.services if s.name == wanted)

    def wait(self, seconds):
        self.now += round(seconds * 1_000_000)

    def client(self, flags="", payload=b"", between=None, **fields):
        virtual = self.service.virtual
        target = str(ipaddress.ip_address(virtual.address))
        self._send(
            CLIENT, target, (self.client_port, virtual.port), flags, payload, between, fields
        )

    def backend(self, flags="", payload=b"", between=None, **fields):
        port = next(iter(self.service.backends)).port
        target = HOST[self.family][CLIENT]
        self._send(BACKEND, target, (port, self.client_port), flags, payload, between, fields)

    def _send(self, side, target, ports, flags, payload, between, fields):
        network = (IPv6 if self.family == 6 else IP)(
            src=HOST[self.family][side], dst=target, **fields
        )
        if between is not None:
            network = network / between
        if self.service.protocol == UDP_NUMBER:
            transport = UDP(sport=ports[0], dport=ports[1], **self.udp_fields)
        else:
            acknowledged = self.sent_bytes[1 - side] if "A" in flags else 0
            transport = TCP(
                sport=ports[0],
                dport=ports[1],
                flags=flags,
                window=64240,
                seq=self.sent_bytes[side],
                ack=acknowledged,
            )
            self.sent_bytes[side] += len(payload) + ("S" in flags or "F" in flags)
        frame = bytes(link_header(self.config, side) / network / transport / Raw(payload))
        self.now += self.random.randrange(200, 20_000)
        self.timeline.append((self.now, side, frame.ljust(SHORTEST_FRAME, b"\0")))

    def open(self):
        self.client("S")
        self.backend("SA")
        self.client("A")

    def exchange(self, request=80, answer=600):
        self.client("PA", self.random.randbytes(request))
        self.backend("PA", self.random.randbytes(answer))
        self.client("A")

    def close(self):
        self.client("FA")
        self.backend("FA")
        self.client("A")
