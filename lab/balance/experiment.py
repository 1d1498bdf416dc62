"""balancing algorithms side by side, with and without a connection table

Parts, for --only: events (what breaks and moves while backends come, go, fail and are weighted);
picks (nanoseconds a choice).

An algorithm is worth having beside Maglev if, with 100 backends, it breaks fewer connections than
Maglev without a table and no more when the balancer restarts, its greatest share is at most 1.05
times the mean, and a choice takes at most twice as long.
"""
import math

from balance.jobs import COUNTS, HASHES, RAW, SCENARIOS, jobs
from report.section import Section, Table, Verdict, cell, not_run_section

__all__ = ["jobs", "sections"]

LEAST_DISRUPTION = ("ring", "rendezvous", "anchor", "dx")
BACKENDS_JUDGED = 100.0
MAGLEV_MOVED_MAX = 0.02
JUMP_MOVED_MIN = 0.25
SHARE_MAX = {"maglev": 1.02, "worth having": 1.05}
PICK_RATIO_MAX = 2.0
PICKS_MIN = 1 << 20  # of a pass; with fewer nothing is said of time
DEVIATIONS = 5  # of a count of probes that a share may be off by
NOISE_MAX = 0.1  # beyond it nothing is said of shares


def sections(record):
    found = []
    events = record.select(experiment="events")
    for backends in events.measured().values("slots"):
        part = events.select(slots=backends)
        found.append(broken_section(part, backends))
        found.append(moved_section(part, backends))
        found.append(share_section(part, backends))
    picks = record.select(experiment="picks")
    if picks.measured().rows:
        found.append(pick_section(picks))
    found += [section for section in [worth_section(record)] if section.verdicts]
    return found + not_run_section(record)


def value(part, contestant, scenario, metric, form="no table"):
    return part.median(contestant=contestant, workload=scenario, metric=metric, form=form)


def broken_section(part, backends):
    section = Section(f"Connections broken, {backends:g} backends", notes=[
        "Synthetic (roost/traffic): ten packets a connection, which lasts a twentieth of the run; "
        "counts do not depend on the machine. Of the live ones at the first event, in percent, "
        "which is more than a hundred where several changes follow each other; those of a backend "
        "that failed, in brackets, break with any algorithm. `restart` is the balancer's own, "
        "after a backend left and one came."])
    for form in ("no table", "table"):
        rows = []
        for contestant in HASHES + COUNTS:
            if value(part, contestant, part.rows[0]["workload"], "live", form) is None:
                continue
            rows.append([contestant, *(broken_cell(part, contestant, scenario, form)
                                       for scenario in SCENARIOS)])
        section.tables.append(Table([f"with {form}" if form == "table" else "without a table",
                                     *SCENARIOS], rows, kind="simulated"))
    kept = part.select(metric="broken_moved", form="table").measured()
    broken = [row["value"] for row in kept.rows if row["workload"] != "restart"]
    if broken:
        section.verdicts.append(Verdict(
            "connection table", "with it no connection moves, whatever the algorithm",
            "must reached" if max(broken) == 0 else "MISSED", f"{max(broken):g} at most"))
    return section


def broken_cell(part, contestant, scenario, form):
    moved, failed, live = (value(part, contestant, scenario, metric, form)
                           for metric in ("broken_moved", "broken_failed", "live"))
    if not live:
        return "-"
    said = f"{100 * moved / live:.2f}"
    return f"{said} ({100 * failed / live:.2f})" if failed else said


def moved_section(part, backends):
    section = Section(f"Entries moved, {backends:g} backends", notes=[
        "Of all hashes, in percent, summed over the changes of a scenario: moved / between two "
        "backends that the change is not about. By the weights alone the least is in the first "
        "row."])
    rows = [["least", *(percent(value(part, "maglev", scenario, "moved_min"))
                        for scenario in SCENARIOS)]]
    rows += [[contestant, *(f"{percent(value(part, contestant, scenario, 'moved'))} / "
                            f"{percent(value(part, contestant, scenario, 'moved_needlessly'))}"
                            for scenario in SCENARIOS)] for contestant in HASHES]
    section.tables.append(Table(["", *SCENARIOS], rows, kind="simulated"))
    changes = [scenario for scenario in SCENARIOS if scenario != "restart"]
    for contestant in LEAST_DISRUPTION:
        needless = [value(part, contestant, scenario, "moved_needlessly") for scenario in changes]
        if None not in needless:
            section.verdicts.append(Verdict(
                f"{contestant}'s paper", "no key moves between two backends that stay",
                "REPRODUCED" if max(needless) == 0 else "NOT", percent(max(needless)) + " %"))
    one = [value(part, "maglev", scenario, "moved_needlessly") for scenario in ("leave", "come")]
    if None not in one:
        section.verdicts.append(Verdict(
            "Maglev", f"one that leaves or comes moves at most {MAGLEV_MOVED_MAX:.0%} of all "
            "hashes between others", "REPRODUCED" if max(one) <= MAGLEV_MOVED_MAX else "NOT",
            percent(max(one)) + " %"))
    jump = value(part, "jump", "leave", "moved_needlessly")
    if jump is not None:
        section.verdicts.append(Verdict(
            "Jump's paper", "only the last bucket can go: another one moves most of the others'",
            "REPRODUCED" if jump >= JUMP_MOVED_MIN else "NOT", percent(jump) + " %"))
    return section


