"""The same packets through the same rules in Open vSwitch's userspace datapath and in
`roost classify`: what left, what each rule won, and what was cached.
"""

import collections
import json
import pathlib
import re
import socket
import sys
import time
import types
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent / name) for name in ("replay", "live", "trace")]

import pcap  # noqa: E402
from fields import PORTS  # noqa: E402
from open_vswitch import OpenVswitch  # noqa: E402
from packets import number_of  # noqa: E402
from watched_replay import command_of, run, run_directory  # noqa: E402

QUEUE = 64  # packets that wait at a port of Open vSwitch, which holds 100 and drops others
FLOW_LIMIT = 200_000  # megaflows
SETTINGS = (
    # Cached answers stay until the end, to be counted.
    "other_config:max-idle=3600000",
    # A second tag is parsed, as here.
    "other_config:vlan-limit=2",
)


@dataclass
class Outcome:
    """Of all packets."""

    copies: dict  # by packet number: (port, frame) of each that left, sorted
    rule_packets: dict  # by rule number
    failed: int  # upcalls, by the switch's counter: packets that are lost, or not kept in mind
    megaflows: int
    masks: int  # different ones of megaflows
    drops: dict  # by cause, of who says them


def copies_of(captures):
    """By packet number, from a capture a port."""
    copies = collections.defaultdict(list)
    for port, path in enumerate(captures, 1):
        for record in pcap.read(path) if path.exists() and path.stat().st_size else []:
            copies[number_of(record.frame)].append((port, record.frame))
    return {number: sorted(left) for number, left in copies.items()}


class OvsSocket:
    """Commands to a running switch without a process for each."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(60)
        self.socket.connect(str(path))

    def ask(self, method, *words):
        self.socket.sendall(json.dumps({"id": 0, "method": method, "params": words}).encode())
        text = b""
        while True:
            got = self.socket.recv(1 << 20)
            assert got, f"{method}: the switch has ended"
            text += got
            if not got.endswith(b"}"):
                continue
            try:
                reply = json.loads(text)
            except ValueError:
                continue
            assert reply["error"] is None, f"{method}: {reply['error']}"
            return reply["result"]


class Ovs:
    """Open vSwitch with ports in memory, `dummy`: what is put in at one is received by the
    datapath, what leaves is written to a capture. It needs no interface, and no right to make one.
    """

    def __init__(self, directory):
        self.captures = [directory / f"ovs{port}.pcap" for port in range(1, PORTS + 1)]
        ports = [
            (f"p{port}", ["--", "set", "Interface", f"p{port}", "type=dummy",
                          f"ofport_request={port}", f"options:tx_pcap={capture}"])
            for port, capture in enumerate(self.captures, 1)
        ]
        # Whatever ends this process ends the daemons.
        here = types.SimpleNamespace(prefix=["setpriv", "--pdeathsig", "TERM"])
        self.switch = OpenVswitch(here, directory / "ovs", ports, settings=SETTINGS,
                                  datapath="dummy", options=("--enable-dummy",))

    def run(self, rule_set, packets):
        with self.switch as switch:
            switch.replace_flows(rule_set.text.splitlines())
            # Fragments have the ports that they carry, and rules can tell them apart.
            switch.ask_flows("set-frags", "nx-match")
            talk = OvsSocket(switch.control_socket)
            self._put_in(talk, packets)
            lookups = re.search(r"lookups: hit:(\d+) missed:(\d+) lost:(\d+)",
                                talk.ask("dpctl/show"))
            flows = talk.ask("dpctl/dump-flows", "-m")
            # Rules count what cached answers have told them.
            talk.ask("revalidator/purge")
            told = switch.ask_flows("dump-flows")
        assert sum(map(int, lookups.groups())) == len(packets), lookups.group()
        return Outcome(copies_of(self.captures), rule_packets(told), int(lookups[3]),
                       flows.count("recirc_id"), masks_in(flows), {})

    def _put_in(self, talk, packets):
        waiting = [[] for _ in range(PORTS)]
        for packet in packets:
            waiting[packet.in_port - 1].append(packet.frame.hex())
        given = 0
        while any(waiting):
            for port, frames in enumerate(waiting, 1):
                if frames:
                    talk.ask("netdev-dummy/receive", f"p{port}", *frames[:QUEUE])
                    given += len(frames[:QUEUE])
                    del frames[:QUEUE]
            # A busy machine lets it keep fewer; what is not kept counts as a failed upcall.
            talk.ask("upcall/set-flow-limit", str(FLOW_LIMIT))
            self._wait_until_received(talk, given)

    @staticmethod
    def _wait_until_received(talk, count):
        deadline = time.monotonic() + 60
        while True:
            told = talk.ask("dpif-netdev/pmd-stats-show")
            received = sum(map(int, re.findall(r"packets received: (\d+)", told)))
            if received >= count:
                assert received == count, f"{received} packets received, {count} given"
                return
            assert time.monotonic() < deadline, f"{received} of {count} packets received: {told}"
            time.sleep(0.005)


def run_roost(roost, rule_set, packets, directory):
    (directory / "flows.txt").write_text(rule_set.text)
    config = directory / "classify.toml"
    config.write_text('[classify]\nflows = "flows.txt"\n' + "[[port]]\n" * PORTS)
    devices, captures = [], []
    for port in range(1, PORTS + 1):
        given, left = directory / f"in{port}.pcap", directory / f"roost{port}.pcap"
        # All at one time: nothing that is cached gets old.
        pcap.write(given, [pcap.Record(0, packet.frame) for packet in packets
                           if packet.in_port == port])
        devices.append(f"rx_pcap={given},tx_pcap={left}")
        captures.append(left)
    said = run(*command_of(roost, "classify", config, devices),
               environment=run_directory(directory))
    report = json.loads(said.stdout)
    assert report["broken"] == [], report["broken"]
    numbers = {(rule.table, rule.priority): rule.number for rule in rule_set.rules}
    won = {numbers[flow["table"], flow["priority"]]: flow["packets"] for flow in report["flows"]}
    tables = report["tables"]
    return Outcome(copies_of(captures), won, 0, tables["megaflows"], tables["megaflow_masks"],
                   report["drops"])


def rule_packets(dumped):
    """Packets by rule number, which is its cookie, of `dump-flows`."""
    return {int(cookie, 16): int(count)
            for cookie, count in re.findall(r"cookie=(0x[0-9a-f]+),.*n_packets=(\d+)", dumped)}


def masks_in(dumped):
    """How many different masks megaflows have, of `dump-flows -m`."""
    return len({mask_of(flow) for flow in dumped.splitlines() if "recirc_id" in flow})


def mask_of(megaflow):
    """What a megaflow looks at: the text of it without the values."""
    match = re.sub(r"ufid:\S+ ", "", megaflow.split(", packets:")[0])
    # With -m every value has its mask behind '/'; what has none is exact. Of flags by name, those
    # that are looked at stand there with a sign.
    match = re.sub(r"(?<=[(])[+-][-+a-z]+", lambda flags: re.sub("[+-]", "|", flags[0]), match)
    return re.sub(r"(?<=[=(])[^=,()/|]+(/?)", r"\1", match)
