#!/usr/bin/python3
"""The live test: real clients reach real servers through `roost lb`, between network namespaces.

    tests/live/run.py [--roost build/release/apps/roost]

Exit status 0 when everything holds. NOT TESTED, where namespaces are refused, fails if CI=true.
"""

import argparse
import collections
import os
import pathlib
import signal
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from attacks import check_attacks  # noqa: E402
from balancer import Balancer, packet_sockets  # noqa: E402
from chain import NoXdp, check_chain  # noqa: E402
from classifying import check_classifying  # noqa: E402
from draining import Control, check_control_agrees, check_log  # noqa: E402
from draining import drain_under_traffic, fail_over  # noqa: E402
from failover import check_failover  # noqa: E402
from firewalling import check_firewalling  # noqa: E402
from forwarding import check_forwarding  # noqa: E402
from modes import config_with_modes, live_modes  # noqa: E402
from namespaces import Refused  # noqa: E402
from nat import check_nat  # noqa: E402
from nat64 import check_nat64  # noqa: E402
from observing import check_observing  # noqa: E402
from offloads import check_offloads  # noqa: E402
from owners import owner_of, seed_that_splits  # noqa: E402
from port_ranges import check_port_ranges  # noqa: E402
from priority import check_priority  # noqa: E402
from proxy_protocol import check_proxy_protocol  # noqa: E402
from reloading import reload_by_ctl, reload_by_signal, refuse_bad_files  # noqa: E402
from restarts import check_restarts  # noqa: E402
from scene import Scene  # noqa: E402
from servers import body_digests  # noqa: E402
from services import check_services  # noqa: E402
from snooping import check_snooping  # noqa: E402
from strays import EXPECTED, send_strays  # noqa: E402
from switching import check_switching  # noqa: E402
from tracker_flood import check_flood_of_syns, compare_floods  # noqa: E402
from trackers import check_trackers  # noqa: E402
from virtual_checks import check_virtual_checks  # noqa: E402
from takeover import check_takeover  # noqa: E402

WEB_REQUESTS = ["1k", "64k", "backend", "1k"] * 50 + ["4m"] * 3  # each family
DNS_REQUESTS = ["A", "AAAA", "TXT"] * 70  # each family
NEAR = ("192.0.2.80", "2001:db8:1::80")  # virtual addresses on the clients' network


def ask_everything(scene):
    """Answers of all services, by service name."""
    clients = scene.clients
    return {
        service["name"]: clients.web(service, WEB_REQUESTS)
        if service["protocol"] == "tcp"
        else clients.dns(service, DNS_REQUESTS)
        for service in scene.config["service"]
    }


def check_contents(scene, answers):
    """Every answer is right: bodies by SHA-256, records by the backend that owns them."""
    digests = body_digests()
    owner = {text: b.name for b in scene.backends for text in b.records.values()}
    for answer in (a for given in answers.values() for a in given):
        if answer.service.startswith("web"):
            assert answer.backend in scene.network.backends, answer
            assert answer.question == "backend" or answer.text == digests[answer.question], answer
        else:
            assert answer.text in owner, answer


def check_backends_agree(scene, answers):
    """The backend that says that it answered has logged the request, for each source port."""
    owner = {text: b.name for b in scene.backends for text in b.records.values()}
    logs = {(flow, b.name) for b in scene.backends for flow in b.web_flows() | b.dns_flows()}
    for answer in (a for given in answers.values() for a in given):
        assert ((answer.address, answer.port), answer.backend or owner[answer.text]) in logs, answer


def check_shares(scene, answers, report):
    """The balancer's flows by service and backend are the servers' own counts, and no backend
    idles.
    """
    owner = {text: b.name for b in scene.backends for text in b.records.values()}
    for service in scene.config["service"]:
        told = collections.Counter(a.backend or owner[a.text] for a in answers[service["name"]])
        counted = {b["name"]: b["flows"] for b in backends_of(report, service["name"])}
        assert (
            dict(told) == counted
        ), f"{service['name']}: servers count {dict(told)}, roost counts {counted}"
        assert all(counted.values()), f"{service['name']}: {counted}"
        print(f"  {service['name']:<5} {counted}")


def backends_of(report, service):
    return next(s for s in report["services"] if s["name"] == service)["backends"]


def check_conservation(report):
    packets, flows = report["packets"], report["flows"]
    drops = sum(report["drops"].values())
    assert (
        packets["received"] + packets["originated"] + packets["replicated"]
        == packets["sent"] + drops + packets["consumed"]
    ), (packets, report["drops"])
    over = sum(flows[name] for name in ("ended", "expired", "deleted", "evicted", "moved"))
    assert flows["created"] + flows["adopted"] == flows["live"] + over, flows
    print(f"  {packets} {flows}")


def check_strays(report):
    """Each stray was dropped by its cause, and nothing else was dropped by a cause that real
    requests could meet.
    """
    drops = {cause: count for cause, count in report["drops"].items() if count}
    print(f"  drops {drops}")
    for cause, count in EXPECTED.items():
        seen = drops.get(cause, 0)
        assert seen >= count, f"{cause}: {seen}, at least {count} were sent"
    never = {"no_backend", "reply_tuple_taken", "table_full", "no_neighbour", "tx_refused"}
    never |= {"neighbour_failed", "neighbour_queue_full", "no_buffer"}
    assert not never & drops.keys(), drops


