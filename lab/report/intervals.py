"""Intervals instead of figures, and rules that compare them with what was claimed. An interval is
(least, middle, greatest) of a simulated measure over the numbers that nobody knows; a rule gives a
Finding as those of rules.py do, `partly` where some of the machines say so and others do not."""
import statistics

from report.rules import NOT_RUN, Finding, _graded

ENDS = ("_least", "", "_greatest")
NEAR = 0.25  # of what is claimed: an interval that ends so far from it says it partly


def of(record, metric, **where):
    """Nothing where nothing was simulated."""
    ends = tuple(record.median(metric=metric + end, **where) for end in ENDS)
    return None if None in ends else ends


def over(values):
    """Of a measure on several machines, the first of which has all numbers in the middle."""
    return (min(values), values[0], max(values)) if values else None


def mean(intervals):
    return tuple(map(statistics.mean, zip(*intervals))) if intervals else None


def text(interval, digits=2):
    if interval is None:
        return "-"
    least, middle, greatest = interval
    return f"{least:.{digits}f} to {greatest:.{digits}f} ({middle:.{digits}f})"


def _not_run():
    return Finding(NOT_RUN, "nothing was simulated")


def contains(interval, claimed):
    """What is claimed lies between the ends; partly if it is near one."""
    return meets(interval, (claimed, claimed))


def meets(interval, claimed):
    """The same of a claimed range: some of it lies between the ends."""
    if interval is None:
        return _not_run()
    least, _, greatest = interval
    low, high = claimed
    said = f"{text(interval)}, claimed {low:g}" + (f" to {high:g}" if high != low else "")
    return _graded(least <= high and low <= greatest,
                   least <= high * (1 + NEAR) and low * (1 - NEAR) <= greatest, said)


def at_least(interval, bound):
    """On every machine; partly on some."""
    if interval is None:
        return _not_run()
    return _graded(interval[0] >= bound, interval[2] >= bound,
                   f"{text(interval)}, at least {bound:g}")


def at_most(interval, bound):
    if interval is None:
        return _not_run()
    return _graded(interval[2] <= bound, interval[0] <= bound,
                   f"{text(interval)}, at most {bound:g}")


def between(values, low, high):
    """Every one of several figures; partly if one is."""
    if not values:
        return _not_run()
    inside = [low <= value <= high for value in values]
    return _graded(all(inside), any(inside),
                   f"{min(values):.3g} to {max(values):.3g}, claimed {low:g} to {high:g}")
