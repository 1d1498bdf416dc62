"""Raw Ethernet frames at an interface of a namespace, tags and all: the kernel takes a tag off what
a packet socket receives, and tells of it beside the frame; here it is put back.
"""

import contextlib
import ctypes
import os
import select
import socket
import struct
import time

SOL_PACKET, PACKET_AUXDATA, PACKET_IGNORE_OUTGOING = 263, 8, 23
ETH_P_ALL = 3
SO_RCVBUFFORCE = 33
TAG_VALID, TAG_TYPE_VALID = 0x10, 0x40
AUXDATA = struct.Struct("=IIIHHHH")
CLONE_NEWNET = 0x40000000
RECEIVE_BYTES = 8 << 20
TAG_TYPES = {0x8100: "C", 0x88A8: "S"}

libc = ctypes.CDLL(None, use_errno=True)


def enter(path):
    """This thread is in the network namespace of this path from now on."""
    with open(path, "rb") as file:
        if libc.setns(file.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"setns {path}")


@contextlib.contextmanager
def inside(namespace):
    own = f"/proc/{os.getpid()}/task/{libc.gettid()}/ns/net"
    with open(own, "rb") as before:
        enter(f"/run/netns/{namespace.name}")
        try:
            yield
        finally:
            libc.setns(before.fileno(), CLONE_NEWNET)


class Wire:
    """A packet socket. It was made in its namespace, and stays there."""

    def __init__(self, namespace, interface="eth0"):
        with inside(namespace):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BYTES)
        self.socket.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        self.socket.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        self.socket.bind((interface, ETH_P_ALL))

    def send(self, frame):
        self.socket.send(frame)

    def received(self, seconds=0.0):
        """All frames that are there, or come within so many seconds."""
        frames = []
        deadline = time.monotonic() + seconds
        while select.select([self.socket], [], [], max(0, deadline - time.monotonic()))[0]:
            frames.append(self._receive())
        return frames

    def _receive(self):
        frame, told, _, _ = self.socket.recvmsg(2048, 64)
        status, *_, control, tag_type = AUXDATA.unpack(told[0][2][: AUXDATA.size])
        if not status & TAG_VALID:
            return frame
        tag = struct.pack("!HH", tag_type if status & TAG_TYPE_VALID else 0x8100, control)
        return frame[:12] + tag + frame[12:]

    def close(self):
        self.socket.close()


def mac_bytes(text):
    return bytes.fromhex(text.replace(":", ""))


def tag(vlan, priority=0, tag_type=0x8100):
    return struct.pack("!HH", tag_type, priority << 13 | vlan)


def split_tags(frame):
    """The frame's tags as people write them, and the frame without them."""
    tags = []
    while len(frame) >= 16 and (kind := TAG_TYPES.get(int.from_bytes(frame[12:14], "big"))):
        control = int.from_bytes(frame[14:16], "big")
        priority = f"p{control >> 13}" if control >> 13 else ""
        drop_eligible = "d" if control & 0x1000 else ""
        tags.append(f"{kind}{control & 0xFFF}{priority}{drop_eligible}")
        frame = frame[:12] + frame[16:]
    return "+".join(tags) or "untagged", frame
