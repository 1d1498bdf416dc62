#!/usr/bin/python3
"""The replay test: captures through `roost lb` by net_pcap ports, compared with a model packet by
packet.

    tests/replay/run.py [--roost build/release/apps/roost] [--short] [TEST ...]

With --short, without the tests whose packets others send too, in captures of hours: sanitizers need
no more of them.
"""

import argparse
import filecmp
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import make_long  # noqa: E402
import pcap  # noqa: E402
from answers import split
from compare import check_against_model  # noqa: E402
from garbage import Garbage  # noqa: E402
from headers import find_headers  # noqa: E402
from lb_config import LbConfig  # noqa: E402
from resolution import Resolution  # noqa: E402
from roost_replay import replay  # noqa: E402

DAY = 86_400 * 1_000_000
LONG = (
    "nine_hours_end_with_the_expected_counts",
    "services_have_their_own_timeouts_datagrams_one_by_one_and_refusals",
    "services_of_several_ports_leave_every_packet_where_it_was",
    "days_between_packets_expire_everything_before",
    "the_long_capture_in_the_repository_is_what_its_script_makes",
)


@dataclass
class Demo:
    """A folder with a configuration and a capture for each of its two ports."""

    folder: pathlib.Path

    def __post_init__(self):
        self.config_file = self.folder / "lb.toml"
        self.config = LbConfig(self.config_file)
        self.files = [self.folder / "client.pcap", self.folder / "backends.pcap"]
        self.captures = [pcap.read(file) for file in self.files]


