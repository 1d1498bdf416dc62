"""the flow table beside its peers, the ceiling and the oracle

Parts, for --only: split (sizes and loads), inline, fills, peers (maps, our other interfaces), zipf,
churn, batches, misses, timers, pages, cores.
"""
from harness.job import SIZES
from report import bench, record as records
from report.section import (MISS_NAMES, Plot, Section, Table, Verdict, cell, not_run_section,
                            size_name)
from table import targets
from table.jobs import ORACLE, TIMERS, jobs
from table.targets import OURS, PEER, PLAIN

__all__ = ["jobs", "sections", "readme_block"]


def sections(record):
    parts = {"split": split_sections, "inline": inline_sections, "fills": fill_sections,
             "peers": peer_sections, "misses": curve_sections, "batches": curve_sections,
             "zipf": rate_sections, "churn": rate_sections, "timers": timer_sections,
             "pages": page_sections, "cores": core_sections}
    found = []
    for name, make in parts.items():
        # Records of the first format have one part, of this kind.
        mine = record.select(experiment="table" if name == "split" and is_first_format(record)
                             else name)
        if mine.rows:
            found += make(mine, name)
    return found + not_run_section(record)


def is_first_format(record):
    return "table" in record.values("experiment")


def places(record):
    """(slots, load, part of the record) of each place measured at."""
    measured = record.measured()
    for slots in measured.values("slots"):
        for load in measured.select(slots=slots).values("load"):
            yield slots, load, measured.select(slots=slots, load=load)


def overlapped_form(part, contestant, miss):
    """The better of the forms that let lookups overlap."""
    forms = [form for form in part.select(contestant=contestant).values("form") if form != PLAIN]
    return max(forms, default=PLAIN,
               key=lambda form: part.median(contestant=contestant, form=form, miss_ratio=miss) or 0)


def ratio_to_peer(part, contestant, form, miss):
    return part.ratio({"contestant": contestant, "form": form},
                      {"contestant": PEER, "form": PLAIN}, miss_ratio=miss)


def ratios_to_peer(part, contestant, plain=False):
    """{miss ratio: multiple of rte_hash} by plain calls, or by the better overlapping form."""
    found = {}
    for miss in MISS_NAMES:
        form = PLAIN if plain else overlapped_form(part, contestant, miss)
        found[miss] = ratio_to_peer(part, contestant, form, miss)
    return {miss: ratio for miss, ratio in found.items() if ratio is not None}


def oracles(part, prefix):
    """The oracles of a shape, one a prefetch hint."""
    return [name for name in part.values("contestant") if name.startswith(prefix)]


def share_of_oracle(part, contestant, form, oracle, miss):
    """Of the best oracle of this shape, called alike."""
    shares = [part.ratio({"contestant": contestant, "form": form},
                         {"contestant": name, "form": form}, miss_ratio=miss)
              for name in oracles(part, oracle)]
    return min((share for share in shares if share is not None), default=None)


def oracle_ratios(part, oracle):
    """{miss ratio: multiple of rte_hash} of the best oracle of this shape."""
    best = {}
    for name in oracles(part, oracle):
        for miss, ratio in ratios_to_peer(part, name).items():
            best[miss] = max(best.get(miss, 0), ratio)
    return best


def lookup_rows(part, oracle):
    """A row a contestant, form and miss ratio: rate, ratio, shares, structural counts, pages."""
    names = [name for name in part.values("contestant")
             if not name.startswith(("ceiling_", "empty_"))]
    fair = part.on_equal_huge_pages()
    for name in names:
        mine = part.select(contestant=name)
        for form in mine.values("form"):
            for miss in mine.values("miss_ratio"):
                where = {"contestant": name, "form": form, "miss_ratio": miss}
                values = list(part.by_round(**where).values())
                if not values:
                    continue
                counts = [part.field(field, **where) for field in (
                    "lines_per_lookup", "secondary_visits_per_lookup",
                    "filter_false_positives_per_lookup", "kicks_per_insert")]
                share = bench.share_of_ceiling(part, name, form, miss_ratio=miss) if fair else None
                of_oracle = share_of_oracle(part, name, form, oracle, miss) if fair else None
                yield [name, form, f"{miss:g}",
                       f"{part.median(**where):.1f} ({min(values):.1f}-{max(values):.1f})",
                       cell(ratio_to_peer(part, name, form, miss) if fair else None, 2),
                       cell(share and share * 100, 0, " %"),
                       cell(of_oracle and of_oracle * 100, 0, " %"),
                       *(cell(count, 4) for count in counts),
                       cell(bytes_an_entry(part, name)), page_name(part, name)]


