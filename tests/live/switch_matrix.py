"""Which frame goes to which port: `roost switch` beside the kernel's bridge, without VLANs, and
beside Open vSwitch, with them. Whole matrices are compared; what differs on purpose is listed, with
the reason. Both are written side by side into build/live/switch_matrix.md; docs/switch-matrix.md is
a copy.
"""

import concurrent.futures
import contextlib
import pathlib
import time

from frames import split_tags, tag
from open_vswitch import OpenVswitch
from switch_cases import FIRST_TYPE, UNTAGGED_CASES, VLAN_CASES
from switch_differences import DRIVER_DIFFERENCES, UNTAGGED_DIFFERENCES, VLAN_DIFFERENCES
from switch_scene import STATIONS, Switch, SwitchNetwork, mac_of, ports_text

# The first one gives the switch each frame as it was on the wire.
DRIVERS = "net_pcap", "net_af_packet"
ROOT = pathlib.Path(__file__).resolve().parents[2]
ARTIFACT, DOCUMENT = ROOT / "build/live/switch_matrix.md", ROOT / "docs/switch-matrix.md"
FENCE_TYPE = 0x9FFF
PORTS = range(len(STATIONS))

# Ports in VLANs, in the words of both; the tag that each port's own frames have.
ROOST_PORTS = (
    "untagged = 10",
    "untagged = 20",
    "tagged = [10, 20, 30]",
    "untagged = 10\ntagged = [20]",
    "untagged = 10",
)
OVS_PORTS = (
    ("tag=10",),
    ("tag=20",),
    ("trunks=10,20,30",),
    ("tag=10", "trunks=20", "vlan_mode=native-untagged"),
    ("tag=10",),
)
NO_TAGS = (b"",) * len(PORTS)
OWN_TAGS = (b"", b"", tag(10), b"", b"")
IN_VLAN_10 = {0, 2, 3, 4}
MEMBERS = {0: IN_VLAN_10, 1: {1, 2, 3}, 2: IN_VLAN_10, 3: IN_VLAN_10, 4: IN_VLAN_10}


class Wires:
    """Packet sockets at all stations, and what came out of them, case by case."""

    def __init__(self, network, own_tags, members):
        self.wires = [network.wire(name) for name in STATIONS]
        self.own_tags = own_tags
        self.members = members
        self.outcomes = {}
        self.fences = [0] * len(self.wires)

    def speak(self, port, tags):
        source = bytes.fromhex(mac_of(STATIONS[port]).replace(":", ""))
        frame = b"\xff" * 6 + source + tags + FENCE_TYPE.to_bytes(2, "big") + bytes(46)
        self.wires[port].send(frame)

    def fence(self, port):
        """What was sent by this port before has come out by now, where it belongs."""
        awaited = {p: self.fences[p] + 1 for p in self.members[port] - {port}}
        self.speak(port, self.own_tags[port])
        deadline = time.monotonic() + 5
        while any(self.fences[p] < count for p, count in awaited.items()):
            assert time.monotonic() < deadline, f"a broadcast of port {port} does not come out"
            self.collect(0.002)

    def send(self, number, case):
        self.outcomes[number] = {}
        frame = case.frame(number, mac_of(STATIONS[case.port]))
        self.sent = split_tags(frame)[1]
        self.wires[case.port].send(frame)
        self.fence(case.port)

    def collect(self, seconds=0.0):
        for port, wire in enumerate(self.wires):
            for frame in wire.received():
                self._note(port, frame)
        time.sleep(seconds)

    def _note(self, port, frame):
        tags, bare = split_tags(frame)
        number = int.from_bytes(bare[12:14], "big")
        if number == FENCE_TYPE:
            self.fences[port] += 1
            return
        if number - FIRST_TYPE not in self.outcomes:
            return  # a frame of somebody else
        is_last = number - FIRST_TYPE == max(self.outcomes)
        assert not is_last or bare == self.sent, f"{frame.hex()} for {self.sent.hex()}"
        self.outcomes[number - FIRST_TYPE].setdefault(port, []).append(tags)


def ask(network, cases, own_tags, members, more_tags=()):
    """The matrix: of each case, what comes out at which port, as text."""
    wires = Wires(network, own_tags, members)
    for port in range(len(STATIONS) - (own_tags is NO_TAGS)):
        wires.fence(port)
    for port, tags in more_tags:
        wires.speak(port, tags)
    time.sleep(0.3)
    for number, case in enumerate(cases):
        wires.send(number, case)
    wires.collect(0.3)
    wires.collect()
    return {case.name: cell_of(wires.outcomes[number]) for number, case in enumerate(cases)}


def cell_of(outcome):
    """`1 3: untagged; 2: C10`: ports by the tags of what they send; `nowhere`."""
    by_tags = {}
    for port, tags in sorted(outcome.items()):
        for each in tags:
            by_tags.setdefault(each, []).append(str(port))
    return "; ".join(f"{' '.join(ports)}: {tags}" for tags, ports in by_tags.items()) or "nowhere"


