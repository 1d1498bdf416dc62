"""`roost nat` between hosts inside and a server outside, judged by others: coturn's
turnutils_natdiscovery says what kind of NAT it is, beside the kernel's masquerade; curl fetches
through it while it takes another configuration; its ports run out and come back.

    inside ── middle ── outside (two addresses of a STUN server, a web server)
              (roost, or the kernel)
"""

import hashlib
import re
import shutil
import subprocess
import time

from balancer import Balancer
from draining import Control
from namespaces import NO_IPV6, NamespaceNetwork, link, wait_for

SIDES = ("inside", "outside")
HOSTS = [f"10.0.0.{i}" for i in range(10, 30)]
EXTERNAL = ("192.0.2.100", "192.0.2.101")
SERVERS = ("198.51.100.1", "198.51.100.2")
DOWNLOADS = 100  # of each host
BODY_BYTES = 32 << 10
UDP_SECONDS = 6

NAT = """tick_seconds = 1
[nat]
external = ["{external}"]
workers = {workers}
{keys}
[timeouts]
udp = {udp}
tcp_established = 900
[[port]]
addresses = ["10.0.0.1/24"]
inside = true
[[port]]
addresses = ["192.0.2.1/24"]
mtu = {mtu}
[[route]]
prefix = "0.0.0.0/0"
via = "192.0.2.254"
{more}
[control]
socket = "{folder}/nat.sock"
"""
FORWARD = """[[forward]]
protocol = "{}"
external = "192.0.2.100:{}"
inside = "{}:{}"
"""


