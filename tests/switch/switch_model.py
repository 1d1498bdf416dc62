"""What a switch does, by its manual and decision 0023: which frames each port sends, in their
order, what is dropped and why. It shares nothing with the code.

Time is that of the captures. What the design leaves open, when an unknown entry is reclaimed, a
capture must not ask for: see `Database.has_room`.
"""

import collections
import tomllib
from typing import NamedTuple

BATCH = 32
ETHERNET, TAG, CUSTOMER_TAG = 14, 4, 0x8100
MTU = 1500  # of a port that says nothing of it
BROADCAST = b"\xff" * 6
RESERVED = bytes.fromhex("0180c20000")
UNKNOWN, GONE = 16, 19  # sixteenths of the ageing time
LIMITS = {"broadcast": "broadcast_max", "multicast": "multicast_max",
          "unknown_unicast": "unknown_unicast_max"}


class Config:
    """Of a file; only what the model needs of it."""

    def __init__(self, text):
        file = tomllib.loads(text)
        switch = file.get("switch", {})
        self.tick_us = round(file.get("tick_seconds", 1) * 1_000_000)
        self.ageing_us = switch.get("ageing_seconds", 300) * 1_000_000
        self.moves_max = switch.get("moves_max", 5)
        self.moves_seconds = switch.get("moves_seconds", 10)
        self.hold_seconds = switch.get("hold_seconds", 60)
        self.drops_bpdus = switch.get("bpdu") == "drop"
        self.ports = file["port"]
        self.mirror = file.get("mirror")
        self.stations = file.get("station", [])
        for number, port in enumerate(self.ports):
            is_mirror = self.mirror is not None and self.mirror["to"] == number
            if "untagged" not in port and "tagged" not in port and not is_mirror:
                port["untagged"] = 1

    def ports_of(self, vlan):
        return [number for number, port in enumerate(self.ports)
                if vlan == port.get("untagged") or vlan in port.get("tagged", [])]


class Entry(NamedTuple):
    port: int  # None: its frames are dropped
    is_static: bool
    seen: int = 0  # the sixteenth


class Moves:
    """Which addresses may move, in whole seconds."""

    def __init__(self, config):
        self.config = config
        self.moved = {}  # moves, whether it is held, and the last second of that

    def may_move(self, key, second):
        moves, is_held, last = self.moved.get(key, (0, False, -1))
        if second > last:
            self.moved[key] = (1, False, second + self.config.moves_seconds)
            return True
        if is_held:
            return False
        if moves < self.config.moves_max:
            self.moved[key] = (moves + 1, False, last)
            return True
        self.moved[key] = (moves, True, second + self.config.hold_seconds)
        return False


class Database:
    def __init__(self, config):
        self.config = config
        self.entries = {}
        self.at_port = collections.defaultdict(set)  # keys learned there
        self.moves = Moves(config)
        for station in config.stations:
            key = station["vlan"], bytes.fromhex(station["mac"].replace(":", ""))
            self.entries[key] = Entry(station.get("port"), True)

    def find(self, key, sixteenth):
        """None also of an entry that is there still, but too old."""
        entry = self.entries.get(key)
        if entry and not entry.is_static and sixteenth - entry.seen >= UNKNOWN:
            return None
        return entry

    def has_room(self, key, port, sixteenth):
        most = self.config.ports[port].get("learn_max")
        if most is None:
            return True
        others = [self.entries[k] for k in self.at_port[port] if k != key]
        sure = sum(sixteenth - entry.seen < UNKNOWN for entry in others)
        perhaps = sum(UNKNOWN <= sixteenth - entry.seen < GONE for entry in others)
        assert sure >= most or sure + perhaps < most, "it depends on when entries are reclaimed"
        return sure < most

    def learn(self, key, port, sixteenth, second):
        """What became of it, as the report calls it; nothing if it is known there or static."""
        before = self.entries.get(key)
        known = self.find(key, sixteenth)
        if known and (known.is_static or known.port == port):
            self.see(key, sixteenth)
            return None
        if not self.has_room(key, port, sixteenth):
            return "refused"
        if known and not self.moves.may_move(key, second):
            return "held"
        if before:
            self.at_port[before.port].discard(key)
        self.at_port[port].add(key)
        self.entries[key] = Entry(port, False, sixteenth)
        return "moved" if known else "learned"

    def see(self, key, sixteenth):
        if not self.entries[key].is_static:
            self.entries[key] = self.entries[key]._replace(seen=sixteenth)

    def learned_between(self, first, last, sixteenth):
        """How many learned entries were seen so many sixteenths ago."""
        return sum(first <= sixteenth - entry.seen < last
                   for entry in self.entries.values() if not entry.is_static)


class Frame(NamedTuple):
    time: int
    port: int
    data: bytes


class Told(NamedTuple):
    """A frame that is to be forwarded."""

    frame: Frame
    vlan: int
    control: int  # of its tag, None without one

    def source(self):
        return self.vlan, self.frame.data[6:12]

    def destination(self):
        return self.vlan, self.frame.data[:6]


