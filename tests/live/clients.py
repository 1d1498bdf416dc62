"""The clients of the live test: curl and dig, one process a request, each on a source port of its
own.

Ports are given, not left to the kernel, so that no request reuses another's connection and every
flow can be found again in the servers' logs.
"""

import hashlib
import itertools
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from servers import DNS_NAME

PARALLEL_REQUESTS = 8


@dataclass(frozen=True)
class Answer:
    address: str  # the client's
    port: str
    service: str
    question: str  # the path or the record type
    text: str  # what came back: the body's SHA-256, or the record
    backend: str  # the one that says that it answered; empty for DNS, where `text` tells


class Clients:
    def __init__(self, namespace, addresses):
        self.namespace = namespace
        self.addresses = addresses
        self.ports = itertools.count(20000)  # below the kernel's ephemeral ports

    def _source(self, number, target):
        same_family = [a for a in self.addresses if (":" in a) == (":" in target)]
        return same_family[number % len(same_family)], str(next(self.ports))

    def web(self, service, paths, options=()):
        """Fetches each path, several at a time; raises when one fails. `options` are curl's."""
        target = service["address"]
        host = f"[{target}]" if ":" in target else target
        sources = [self._source(i, target) for i in range(len(paths))]

        def fetch(path, source):
            result = subprocess.run(
                [
                    *self.namespace.prefix,
                    "curl",
                    "-q",
                    "--silent",
                    "--show-error",
                    "--fail",
                    "--max-time",
                    "20",
                    "--interface",
                    source[0],
                    "--local-port",
                    source[1],
                    *options,
                    "-w",
                    "%{stderr}backend=%header{x-backend}",
                    f"http://{host}:{service['port']}/{path}",
                ],
                capture_output=True,
                timeout=30,
            )
            if result.returncode != 0:
                raise RuntimeError(f"curl {host}/{path} from {source}: {result.stderr.decode()}")
            digest = hashlib.sha256(result.stdout).hexdigest()
            return Answer(
                *source, service["name"], path, digest, result.stderr.decode().partition("=")[2]
            )

        return in_parallel(fetch, paths, sources)

    def dns(self, service, kinds):
        """Asks for each kind of record, several at a time; raises when one fails."""
        sources = [self._source(i, service["address"]) for i in range(len(kinds))]

        def ask(kind, source):
            result = subprocess.run(
                [
                    *self.namespace.prefix,
                    "dig",
                    "+short",
                    "+tries=2",
                    "+time=3",
                    "-b",
                    "#".join(source),
                    f"@{service['address']}",
                    "-p",
                    str(service["port"]),
                    DNS_NAME,
                    kind,
                ],
                capture_output=True,
                text=True,
                timeout=20,
            )
            if result.returncode != 0 or not result.stdout.strip():
                raise RuntimeError(f"dig {kind} from {source}: {result.stdout}{result.stderr}")
            return Answer(*source, service["name"], kind, result.stdout.strip(), "")

        return in_parallel(ask, kinds, sources)


def in_parallel(request, *arguments):
    """All answers in order; after the first failure no further request is begun."""
    with ThreadPoolExecutor(PARALLEL_REQUESTS) as pool:
        futures = [pool.submit(request, *each) for each in zip(*arguments)]
        try:
            return [future.result() for future in futures]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
