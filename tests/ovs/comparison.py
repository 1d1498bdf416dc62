"""What must hold of a run of rules and packets: what left of each packet is what the model says,
in Open vSwitch and here, with the same bytes; and each rule won as many packets.
"""

import copy
import re
from collections import Counter

from rule_model import Copy
from odd_packets import OddPackets
from rules import NUMBERED

SHOWN = 12  # differences that are told in full
MEGAFLOWS_MAX = 1.5  # times Open vSwitch's


class Comparison:
    """Of one rule set. `differences` are texts; none: all is well."""

    def __init__(self, rule_set, packets, model):
        self.rule_set = rule_set
        self.rules = {rule.number: rule for rule in rule_set.rules}
        self.packets = packets
        # What must leave of each packet, and how many packets each rule must win: there, and here,
        # where some are dropped on sight.
        self.won, self.won_here = Counter(), Counter()
        self.expected = {}
        for packet in packets:
            way = model.way(packet)
            self.expected[packet.number] = sorted(way.copies)
            self.won.update(way.winners)
            if not is_refused(packet):
                self.won_here.update(way.winners)
        self.differences = []
        self.known = Counter()  # differences in bytes, by the reason
        self.lines = [self._heading()]

    def fresh(self):
        """The same, with nothing compared yet."""
        other = copy.copy(self)
        other.differences, other.known, other.lines = [], Counter(), []
        return other

    def _heading(self):
        dropped = sum(not copies for copies in self.expected.values())
        return (f"{len(self.rules)} rules in {self.rule_set.tables} tables, {len(self.won)} of "
                f"which win packets; {len(self.packets)} packets, {dropped} to be dropped")

    def check_ovs(self, outcome):
        """Against the model, which shares nothing with it."""
        missing = self._compare_copies("Open vSwitch", outcome, outcome.failed)
        assert missing <= outcome.failed
        won = Counter(outcome.rule_packets)
        asked = sum(won[rule.number] for rule in self.rule_set.rules if rule.table == 0)
        if not len(self.packets) - outcome.failed <= asked <= len(self.packets):
            self.differences.append(f"Open vSwitch: rules of table 0 won {asked} packets and "
                                    f"{outcome.failed} upcalls failed, of {len(self.packets)}")
        if outcome.failed == 0:
            self._compare_counts("Open vSwitch", self.won, won)
        self.lines.append(
            f"Open vSwitch: {len(self.packets) - missing} packets decided, {missing} missing, "
            f"{outcome.failed} failed upcalls; {outcome.megaflows} megaflows of {outcome.masks} "
            "masks")

    def check_ours(self, ours, ovs):
        """Against both; of the packets that Open vSwitch decided, to the last byte."""
        self._compare_copies("roost", ours, 0)
        self._compare_counts("roost", self.won_here, Counter(ours.rule_packets))
        self._compare_drops(ours)
        equal = 0
        for packet in self.packets:
            theirs = ovs.copies.get(packet.number, [])
            own = ours.copies.get(packet.number, [])
            is_failed = not theirs and self.expected[packet.number] and ovs.failed
            if theirs == own or is_failed or is_refused(packet):
                equal += theirs == own
            elif copies_of(theirs) == copies_of(own):
                reason = known_reason(packet, theirs, own)
                if reason:
                    self.known[reason] += 1
                    continue
                self._tell(packet, "the bytes differ", "Open vSwitch " + bytes_of(theirs),
                           "roost        " + bytes_of(own))
        self.lines += [f"{count} packets differ as known: {reason}"
                       for reason, count in self.known.items()]
        ratio = ours.megaflows / max(1, ovs.megaflows)
        self.lines.append(f"roost: {equal} packets leave equal to the byte or are dropped by both; "
                          f"{ours.megaflows} megaflows of {ours.masks} masks, {ratio:.2f} times "
                          "Open vSwitch's")
        if ratio > MEGAFLOWS_MAX:
            self.differences.append(f"{ours.megaflows} megaflows, more than {MEGAFLOWS_MAX} times "
                                    f"Open vSwitch's {ovs.megaflows}")

    def _compare_copies(self, who, outcome, failed):
        """Returns how many packets are missing that may be."""
        missing = 0
        for packet in self.packets:
            expected = self.expected[packet.number]
            if who == "roost" and is_refused(packet):
                expected = []
            found = copies_of(outcome.copies.get(packet.number, []))
            if found == expected:
                continue
            if not found and missing < failed:
                missing += 1
                continue
            self._tell(packet, "the model says " + self._verdict(expected),
                       f"{who} does " + self._verdict(found))
        strangers = outcome.copies.keys() - self.expected.keys()
        if strangers:
            self.differences.append(f"{who} sends what nobody gave it: {sorted(strangers)[:9]}")
        return missing

    def _compare_counts(self, who, expected_counts, won):
        for rule in self.rule_set.rules:
            expected = expected_counts[rule.number]
            if won[rule.number] != expected:
                self.differences.append(f"{who}: {won[rule.number]} packets, not {expected}, of "
                                        f"rule {rule.number}: {rule.text}")

    def _compare_drops(self, ours):
        """Of what is dropped on sight."""
        expected = Counter(cause_of(packet) for packet in self.packets if is_refused(packet))
        for cause in sorted(set(OddPackets.REFUSED.values())):
            found = ours.drops.get(cause, 0)
            if found != expected[cause]:
                self.differences.append(f"roost drops {found} packets as {cause}, not "
                                        f"{expected[cause]}")

    def _tell(self, packet, *what):
        head = f"packet {packet.number} at port {packet.in_port}, {packet.kind}"
        self.differences.append("\n    ".join([head, packet.frame.hex(), *what]))

    def _verdict(self, copies):
        if not copies:
            return "drop it"
        words = []
        for left in copies:
            number = left.destination & 0xFFFF_FFFF
            is_numbered = left.destination >> 32 == NUMBERED >> 32 and number in self.rules
            rule = f"rule {number} ({self.rules[number].text})" if is_numbered else "no rule"
            words.append(f"{rule}, port {left.port}")
        return "send it: " + "; ".join(words)

    def report(self):
        told = [*self.lines]
        # Without their tags and options.
        kinds = Counter(re.sub("^(twice )?tagged |,.*", "", packet.kind) for packet in self.packets)
        tagged = sum("tagged" in packet.kind for packet in self.packets)
        told.append(f"packets, {tagged} of which have tags: "
                    + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
        told += self.differences[:SHOWN]
        if len(self.differences) > SHOWN:
            told.append(f"and {len(self.differences) - SHOWN} differences more")
        told.append(f"{len(self.differences)} differences")
        return "\n".join(told)


def cause_of(packet):
    """Why it is dropped on sight here; nothing: it is not."""
    return OddPackets.REFUSED.get(packet.kind.removeprefix("twice ").removeprefix("tagged "))


def is_refused(packet):
    return cause_of(packet) is not None


def known_reason(packet, theirs, own):
    """Why the bytes of frames may differ as they do; nothing: they may not."""
    reasons = set()
    for (_, frame), (_, other) in zip(theirs, own):
        if len(frame) != len(other):
            return None
        places = [place for place in range(len(frame)) if frame[place] != other[place]]
        is_tag = places == [14] and frame[14] | 0x10 == other[14] and "tagged" in packet.kind
        is_checksum = bool(places) and places[-1] - places[0] < 2
        if is_tag:
            reasons.add("Open vSwitch clears a tag's drop eligibility when it writes the tag")
        elif is_checksum and "later fragment" in packet.kind and "over IPv4" in packet.kind:
            reasons.add("Open vSwitch writes an address and takes the middle of a later fragment "
                        "for a checksum")
        elif is_checksum and "alone behind" in packet.kind:
            reasons.add("Open vSwitch writes an address and leaves the checksum behind a fragment "
                        "header as it was")
        elif places:
            return None
    return "; ".join(sorted(reasons))


def copies_of(frames):
    """Where copies went, and who sent them there."""
    return sorted(Copy(port, int.from_bytes(frame[:6], "big")) for port, frame in frames)


def bytes_of(frames):
    return "; ".join(f"port {port}: {frame.hex()}" for port, frame in frames)
