"""Captures of a switch's ports, made of a seed: stations that come, talk, move and go, and frames
that no station should send. Every millisecond has a frame, and some have a burst; now and then
nobody sends anything for a while.
"""

import collections
import random

import pcap

BEGIN = 1_700_000_000_000_000  # microseconds
SECOND, MILLISECOND = 1_000_000, 1_000
SECONDS = 45
# Before which of them how many pass without a frame: 6 are so few that entries age as ever, 8 so
# many that they could look young again; an age comes again after 20, and a timer of moves after 18
# hours.
PAUSES = {13: 20, 21: 8, 28: 6, 36: 70_000, 43: 13}
# Ports whose bound is reached get stations for two seconds, and then none until all of them are
# gone, so that nothing depends on when that is.
CROWDED, CROWD_EVERY, CROWD_SECONDS = (3, 4), 15 * SECOND, 2 * SECOND
CROWD = 60
QUIET_PORTS = (0, 1, 2, 6)  # those where stations are at any time

CUSTOMER_TAG, SERVICE_TAG, IPV4 = b"\x81\x00", b"\x88\xa8", b"\x08\x00"
BROADCAST = b"\xff" * 6


def station(vlan, port, number):
    return bytes((2, 0, vlan, port, number >> 8, number & 0xFF))


