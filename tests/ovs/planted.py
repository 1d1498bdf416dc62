"""That the comparison finds what it should: differences put into an outcome by hand, one at a time.
"""

from collections import Counter
from dataclasses import replace

from comparison import cause_of, is_refused


def another_port(outcome, number, _):
    port, frame = outcome.copies[number][0]
    outcome.copies[number] = [(port % 4 + 1, frame), *outcome.copies[number][1:]]


def another_rule(outcome, number, _):
    port, frame = outcome.copies[number][0]
    last = bytes([frame[5] ^ 1])
    outcome.copies[number] = [(port, frame[:5] + last + frame[6:]), *outcome.copies[number][1:]]


def another_byte(outcome, number, _):
    port, frame = outcome.copies[number][0]
    last = bytes([frame[14] ^ 1])
    outcome.copies[number] = [(port, frame[:14] + last + frame[15:]), *outcome.copies[number][1:]]


def a_packet_lost(outcome, number, _):
    del outcome.copies[number]


def a_packet_sent_twice(outcome, number, _):
    outcome.copies[number] = sorted(outcome.copies[number] * 2)


def a_dropped_packet_sent(outcome, number, dropped):
    outcome.copies[dropped] = outcome.copies[number]


def another_drop_rule(outcome, *_):
    one, other = list(outcome.rule_packets)[:2]
    outcome.rule_packets[one] += 1
    outcome.rule_packets[other] -= 1


def another_cause(outcome, *_):
    outcome.drops["bad_header"] -= 1
    outcome.drops["truncated"] += 1


def more_megaflows(outcome, *_):
    outcome.megaflows *= 2


BY_ANY = (another_port, another_rule, a_packet_lost, a_packet_sent_twice, a_dropped_packet_sent,
          another_drop_rule)


def check_planted(comparison, ovs):
    """Of a rule set in which `ovs` was found right."""
    ours = as_here(comparison, ovs)
    sent = min(ours.copies)
    dropped = min(number for number, copies in comparison.expected.items() if not copies)

    def in_ovs(plant):
        fresh, outcome = comparison.fresh(), copied(ovs)
        plant(outcome, sent, dropped)
        fresh.check_ovs(outcome)
        return fresh.differences

    def in_ours(plant):
        fresh, outcome = comparison.fresh(), copied(ours)
        plant(outcome, sent, dropped)
        fresh.check_ours(outcome, ovs)
        return fresh.differences

    assert not in_ours(lambda *_: None), in_ours(lambda *_: None)
    for plant in BY_ANY:
        assert in_ovs(plant), plant
        assert in_ours(plant), plant
    for plant in (another_byte, more_megaflows, another_cause):
        assert in_ours(plant), plant
    print(f"{2 * len(BY_ANY) + 3} planted differences were found")


def as_here(comparison, ovs):
    """An outcome as it should be here: without packets that are dropped on sight."""
    refused = {packet.number for packet in comparison.packets if is_refused(packet)}
    copies = {number: left for number, left in ovs.copies.items() if number not in refused}
    drops = Counter(filter(None, map(cause_of, comparison.packets)))
    return replace(ovs, copies=copies, rule_packets=dict(comparison.won_here), drops=drops)


def copied(outcome):
    return replace(outcome, copies=dict(outcome.copies), rule_packets=dict(outcome.rule_packets),
                   drops=dict(outcome.drops))
