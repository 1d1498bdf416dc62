"""`roost forward` does what the kernel's own router does: the same questions are asked through
both, and the answers must be the same.

    left ── middle ── right ── (networks behind it)
         (roost, or the kernel)

Asked are hops, ICMP errors, path MTU, fragments, a download, and whoever is not there. Then the
router alone: a reload under traffic, what its control says, and a wire.
"""

import concurrent.futures
import hashlib
import json
import re
import subprocess

from balancer import Balancer
from namespaces import NO_IPV6, QUIET_IPV6, NamespaceNetwork, link, run, wait_for

SIDES = ("left", "right")
MTU_RIGHT = 1400
MIDDLE = {"left": ("192.0.2.1", "2001:db8:1::1"), "right": ("10.0.0.1", "2001:db8:2::1")}
HOSTS = {"left": ("192.0.2.10", "2001:db8:1::10"), "right": ("10.0.0.11", "2001:db8:2::11")}
WIRE_END = ("192.0.2.11", "2001:db8:1::11")  # right's, on left's network
FAR = ("203.0.113.5", "2001:db8:9::5")  # behind the right host
LATER = ("198.51.100.5", "2001:db8:a::5")  # behind it too, and routed by a reload only
DEAD = ("10.0.0.99", "2001:db8:2::99")
BODY_BYTES = 4 << 20


class Network(NamespaceNetwork):
    def __init__(self, is_kernel, is_wire=False):
        self.is_kernel = is_kernel
        self.is_wire = is_wire

    def _build(self):
        # The kernel asks for neighbours of what is not its own by a link-local address only.
        ipv6 = QUIET_IPV6 | {"addr_gen_mode": 0}
        role = "kernel" if self.is_kernel else "roost"
        self.middle = self.add_namespace(f"{role}-middle", ipv6 if self.is_kernel else NO_IPV6)
        self.left, self.right = (self.add_namespace(f"{role}-{side}", ipv6) for side in SIDES)
        for side, host in zip(SIDES, (self.left, self.right)):
            link(self.middle, side, host, "eth0")
            host.give("eth0", self._addresses(side))
            if not self.is_wire:
                for via in MIDDLE[side]:
                    host.ip("route", "add", "default", "via", via, "dev", "eth0")
        if self.is_wire:
            return
        for name in ("middle", "right"):
            interface = "right" if name == "middle" else "eth0"
            getattr(self, name).ip("link", "set", interface, "mtu", str(MTU_RIGHT))
        self.right.add_bridge("behind")
        self.right.give("behind", FAR + LATER)
        if self.is_kernel:
            self._route_by_kernel()

    def _addresses(self, side):
        return WIRE_END if self.is_wire and side == "right" else HOSTS[side]

    def _route_by_kernel(self):
        for setting in (
            *("ipv4.ip_forward=1", "ipv6.conf.all.forwarding=1"),
            *("ipv4.icmp_ratelimit=0", "ipv6.icmp.ratelimit=0"),
        ):
            self.middle.run("sysctl", "-q", "-w", f"net.{setting}")
        for side in SIDES:
            self.middle.give(side, MIDDLE[side])
        for prefix, via in zip(("203.0.113.0/24", "2001:db8:9::/64"), HOSTS["right"]):
            self.middle.ip("route", "add", prefix, "via", via)


def config_text(directory, more_routes=()):
    """What the router is told: the same as the kernel, in its own words."""
    ports = "".join(
        f'[[port]]\naddresses = ["{MIDDLE[side][0]}/24", "{MIDDLE[side][1]}/64"]\nmtu = {mtu}\n\n'
        for side, mtu in zip(SIDES, (1500, MTU_RIGHT))
    )
    routes = [("203.0.113.0/24", HOSTS["right"][0]), ("2001:db8:9::/64", HOSTS["right"][1])]
    for prefix, via in [*routes, *more_routes]:
        ports += f'[[route]]\nprefix = "{prefix}"\nvia = "{via}"\n\n'
    return f'{ports}[control]\nsocket = "{directory}/forward.sock"\nmetrics = "127.0.0.1:9180"\n'


