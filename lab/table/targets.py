"""What the flow table is expected to reach, and the rule that says whether it did.

By case and miss ratio, in multiples of rte_hash at the same place of the same rounds: a `must`, and
an `aim` beyond it. The oracle goes straight to the right lines through the same driver, so where
90 % of it is below the aim, 90 % of it is the aim.
"""
import dataclasses
import statistics

from report.bench import PEER
from report.section import MISS_NAMES, Verdict, cell

OURS = "roost_flow_table"
ORACLE_SHARE = 0.9


@dataclasses.dataclass(frozen=True)
class Case:
    """`oracle` begins the names of the oracles of this shape, one a prefetch hint."""

    name: str
    slots: int
    contestant: str
    oracle: str
    must: tuple = ()  # at 0, 50 and 100 % misses
    aim: tuple = ()
    must_plain: tuple = ()
    experiment: str = "split"


CASES = (
    Case("split, 32M", 1 << 25, OURS, "oracle_two_line", (1.5, 1.65, 1.85), (1.85, 1.95, 2.5),
         (1.35, 1.45, 1.7)),
    Case("split, 512K", 1 << 19, OURS, "oracle_two_line", (1.6, 2.3, 1.7), (2.0, 3.0, 2.1)),
    Case("split, 128M", 1 << 27, OURS, "oracle_in_table", (1.4, 1.5, 2.0), (1.7, 1.9, 2.8)),
    Case("inline, 2 slots a line, 32M", 1 << 25, "roost_inline_2", "oracle_inline_2",
         (1.9, 1.8, 1.5), (2.2, 2.1, 1.8), experiment="inline"),
    Case("inline, 3 slots a line, 32M", 1 << 25, "roost_inline_3", "oracle_inline_3",
         (2.2, 2.1, 1.6), (2.7, 2.5, 2.1), experiment="inline"),
    Case("inline, 2 slots a line, 512K", 1 << 19, "roost_inline_2", "oracle_inline_2",
         (1.4, 1.4, 1.4), (2.0, 2.0, 2.0), experiment="inline"),
    Case("inline, 3 slots a line, 512K", 1 << 19, "roost_inline_3", "oracle_inline_3",
         (1.4, 1.4, 1.4), (2.0, 2.0, 2.0), experiment="inline"),
)
# Mean of filling 32M to these loads.
INSERT_CONTESTANTS = (OURS, PEER)
INSERTS = {0.8: (2.5, 4.0), 0.95: (1.8, 3.3)}
# A kernel wins over another if its median gain over sizes, forms and miss ratios is this share, and
# loses nowhere more than this one.
KERNEL_GAIN_MIN, KERNEL_LOSS_MAX = 0.02, 0.02
TIMERS_COST_MAX = 0.05
HINT_SHARE_MIN = 0.95
TWO_CORES_MIN = 1.9


def judge(ratio, must, aim, oracle_ratio=None):
    """(word, what is said). `oracle_ratio` is the oracle's multiple of the same peer."""
    if ratio is None:
        return "not run", "nothing was measured"
    said = f"{ratio:.2f} x {PEER}, must {must:g}, aim {aim:g}"
    if oracle_ratio is not None and ORACLE_SHARE * oracle_ratio < aim:
        aim = ORACLE_SHARE * oracle_ratio
        said += f", brought down to {aim:.2f} by the oracle"
    if ratio < must:
        return "MISSED", f"{said} ({ratio / must - 1:+.1%})"
    return ("aim reached" if ratio >= aim else "must reached"), said


def verdict(source, claim, ratio, must, aim, oracle_ratio=None):
    return Verdict(source, claim, *judge(ratio, must, aim, oracle_ratio))


def verdict_at_least(source, claim, figure, bound, digits=2):
    if figure is None:
        return Verdict(source, claim, "not run", "nothing was measured")
    return Verdict(source, claim, "must reached" if figure >= bound else "MISSED",
                   f"{cell(figure, digits)}, at least {bound:g}")


def verdict_of_kernel(source, claim, ratios):
    """Whether one kernel is faster than another, from the ratio at each place."""
    if not ratios:
        return Verdict(source, claim, "not run", "nothing was measured")
    middle, least, greatest = statistics.median(ratios), min(ratios), max(ratios)
    said = f"{middle:.2f} ({least:.2f}-{greatest:.2f}) of {len(ratios)} places"
    if middle >= 1 + KERNEL_GAIN_MIN and least >= 1 - KERNEL_LOSS_MAX:
        return Verdict(source, claim, "ahead", said)
    behind = middle <= 1 - KERNEL_GAIN_MIN and greatest <= 1 + KERNEL_LOSS_MAX
    return Verdict(source, claim, "behind" if behind else "even", said)


def verdicts_of_case(case, ratios, plain_ratios, oracle_ratios):
    """One a miss ratio; each argument is a mapping from miss ratio to a multiple of the peer."""
    for place, (miss, name) in enumerate(MISS_NAMES.items()):
        yield verdict(case.name, f"{name}, overlapping calls", ratios.get(miss), case.must[place],
                      case.aim[place], oracle_ratios.get(miss))
    for miss, bound in zip(MISS_NAMES, case.must_plain):
        yield verdict_at_least(case.name, f"{MISS_NAMES[miss]}, plain calls x {PEER}",
                               plain_ratios.get(miss), bound)
