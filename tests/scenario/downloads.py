"""Thousands of downloads at once: a few curl processes with hundreds of transfers each, every
transfer from an address and port of its own, so that servers' logs and the balancer's connections
name it.
"""

import hashlib
import pathlib
import subprocess
from dataclasses import dataclass

PROCESSES = 8
FIRST_PORT = 20_000  # below the kernel's ephemeral ports
SECONDS_MAX = 120
# Its length shares no divisor with the number of services, nor of client addresses.
PATHS = ("1k", "64k", "1k", "4m", "1k", "1k", "64k", "1k", "64k", "1k", "1k")
FORMAT = "%{exitcode} %{http_code} %header{x-backend} %{filename_effective}\\n"


@dataclass(frozen=True)
class Download:
    address: str  # the client's
    port: int
    service: str
    path: str
    file: pathlib.Path  # where the body goes

    @property
    def flow(self):
        return self.address, self.port

    @property
    def is_ipv6(self):
        return ":" in self.address


@dataclass(frozen=True)
class Result:
    download: Download
    backend: str  # by its own word; empty when there was none
    is_right: bool
    error: str  # curl's; empty when there was none


class Downloads:
    """Those of these numbers, all under way from the start; `results()` waits for the last."""

    def __init__(self, namespace, services, clients, numbers, directory, paths=PATHS,
                 seconds=SECONDS_MAX):  # fmt: skip
        """`clients`: addresses of either family. Numbers tell downloads of all waves apart;
        `seconds`: the longest that one may take."""
        self.directory = directory
        self.paths = paths
        self.seconds = seconds
        directory.mkdir()
        self.downloads = [self._download(number, services, clients) for number in numbers]
        targets = {service["name"]: service for service in services}
        self.processes = [
            self._start(namespace, targets, self.downloads[i::PROCESSES], i)
            for i in range(PROCESSES)
        ]

    def _download(self, number, services, clients):
        service = services[number % len(services)]
        addresses = clients[":" in service["address"]]
        return Download(
            address=addresses[number // len(services) % len(addresses)],
            port=FIRST_PORT + number,
            service=service["name"],
            path=self.paths[number % len(self.paths)],
            file=self.directory / f"{number}",
        )

    def _start(self, namespace, targets, downloads, number):
        config = self.directory / f"curl.{number}"
        transfers = [entry(targets[d.service], d, self.seconds) for d in downloads]
        config.write_text("next\n".join(transfers))
        return subprocess.Popen(
            [
                *namespace.prefix,
                *("curl", "-q", "--parallel", "--parallel-immediate", "--parallel-max", "300"),
                *("--no-progress-meter", "--config", config),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def results(self, digests):
        """`digests`: SHA-256 by path."""
        told = {}
        for process in self.processes:
            out, _ = process.communicate(timeout=2 * self.seconds)
            for line in out.splitlines():
                code, status, backend, file = line.split(" ", 3)
                told[file] = (int(code), status, backend)
        return [self._result(download, told, digests) for download in self.downloads]

    @staticmethod
    def _result(download, told, digests):
        code, status, backend = told.get(str(download.file), (-1, "", ""))
        if code != 0 or status != "200":
            return Result(download, backend, False, f"curl says {code}, HTTP says {status}")
        digest = hashlib.sha256(download.file.read_bytes()).hexdigest()
        download.file.unlink()
        return Result(download, backend, digest == digests[download.path], "")


def entry(service, download, seconds):
    """A transfer in curl's configuration."""
    host = f"[{service['address']}]" if download.is_ipv6 else service["address"]
    return "\n".join(
        [
            f'url = "http://{host}:{service["port"]}/{download.path}"',
            f'output = "{download.file}"',
            f'interface = "{download.address}"',
            f"local-port = {download.port}",
            f"max-time = {seconds}",
            f'write-out = "{FORMAT}"',
            "",
        ]
    )
