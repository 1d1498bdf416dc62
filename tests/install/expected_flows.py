"""What the flow counters must print for a capture, as tshark sees it: no code is shared with them.
"""

import collections
import csv
import subprocess

NAMES = {"6": "tcp", "17": "udp"}
FIELDS = ["frame.len", "ip.src", "ip.dst", "ipv6.src", "ipv6.dst",
          "tcp.srcport", "tcp.dstport", "udp.srcport", "udp.dstport", "tcp.hdr_len",
          "ip.flags.mf", "ip.frag_offset", "ip.checksum.status", "ip.opt.type",
          "ip.cur_rt", "ipv6.routing.segleft", "vlan.id"]
CHECKSUM_GOOD = "1"
SOURCE_ROUTE = "131"
TCP_HEADER_BYTES_MIN = 20


def packets(capture, fields=FIELDS):
    """A dictionary of fields a packet; a field that a packet lacks is empty."""
    command = ["tshark", "-r", capture, "-n", "-o", "ip.check_checksum:TRUE", "-o",
               "ip.defragment:FALSE", "-T", "fields", "-E", "separator=/t", "-E", "occurrence=f"]
    for field in fields:
        command += ["-e", field]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            text=True).stdout
    return [dict(zip(fields, row)) for row in csv.reader(output.splitlines(), delimiter="\t")]


def is_plain_ipv4(packet):
    """What the C example's filter takes: ports over IPv4 without a VLAN tag, damaged or not, and
    no fragment but the first."""
    return (packet["ip.src"] != "" and packet["vlan.id"] == "" and packet["ip.frag_offset"] == "0"
            and protocol_of(packet) is not None)


def is_sound(packet):
    """What the library's parser takes: whole, unfragmented, right in its IPv4 checksum, not
    source-routed, extension headers or not."""
    protocol = protocol_of(packet)
    if packet["ip.src"]:
        is_sound_ip = (packet["ip.flags.mf"] == "0" and packet["ip.frag_offset"] == "0"
                       and packet["ip.checksum.status"] == CHECKSUM_GOOD
                       and not packet["ip.opt.type"].startswith(SOURCE_ROUTE))
    else:
        is_sound_ip = packet["ipv6.routing.segleft"] in ("", "0")
    is_sound_header = protocol == "udp" or (
        protocol == "tcp" and int(packet["tcp.hdr_len"] or 0) >= TCP_HEADER_BYTES_MIN)
    return is_sound_ip and is_sound_header


def protocol_of(packet):
    return next((name for name in ("tcp", "udp") if packet[f"{name}.srcport"]), None)


def destination_of(packet):
    """What the header says: tshark's ip.dst of a source-routed packet is the end of its route."""
    return packet["ip.cur_rt"] or packet["ip.dst"] or packet["ipv6.dst"]


def expected_flows(capture, is_counted):
    """{(protocol, source, source port, destination, destination port): (packets, bytes)}, and the
    number of packets that are not counted."""
    flows = collections.defaultdict(lambda: (0, 0))
    others = 0
    for packet in packets(capture):
        if not is_counted(packet):
            others += 1
            continue
        protocol = protocol_of(packet)
        key = (protocol, packet["ip.src"] or packet["ipv6.src"], packet[f"{protocol}.srcport"],
               destination_of(packet), packet[f"{protocol}.dstport"])
        count, size = flows[key]
        flows[key] = (count + 1, size + int(packet["frame.len"]))
    return dict(flows), others


def printed_flows(output):
    """The same two of what an example printed; the C example says nothing of other packets."""
    flows = {}
    others = None
    for line in output.splitlines():
        if line.startswith("packets of no flow "):
            others = int(line.split()[-1])
            continue
        protocol, source, source_port, _, target, target_port, _, count, _, size = line.split()
        key = NAMES.get(protocol, protocol), source, source_port, target, target_port
        if key in flows:
            raise ValueError(f"printed twice: {line}")
        flows[key] = int(count), int(size)
    return flows, others
