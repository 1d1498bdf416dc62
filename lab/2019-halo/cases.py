"""What is classified: rules of so many masks, and captures whose packets need all of them.

Class c of n has the rules `priority=1000-c, dl_src with bit c set under that mask, one of 1,024
nw_dst`. A packet of class c has bits 0 to c-1 of its source clear and bit c set; so Open vSwitch
gives it a megaflow that looks at bits 0 to c, and there are n subtables with as many packets each.
"""
import dataclasses
import random
import struct

DESTINATIONS = 1_024
FRAME_BYTES = 60  # and the frame check sequence
MAC = 0x02 << 40  # whose low bits say the class
PCAP_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1)


@dataclasses.dataclass(frozen=True)
class Case:
    """`must` and `aim` are shares of Open vSwitch's cycles; only of the part `ovs`."""

    classes: int
    flows: int
    must: float
    aim: float
    caches: tuple  # Open vSwitch's, of which the best counts: "off", "emc", "smc"
    own_cache: str  # ours: "off", "on", "auto"
    part: str = "ovs"
    rounds: int = 7

    def said(self):
        cached = {"off": "caches off in both", "on": "exact-match cache on in both",
                  "auto": "against its best of EMC, SMC and neither"}[self.own_cache]
        tables = "1 subtable" if self.classes == 1 else f"{self.classes} subtables"
        return f"{tables}, {self.flows:,} flows, {cached}"


CASES = {
    "1_subtable": Case(1, 24_576, 0.5, 0.4, ("off",), "off"),
    "10_subtables": Case(10, 24_576, 0.35, 0.25, ("off",), "off"),
    "20_subtables": Case(20, 24_576, 0.3, 0.2, ("off",), "off"),
    "cached": Case(10, 1_000, 0.8, 0.6, ("emc",), "on"),
    "many_flows": Case(10, 100_000, 0.4, 0.3, ("emc", "smc", "off"), "auto"),
}
FIG3_NOTE = ("Many flows are 100,000, the least that the paper calls so: net_pcap holds every "
             "packet of a capture, and Open vSwitch has buffers for 262,144.")
# The paper's Figure 3: from few flows of one rule to many of 20.
FEW = "few_flows_1_rule"
FIG3 = {name: Case(classes, flows, 0, 0, ("emc", "off"), "auto", "fig3", 3)
        for name, classes, flows in ((FEW, 1, 1_000), ("small_flows_1_rule", 1, 10_000),
                                     ("many_flows_1_rule", 1, 100_000),
                                     ("many_flows_10_rules", 10, 100_000),
                                     ("many_flows_20_rules", 20, 100_000))}
# What there is beside classification: a flow that the exact-match cache always has.
ONE_FLOW = "one_flow"
TINY = "tiny"  # the smoke run's
ALL_CASES = {**CASES, **FIG3, ONE_FLOW: Case(1, 1, 0, 0, ("emc",), "on", "fig3", 3),
             TINY: Case(3, 2_000, 1, 1, ("off",), "off")}

# The paper's Figure 13: functions, and how many entries their tables have.
FIG13 = {"nat": (1_000, 10_000, 100_000), "assets": (1_000, 10_000, 100_000),
         "filter": (100, 1_000, 10_000)}
NO_TABLE, BY_ONE, BULK, OURS = "no_table", "rte_hash_one", "rte_hash_bulk", "roost"
WAYS = {NO_TABLE: "without a table", BY_ONE: "rte_hash, one key a call",
        BULK: "rte_hash, 32 keys a call", OURS: "ours, 32 keys a call"}


def mean_lookups(case):
    """Subtables looked at until the right one, if they are in no better order."""
    return (case.classes + 1) / 2


def rules(case):
    for number in range(case.classes):
        bit = f"{1 << number:012x}"
        mac = ":".join(bit[at:at + 2] for at in range(0, 12, 2))
        for destination in range(DESTINATIONS):
            yield (f"priority={1_000 - number},ip,dl_src={mac}/{mac},"
                   f"nw_dst=10.1.{destination >> 8}.{destination & 255},actions=output:2")


def frame(number, case, draw):
    """Of flow `number`: a class, a destination, and ports that no other flow has."""
    own = number % case.classes
    source = MAC | draw.getrandbits(30 - own) << (own + 1) | 1 << own
    ip_bytes = FRAME_BYTES - 14
    ip = struct.pack(">BBHHHBBH4sBBBB", 0x45, 0, ip_bytes, 0, 0, 64, 17, 0, bytes((192, 0, 2, 1)),
                     10, 1, *divmod(number // case.classes % DESTINATIONS, 256))
    total = sum(struct.unpack(">10H", ip))
    total = (total & 0xFFFF) + (total >> 16)
    checksum = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    ip = ip[:10] + struct.pack(">H", checksum) + ip[12:]
    udp = struct.pack(">HHHH", 1_024 + number % 60_000, 1_024 + number // 60_000, ip_bytes - 20, 0)
    body = bytes(ip_bytes - 28)
    return bytes.fromhex("020000000002") + source.to_bytes(6, "big") + b"\x08\x00" + ip + udp + body


def write_capture(case, path):
    draw = random.Random(1)
    frames = [frame(number, case, draw) for number in range(case.flows)]
    assert len({one[26:] for one in frames}) == case.flows, "flows are not distinct"
    draw.shuffle(frames)
    with path.open("wb") as file:
        file.write(PCAP_HEADER)
        for one in frames:
            file.write(struct.pack("<IIII", 0, 0, len(one), len(one)) + one)
