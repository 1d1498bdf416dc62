"""Names whose answers over UDP need several packets: they arrive as fragments."""

import subprocess

from clients import in_parallel
from network import DNS_CLIENTS
from servers import LARGE_NAME, LARGE_TEXT
from settings import DNS

EACH = 12  # questions a family


def ask_names(namespace):
    """Whether each answer was whole, by service: {name: [bool]}."""
    return {
        service["name"]: in_parallel(
            lambda number, service=service: is_whole(namespace, service, number), range(EACH)
        )
        for service in DNS
    }


def is_whole(namespace, service, number):
    """Asks again when there is no answer: the first one to a client may have to tell its server
    how large packets can be.
    """
    sources = DNS_CLIENTS[":" in service["address"]]
    told = subprocess.run(
        [
            *namespace.prefix,
            *("dig", "+short", "+notcp", "+ignore", "+bufsize=4096", "+tries=8", "+time=2"),
            *("-b", sources[number % len(sources)], f"@{service['address']}", LARGE_NAME, "TXT"),
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )
    lines = [line for line in told.stdout.splitlines() if not line.startswith(";")]  # dig's own
    return " ".join(lines).split() == [f'"{text}"' for text in LARGE_TEXT]
