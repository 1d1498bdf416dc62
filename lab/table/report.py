"""The table of the experiment `table`, and its verdicts, from the CSV alone.

A figure is the median over the rounds with the least and the greatest beside it. A ratio is taken
within each round and the median is that of the ratios, so that what slows a whole round down does
not count.
"""
import csv
import statistics
from collections import defaultdict

OURS = "roost_flow_table"
VARIANTS = ("roost_optimistic", "roost_pessimistic", "roost_horton")
C_INTERFACE = "roost_c_table"
PEER = "rte_hash"
MAP = "boost_flat_map"
CEILING = "ceiling_two_line"
EMPTY = "empty_loop"
PLAIN = "32 keys a call"

MISS_NAMES = {0.0: "hits", 0.5: "half", 1.0: "misses"}
EXPECTED_SLOTS = 1 << 25
EXPECTED_RATIOS = {0.0: 1.25, 0.5: 1.35, 1.0: 1.6}  # of ours, by its better form, to rte_hash
BROKEN_BENCH_SHARE = 0.40  # of its ceiling on hits that rte_hash reaches on a bench that works
PEER_HINT = "T0"  # rte_hash prefetches into the first cache level, which its ceiling must do too
HUGE_PAGE = 2 << 20


class Measured:
    """One size: rates by contestant, form and miss ratio, each a list by round."""

    def __init__(self):
        self.rates = defaultdict(dict)
        self.pages = {}
        self.bytes = {}
        self.first = None

    def add(self, row):
        self.first = self.first or row
        key = (row["contestant"], row["form"], float(row["miss_ratio"]))
        self.rates[key][int(row["round"])] = float(row["mlookups_per_s"])
        if row["contestant"] != EMPTY:
            self.pages[row["contestant"]] = int(row["page_bytes"])
            self.bytes[row["contestant"]] = int(row["table_bytes"])

    def forms(self, contestant):
        return list(dict.fromkeys(form for name, form, _ in self.rates if name == contestant))

    def of(self, contestant, form, miss):
        rounds = self.rates[contestant, form, miss]
        return [rounds[number] for number in sorted(rounds)]

    def best_form(self, contestant, miss, prefix=""):
        return max((form for form in self.forms(contestant) if form.startswith(prefix)),
                   key=lambda form: statistics.median(self.of(contestant, form, miss)))

    def ratios(self, above, below, miss):
        """By round: `above` and `below` are (contestant, form)."""
        return [a / b for a, b in zip(self.of(*above, miss), self.of(*below, miss), strict=True)]

    def ratio_to_peer(self, form, miss):
        return self.ratios((OURS, form), (PEER, PLAIN), miss)

    def share_of_ceiling(self, contestant, form, miss, hint=""):
        """Of the best ceiling, or of the best one with this hint."""
        ceiling = self.best_form(CEILING, miss, hint)
        return statistics.median(self.ratios((contestant, form), (CEILING, ceiling), miss))

    def on_equal_huge_pages(self):
        return all(page == HUGE_PAGE for page in self.pages.values())


def read(path):
    """Measured by number of slots, in the file's order."""
    sizes = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            sizes.setdefault(int(row["slots"]), Measured()).add(row)
    return sizes


def _cells(label, cells):
    return f"  {label:<48}" + "".join(f"{cell:>24}" for cell in cells)


def _spread(values, digits=1):
    figures = statistics.median(values), min(values), max(values)
    middle, least, greatest = (f"{figure:.{digits}f}" for figure in figures)
    return f"{middle} ({least}-{greatest})"


def _rate_lines(size):
    best = {miss: size.best_form(CEILING, miss) for miss in MISS_NAMES}
    yield _cells("ceiling: two dependent lines, one on a miss",
                 [f"{best[miss]} " + _spread(size.of(CEILING, best[miss], miss))
                  for miss in MISS_NAMES])
    for contestant in (PEER, MAP, *VARIANTS, C_INTERFACE, OURS):
        for form in size.forms(contestant):
            yield _cells(f"{contestant}, {form}",
                         [_spread(size.of(contestant, form, miss)) for miss in MISS_NAMES])
    for form in size.forms(EMPTY):
        cost = [1e3 / statistics.median(size.of(EMPTY, form, miss)) for miss in MISS_NAMES]
        yield _cells(f"driver alone, {form}", [f"{ns:.2f} ns a key" for ns in cost])


