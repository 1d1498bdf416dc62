"""Seeded mutations of captures: the frames a balancer must survive."""

import pcap
from scapy.utils import checksum

OFFSETS_OF_INTEREST = 80  # the headers


def flip_bit(frame, random, _):
    at = random.randrange(len(frame))
    frame[at] ^= 1 << random.randrange(8)


def change_header_byte(frame, random, _):
    frame[random.randrange(min(len(frame), OFFSETS_OF_INTEREST))] = random.choice(
        (0, 1, 4, 6, 17, 44, 69, 127, 255)
    )


def change_length(frame, random, _):
    """The IPv4 or IPv6 length, near the truth or far from it."""
    at = 16 if frame[12] == 0x08 else 18
    length = int.from_bytes(frame[at : at + 2], "big") + random.choice(
        (-40, -9, -1, 1, 9, 1500, 30000)
    )
    frame[at : at + 2] = (length % 65536).to_bytes(2, "big")


def cut(frame, random, _):
    del frame[random.randrange(len(frame)) :]


def lengthen(frame, random, _):
    frame += random.randbytes(random.randrange(1, 200))


def cross(frame, random, other):
    """The first part of one frame and the rest of another."""
    at = random.randrange(min(len(frame), len(other)))
    frame[at:] = other[at:]


def swap_ends(frame, random, _):
    """Reflected: the source becomes the destination, as a confused host would send it."""
    size, at = (4, 26) if frame[12] == 0x08 else (16, 22)
    frame[at : at + 2 * size] = frame[at + size : at + 2 * size] + frame[at : at + size]


def noise(frame, random, _):
    frame[:] = random.randbytes(random.randrange(1, 300))


MUTATIONS = (
    flip_bit,
    change_header_byte,
    change_header_byte,
    change_length,
    cut,
    lengthen,
    cross,
    swap_ends,
    noise,
)


def mend_ipv4_checksum(frame):
    """So that what follows the header's checksum is reached too."""
    end = 14 + 4 * (frame[14] & 15)
    if frame[12:14] == b"\x08\x00" and 34 <= end <= len(frame):
        frame[24:26] = b"\0\0"
        frame[24:26] = checksum(bytes(frame[14:end])).to_bytes(2, "big")


def mutate(capture, random):
    """Half of the frames changed, half of those with their IPv4 checksum mended; the times stay."""
    mutated = []
    for record in capture:
        frame = bytearray(record.frame)
        if random.random() < 0.5:
            random.choice(MUTATIONS)(frame, random, random.choice(capture).frame)
            if len(frame) > 34 and random.random() < 0.5:
                mend_ipv4_checksum(frame)
        mutated.append(pcap.Record(record.time, bytes(frame) or b"\0"))
    return mutated
