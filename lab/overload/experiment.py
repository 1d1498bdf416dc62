"""the balancer under too many packets, and under floods, from port to port

Parts, for --only: overload (70 % of what it can, 150 %, 70 %); floods (SYNs and ACKs of ten times
the table beside assured connections); generator (what `roost trafficgen` sends and receives).
"""
import statistics

from overload.jobs import CELLS, WIRE, jobs
from report.section import Plot, Section, Table, Verdict, cell, not_run_section

__all__ = ["jobs", "sections"]

LOSS_MAX = 0.001
P99_TIMES_MAX = 1.5
HELD_WITHIN = 0.005
SENT_OVER_RETURNED_MIN = 1.1  # else the generator is what ends the rate
LATE_MAX = 0.001
AFTER_LOSS, AFTER_P99 = 1, 2  # seconds from the end of the overload
GENERATOR_PACKETS, GENERATOR_AIM = 3e6, 5e6  # a second, sent and received by one core
NOTE = ("Synthetic packets (roost trafficgen) of 64 bytes over net_memif, the generator on one "
        "core and the balancer on the other. Latencies count from when a packet was due.")


def sections(record):
    found = []
    overload = record.select(experiment="overload")
    if overload.measured().rows:
        found.append(overload_section(overload))
    floods = record.select(experiment="floods")
    if floods.measured().rows:
        found.append(flood_section(floods))
    generator = record.select(experiment="generator")
    if generator.measured().rows:
        found.append(generator_section(generator))
    return found + not_run_section(record)


def by_second(part, form, metric):
    """{second: value}."""
    return {int(row["round"]): row["value"]
            for row in part.select(form=form, metric=metric).measured().rows}


def reached(is_reached):
    return "must reached" if is_reached else "MISSED"


def generator_is_late(part, form):
    return (part.median(form=form, metric="late") or 0) > LATE_MAX


def overload_section(part):
    section = Section("Overload: some seconds at 70 % of the capacity, then at 150 %, then at 70 %",
                      notes=[NOTE])
    rows, returned, latency = [], {}, {}
    for name, said in CELLS.items():
        mine = part.select(contestant=name)
        capacity = mine.median(metric="capacity")
        if capacity is None:
            continue
        loss, p99 = (by_second(mine, "steps", metric) for metric in ("loss", "p99_us"))
        returned[said] = [(second, value / 1e6)
                          for second, value in by_second(mine, "steps", "returned").items()]
        latency[said] = list(p99.items())
        steps = by_second(mine, "steps", "step_seconds")
        begin, end = int(steps[0]), int(steps[0] + steps[1])
        before = statistics.median(p99[second] for second in range(1, begin))
        after_loss = [loss[second] for second in loss if second >= end + AFTER_LOSS]
        after_p99 = [p99[second] for second in p99 if second >= end + AFTER_P99]
        during = statistics.median(loss[second] for second in range(begin + 1, end))
        rows.append([said, cell(capacity / 1e6, 2), f"{during:.1%}", f"{max(after_loss):.3%}",
                     cell(before), cell(statistics.median(after_p99)), cell(max(after_p99))])
        if mine.median(metric="sent_over_returned") < SENT_OVER_RETURNED_MIN:
            section.notes.append(f"{said}: the generator ends the rate, not the balancer.")
        if generator_is_late(mine, "steps"):
            section.notes.append(f"{said}: the generator was late for more than a thousandth of "
                                 "its packets, so the figures are its own, too.")
        section.verdicts += [
            Verdict(said, f"less than {LOSS_MAX:.1%} lost from {AFTER_LOSS} s after it on",
                    reached(max(after_loss) < LOSS_MAX), f"{max(after_loss):.3%} at most"),
            Verdict(said, f"p99 back from {AFTER_P99} s after it on: at most {P99_TIMES_MAX} times "
                    "that before", reached(statistics.median(after_p99) <= P99_TIMES_MAX * before),
                    f"{statistics.median(after_p99):.1f} us, before {before:.1f}")]
    section.tables.append(Table(
        ["", "capacity, M packets/s", "lost at 150 %", "lost after, worst second",
         "p99 us before", "p99 us after", "worst second"], rows))
    section.plots += [Plot("Packets that came back", "second", "M packets/s", returned),
                      Plot("Latency", "second", "p99, us", latency)]
    return section


