#!/usr/bin/python3
"""The command line of `roost lb`: what it prints where, and its exit statuses.

    tests/lb/command_line_test.py ROOST
"""

import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEMO = ROOT / "demo/lb/lb.toml"
CAPTURE = ROOT / "demo/lb/long/client.pcap"
EAL = ["--", "--no-huge", "--no-pci", "--no-telemetry", "-m", "64"]
OK, USAGE, BAD_CONFIG, CANNOT_START = 0, 2, 3, 4


def run(roost, arguments, directory):
    environment = dict(os.environ, RUNTIME_DIRECTORY=directory, XDG_RUNTIME_DIR=directory)
    processor = min(os.sched_getaffinity(0))
    if "--" in arguments:
        arguments = [*arguments, "--lcores", f"0@{processor}"]
    return subprocess.run(
        [roost, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
        check=False,
    )


def cases(directory):
    """(arguments, status, words on standard output, words on standard error)"""
    bad = pathlib.Path(directory, "bad.toml")
    text = DEMO.read_text().replace("port = 80\n", "port = 0\n")
    bad.write_text(text.replace("udp = 60", "udb = 60"))
    suggested = pathlib.Path(directory, "suggested.toml")
    replay = f"--vdev=net_pcap0,rx_pcap={CAPTURE},tx_pcap={directory}/out.pcap"
    missing = f"--vdev=net_pcap0,rx_pcap={directory}/none.pcap,tx_pcap={directory}/out.pcap"
    return [
        (["--help"], OK, ["roost lb -c FILE"], []),
        (["lb", "--help"], OK, ["--check", "--suggest", "Exit status:"], []),
        ([], USAGE, [], ["subcommand"]),
        (["lb"], USAGE, [], ["-c FILE"]),
        (["lb", "--colour"], USAGE, [], ["--colour"]),
        (["lb", "--suggest", CAPTURE, "--check"], USAGE, [], ["excludes"]),
        (["lb", "-c", DEMO, "--check"], OK, ["is right", "4 services"], []),
        (["lb", "-c", directory + "/none.toml"], BAD_CONFIG, [], ["none.toml: it cannot be read"]),
        # Every fault, and nothing half-applied: no port was tried.
        (["lb", "-c", bad, *EAL], BAD_CONFIG, [], [f"{bad}:", "0 is out of range", '"udb"']),
        (["lb", "--suggest", CAPTURE], OK, ["[[service]]", "invented"], []),
        (["lb", "--suggest", DEMO], CANNOT_START, [], ["not a capture"]),
        (["lb", "-c", DEMO, *EAL, missing], CANNOT_START, [], ["none.pcap"]),
        (["lb", "-c", DEMO, "--capture-filter", "tcp"], USAGE, [], ["--capture"]),
        (["lb", "-c", DEMO, "--trace", "tcp", "--capture", "a"], USAGE, [], ["excludes"]),
        (["lb", "-c", DEMO, "--trace", "tpc"], USAGE, [], ['the filter "tpc"', "pcap-filter(7)"]),
        (["lb", "-c", DEMO, *EAL, replay], CANNOT_START, [], ["DPDK has 1 ports"]),
        (["lb", "-c", suggested, "--json", *EAL, replay], OK, ['"broken": []', '"no_service"'], []),
    ]


def main():
    roost = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="roost-command-line-") as directory:
        suggestion = run(roost, ["lb", "--suggest", CAPTURE], directory)
        pathlib.Path(directory, "suggested.toml").write_text(suggestion.stdout)
        for arguments, status, output, errors in cases(directory):
            result = run(roost, arguments, directory)
            told = f"{arguments}: status {result.returncode}\n{result.stdout}\n{result.stderr}"
            assert result.returncode == status, told
            assert all(words in result.stdout for words in output), told
            assert all(words in result.stderr for words in errors), told
            assert bool(result.stdout) == (status == OK), told


if __name__ == "__main__":
    main()
