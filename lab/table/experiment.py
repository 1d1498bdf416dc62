"""the flow table beside its peers, the ceiling and the oracle

Parts, for --only: split (sizes and loads), inline, fills, replacements, aged, peers (maps, our
other interfaces), zipf, hints, churn, batches, misses, timers, kernels, pages, cores.
"""
from harness.job import SIZES
from report import record as records
from report.bench import PEER, PLAIN
from report.section import (MISS_NAMES, Plot, Section, Table, Verdict, cell, not_run_section,
                            size_name)
from table import readme_chart, readme_speed, targets
from table.jobs import KERNELS, ORACLE, TIMERS, TWIN, jobs
from table.lookups import (bytes_an_entry, lookup_section, oracle_ratios, overlapped_form, places,
                           ratios_to_peer)
from table.replacements import aged_sections, replacement_sections
from table.targets import OURS

__all__ = ["jobs", "sections", "readme_block", "readme_files"]


def sections(record):
    parts = {"split": split_sections, "inline": inline_sections, "fills": fill_sections,
             "replacements": replacement_sections, "aged": aged_sections,
             "peers": peer_sections, "misses": curve_sections, "batches": curve_sections,
             "zipf": rate_sections, "hints": hint_sections, "churn": rate_sections,
             "timers": timer_sections, "kernels": kernel_sections, "pages": page_sections,
             "cores": core_sections}
    found = []
    for name, make in parts.items():
        mine = record.select(experiment=name)
        if mine.rows:
            found += make(mine, name)
    return found + not_run_section(record)


def case_sections(record, cases):
    for slots, load, part in places(record):
        mine = [case for case in cases if case.slots == slots
                and (case.experiment == "split" or case.contestant in part.values("contestant"))]
        for case in mine or [None]:
            name = case.name if case else f"split, {size_name(slots)}"
            section = lookup_section(f"{name}, load {load:g}", part,
                                     case.oracle if case else ORACLE)
            if case and load == 0.8 and part.on_equal_huge_pages():
                section.verdicts += targets.verdicts_of_case(
                    case, ratios_to_peer(part, case.contestant),
                    ratios_to_peer(part, case.contestant, plain=True),
                    oracle_ratios(part, case.oracle))
                timed = f"{case.contestant}_timers"
                if timed in part.values("contestant"):
                    section.verdicts += timer_verdicts(case.name, part, case.contestant, timed)
            yield section


def split_sections(record, _name):
    return list(case_sections(record, [c for c in targets.CASES if c.experiment == "split"]))


def inline_sections(record, _name):
    cases = [case for case in targets.CASES if case.experiment == "inline"]
    return [section for job in record.values("job")
            for section in case_sections(record.select(job=job), cases)]


def best_insert_ratio(part, load):
    form = part.best_form(OURS, load=load)
    return part.ratio({"contestant": OURS, "form": form}, {"contestant": PEER}, load=load)


def insert_winner(part, slots, load):
    """Ours against the fastest of the others, each by its best call."""
    ratios = {}
    for peer in part.values("contestant"):
        ratio = part.ratio({"contestant": OURS, "form": part.best_form(OURS, load=load)},
                           {"contestant": peer}, load=load)
        if peer != OURS and ratio is not None:
            ratios[peer] = ratio
    if ratios:
        closest = min(ratios, key=ratios.get)
        is_ahead = ratios[closest] >= 1
        yield Verdict(f"peers, {size_name(slots)}", f"insertions, mean of filling to load {load:g}",
                      "ahead" if is_ahead else "behind",
                      f"{ratios[closest]:.2f} x {closest}"
                      + ("" if is_ahead else f": {why_inserts_are_behind(slots)}"))


def why_inserts_are_behind(slots):
    """What an insertion of ours does and a map's does not, by where the table's lines are."""
    if slots < SIZES["32M"]:
        return ("lines are near, so instructions count: ours looks for the key in two buckets and "
                "keeps filter, count and tag; a map writes into the first free place of one group")
    return "lines are far, and a map that hashes to one place asks for one of them"


