"""The line counts: what belongs to a part of the algorithm, and that the sources still have it."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "2018-cuckoopp"))

import line_counts  # noqa: E402  (found by the line above)

CODE = """#pragma once
int before();
template <class T>
[[nodiscard]] int item(T t) {
  if (t) {
    return 1;
  }
  return timers[t];
}
struct Next {
  int item_count;
};""".splitlines()


class FindItem(unittest.TestCase):
    def test_an_item_goes_from_its_template_to_its_last_brace(self):
        self.assertEqual(line_counts.find_item(CODE, r"int item\("), range(2, 9))
        self.assertEqual(line_counts.find_item(CODE, r"struct Next\b"), range(9, 12))

    def test_an_item_that_is_gone_is_an_error(self):
        with self.assertRaises(line_counts.NotFound):
            line_counts.find_item(CODE, r"struct Gone\b")


class Sources(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.code = {source: line_counts.code_of(line_counts.ROOT / source)
                    for source in line_counts.SOURCES}
        cls.counts = line_counts.count_parts(cls.code)

    def test_comments_and_blank_lines_do_not_count(self):
        for code in self.code.values():
            self.assertFalse([line for line in code
                              if not line.strip() or line.strip().startswith("//")])

    def test_every_line_belongs_to_one_part_and_every_part_has_lines(self):
        self.assertEqual(sum(self.counts.values()), sum(map(len, self.code.values())))
        self.assertGreater(min(self.counts.values()), 0)

    def test_a_line_more_in_a_policy_is_a_line_more_of_its_part_and_of_no_other(self):
        code = {source: list(lines) for source, lines in self.code.items()}
        probing = code["roost/table/probing.h"]
        start = line_counts.find_item(probing, r"struct FilteredProbing\b").stop - 1
        probing.insert(start, "  static void more();")
        counts = line_counts.count_parts(code)
        self.assertEqual({part: counts[part] - count for part, count in self.counts.items()
                          if counts[part] != count}, {"filtered": 1})

    def test_a_row_is_the_sum_of_what_its_note_says(self):
        rows = line_counts.rows()
        self.assertEqual(len(rows), 2 * len(line_counts.TABLES))
        for row in rows:
            numbers = [int(word) for word in row["note"].split() if word.isdigit()]
            self.assertEqual(row["value"], sum(numbers))
            self.assertEqual(row["kind"], "analytic")
        with_timers = {row["contestant"]: row["value"] for row in rows}
        self.assertGreater(with_timers["roost_flow_table_timers"], with_timers["roost_flow_table"])


if __name__ == "__main__":
    unittest.main()