def percent(share):
    return cell(None if share is None else 100 * share, 2)


def noise(part, backends):
    """What the greatest share may be off by, since it is counted on so many probes."""
    probes = part.select(metric="share_max_over_mean").field("operations")
    return DEVIATIONS * math.sqrt(backends / probes) if probes else 0.0


def share_section(part, backends):
    section = Section(f"Shares, {backends:g} backends", notes=[
        "The greatest over the mean: of hashes, and of live connections before the first event "
        f"(mean of samples). On so many hashes {noise(part, backends):.3f} is chance."])
    rows = [[contestant, cell(value(part, contestant, "leave", "share_max_over_mean"), 3),
             cell(value(part, contestant, "leave", "live_max_over_mean", "table"), 3),
             cell(value(part, contestant, "leave", "chooser_bytes", "table"), 0)]
            for contestant in HASHES + COUNTS]
    section.tables.append(Table(["", "hashes", "live connections", "bytes"], rows,
                                kind="simulated"))
    share = value(part, "maglev", "leave", "share_max_over_mean")
    if share is not None and noise(part, backends) <= NOISE_MAX:
        section.verdicts.append(Verdict(
            "Maglev", "shares are within 2 % of the weights",
            "REPRODUCED" if share <= SHARE_MAX["maglev"] + noise(part, backends) else "NOT",
            f"{share:.3f}"))
    live = {contestant: value(part, contestant, "leave", "live_max_over_mean", "table")
            for contestant in HASHES + COUNTS}
    if None not in live.values():
        counted = max(live[contestant] for contestant in COUNTS)
        hashed = min(live[contestant] for contestant in HASHES)
        section.verdicts.append(Verdict(
            "least connections", "live connections are more even than by any hash, by four "
            "workers that share nothing too", "must reached" if counted < hashed else "MISSED",
            f"{counted:.3f}, {hashed:.3f}"))
    return section


def pick_section(part):
    section = Section("A choice", notes=[
        "Nanoseconds, one after the other, warm, medians of rounds; the raw loop takes a backend "
        "by the hash and knows no algorithm, so that the compiler may take several at once. "
        "Change: microseconds until a list without one backend is in force."])
    is_timed = part.field("operations") >= PICKS_MIN
    for backends in part.measured().values("slots"):
        mine = part.select(slots=backends)
        rows = []
        for contestant in (RAW, *HASHES, COUNTS[0]):
            ratio = mine.ratio({"contestant": contestant}, {"contestant": "maglev"},
                               metric="pick_ns") if is_timed else None
            rows.append([contestant, cell(mine.median(contestant=contestant, metric="pick_ns")),
                         cell(ratio, 2),
                         cell(mine.median(contestant=contestant, metric="change_us"), 0),
                         cell(mine.field("table_bytes", contestant=contestant), 0)])
        section.tables.append(Table([f"{backends:g} backends", "ns", "of Maglev's", "change, us",
                                     "bytes"], rows))
    return section


def worth_section(record):
    """By the rule that this file begins with."""
    section = Section("Worth having beside Maglev")
    events = record.select(experiment="events", slots=BACKENDS_JUDGED)
    picks = record.select(experiment="picks", slots=BACKENDS_JUDGED, metric="pick_ns")
    timed = picks.field("operations")
    if not events.measured().rows or not timed or timed < PICKS_MIN:
        return section
    for contestant in HASHES:
        if contestant != "maglev":
            missing = list(faults(events, picks, contestant))
            section.verdicts.append(Verdict(
                "rule", f"{contestant} is worth having", "NOT" if missing else "must reached",
                "; ".join(missing) or "all of it"))
    return section


def faults(events, picks, contestant):
    def broken(who, form, names):
        return sum(value(events, who, scenario, "broken_moved", form) or 0 for scenario in names)

    changes = [scenario for scenario in SCENARIOS if scenario != "restart"]
    mine, maglevs = (broken(who, "no table", changes) for who in (contestant, "maglev"))
    if mine >= maglevs:
        yield f"without a table {mine:g} break, Maglev's {maglevs:g}"
    mine, maglevs = (broken(who, "table", ["restart"]) for who in (contestant, "maglev"))
    if mine > maglevs:
        yield f"at a restart {mine:g} break, Maglev's {maglevs:g}"
    share = value(events, contestant, "leave", "share_max_over_mean")
    if share > SHARE_MAX["worth having"] + noise(events, BACKENDS_JUDGED):
        yield f"a share of {share:.2f} times the mean"
    ratio = picks.ratio({"contestant": contestant}, {"contestant": "maglev"})
    if ratio > PICK_RATIO_MAX:
        yield f"a choice takes {ratio:.1f} times Maglev's"
