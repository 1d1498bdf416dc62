"""What the connection counter must print for a capture, by tshark's fields: they share no code.

A connection is told by RFC 9293's rules as a bystander sees them; which packets change it, and how
long it lives, is what roost/conntrack's headers promise.
"""

import dataclasses

from expected_flows import FIELDS, is_sound, packets, protocol_of

EXTRA = ["frame.time_epoch", "tcp.flags", "tcp.seq_raw", "tcp.ack_raw", "tcp.len", "icmp.type",
         "icmpv6.type"]
FIN, SYN, RST, ACK = 1, 2, 4, 16
SECONDS = {"syn_sent": 60, "syn_received": 60, "established": 900, "client_finished": 120,
           "server_finished": 120, "udp": 60}  # all others: 10
OVER = ("closed", "reset", "reset_client_spoke", "reset_server_spoke")
JUST_BEHIND, NEAR, IN_FLIGHT = 64, 1 << 12, 1 << 18  # in units of 256 bytes


def state_after(state, from_client, flags):
    """The state after a packet that counts."""
    side, other = ("client", "server") if from_client else ("server", "client")
    if state in ("udp", "closed"):
        return state
    if flags & RST:
        return "reset"
    if state in OVER:
        if flags & (FIN | SYN):
            return "reset"
        return "established" if state == f"reset_{other}_spoke" else f"reset_{side}_spoke"
    if flags & FIN:
        if state == "syn_sent":
            return state
        return "closed" if state == f"{other}_finished" else f"{side}_finished"
    if flags & SYN:
        return "syn_received" if state == "syn_sent" and not from_client else state
    return "established" if state == "syn_received" and from_client else state


def ahead(position, other):
    """How many units of 256 bytes one stream position is ahead of another, modulo 2^24."""
    return (position - other + (1 << 23)) % (1 << 24) - (1 << 23)


@dataclasses.dataclass
class Connection:
    """One connection; positions are of what each end sends next."""

    state: str
    client: int = 0
    server: int = 0
    assurance: str = "unreplied"
    deadline: int = 0

    @classmethod
    def begun_by(cls, packet):
        if packet.is_udp:
            return cls("udp", server=1)
        if packet.flags & FIN:
            state = "client_finished"
        else:
            state = "syn_sent" if packet.flags & SYN else "established"
        return cls(state, packet.end, packet.acknowledged)

    def counts(self, from_client, packet):
        """Whether its own end can have sent this."""
        has_ack, is_answered = packet.flags & ACK, self.assurance != "unreplied"
        if packet.flags & RST:
            position, expected = packet.begin, self.client if from_client else self.server
            if not from_client and has_ack and not is_answered:
                position, expected = packet.acknowledged, self.client
            return -JUST_BEHIND <= ahead(position, expected) <= 0
        if not from_client:
            return True
        if packet.flags & SYN:
            return self.state == "syn_sent"
        return (-NEAR <= ahead(packet.begin, self.client) <= NEAR
                and (not has_ack or not is_answered
                     or -IN_FLIGHT <= ahead(packet.acknowledged, self.server) <= NEAR))

    def follow(self, from_client, packet):
        if from_client:
            if packet.flags & SYN or ahead(packet.end, self.client) > 0:
                self.client = packet.end
            return
        step = ahead(packet.end, self.server)
        if self.assurance == "unreplied" or packet.flags & SYN or step > 0 or step < -IN_FLIGHT:
            self.server = packet.end
        if packet.flags & ACK and ahead(packet.acknowledged, self.client) > 0:
            self.client = packet.acknowledged

    def assure(self, from_client, packet):
        """How far the two ends have shown that they know of each other."""
        if packet.is_udp:
            if not from_client:
                self.assurance = "replied" if self.assurance == "unreplied" else self.assurance
                return
            self.server = min(self.server + 1, 4)  # counts the client's packets
            if self.assurance == "replied" and self.server == 4:
                self.assurance = "assured"
        elif packet.flags & RST:
            return
        elif not from_client and self.assurance == "unreplied":
            is_midstream = not packet.flags & SYN and self.state not in ("syn_sent", *OVER[1:])
            self.assurance = "assured" if is_midstream else "replied"
        elif (from_client and self.assurance == "replied" and packet.flags & ACK
              and not packet.flags & SYN
              and -JUST_BEHIND <= ahead(packet.acknowledged, self.server) <= 0):
            self.assurance = "assured"

    def see(self, from_client, packet, now):
        was_over, left = self.state in OVER, self.deadline - now
        if packet.is_udp or self.counts(from_client, packet):
            if not packet.is_udp and not packet.flags & RST:
                self.follow(from_client, packet)
            self.assure(from_client, packet)
            self.state = state_after(self.state, from_client, packet.flags)
        if packet.is_udp or self.assurance == "assured":
            self.deadline = now + self.seconds()
        elif self.state in OVER and not was_over:
            self.deadline = now + min(self.seconds(), left)

    def seconds(self):
        seconds = SECONDS.get(self.state, 10)
        if self.state != "udp" and self.assurance != "assured":
            return min(seconds, SECONDS["syn_sent"])
        return seconds


