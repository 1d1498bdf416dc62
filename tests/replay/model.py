"""A small model of the load balancer: from what its ports received, every packet it must send, in
order.

It shares nothing with the program but the configuration file. Which backend a new connection goes
to is a hash's choice, which the model does not know; it takes it from the capture's own reply leg,
where the live balancer's choice can be read, and for a connection without replies from the first
packet that went out, which must be for a backend of its service; all later packets are held to it,
and the choice to what the service's algorithm promises.
"""

import collections
import heapq

from answers import answer, port_unreachable
from flows import RST, SYN, Flows
from headers import find_headers
from lb_config import TCP
from local import echo_reply, is_arp
from refusal import refusal
from translate import Rewrite, rebuild, splice


class Prediction:
    def __init__(self, port_count):
        self.received = 0
        self.consumed = 0
        self.echo_replies = 0
        self.sent = [[] for _ in range(port_count)]  # frames forwarded, by output port
        self.answers = [[] for _ in range(port_count)]  # ICMP errors of the balancer's own
        self.drops = collections.Counter()  # by cause
        self.flows = {}
        self.flows_by_backend = collections.Counter()  # (service, backend) -> flows created


def predict(config, captures, observed):
    """`captures` and `observed` are lists of records, one list a port: what came in, and what went
    out.
    """
    return Model(config, captures, observed).run()


