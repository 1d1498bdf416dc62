"""README's tables of the experiment `2019-halo`, from the planted rows of its parts' tests."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import test_halo  # noqa: E402  (found by the line above)
import test_halo_host  # noqa: E402
import test_halo_simulated  # noqa: E402
import test_halo_tuples  # noqa: E402
from report.record import Record  # noqa: E402

HALO = test_halo.HALO


def lines(found, name):
    return HALO.readme_block(Record(found), name).splitlines()


class SpeedUps(unittest.TestCase):
    def table(self, **host):
        host_rows = test_halo_host.made(**host).rows
        return lines(test_halo_simulated.Fig9().rows() + test_halo_tuples.made() + host_rows,
                     "speed-ups")

    def test_single_lookups_are_of_the_largest_table_in_the_cache(self):
        rows = [line for line in self.table() if "single lookups" in line]
        self.assertEqual(len(rows), 6)
        self.assertIn("128K slots: `LOOKUP_B`, as written | 3.3 | 3.0 to 3.5 (3.3)", rows[0])

    def test_tuples_stand_beside_what_is_claimed_of_20(self):
        rows = [line for line in self.table() if "tuples" in line]
        self.assertEqual([line.split("|")[2].strip() for line in rows],
                         ["-", "-", "-", "-", "23.4", "-"])
        self.assertIn("19.8 to 24.2 (22.0)", rows[4])

    def test_the_floor_is_the_worst_point_that_finds_no_number(self):
        self.assertIn("1.10 (", self.table()[-1])
        last = self.table(off=(test_halo_host.FINDS[0], 23), by=3.0)[-1]
        self.assertIn("3.30 (ours", last)

    def test_without_a_host_check_there_is_no_floor(self):
        rows = lines(test_halo_simulated.Fig9().rows() + test_halo_tuples.made(), "speed-ups")
        self.assertIn("not measured", rows[-1])


class Classification(unittest.TestCase):
    def test_cycles_beyond_moving_packets_and_their_share(self):
        found = test_halo.case_rows("1_subtable", (300, 300, 300), off=(600, 600, 600))
        self.assertIn("| 200 | 500 (off) | 0.40 (0.40 to 0.40) |",
                      lines(found, "classification")[2])


if __name__ == "__main__":
    unittest.main()
