"""A report as HTML: its plots."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from report import render_html  # noqa: E402  (of the lab's modules)
from report.section import Plot, Section  # noqa: E402

MAGNITUDE = "10^{3}"  # as a logarithmic axis has it


def rendered(curve):
    section = Section("s", plots=[Plot("t", "x", "y", {"name": curve})])
    return render_html.render("title", {}, [section], [])


class Plots(unittest.TestCase):
    def test_axes_are_logarithmic_where_they_span_magnitudes(self):
        both = rendered([(10, 100.0), (1_000, 90_000.0)]).count(MAGNITUDE)
        across = rendered([(10, 5.0), (1_000, 6.0)]).count(MAGNITUDE)
        self.assertGreater(across, 0)
        self.assertGreater(both, across)
        for curve in ([(10, 100.0), (900, 90_000.0)], [(0, 1.0), (1_000, 2.0)]):
            self.assertNotIn(MAGNITUDE, rendered(curve))


if __name__ == "__main__":
    unittest.main()