def _ratio_lines(size):
    yield _cells("ours / rte_hash, plain calls",
                 [_spread(size.ratio_to_peer(PLAIN, miss), 2) for miss in MISS_NAMES])
    better = {miss: size.best_form(OURS, miss) for miss in MISS_NAMES}
    yield _cells("ours / rte_hash, better form",
                 [_spread(size.ratio_to_peer(better[miss], miss), 2) for miss in MISS_NAMES])
    if size.forms(C_INTERFACE):
        yield _cells("ours by the C interface / by C++, plain calls",
                     [_spread(size.ratios((C_INTERFACE, PLAIN), (OURS, PLAIN), miss), 2)
                      for miss in MISS_NAMES])
    for label, contestant, forms in (
            ("rte_hash", PEER, dict.fromkeys(MISS_NAMES, PLAIN)),
            ("ours, plain calls", OURS, dict.fromkeys(MISS_NAMES, PLAIN)),
            ("ours, better form", OURS, better)):
        yield _cells(f"share of the ceiling: {label}",
                     [f"{size.share_of_ceiling(contestant, forms[miss], miss):.0%}"
                      for miss in MISS_NAMES])


def verdicts(size):
    """One line a miss ratio: reached or missed, and by how much; for EXPECTED_SLOTS only."""
    for miss, wanted in EXPECTED_RATIOS.items():
        form = size.best_form(OURS, miss)
        got = statistics.median(size.ratio_to_peer(form, miss))
        word = "reached" if got >= wanted else "MISSED"
        yield (f"{word}: {MISS_NAMES[miss]} {got:.2f} x rte_hash by {form}, expected {wanted} x "
               f"({got / wanted - 1:+.1%})")


def bench_is_broken(size):
    """rte_hash far below what it reaches on a bench that works: the bench slows everything down."""
    return size.share_of_ceiling(PEER, PLAIN, 0.0, PEER_HINT) < BROKEN_BENCH_SHARE


def _head_lines(slots, size):
    first = size.first
    rounds = len(size.of(PEER, PLAIN, 0.0))
    yield (f"{slots:,} slots, load {float(first['load']):g}, {rounds} interleaved rounds of "
           f"{int(first['lookups']):,} lookups, {first['warm_up_rounds']} more to warm up, "
           f"core {first['core']}")
    entries = int(first["entries"])
    yield "  bytes an entry: " + ", ".join(
        f"{name} {taken / entries:.1f}" for name, taken in size.bytes.items())
    yield "  pages: " + ", ".join(f"{name} {page >> 10} KiB" for name, page in size.pages.items())
    yield _cells("median (least-greatest), million lookups a second", MISS_NAMES.values())


def render(sizes):
    """The report as text, and whether the bench is broken."""
    lines = []
    broken = False
    for slots, size in sizes.items():
        lines += [*_head_lines(slots, size), *_rate_lines(size)]
        if not size.on_equal_huge_pages():
            lines.append("  NO RATIO: not every contestant was on pages of 2 MiB; not comparable")
        else:
            lines += _ratio_lines(size)
            if slots == EXPECTED_SLOTS:
                lines += [f"  {line}" for line in verdicts(size)]
                share = size.share_of_ceiling(PEER, PLAIN, 0.0, PEER_HINT)
                said = f"rte_hash reaches {share:.0%} of the {PEER_HINT} ceiling on hits"
                if bench_is_broken(size):
                    broken = True
                    lines.append(f"  BROKEN BENCH: {said}, less than {BROKEN_BENCH_SHARE:.0%}; "
                                 "no figure counts")
                else:
                    lines.append(f"  sound bench: {said}, at least {BROKEN_BENCH_SHARE:.0%}")
        lines.append("")
    return "\n".join(lines), broken
