"""The fixtures' format and building blocks: see make_fixtures.py."""

from scapy.all import IP, IPv6, TCP, UDP, Ether

CLIENT_MAC, LB_MAC, OUT_MAC, BACKEND_MAC = ("02:00:00:00:01:10", "02:00:00:00:00:01",
                                            "02:00:00:00:00:02", "02:00:00:00:02:11")
CLIENT4, VIP4, BACKEND4 = "192.0.2.10", "198.51.100.80", "10.0.0.11"
CLIENT6, VIP6, BACKEND6 = "2001:db8:1::10", "2001:db8:80::80", "fd00::11"
groups = {}


def ethernet(kind=None):
    fields = {} if kind is None else {"type": kind}
    return Ether(src=CLIENT_MAC, dst=LB_MAC, **fields)


def ip4(**fields):
    return IP(**{"src": CLIENT4, "dst": VIP4, "ttl": 64, "id": 7, **fields})


def ip6(**fields):
    return IPv6(**{"src": CLIENT6, "dst": VIP6, "hlim": 64, **fields})


def tcp(**fields):
    return TCP(**{"sport": 40000, "dport": 80, "flags": "S", "seq": 1000, **fields})


def udp(**fields):
    return UDP(**{"sport": 40001, "dport": 53, **fields})


def frame_bytes(packet):
    return packet if isinstance(packet, bytes) else bytes(packet)


def add(group, name, about, packet, verdict, **more):
    fixture = {"name": name, "about": about, "frame": frame_bytes(packet).hex(), "verdict": verdict}
    if "first_segment" in more:
        fixture["first_segment"] = str(more["first_segment"])
    if verdict == "ok":
        fixture["flow"] = more.get("flow") or flow_text(packet)
        fixture["martian"] = more.get("martian", "no")
        fixture["l4_checksum"] = more.get("l4_checksum", "right")
    if "rewrite" in more:
        fixture["rewrite"] = more["rewrite"]
        fixture["expect"] = frame_bytes(more["expect"]).hex()
    groups.setdefault(group, []).append(fixture)


def flow_text(packet):
    network = packet[IP] if IP in packet else packet[IPv6]
    transport = packet[TCP] if TCP in packet else packet[UDP]
    protocol = "tcp" if TCP in packet else "udp"
    return f"{protocol} {network.src} {transport.sport} {network.dst} {transport.dport}"


def patched(packet, offset, values):
    data = bytearray(bytes(packet))
    data[offset:offset + len(values)] = values
    return bytes(data)


def chain_of(header, count):
    chain = header.copy()
    for _ in range(count - 1):
        chain = chain / header.copy()
    return chain


def write(directory):
    for group, fixtures in groups.items():
        lines = ["# Made by tests/net/make_fixtures.py; see there for the keys."]
        for fixture in fixtures:
            lines.append("")
            for key, value in fixture.items():
                for one in value if isinstance(value, list) else [value]:
                    lines.append(f"{key}: {one}".rstrip())
        (directory / "fixtures" / f"{group}.txt").write_text("\n".join(lines) + "\n")
