"""README's table of the switch, as Markdown, from a record of this experiment."""
import statistics

from report.section import cell, markdown_table, size_name

HEADER = ["stations", "raw I/O", "switch", "beyond raw I/O", "the same on `rte_hash`",
          "**ours, of `rte_hash`**", "two workers, of one"]


def row(switch, jobs, part, slots, gain):
    """Of one size and workload, in nanoseconds a packet."""
    def median(values, digits=1):
        return cell(statistics.median(values), digits) if values else "-"

    workload = part.values("workload")[0]
    name = size_name(slots) + ("" if workload == "uniform" else f", by {workload.title()}")
    return [name, *(cell(part.median(contestant=contestant))
                    for contestant in (jobs.RAW, jobs.OURS)),
            *(median(switch.own_ns(part, contestant, jobs.RAW))
              for contestant in (jobs.OURS, jobs.ON_RTE_HASH)),
            median(switch.of_rte_hash(part, jobs), 2), gain]


def block(switch, jobs, record):
    packets = record.select(metric=switch.NS)
    gains = switch.gains_of_workers(packets.select(experiment="workers"), jobs.OURS)
    rows = []
    part = packets.select(experiment="switch").measured()
    for slots in part.values("slots"):
        for workload in part.select(slots=slots).values("workload"):
            is_shared = slots == jobs.SIZES["2M"] and workload == "uniform" and gains
            rows.append(row(switch, jobs, part.select(slots=slots, workload=workload), slots,
                            cell(statistics.median(gains), 2) if is_shared else "-"))
    return markdown_table(HEADER, rows)
