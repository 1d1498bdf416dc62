#!/usr/bin/python3
"""Makes demo/lb/long/{client.pcap,backends.pcap,expected.json}: nine hours of traffic whose end is
known.

    tests/replay/make_long.py [DIRECTORY]

Each script below is one kind of conversation, and says how many connections it creates and what
becomes of each. The sums of what the scripts say are expected.json; nothing is simulated here.
Between the busy hours nothing comes for longer than any timeout. The same bytes every time.
"""

import collections
import copy
import dataclasses
import json
import pathlib
import random
import sys

from scapy.layers.inet import IPOption_Router_Alert
from scapy.layers.inet6 import IPv6ExtHdrDestOpt, PadN

import pcap
from conversation import BACKEND, CLIENT, Conversation
from lb_config import LbConfig

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONG = ROOT / "demo/lb/long"
BEGIN = 27_000 * 65_536 - 9_000  # seconds since 1970 (2026): 16 bits of it wrap on the way
HOUR = 3600
EACH = 8  # conversations of each kind and service in each busy hour


def closed(talk):
    talk.open()
    talk.exchange()
    talk.close()
    return {"ended": 1}


def reset(talk):
    talk.open()
    talk.exchange()
    talk.backend("RA")
    return {"ended": 1}


def port_used_again(talk):
    """A SYN on a closed connection that is still remembered begins the next one."""
    closed(talk)
    talk.wait(3)
    closed(talk)
    return {"ended": 2}


def by_two_addresses(talk):
    """One client port, two services on one backend: the second waits for the first's end."""
    first, second = talk.service, talk.service_named("shop")
    talk.open()
    talk.service = second
    talk.client("S")
    talk.service = first
    talk.close()
    talk.wait(14)
    talk.service = second
    closed(talk)
    return {"ended": 2, "reply_tuple_taken": 1}


def unanswered(talk):
    """SYN, and again after 1 and 3 seconds: one connection, which never opens."""
    for pause in (1, 2, 0):
        talk.client("S")
        talk.wait(pause)
    return {"expired": 1}


def half_closed(talk):
    talk.open()
    talk.client("FA")
    talk.backend("A")
    return {"expired": 1}


def kept_alive(talk):
    """Silences just shorter than the timeout of an open connection, for an hour and a half."""
    talk.open()
    for _ in range(6):
        talk.wait(880)
        talk.exchange(1, 1)
    talk.close()
    return {"ended": 1}


def only_listening(talk):
    """What the backend sends keeps a connection alive too."""
    talk.open()
    for _ in range(3):
        talk.wait(800)
        talk.backend("PA", b"news")
    talk.close()
    return {"ended": 1}


def fell_silent(talk):
    """Comes back after the connection expired: the backend's packet is refused, for its end is that
    of two services; the client's creates a new one.
    """
    talk.open()
    talk.exchange()
    talk.wait(950)
    talk.backend("PA", b"still there?")
    talk.exchange()
    return {"expired": 2, "no_flow": 1}


def late_reset(talk):
    """A reset of a connection that no table has creates none."""
    talk.client("R")
    return {"no_flow": 1}


def asked(talk):
    talk.client(payload=talk.random.randbytes(40))
    talk.backend(payload=talk.random.randbytes(200))
    return {"expired": 1}


def asked_again(talk):
    """The same source port within the timeout, and once more after it: two connections."""
    for pause in (50, 90, 0):
        talk.client(payload=talk.random.randbytes(33))
        talk.backend(payload=talk.random.randbytes(77))
        talk.wait(pause)
    return {"expired": 2}


def answered_late(talk):
    """The backend goes on with what has expired: that is another connection."""
    talk.client(payload=b"slow question")
    talk.wait(70)
    talk.backend(payload=b"the answer to a question that expired")
    return {"expired": 2}


def with_options(talk):
    """Behind IPv4 options or an IPv6 extension header."""
    if talk.family == 4:
        options = {"options": [IPOption_Router_Alert()]}
    else:
        options = {"between": IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 4)])}
    talk.client(payload=b"marked", **options)
    talk.backend(payload=b"marked too", **options)
    return {"expired": 1}


