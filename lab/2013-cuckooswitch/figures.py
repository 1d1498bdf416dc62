"""The paper's figures 5, 6 and 7 and its table 3, each with verdicts on shapes and ratios.

The paper had 16 threads on two sockets. Here two cores read one table in figure 5, where counters
that readers write are what costs, and one in the others. The paper's rates are no targets.
"""
from harness.job import Job
from report import record as records, rules
from report.rules import Finding, all_of, at_least, at_most, figure
from report.section import Plot, Section, Table, Verdict, cell, size_name

OURS, PUBLISHED = "roost_packed_shared", "cuckooswitch"
ONE, BATCH = "1 keys a call", "14 keys a call"
# The ladder, from below: name, contestant, how it is called.
LADDER = (("baseline", "cuckooswitch_baseline", ONE), ("+ pages", "cuckooswitch_pages", ONE),
          ("+ order", "cuckooswitch_order", ONE), ("+ batch", "cuckooswitch_batch", BATCH),
          ("+ prefetch", PUBLISHED, BATCH), ("ours", OURS, BATCH))
DENSE, DENSE_IDENTITY = "google_dense_hash_map_mac", "google_dense_hash_map_mac_identity"
MAPS = {"tbb_concurrent_hash_map_mac": "TBB", "std_unordered_map_mac": "std",
        "google_sparse_hash_map_mac": "sparse", DENSE: "dense",
        DENSE_IDENTITY: "dense, identity"}
PAPER_NAMES = MAPS | {OURS: "ours", PUBLISHED: "CuckooSwitch"}
BATCHES = (1, 2, 4, 8, 14, 16, 32)
HITS = {"misses": (0.0,), "key_bits": 48, "counts": False, "lookups": 1 << 21}
BY_TWO = {"cores": 2, "shared": True}
BILLION = 1 << 30
LOAD_OF_BILLION = 1e9 / BILLION
LARGE = 1 << 25  # slots from which on no cache holds a table
PAPER_BYTES_OF_DENSE = (35, 40)


def jobs(full):
    rounds = 5 if full else 3
    for slots in (1 << 17, 1 << 21, 1 << 25, *((1 << 28,) if full else ())):
        yield Job("lookups", "fig5", slots, tuple(name for _, name, _ in LADDER), loads=(0.95,),
                  calls=("1", "14"), rounds=rounds, **BY_TWO, **HITS)
        yield Job("lookups", "fig6", slots, (PUBLISHED, OURS), loads=(0.95,),
                  calls=tuple(map(str, BATCHES)), rounds=rounds, **HITS)
    for slots in (1 << 17, 1 << 21, 1 << 25):
        yield Job("lookups", "fig7", slots, (OURS, PUBLISHED, *MAPS), calls=("14", "32"),
                  rounds=rounds, **HITS)
    if full:  # two tables of this size at a time
        for other in ("cuckooswitch_baseline", OURS):
            yield Job("lookups", "fig5", BILLION, (other, PUBLISHED), loads=(LOAD_OF_BILLION,),
                      calls=("1", "14"), rounds=rounds, **BY_TWO, **HITS)
    for shift in range(5, -1, -1) if full else (5, 4):
        yield Job("bulk", "table3", BILLION >> shift, (OURS, PUBLISHED), loads=(LOAD_OF_BILLION,),
                  key_bits=48)
        yield Job("bulk", "table3", BILLION >> shift, (DENSE,), loads=(LOAD_OF_BILLION,),
                  key_bits=48)


def sections(record):
    parts = (("fig5", figure_5), ("fig6", figure_6), ("fig7", figure_7), ("table3", table_3))
    return [make(record.select(experiment=name).measured()) for name, make in parts
            if record.select(experiment=name).measured().rows]


def rung_ratio(part, above, below):
    """How much faster a rung of the ladder is than another, within rounds."""
    forms = {name: form for _, name, form in LADDER}
    return part.ratio({"contestant": above, "form": forms[above]},
                      {"contestant": below, "form": forms[below]})


def judged(part, verdicts, small_pages=()):
    """Verdicts about times count only where all but those named were on huge pages."""
    others = records.Record([row for row in part.rows if row["contestant"] not in small_pages])
    if others.on_equal_huge_pages():
        return verdicts
    why = "not on equal pages of 2 MiB or more"
    return [Verdict(verdict.source, verdict.claim, rules.NOT_RUN, why) for verdict in verdicts]


def curves_of(part, names_and_forms):
    found = {said: part.curve("slots", contestant=name, form=form)
             for said, name, form in names_and_forms}
    return {said: curve for said, curve in found.items() if curve}


def curve_table(header, curves):
    sizes = sorted({slots for curve in curves.values() for slots, _ in curve})
    return Table([header, *map(size_name, sizes)],
                 [[said, *(cell(dict(curve).get(slots)) for slots in sizes)]
                  for said, curve in curves.items()])


def figure_5(part):
    cores = max(part.values("core_count"))
    part = part.select(core_count=cores)
    section = Section(f"Figure 5: what each step of the published table adds, {cores:g} readers")
    curves = curves_of(part, LADDER)
    section.plots.append(Plot(section.title, "slots", "M lookups/s", curves))
    section.tables.append(curve_table("M lookups/s", curves))
    baseline, pages, order, batch = (name for _, name, _ in LADDER[:4])
    for slots in part.values("slots"):
        mine, source = part.select(slots=slots), f"CSW-F5, {size_name(slots)}"
        there = mine.values("contestant")
        found = [Verdict.of(source, "5.6 times in all",
                            figure(rung_ratio(mine, PUBLISHED, baseline), 5.6, 0.2))]
        if pages in there:
            batch_gain = rung_ratio(mine, batch, order)
            found += [
                Verdict.of(source, "huge pages help a little",
                           at_least(rung_ratio(mine, pages, baseline), 1.0)),
                Verdict.of(source, "order: twice as fast",
                           at_least(rung_ratio(mine, order, pages), 2.0, 0.1)),
                Verdict.of(source, "a batch alone: less than 1.2 times", at_most(batch_gain, 1.2)),
                Verdict.of(source, "prefetching: more than the batch alone",
                           at_least(rung_ratio(mine, PUBLISHED, batch), batch_gain))]
        if OURS in there:
            found.append(Verdict.of(source, "ours above the published one", at_least(
                rung_ratio(mine, OURS, PUBLISHED), 1.0)))
        section.verdicts += judged(mine, found, small_pages=(baseline,))
    section.notes.append("The baseline alone is on pages of 4 KiB: that is its rung.")
    return section