def ping(namespace, address, *options, count=2):
    """What ping prints, without its times."""
    command = ["ping", "-n", "-c", str(count), "-i", "0.3", "-W", "2", *options, address]
    out = subprocess.run(
        [*namespace.prefix, *command], capture_output=True, text=True, timeout=60, check=False
    ).stdout
    return re.sub(r"time[= ][\d.]+ ?m?s|rtt .*|, pipe \d+|--- .*", "", out)


def errors_of(text):
    """The ICMP errors that ping was told, each once, without their numbers."""
    told = [line for line in text.splitlines() if "From" in line]
    return sorted({re.sub(r"icmp_seq=\d+ ", "", line) for line in told})


def hops_of(namespace, address, *options):
    out = namespace.run("traceroute", "-n", "-q", "1", "-w", "2", "-m", "8", *options, address)
    return [line.split()[1] for line in out.splitlines()[1:]]


def download(namespace, address):
    host = f"[{address}]" if ":" in address else address
    body = subprocess.run(
        [*namespace.prefix, "curl", "-s", "-m", "30", f"http://{host}/body"],
        capture_output=True,
        timeout=60,
        check=True,
    ).stdout
    assert len(body) == BODY_BYTES, (address, len(body))
    return hashlib.sha256(body).hexdigest()


def ask(network):
    """The answers to every question, by its name; two middles are alike when these are equal."""
    left, answers = network.left, {}
    for version in (0, 1):
        far, dead = FAR[version], DEAD[version]
        nowhere = ("198.18.0.1", "2001:db8:ff::1")[version]
        answers[f"ping {far}"] = ping(left, far)
        answers[f"last hop {far}"] = errors_of(ping(left, far, "-t", "1"))
        answers[f"hops {far}"] = hops_of(left, far)
        answers[f"hops by ICMP {far}"] = hops_of(left, far, "-I")
        answers[f"hops to the middle {version}"] = hops_of(left, MIDDLE["left"][version])
        answers[f"ping the other side {version}"] = ping(left, MIDDLE["right"][version])
        answers[f"too big {far}"] = errors_of(ping(left, far, "-M", "do", "-s", "1400"))
        # Two fragments, which net_af_packet puts together again, as far as its frames reach; the
        # way out is too narrow for the whole.
        answers[f"fragments {far}"] = ping(left, far, "-s", "1700")
        answers[f"nowhere {version}"] = errors_of(ping(left, nowhere))
        answers[f"dead {version}"] = errors_of(ping(left, dead, count=16))
        answers[f"download {version}"] = download(left, far)
    return answers


