"""Each rule says reproduced, partly and not where it should."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from report import rules  # noqa: E402  (found by the line above)
from report.rules import NOT, NOT_RUN, PARTLY, REPRODUCED, Finding  # noqa: E402


class Rules(unittest.TestCase):
    def verdicts(self, rule, *calls):
        return [rule(*call).verdict for call in calls]

    def test_a_figure_is_reproduced_within_its_tolerance_and_partly_within_twice_that(self):
        self.assertEqual(self.verdicts(rules.figure, (1.09, 1, 0.1), (0.85, 1, 0.1), (1.21, 1, 0.1),
                                       (None, 1, 0.1)), [REPRODUCED, PARTLY, NOT, NOT_RUN])

    def test_a_multiple_is_not_reproduced_on_the_other_side_of_one(self):
        self.assertEqual(self.verdicts(rules.multiple, (1.2, 1.1, 0.25), (0.8, 0.9, 0.25),
                                       (1.4, 1.1, 0.25), (2.0, 1.1, 0.25), (None, 1.1, 0.25)),
                         [REPRODUCED, REPRODUCED, PARTLY, NOT, NOT_RUN])
        self.assertEqual(self.verdicts(rules.multiple, (0.97, 1.1, 0.25), (1.03, 0.9, 0.25),
                                       (0.9, 1.1, 0.25), (1.1, 0.9, 0.25), (0.97, 2.5, 0.25)),
                         [PARTLY, PARTLY, NOT, NOT, NOT])

    def test_bounds(self):
        self.assertEqual(self.verdicts(rules.at_most, (1, 1), (1.04, 1), (1.06, 1), (None, 1)),
                         [REPRODUCED, PARTLY, NOT, NOT_RUN])
        self.assertEqual(self.verdicts(rules.at_least, (1, 1), (0.96, 1), (0.94, 1), (None, 1)),
                         [REPRODUCED, PARTLY, NOT, NOT_RUN])

    def test_never_below_looks_where_both_curves_are_and_forgives_noise(self):
        lower = [(0, 10), (1, 10), (2, 10)]
        self.assertEqual(self.verdicts(
            rules.never_below, ([(0, 9.6), (1, 12), (9, 1)], lower), ([(0, 5), (1, 10)], lower),
            ([(0, 5), (1, 5), (2, 10)], lower), ([], lower)),
            [REPRODUCED, PARTLY, NOT, NOT_RUN])

    def test_curves_cross_once_from_above(self):
        flat = [(0, 2), (1, 2), (2, 2)]
        self.assertEqual(self.verdicts(
            rules.crosses_once, ([(0, 3), (1, 2.5), (2, 1)], flat),
            ([(0, 1), (1, 2.5), (2, 3)], flat), ([(0, 3), (1, 1), (2, 3)], flat), ([], flat)),
            [REPRODUCED, PARTLY, NOT, NOT_RUN])

    def test_falling_and_staying(self):
        self.assertEqual(self.verdicts(
            rules.falls, ([(0, 10), (1, 7)], 0.3), ([(0, 10), (1, 8)], 0.3),
            ([(0, 10), (1, 9)], 0.3), ([], 0.3)), [REPRODUCED, PARTLY, NOT, NOT_RUN])
        self.assertEqual(self.verdicts(
            rules.stays, ([(0, 10), (1, 9)], 0.1), ([(0, 10), (1, 8)], 0.1),
            ([(0, 10), (1, 13)], 0.1), ([], 0.1)), [REPRODUCED, PARTLY, NOT, NOT_RUN])

    def test_one_point_neither_falls_nor_stays(self):
        for rule in (rules.falls, rules.stays):
            self.assertEqual(rule([(0, 10)], 0.1).verdict, NOT_RUN)

    def test_a_curve_is_u_shaped_when_an_inner_point_is_below_both_ends(self):
        self.assertEqual(self.verdicts(
            rules.has_minimum_inside, ([(0, 10), (1, 5), (2, 9)],), ([(0, 10), (1, 9), (2, 5)],),
            ([(0, 10), (1, 9.8), (2, 10)],), ([(0, 1)],)), [REPRODUCED, NOT, NOT, NOT_RUN])
        self.assertEqual(rules.opposite(Finding(NOT, "")).verdict, REPRODUCED)
        self.assertEqual(rules.opposite(Finding(NOT_RUN, "")).verdict, NOT_RUN)

    def test_all_of_is_what_all_are(self):
        good, half, bad, missing = (Finding(verdict, "")
                                    for verdict in (REPRODUCED, PARTLY, NOT, NOT_RUN))
        for findings, verdict in (((good, good), REPRODUCED), ((good, bad), PARTLY),
                                  ((half, half), PARTLY), ((bad, bad), NOT),
                                  ((good, missing), PARTLY), ((bad, missing), NOT),
                                  ((missing, missing), NOT_RUN)):
            self.assertEqual(rules.all_of(a=findings[0], b=findings[1]).verdict, verdict)


if __name__ == "__main__":
    unittest.main()
