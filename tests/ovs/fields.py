"""What rules can look at, as one number with the bits of each field in it: a rule matches a packet
if `packet & mask == value`. And values of each field that packets and rules share, so that they
meet often.
"""

import ipaddress

# In bits. An ICMP type and code stand alone here, so that nothing can take one for a port.
WIDTHS = {
    "in_port": 16, "eth_src": 48, "eth_dst": 48, "eth_type": 16, "vlan": 16,
    "ipv4_src": 32, "ipv4_dst": 32, "ipv6_src": 128, "ipv6_dst": 128,
    "ip_proto": 8, "ip_dscp": 6, "ip_frag": 2, "tp_src": 16, "tp_dst": 16, "tcp_flags": 12,
    "icmp_type": 8, "icmp_code": 8, "reg0": 32, "reg1": 32, "reg2": 32, "reg3": 32,
}
SHIFTS = {name: sum(list(WIDTHS.values())[:place]) for place, name in enumerate(WIDTHS)}

IPV4, IPV6, ARP = 0x0800, 0x86DD, 0x0806
TCP, UDP, SCTP, ICMP, ICMPV6 = 6, 17, 132, 1, 58
TAG = 0x1000  # in `vlan`: that there is a tag
ANY_FRAGMENT, LATER = 1, 2  # in `ip_frag`
PORTS = 4


def all_ones(name):
    return (1 << WIDTHS[name]) - 1


def placed(fields):
    """Fields by name as one number."""
    return sum(number << SHIFTS[name] for name, number in fields.items())


def replaced(packet, name, number):
    """The packet's number with another value of a field."""
    return packet & ~(all_ones(name) << SHIFTS[name]) | number << SHIFTS[name]


def field_of(packet, name):
    return packet >> SHIFTS[name] & all_ones(name)


def mac(number):
    return number.to_bytes(6, "big").hex(":")


def ipv4(number):
    return str(ipaddress.IPv4Address(number))


def ipv6(number):
    return str(ipaddress.IPv6Address(number))


class Values:
    """A few values of each field. Those of addresses lie near each other, so that prefixes of any
    length tell some apart.
    """

    def __init__(self, random):
        self.random = random
        self.macs = [self._near(0x0A_00_00_00_00_00, 40) & ~(1 << 40) for _ in range(10)]
        self.macs += [0xFFFF_FFFF_FFFF, 0x0100_5E00_0001, 0x3333_0000_0001]
        self.ipv4 = [self._near(0x0A00_0000, 24) for _ in range(14)] + [0xC000_0201, 0xE000_0005]
        self.ipv6 = [self._near(0x2001_0DB8 << 96, 96) for _ in range(14)] + [0xFF02 << 112 | 1]
        self.ports = [*(random.getrandbits(16) for _ in range(10)), 22, 53, 80, 443]
        self.vlans = [random.randrange(1, 4_095) for _ in range(5)] + [0]
        self.dscps = [0, 0, 46, *(random.getrandbits(6) for _ in range(3))]
        # Not MPLS: of packets whose labels do not end, Open vSwitch loses some counts.
        self.types = [0x88CC, 0x8863, 0x9000, random.randrange(0x2000, 0x8000)]
        self.protocols = [2, 47, 89, 103]
        self.icmp_types = {ICMP: [0, 3, 8, 11], ICMPV6: [1, 3, 128, 129]}

    def _near(self, base, bits):
        """The base with few or many of its low bits drawn."""
        return base | self.random.getrandbits(self.random.randrange(1, bits))

    def address(self, eth_type):
        return self.random.choice(self.ipv4 if eth_type == IPV4 else self.ipv6)

    def mask(self, name):
        """Of a field: all of it, a prefix, or any bits; never nothing."""
        width = WIDTHS[name]
        kind = self.random.randrange(4)
        if kind == 0:
            return all_ones(name)
        if kind < 3:
            length = self.random.randrange(1, width + 1)
            return all_ones(name) & ~(all_ones(name) >> length)
        bits = self.random.getrandbits(width) & self.random.getrandbits(width)
        return bits or all_ones(name)
