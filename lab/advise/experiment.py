"""what `roost advise --measure` says beside what `roost lb` pays, for five profiles"""
from advise.jobs import ALL_PROFILES, TINY, jobs
from report.rules import NOT_RUN
from report.section import Section, Table, Verdict, cell, not_run_section

__all__ = ["jobs", "sections"]

BYTES_WITHIN = 0.02
NS_WITHIN = 0.25
LOSS_MAX = 0.001
BATCH_MIN = 16  # of 32: an advice times full ones
METRICS = ("advised_bytes", "bytes", "advised_ns", "ns", "recorded_ns", "held", "advised_held",
           "batch", "loss", "evicted")
NOTES = ["Synthetic packets (roost trafficgen) of the smallest frames over net_memif, the "
         "generator on one core and the balancer on the other. What the balancer pays is its "
         "stages `process` and `upkeep`, in cycles of the TSC, once its table holds what it will "
         "hold; ports are not in it. `roost advise --measure` times the same stages on packets "
         "from memory, in full batches.",
         "A balancer that polls under little load finds packets one by one, and each costs more. "
         "So that it has batches as under load, packets come in bursts of 400; packets a batch "
         "are in the table, and below 16 of them nanoseconds are not compared."]


def sections(record):
    found = []
    part = record.select(experiment="profiles")
    if part.rows:
        found.append(profile_section(part))
    return found + not_run_section(record)


def profile_section(part):
    section = Section("An advice beside what it came to", notes=NOTES)
    rows = []
    for name, profile in ALL_PROFILES.items():
        mine = part.select(contestant=name)
        if not mine.rows:
            continue
        said = profile.said()
        figures = {metric: mine.median(metric=metric) for metric in METRICS}
        section.verdicts += counted(said, figures)
        section.verdicts += timed(said, figures) if name != TINY else untimed(said)
        if mine.measured().rows:
            rows.append([said, megabytes(figures["advised_bytes"]), megabytes(figures["bytes"]),
                         *(cell(figures[metric]) for metric in ("recorded_ns", "advised_ns", "ns",
                                                                "batch")),
                         *(cell(figures[metric], 0) for metric in ("advised_held", "held"))])
    if rows:
        section.tables.append(Table(
            ["", "advised MB", "MB", "ns by records", "ns by --measure", "ns paid",
             "packets a batch", "advised held", "held"], rows))
    return section


def megabytes(count):
    return cell(None if count is None else count / 1e6)


def as_advised(figures, metric, share):
    """A verdict and what it says: whether it came to what was advised, give or take a share."""
    advised, paid = figures[f"advised_{metric}"], figures[metric]
    if advised is None or paid is None:
        return NOT_RUN, "nothing was measured"
    off = advised / paid - 1
    return ("must reached" if abs(off) <= share else "MISSED",
            f"{off:+.1%}: {advised:.6g} advised, {paid:.6g} paid")


def nanoseconds(figures):
    batch = figures["batch"]
    if batch is not None and batch < BATCH_MIN:
        return NOT_RUN, f"{batch:.1f} packets a batch: the balancer was not under load"
    return as_advised(figures, "ns", NS_WITHIN)


def at_most(count, most, text):
    if count is None:
        return NOT_RUN, "nothing was measured"
    return "must reached" if count <= most else "MISSED", text.format(count)


NS_CLAIM = f"ns a packet as advised, within {NS_WITHIN:.0%}"
LOSS_CLAIM = f"at most {LOSS_MAX:.1%} of the packets lost: the load is the profile's"


def counted(said, figures):
    yield Verdict(said, f"bytes of tables as advised, within {BYTES_WITHIN:.0%}",
                  *as_advised(figures, "bytes", BYTES_WITHIN))
    yield Verdict(said, "no connection gives way to another: the table is large enough",
                  *at_most(figures["evicted"], 0, "{:.0f} did"))


def timed(said, figures):
    yield Verdict(said, NS_CLAIM, *nanoseconds(figures))
    yield Verdict(said, LOSS_CLAIM, *at_most(figures["loss"], LOSS_MAX, "{:.3%}"))


def untimed(said):
    for claim in (NS_CLAIM, LOSS_CLAIM):
        yield Verdict(said, claim, NOT_RUN, "a smoke run: small pages, not warm, and not alone")
