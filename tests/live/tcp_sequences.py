"""All sequences of four TCP packets of one connection, as a tracker between its ends sees them:
SYN, ACK, FIN or RST from either end, the client first. 4 * 8 * 8 * 8 are 2,048.

A sequence is written a letter a packet: S, A, F, R from the client, s, a, f, r from the server.
`SsAf` is a handshake and the server's FIN.

Sequence and acknowledgement numbers are those that ends would use which have received all that
passed the tracker:

* Each end's stream begins anywhere. A SYN has its first number, and SYN and FIN count one each; an
  ACK carries nothing.
* Each packet acknowledges all that the other end has sent in its stream; the client's SYN does not,
  and the server's SYN is a SYN-ACK. Whoever has received nothing yet acknowledges where the other's
  stream begins: the connection is older than the tracker.
* A SYN or FIN behind one of the same end is a retransmission: it has the same number. Any other SYN
  begins a stream, 65,536 numbers further on (RFC 9293 section 3.4.1: numbers larger than those that
  were in use), and so does the SYN-ACK that answers it.
* An RST has the number that its sender sends next, and no ACK. The server's refusal of a SYN to
  which it has said nothing has the number 0 and acknowledges the SYN (section 3.5.2).

Windows are 65,535, without options.
"""

import dataclasses
import itertools
import random

FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10
KINDS = "SAFR"
LENGTH = 4
NEXT_STREAM = 1 << 16
SEQUENCES = [
    "".join(letters)
    for letters in itertools.product(KINDS, *[KINDS + KINDS.lower()] * (LENGTH - 1))
]


@dataclasses.dataclass
class Segment:
    is_from_client: bool
    flags: int
    sequence: int
    acknowledgement: int


class End:
    """One end's stream."""

    def __init__(self, first):
        self.first = self.next = first
        self.last = ""  # the kind of its last packet
        self.answered = None  # the other's stream when this end spoke last

    def numbered(self, kind, other):
        """The sequence number of its packet of this kind."""
        is_new = self.answered not in (None, other.first)
        if kind == "S" and self.last and (self.last != "S" or is_new):
            self.first = self.next = self.next + NEXT_STREAM & 0xFFFFFFFF
        is_repeated = kind in "SF" and kind == self.last and not is_new
        self.answered = other.first
        if is_repeated:
            return self.next - 1 & 0xFFFFFFFF
        sequence = self.next
        if kind in "SF":
            self.next = self.next + 1 & 0xFFFFFFFF
        return sequence


def segment_of(letter, client, server):
    is_from_client = letter.isupper()
    sender, receiver = (client, server) if is_from_client else (server, client)
    kind = letter.upper()
    if kind == "R":
        is_refusal = (
            not is_from_client and client.last == "S" and server.answered != client.first
        )
        sender.last = kind
        if is_refusal:
            return Segment(is_from_client, RST | ACK, 0, receiver.next)
        return Segment(is_from_client, RST, sender.next, 0)
    sequence = sender.numbered(kind, receiver)
    sender.last = kind
    if kind == "S" and is_from_client:
        return Segment(is_from_client, SYN, sequence, 0)
    flags = {"S": SYN, "A": 0, "F": FIN}[kind] | ACK
    return Segment(is_from_client, flags, sequence, receiver.next)


def segments_of(sequence, seed):
    """The sequence's packets; its streams begin where this seed says."""
    draw = random.Random(seed)
    client, server = End(draw.getrandbits(32)), End(draw.getrandbits(32))
    return [segment_of(letter, client, server) for letter in sequence]
