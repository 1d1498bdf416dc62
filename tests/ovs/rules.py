"""Random rule sets: as text for `ovs-ofctl add-flows`, and as masks, values and actions for the
model. Each rule writes its number into the packet's destination, so that who has won can be read
off what leaves.
"""

from dataclasses import dataclass, field

from fields import (ANY_FRAGMENT, ARP, ICMP, ICMPV6, IPV4, IPV6, LATER, PORTS, SCTP, TAG, TCP, UDP,
                    all_ones, ipv4, ipv6, mac, placed)

PROTOCOL_WORDS = {
    (IPV4, None): "ip", (IPV6, None): "ipv6", (IPV4, TCP): "tcp", (IPV6, TCP): "tcp6",
    (IPV4, UDP): "udp", (IPV6, UDP): "udp6", (IPV4, ICMP): "icmp", (IPV6, ICMPV6): "icmp6",
    (IPV4, SCTP): "sctp", (IPV6, SCTP): "sctp6",
}
FRAGMENTS = {"no": (0, 3), "yes": (ANY_FRAGMENT, 1), "first": (ANY_FRAGMENT, 3),
             "later": (ANY_FRAGMENT | LATER, 3), "not_later": (0, LATER)}
TCP_FLAGS = ("fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr", "ns")
NUMBERED = 0x0200_0000_0000  # destinations that rules write, with the rule's number in it


@dataclass
class Rule:
    number: int
    table: int
    priority: int
    match: dict = field(default_factory=dict)  # field: (value, mask)
    words: list = field(default_factory=list)  # of the match
    # ("write", field, value), ("register", index, value, mask), ("output", port), ("in_port",),
    # ("table", table, port or None), ("dec_ttl",), and ("bytes",), which changes what no rule
    # looks at any more. Each with its text.
    actions: list = field(default_factory=list)

    def add(self, words, **match):
        self.words.append(words)
        for name, (value, mask) in match.items():
            old_value, old_mask = self.match.get(name, (0, 0))
            self.match[name] = (old_value & ~mask | value, old_mask | mask)

    def exact(self, name):
        value, mask = self.match.get(name, (0, 0))
        return value if mask == all_ones(name) else None

    @property
    def text(self):
        head = [f"table={self.table}", f"priority={self.priority}", f"cookie={self.number:#x}"]
        actions = ",".join(text for _, text in self.actions) or "drop"
        return ",".join([*head, *self.words]) + f",actions={actions}"

    @property
    def mask(self):
        return placed({name: mask for name, (_, mask) in self.match.items()})

    @property
    def value(self):
        return placed({name: value for name, (value, _) in self.match.items()})


