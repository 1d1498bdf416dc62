"""What a connection's packets make of it: the kernel's tracker and that of `roost lb` beside each
other, after each packet of all 2,048 sequences of four (tcp_sequences.py). Every kind of difference
is listed, with its reason (tracker_differences.py). All is written into build/live/trackers.md;
docs/trackers.md is a copy.
"""

import collections
import concurrent.futures
import pathlib

from tcp_sequences import LENGTH, SEQUENCES, segments_of
from tracker_differences import DIFFERENCES
from tracker_scene import KernelTracker, RoostTracker

ROOT = pathlib.Path(__file__).resolve().parents[2]
ARTIFACT, DOCUMENT = ROOT / "build/live/trackers.md", ROOT / "docs/trackers.md"
FIRST_PORT = 10_000

CLASSES = {
    "none": ((), ()),
    "opening": (("SYN_SENT", "SYN_SENT2", "SYN_RECV"), ("syn_sent", "syn_received")),
    "established": (("ESTABLISHED",), ("established",)),
    "closing": (
        ("FIN_WAIT", "CLOSE_WAIT", "LAST_ACK"),
        ("client_finished", "server_finished"),
    ),
    "closed": (
        ("TIME_WAIT", "CLOSE"),
        ("closed", "reset", "reset_client_spoke", "reset_server_spoke"),
    ),
}
CLASS_OF = {
    state: name for name, states in CLASSES.items() for of_one in states for state in of_one
}
# What the kernel has to have for the comparison, its defaults: connections that it has not seen
# begin are picked up, and what lies outside the windows is invalid.
DEFAULTS = {"tcp_loose": "1", "tcp_be_liberal": "0", "tcp_ignore_invalid_rst": "0"}


def ask(tracker):
    """The class after each packet, by the packets up to it."""
    connections = {
        FIRST_PORT + number: segments_of(sequence, number)
        for number, sequence in enumerate(SEQUENCES)
    }
    classes = {}
    for number in range(LENGTH):
        tracker.send(
            [
                (segments[number].is_from_client, tracker.frame(port, segments[number]))
                for port, segments in connections.items()
            ]
        )
        states = tracker.states()
        for port, sequence in zip(connections, SEQUENCES):
            past = sequence[: number + 1]
            now = CLASS_OF[states[port]] if port in states else "none"
            assert classes.setdefault(past, now) == now, f"{past}: {classes[past]} and {now}"
    return classes


def ask_kernel():
    with KernelTracker("kernel") as tracker:
        for name, value in DEFAULTS.items():
            setting = tracker.settings[f"net.netfilter.nf_conntrack_{name}"]
            assert setting == value, f"nf_conntrack_{name} is {setting}, {value} by default"
        return ask(tracker)


def ask_roost(roost, directory):
    with RoostTracker(roost, directory) as tracker:
        return ask(tracker)


class Parting:
    """A kind of difference, and which sequences part by it."""

    def __init__(self):
        self.first = []  # packets until they part
        self.later = collections.Counter()  # and what both say after the packets behind, by pair


def partings_of(theirs, ours):
    """Faults, and the partings by kind."""
    faults, kind_of = [], {}
    partings = {kind: Parting() for kind in DIFFERENCES}
    for past, says in theirs.items():  # the shorter ones first
        pair = says, ours[past]
        if pair[0] == pair[1]:
            continue
        if past[:-1] in kind_of:
            kind_of[past] = kind_of[past[:-1]]
            if kind_of[past]:
                partings[kind_of[past]].later[pair] += 1
            continue
        kinds = [kind for kind in DIFFERENCES if kind.is_of(past, *pair)]
        kind_of[past] = kinds[0] if len(kinds) == 1 else None
        if len(kinds) == 1:
            partings[kinds[0]].first.append(past)
        else:
            said = f"{' '.join(past)}: the kernel says {pair[0]}, roost {pair[1]}"
            faults.append(f"{said}; of {len(kinds)} kinds")
    faults += [f"no sequence parts so: {kind}" for kind in DIFFERENCES if not partings[kind].first]
    return faults, partings


def class_table():
    rows = ["| class | the kernel's states | roost's states |", "|---|---|---|"]
    for name, (theirs, ours) in CLASSES.items():
        cells = ", ".join(theirs) or "no entry", ", ".join(ours) or "no entry"
        rows.append(f"| {name} | {cells[0]} | {cells[1]} |")
    return rows


def difference_table(partings):
    rows = [
        "| they part at | for example | kernel | roost | why | so many | what both say then |",
        "|---|---|---|---|---|---|---|",
    ]
    reasons = list(dict.fromkeys(kind.reason for kind in partings))
    for kind, parting in partings.items():
        later = ", ".join(
            f"{kernel}/{roost} {count}" for (kernel, roost), count in sorted(parting.later.items())
        )
        pattern = kind.parts.replace("|", "\\|")
        cells = (
            *(f"`{pattern}`", f"`{parting.first[0]}`", kind.kernel, kind.roost),
            *(reasons.index(kind.reason) + 1, len(parting.first), later),
        )
        rows.append(f"| {' | '.join(map(str, cells))} |")
    rows += ["", "Why:", ""]
    return rows + [f"{number}. {reason}" for number, reason in enumerate(reasons, 1)]


HEAD = """# Two trackers
How far a TCP connection has come to Linux's conntrack, and to `roost lb`, after each packet of all
{sequences:,} sequences of {length} packets: SYN, ACK, FIN or RST from either end, the client first.
Made by `tests/live/trackers.py`, which fails when anything here changes. The kernel's tracker has
its defaults (`nf_conntrack_tcp_loose` is 1, `nf_conntrack_tcp_be_liberal` 0) and timeouts so long
that nothing expires. Sequence and acknowledgement numbers are those that two ends would use:
`tests/live/tcp_sequences.py` says how.

A sequence is a letter a packet: `S`, `A`, `F`, `R` of the client, `s` (a SYN-ACK), `a`, `f`, `r` of
the server.

## Classes
"""
TEXT = """
## Differences
A sequence begins in one, two, three or four packets; after {same:,} of these {all:,} beginnings
both trackers say the same. The others have parted in one of the ways below. *So many* part at the
packet that is the last one of *they part at*, and go on parted: *what both say then*, the kernel
first, and after how many beginnings.

"""


def write_document(theirs, ours, partings):
    same = sum(theirs[past] == ours[past] for past in theirs)
    lines = HEAD.format(sequences=len(SEQUENCES), length=LENGTH) + "\n".join(class_table())
    lines += "\n" + TEXT.format(same=same, all=len(theirs))
    lines += "\n".join(difference_table(partings)) + "\n"
    ARTIFACT.parent.mkdir(parents=True, exist_ok=True)
    ARTIFACT.write_text(lines)


def check_trackers(roost, directory):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        kernel = pool.submit(ask_kernel)
        ours = ask_roost(roost, directory)
        theirs = kernel.result()
    faults, partings = partings_of(theirs, ours)
    assert not faults, "\n".join(faults)
    write_document(theirs, ours, partings)
    assert ARTIFACT.read_text() == DOCUMENT.read_text(), f"copy {ARTIFACT} to {DOCUMENT}"
    print(
        f"live: roost lb follows {len(SEQUENCES)} sequences of TCP packets as the kernel's tracker "
        f"does, but for {len(DIFFERENCES)} kinds of difference on purpose"
    )
