"""Verdicts: small rules that compare what was measured with what was claimed.

A rule gives a Finding: `reproduced`, `partly` or `not`, and why in figures; `not run` where there
is nothing to compare. Rules are composed by `all_of`. A curve is a list of (x, y).
"""
import dataclasses

REPRODUCED, PARTLY, NOT, NOT_RUN = "reproduced", "partly", "not", "not run"
WITHIN = 0.05  # what noise may do to an ordering


@dataclasses.dataclass(frozen=True)
class Finding:
    verdict: str
    said: str


def _missing(*things):
    return any(thing is None or thing == [] for thing in things)


def _graded(good, nearly, said):
    return Finding(REPRODUCED if good else PARTLY if nearly else NOT, said)


def figure(measured, claimed, tolerance):
    """As large as claimed, give or take a share of it; partly within twice that."""
    if _missing(measured):
        return Finding(NOT_RUN, "nothing was measured")
    off = abs(measured / claimed - 1)
    return _graded(off <= tolerance, off <= 2 * tolerance,
                   f"{measured:.3g}, claimed {claimed:g} ({measured / claimed - 1:+.0%})")


def multiple(measured, claimed, tolerance):
    """As figure(), of how many times: more and less are opposites, however near one they are, and
    partly at best where one is within noise."""
    found = figure(measured, claimed, tolerance)
    if _missing(measured) or (measured - 1) * (claimed - 1) > 0:
        return found
    return _graded(False, found.verdict != NOT and abs(measured - 1) <= WITHIN, found.said)


def at_most(measured, bound, slack=WITHIN):
    """Not above a bound; partly within `slack` of it."""
    if _missing(measured):
        return Finding(NOT_RUN, "nothing was measured")
    return _graded(measured <= bound, measured <= bound * (1 + slack),
                   f"{measured:.3g}, at most {bound:g}")


def at_least(measured, bound, slack=WITHIN):
    if _missing(measured):
        return Finding(NOT_RUN, "nothing was measured")
    return _graded(measured >= bound, measured >= bound * (1 - slack),
                   f"{measured:.3g}, at least {bound:g}")


def never_below(upper, lower, tolerance=WITHIN):
    """One curve at or above the other wherever both are; partly if at half of the places."""
    shared = _shared(upper, lower)
    if _missing(shared):
        return Finding(NOT_RUN, "nothing was measured")
    below = [x for x, a, b in shared if a < b * (1 - tolerance)]
    worst = min(a / b for _, a, b in shared)
    said = f"least ratio {worst:.2f}" + (f", below at {', '.join(f'{x:g}' for x in below)}"
                                         if below else "")
    return _graded(not below, len(below) * 2 <= len(shared), said)


def crosses_once(starts_above, starts_below):
    """The first curve begins above the second and ends below it, with one crossing between."""
    shared = _shared(starts_above, starts_below)
    if len(shared) < 2:
        return Finding(NOT_RUN, "nothing was measured")
    signs = [a > b for _, a, b in shared]
    changes = [shared[i + 1][0] for i in range(len(signs) - 1) if signs[i] != signs[i + 1]]
    said = (f"{shared[0][1] / shared[0][2]:.2f} times at {shared[0][0]:g}, "
            f"{shared[-1][1] / shared[-1][2]:.2f} at {shared[-1][0]:g}, crossings: "
            + (", ".join(f"up to {x:g}" for x in changes) or "none"))
    return _graded(signs[0] and not signs[-1] and len(changes) == 1, signs[0] != signs[-1], said)


def falls(curve, by):
    """The last point is lower than the first by at least this share; partly by half of it."""
    if len(curve or []) < 2:
        return Finding(NOT_RUN, "nothing was measured")
    fall = 1 - curve[-1][1] / curve[0][1]
    return _graded(fall >= by, fall >= by / 2, f"{fall:+.0%} from {curve[0][0]:g} to "
                                               f"{curve[-1][0]:g}, at least {by:.0%} of fall")


def stays(curve, within):
    """No point is further than this share from the first; partly within twice that."""
    if len(curve or []) < 2:
        return Finding(NOT_RUN, "nothing was measured")
    off = max(abs(y / curve[0][1] - 1) for _, y in curve)
    return _graded(off <= within, off <= 2 * within, f"{off:.0%} off, at most {within:.0%}")


def rises(curve, tolerance=WITHIN):
    """Every point is at least the one before it, noise aside; partly if only the ends are."""
    if len(curve or []) < 2:
        return Finding(NOT_RUN, "nothing was measured")
    drops = [b[0] for a, b in zip(curve, curve[1:]) if b[1] < a[1] * (1 - tolerance)]
    return _graded(not drops, curve[-1][1] > curve[0][1],
                   f"{curve[0][1]:.3g} to {curve[-1][1]:.3g}"
                   + (f", falls at {', '.join(f'{x:g}' for x in drops)}" if drops else ""))


def has_minimum_inside(curve, depth=WITHIN):
    """U-shaped: some inner point is lower than both ends by this share."""
    if len(curve or []) < 3:
        return Finding(NOT_RUN, "nothing was measured")
    x, least = min(curve[1:-1], key=lambda point: point[1])
    ends = curve[0][1], curve[-1][1]
    said = f"{least:.3g} at {x:g}, ends {ends[0]:.3g} and {ends[1]:.3g}"
    return _graded(all(least < end * (1 - depth) for end in ends), False, said)


def opposite(finding):
    """What must not be so."""
    turned = {REPRODUCED: NOT, NOT: REPRODUCED}
    return Finding(turned.get(finding.verdict, finding.verdict), finding.said)


def all_of(**findings):
    """Reproduced if all are; not if none is; else partly. One that was not run leaves the others at
    most partly."""
    said = "; ".join(f"{name.replace('_', ' ')}: {finding.said}"
                     for name, finding in findings.items() if finding.verdict != NOT_RUN)
    verdicts = {finding.verdict for finding in findings.values()}
    if verdicts == {NOT_RUN}:
        return Finding(NOT_RUN, "nothing was measured")
    missing = [name.replace("_", " ") for name, finding in findings.items()
               if finding.verdict == NOT_RUN]
    if missing:
        said += f"; not run: {', '.join(missing)}"
    if verdicts == {REPRODUCED}:
        return Finding(REPRODUCED, said)
    if verdicts - {NOT_RUN} == {NOT}:
        return Finding(NOT, said)
    return Finding(PARTLY, said)


def _shared(first, second):
    """[(x, y of the first, y of the second)] where both have a point."""
    other = dict(second or [])
    return [(x, y, other[x]) for x, y in first or [] if x in other]
