"""Reads and writes classic pcap files, times in whole microseconds; no library, so that broken
files can be made too.
"""

import struct
from typing import NamedTuple

FILE_HEADER = struct.Struct("<IHHiIII")
RECORD_HEADER = struct.Struct("<IIII")
MAGIC_MICROSECONDS = 0xA1B2C3D4
MAGIC_NANOSECONDS = 0xA1B23C4D
ETHERNET = 1


class Record(NamedTuple):
    time: int  # microseconds since 1970
    frame: bytes


def file_header(link_type=ETHERNET):
    return FILE_HEADER.pack(MAGIC_MICROSECONDS, 2, 4, 0, 0, 262144, link_type)


def encode(record):
    length = len(record.frame)
    return RECORD_HEADER.pack(*divmod(record.time, 1_000_000), length, length) + record.frame


def write(path, records, link_type=ETHERNET):
    path.write_bytes(file_header(link_type) + b"".join(map(encode, records)))


def read(path):
    """All records of a whole file; net_pcap writes nanoseconds, tcpdump microseconds."""
    data = path.read_bytes()
    magic = FILE_HEADER.unpack_from(data)[0]
    per_microsecond = {MAGIC_MICROSECONDS: 1, MAGIC_NANOSECONDS: 1000}[magic]
    records, offset = [], FILE_HEADER.size
    while offset < len(data):
        seconds, fraction, captured, length = RECORD_HEADER.unpack_from(data, offset)
        assert captured == length, f"{path}: a frame was cut at {captured} of {length} bytes"
        offset += RECORD_HEADER.size
        records.append(
            Record(
                seconds * 1_000_000 + fraction // per_microsecond, data[offset : offset + captured]
            )
        )
        assert len(records[-1].frame) == captured, f"{path}: the file ends inside a record"
        offset += captured
    return records