def fill_sections(record, name):
    found = []
    for slots in record.measured().values("slots"):
        part = record.measured().select(slots=slots)
        section = Section(f"insertions, {size_name(slots)}, mean of filling to a load")
        rows = []
        for contestant in part.values("contestant"):
            for form in part.select(contestant=contestant).values("form"):
                for load in part.values("load"):
                    where = {"contestant": contestant, "form": form, "load": load}
                    rows.append([contestant, form, f"{load:g}", cell(part.median(**where)),
                                 cell(part.field("kicks_per_insert", **where), 4)])
        section.tables.append(
            Table(["contestant", "form", "to load", "M inserts/s", "kicks"], rows))
        if name == "peers" and part.on_equal_huge_pages():
            for load in part.values("load"):
                section.verdicts += insert_winner(part, slots, load)
        elif slots == SIZES["32M"] and part.on_equal_huge_pages():
            for load, (must, aim) in targets.INSERTS.items():
                section.verdicts.append(targets.verdict(
                    "batched insert, 32M", f"mean to load {load:g}", best_insert_ratio(part, load),
                    must, aim))
        found.append(section)
    return found


def peer_sections(record, _name):
    """Beside the rates, whether ours is ahead of all that hold the load in no more than 1.5 times
    the bytes."""
    found = []
    for slots, load, part in places(record):
        lookups = part.select(metric=records.LOOKUPS)
        if lookups.rows:
            section = lookup_section(f"peers, {size_name(slots)}, load {load:g}", lookups)
            if lookups.on_equal_huge_pages():
                section.verdicts += ahead_of_peers(lookups, slots)
            found.append(section)
    fills = record.select(metric=records.INSERTS)
    return found + (fill_sections(fills, "peers") if fills.rows else [])


def ahead_of_peers(part, slots):
    for miss, name in MISS_NAMES.items():
        ratios = {}
        for peer in part.values("contestant"):
            bytes_ours, bytes_theirs = (bytes_an_entry(part, table) for table in (OURS, peer))
            if (not bytes_theirs or peer.startswith(("roost_", "oracle_", "ceiling_"))
                    or bytes_theirs > 1.5 * bytes_ours):
                continue
            form = part.best_form(peer, miss_ratio=miss)
            ratio = part.ratio({"contestant": OURS, "form": PLAIN},
                               {"contestant": peer, "form": form}, miss_ratio=miss)
            if ratio is not None:
                ratios[peer] = ratio
        if not ratios:
            continue
        closest = min(ratios, key=ratios.get)
        word = "must reached" if ratios[closest] >= 1 else "MISSED"
        if slots < SIZES["32M"]:
            word = "ahead" if ratios[closest] >= 1 else "behind"
        yield Verdict(f"peers, {size_name(slots)}", f"{name}: plain calls, ahead of all within 1.5 "
                      "times the bytes", word, f"{ratios[closest]:.2f} x {closest}")


def curve_sections(record, name):
    x = {"misses": "miss_ratio", "batches": "lanes_per_call"}[name]
    found = []
    for slots, load, part in places(record):
        section = lookup_section(f"{name}, {size_name(slots)}, load {load:g}", part)
        curves = {}
        for contestant in part.values("contestant"):
            if contestant.startswith(("ceiling_", "empty_")):
                continue
            for next_named in (False, True):
                mine = records.Record([row for row in part.select(contestant=contestant).rows
                                       if ("named" in row["form"]) == next_named])
                if mine.rows:
                    curves[contestant + (", next named" if next_named else "")] = mine.curve(x)
        section.plots.append(Plot(section.title, x.replace("_", " "), "M lookups/s", curves))
        found.append(section)
    return found


def rate_sections(record, name):
    found = []
    for workload in record.measured().values("workload"):
        alike = record.select(workload=workload)
        for job in alike.measured().values("job"):
            for slots, load, part in places(alike.select(job=job)):
                inline = [case for case in targets.CASES if case.experiment == "inline"
                          and case.contestant in part.values("contestant")]
                layout = inline[0].name.rpartition(", ")[0] + ", " if inline else ""
                title = f"{workload}, {layout}{size_name(slots)}, load {load:g}"
                found.append(lookup_section(title, part,
                                            inline[0].oracle if inline else ORACLE))
    return found


def hint_sections(record, _name):
    """Whether the hint that the table came to by itself is about as good as the best."""
    found = []
    for job in record.measured().values("job"):
        for slots, load, part in places(record.select(job=job)):
            [ours] = [name for name in part.values("contestant") if name.startswith("roost_")]
            [form], [miss] = part.values("form"), part.values("miss_ratio")
            kind = f"{form}, {part.values('workload')[0]}, {MISS_NAMES[miss]}"
            section = lookup_section(f"hints, {ours}, {size_name(slots)}, {kind}", part)
            shares = {name: part.ratio({"contestant": ours, "form": form},
                                       {"contestant": name, "form": form}, miss_ratio=miss)
                      for name in part.values("contestant") if name.startswith("forced_")}
            best = min(shares, key=shares.get)
            section.verdicts.append(targets.verdict_at_least(
                f"hints, {ours}, {size_name(slots)}",
                f"{kind}: share of the best hint ({best.removeprefix('forced_')})", shares[best],
                targets.HINT_SHARE_MIN))
            found.append(section)
    return found


