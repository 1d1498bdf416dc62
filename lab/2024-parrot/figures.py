"""The paper's figures 8 to 12, 15 and 16 and its table, each with verdicts by rule (judging.py)."""
from harness.beside import beside
from report import record as records, rules
from report.rules import all_of, at_least, at_most, multiple
from report.section import Plot, Section, Table, Verdict, cell

judging = beside(__file__, "judging")
jobs_of = judging.jobs_of
PARROT, LINE_MAP, LUDO, LMH, CUCKOO = (jobs_of.PARROT, jobs_of.LINE_MAP, jobs_of.LUDO, jobs_of.LMH,
                                       jobs_of.CUCKOO)
SAID, WITHIN, NOT_MEASURED = judging.SAID, judging.WITHIN, judging.NOT_MEASURED
rate, or_not, judged_times, workload = (judging.rate, judging.or_not, judging.judged_times,
                                        judging.workload)
stand_in_notes, per_key, quotient = judging.stand_in_notes, judging.per_key, judging.quotient

ORDER_SLACK = 0.05
# Over Ludo, cuckoo and LMH at load .85, uniform.
FIG8 = {"MAC": (2.08, 1.10, 1.09), "WIKI": (2.38, 1.37, 1.10)}
FIG9_WIKI = {LUDO: 1.94, CUCKOO: 0.36, LMH: 0.47}
TABLE1 = {"WIKI": {LUDO: 240.9, LMH: 4.9, CUCKOO: 16.8, PARROT: 9.8},
          "BOOK": {LUDO: 293.8, LMH: 5.6, CUCKOO: 16.2, PARROT: 9.5}}
SPURIOUS_MAX = 8


def figures_8_and_9(part):
    found = []
    for keys in part.values("workload"):
        mine = part.select(workload=keys)
        count = mine.field("entries")
        speed = Section(f"Figure 8: {keys}, {count / 1e6:g}M keys", notes=stand_in_notes(mine))
        names = [name for name in SAID if name in mine.values("contestant")]
        curves = {SAID[name]: mine.curve("load", **rate(name)) for name in names}
        add_curves(speed, "load", "M lookups/s", curves, 1)
        speed.verdicts += judged_times(mine, list(figure_8_verdicts(mine, keys, names)))
        found.append(speed)
        if keys.endswith("uniform"):
            found.append(figure_9(mine, keys, names))
    found.append(figure_8_shapes(part))
    return [section for section in found if section is not None]


def add_curves(section, x, y, curves, digits):
    curves = {name: curve for name, curve in curves.items() if curve}
    places = sorted({place for curve in curves.values() for place, _ in curve})
    section.plots.append(Plot(section.title, x, y, curves))
    section.tables.append(Table([y, *(f"{place:g}" for place in places)], [
        [name, *(cell(dict(curve).get(place), digits) for place in places)]
        for name, curve in curves.items()]))


def paper_name(keys):
    return next((name for name in jobs_of.SETS if keys == workload(name)), None)


def figure_8_verdicts(part, keys, names):
    rivals = [name for name in jobs_of.PAPER_PEERS if name in names]
    for load in part.values("load"):
        mine = part.select(load=load)
        ratios = {name: mine.ratio(rate(PARROT), rate(name)) for name in rivals}
        yield Verdict.of(f"PAR-F8, load {load:g}", f"{keys}: Parrot is first", all_of(**{
            name: or_not(ratios[name], lambda r=ratios[name]: at_least(r, 1.0, ORDER_SLACK))
            for name in rivals}))
    paper = paper_name(keys)
    at_85 = part.select(load=0.85)
    for name, claimed in zip((LUDO, CUCKOO, LMH), FIG8.get(paper, ())):
        yield Verdict.of("PAR-F8, load 0.85", f"{keys}: {claimed:g} times {SAID[name]}",
                         multiple(at_85.ratio(rate(PARROT), rate(name)), claimed, WITHIN))
    for name in (LUDO, CUCKOO):
        yield Verdict.of("PAR-F8", f"{keys}: {SAID[name]} stays as it is at every load",
                         rules.stays(part.curve("load", **rate(name)), 0.1))


def figure_8_shapes(part):
    """Parrot and LMH do best where keys are easiest to learn."""
    section = Section("Figure 8: between the sets")
    verdicts = []
    for name in (PARROT, LMH):
        best = {paper: part.median(workload=workload(paper), load=0.85, **rate(name))
                for paper in jobs_of.SETS}
        others = [value for paper, value in best.items() if paper != "WIKI" and value]
        wiki = best["WIKI"]
        verdicts.append(Verdict.of("PAR-F8", f"{SAID[name]} is fastest on WIKI", NOT_MEASURED if
                                   wiki is None or not others else
                                   at_least(wiki / max(others), 1.0, ORDER_SLACK)))
    section.verdicts += judged_times(part, verdicts)
    return section


