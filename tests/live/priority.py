"""Frames with a tag of VLAN 0, as stations with priorities send them: a ping and an ARP request,
through the kernel's packet sockets, which take tags off and put them on again.
"""

from namespaces import wait_for
from pair import VIRTUAL, Pair

PORT_MAC = "02:00:00:00:01:01"

# Sends the frame, and prints the first frame that comes back from the balancer.
EXCHANGE = """
import socket, sys
interface, frame, mac = sys.argv[1], bytes.fromhex(sys.argv[2]), bytes.fromhex(sys.argv[3])
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as wire:
    wire.bind((interface, 0))
    wire.settimeout(2)
    wire.send(frame)
    while True:
        answer, (_, _, kind, _, _) = wire.recvfrom(2048)
        if kind != socket.PACKET_OUTGOING and answer[6:12] == mac:
            print(answer.hex())
            break
"""
TAG = "8100a000"  # priority 5, VLAN 0


def check_priority(roost, directory):
    with Pair(roost, directory) as pair:
        pair.start("one")
        wait_for("it is served", lambda: pair.is_answered(VIRTUAL[0]))
        mac = pair.client.run("ip", "-br", "link", "show", "eth0").split()[2].replace(":", "")
        port = PORT_MAC.replace(":", "")
        who_has = f"ffffffffffff{mac}{TAG}08060001080006040001{mac}c000020a{'0' * 12}c0000250"
        ping = f"{port}{mac}{TAG}08004500001c0001000040010000c000020ac00002500800f7fd00010001"
        for question, ether_type in ((who_has, "0806"), (with_checksum(ping), "0800")):
            answer = pair.client.run("/usr/bin/python3", "-c", EXCHANGE, "eth0", question, port)
            assert answer[24:28] == ether_type, answer
    print("live: frames of VLAN 0 are answered without a tag, by ARP and by ping")


def with_checksum(frame):
    """The IPv4 header's, in a frame with one tag."""
    header = bytes.fromhex(frame)[18:38]
    total = sum(int.from_bytes(header[i : i + 2], "big") for i in range(0, 20, 2))
    value = 0xFFFF - (total % 0xFFFF)
    return f"{frame[:56]}{value:04x}{frame[60:]}"