class Frames:
    def __init__(self, seed, ports):
        """`ports`: of each, its untagged VLAN or None, and those that it has tagged."""
        self.random = random.Random(seed)
        self.ports = ports
        self.captures = [[] for _ in ports]
        self.count = 0
        self.spoke = collections.deque(maxlen=300)  # VLAN and address
        self.ever = collections.defaultdict(dict)  # by VLAN, the addresses that spoke, once each
        self.time = 0  # without pauses

    def make(self):
        for millisecond in range(SECONDS * 1_000):
            self.time = millisecond * MILLISECOND
            count = 1
            if self.random.random() < 0.02:
                count = self.random.choice((2, 3, 5, 31, 32, 33, 64, 70))
            times = sorted(self.random.choices((0, 1, 7, 400, 999), k=count))
            for offset in times:
                self.time = millisecond * MILLISECOND + offset
                self.one()
        return self.captures

    def add(self, port, frame):
        paused = sum(pause for second, pause in PAUSES.items() if second * SECOND <= self.time)
        self.captures[port].append(pcap.Record(BEGIN + self.time + paused * SECOND, frame))

    def one(self):
        make = self.random.choices(
            (self.talk, self.crowd, self.move, self.nonsense, self.flood_burst),
            (60, 22, 8, 9, 1))[0]
        make()

    def vlan_of(self, port):
        untagged, tagged = self.ports[port]
        return self.random.choice([*([untagged] if untagged else []), *tagged])

    def tags(self, port, vlan):
        """As the port has the VLAN, or another way that means the same."""
        priority = self.random.choice((0, 0, 0x2000, 0xE000, 0xF000))
        if vlan != self.ports[port][0]:
            return CUSTOMER_TAG + (priority | vlan).to_bytes(2, "big")
        kind = self.random.randrange(8)
        if kind == 0:
            return CUSTOMER_TAG + priority.to_bytes(2, "big")
        if kind == 1:
            return CUSTOMER_TAG + (priority | vlan).to_bytes(2, "big")
        return SERVICE_TAG + b"\x00\x63" if kind == 2 else b""

    def payload(self):
        self.count += 1
        size = self.random.choice((0, 46, 46, 46, 200, 1_500))
        if self.random.random() < 0.002:
            size = self.random.choice((2_100, 9_000))
        return IPV4 + self.count.to_bytes(4, "big") + bytes(size)

    def destination(self, vlan):
        kind = self.random.random()
        if kind < 0.06:
            return BROADCAST
        if kind < 0.12:
            return bytes.fromhex("01005e0000") + bytes((self.random.randrange(4),))
        if kind < 0.14:
            return bytes.fromhex("0180c20000") + bytes((self.random.randrange(20),))
        if kind < 0.18:
            return station(vlan, 99, self.random.randrange(1 << 16))
        if kind < 0.35 and self.ever[vlan]:  # silent for any time
            return self.random.choice(list(self.ever[vlan]))
        others = [address for its_vlan, address in self.spoke if its_vlan == vlan]
        return self.random.choice(others or [BROADCAST])

    def speak(self, port, vlan, source):
        to = self.destination(vlan)
        self.spoke.append((vlan, source))
        self.ever[vlan][source] = None
        self.add(port, to + source + self.tags(port, vlan) + self.payload())

    def talk(self):
        """Of a dozen stations a port and VLAN, half of which are others every five seconds."""
        port = self.random.choice(QUIET_PORTS)
        vlan = self.vlan_of(port)
        number = self.random.randrange(12)
        if number >= 6:
            number += 6 * (self.time // (5 * SECOND) % 6)
        self.speak(port, vlan, station(vlan, port, number))

    def crowd(self):
        if self.time % CROWD_EVERY >= CROWD_SECONDS:
            return self.talk()
        port = self.random.choice(CROWDED)
        vlan = self.vlan_of(port)
        number = 1_000 * (self.time // CROWD_EVERY) + self.random.randrange(CROWD)
        return self.speak(port, vlan, station(vlan, port, number))

    def move(self):
        """One of a few stations, which are busy a while, at any port that has its VLAN."""
        vlan = self.random.choice((10, 20))
        if self.time // (SECOND // 2) % 5 > 1:
            return self.talk()
        is_crowd = self.time % CROWD_EVERY < CROWD_SECONDS
        ports = [port for port, (untagged, tagged) in enumerate(self.ports)
                 if (vlan == untagged or vlan in tagged)
                 and (port in QUIET_PORTS or is_crowd)]
        number = self.random.randrange(8) + 8 * (self.time // (7 * SECOND))
        return self.speak(self.random.choice(ports), vlan, station(vlan, 98, number))

    def flood_burst(self):
        """More at once than a port may send to all, of one kind."""
        port = self.random.choice(QUIET_PORTS)
        vlan = self.vlan_of(port)
        source = station(vlan, port, 0)
        for _ in range(self.random.randrange(40)):
            to = self.random.choice((BROADCAST, bytes.fromhex("333300000001"),
                                     station(vlan, 99, self.random.randrange(1 << 16))))
            self.add(port, to + source + self.tags(port, vlan) + self.payload())

    def nonsense(self):
        port = self.random.choice((*QUIET_PORTS, 5))
        source = station(10, port, 0)
        good = BROADCAST + source
        self.add(port, self.random.choice((
            good[:self.random.randrange(1, 13)],
            good + IPV4[:1],
            good + CUSTOMER_TAG + bytes((0, 10, 8))[:self.random.randrange(4)],
            BROADCAST + bytes(6) + self.payload(),
            BROADCAST + b"\x03" + source[1:] + self.payload(),
            BROADCAST * 2 + self.payload(),
            good + CUSTOMER_TAG + self.random.randbytes(2) + self.payload(),
            good + CUSTOMER_TAG + b"\xff\xff" + self.payload(),
            bytes.fromhex("0180c2000001") + source + b"\x88\x08\x00\x01" + bytes(44),  # pause
            bytes.fromhex("0180c200000e") + source + b"\x88\xcc" + bytes(46),  # LLDP
            bytes.fromhex("0180c2000000") + source + b"\x00\x26\x42\x42\x03" + bytes(43),  # STP
            self.random.choice((good, source * 2)) + self.payload(),
            bytes.fromhex("020000000066") + source + self.payload(),  # these two drop
            good[:6] + bytes.fromhex("020000000066") + self.payload(),
            bytes.fromhex("020000000077") + source + self.payload(),  # and this one is static
            good[:6] + bytes.fromhex("020000000077") + self.payload(),
        )))
