"""The frames of the switch's matrices: what is sent, by which port, and to whom.

A case has an EtherType of its own, by which it is found again wherever it comes out; frames are
what a packet socket writes, tags and all.
"""

from dataclasses import dataclass

from frames import mac_bytes, tag

FIRST_TYPE = 0xA000  # EtherTypes that nobody has
BROADCAST = "ff:ff:ff:ff:ff:ff"
UNKNOWN = "02:00:00:00:09:09"
SECOND = "02:00:00:00:02:10"  # another station at port 0
TWICE = "02:00:00:00:03:10"  # one MAC in two VLANs, at two ports
WANDERER = "02:00:00:00:04:10"  # moves from port 3 to port 1
SHY = "02:00:00:00:05:10"  # sends link-local frames only


@dataclass(frozen=True)
class Case:
    name: str
    port: int
    to: str
    source: str = ""  # else the port's own
    tags: bytes = b""
    length: int = 60

    def frame(self, number, own_mac):
        ends = mac_bytes(self.to) + mac_bytes(self.source or own_mac)
        body = ends + self.tags + (FIRST_TYPE + number).to_bytes(2, "big")
        return body + bytes(max(0, self.length - len(body)))


def stations(number):
    return f"02:00:00:00:01:{0x10 + number:02x}"


GROUPS = {
    "BPDU": "01:80:c2:00:00:00",
    "pause": "01:80:c2:00:00:01",
    **{f"reserved 0{x:x}": f"01:80:c2:00:00:0{x:x}" for x in range(2, 14)},
    "LLDP": "01:80:c2:00:00:0e",
    "reserved 0f": "01:80:c2:00:00:0f",
    "all LANs' bridge management, 10": "01:80:c2:00:00:10",
    "MMRP, 20": "01:80:c2:00:00:20",
    "MVRP, 21": "01:80:c2:00:00:21",
    "IPv4 multicast": "01:00:5e:00:00:05",
    "IPv6 multicast": "33:33:00:00:00:01",
    "CDP": "01:00:0c:cc:cc:cc",
    "PVST+": "01:00:0c:cc:cc:cd",
}

# Stations at ports 0, 1, 2 and 3 have spoken; the one at port 4 has not.
UNTAGGED_CASES = [
    Case("a second station speaks", 0, BROADCAST, SECOND),
    Case("known unicast", 0, stations(1)),
    Case("known unicast back", 1, stations(0)),
    Case("known unicast, large", 0, stations(1), length=1514),
    Case("unknown unicast", 0, UNKNOWN),
    Case("unicast to a silent station", 0, stations(4)),
    Case("broadcast", 0, BROADCAST),
    Case("broadcast of another port", 3, BROADCAST),
    *(Case(f"group: {name}", 0, group) for name, group in GROUPS.items()),
    Case("to a station at the same port", 0, SECOND),
    Case("to itself", 0, stations(0)),
    Case("runt, 14 bytes, known", 0, stations(1), length=14),
    Case("runt, 14 bytes, broadcast", 0, BROADCAST, length=14),
    Case("runt, 15 bytes", 0, stations(1), length=15),
    Case("runt, 59 bytes", 0, stations(1), length=59),
    Case("group source", 0, stations(1), "03:00:00:00:00:01"),
    Case("multicast source, to all", 0, BROADCAST, "01:00:5e:00:00:05"),
    Case("broadcast source", 0, stations(1), BROADCAST),
    Case("zero source", 0, stations(1), "00:00:00:00:00:00"),
    Case("zero source, to all", 0, BROADCAST, "00:00:00:00:00:00"),
    Case("zero destination", 0, "00:00:00:00:00:00"),
    Case("a station speaks at port 3", 3, BROADCAST, WANDERER),
    Case("unicast to it", 0, WANDERER),
    Case("it speaks at port 1", 1, stations(0), WANDERER),
    Case("unicast to it where it is now", 0, WANDERER),
    Case("unicast to it from there", 1, WANDERER),
    Case("LLDP of a shy station", 2, GROUPS["LLDP"], SHY),
    Case("unicast to the shy station", 0, SHY),
    Case("priority tag", 0, stations(1), tags=tag(0, 5)),
    Case("C-tag", 0, stations(1), tags=tag(20)),
    Case("C-tag of the port's own VLAN", 0, stations(1), tags=tag(10, 3)),
    Case("S-tag", 0, stations(1), tags=tag(20, 3, 0x88A8)),
    Case("S-tag and C-tag", 0, stations(1), tags=tag(20, 0, 0x88A8) + tag(30)),
]