class Packet:
    def __init__(self, row):
        number = lambda name: int(row[name] or "0", 0)
        protocol = protocol_of(row)
        self.is_udp = protocol == "udp"
        self.family = "ipv4" if row["ip.src"] else "ipv6"
        self.ends = ((row["ip.src"] or row["ipv6.src"], row[f"{protocol}.srcport"]),
                     (row["ip.dst"] or row["ipv6.dst"], row[f"{protocol}.dstport"]), protocol)
        self.flags = 0 if self.is_udp else number("tcp.flags")
        sequence = 0 if self.is_udp else number("tcp.seq_raw")
        length = 0 if self.is_udp else number("tcp.len")
        length += bool(self.flags & SYN) + bool(self.flags & FIN)
        self.begin = sequence >> 8
        self.end = (sequence + length) % (1 << 32) >> 8
        self.acknowledged = 0 if self.is_udp else number("tcp.ack_raw") >> 8


class Monitor:
    """The connections of one family."""

    def __init__(self):
        self.live, self.created, self.ended, self.expired = {}, 0, 0, 0

    def remove_expired(self, now):
        for ends in [e for e, c in self.live.items() if now > c.deadline]:
            if self.live.pop(ends).state in OVER:
                self.ended += 1
            else:
                self.expired += 1

    def see(self, packet, now):
        source, destination, protocol = packet.ends
        from_client = packet.ends in self.live
        ends = packet.ends if from_client else (destination, source, protocol)
        connection = self.live.get(ends)
        begins = packet.flags & (SYN | FIN | RST) == SYN
        if connection is not None and not (from_client and connection.state in OVER and begins):
            connection.see(from_client, packet, now)
            return
        if packet.flags & RST:
            return
        self.ended += connection is not None
        self.created += 1
        begun = Connection.begun_by(packet)
        begun.deadline = now + begun.seconds()
        self.live[packet.ends] = begun

    def lines(self, family):
        states = [c.state for c in self.live.values()]
        counted = {f"{family} {state} {states.count(state)}" for state in set(states)}
        return counted | {f"{family} created {self.created} ended {self.ended} "
                          f"expired {self.expired}"}


def expected_connections(capture):
    """The lines, in any order."""
    monitors = {"ipv4": Monitor(), "ipv6": Monitor()}
    now = 0
    for row in packets(capture, FIELDS + EXTRA):
        now = max(now, int(row["frame.time_epoch"].split(".")[0]))
        is_error = row["icmp.type"] or row["icmpv6.type"]  # whose ports are of what it is about
        if is_sound(row) and not is_error:
            packet = Packet(row)
            monitors[packet.family].remove_expired(now)
            monitors[packet.family].see(packet, now)
    lines = set()
    for family, monitor in monitors.items():
        monitor.remove_expired(now)
        lines |= monitor.lines(family)
    return lines