def timer_verdicts(source, part, without, timed, share_min=None):
    """What timers leave of the rate at each miss ratio; only reported without a least share."""
    for miss, name in MISS_NAMES.items():
        form = overlapped_form(part, without, miss)
        ratio = part.ratio({"contestant": timed, "form": form},
                           {"contestant": without, "form": form}, miss_ratio=miss)
        claim = f"{name}: with timers, share of the rate without"
        if share_min is None:
            yield Verdict(source, claim, "reported", cell(ratio, 3))
        else:
            yield targets.verdict_at_least(source, claim, ratio, share_min, 3)
        twin = part.ratio({"contestant": TWIN, "form": form},
                          {"contestant": without, "form": form}, miss_ratio=miss)
        if twin is not None:
            yield Verdict(source, f"{name}: a twin's share of the rate", "reported", cell(twin, 3))


def timer_sections(record, name):
    found = rate_sections(record, name)
    for section, (slots, _, part) in zip(found, places(record)):
        section.title = f"timers: {section.title}"
        if part.on_equal_huge_pages():
            bound = 1 - targets.TIMERS_COST_MAX if slots >= SIZES["32M"] else None
            section.verdicts += timer_verdicts(f"timers, {size_name(slots)}", part, OURS, TIMERS,
                                               bound)
    return found


def kernel_sections(record, _name):
    found = []
    for slots, load, part in places(record):
        section = lookup_section(f"kernels, {size_name(slots)}, load {load:g}", part)
        there = [name for name in KERNELS if name in part.values("contestant")]
        for before, kernel in zip(there, there[1:] if part.on_equal_huge_pages() else ()):
            ratios = [part.ratio({"contestant": kernel}, {"contestant": before}, form=form,
                                 miss_ratio=miss)
                      for form in part.values("form") for miss in part.values("miss_ratio")]
            said = " over ".join(name.removeprefix(f"{OURS}_") for name in (kernel, before))
            section.verdicts.append(targets.verdict_of_kernel(
                f"kernels, {size_name(slots)}", said, [ratio for ratio in ratios if ratio]))
        found.append(section)
    return found


def page_sections(record, _name):
    found = []
    for job in record.measured().values("job"):
        part = record.measured().select(job=job)
        page = part.field("page_bytes", contestant=OURS)
        huge = part.field("transparent_huge_bytes", contestant=OURS)
        name = f"pages of {int(page) >> 10} KiB" + (", transparent huge" if huge else "")
        found.append(lookup_section(f"{name}, {size_name(part.rows[0]['slots'])}", part))
    return found


def core_sections(record, _name):
    found = []
    for slots, load, part in places(record):
        rows = []
        section = Section(f"cores on private tables, {size_name(slots)} each, load {load:g}")
        for contestant in part.values("contestant"):
            for form in part.select(contestant=contestant).values("form"):
                for miss in part.values("miss_ratio"):
                    where = {"contestant": contestant, "form": form, "miss_ratio": miss}
                    ratio = part.ratio({"core_count": 2.0}, {"core_count": 1.0}, **where)
                    rows.append([contestant, form, f"{miss:g}",
                                 *(cell(part.median(core_count=n, **where)) for n in (1.0, 2.0)),
                                 cell(ratio, 2)])
                    if (contestant == OURS and part.on_equal_huge_pages()
                            and form == overlapped_form(part, OURS, miss)):
                        section.verdicts.append(targets.verdict_at_least(
                            "two cores", f"{MISS_NAMES.get(miss, miss)}, x one core", ratio,
                            targets.TWO_CORES_MIN))
        section.tables.append(Table(["contestant", "form", "misses", "1 core", "2 cores", "ratio"],
                                    rows))
        found.append(section)
    return found


def readme_block(record, name):
    if name == "chart":
        return readme_chart.block(record)
    if name != "speed":
        raise ValueError(f"experiment table has no block {name}")
    return readme_speed.block(record)


def readme_files(record, name):
    """{path: text} of what a block shows beside its text."""
    return readme_chart.files(record) if name == "chart" else {}
