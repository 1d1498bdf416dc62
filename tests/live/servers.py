"""What each backend of the live test serves: web pages by nginx, names by dnsmasq; both name
themselves in what they answer, both log.
"""

import hashlib
import os
import random
import re
import signal
import subprocess
import time

from namespaces import wait_for

BODY_SIZES = {"1k": 1 << 10, "64k": 1 << 16, "4m": 1 << 22}
DNS_NAME = "backend.roost.test"
LARGE_NAME = "large.roost.test"
LARGE_TEXT = [f"{i:02}" + "x" * 198 for i in range(17)]  # 3.4 KB of answer

NGINX = """
user root;
daemon off;
worker_processes 1;
pid {dir}/nginx.pid;
error_log {dir}/nginx.error.log warn;
events {{ worker_connections 4096; }}
http {{
  log_format flows '$remote_addr $remote_port $request_uri $status';
  access_log {dir}/access.log flows;
  client_body_temp_path {dir}/t1; proxy_temp_path {dir}/t2; fastcgi_temp_path {dir}/t3;
  uwsgi_temp_path {dir}/t4; scgi_temp_path {dir}/t5;
  default_type application/octet-stream;
  server {{
{listens}
    root {bodies};
    add_header X-Backend {name};
    limit_rate {rate};
    location = /backend {{ return 200 "{name}\\n"; }}
  }}
}}
"""


def body(name):
    """The bytes every backend serves under /name."""
    return random.Random(name).randbytes(BODY_SIZES[name])


def body_digests():
    return {name: hashlib.sha256(body(name)).hexdigest() for name in BODY_SIZES}


def write_bodies(directory):
    directory.mkdir()
    for name in BODY_SIZES:
        (directory / name).write_bytes(body(name))


class Backend:
    """One backend's two servers, in its namespace, with all their files in one directory."""

    def __init__(self, name, number, namespace, addresses, port, directory, bodies, rate=0):
        """`rate`: of each web answer, in nginx's words; 0: as fast as can be."""
        self.name = name
        self.directory = directory
        directory.mkdir()
        self.records = {
            "A": f"203.0.113.{number}",
            "AAAA": f"2001:db8:aa::{number}",
            "TXT": f'"{name}"',
        }
        listens = "\n".join(f"    listen {f'[{a}]' if ':' in a else a}:{port};" for a in addresses)
        config = directory / "nginx.conf"
        config.write_text(
            NGINX.format(dir=directory, bodies=bodies, name=name, listens=listens, rate=rate)
        )
        nginx = ["nginx", "-p", directory, "-e", directory / "nginx.error.log", "-c", config]
        dnsmasq = [
            "dnsmasq",
            "--keep-in-foreground",
            "--conf-file=/dev/null",
            "--no-resolv",
            "--no-hosts",
            "--user=root",
            "--pid-file=",
            "--bind-interfaces",
            "--except-interface=lo",
            "--log-queries=extra",
            f"--log-facility={directory / 'dnsmasq.log'}",
            f"--txt-record={DNS_NAME},{name}",
            f"--txt-record={','.join([LARGE_NAME, *LARGE_TEXT])}",
            "--edns-packet-max=4096",
            f"--host-record={DNS_NAME},{self.records['A']},{self.records['AAAA']}",
            *[f"--listen-address={a}" for a in addresses],
        ]
        self.namespace = namespace
        self.processes = [
            subprocess.Popen(
                [*namespace.prefix, *command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=(directory / "stderr").open("a"),
            )
            for command in (nginx, dnsmasq)
        ]

    def wait_until_ready(self):
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            if any(process.poll() is not None for process in self.processes):
                break
            if (
                self.namespace.run("ss", "-Hltn").count(":8080") == 2
                and self.namespace.run("ss", "-Hlun").count(":53") >= 2
            ):
                return
            time.sleep(0.05)
        raise RuntimeError(
            f"{self.name}'s servers did not start: {(self.directory / 'stderr').read_text()}"
        )

    def serve_at(self, addresses, port):
        """The web server listens here too."""
        config = self.directory / "nginx.conf"
        listens = "".join(f"    listen {f'[{a}]' if ':' in a else a}:{port};\n" for a in addresses)
        config.write_text(config.read_text().replace("    root ", f"{listens}    root "))
        self.processes[0].send_signal(signal.SIGHUP)
        wait_for(
            f"nginx listens to port {port}",
            lambda: self.namespace.run("ss", "-Hltn").count(f":{port} ") >= len(addresses),
            self.directory / "nginx.error.log",
        )

    def end_web(self):
        self.processes[0].terminate()
        self.processes[0].wait(10)

    def kill_web(self):
        """The web server's processes end as in a crash, and their connections with them."""
        master = self.processes[0]
        workers = subprocess.run(["pgrep", "-P", str(master.pid)], capture_output=True, text=True)
        for pid in [master.pid, *map(int, workers.stdout.split())]:
            os.kill(pid, signal.SIGKILL)
        master.wait(10)

    def stop(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(10)

    def web_flows(self):
        """(client address, port) of each connection in nginx's log."""
        lines = (self.directory / "access.log").read_text().splitlines()
        return {tuple(line.split()[:2]) for line in lines}

    def dns_flows(self):
        """(client address, port) of each query in dnsmasq's log."""
        log = (self.directory / "dnsmasq.log").read_text()
        return set(re.findall(r"dnsmasq\[\d+\]: \d+ (\S+)/(\d+) query\[", log))