def figure_9(part, keys, names):
    section = Section(f"Figure 9: {keys}, bits a key", notes=stand_in_notes(part) + [
        "All of an image. The paper counts a bucket's bits and, it seems, no stash (X-110). Ludo "
        "is built once here; one that is changed keeps its keys beside it, as ours do."])
    curves = {SAID[name]: part.curve("load", contestant=name, metric="bits_per_key")
              for name in names}
    add_curves(section, "load", "bits a key", curves, 1)
    section.tables.append(Table(["", "builder's bits a key, load 0.85"], [
        [SAID[name], cell(per_key(part.select(contestant=name, load=0.85), "builder_bytes"))]
        for name in names]))
    failed = part.median(contestant=PARROT, metric="failed_bucket_share", load=0.85)
    stashed = part.median(contestant=PARROT, metric="stashed_share", load=0.85)
    if failed is not None:
        section.notes.append(f"Parrot at 0.85: {100 * failed:.3f} % of buckets failed, "
                             f"{100 * stashed:.2f} % of keys are in the stash.")
    at_85 = part.select(load=0.85, metric="bits_per_key")
    mine = at_85.median(contestant=PARROT)
    others = {name: at_85.median(contestant=name) for name in (LUDO, CUCKOO, LMH)}
    order = [others[LUDO], mine]
    section.verdicts.append(Verdict.of("PAR-F9", f"{keys}: Ludo takes least", NOT_MEASURED if
                                       None in order else at_least(mine / others[LUDO], 1.0, 0)))
    if paper_name(keys) == "WIKI":
        for name, claimed in FIG9_WIKI.items():
            known = mine is not None and others[name]
            section.verdicts.append(Verdict.of(
                "PAR-F9", f"{keys}: Parrot takes {claimed:g} times {SAID[name]}'s",
                multiple(mine / others[name] if known else None, claimed, WITHIN)))
    return section


def figure_10(part):
    section = Section("Figure 10: bytes by number of keys, load 0.95", notes=stand_in_notes(part))
    for keys in part.values("workload"):
        mine = part.select(workload=keys, metric="image_bytes")
        names = [name for name in SAID if name in mine.values("contestant")]
        curves = {f"{SAID[name]}, {keys}": mine.curve("entries", contestant=name)
                  for name in names}
        megabytes = {name: [(count / 1e6, size / 1e6) for count, size in curve]
                     for name, curve in curves.items()}
        add_curves(section, "M keys", f"MB, {keys}", megabytes, 1)
        section.verdicts += figure_10_verdicts(keys, {
            name: mine.curve("entries", contestant=name) for name in names})
    return section


def figure_10_verdicts(keys, curves):
    for name in (PARROT, LUDO, CUCKOO, LMH):
        per = [(count, size / count) for count, size in curves.get(name, [])]
        yield Verdict.of("PAR-F10", f"{keys}: {SAID[name]} is linear", rules.stays(per, 0.05))
    order = (LUDO, PARROT, CUCKOO, LMH)
    steps = {f"{below}_{above}": rules.never_below(curves.get(above), curves.get(below), 0)
             for below, above in zip(order, order[1:])}
    yield Verdict.of("PAR-F10", f"{keys}: Ludo, Parrot, cuckoo, LMH by size (X-111)",
                     all_of(**steps))


def figure_11(part):
    section = Section("Figure 11: ranges", notes=stand_in_notes(part))
    names = [name for name in (PARROT, LMH) if name in part.values("contestant")]
    for metric, said, digits in (("range_ns", "ns a range", 0),
                                 ("spurious_values", "values that are not of it", 2)):
        curves = {SAID[name]: part.curve("lanes_per_call", contestant=name, metric=metric)
                  for name in names}
        add_curves(section, "keys of a range", said, curves, digits)
    worst = max((y for _, y in part.curve("lanes_per_call", contestant=PARROT,
                                          metric="spurious_values")), default=None)
    section.verdicts += [
        Verdict.of("PAR-F11", "at most 8 values that are not of the range, on average",
                   at_most(worst, SPURIOUS_MAX, 0)),
        *judged_times(part, [Verdict.of(
            "PAR-F11", "latency rises with the length", all_of(**{
                name: rules.rises(part.curve("lanes_per_call", contestant=name,
                                             metric="range_ns")) for name in names}))])]
    return section