def controlled(config_file, directory, hash_seed):
    """The configuration with a control socket, health checks and a seed, and the socket's path."""
    config, socket = directory / "lb.toml", directory / "lb.sock"
    check = 'check = {kind = "http", path = "/backend", every_seconds = 0.2, fall = 2}'
    text = config_file.read_text().replace('name = "web"\n', f'name = "web"\n{check}\n')
    text = text.replace("[table]\n", f"[table]\nhash_seed = {hash_seed}\n")
    config.write_text(f'{text}\n[control]\nsocket = "{socket}"\n')
    return config, socket


def check_neighbours(report, has_static_neighbours):
    """Static neighbours are not solicited; else every backend and the client advertised, by
    both protocols.
    """
    neighbours = report["neighbours"]
    print(f"  neighbours {neighbours}")
    assert all(neighbours[name] == 0
               for name in ("failed", "lost_failed", "unsolicited_probed")), neighbours
    assert neighbours["waited"] == neighbours["released"], neighbours
    if has_static_neighbours:
        assert neighbours["solicitations_sent"] == 0, neighbours
    else:
        assert neighbours["confirmed"] >= 6, neighbours
        assert neighbours["advertisements_sent"] >= 4, neighbours
        assert neighbours["waited"] >= 2, neighbours


def config_without_neighbours(config_file, directory):
    """The file without its [[neighbour]] tables, and with virtual addresses on the clients' own
    network, which only a station that answers ARP and neighbour discovery for them can have.
    """
    tables = config_file.read_text().split("\n\n")
    text = "\n\n".join(t for t in tables if not t.startswith("[[neighbour]]"))
    for name, address, backend in zip(("near", "near6"), NEAR, ("10.0.0.11", "2001:db8:2::11")):
        text += (
            f'\n[[service]]\nname = "{name}"\naddress = "{address}"\nport = 80\nprotocol = "tcp"\n'
            f'backends = [{{name = "b1", address = "{backend}", port = 8080}}]\n'
        )
    out = directory / "no-neighbours.toml"
    out.write_text(text)
    return out


def ping_everything(scene, has_static_neighbours):
    """Pings every virtual address and the ports' own, from the clients' and the backends' side."""
    virtual = [service["address"] for service in scene.config["service"]]
    own = [[a.split("/")[0] for a in port["addresses"]] for port in scene.config["port"]]
    near = [] if has_static_neighbours else list(NEAR)
    count = 0
    for namespace, addresses in (
        (scene.network.client, virtual + own[0] + near),
        (scene.backends[0].namespace, own[1]),
    ):
        for address in addresses:
            out = namespace.run("ping", "-n", "-c", "3", "-i", "0.2", "-W", "2", address)
            assert "3 received" in out, out
            count += 3
    return count


def check_workers(report, answers, workers, hash_seed):
    """Each flow was one worker's, the owner of its client's address, by a model of ownership; and
    what was handed off arrived.
    """
    told = collections.Counter(
        owner_of(a.address, workers, hash_seed) for given in answers.values() for a in given
    )
    rows = report["workers"]
    counted = {number: row["flows_created"] for number, row in enumerate(rows)}
    assert dict(told) == counted, f"flows by worker: {dict(told)} by the model, {counted} by roost"
    out, into = (sum(row[name] for row in rows) for name in ("handoff_out", "handoff_in"))
    assert out == into and (out > 0) == (workers > 1), rows
    for number, row in enumerate(rows):
        keys = ("received", "handoff_out", "handoff_in", "decided", "flows_created")
        print(f"  worker {number}: " + ", ".join(f"{key} {row[key]}" for key in keys))


def live(roost, directory, has_static_neighbours, workers):
    with Scene(ROOT / "demo/lb/lb.toml", directory, has_static_neighbours) as scene:
        config = scene.config_file
        if not has_static_neighbours:
            config = config_without_neighbours(config, directory)
        hash_seed = seed_that_splits(scene.clients.addresses, workers)
        config, socket = controlled(config, directory, hash_seed)
        control = Control(roost, socket)
        devices, cores = packet_sockets(workers), range(workers) if workers > 1 else ()
        with Balancer(roost, config, scene.network.lb, directory, devices, cores) as balancer:
            balancer.wait_until_ready()
            answers = ask_everything(scene)
            for service in ("web", "web6"):
                answers[service] += drain_under_traffic(scene, control, service)
            answers["web"] += reload_by_ctl(scene, control, config, "web")
            answers["web6"] += reload_by_signal(scene, control, config, balancer, "web6")
            refuse_bad_files(control, config, balancer)
            answers["web"] += fail_over(scene, control)
            check_log(balancer)
            ping_count = ping_everything(scene, has_static_neighbours)
            unexpected = send_strays(scene)
            report = check_control_agrees(control, balancer.stop)
        assert report["echo_replies"] == ping_count, (report["echo_replies"], ping_count)
        check_neighbours(report, has_static_neighbours)
        assert not unexpected, f"answered, though nothing may: {unexpected}"
        check_contents(scene, answers)
        check_backends_agree(scene, answers)
        check_shares(scene, answers, report)
        check_conservation(report)
        check_workers(report, answers, workers, hash_seed)
        check_strays(report)
        requests = sum(map(len, answers.values()))
        print(
            f"live: {requests} requests by curl and dig, IPv4 and IPv6, answered rightly, "
            f"and {ping_count} pings; workers: {workers}; "
            f"{'static neighbours' if has_static_neighbours else 'neighbours are solicited'}"
        )