class Replays:
    def __init__(self, roost, demo, long, directory):
        self.roost = roost
        self.demo = demo
        self.long = long
        self.directory = directory

    def the_demo_is_translated_as_the_model_predicts_and_twice_alike(self):
        first, second = (replay(self.roost, self.demo.config_file, self.demo.files) for _ in (1, 2))
        prediction = check_against_model(self.demo.config, self.demo.captures, first)
        for port in (0, 1):
            assert [r.frame for r in first.sent[port]] == [
                r.frame for r in second.sent[port]
            ], f"port {port} sent something else the second time"
        print(
            f"  {prediction.received} packets, {[len(s) for s in prediction.sent]} sent, "
            f"{prediction.flows}, "
            f"drops {dict(prediction.drops)}"
        )

    def every_connection_of_the_demo_finds_its_live_backend_again(self):
        """What the model demands packet by packet, said once more in one number: no reply is
        homeless.
        """
        result = replay(self.roost, self.demo.config_file, self.demo.files)
        backends = {b for service in self.demo.config.services for b in service.backends}
        replies = sum(is_from(record.frame, backends) for record in self.demo.captures[1])
        forwarded, _ = split(self.demo.config, result.sent)
        translated = len(forwarded[0]) - result.report["echo_replies"]
        assert translated == replies, f"{replies} replies came in, {translated} went out"

    def other_algorithms_keep_their_promises(self):
        """The clients' leg alone: the backends' is of another choice."""
        no_replies = self.directory / "no_replies.pcap"
        pcap.write(no_replies, [])
        for algorithm in ("source", "least_connections"):
            config_file = self.directory / f"{algorithm}.toml"
            toml = self.demo.config_file.read_text()
            config_file.write_text(
                toml.replace("[[service]]\n", f'[[service]]\nalgorithm = "{algorithm}"\n')
            )
            result = replay(self.roost, config_file, [self.demo.files[0], no_replies])
            captures = [self.demo.captures[0], []]
            prediction = check_against_model(LbConfig(config_file), captures, result)
            assert prediction.flows["created"] >= 360, prediction.flows
            print(f"  {algorithm}: {dict(prediction.flows_by_backend)}")

    def nine_hours_end_with_the_expected_counts(self):
        result = replay(self.roost, self.long.config_file, self.long.files)
        check_against_model(self.long.config, self.long.captures, result)
        expected = json.loads((self.long.folder / "expected.json").read_text())
        report = result.report
        packets = report["packets"]
        assert packets["received"] == expected["received"], packets
        assert packets["sent"] - packets["originated"] == expected["sent"], packets
        drops = {cause: count for cause, count in report["drops"].items() if count}
        assert drops == expected["drops"], drops
        for what, count in expected["flows"].items():
            assert report["flows"][what] == count, report["flows"]
        print(f"  {expected['flows']}, drops {expected['drops']}")

    def services_have_their_own_timeouts_datagrams_one_by_one_and_refusals(self):
        """The nine hours once more. One service makes no connections, another one's live longer, so
        that a question asked again belongs to the one before; closed ports are refused.
        """
        text = self.long.config_file.read_text() + "\n[lb]\nrefuse = true\n"
        for name, key in (("dns", "one_packet = true"), ("dns6", "timeouts = {udp = 100}")):
            line = f'name = "{name}"\n'
            assert text.count(line) == 1
            text = text.replace(line, f"{line}{key}\n")
        config_file = self.directory / "services.toml"
        config_file.write_text(text)
        result = replay(self.roost, config_file, self.long.files)
        prediction = check_against_model(LbConfig(config_file), self.long.captures, result)
        flows = {s["name"]: s["backends"][0]["flows"] for s in result.report["services"]}
        before = replay(self.roost, self.long.config_file, self.long.files).report
        flows_before = {s["name"]: s["backends"][0]["flows"] for s in before["services"]}
        assert flows["dns"] == 0 and 0 < flows["dns6"] < flows_before["dns6"], flows
        refused = result.report["icmp_errors_sent"]["unreachable"]
        assert refused == prediction.drops["no_service"] > 0, refused
        print(f"  {prediction.flows}, {refused} refused")

    def services_of_several_ports_leave_every_packet_where_it_was(self):
        """The nine hours once more: each service has many ports, its own among them, and so has
        each backend. What was for a closed port beside one is served.
        """

        def many(match):
            return f'port = "{int(match[1]) - 5}-{int(match[1]) + 40}"'

        def first_of_many(match):
            return f"port = {int(match[1]) - 5}}}"

        text = self.long.config_file.read_text()
        text = re.sub(r"^port = (\d+)$", many, text, flags=re.MULTILINE)
        text, backends = re.subn(r"port = (\d+)}", first_of_many, text)
        assert backends > 4
        config_file = self.directory / "ranged.toml"
        config_file.write_text(text)
        result = replay(self.roost, config_file, self.long.files)
        prediction = check_against_model(LbConfig(config_file), self.long.captures, result)
        expected = json.loads((self.long.folder / "expected.json").read_text())
        served = expected["drops"]["no_service"] - result.report["drops"]["no_service"]
        assert served > 0, result.report["drops"]
        assert prediction.flows["created"] > expected["flows"]["created"], prediction.flows
        print(f"  {prediction.flows}, {served} packets served that found no service")

    def days_between_packets_expire_everything_before(self):
        """The demo twice, five days apart: longer than 16 bits of ticks reach."""
        captures = [
            [
                pcap.Record(time + 5 * day * DAY, frame)
                for day in range(2)
                for time, frame in capture
            ]
            for capture in self.demo.captures
        ]
        files = [self.directory / f"days{port}.pcap" for port in (0, 1)]
        for file, capture in zip(files, captures):
            pcap.write(file, capture)
        result = replay(self.roost, self.demo.config_file, files)
        prediction = check_against_model(self.demo.config, captures, result)
        assert prediction.flows["expired"] >= 200, prediction.flows
        print(f"  {prediction.flows}")

    def the_long_capture_in_the_repository_is_what_its_script_makes(self):
        make_long.make(self.directory)
        for name in ("client.pcap", "backends.pcap", "expected.json"):
            assert filecmp.cmp(self.directory / name, self.long.folder / name, shallow=False), name

    def an_ordinary_user_can_replay(self):
        """From a folder that everybody may read, for the tree need not be one."""
        with tempfile.TemporaryDirectory(prefix="roost-user-") as name:
            folder = pathlib.Path(name)
            shutil.copytree(self.demo.folder, folder, dirs_exist_ok=True)
            shutil.copy(self.roost, folder / "roost")
            folder.chmod(0o755)
            demo = Demo(folder)
            nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            prefix = nobody if os.getuid() == 0 else []
            result = replay(folder / "roost", demo.config_file, demo.files, prefix)
        check_against_model(demo.config, demo.captures, result)

    def a_suggested_configuration_balances_the_capture_it_is_made_of(self):
        """One capture, no configuration: what `./dev run my.pcap` does."""
        suggest = [self.roost, "lb", "--suggest", self.demo.files[0]]
        config_file = self.directory / "suggested.toml"
        config_file.write_bytes(subprocess.run(suggest, check=True, capture_output=True).stdout)
        result = replay(self.roost, config_file, self.demo.files[:1])
        prediction = check_against_model(LbConfig(config_file), self.demo.captures[:1], result)
        assert prediction.flows["created"] >= 360, prediction.flows
        print(f"  {prediction.flows}, drops {dict(prediction.drops)}")


def is_from(frame, backends):
    headers = find_headers(frame)
    return headers is not None and headers.source in backends


def tests_of(suite):
    return {name: getattr(suite, name) for name in vars(type(suite)) if not name.startswith("_")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--roost", type=pathlib.Path, default=ROOT / "build/release/apps/roost")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("tests", nargs="*")
    options = parser.parse_args()
    roost = options.roost.resolve()
    demo, long = Demo(ROOT / "demo/lb"), Demo(ROOT / "demo/lb/long")
    failed = 0
    with tempfile.TemporaryDirectory(prefix="roost-replays-") as name:
        directory = pathlib.Path(name)
        tests = tests_of(Replays(roost, demo, long, directory)) | tests_of(
            Garbage(roost, demo, directory)
        ) | tests_of(Resolution(roost, directory))
        chosen = [name for name in tests if not (options.short and name in LONG)]
        for test in options.tests or chosen:
            begin = time.monotonic()
            try:
                tests[test]()
                verdict = "passed"
            except Exception as error:  # a program that hangs or reports nonsense fails its test
                verdict = "FAILED"
                failed += 1
                print(f"{type(error).__name__}: {error}")
            print(f"{verdict} {time.monotonic() - begin:5.1f} s  {test}", flush=True)
    sys.exit(f"replay: {failed} failed" if failed else 0)


if __name__ == "__main__":
    main()
