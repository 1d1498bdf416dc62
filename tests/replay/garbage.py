"""Captures no balancer should be given: each is refused in words, or run to its end with every
packet accounted for.
"""

import random

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

import pcap
from compare import check_against_model, check_nothing_wrong
from mutate import mutate
from roost_replay import replay
from translate import mac_text

FUZZ_SEEDS = (1, 2, 3)
RAW_IP = 101
CRASHED = 128  # a shell's status for a signal; subprocess gives signals as negative numbers


class Garbage:
    """Each test's name says what `roost lb` is given; `directory` is a place for broken files."""

    def __init__(self, roost, demo, directory):
        self.roost = roost
        self.demo = demo
        self.directory = directory

    def _run(self, client_bytes, config_file=None):
        """The demo with the clients' capture replaced."""
        file = self.directory / "client.pcap"
        file.write_bytes(client_bytes)
        return replay(self.roost, config_file or self.demo.config_file, [file, self.demo.files[1]])

    def _refused(self, client_bytes, *words):
        result = self._run(client_bytes)
        assert 0 < result.status < CRASHED, f"status {result.status}:\n{result.log}"
        assert "EAL:" not in result.log, f"DPDK was started:\n{result.log}"
        for word in words:
            assert word in result.log, f"'{word}' is not in:\n{result.log}"

    def a_link_type_that_is_not_ethernet_is_refused(self):
        frames = [pcap.Record(time, frame[14:]) for time, frame in self.demo.captures[0]]
        self._refused(
            pcap.file_header(RAW_IP) + b"".join(map(pcap.encode, frames)), "client.pcap", "Ethernet"
        )

    def an_empty_file_is_refused(self):
        self._refused(b"", "client.pcap")

    def random_bytes_are_refused(self):
        self._refused(random.Random(4).randbytes(20_000), "client.pcap")

    def a_missing_file_is_refused(self):
        result = replay(
            self.roost, self.demo.config_file, [self.directory / "none.pcap", self.demo.files[1]]
        )
        assert 0 < result.status < CRASHED and "none.pcap" in result.log, result.log

    def a_capture_without_packets_ends_at_once(self):
        result = self._run(pcap.file_header())
        check_nothing_wrong(self.demo.config, [[], self.demo.captures[1]], result)

    def a_file_cut_in_a_packet_is_replayed_up_to_the_cut(self):
        whole = self.demo.files[0].read_bytes()
        kept = self.demo.captures[0][:500]
        at = len(pcap.file_header()) + sum(len(pcap.encode(r)) for r in kept)
        for extra in (3, pcap.RECORD_HEADER.size, pcap.RECORD_HEADER.size + 20):
            result = self._run(whole[: at + extra])
            check_nothing_wrong(self.demo.config, [kept, self.demo.captures[1]], result)
            received = result.report["packets"]["received"]
            assert received == len(kept) + len(self.demo.captures[1]), received
            assert "cut" in result.log, f"the cut is not mentioned:\n{result.log}"

    def a_nanosecond_capture_is_replayed_alike(self):
        data = bytearray(self.demo.files[0].read_bytes())
        data[:4] = pcap.MAGIC_NANOSECONDS.to_bytes(4, "little")
        at = len(pcap.file_header())
        while at < len(data):
            _, microseconds, captured, _ = pcap.RECORD_HEADER.unpack_from(data, at)
            data[at + 4 : at + 8] = (microseconds * 1000).to_bytes(4, "little")
            at += pcap.RECORD_HEADER.size + captured
        result = self._run(bytes(data))
        check_against_model(self.demo.config, self.demo.captures, result)

    def _giants(self, config):
        service = next(s for s in config.services if s.name == "dns")
        macs = {"dst": mac_text(config.ports[0].mac), "src": "02:00:00:00:01:10"}
        begin = self.demo.captures[1][0].time
        return [
            pcap.Record(
                begin + i,
                bytes(
                    Ether(**macs)
                    / IP(src="192.0.2.10", dst="198.51.100.53")
                    / UDP(sport=30_000 + i % 7, dport=service.virtual.port)
                    / Raw(bytes(range(256)) * 36)
                ),
            )
            for i in range(200)
        ]

    def giant_packets_are_too_big_for_an_ordinary_port(self):
        giants = self._giants(self.demo.config)
        result = self._run(pcap.file_header() + b"".join(map(pcap.encode, giants)))
        check_nothing_wrong(self.demo.config, [giants, self.demo.captures[1]], result)
        assert result.report["drops"]["too_big"] == len(giants), result.report["drops"]

    def giant_packets_pass_through_ports_of_that_mtu(self):
        text = self.demo.config_file.read_text()
        config_file = self.directory / "giant.toml"
        config_file.write_text(text.replace("[[port]]", "[[port]]\nmtu = 9_500"))
        giants = self._giants(self.demo.config)
        result = self._run(pcap.file_header() + b"".join(map(pcap.encode, giants)), config_file)
        check_nothing_wrong(self.demo.config, [giants, self.demo.captures[1]], result)
        assert len(result.sent[1]) == len(
            giants
        ), f"{len(result.sent[1])} of {len(giants)} giants were forwarded"

    def mutated_captures_never_make_a_wrong_packet(self):
        for seed in FUZZ_SEEDS:
            captures = [mutate(capture, random.Random(seed)) for capture in self.demo.captures]
            files = [self.directory / f"mutated{port}.pcap" for port in range(len(captures))]
            for file, capture in zip(files, captures):
                pcap.write(file, capture)
            result = replay(self.roost, self.demo.config_file, files)
            check_nothing_wrong(self.demo.config, captures, result)
            drops = {cause: count for cause, count in result.report["drops"].items() if count}
            assert len(drops) >= 8, f"the mutations of seed {seed} reach few causes: {drops}"
            print(f"  seed {seed}: {result.report['packets']} {drops}")