def modes(roost, directory, workers):
    with Scene(ROOT / "demo/lb/lb.toml", directory) as scene:
        hash_seed = seed_that_splits(scene.clients.addresses, workers)
        config, socket = controlled(
            config_with_modes(scene.config_file, directory), directory, hash_seed
        )
        answers, report, ping_count = live_modes(scene, roost, config, socket, directory, workers)
        assert report["echo_replies"] == ping_count, (report["echo_replies"], ping_count)
        check_shares(scene, answers, report)
        check_conservation(report)
        check_workers(report, answers, workers, hash_seed)
        print(
            f"live: {sum(map(len, answers.values()))} requests in the modes fullnat and l2dsr, to "
            f"backends with other routes; workers: {workers}"
        )


def failover(roost, directory):
    with Scene(ROOT / "demo/lb/lb.toml", directory) as scene:
        check_conservation(check_failover(scene, roost, directory))


def restarts(roost, directory):
    with Scene(ROOT / "demo/lb/lb.toml", directory, rate="1m") as scene:
        config, socket = controlled(scene.config_file, directory, hash_seed=1)
        answers, report = check_restarts(scene, roost, config, socket, directory)
        check_contents(scene, {"web": answers})
        check_conservation(report)


def services(roost, directory):
    with Scene(ROOT / "demo/lb/lb.toml", directory) as scene:
        check_conservation(check_services(scene, roost, directory))
        check_conservation(check_port_ranges(scene, roost, directory))
        check_conservation(check_proxy_protocol(scene, roost, directory))
        check_conservation(check_nat64(scene, roost, directory / "nat64"))


def attacks(roost, directory, packet_counts):
    for mode in ("nat", "fullnat", "l2dsr"):
        folder = directory / mode
        folder.mkdir(parents=True)
        with Scene(ROOT / "demo/lb/lb.toml", folder) as scene:
            report = check_attacks(scene, roost, mode, folder, packet_counts)
            check_conservation(report)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--attacks", action="store_true", help="all floods, and nothing else")
    parser.add_argument("--roost", type=pathlib.Path, default=ROOT / "build/release/apps/roost")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("live: terminated"))
    cores = len(os.sched_getaffinity(0))
    if cores < 2:
        print("NOT TESTED: live, two workers on one core")
    with tempfile.TemporaryDirectory(prefix="roost-live-") as directory:
        try:
            if options.attacks:
                attacks(options.roost.resolve(), pathlib.Path(directory) / "attacks", (1, 2, 3))
                folder = pathlib.Path(directory) / "syns"
                folder.mkdir()
                compare_floods(options.roost.resolve(), folder)
                return
            for has_static_neighbours, workers in ((True, 1), (False, min(2, cores))):
                folder = pathlib.Path(directory) / f"{has_static_neighbours}"
                folder.mkdir()
                live(options.roost.resolve(), folder, has_static_neighbours, workers)
            folder = pathlib.Path(directory) / "modes"
            folder.mkdir()
            modes(options.roost.resolve(), folder, min(2, cores))
            for part in (services, restarts, failover):
                folder = pathlib.Path(directory) / part.__name__
                folder.mkdir()
                part(options.roost.resolve(), folder)
            folder = pathlib.Path(directory) / "virtual_checks"
            folder.mkdir()
            check_virtual_checks(options.roost.resolve(), ROOT / "demo/lb/lb.toml", folder)
            attacks(options.roost.resolve(), pathlib.Path(directory) / "attacks", (3,))
            for check in (
                *(check_takeover, check_snooping, check_offloads, check_priority, check_nat),
                *(check_forwarding, check_switching, check_classifying, check_firewalling,
                  check_observing),
                check_trackers, check_flood_of_syns):
                folder = pathlib.Path(directory) / check.__name__
                folder.mkdir()
                check(options.roost.resolve(), folder)
            folder = pathlib.Path(directory) / "chain"
            folder.mkdir()
            check_chain(options.roost.resolve(), ROOT / "demo/lb/lb.toml", folder)
        except NoXdp as refusal:
            print(f"NOT TESTED: net_tap, net_memif and net_af_xdp, without AF_XDP ({refusal})")
        except Refused as refusal:
            print(f"NOT TESTED: network namespaces refused ({refusal})")
            sys.exit(1 if os.environ.get("CI") == "true" else 0)


if __name__ == "__main__":
    main()