def without_checksum(talk):
    if talk.family == 4:
        talk.udp_fields = {"chksum": 0}
    return asked(talk)


def one_way(talk):
    for number in range(3):
        talk.client(payload=b"<13>message %d" % number)
    return {"expired": 1}


def at_its_last_hop(talk):
    last_hop = {"hlim": 1} if talk.family == 6 else {"ttl": 1}
    talk.client(payload=b"too far", **last_hop)
    return {"ttl_expired": 1}


def at_a_closed_port(talk):
    virtual = talk.service.virtual._replace(port=81)
    talk.service = dataclasses.replace(talk.service, virtual=virtual)
    talk.client(payload=b"anybody?")
    return {"no_service": 1}


def in_another_vlan(talk):
    talk.config = copy.copy(talk.config)
    talk.config.ports = [dataclasses.replace(port, vlan=(101,)) for port in talk.config.ports]
    talk.client(payload=b"lost")
    return {"wrong_vlan": 1}


def still_open(talk):
    talk.open()
    return {"live": 1}


def still_asking(talk):
    talk.client(payload=b"now")
    return {"live": 1}


TCP_KINDS = (
    closed,
    reset,
    port_used_again,
    by_two_addresses,
    unanswered,
    half_closed,
    kept_alive,
    only_listening,
    fell_silent,
    late_reset,
)
UDP_KINDS = (
    asked,
    asked_again,
    answered_late,
    with_options,
    without_checksum,
    at_its_last_hop,
    at_a_closed_port,
    in_another_vlan,
)
DROPS = ("no_flow", "no_service", "reply_tuple_taken", "ttl_expired", "wrong_vlan")
BUSY_HOURS = (
    (0.0, 1.0),
    (3.0, 3.5),
    (7.0, 7.5),
)  # when conversations begin; the last ones end 1.7 hours later
LAST_SECONDS = (9.0, 9.0 + 40 / HOUR)


class Script:
    def __init__(self, config):
        self.config = config
        self.random = random.Random(20)
        self.timeline = []
        self.counts = collections.Counter()
        self.next_port = 10_000

    def play(self, kind, service_name, window):
        service = next(s for s in self.config.services if s.name == service_name)
        start = BEGIN + HOUR * self.random.uniform(*window)
        talk = Conversation(self.config, self.timeline, service, self.next_port, start, self.random)
        self.next_port += 1
        self.counts.update(kind(talk))

    def play_all(self):
        for window in BUSY_HOURS:
            for family in ("", "6"):
                for _ in range(EACH):
                    for kind in TCP_KINDS:
                        self.play(kind, f"web{family}", window)
                    for kind in UDP_KINDS:
                        self.play(kind, f"dns{family}", window)
                    self.play(one_way, f"syslog{family}", window)
        for family in ("", "6"):
            for _ in range(EACH):
                self.play(still_open, f"web{family}", LAST_SECONDS)
                self.play(still_asking, f"dns{family}", LAST_SECONDS)
                self.play(still_asking, f"syslog{family}", LAST_SECONDS)

    def expected(self):
        flows = {end: self.counts[end] for end in ("ended", "expired", "live")}
        drops = {cause: self.counts[cause] for cause in DROPS}
        received = [sum(port == side for _, port, _ in self.timeline) for side in (CLIENT, BACKEND)]
        return {
            "received_by_port": received,
            "received": sum(received),
            "sent": sum(received) - sum(drops.values()),
            "drops": drops,
            "flows": {"created": sum(flows.values()), **flows},
        }


def make(directory):
    script = Script(LbConfig(LONG / "lb.toml"))
    script.play_all()
    script.timeline.sort()
    for side, name in ((CLIENT, "client.pcap"), (BACKEND, "backends.pcap")):
        pcap.write(
            directory / name,
            [pcap.Record(time, frame) for time, port, frame in script.timeline if port == side],
        )
    (directory / "expected.json").write_text(json.dumps(script.expected(), indent=2) + "\n")


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else LONG)
