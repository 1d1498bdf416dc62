"""What the kernel leaves to network cards that are not there is told at the start or with the first
packets, with the command that mends it; on a network without offloads nothing is said.
"""

import time

from namespaces import LB_INTERFACES
from pair import VIRTUAL, Pair

PORT = "near-one"


def check_offloads(roost, directory):
    with Pair(roost, directory) as pair:
        assert said_of(pair, lambda: [pair.fetches(address) for address in VIRTUAL]) == []

        interface = LB_INTERFACES[0]
        for namespace, name in ((pair.client, "eth0"), (pair.switch, PORT)):
            namespace.run("ethtool", "-K", name, "tx", "on", "sg", "on")
        pair.switch.run("ethtool", "-K", "near-host", "tx", "on", "sg", "on")
        pair.lb["one"].run("ethtool", "-K", interface, "gro", "on")
        said = said_of(pair, lambda: pair.fetches(VIRTUAL[0]))
        assert len(said) == 2, said
        assert f"{interface}: " in said[0] and f"ethtool -K {interface} gro off" in said[0], said
        assert "ethtool -K <its name> tx off" in said[1], said

        # What it said mends it.
        pair.lb["one"].run("ethtool", "-K", interface, "gro", "off")
        pair.switch.run("ethtool", "-K", PORT, "tx", "off")
        assert said_of(pair, lambda: pair.fetches(VIRTUAL[0])) == []
    print("live: offloads on net_af_packet are told of, with what mends them")


def said_of(pair, act):
    """What a run says of offloads while somebody acts."""
    pair.start("one")
    balancer = pair.balancers["one"]
    act()
    time.sleep(0.5)
    lines = [line for line in balancer.log.read_text().splitlines() if "ethtool" in line]
    pair.kill("one")
    return lines
