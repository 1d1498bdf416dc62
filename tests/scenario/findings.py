"""What a run of the scenario must show, as lines of its report."""

from dataclasses import dataclass

from events import DRAINED, FAVOURED, KILLED, WEIGHT, flows_created
from network import MANAGEMENT, kernel_counters

# What loses packets on a machine with more to do than it can, and what is normal on a network:
# senders repeat. Nothing here may be dropped for any other cause.
HARMLESS = {"handoff_full", "tx_refused", "no_buffer", "neighbour_queue_full", "not_for_us",
            "not_ip", "no_flow", "icmp_no_flow"}  # fmt: skip
NAMES_MAX = 5  # shown of what failed


@dataclass
class Run:
    """All that was seen."""

    network: object
    backends: dict
    events: object
    waves: list  # of downloads' results
    names: list  # of what ask_names gave
    untagged: int  # frames
    openings: int  # SYNs and their answers, under the tag
    numbers: dict  # the balancer's own report

    @property
    def results(self):
        return [result for wave in self.waves for result in wave]

    @property
    def failed(self):
        return [result for result in self.results if result.error]

    def is_lost_by_kill(self, result):
        return bool(result.error) and result.download.flow in self.events.of_killed


def describe(run, report):
    describe_downloads(run, report)
    describe_events(run, report)
    describe_shares(run, report)
    describe_names(run, report)
    describe_path(run, report)
    describe_workers(run, report)
    describe_sums(run, report)


def by_family(results, condition):
    counts = [0, 0]
    for result in results:
        counts[result.download.is_ipv6] += bool(condition(result))
    return counts


def describe_downloads(run, report):
    def other_failure(result):
        return result.error and not run.is_lost_by_kill(result)

    report.heading("Downloads", "IPv4", "IPv6")
    asked = by_family(run.results, lambda result: True)
    report.row("asked for", *asked, holds=min(asked) > 0)
    right = by_family(run.results, lambda result: result.is_right)
    report.row("right, by SHA-256", *right, holds=min(right) > 0)
    wrong = by_family(run.results, lambda result: not result.is_right and not result.error)
    report.row("with a wrong body", *wrong, holds=sum(wrong) == 0)
    lost = by_family(run.results, run.is_lost_by_kill)
    report.row(f"lost with {KILLED}, whose servers were killed", *lost, holds=min(lost) > 0)
    other = by_family(run.results, other_failure)
    report.row("lost otherwise", *other, holds=sum(other) == 0)
    for result in [one for one in run.results if other_failure(one)][:NAMES_MAX]:
        report.note(f"{result.download.flow} {result.download.path}: {result.error}")


def describe_events(run, report):
    events = run.events
    on_drained = [r for r in run.results if r.download.flow in events.on_drained]
    later = [result for wave in run.waves[1:] for result in wave]
    after_notice = run.waves[2]
    report.heading("Meanwhile")
    report.row(f"{DRAINED} drained, downloads under way on it", len(on_drained),
               holds=len(on_drained) > 0)  # fmt: skip
    report.row("  of these lost", sum(not r.is_right for r in on_drained),
               holds=all(r.is_right and r.backend == DRAINED for r in on_drained))  # fmt: skip
    misled = sum(r.backend == DRAINED for r in later)
    report.row(f"  later downloads on it, of {len(later)}", misled, holds=misled == 0)
    report.row("reload of the configuration", f"{events.reload_seconds * 1000:.0f} ms",
               holds=events.reloads == {"taken": 1, "refused": 0})  # fmt: skip
    report.row(f"  weight of {FAVOURED} since", events.weights[FAVOURED],
               holds=events.weights == {FAVOURED: WEIGHT, DRAINED: 0, KILLED: 1})  # fmt: skip
    report.row(f"{KILLED} killed, noticed by health checks after",
               f"{events.notice_seconds:.1f} s")  # fmt: skip
    lost_after = sum(not r.is_right for r in after_notice)
    report.row(f"  later downloads lost, of {len(after_notice)}", lost_after,
               holds=all(r.is_right and r.backend != KILLED for r in after_notice))  # fmt: skip


