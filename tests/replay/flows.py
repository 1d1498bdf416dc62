"""The model's connections: which client talks to which backend, and when that ends.

One dictionary and one deadline a connection, in ticks. The program may settle a deadline a tick
earlier or later than this model, so nothing may depend on that: a capture in which a packet, or the
end, comes that close to the deadline of the connection it concerns is ambiguous, and the model says
so instead of guessing.
"""

import collections
from dataclasses import dataclass, field

from lb_config import TCP, Endpoint, Service

FIN, SYN, RST = 1, 2, 4
MARGIN_TICKS = 2


@dataclass
class Flow:
    client: Endpoint
    service: Service
    backend: Endpoint
    state: str
    deadline: int = 0
    finished: set = field(default_factory=set)  # the sides that sent FIN

    def see(self, from_client, tcp_flags):
        """The state after a packet, as RFC 9293 has it, seen from between the two."""
        if self.service.protocol != TCP:
            return
        if tcp_flags & RST:
            self.state = "tcp_closed"
        elif tcp_flags & FIN:
            self.finished.add(from_client)
            self.state = "tcp_closed" if len(self.finished) == 2 else "tcp_closing"
        elif self.state == "tcp_syn" and from_client and not tcp_flags & SYN:
            self.state = "tcp_established"


class Flows:
    def __init__(self, config):
        self.config = config
        self.live = {}  # (service name, its port, client) -> Flow
        self.created = self.ended = self.expired = 0

    def of_client(self, service, client, tick):
        """The live connection, or None; removes one that has expired."""
        flow = self.live.get((service.name, service.virtual.port, client))
        if flow is None or not self._is_expired(flow, tick):
            return flow
        self._remove(flow)
        return None

    def of_backend(self, services, backend, client, tick):
        found = [self.of_client(service, client, tick) for service in services]
        found = [flow for flow in found if flow and flow.backend == backend]
        assert len(found) <= 1, f"{client} reaches {backend} by two services: which is it?"
        return found[0] if found else None

    def begin_anew(self, flow, tcp_flags):
        """Whether a client's packet begins another connection where a closed one was."""
        is_next = flow.state == "tcp_closed" and tcp_flags & (SYN | FIN | RST) == SYN
        if is_next:
            self._remove(flow)
        return is_next

    def is_reply_tuple_taken(self, service, client, backend, tick):
        """Whether the client reaches this backend already, by another service."""
        services = self.config.services_of_backend(service.protocol, backend)
        return self.of_backend(services, backend, client, tick) is not None

    def create(self, service, client, backend):
        state = "tcp_syn" if service.protocol == TCP else "udp"
        flow = Flow(client, service, backend, state)
        self.live[service.name, service.virtual.port, client] = flow
        self.created += 1
        return flow

    def live_by_backend(self, service):
        """For captures in which nothing expires."""
        assert self.expired == self.ended == 0
        return collections.Counter(
            flow.backend for flow in self.live.values() if flow.service.name == service.name
        )

    def touch(self, flow, tick):
        timeout_ticks = round(flow.service.timeouts[flow.state] / self.config.tick_seconds)
        flow.deadline = tick + timeout_ticks

    def counts_at(self, tick):
        """What the report says when the run ends at this tick."""
        for flow in [f for f in self.live.values() if self._is_expired(f, tick)]:
            self._remove(flow)
        return {
            "created": self.created,
            "live": len(self.live),
            "ended": self.ended,
            "expired": self.expired,
        }

    @staticmethod
    def _is_expired(flow, tick):
        distance = tick - flow.deadline
        assert abs(distance) > MARGIN_TICKS, f"the capture is ambiguous at tick {tick}: {flow}"
        return distance > 0

    def _remove(self, flow):
        del self.live[flow.service.name, flow.service.virtual.port, flow.client]
        if flow.state == "tcp_closed":
            self.ended += 1
        else:
            self.expired += 1