class Model:
    def __init__(self, text):
        self.config = Config(text)
        self.database = Database(self.config)
        self.sent = [[] for _ in self.config.ports]
        self.drops = collections.Counter()
        self.frames = collections.Counter()
        self.stations = collections.Counter()
        self.flooded = collections.Counter()  # by port, kind and second
        self.sixteenth = 0

    def run(self, captures):
        """A capture a port, each in the order of its times."""
        merged = sorted((Frame(record.time, port, record.frame)
                         for port, records in enumerate(captures) for record in records),
                        key=lambda frame: frame[:2])
        batch = []
        for frame in merged:
            tick = frame.time // self.config.tick_us
            if batch and (len(batch) == BATCH or batch[0].time // self.config.tick_us != tick):
                self.decide_batch(batch)
                batch = []
            batch.append(frame)
        if batch:
            self.decide_batch(batch)

    def decide_batch(self, batch):
        now_us = batch[0].time // self.config.tick_us * self.config.tick_us
        second = now_us // 1_000_000
        self.sixteenth = now_us * 16 // self.config.ageing_us
        told = [one for one in map(self.read, batch) if one]
        find = self.database.find
        known = [(find(one.source(), self.sixteenth), find(one.destination(), self.sixteenth))
                 for one in told]
        refused = self.learn(told, [source for source, _ in known], second)
        for number, (one, (source, destination)) in enumerate(zip(told, known)):
            if number in refused and self.port_of(one).get("learn_full") == "drop":
                self.drops["not_learned"] += 1
            else:
                self.decide(one, source, destination, second)

    def learn(self, told, sources, second):
        """By what was known before the batch, then in the frames' order; which were refused."""
        news = []
        for number, (one, known) in enumerate(zip(told, sources)):
            if known and (known.is_static or known.port == one.frame.port):
                self.database.see(one.source(), self.sixteenth)
            else:
                news.append(number)
        refused = set()
        for number in news:
            one = told[number]
            outcome = self.database.learn(one.source(), one.frame.port, self.sixteenth, second)
            if outcome:
                self.stations[outcome] += 1
            if outcome == "refused":
                refused.add(number)
        return refused

    def port_of(self, one):
        return self.config.ports[one.frame.port]

    def read(self, frame):
        """None if it is dropped for what it is."""
        cause, vlan, control = self.cause_or_vlan(frame)
        if cause:
            self.drops[cause] += 1
            return None
        return Told(frame, vlan, control)

    def cause_or_vlan(self, frame):
        data = frame.data
        if len(data) < ETHERNET:
            return "truncated", None, None
        if data[6] & 1 or not any(data[6:12]):
            return "bad_source", None, None
        if data[:5] == RESERVED and data[5] < 16:
            if data[5] != 0:
                return "link_local", None, None
            if self.config.drops_bpdus:
                return "bpdu", None, None
        control = None
        vlan = 0
        if int.from_bytes(data[12:14], "big") == CUSTOMER_TAG:
            if len(data) < ETHERNET + TAG:
                return "truncated", None, None
            control = int.from_bytes(data[14:16], "big")
            vlan = control & 0xFFF
        vlan = vlan or self.config.ports[frame.port].get("untagged", 0)
        if frame.port not in self.config.ports_of(vlan):
            return "wrong_vlan", None, None
        return None, vlan, control

    def decide(self, one, source, destination, second):
        if source and source.port is None or destination and destination.port is None:
            self.drops["static_drop"] += 1
        elif not destination:
            self.flood(one, second)
        elif destination.port == one.frame.port:
            self.drops["same_port"] += 1
        else:
            self.send(one, [destination.port], "known_unicast")

    def flood(self, one, second):
        address = one.frame.data[:6]
        kind = "unknown_unicast"
        if address[0] & 1:
            kind = "broadcast" if address == BROADCAST else "multicast"
        ports = [port for port in self.config.ports_of(one.vlan) if port != one.frame.port]
        if not ports:
            self.drops["no_other_port"] += 1
            return
        most = self.port_of(one).get(LIMITS[kind])
        word = (one.frame.port, kind, second)
        if most is not None and self.flooded[word] >= most:
            self.drops[f"{kind}_storm"] += 1
            return
        self.flooded[word] += 1
        self.send(one, ports, kind)

    def fits(self, one, port):
        header = ETHERNET + (TAG if one.control is not None else 0)
        return len(one.frame.data) - header <= self.config.ports[port].get("mtu", MTU)

    def send(self, one, ports, kind):
        ports = [port for port in ports if self.fits(one, port)]
        if not ports:
            self.drops["too_big"] += 1
            return
        self.frames[kind] += 1
        for port in ports:
            self.sent[port].append(self.as_sent(one, port))
        mirror = self.config.mirror
        if not mirror or mirror["to"] in [*ports, one.frame.port]:
            return
        if not self.fits(one, mirror["to"]):
            return
        if (one.vlan in mirror.get("vlans", [])
                or not {*ports, one.frame.port}.isdisjoint(mirror.get("ports", []))):
            self.frames["mirrored"] += 1
            self.sent[mirror["to"]].append(one.frame.data)

    def as_sent(self, one, port):
        data = one.frame.data
        if one.control is not None:
            if self.config.ports[port].get("untagged") != one.vlan and one.control & 0xFFF:
                return data
            data = data[:12] + data[16:]
        if self.config.ports[port].get("untagged") == one.vlan:
            return data
        control = (one.control or 0) & 0xF000 | one.vlan
        return data[:12] + CUSTOMER_TAG.to_bytes(2, "big") + control.to_bytes(2, "big") + data[12:]
