"""Runs `roost lb` on captures, by net_pcap ports, and gives back what it sent, reported and how it
ended.
"""

import json
import os
import pathlib
import subprocess
import tempfile
from dataclasses import dataclass

import pcap

SECONDS_MAX = 60


@dataclass
class Replay:
    status: int
    report: dict  # None when the run gave none
    sent: list  # records, one list a port
    log: str  # what it printed


def available_processor():
    return min(os.sched_getaffinity(0))


def replay(roost, config_file, captures, prefix=()):
    """Feeds one capture file a port. `prefix` is put before the command, to run it as somebody
    else.
    """
    with tempfile.TemporaryDirectory(prefix="roost-replay-") as name:
        directory = pathlib.Path(name)
        directory.chmod(0o777)
        devices = [
            f"--vdev=net_pcap{i},rx_pcap={capture},tx_pcap={directory / f'out{i}.pcap'}"
            for i, capture in enumerate(captures)
        ]
        result = subprocess.run(
            [
                *prefix,
                roost,
                "lb",
                "-c",
                config_file,
                "--json",
                "--",
                "--no-huge",
                "--no-pci",
                "--no-telemetry",
                "-m",
                "256",
                "--lcores",
                f"0@{available_processor()}",
                "--file-prefix",
                directory.name,
                *devices,
            ],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS_MAX,
            cwd=directory,
            env=dict(os.environ, RUNTIME_DIRECTORY=name, XDG_RUNTIME_DIR=name),
        )
        outputs = [directory / f"out{i}.pcap" for i in range(len(captures))]
        sent = [
            pcap.read(file) if file.exists() and file.stat().st_size else [] for file in outputs
        ]
    try:
        report = json.loads(result.stdout)
    except ValueError:
        report = None
    printed = (result.stdout + result.stderr).decode(errors="replace")
    return Replay(result.returncode, report, sent, printed)
