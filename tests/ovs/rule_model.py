"""What each packet must get: of all rules of a table the one of the highest priority that matches,
found by a loop over them, and its actions, one after the other.
"""

from typing import NamedTuple

from fields import PORTS, field_of, replaced


class Copy(NamedTuple):
    """One of a packet that leaves."""

    port: int
    destination: int  # the address, with the number of the rule that wrote it


class Model:
    def __init__(self, rule_set):
        self.tables = [[] for _ in range(rule_set.tables)]
        for rule in sorted(rule_set.rules, key=lambda rule: -rule.priority):
            actions = [action for action, _ in rule.actions]
            self.tables[rule.table].append((rule.mask, rule.value, rule.number, actions))

    def way(self, packet):
        way = Way(self.tables, packet)
        way.look_up(0, packet.in_port)
        return way


class Way:
    """A packet's, through the tables."""

    def __init__(self, tables, packet):
        self.tables = tables
        self.packet = packet
        self.fields = packet.fields
        self.ttl = packet.ttl
        self.copies = []  # that leave; none: it is dropped
        self.winners = []  # numbers of rules

    def look_up(self, table, in_port):
        fields = replaced(self.fields, "in_port", in_port)
        for mask, value, number, actions in self.tables[table]:
            if fields & mask == value:
                self.winners.append(number)
                self.perform(actions)
                return

    def perform(self, actions):
        for kind, *what in actions:
            if kind == "write":
                self.fields = replaced(self.fields, *what)
            elif kind == "register":
                index, value, mask = what
                name = f"reg{index}"
                value |= field_of(self.fields, name) & ~mask
                self.fields = replaced(self.fields, name, value)
            elif kind == "output" and what[0] != self.packet.in_port:
                self.leave(what[0])
            elif kind == "in_port":
                self.leave(self.packet.in_port)
            elif kind == "table":
                table, port = what
                self.look_up(table, port or self.packet.in_port)
            elif kind == "dec_ttl":
                if self.ttl <= 1:
                    return  # what follows in this rule is not for it
                self.ttl -= 1

    def leave(self, port):
        assert 1 <= port <= PORTS
        self.copies.append(Copy(port, field_of(self.fields, "eth_dst")))