def describe_shares(run, report):
    """Connections as the servers logged them, those that the kill cut off before they were logged,
    and the balancer's own count.
    """
    report.heading("Shares, in connections", "nginx's log", "cut off", "roost")
    for name, backend in run.backends.items():
        logged = sum(address not in MANAGEMENT for address, _ in backend.web_flows())
        cut_off = sum(map(run.is_lost_by_kill, run.results)) if name == KILLED else 0
        made = flows_created(run.numbers, name)
        told = sum(result.backend == name and result.is_right for result in run.results)
        report.row(name, logged, cut_off, made,
                   holds=made == logged + cut_off and logged == told > 0)  # fmt: skip


def describe_names(run, report):
    report.heading("Names with large answers, over UDP", "IPv4", "IPv6")
    asked = [sum(len(names[service]) for names in run.names) for service in ("dns", "dns6")]
    whole = [sum(sum(names[service]) for names in run.names) for service in ("dns", "dns6")]
    report.row("asked for", *asked, holds=min(asked) > 0)
    report.row("answered whole", *whole, holds=whole == asked)


def describe_path(run, report):
    router, far = kernel_counters(run.network.router), kernel_counters(run.network.far)
    backends = [kernel_counters(namespace) for namespace in run.network.backends.values()]

    def received_by_backends(kind):
        """Without those that their own kernels told them."""
        return sum(counters[kind.format("In")] - counters[kind.format("Out")]
                   for counters in backends)  # fmt: skip

    report.heading("Large packets on a narrow link", "IPv4", "IPv6")
    told = router["IcmpOutDestUnreachs"], router["Icmp6OutPktTooBigs"]
    report.row("too big, the router says", *told, holds=min(told) > 0)
    received = (
        received_by_backends("Icmp{}DestUnreachs"),
        received_by_backends("Icmp6{}PktTooBigs"),
    )
    report.row("too big, the backends receive", *received, holds=min(received) > 0)
    report.row("pieces that the router cut packets into", router["IpFragCreates"], "",
               holds=router["IpFragCreates"] > 0)  # fmt: skip
    whole = far["IpReasmOKs"], far["Ip6ReasmOKs"]
    report.row("datagrams that clients put together", *whole, holds=min(whole) > 0)
    fragments = run.numbers["fragments"]
    report.heading("Fragments in the balancer")
    report.row("that followed their first one", fragments["followed"],
               holds=fragments["followed"] > 0)  # fmt: skip
    report.row("that waited for it, and went on", fragments["released"])
    report.row("that waited in vain: their first one was lost", fragments["expired"])
    report.row("dropped", fragments["dropped"], holds=fragments["dropped"] == 0)
    report.heading("The tagged segment")
    least = 2 * len(run.results)  # a SYN and its answer
    report.row("openings of connections under the tag", run.openings, holds=run.openings >= least)
    report.row("frames without the tag", run.untagged, holds=run.untagged == 0)


def describe_workers(run, report):
    rows = run.numbers["workers"]
    report.heading("Workers", *(str(number) for number in range(len(rows))))
    made = [row["flows_created"] for row in rows]
    report.row("connections", *made, holds=min(made) > 0)
    report.row("packets decided", *(row["decided"] for row in rows))
    out, into = ([row[name] for row in rows] for name in ("handoff_out", "handoff_in"))
    report.row("packets handed off", *out, holds=sum(out) == sum(into))


def describe_sums(run, report):
    packets, flows = run.numbers["packets"], run.numbers["flows"]
    drops = {cause: count for cause, count in run.numbers["drops"].items() if count}
    came = packets["received"] + packets["originated"]
    report.heading("Packets")
    report.row("received and originated", came)
    report.row("sent", packets["sent"])
    report.row("consumed", packets["consumed"])
    for cause, count in drops.items():
        report.row(f"dropped: {cause}", count, holds=cause in HARMLESS)
    left = came - packets["sent"] - packets["consumed"] - sum(drops.values())
    report.row("unaccounted for", left, holds=left == 0)
    report.heading("Connections")
    ways = ("live", "ended", "expired", "evicted", "deleted")
    report.row("created", flows["created"])
    for way in ways:
        report.row(way, flows[way], holds=way in ("live", "ended", "expired") or flows[way] == 0)
    left = flows["created"] - sum(flows[way] for way in ways)
    report.row("unaccounted for", left, holds=left == 0)
