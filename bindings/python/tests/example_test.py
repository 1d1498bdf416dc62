"""The example runs, and what it draws can be seen."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import matplotlib.image

EXAMPLE = pathlib.Path(__file__).resolve().parent.parent / "examples/occupancy.py"


class Example(unittest.TestCase):
    def test_it_draws_three_panels_and_tells_their_numbers(self):
        with tempfile.TemporaryDirectory() as folder:
            png = pathlib.Path(folder, "drawn.png")
            run = subprocess.run([sys.executable, EXAMPLE, "--slots", "65536", "--out", png],
                                 check=True, capture_output=True, text=True)
            picture = matplotlib.image.imread(png)
        rows = [line.split() for line in run.stdout.splitlines() if "%" in line]
        self.assertEqual([row[0] for row in rows],
                         ["50%", "60%", "70%", "80%", "90%", "95%", "98%"])
        for load, mean, _, zeros in rows:
            self.assertAlmostEqual(float(mean), 8 * float(load.strip("%")) / 100, delta=0.001)
            self.assertTrue(0 < float(zeros.strip("%")) < 100)
        height, width, _ = picture.shape
        self.assertGreater(width, 2 * height)
        for part in range(3):
            panel = picture[:, part * width // 3:(part + 1) * width // 3, :3]
            # Colours, not only the black of axes and letters.
            colored = panel.max(axis=2) - panel.min(axis=2) > 0.3
            self.assertGreater(colored.mean(), 0.002, f"panel {part}")
            self.assertLess(colored.mean(), 0.5, f"panel {part}")


if __name__ == "__main__":
    unittest.main()
