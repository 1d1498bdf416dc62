"""A switch that snoops on multicast listener discovery and has a querier: neighbour solicitations
reach the balancer only as long as it reports the groups of its addresses.
"""

import json
import time

from namespaces import wait_for
from pair import VIRTUAL, Pair

# In hundredths of a second: the switch forgets a group after 2.5 s, and asks every second.
INTERVALS = {
    "query_interval": 100,
    "query_response_interval": 50,
    "membership_interval": 250,
    "last_member_interval": 50,
    "startup_query_interval": 50,
    "querier_interval": 500,
}
MEMBERSHIP_SECONDS = INTERVALS["membership_interval"] / 100
ADDED = "2001:db8:1::81"
GROUPS = {VIRTUAL[1]: "ff02::1:ff00:80", ADDED: "ff02::1:ff00:81"}
PORT = "near-one"


def check_snooping(roost, directory):
    with Pair(roost, directory) as pair:
        for version in (1, 2):
            start_querier(pair, version)
            control = pair.start("one", VIRTUAL)
            for _ in range(3):
                check_found(pair, VIRTUAL[1])
                time.sleep(MEMBERSHIP_SECONDS)
            check_found(pair, VIRTUAL[1])
            assert pair.fetches(VIRTUAL[1])

            # Nobody asks for a long time; an address comes and goes.
            set_bridge(pair, {"query_interval": 10_000, "membership_interval": 30_000})
            pair.configure("one", (*VIRTUAL, ADDED))
            control.ask("reload")
            check_found(pair, ADDED)
            pair.configure("one", VIRTUAL)
            for _ in range(2):  # a removed service is there until a reload finds it unused
                control.ask("reload")
            wait_for("the group is left", lambda: GROUPS[ADDED] not in groups_at(pair, PORT))
            assert GROUPS[VIRTUAL[1]] in groups_at(pair, PORT)
            counters = control.ask("stats")["neighbours"]
            assert counters["listener_queries"] >= 4, counters
            pair.kill("one")
    print(
        "live: IPv6 behind a switch that snoops on multicast, for longer than it remembers, with "
        "a querier of MLD version 1 and of version 2"
    )


def set_bridge(pair, settings):
    for name, value in settings.items():
        pair.switch.ip("link", "set", "near", "type", "bridge", f"mcast_{name}", str(value))


def start_querier(pair, version):
    """Solicitations reach only listeners, once the switch knows that there is a querier."""
    switch = pair.switch
    set_bridge(pair, {"snooping": 0, "querier": 0})
    if "fe80::1" not in switch.run("ip", "addr", "show", "near"):
        switch.ip("address", "add", "fe80::1/64", "dev", "near", "nodad")
    for port in (PORT, "near-two", "near-host"):
        switch.run("bridge", "link", "set", "dev", port, "mcast_flood", "off")
    set_bridge(pair, {**INTERVALS, "mld_version": version})
    set_bridge(pair, {"snooping": 1, "querier": 1})
    time.sleep(1.5)


def groups_at(pair, port):
    out = json.loads(pair.switch.run("bridge", "-j", "mdb", "show"))
    return {entry["grp"] for entry in out[0]["mdb"] if entry["port"] == port}


def check_found(pair, address):
    """The client, which has forgotten it, finds the address by a solicitation of its group."""
    wait_for("the switch knows the group", lambda: GROUPS[address] in groups_at(pair, PORT))
    pair.client.ip("neigh", "flush", "dev", "eth0")
    assert pair.is_answered(address), f"{address}: no answer"
