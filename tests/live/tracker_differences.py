"""Where the tracker of `roost lb` says otherwise than the kernel's, on purpose: a row a kind, with
the reason. A kind is how a sequence parts: the packets up to the one at which the two no longer say
the same, and what each says then. A sequence that has parted stays with that kind until both agree
again. One that parts in no such way is a fault, and so is a row by which none does.

Functions and states are those of the kernel's net/netfilter/nf_conntrack_proto_tcp.c.
"""

import dataclasses
import re

PICKED_UP = (
    "To `tcp_new` a FIN begins nothing: it is forwarded without an entry. A balancer has to find "
    "the backend of a connection from before its start, whose next packet may be a FIN, so any "
    "packet but an RST is tracked, and a backend's but a SYN (decision 0016). From here on the "
    "kernel takes the next packet for the first."
)
RESET_UNREPLIED = (
    "The kernel removes an entry that has seen no reply at its first RST. Roost keeps it as reset "
    "for `tcp_closed`, the first to be evicted: the RST's receiver may ignore it (RFC 5961 section "
    "3), and then both ends go on. A SYN begins the next connection in both; any other packet is "
    "the first one of a connection to the kernel."
)
BOTH_FINISHED = (
    "The kernel waits in LAST_ACK for the last ACK. Roost joins RFC 9293's states that have one "
    "timeout: when both ends have finished, what is left to pass are the last ACK and "
    "retransmissions, and `tcp_closed` is long enough for them. A SYN begins the next connection "
    "at once."
)
FINISHED_TWICE = (
    "The kernel takes an end's second FIN for the other end's (`sFW -> sLA`: \"might be a "
    "retransmitted FIN as well\"), and the next ACK for the last. The other end may send on for as "
    "long as it likes (RFC 9293 section 3.6.1), and roost waits for its FIN."
)
SYN_THEN_RST = (
    "A SYN within a connection changes nothing in either: it may be anybody's, and a live server "
    "answers it by a challenge ACK (RFC 5961 section 4). But the kernel believes an RST that "
    "follows it by its window alone, or by the SYN's number that it has noted; it need not match "
    "the last acknowledgement any more. Roost believes an RST only at the end of the stream that "
    "it knows (decision 0015): a SYN and an RST of a stranger's would be enough otherwise. "
    "Nobody's new connection suffers: it begins with the server's SYN-ACK."
)
SERVER_UNKNOWN = (
    "The RST acknowledges nothing, and of its sender's stream nothing is known, so roost cannot "
    "tell it from a stranger's; a refusal of the SYN would acknowledge it (RFC 9293 section 3.5.2) "
    "and is believed. The entry is unreplied, lasts for `tcp_syn` at most, and may be evicted. The "
    "kernel takes the first number that it sees of an end for its stream."
)
FIN_IN_ATTEMPT = (
    "Between SYN and SYN-ACK the kernel finds the client's FIN invalid, and forgets it; the number "
    "behind it is then beyond the window, and so is what acknowledges it. Roost follows both ends, "
    "of which the server knows best what it has received."
)
SERVER_RESET = (
    "In CLOSE, after the server's RST, the kernel lets the client's SYN pass and waits for the "
    "SYN-ACK; after the client's own RST it begins anew at once. Roost does so in both cases: an "
    "RST that fits leaves neither end a connection (RFC 9293 section 3.5.3), so the SYN is that "
    "of the next one."
)
BEGUN_BY_SERVER = (
    "To the kernel the client is whose packet it sees first, here the server: a SYN of the other "
    "end is then invalid, and the SYN-ACK ignored. Roost knows its servers by their addresses, and "
    "a connection begins anew in its place by their SYN-ACK."
)


@dataclasses.dataclass(frozen=True)
class Difference:
    parts: str  # an expression for the packets until then
    kernel: str
    roost: str
    reason: str

    def is_of(self, past, kernel, roost):
        return (kernel, roost) == (self.kernel, self.roost) and re.fullmatch(self.parts, past)


DIFFERENCES = (
    Difference("[Rrs]*[Ff]", "none", "closing", PICKED_UP),
    Difference(".*[Rr]", "none", "closed", RESET_UNREPLIED),
    Difference(".*(F.*f|f.*F)", "closing", "closed", BOTH_FINISHED),
    Difference(".*(FF|ff)[Aa]", "closed", "closing", FINISHED_TWICE),
    Difference(".*[Aa]S+[Rr]", "none", "established", SYN_THEN_RST),
    Difference(".*FS[Rr]", "none", "closing", SYN_THEN_RST),
    Difference(".*[as]S[Rr]", "closed", "established", SYN_THEN_RST),
    Difference(".*fS[Rr]", "closed", "closing", SYN_THEN_RST),
    Difference(".*S[AF]+r", "none", "opening", SERVER_UNKNOWN),
    Difference(".*S.*F.*R", "opening", "closed", FIN_IN_ATTEMPT),
    Difference("SFsA", "opening", "established", FIN_IN_ATTEMPT),
    Difference("SFs[Ff]", "opening", "closing", FIN_IN_ATTEMPT),
    Difference(".*rS", "closed", "opening", SERVER_RESET),
    Difference("[Rrs]*aSs", "established", "opening", BEGUN_BY_SERVER),
)
