"""Configurations of the generator and of a balancer that stand against each other by net_memif."""

GENERATOR = """
[traffic]
flows = {flows}
seconds = {seconds}
flow_seconds = 2
mean_packets = 20
tail = 1.5
rst = 0.1
fin = 0.8
[clients]
port = 0
mac = "02:00:00:00:01:01"
gateway = "02:00:00:00:00:01"
prefixes = ["64.0.0.0/3", "2001:db8:1::/48"]
[backends]
port = 1
mac = "02:00:00:00:02:11"
gateway = "02:00:00:00:00:02"
prefixes = ["10.0.0.0/24", "2001:db8:2::/64"]
[[service]]
address = "198.51.100.80"
port = 80
[[service]]
address = "198.51.100.53"
port = 53
protocol = "udp"
[[service]]
address = "2001:db8:ffff::80"
port = 80
"""
STEP = "[[step]]\nseconds = {}\npackets_per_second = {}\n"

BALANCER_HEAD = """
[table]
connections = {connections}
[lb]
workers = 1
[[port]]
addresses = ["192.0.2.1/24", "2001:db8:9::1/64"]
mac = "02:00:00:00:00:01"
[[port]]
addresses = ["10.0.0.1/24", "2001:db8:2::1/64"]
mac = "02:00:00:00:00:02"
[[route]]
prefix = "0.0.0.0/0"
via = "192.0.2.254"
[[route]]
prefix = "::/0"
via = "2001:db8:9::254"
[[neighbour]]
address = "192.0.2.254"
mac = "02:00:00:00:01:01"
[[neighbour]]
address = "2001:db8:9::254"
mac = "02:00:00:00:01:01"
"""
SERVICE = """
[[service]]
name = "{name}"
address = "{address}"
port = {port}
protocol = "{protocol}"
mode = "{mode}"
backends = [{backends}]
"""


def balancer(connections=1_000_000, mode="nat"):
    """Three services of three backends each, whose MACs it has to ask for."""
    four = ", ".join(f'{{name = "b{i}", address = "10.0.0.1{i}"}}' for i in range(1, 4))
    six = ", ".join(f'{{name = "b{i}", address = "2001:db8:2::1{i}"}}' for i in range(1, 4))
    return BALANCER_HEAD.format(connections=connections) + "".join(
        SERVICE.format(name=name, address=address, port=port, protocol=protocol, mode=mode,
                       backends=backends)
        for name, address, port, protocol, backends in (
            ("web", "198.51.100.80", 80, "tcp", four), ("dns", "198.51.100.53", 53, "udp", four),
            ("web6", "2001:db8:ffff::80", 80, "tcp", six)))