def flood_section(part):
    section = Section("Floods of ten times the table beside assured connections", notes=[NOTE])
    rows, held_curves = [], {}
    for name, said in CELLS.items():
        mine = part.select(contestant=name)
        quiet = by_second(mine, "none", "held")
        if not quiet:
            continue
        for kind in ("none", "syn", "ack"):
            flooded = mine.select(form=kind)
            loss = by_second(mine, kind, "loss")
            held = by_second(mine, kind, "held")
            held_curves[f"{said}, {kind}"] = sorted(held.items())
            offered = by_second(mine, kind, "offered")
            lost = sum(loss[second] * offered[second] for second in loss)
            rows.append([said, kind, cell(held[max(held)], 0), cell(max(held.values()), 0),
                         cell(flooded.median(metric="evicted"), 0), cell(lost, 0),
                         cell(flooded.median(metric="backend_changed"), 0)])
            if kind != "none":
                section.verdicts += flood_verdicts(f"{said}, {kind}", flooded, quiet, held)
    section.tables.append(Table(
        ["", "flood", "held at the end", "held at most", "evicted", "packets lost",
         "changed their backend"], rows))
    section.plots.append(Plot("Connections in the table", "seconds before the end", "connections",
                              held_curves))
    return section


def generator_section(part):
    capacity = part.median(metric="capacity")
    names = ("offered", "returned", "loss", "late", "p50_us", "p99_us", "max_us")
    offered, returned, loss, late, *times = (part.median(metric=name) for name in names)
    passes = loss <= LOSS_MAX and capacity >= GENERATOR_PACKETS
    word = ("MISSED" if not passes else
            "aim reached" if capacity >= GENERATOR_AIM else "must reached")
    section = Section("The generator: what it sends and receives itself, through a wire", notes=[
        "Synthetic packets of 64 bytes over net_memif with rings of 16,384 packets, `roost "
        "trafficgen` on one core, `roost forward` as a wire on the other. Late: more than 10 ms. "
        "A virtual machine's processors stand still for milliseconds now and then, and what was "
        "due meanwhile is late whatever the generator does: no verdict hangs on it here."])
    section.tables.append(Table(
        ["", "offered", "returned", "lost", "late", "p50 us", "p99 us", "longest",
         "saturated, M packets/s"],
        [[WIRE, cell(offered, 0), cell(returned, 0), f"{loss:.4%}", f"{late / offered:.4%}",
          *map(cell, times), cell(capacity / 1e6, 2)]]))
    section.verdicts.append(Verdict(
        "one core", f"{GENERATOR_PACKETS / 1e6:.0f}M packets a second sent and received, at most "
        f"{LOSS_MAX:.1%} lost (aim {GENERATOR_AIM / 1e6:.0f}M)", word,
        f"{loss:.4%} lost; saturated at {capacity / 1e6:.2f}M"))
    return section


def flood_verdicts(said, flooded, quiet, held):
    end, without = held[max(held)], quiet[max(quiet)]
    changed = flooded.median(metric="backend_changed")
    yield Verdict(said, "no connection goes to another backend", reached(changed == 0),
                  f"{changed:.0f} did")
    yield Verdict(said, "tcp_syn and a sweep after the flood, the table holds what it holds "
                  f"without one, within {HELD_WITHIN:.1%}",
                  reached(abs(end / without - 1) <= HELD_WITHIN),
                  f"{end:.0f}, without {without:.0f}")