@contextlib.contextmanager
def roost(program, network, directory, config):
    """The driver's name is the folder's."""
    with Switch(program, network, directory, config, workers=1, driver=directory.name) as switch:
        yield
        switch.stop()


@contextlib.contextmanager
def bridge(network):
    network.switch.add_bridge("bridge")
    for port in network.ports:
        network.switch.ip("link", "set", port, "master", "bridge")
    yield


def untagged_matrices(program, directory):
    """By what switched: the peer, and roost by driver."""
    everybody = dict.fromkeys(PORTS, set(PORTS))
    config = ports_text(["untagged = 10"] * len(PORTS))
    matrices = {}
    with SwitchNetwork("bridge") as network, bridge(network):
        matrices["peer"] = ask(network, UNTAGGED_CASES, NO_TAGS, everybody)
    for driver in DRIVERS:
        with SwitchNetwork("plain") as network, roost(program, network, directory / driver, config):
            matrices[driver] = ask(network, UNTAGGED_CASES, NO_TAGS, everybody)
    return matrices


def vlan_matrices(program, directory):
    spoken = [(2, tag(20)), (3, tag(20))]
    config = '[switch]\nbpdu = "drop"\n\n' + ports_text(ROOST_PORTS)
    matrices = {}
    with SwitchNetwork("ovs") as network:
        ports = list(zip(network.ports, OVS_PORTS))
        with OpenVswitch(network.switch, directory / "ovs", ports):
            matrices["peer"] = ask(network, VLAN_CASES, OWN_TAGS, MEMBERS, spoken)
    for driver in DRIVERS:
        with SwitchNetwork("vlans") as network, roost(program, network, directory / driver, config):
            matrices[driver] = ask(network, VLAN_CASES, OWN_TAGS, MEMBERS, spoken)
    return matrices


def differences(names, one, other, wanted):
    """What differs and is not said to, and what is said to differ and does not."""
    faults = []
    for name in names:
        if (one[name] == other[name]) == (name in wanted):
            said = "is said to differ" if name in wanted else "differs"
            faults.append(f"{name!r} {said}: {one[name]!r}, {other[name]!r}")
    return faults


def compare(peer, cases, matrices, wanted):
    """Faults, and the table."""
    names = [case.name for case in cases]
    theirs, ours = matrices["peer"], matrices[DRIVERS[0]]
    faults = [f"{peer}, roost: {each}" for each in differences(names, theirs, ours, wanted)]
    of_driver = {name: why for name, why in DRIVER_DIFFERENCES.items() if name in names}
    for each in differences(names, ours, matrices[DRIVERS[1]], of_driver):
        faults.append(f"by {' and '.join(DRIVERS)}: {each}")
    rows = [f"| frame | by port | roost | {peer} | why they differ |", "|---|---|---|---|---|"]
    for case in cases:
        cells = case.name, case.port, ours[case.name], theirs[case.name], wanted.get(case.name, "")
        rows.append(f"| {' | '.join(map(str, cells))} |")
    rows += ["", f"By {DRIVERS[1]}, roost sends the same, but for:", ""]
    rows += [f"* {name}: {matrices[DRIVERS[1]][name]} ({why})" for name, why in of_driver.items()]
    return faults, "\n".join(rows)


def check_matrix(program, directory):
    for name in ("plain", "vlans"):
        (directory / name).mkdir(parents=True)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        asked = pool.submit(untagged_matrices, program, directory / "plain")
        with_vlans = vlan_matrices(program, directory / "vlans")
        untagged = asked.result()
    plain_faults, plain = compare(
        "the kernel's bridge", UNTAGGED_CASES, untagged, UNTAGGED_DIFFERENCES
    )
    vlan_faults, vlans = compare("Open vSwitch", VLAN_CASES, with_vlans, VLAN_DIFFERENCES)
    ARTIFACT.parent.mkdir(parents=True, exist_ok=True)
    ARTIFACT.write_text(
        "# Which frame goes to which port\n"
        "Made by `tests/live/switch_matrix.py`. A cell: ports, and the tags of what they send.\n"
        f"\n## Without VLANs\n{plain}\n\n## With VLANs\n{vlans}\n"
    )
    faults = plain_faults + vlan_faults
    assert not faults, "\n".join(faults)
    assert ARTIFACT.read_text() == DOCUMENT.read_text(), f"copy {ARTIFACT} to {DOCUMENT}"
    print(
        f"live: roost switch sends {len(UNTAGGED_CASES)} frames where the kernel's bridge does, "
        f"and {len(VLAN_CASES)} where Open vSwitch does, but for "
        f"{len(UNTAGGED_DIFFERENCES)} and {len(VLAN_DIFFERENCES)} on purpose"
    )