class RuleSet:
    """`count` rules over `tables` tables. No two of a table have one priority: what wins is never
    open.
    """

    def __init__(self, random, values, count, tables=1):
        self.random = random
        self.values = values
        self.tables = tables
        self.rules = [self._rule(number) for number in range(1, count + 1)]
        self._rank()
        # What no other rule of the first table wants, this one has: so every packet has a winner
        # there.
        last = Rule(len(self.rules) + 1, 0, 0)
        self._act(last)
        self.rules.append(last)

    @property
    def text(self):
        return "".join(rule.text + "\n" for rule in self.rules)

    def _maybe(self, share):
        return self.random.random() < share

    def _rank(self):
        """Rules that look at much are mostly above those that look at little, which would win all
        packets from there; but not always.
        """
        ranked = sorted(self.rules, key=lambda rule: self.random.random() * rule.mask.bit_count())
        priorities = sorted(self.random.sample(range(1, 65_536), len(ranked)))
        for rule, priority in zip(ranked, priorities):
            rule.priority = priority

    def _rule(self, number):
        rule = Rule(number, self.random.randrange(self.tables), 0)
        self._match_registers(rule)
        self._match_frame(rule)
        self._match_type(rule)
        self._act(rule)
        return rule

    def _masked(self, rule, word, name, value, text, mask=None):
        """A word with a value, and perhaps a mask."""
        mask = self.values.mask(name) if mask is None else mask
        shown = text(value & mask)
        if mask != all_ones(name):
            shown += "/" + text(mask)
        rule.add(f"{word}={shown}", **{name: (value & mask, mask)})

    def _match_registers(self, rule):
        if rule.table == 0:
            return
        for index in range(4):
            if self._maybe(0.3):
                value = self.random.randrange(4)
                mask = self.random.choice((3, 1, 2, all_ones("reg0")))
                self._masked(rule, f"reg{index}", f"reg{index}", value, hex, mask)

    def _match_frame(self, rule):
        if self._maybe(0.35):
            port = self.random.randrange(1, PORTS + 1)
            rule.add(f"in_port={port}", in_port=(port, 0xFFFF))
        for word, name in (("dl_src", "eth_src"), ("dl_dst", "eth_dst")):
            if not self._maybe(0.2):
                continue
            value, mask = self.random.choice(self.values.macs), None
            if rule.table and name == "eth_dst" and self._maybe(0.5):
                # What a rule of an earlier table has written.
                value = NUMBERED | self.random.randrange(64)
                mask = 0xFFFF_FFFF_0000 | self.random.choice((1, 3, 0xF0))
            self._masked(rule, word, name, value, mac, mask)
        if self._maybe(0.25):
            self._match_vlan(rule)

    def _match_vlan(self, rule):
        identifier = self.random.choice(self.values.vlans)
        priority = self.random.randrange(8)
        kind = self.random.randrange(6)
        if kind == 0:
            rule.add(f"dl_vlan={identifier}", vlan=(TAG | identifier, 0x1FFF))
        elif kind == 1:
            rule.add(f"dl_vlan={identifier},dl_vlan_pcp={priority}",
                     vlan=(TAG | identifier | priority << 13, 0xFFFF))
        elif kind == 2:
            rule.add(f"dl_vlan_pcp={priority}", vlan=(TAG | priority << 13, 0xF000))
        elif kind == 3:
            mask = TAG | self.random.getrandbits(12) & self.random.getrandbits(12)
            value = (TAG | identifier) & mask
            rule.add(f"vlan_tci={value:#x}/{mask:#x}", vlan=(value, mask))
        elif kind == 4:
            rule.add("vlan_tci=0x1000/0x1000", vlan=(TAG, TAG))
        else:
            rule.add("dl_vlan=0xffff", vlan=(0, 0x1FFF))

    def _match_type(self, rule):
        kind = self.random.random()
        if kind < 0.15:
            return
        if kind < 0.22:
            eth_type = self.random.choice([ARP, *self.values.types])
            rule.add(f"dl_type={eth_type:#06x}", eth_type=(eth_type, 0xFFFF))
            return
        eth_type = self.random.choice((IPV4, IPV6))
        icmp = ICMP if eth_type == IPV4 else ICMPV6
        protocol = self.random.choice((None, None, TCP, TCP, UDP, UDP, icmp, SCTP))
        rule.add(PROTOCOL_WORDS[eth_type, protocol], eth_type=(eth_type, 0xFFFF))
        if protocol is not None:
            rule.match["ip_proto"] = (protocol, 0xFF)
        elif self._maybe(0.2):
            protocol = self.random.choice([*self.values.protocols, TCP, UDP])
            rule.add(f"nw_proto={protocol}", ip_proto=(protocol, 0xFF))
        self._match_ip(rule, eth_type)
        self._match_transport(rule, protocol, icmp)

    def _match_ip(self, rule, eth_type):
        family, word, text = (("ipv4", "nw", ipv4), ("ipv6", "ipv6", ipv6))[eth_type == IPV6]
        for end in ("src", "dst"):
            if self._maybe(0.5):
                name = f"{family}_{end}"
                mask = self.values.mask(name)
                if eth_type == IPV6:
                    # ovs-ofctl takes what begins with a digit for a number of bits.
                    mask |= 0xF << 124
                self._masked(rule, f"{word}_{end}", name, self.values.address(eth_type), text, mask)
        if self._maybe(0.15):
            dscp = self.random.choice(self.values.dscps)
            word = self.random.choice((f"nw_tos={dscp << 2}", f"ip_dscp={dscp}"))
            rule.add(word, ip_dscp=(dscp, 0x3F))
        if self._maybe(0.15):
            word = self.random.choice(list(FRAGMENTS))
            rule.add(f"nw_frag={word}", ip_frag=FRAGMENTS[word])

    def _match_transport(self, rule, protocol, icmp):
        if rule.match.get("ip_frag") == FRAGMENTS["later"]:
            return
        if protocol in (TCP, UDP, SCTP):
            for name in ("tp_src", "tp_dst"):
                if self._maybe(0.4):
                    self._masked(rule, name, name, self.random.choice(self.values.ports), hex)
        if protocol == TCP and self._maybe(0.3):
            self._match_flags(rule)
        if protocol == icmp:
            if self._maybe(0.6):
                number = self.random.choice(self.values.icmp_types[icmp])
                rule.add(f"icmp_type={number}", icmp_type=(number, 0xFF))
            if self._maybe(0.3):
                number = self.random.randrange(3)
                rule.add(f"icmp_code={number}", icmp_code=(number, 0xFF))

    def _match_flags(self, rule):
        if self._maybe(0.3):
            flags = self.random.choice((0x002, 0x010, 0x012, 0x018))
            rule.add(f"tcp_flags={flags:#x}", tcp_flags=(flags, 0xFFF))
            return
        mask = 1 << self.random.randrange(9) | 1 << self.random.randrange(5)
        value = self.random.getrandbits(9) & mask
        word = "".join(("+" if value >> bit & 1 else "-") + name
                       for bit, name in enumerate(TCP_FLAGS) if mask >> bit & 1)
        rule.add(f"tcp_flags={word}", tcp_flags=(value, mask))

    def _act(self, rule):
        if self._maybe(0.15):
            return  # drops
        number = NUMBERED | rule.number
        word = (f"set_field:{mac(number)}->eth_dst", f"mod_dl_dst:{mac(number)}")[self._maybe(0.3)]
        rule.actions.append((("write", "eth_dst", number), word))
        if rule.table + 1 < self.tables and self._maybe(0.6):
            self._go_on(rule)
            return
        if self._maybe(0.3):
            self._change_bytes(rule)
        for _ in range(2 if self._maybe(0.1) else 1):
            self._output(rule)

    def _output(self, rule):
        if self._maybe(0.1):
            rule.actions.append((("in_port",), "in_port"))
            return
        port = self.random.randrange(1, PORTS + 1)
        rule.actions.append((("output", port), f"output:{port}"))

    def _go_on(self, rule):
        """To a later table, with registers written."""
        for _ in range(self.random.randrange(3)):
            index, value = self.random.randrange(4), self.random.randrange(4)
            if self._maybe(0.5):
                rule.actions.append((("register", index, value, all_ones("reg0")),
                                     f"set_field:{value}->reg{index}"))
            else:
                rule.actions.append((("register", index, value & 1, 1),
                                     f"load:{value & 1}->NXM_NX_REG{index}[0]"))
        table = self.random.randrange(rule.table + 1, self.tables)
        kind = self.random.randrange(4)
        if kind == 0:
            port = self.random.randrange(1, PORTS + 1)
            rule.actions.append((("table", table, port), f"resubmit({port},{table})"))
        elif kind == 1:
            rule.actions.append((("table", table, None), f"resubmit(,{table})"))
        else:
            rule.actions.append((("table", table, None), f"goto_table:{table}"))
            return
        if self._maybe(0.3):
            self._output(rule)

    def _change_bytes(self, rule):
        """Writes what no rule looks at any more."""
        eth_type, protocol = rule.exact("eth_type"), rule.exact("ip_proto")
        vlan, tag_seen = rule.match.get("vlan", (0, 0))
        choices = [f"set_field:{mac(0x0A11_0000_0000 | rule.number)}->eth_src"]
        if tag_seen & TAG and vlan & TAG:
            choices += ["strip_vlan", "pop_vlan", "mod_vlan_vid:77", "set_field:5->vlan_pcp"]
        elif tag_seen & TAG:
            choices += ["push_vlan:0x8100,set_field:4173->vlan_vid"]
        if eth_type in (IPV4, IPV6):
            choices += ["mod_nw_tos:184", "dec_ttl"]
        if eth_type == IPV4:
            choices += ["mod_nw_src:192.0.2.77", "set_field:198.51.100.7->ip_dst"]
        if eth_type == IPV6:
            choices += ["set_field:2001:db8::77->ipv6_src", "set_field:2001:db8::78->ipv6_dst"]
        is_later = rule.match.get("ip_frag") == FRAGMENTS["later"]
        if eth_type in (IPV4, IPV6) and protocol in (TCP, UDP) and not is_later:
            choices += ["mod_tp_src:4242", "mod_tp_dst:4243"]
        text = self.random.choice(choices)
        rule.actions.append((("dec_ttl",) if text == "dec_ttl" else ("bytes",), text))