class Model:
    def __init__(self, config, captures, observed):
        self.config = config
        self.captures = captures
        self.observed = observed
        self.flows = Flows(config)
        self.prediction = Prediction(len(config.ports))
        self.replies = self._read_replies()
        self.backend_by_source = {}  # (service, client's address) -> the first that it got, by name

    def _read_replies(self):
        """(protocol, client) -> the backends that answered this client."""
        replies = collections.defaultdict(set)
        for record in (r for capture in self.captures for r in capture):
            headers = find_headers(record.frame)
            if headers and self.config.services_of_backend(headers.protocol, headers.source):
                replies[headers.protocol, headers.target].add(headers.source)
        return replies

    def run(self):
        arrivals = heapq.merge(
            *(
                [(record.time, port, number, record.frame) for number, record in enumerate(capture)]
                for port, capture in enumerate(self.captures)
            )
        )
        tick = 0
        for time, port, _, frame in arrivals:
            tick = int(time // (self.config.tick_seconds * 1_000_000))
            self.prediction.received += 1
            self._receive(port, frame, tick)
        self.prediction.flows = self.flows.counts_at(tick)
        return self.prediction

    def _receive(self, port, frame, tick):
        if is_arp(self.config.ports[port], frame):
            self.prediction.consumed += 1  # no capture asks for an address that is answered
            return
        reply = echo_reply(self.config, self.config.ports[port], frame)
        if reply is not None:
            self.prediction.echo_replies += 1
            self.prediction.sent[port].append(reply)
            return
        headers = find_headers(frame)
        cause = refusal(self.config.ports[port], frame, headers)
        if cause is None:
            cause = self._forward(frame, headers, tick)
        if cause is not None:
            self.prediction.drops[cause] += 1
        if cause == "ttl_expired":
            self.prediction.answers[port].append(answer(self.config.ports[port], frame, headers))
        if cause == "no_service" and self._is_refused(headers):
            self.prediction.answers[port].append(
                port_unreachable(self.config.ports[port], frame, headers)
            )

    def _is_refused(self, headers):
        addresses = {service.virtual.address for service in self.config.services}
        if not self.config.refuses_closed_ports or headers.target.address not in addresses:
            return False
        assert headers.protocol != TCP, "the model makes no resets"
        return True

    def _forward(self, frame, headers, tick):
        service = self.config.service_at(headers.protocol, headers.target)
        if self._pass_alone(frame, headers, service):
            return None
        if service is not None:
            flow = self.flows.of_client(service, headers.source, tick)
            if flow and self.flows.begin_anew(flow, headers.tcp_flags):
                flow = None
            if flow is None:
                if headers.protocol == TCP and headers.tcp_flags & RST:
                    return "no_flow"
                backend = self._backend_of(service, headers)
                client = headers.source
                if self.flows.is_reply_tuple_taken(service, client, backend, tick):
                    return "reply_tuple_taken"
                self._check_choice(service, client, backend)
                self.prediction.flows_by_backend[service.name, service.backends[backend]] += 1
                flow = self.flows.create(service, client, backend)
            self._send(frame, headers, flow.backend.address, False, flow.backend)
        else:
            services = self.config.services_of_backend(headers.protocol, headers.source)
            flow = self.flows.of_backend(services, headers.source, headers.target, tick)
            if flow is None:
                flow = self._pick_up(services, headers, tick)
            if flow is None:
                return "no_flow" if services or self._is_from_backends(headers) else "no_service"
            self._send(frame, headers, headers.target.address, True, flow.service.virtual)
        flow.see(service is not None, headers.tcp_flags)
        self.flows.touch(flow, tick)
        return None

    def _pass_alone(self, frame, headers, service):
        """Whether it is a datagram of which nothing is kept: by this service, or its answer."""
        if service is not None:
            if service.is_one_packet:
                backend = self._backend_of(service, headers)
                self._send(frame, headers, backend.address, False, backend)
            return service.is_one_packet
        services = self.config.services_of_backend(headers.protocol, headers.source)
        if len(services) != 1 or not services[0].is_one_packet:
            return False
        self._send(frame, headers, headers.target.address, True, services[0].virtual)
        return True

    def _pick_up(self, services, headers, tick):
        """The connection that a backend's packet begins, if there is no doubt whose it is."""
        if len(services) != 1 or (headers.protocol == TCP and headers.tcp_flags & (SYN | RST)):
            return None
        (service,) = services
        if self.flows.of_client(service, headers.target, tick):
            return None  # with another backend
        name = service.backends[headers.source]
        self.prediction.flows_by_backend[service.name, name] += 1
        flow = self.flows.create(service, headers.target, headers.source)
        if headers.protocol == TCP:
            flow.state = "tcp_established"
        return flow

    def _is_from_backends(self, headers):
        return any(
            headers.source.address == backend.address
            for service in self.config.services
            for backend in service.backends
        )

    def _backend_of(self, service, headers):
        """The backend of a new connection."""
        answered = self.replies[headers.protocol, headers.source] & service.backends.keys()
        assert len(answered) <= 1, f"two backends answered {headers.source} for {service.name}"
        return answered.pop() if answered else self._observed_backend(service)

    def _check_choice(self, service, client, backend):
        if service.algorithm == "source":
            name = service.backends[backend]
            before = self.backend_by_source.setdefault((service.name, client.address), name)
            assert name == before, f"{client} of {service.name} gets {name} after {before}"
        if service.algorithm == "least_connections":
            live = self.flows.live_by_backend(service)
            with_one_more = {
                end: (live[end] + 1) / weight for end, weight in service.weights.items() if weight
            }
            least = min(with_one_more.values())
            assert with_one_more[backend] == least, f"{service.name}: {backend} of {with_one_more}"

    def _observed_backend(self, service):
        """The backend in the packet that the program sent in this one's place."""
        port, _ = self.config.next_hop(next(iter(service.backends)).address)
        position = len(self.prediction.sent[port])
        assert position < len(
            self.observed[port]
        ), f"port {port} sent {position} packets; one more is due"
        backend = find_headers(self.observed[port][position].frame).target
        assert backend in service.backends, f"{backend} is no backend of {service.name}"
        return backend

    def _send(self, frame, headers, next_hop, at_source, endpoint):
        port, mac = self.config.next_hop(next_hop)
        out = self.config.ports[port]
        rewrite = Rewrite(at_source, endpoint, out.mac, mac, out.vlan)
        packet = rebuild(frame, headers, rewrite)
        assert packet == splice(
            frame, headers, rewrite
        ), "scapy and the splice disagree: a bug of this model"
        self.prediction.sent[port].append(packet)