def serve(network, directory):
    """A web server on the right host, for both families."""
    pages = directory / "pages"
    pages.mkdir(exist_ok=True)
    (pages / "body").write_bytes(bytes(range(256)) * (BODY_BYTES // 256))
    command = ["/usr/bin/python3", "-m", "http.server", "80", "--bind", "::", "-d", pages]
    server = subprocess.Popen(
        [*network.right.prefix, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    network.stack.callback(server.kill)
    listening = lambda: ":80 " in network.right.run("ss", "-Hltn")  # noqa: E731
    wait_for("the server listens", listening)


def ctl(roost, directory, *words):
    return json.loads(run(roost, "ctl", "--socket", directory / "forward.sock", "--json", *words))


def check_reload(network, roost, directory, config):
    """A route comes by a reload; what was there goes on, and counters do."""
    nexthops = ctl(roost, directory, "stats")["next_hops"]
    before = {hop["via"]: hop["packets"] for hop in nexthops}
    assert "0 received" in ping(network.left, LATER[0], count=1)
    more = [(f"{LATER[0][:-1]}0/24", HOSTS["right"][0]), ("2001:db8:a::/64", HOSTS["right"][1])]
    config.write_text(config_text(directory, more))
    assert ctl(roost, directory, "reload") == {"routes": 4, "routes_before": 2}
    for version in (0, 1):
        assert "2 received" in ping(network.left, LATER[version])
        assert "2 received" in ping(network.left, FAR[version])
    for hop in ctl(roost, directory, "stats")["next_hops"]:
        assert hop["packets"] >= before[hop["via"]], (hop, before)
    config.write_text(config_text(directory).replace("mtu = 1500", "mtu = 1501"))
    refused = subprocess.run(
        [roost, "ctl", "--socket", directory / "forward.sock", "reload"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 1 and "mtu" in refused.stderr, refused
    routes = ctl(roost, directory, "routes")["routes"]
    assert len(routes) == 8, routes
    assert "roost_forward_next_hop_packets_total" in metrics_of(network)


def metrics_of(network):
    return network.middle.run("curl", "-s", "http://127.0.0.1:9180/metrics")


def check_report(report):
    packets, drops = report["packets"], report["drops"]
    assert report["broken"] == [], report["broken"]
    assert packets["received"] > 5_000, packets
    for cause in ("no_route", "ttl_expired", "too_big", "not_served", "neighbour_failed"):
        assert drops[cause] > 0, (cause, drops)
    never = {"malformed", "bad_header", "bad_checksum", "no_neighbour", "tx_refused", "no_buffer"}
    assert not never & {cause for cause, count in drops.items() if count}, drops
    print(f"  router: {packets}, drops { {c: n for c, n in drops.items() if n} }")


def check_wire(roost, directory):
    """Without addresses, the router is a wire: neighbours find each other through it, also while it
    sleeps.
    """
    directory.mkdir()
    config = directory / "wire.toml"
    config.write_text("[[port]]\n[[port]]\n[forward]\nwire = true\npause_microseconds = 100\n")
    with Network(is_kernel=False, is_wire=True) as network:
        devices = [f"net_af_packet{i},iface={side}" for i, side in enumerate(SIDES)]
        with Balancer(
            roost, config, network.middle, directory, devices, function="forward"
        ) as wire:
            wire.wait_until_ready()
            serve(network, directory)
            for address in ("192.0.2.11", "2001:db8:1::11"):
                out = ping(network.left, address)
                assert "2 received" in out and "ttl=64" in out, out
                download(network.left, address)
            report = wire.stop()
    assert report["broken"] == [] and not any(report["drops"].values()), report
    assert report["packets"]["received"] == report["packets"]["sent"] > 2_000, report["packets"]
    (worker,) = report["workers"]
    assert worker["pauses"] > 0 and 0 < worker["cpu_share"] < 0.5, worker
    print(f"live: a wire that may sleep took {worker['cpu_share']:.1%} of its core")


def ask_kernel(directory):
    with Network(is_kernel=True) as network:
        serve(network, directory)
        return ask(network)


def ask_router(roost, directory):
    """Its answers, and its report."""
    config = directory / "forward.toml"
    config.write_text(config_text(directory))
    with Network(is_kernel=False) as network:
        devices = [f"net_af_packet{i},iface={side}" for i, side in enumerate(SIDES)]
        with Balancer(
            roost, config, network.middle, directory, devices, function="forward"
        ) as router:
            router.wait_until_ready()
            serve(network, directory)
            answers = ask(network)
            check_reload(network, roost, directory, config)
            return answers, router.stop()


def check_forwarding(roost, directory):
    # Both wait most of the time, for answers that must not come.
    with concurrent.futures.ThreadPoolExecutor() as pool:
        kernel = pool.submit(ask_kernel, directory)
        answers, report = ask_router(roost, directory)
        expected = kernel.result()
    for question, answer in expected.items():
        assert answers[question] == answer, f"{question}: {answers[question]}, the kernel: {answer}"
    check_report(report)
    check_wire(roost, directory / "wire")
    print(f"live: roost forward answers {len(expected)} questions as the kernel's router does")
