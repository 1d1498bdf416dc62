"""The load balancer's table of README, as Markdown, from a record of the experiment `lb`."""
import statistics

from lb.jobs import BALANCER, ON_RTE_HASH, RAW, TESTPMD
from lb.packet_costs import NS, median_over_rte_hash, own_ns
from report.section import cell, markdown_table, size_name


def _row(name, figures, digits=0):
    return [name, *(cell(figure, digits) for figure in figures)]


def rows(record):
    packets = record.select(metric=NS, form="1 worker")
    sizes = packets.select(experiment="packets").measured().values("slots")
    parts = [packets.select(slots=slots) for slots in sizes]

    def medians(contestant, of_experiment="packets"):
        return [part.median(contestant=contestant, experiment=of_experiment) for part in parts]

    def own(contestant):
        return [statistics.median(own_ns(part, contestant).values()) for part in parts]

    yield ["ns a packet", *(f"{size_name(slots)} flows" for slots in sizes)]
    yield _row("`dpdk-testpmd`, io", medians(TESTPMD, "raw"))
    yield _row("raw I/O", medians(RAW[0]))
    yield _row("raw I/O and parsing", medians(RAW[1]))
    yield _row("balancer", medians(BALANCER))
    yield _row("beyond raw I/O and parsing", own(BALANCER))
    yield _row("the same on `rte_hash`", own(ON_RTE_HASH))
    yield _row("**`rte_hash` over ours, within rounds**",
               [median_over_rte_hash(part) for part in parts], 2)


def block(record):
    header, *found = rows(record)
    return markdown_table(header, found)