LOOKUP_HEADER = ["contestant", "form", "misses", "M lookups/s (least-greatest)", "x rte_hash",
                 "of ceiling", "of oracle", "lines", "second visits", "false pos.", "kicks",
                 "B/entry", "pages"]


def bytes_an_entry(part, name):
    taken, entries = part.field("table_bytes", contestant=name), part.field("entries",
                                                                            contestant=name)
    return taken / entries if taken else None


def page_name(part, name):
    page = part.field("page_bytes", contestant=name)
    return "-" if page is None else f"{int(page) >> 10} KiB"


def lookup_section(title, part, oracle=ORACLE):
    section = Section(title, tables=[Table(LOOKUP_HEADER, list(lookup_rows(part, oracle)))])
    first = part.rows[0]
    section.notes.append(
        f"Medians of {len(set(part.values('round')))} interleaved rounds of "
        f"{int(first['operations'] or 0):,} lookups. " + best_ceilings(part))
    if not part.on_equal_huge_pages():
        section.notes.append("NO RATIO: not every contestant was on equal pages of 2 MiB or more")
    return section


def best_ceilings(part):
    said = []
    for name in part.values("contestant"):
        if name.startswith("ceiling_"):
            for miss in part.values("miss_ratio"):
                form = part.best_form(name, miss_ratio=miss)
                best = part.median(contestant=name, form=form, miss_ratio=miss)
                said.append(f"{name} at {miss:g} {form} {best:.1f}")
    return "Ceilings: " + ", ".join(said) + "." if said else ""


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
            yield section


def split_sections(record, _name):
    return list(case_sections(record, [c for c in targets.CASES if c.experiment == "split"]))


def inline_sections(record, _name):
    return list(case_sections(record, [c for c in targets.CASES if c.experiment == "inline"]))


def best_insert_ratio(part, load):
    form = part.best_form(OURS, load=load)
    return part.ratio({"contestant": OURS, "form": form}, {"contestant": PEER}, load=load)


def fill_sections(record, _name):
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
        if slots == SIZES["32M"] and part.on_equal_huge_pages():
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
            bytes_ours, bytes_theirs = (bytes_an_entry(part, who) for who in (OURS, peer))
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
        for slots, load, part in places(record.select(workload=workload)):
            found.append(lookup_section(f"{workload}, {size_name(slots)}, load {load:g}", part))
    return found


def timer_sections(record, name):
    found = rate_sections(record, name)
    for section, (slots, _, part) in zip(found, places(record)):
        section.title = f"timers: {section.title}"
        if not part.on_equal_huge_pages():
            continue
        for miss, miss_name in MISS_NAMES.items():
            form = overlapped_form(part, OURS, miss)
            ratio = part.ratio({"contestant": TIMERS, "form": form},
                               {"contestant": OURS, "form": form}, miss_ratio=miss)
            claim = f"{miss_name}: with timers, share of the rate without"
            if slots < SIZES["32M"]:
                section.verdicts.append(Verdict("timers, 512K", claim, "reported", cell(ratio, 2)))
            else:
                section.verdicts.append(targets.verdict_at_least(
                    f"timers, {size_name(slots)}", claim, ratio, 1 - targets.TIMERS_COST_MAX, 3))
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
    if name != "speed":
        raise ValueError(f"experiment table has no block {name}")
    from table import readme_speed
    return readme_speed.block(record)
