"""README's chart: what it shows of a record, and that it is a picture."""
import sys
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import rows  # noqa: E402  (found by the line above)
from report.record import Record  # noqa: E402
from table import readme_chart  # noqa: E402

FACTS = {"cpu": "AMD EPYC (family 26, model 2), 2 cores, avx2", "rte_hash": "DPDK 22.11"}
INLINE = {("roost_inline_2", "32 keys a call"): 40.0, ("rte_hash", "32 keys a call"): 25.0,
          ("ceiling_one_line", "T1"): 60.0}


def record(*more, **fields):
    return Record([row for part in (rows.lookup_rows(rows.rates(), process=0.0, **fields), *more)
                   for row in part], FACTS)


class Chart(unittest.TestCase):
    def test_a_row_has_the_best_call_of_each_and_the_best_ceiling(self):
        [group] = readme_chart.chart(record(slow_rounds=(1,))).groups
        [row] = group.rows
        self.assertEqual((group.name, row.name, row.detail),
                         ("32M slots", "split", "16-byte keys and values"))
        self.assertEqual([bar.median for bar in (row.ours, row.peer, row.ceiling)],
                         [33.0, 20.0, 40.0])
        self.assertEqual((row.ours.ends, row.peer.ends, row.ceiling.ends),
                         ((16.5, 33.0), (10.0, 20.0), (20.0, 40.0)))
        self.assertAlmostEqual(row.ratio, 1.65)

    def test_each_row_is_of_one_job_and_sizes_rise(self):
        small = rows.lookup_rows(INLINE, job="other", experiment="inline", slots=float(1 << 19),
                                 key_bytes=13.0, process=0.0)
        groups = readme_chart.chart(record(small)).groups
        self.assertEqual([group.name for group in groups], ["512K slots", "32M slots"])
        [row] = groups[0].rows
        self.assertEqual((row.name, row.detail, row.peer.median, row.ceiling.median),
                         ("inline, 2 slots a line", "13-byte keys, 16-byte values", 25.0, 60.0))
        self.assertIn("1.60 to 1.65 times", readme_chart.block(record(small)))

    def test_lookups_that_miss_are_told_where_they_are_not_shown(self):
        slower = [row | {"value": row["value"] / 2}
                  if (row["miss_ratio"], row["contestant"]) == (1.0, "roost_flow_table") else row
                  for row in rows.lookup_rows(rows.rates())]
        self.assertIn("0.82 to 1.65 × rte_hash",
                      readme_chart.chart(Record(slower, FACTS)).notes[1])

    def test_pictures_name_the_processor_and_repeat(self):
        files = readme_chart.files(record())
        self.assertEqual(files, readme_chart.files(record()))
        light, dark = files.values()
        self.assertNotEqual(light, dark)
        for text in files.values():
            words = [element.text for element in xml.fromstring(text)]
            self.assertIn("AMD EPYC (family 26, model 2) · rte_hash of DPDK 22.11", words)
            self.assertIn("1.65×", words)


if __name__ == "__main__":
    unittest.main()