# Ports: 0 access of VLAN 10, 1 access of 20, 2 trunk of 10, 20 and 30, 3 native 10 and 20 with
# tags, 4 access of 10. Each station has spoken in its port's VLANs, the trunk's in 10 and 20.
VLAN_CASES = [
    Case("access to access", 0, stations(4)),
    Case("access to native", 0, stations(3)),
    Case("access to trunk", 0, stations(2)),
    Case("access 20 to trunk", 1, stations(2)),
    Case("access 20 to native", 1, stations(3)),
    Case("access 10 to access 20", 0, stations(1)),
    Case("unknown unicast in 10", 0, UNKNOWN),
    Case("unknown unicast in 20", 1, UNKNOWN),
    Case("broadcast in 10", 0, BROADCAST),
    Case("broadcast in 20", 1, BROADCAST),
    Case("multicast in 20", 1, GROUPS["IPv4 multicast"]),
    *(Case(f"group: {name}", 0, group) for name, group in GROUPS.items()),
    Case("trunk, 10, to access", 2, stations(0), tags=tag(10)),
    Case("trunk, 10 with priority, to access", 2, stations(0), tags=tag(10, 6)),
    Case("trunk, 20, to access", 2, stations(1), tags=tag(20)),
    Case("trunk, 20 with priority, to native", 2, stations(3), tags=tag(20, 6)),
    Case("trunk, 10, to native", 2, stations(3), tags=tag(10)),
    Case("trunk, 10, to a station of 20", 2, stations(1), tags=tag(10)),
    Case("trunk, broadcast in 10", 2, BROADCAST, tags=tag(10)),
    Case("trunk, broadcast in 20", 2, BROADCAST, tags=tag(20)),
    Case("trunk, VLAN of no other port", 2, BROADCAST, tags=tag(30)),
    Case("trunk, VLAN that it has not", 2, BROADCAST, tags=tag(40)),
    Case("trunk, VLAN 4,095", 2, BROADCAST, tags=tag(4095)),
    Case("trunk, untagged", 2, BROADCAST),
    Case("trunk, priority tag", 2, BROADCAST, tags=tag(0, 5)),
    Case("trunk, 20 and another C-tag", 2, stations(1), tags=tag(20) + tag(30)),
    Case("trunk, DEI", 2, stations(3), tags=tag(0x1000 | 20)),
    Case("native, untagged", 3, stations(0)),
    Case("native, broadcast", 3, BROADCAST),
    Case("native, 20", 3, stations(1), tags=tag(20)),
    Case("native, 20, to trunk", 3, stations(2), tags=tag(20, 2)),
    Case("native, tag of its native VLAN", 3, stations(0), tags=tag(10)),
    Case("native, VLAN that it has not", 3, BROADCAST, tags=tag(30)),
    Case("native, priority tag", 3, stations(0), tags=tag(0, 5)),
    Case("native, priority tag, to trunk", 3, stations(2), tags=tag(0, 5)),
    Case("access, priority tag", 0, stations(4), tags=tag(0, 5)),
    Case("access, priority tag, to trunk", 0, stations(2), tags=tag(0, 5)),
    Case("access, tag of its VLAN", 0, stations(4), tags=tag(10)),
    Case("access, tag of another VLAN", 0, BROADCAST, tags=tag(20)),
    Case("one MAC speaks in 10", 4, BROADCAST, TWICE),
    Case("one MAC speaks in 20", 3, BROADCAST, TWICE, tags=tag(20)),
    Case("unicast to it in 10", 2, TWICE, tags=tag(10)),
    Case("unicast to it in 20", 2, TWICE, tags=tag(20)),
    Case("unicast to it from access 10", 0, TWICE),
    Case("unicast to it from access 20", 1, TWICE),
    Case("S-tag at an access port", 0, stations(4), tags=tag(20, 0, 0x88A8)),
    Case("S-tag of the access port's VLAN", 0, stations(4), tags=tag(10, 0, 0x88A8)),
    Case("S-tag at the trunk", 2, stations(1), tags=tag(20, 0, 0x88A8)),
    Case("S-tag at the native port", 3, stations(0), tags=tag(20, 0, 0x88A8)),
    Case("runt with a tag, 18 bytes", 2, stations(0), tags=tag(10), length=18),
    Case("group source", 0, stations(4), "03:00:00:00:00:01"),
    Case("zero source", 0, stations(4), "00:00:00:00:00:00"),
]
