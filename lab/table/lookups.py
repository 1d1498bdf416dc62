"""What a part of a record says of lookups: ratios to rte_hash, shares of the oracle, the table."""
from report import bench
from report.bench import PEER, PLAIN
from report.section import MISS_NAMES, Section, Table, cell
from table.jobs import ORACLE


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
    """A plain call beside a plain call of rte_hash's; any other beside its best."""
    peer_form = PLAIN if form == PLAIN else part.best_form(PEER, miss_ratio=miss)
    return part.ratio({"contestant": contestant, "form": form},
                      {"contestant": PEER, "form": peer_form}, miss_ratio=miss)


def ratios_to_peer(part, contestant, plain=False, misses=tuple(MISS_NAMES)):
    """{miss ratio: multiple of rte_hash} by plain calls, or by the better overlapping form."""
    found = {}
    for miss in misses:
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
                       cell(bytes_an_entry(part, name)), page_name(part, name),
                       line_hint(part, name)]


LOOKUP_HEADER = ["contestant", "form", "misses", "M lookups/s (least-greatest)", "x rte_hash",
                 "of ceiling", "of oracle", "lines", "second visits", "false pos.", "kicks",
                 "B/entry", "pages", "lines by"]


def bytes_an_entry(part, name):
    taken, entries = part.field("table_bytes", contestant=name), part.field("entries",
                                                                            contestant=name)
    return taken / entries if taken else None


def page_name(part, name):
    page = part.field("page_bytes", contestant=name)
    return "-" if page is None else f"{int(page) >> 10} KiB"


def line_hint(part, name):
    """Where the table prefetches buckets' lines to; older records do not know."""
    return part.field("line_hint", contestant=name) or "-"


def lookup_section(title, part, oracle=ORACLE):
    section = Section(title, tables=[Table(LOOKUP_HEADER, list(lookup_rows(part, oracle)))])
    first = part.rows[0]
    processes = len(part.values("process"))
    section.notes.append(
        f"Medians of {len(set(part.values('round')))} interleaved rounds of "
        f"{int(first['operations'] or 0):,} lookups"
        + (f", in {processes} processes" if processes > 1 else "") + ". " + best_ceilings(part))
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