def table_1(part):
    section = Section("Table I: seconds to build, load 0.85", notes=stand_in_notes(part) + [
        "The paper's machine is another one; orders and ratios are judged."])
    rows = []
    for paper, claimed in TABLE1.items():
        mine = part.select(workload=workload(paper), metric="build_seconds")
        if not mine.rows:
            continue
        seconds = {name: mine.median(contestant=name) for name in (*claimed, LINE_MAP)}
        rows.append([f"{paper}, {mine.field('entries') / 1e6:g}M",
                     *(cell(seconds[name], 2) for name in seconds)])
        order = sorted(claimed, key=claimed.get)
        steps = {f"{fast}_{slow}": faster(seconds[fast], seconds[slow])
                 for fast, slow in zip(order, order[1:])}
        section.verdicts += [
            Verdict.of("PAR-T1", f"{paper}: LMH, Parrot, cuckoo, Ludo by time", all_of(**steps)),
            *(Verdict.of("PAR-T1", f"{paper}: {SAID[name]} takes "
                         f"{claimed[name] / claimed[PARROT]:.2f} times Parrot's",
                         multiple(quotient(seconds[name], seconds[PARROT]),
                                  claimed[name] / claimed[PARROT], WITHIN))
              for name in (LUDO, LMH, CUCKOO))]
    section.tables.append(Table(["seconds", *(SAID[name] for name in (
        *TABLE1["WIKI"], LINE_MAP))], rows))
    return section


def faster(fast, slow):
    ratio = quotient(slow, fast)
    return NOT_MEASURED if ratio is None else at_least(ratio, 1.0, ORDER_SLACK)


def figure_12(part):
    """By updates a second; the paper has up to 500, and says that they do not matter."""
    section = Section(f"Figure 12: {part.field('entries') / 1e6:g}M keys under updates", notes=[
        *stand_in_notes(part), "Keys that stay are looked up; others are changed on another core, "
        "half new values, a quarter inserts, a quarter erases. A rebuild begins with each rate, in "
        "a thread on the builder's core. Nothing else than the right value was answered."])
    rows, verdicts = [], []
    for name in part.values("contestant"):
        mine = part.select(contestant=name)
        for form in mine.select(metric=records.LOOKUPS).values("form"):
            there = mine.select(form=form)
            rows.append([name, form, *(cell(there.median(metric=metric), digits)
                                       for metric, digits in BESIDE_FIGURES.values())])
        rest = mine.median(form="at rest", metric=records.LOOKUPS)
        for updates in (rate for rate in jobs_of.UPDATE_RATES if rate):
            ratio = quotient(mine.median(form=f"{updates} updates/s", metric=records.LOOKUPS),
                             rest)
            verdicts.append(Verdict.of(
                "PAR-F12", f"{SAID[name]}: as fast beside {updates} updates/s as at rest",
                NOT_MEASURED if ratio is None else at_least(ratio, 1 - ORDER_SLACK, ORDER_SLACK)))
    section.tables.append(Table(["", "", *BESIDE_FIGURES], rows))
    section.verdicts += verdicts
    return section


BESIDE_FIGURES = {"M lookups/s": (records.LOOKUPS, 1), "p99 of a call, ns": ("p99_call_ns", 0),
                  "updates/s": ("updates_per_s", 0), "rebuilds": ("rebuilds", 0),
                  "refused": ("refused", 0), "longest update, us": ("longest_change_us", 0)}


def figure_16(part):
    """A switch's rate is the paper's hardware's: here it is emulated, and nothing is said of it."""
    section = Section("Figures 15 and 16: a switch", notes=[
        "No switch is here. As a pipeline of DPDK's SWX, interpreted, each packet's answer is that "
        "of the C++ reader: an emulated switch, whose rate is none of hardware's. What Tofino 1 "
        "would need is analytic. The same steps as P4-16 text are NOT TESTED: no compiler of it is "
        "packaged. The paper's rates do not close (X-113): 29.09 M packets/s of 155 bytes are "
        "36.07 Gbit/s, not 33.59, and 90 % of what was offered."])
    emulated = part.select(kind="emulated")
    section.tables.append(Table(["SWX, interpreted", "keys", "M packets/s"], [
        [keys, f"{emulated.field('entries', workload=keys):g}",
         cell(emulated.median(workload=keys), 2)] for keys in emulated.values("workload")],
        kind="emulated"))
    analytic = part.select(kind="analytic")
    metrics = analytic.values("metric")
    section.tables.append(Table(["Tofino 1", *(name.replace("_", " ") for name in metrics)], [
        [keys, *(cell(analytic.median(workload=keys, metric=name), 0) for name in metrics)]
        for keys in analytic.values("workload")], kind="analytic"))
    section.verdicts.append(Verdict("PAR-F16", "29.09 of 32.3 M packets/s", rules.NOT_RUN,
                                    "it takes a switch"))
    for keys in analytic.values("workload"):
        stages = analytic.median(workload=keys, metric="stages")
        section.verdicts.append(Verdict.of(
            "PAR-15", f"{keys}: 100,000 keys fit into 12 stages", at_most(stages, STAGES, 0)))
    return section


STAGES = 12


def sections(record):
    parts = (("f8", figures_8_and_9), ("f10", figure_10), ("f11", figure_11), ("f12", figure_12),
             ("f16", figure_16), ("t1", table_1))
    found = []
    for name, make in parts:
        part = record.select(experiment=name).measured()
        if part.rows:
            made = make(part)
            found += made if isinstance(made, list) else [made]
    return found