class Network(NamespaceNetwork):
    def _build(self):
        self.middle, self.inside, self.outside = (
            self.add_namespace(f"nat-{name}", NO_IPV6) for name in ("middle", *SIDES)
        )
        for side in SIDES:
            link(self.middle, side, getattr(self, side), "eth0")
        self.inside.give("eth0", HOSTS)
        self.inside.ip("route", "add", "default", "via", "10.0.0.1")
        self.outside.give("eth0", ["192.0.2.254"])
        self.outside.add_bridge("servers")
        self.outside.give("servers", SERVERS)

    def start(self, namespace, *command, log=subprocess.DEVNULL, folder=None):
        process = subprocess.Popen(
            [*namespace.prefix, *map(str, command)], stdout=log, stderr=log, cwd=folder
        )
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)

    def serve(self, folder):
        addresses = [word for address in SERVERS for word in ("-L", address)]
        with (folder / "turn.log").open("w") as log:
            self.start(
                self.outside,
                *("turnserver", "-n", "-S", "-z", "--no-cli", "--no-tls", "--no-dtls"),
                *("--log-file", "stdout", "--pidfile", folder / "turn.pid", *addresses),
                log=log,
            )
        web = ("/usr/bin/python3", "-m", "http.server", "80")
        self.start(self.outside, *web, folder=folder)
        self.start(self.inside, *web, folder=folder)
        for namespace, what, ports in (
            (self.outside, "-Hlun", (":3478 ", ":3479 ")),
            (self.outside, "-Hltn", (":80 ",)),
            (self.inside, "-Hltn", (":80 ",)),
        ):
            for port in ports:
                wait_for(port, lambda: port in namespace.run("ss", what))  # noqa: B023

    def masquerade(self):
        """What the kernel has instead."""
        for side, address in zip(SIDES, ("10.0.0.1", "192.0.2.1")):
            self.middle.give(side, [address])
        self.middle.ip("route", "add", "default", "via", "192.0.2.254")
        self.middle.run("sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
        rules = (
            "add table ip nat; add chain ip nat post { type nat hook postrouting priority 100; }; "
            'add rule ip nat post oifname "outside" masquerade'
        )
        self.middle.run("nft", rules)
        for namespace in (self.inside, self.outside):  # who have another MAC of the addresses
            namespace.ip("neigh", "flush", "all")


def discover(network, *options, seconds=60):
    """What natdiscovery says of the NAT before it, the NAT's host 10.0.0.10."""
    command = ["turnutils_natdiscovery", *options, "-L", HOSTS[0], SERVERS[0]]
    return subprocess.run(
        [*network.inside.prefix, *command],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    ).stdout


def kinds(network):
    """Mapping and filtering in its words, and whether what it sends its own mapping arrives."""
    words = re.findall(r"NAT with (.*?)!", discover(network, "-m") + discover(network, "-f"))
    hairpin = discover(network, "-H")
    return (*words, "Received a request (maybe a successful hairpinning)" in hairpin)


def config_text(folder, keys="", more="", workers=1, udp=300, mtu=1500):
    return NAT.format(
        external='", "'.join(EXTERNAL[:workers]),
        workers=workers,
        keys=keys,
        more=more,
        udp=udp,
        mtu=mtu,
        folder=folder,
    )


def start(roost, network, folder, workers=1, leaves_fragments=False, **settings):
    """`leaves_fragments`: by ports for which the kernel does not put fragments together."""
    (folder / "nat.toml").write_text(config_text(folder, workers=workers, **settings))
    devices = [
        f"net_pcap{i},rx_iface_in={side},tx_iface={side}" for i, side in enumerate(SIDES)
    ] if leaves_fragments else [
        f"net_af_packet{i},iface={side},qpairs={workers if i == 0 else 1}"
        for i, side in enumerate(SIDES)
    ]
    return Balancer(
        roost, folder / "nat.toml", network.middle, folder, devices, range(workers), "nat"
    )


def check_report(report, what):
    assert report["broken"] == [], report["broken"]
    dropped = {cause: count for cause, count in report["drops"].items() if count}
    print(f"live: roost nat: {what}: {report['packets']['received']} packets, drops {dropped}")


def check_kinds(roost, network, folder):
    independent = "Endpoint Independent Mapping"
    for filtering, said in (
        ("endpoint_independent", "Endpoint Independent Filtering"),
        ("address", "Address Dependent Filtering"),
        ("address_and_port", "Address and Port Dependent Filtering"),
    ):
        with start(roost, network, folder, keys=f'filtering = "{filtering}"') as nat:
            nat.wait_until_ready()
            found = kinds(network)
            # A hairpinned packet comes from the address and port of its sender's mapping, whom
            # nobody asked; natdiscovery does not ask it first.
            assert found == (independent, said, filtering == "endpoint_independent"), found
            check_report(nat.stop(), said)


def ask_udp(network, source, port, seconds=1.0):
    """The external end that the STUN server sees of a UDP endpoint inside, or None."""
    code = (
        "import socket,sys\n"
        "s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM);"
        f"s.bind(('{source}',{port}));s.settimeout({seconds})\n"
        f"s.sendto(bytes.fromhex('000100002112a442')+b'0'*12,('{SERVERS[0]}',3478))\n"
        "d=s.recv(2048);i=20\n"
        "while i<len(d):\n"
        "  t=int.from_bytes(d[i:i+2],'big');n=int.from_bytes(d[i+2:i+4],'big')\n"
        "  if t==0x20: x=(int.from_bytes(d[i+6:i+8],'big')^0x2112);"
        "a=bytes(p^q for p,q in zip(d[i+8:i+12],bytes.fromhex('2112a442')));"
        "print('.'.join(map(str,a)),x);break\n"
        "  i+=4+(n+3)//4*4\n"
    )
    asked = subprocess.run(
        [*network.inside.prefix, "/usr/bin/python3", "-c", code], capture_output=True, text=True
    )
    return tuple(asked.stdout.split()) or None


def check_lifetime(roost, network, folder):
    """A mapping lives as long as it says, and no more than a tick and a sweep longer."""
    with start(roost, network, folder, udp=UDP_SECONDS) as nat:
        nat.wait_until_ready()
        control = Control(roost, folder / "nat.sock")
        alive = discover(network, "-t", "-T", str(UDP_SECONDS - 2))
        dead = discover(network, "-t", "-T", str(UDP_SECONDS + 2))
        print(alive[-400:], dead[-400:])
        ask_udp(network, HOSTS[1], 5000)
        began = time.monotonic()
        own = lambda: control.ask("mappings", "--inside", HOSTS[1])["mappings"]  # noqa: E731
        assert len(own()) == 1, own()
        wait_for("the mapping is over", lambda: not own())
        lived = time.monotonic() - began
        assert UDP_SECONDS - 1 <= lived <= UDP_SECONDS + 1 + 6, lived
        check_report(nat.stop(), f"a mapping of {UDP_SECONDS} s lived {lived:.1f} s")


def curl_all(network, folder):
    """Each host fetches the body, a connection each time."""
    fetchers = []
    for host in HOSTS:
        kept = folder / "got" / host
        kept.mkdir(parents=True)
        command = ["curl", "-q", "-s", "-S", "-m", "60", "--interface", host, "-o", f"{kept}/#1"]
        url = f"http://{SERVERS[0]}/body?[1-{DOWNLOADS}]"
        fetchers.append(
            subprocess.Popen([*network.inside.prefix, *command, url], stderr=subprocess.PIPE)
        )
    return fetchers


def check_downloads(roost, network, folder, digest):
    """Downloads of all hosts by two workers, a reload in the middle; and what came of them."""
    with start(roost, network, folder, workers=2) as nat:
        nat.wait_until_ready()
        control = Control(roost, folder / "nat.sock")
        fetchers = curl_all(network, folder)
        time.sleep(1)
        count = lambda: sum(1 for _ in (folder / "got").glob("*/*"))  # noqa: E731
        before = count()
        # A port below those of mappings: a download might have any other, and refuse the forward.
        more = FORWARD.format("tcp", 80, HOSTS[3], 80)
        (folder / "nat.toml").write_text(
            config_text(folder, workers=2, more=more).replace("udp = 300", "udp = 400")
        )
        assert control.ask("reload") == {"forwards": 1, "routes": 1}
        after = count()
        for fetcher in fetchers:
            _, errors = fetcher.communicate(timeout=120)
            assert fetcher.returncode == 0, errors
        good = sum(
            hashlib.sha256(path.read_bytes()).hexdigest() == digest
            for path in (folder / "got").glob("*/*")
        )
        assert good == len(HOSTS) * DOWNLOADS, good
        assert after < good, f"the reload came too late: {before}, {after}"
        # The forward is there, from outside and by a hairpin from inside.
        for namespace in (network.outside, network.inside):
            body = namespace.run("curl", "-q", "-s", "-m", "5", f"http://{EXTERNAL[0]}/digest")
            assert body == digest, body
        mapped = control.ask("mappings", "--protocol", "tcp", "--limit", "1000")["mappings"]
        assert sum(row["forward"] for row in mapped) == 1, mapped
        live = control.ask("flows", "count")["flows"]
        shutil.rmtree(folder / "got")
        report = nat.stop()
        # A host may take a port again that a download before it had, and with it the mapping.
        flows, mappings = report["flows"]["created"], report["mappings"]["created"]
        assert flows >= good and 0.9 * good <= mappings <= flows, report
        assert all(worker["batches"] > 100 for worker in report["workers"]), report["workers"]
        check_report(report, f"{good} downloads, {after} before the reload, {live} flows")


def check_exhaustion(roost, network, folder):
    """Of 200 ports the 201st mapping is refused, and the 200 go on; later all are free."""
    with start(roost, network, folder, keys="ports = [2000, 2199]", udp=UDP_SECONDS) as nat:
        nat.wait_until_ready()
        control = Control(roost, folder / "nat.sock")
        code = (
            "import errno,socket\n"
            "def make(i):\n"
            "  s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM);"
            "s.bind(('10.0.0.'+str(10+i%20),20000+i));s.settimeout(2);"
            f"s.connect(('{SERVERS[0]}',3478))\n"
            "  return s\n"
            "ask=bytes.fromhex('000100002112a442')+b'0'*12\n"
            "def good(s):\n"
            "  s.send(ask)\n"
            "  try: return len(s.recv(2048))>0\n"
            "  except OSError as error: return errno.errorcode.get(error.errno, 'nothing')\n"
            "def count(): return sum(good(s) is True for s in all[:200])\n"
            "all=[make(i) for i in range(201)]\n"
            "print(count(),good(all[200]),count())\n"
        )
        told = network.inside.run("/usr/bin/python3", "-c", code).split()
        # The kernel's word for "administratively prohibited" (RFC 5508 REQ-8).
        assert told == ["200", "EHOSTUNREACH", "200"], told
        stats = control.ask("stats")
        assert stats["mappings"]["refused_no_port"] == stats["drops"]["no_port"] == 1, stats
        assert stats["mappings"]["live"] == 200, stats["mappings"]
        wait_for("all ports are free", lambda: control.ask("stats")["mappings"]["live"] == 0)
        assert ask_udp(network, HOSTS[0], 4000) is not None
        report = nat.stop()
        assert report["mappings"]["refused_no_port"] == 1, report["mappings"]
        check_report(report, "201 mappings of 200 ports")


def check_icmp(roost, network, folder):
    """Echo, in fragments too; path MTU discovery from inside; traceroute."""
    with start(roost, network, folder, leaves_fragments=True, mtu=1400) as nat:
        nat.wait_until_ready()
        ping = ("ping", "-n", "-c", "3", "-i", "0.2", "-W", "2", "-I", HOSTS[4])
        assert " 3 received" in network.inside.run(*ping, SERVERS[0])
        assert " 3 received" in network.inside.run(*ping, "-s", "3000", SERVERS[0])
        too_big = subprocess.run(
            [*network.inside.prefix, *ping, "-M", "do", "-s", "1400", SERVERS[0]],
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        assert "mtu = 1400" in too_big, too_big
        hops = network.inside.run(
            "traceroute", "-n", "-q", "1", "-w", "2", "-m", "4", SERVERS[0]
        ).splitlines()[1:]
        assert [hop.split()[1] for hop in hops] == ["10.0.0.1", SERVERS[0]], hops
        # Nobody listens at this port, says the server's kernel, and the host's believes it.
        closed = network.inside.run(
            *("/usr/bin/python3", "-c"),
            "import socket\ns=socket.socket(socket.AF_INET,socket.SOCK_DGRAM);s.settimeout(3)\n"
            f"s.connect(('{SERVERS[0]}',9));s.send(b'x')\n"
            "try: s.recv(9)\nexcept ConnectionRefusedError: print('refused')\n",
        )
        assert closed.strip() == "refused", closed
        check_report(nat.stop(), "echo, fragments, path MTU, errors")


def check_nat(roost, folder):
    body = bytes(i * 11 % 251 for i in range(BODY_BYTES))
    digest = hashlib.sha256(body).hexdigest()
    (folder / "body").write_bytes(body)
    (folder / "digest").write_text(digest)
    with Network() as network:
        network.serve(folder)
        check_kinds(roost, network, folder)
        check_lifetime(roost, network, folder)
        check_downloads(roost, network, folder, digest)
        check_exhaustion(roost, network, folder)
        check_icmp(roost, network, folder)
        network.masquerade()
        kernel = kinds(network)
        assert kernel[1:] == ("Address and Port Dependent Filtering", False), kernel
        print(f"live: the kernel's masquerade, by the same judge: {kernel}")
