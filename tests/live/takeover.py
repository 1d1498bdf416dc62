"""One balancer dies, another one takes its addresses over: stations that knew the first one's MAC,
the clients and the backend, are served by the second within two seconds.
"""

import time

from namespaces import wait_for
from pair import VIRTUAL, Pair

SECONDS_MAX = 2


def check_takeover(roost, directory):
    with Pair(roost, directory) as pair:
        pair.connect("two", False)
        pair.start("one")
        standby = pair.start("two")
        wait_for_service(pair, "02:00:00:00:01:01")

        # The standby runs already and is told.
        pair.kill("one")
        began = time.monotonic()
        pair.connect("two", True)
        standby.ask("announce")
        told = check_served(pair, began, "02:00:00:00:01:02")

        # It is started only when the other one is dead. How long that takes is not counted.
        pair.kill("two")
        pair.start("one")
        started = check_served(pair, time.monotonic(), "02:00:00:00:01:01")
    print(
        f"live: a standby serves the other's clients {told:.1f} s after it was told, "
        f"and {started:.1f} s after its start"
    )


def wait_for_service(pair, mac):
    for address in VIRTUAL:
        wait_for("it is served", lambda address=address: pair.fetches(address))
        assert pair.is_answered(address)
        assert pair.known_mac(address) == mac, pair.known_mac(address)


def check_served(pair, began, mac):
    """How long it takes until all is served again."""
    seconds = 0
    for address in VIRTUAL:
        for how in (pair.is_answered, pair.fetches):
            seconds = pair.seconds_until(lambda how=how, address=address: how(address), began)
            assert seconds <= SECONDS_MAX, f"{address}, {how.__name__}: not in {seconds:.1f} s"
        assert pair.known_mac(address) == mac, pair.known_mac(address)
    return seconds
