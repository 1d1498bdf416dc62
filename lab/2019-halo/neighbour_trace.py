"""What real programs do to memory, as valgrind's `lackey` prints it: a part of it, that begins when
the program is at its work and has a stated number of instructions.

    acl      an access list of six rules and a route, by DPDK (lab/functions/acl_neighbour.cc)
    matcher  payloads searched for 2,000 patterns, by Hyperscan (lab/functions/matcher_neighbour.cc)
    server   nginx, of which 100 connections ask for a file of 16 KB, one request after the other
"""
import contextlib
import fcntl
import os
import re
import selectors
import socket
import subprocess
import threading
import time
from pathlib import Path

PAGE_BYTES = 16_384
CONNECTIONS = 100
NGINX = "/usr/sbin/nginx"
CHUNK_BYTES = 1 << 20
PATIENCE_SECONDS = 300
CONFIG = """\
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 256; multi_accept on; }}
http {{
  access_log off;
  sendfile off;
  keepalive_requests 1000000;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{ listen unix:{folder}/socket; root {folder}; }}
}}
"""
REQUEST = b"GET /page HTTP/1.1\r\nHost: lab\r\n\r\n"


class Connections:
    """Clients of a server; `ready` is set when each has had an answer."""

    def __init__(self, path, ready):
        self.path, self.ready = path, ready
        self.error = ""
        self.is_over = False

    def run(self):
        try:
            self.ask()
        except (OSError, RuntimeError) as error:
            if not self.is_over:
                self.error = f"the server's clients: {error}"

    def ask(self):
        with contextlib.ExitStack() as stack, selectors.DefaultSelector() as waiting:
            for number in range(CONNECTIONS):
                one = stack.enter_context(socket.socket(socket.AF_UNIX))
                one.connect(str(self.path))
                waiting.register(one, selectors.EVENT_READ, [number, b""])
            for key in waiting.get_map().values():
                key.fileobj.sendall(REQUEST)
            answered = set()
            while not self.is_over:
                for key, _ in waiting.select(timeout=1):
                    number, text = key.data
                    more = key.fileobj.recv(CHUNK_BYTES)
                    if not more:
                        raise RuntimeError("a connection was closed")
                    text += more
                    head, _, body = text.partition(b"\r\n\r\n")
                    if len(body) == PAGE_BYTES:
                        if not head.startswith(b"HTTP/1.1 200"):
                            raise RuntimeError(head.decode())
                        answered.add(number)
                        text = b""
                        key.fileobj.sendall(REQUEST)
                    key.data[1] = text
                if len(answered) == CONNECTIONS:
                    self.ready.set()


class Reader:
    """What lackey prints, from a descriptor: nothing of it until `ready` is set, then so many
    instructions with what they access."""

    def __init__(self, descriptor, ready):
        self.descriptor, self.ready = descriptor, ready
        self.skipped = 0

    def chunks(self):
        """Whole lines."""
        rest = b""
        while chunk := os.read(self.descriptor, CHUNK_BYTES):
            lines, newline, rest_of_line = (rest + chunk).rpartition(b"\n")
            rest = rest_of_line
            if newline:
                yield lines + newline

    def cut(self, instructions, path):
        """How many instructions were kept: fewer, if it ended before."""
        kept = 0
        with path.open("wb") as file:
            for lines in self.chunks():
                count = lines.count(b"\nI ") + lines.startswith(b"I ")
                if not self.ready.is_set():
                    self.skipped += count
                    continue
                if kept + count >= instructions:
                    # Up to the instruction behind the last one that is wanted.
                    begins = [found.start() for found in re.finditer(rb"^I", lines, re.MULTILINE)]
                    end = (begins + [len(lines)])[instructions - kept]
                    file.write(lines[:end])
                    return instructions
                file.write(lines)
                kept += count
        return kept


def words_of(name, programs, folder):
    """The program and its arguments; `folder` is empty."""
    if name == "acl":
        return [programs / "roost_lab_acl_neighbour"]
    if name == "matcher":
        matcher = programs / "roost_lab_matcher_neighbour"
        subprocess.run([matcher, "compile", folder / "patterns"], check=True)
        return [matcher, "scan", folder / "patterns"]
    (folder / "page").write_bytes(bytes(PAGE_BYTES))
    config = folder / "nginx.conf"
    config.write_text(CONFIG.format(folder=folder), encoding="utf-8")
    return [NGINX, "-e", folder / "error.log", "-c", config]


class Run:
    """A program, alone or under what stands before its words, until the end of a with statement."""

    def __init__(self, name, programs, folder, before=(), **popen):
        folder.mkdir()
        self.ready = threading.Event()
        words = [*before, *map(str, words_of(name, programs, folder))]
        self.running = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=os.environ | {"RUNTIME_DIRECTORY": str(folder)}, **popen)
        self.clients = Connections(folder / "socket", self.ready) if name == "server" else None
        threading.Thread(target=self.start if self.clients else self.listen, daemon=True).start()

    def listen(self):
        if self.running.stdout.readline() == b"ready\n":
            self.ready.set()

    def start(self):
        for _ in range(PATIENCE_SECONDS * 10):
            if self.clients.path.exists() or self.running.poll() is not None:
                break
            time.sleep(0.1)
        self.clients.run()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.clients:
            self.clients.is_over = True
        self.running.kill()
        self.running.communicate()

    def words_of_error(self):
        self.running.kill()
        return (self.clients and self.clients.error) or self.running.stderr.read().decode()


def check_ready(name, programs, folder):
    with Run(name, programs, folder) as run:
        if not run.ready.wait(PATIENCE_SECONDS):
            raise RuntimeError(f"{name} is not at its work: {run.words_of_error()}")


def write_trace(name, programs, instructions, path, folder, is_of_start=False):
    """The trace of a program in a file; how it was cut, in words. `is_of_start`, for smoke runs:
    of its start instead of its work, which it gets to all the same, without valgrind."""
    folder, programs = Path(folder), Path(programs)
    if is_of_start:
        check_ready(name, programs, folder / "alone")
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, CHUNK_BYTES)
    lackey = ["setarch", "-R", "valgrind", "--tool=lackey", "--basic-counts=no",
              "--trace-mem=yes", f"--log-fd={writing}"]
    with Run(name, programs, folder / "traced", lackey, pass_fds=[writing]) as run:
        os.close(writing)
        if is_of_start:
            run.ready.set()
        reader = Reader(reading, run.ready)
        try:
            kept = reader.cut(instructions, path)
        finally:
            os.close(reading)
        if kept < instructions:
            raise RuntimeError(f"{name} ended after {kept} of {instructions} instructions: "
                               f"{run.words_of_error()}")
    return f"{kept} instructions behind {reader.skipped}"