def by_batch(part, contestant):
    return [(lanes, y) for lanes, y in part.curve("lanes_per_call", contestant=contestant)]


def figure_6(part):
    section = Section("Figure 6: lookups by keys a call")
    for slots in part.values("slots"):
        mine, name = part.select(slots=slots), size_name(slots)
        curves = {PAPER_NAMES[other]: by_batch(mine, other) for other in (PUBLISHED, OURS)}
        section.plots.append(Plot(f"Figure 6, {name}", "keys a call", "M lookups/s", curves))
        section.tables.append(Table(
            [name, *map(str, BATCHES)],
            [[said, *(cell(dict(curve).get(float(lanes))) for lanes in BATCHES)]
             for said, curve in curves.items()]))
        published = dict(curves[PAPER_NAMES[PUBLISHED]])
        found = [Verdict.of(f"CSW-F6, {name}", "up to 4 keys a call each more gains",
                            rules.rises([(x, y) for x, y in published.items() if x <= 4]))]
        few, many = published.get(4.0), published.get(14.0)
        if slots >= LARGE and few and many:
            found.append(Verdict.of(f"CSW-F6, {name}", "14 keys far above 4 in a large table",
                                    at_least(many / few, 1.2, 0.1)))
        section.verdicts += judged(mine, found)
    return section


def figure_7(part):
    section = Section("Figure 7: other tables, load 0.8")
    names = [(said, name, BATCH if name in (OURS, PUBLISHED) else "one by one")
             for name, said in PAPER_NAMES.items()]
    curves = curves_of(part, names)
    section.plots.append(Plot(section.title, "slots", "M lookups/s", curves))
    section.tables.append(curve_table("M lookups/s", curves))
    rows = []
    for slots in part.values("slots"):
        mine, source = part.select(slots=slots), f"CSW-F7, {size_name(slots)}"
        section.verdicts += judged(mine, list(figure_7_verdicts(source, mine, slots)))
        rows += [[PAPER_NAMES[name], size_name(slots),
                  cell(mine.field("table_bytes", contestant=name)
                       / mine.field("entries", contestant=name))]
                 for name in mine.values("contestant") if name in PAPER_NAMES]
    section.tables.append(Table(["contestant", "slots", "bytes an entry"], rows))
    return section


def figure_7_verdicts(source, part, slots):
    def over(name):
        return part.ratio({"contestant": PUBLISHED, "form": BATCH}, {"contestant": name})

    yield Verdict.of(source, "above TBB, std and sparse", all_of(
        **{MAPS[name]: at_least(over(name), 1.0) for name in MAPS
           if name not in (DENSE, DENSE_IDENTITY)}))
    if slots >= LARGE:
        yield Verdict.of(source, "above dense in a large table", all_of(
            keyed=at_least(over(DENSE), 1.0), identity=at_least(over(DENSE_IDENTITY), 1.0)))
    else:
        ratio = over(DENSE_IDENTITY)
        finding = (Finding(rules.NOT_RUN, "nothing was measured") if ratio is None
                   else at_most(ratio, 1.0))
        yield Verdict.of(source, "below dense with the identity while a table is small", finding)


def table_3(part):
    section = Section("Table 3: bytes an entry")
    sizes = sorted(part.values("entries"))

    def figures(name, factor=1):
        found = [part.median(contestant=name, entries=size, metric="bytes_per_entry")
                 for size in sizes]
        return [cell(figure and factor * figure, 2) for figure in found]

    section.tables.append(Table(
        ["bytes an entry", *(f"{size / 1e6:.4g}M" for size in sizes)],
        [["ours", *figures(OURS)], ["CuckooSwitch", *figures(PUBLISHED)],
         ["dense", *figures(DENSE)], ["dense and its second copy", *figures(DENSE, 2)]]))
    for name, metric in (("seconds to fill", "bulk_seconds"), ("seconds to audit",
                                                               "audit_seconds")):
        section.tables.append(Table(
            [name, *(f"{size / 1e6:.4g}M" for size in sizes)],
            [[PAPER_NAMES[other], *(cell(part.median(contestant=other, entries=size,
                                                     metric=metric)) for size in sizes)]
             for other in (OURS, PUBLISHED, DENSE)]))
    most = max((part.median(contestant=OURS, entries=size, metric="bytes_per_entry") or 0
                for size in sizes), default=0)
    dense = [part.median(contestant=DENSE, entries=size, metric="bytes_per_entry")
             for size in sizes]
    section.verdicts += [
        Verdict.of("CSW-T3", "ours: at most 8.61 bytes an entry", at_most(most, 8.61, 0.02)),
        Verdict.of("CSW-T3", "dense: about 4 times as much", at_least(
            min(filter(None, dense), default=0) / 8.59 or None, 4.0, 0.1))]
    section.notes.append(
        "The paper's dense table took {} to {} bytes an entry, without the copy that a table needs "
        "which cannot change while it is read (X-50).".format(*PAPER_BYTES_OF_DENSE))
    return section
