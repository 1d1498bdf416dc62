"""README's tables of speed: which rows a record gives, and what they say of what it lacks."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import rows  # noqa: E402  (found by the line above)
from report.record import Record  # noqa: E402
from table import readme_speed, replacements  # noqa: E402

PLAIN = "32 keys a call"
OURS, INLINE, PEER = "roost_flow_table", "roost_inline_2", "rte_hash"
PROCESSES = {"process": 0.0, "line_hint": "T1"}
FACTS = {"cpu": "AMD EPYC (family 26, model 2), 2 cores, avx2"}


def entrants(ours=30.0, contestant=OURS):
    return {(contestant, PLAIN): ours, (contestant, "256 keys a call"): ours * 1.1,
            (PEER, PLAIN): 20.0}


def one_by_one(metric, ours, peer, load=0.8, **fields):
    rates = {(OURS, "1 keys a call"): ours, (PEER, "one by one"): peer}
    return rows.lookup_rows(rates, metric=metric, load=load, **PROCESSES, **fields)


def block(*parts):
    return readme_speed.block(Record([row for part in parts for row in part], FACTS))


class Lookups(unittest.TestCase):
    def test_skewed_and_churning_lookups_are_rows_with_the_one_miss_ratio_they_had(self):
        made = block(rows.lookup_rows(entrants(), experiment="zipf", workload="zipf 1.1",
                                      **PROCESSES),
                     rows.lookup_rows(entrants(40.0), experiment="churn", workload="churn 1:30",
                                      miss_ratio=0.2, **PROCESSES))
        self.assertIn("| split, 32M, hits by Zipf 1.1 | 20.0 | 30.0 | 33.0 | 1.50 | **1.65** |",
                      made)
        self.assertIn("| split, 32M, an entry replaced in 30 lookups, 20% misses | 20.0 | 40.0 | "
                      "44.0 | 2.00 | **2.20** |", made)

    def test_each_row_has_the_peer_of_its_own_job(self):
        skewed = {"experiment": "zipf", "workload": "zipf 0.99"} | PROCESSES
        made = block(rows.lookup_rows(entrants(), **skewed),
                     rows.lookup_rows(entrants(50.0, INLINE) | {(PEER, PLAIN): 25.0}, job="other",
                                      **skewed))
        self.assertIn("| split, 32M, hits by Zipf 0.99 | 20.0 |", made)
        self.assertIn("| inline, 2 slots a line, 32M, hits by Zipf 0.99 | 25.0 | 50.0 |", made)

    def test_a_record_of_before_has_the_rows_and_columns_of_before(self):
        made = block(rows.lookup_rows(entrants()),
                     rows.lookup_rows(entrants(), experiment="zipf", workload="zipf 0.99"))
        self.assertNotIn("Zipf", made)
        self.assertNotIn("Processor", made)
        self.assertNotIn("lines by", made)
        self.assertEqual(len(made.splitlines()), 3)

    def test_hint_and_processor_are_named(self):
        made = block(rows.lookup_rows(entrants(), **PROCESSES))
        self.assertRegex(made, r"\| split, 32M \|.* \| T1 \|\n")
        self.assertIn("Processor: AMD EPYC (family 26, model 2), 2 cores. Rounds: 5, in 1 "
                      "processes. ", made)

    def test_what_was_not_run_says_why(self):
        why = {"value": None, "note": "not run: no memory"} | PROCESSES
        made = block(rows.lookup_rows(entrants(), **why))
        self.assertIn("| split, 32M | not run: no memory | - |", made)
        peer_alone = rows.lookup_rows({(PEER, PLAIN): 20.0}, **why)
        made = block(rows.lookup_rows({(OURS, PLAIN): 30.0}, **PROCESSES), peer_alone)
        self.assertIn("| split, 32M | not run: no memory | 30.0 / 30.0 / 30.0 |", made)


class Replacements(unittest.TestCase):
    def test_insertions_of_one_key_a_call_stand_beside_batched_ones(self):
        batched = rows.lookup_rows({(OURS, PLAIN): 24.0}, metric="inserts_m_per_s",
                                   experiment="fills", **PROCESSES)
        made = block(one_by_one("inserts_m_per_s", 9.0, 5.0, experiment="fills"), batched)
        self.assertIn("| batched insert, 32M, to load 0.8 | 5.0 | - | 24.0 | - | **4.80** |", made)
        self.assertIn("| insert one key a call, 32M, to load 0.8 | 5.0 | 9.0 | - | 1.80 | - |",
                      made)

    def test_replacements_at_any_load_are_held_against_rte_hash_at_its_own(self):
        made = block(*(one_by_one(replacements.REPLACEMENTS, ours, peer, load,
                                  experiment="replacements")
                       for ours, peer, load in ((6.0, 4.0, 0.8), (5.0, 1.0, 0.95))))
        self.assertIn("| replace one by one, 32M, load 0.8 | 4.0 | 6.0 | - | 1.50 |", made)
        self.assertIn("| replace one by one, 32M, load 0.95 (rte_hash: 0.8) | 4.0 | 5.0 | - | "
                      "1.25 |", made)

    def aged(self, ages, **fields):
        return [row | {"metric": "second_lines", "experiment": "aged", "load": 0.95,
                       "workload": f"replaced {age} times" if age else "uniform",
                       "miss_ratio": miss, "value": value} | PROCESSES | fields
                for age, *values in ages for miss, value in zip((0.0, 1.0), values)
                for row in rows.lookup_rows({(OURS, ""): 0.0})[:1]]

    def test_second_lines_of_aged_tables_stand_beside_those_of_new_ones(self):
        made = block(self.aged([(0, 0.16, 0.004), (8, 0.32, 0.1), (30, 0.4, 0.12)]))
        self.assertIn("| split, load 0.95 | 16.0% / 0.4% | 32.0% / 10.0% | 40.0% / 12.0% | "
                      "2.5 / 30.0 |", made)

    def test_an_age_that_was_not_reached_says_why(self):
        made = block(self.aged([(0, 0.16, 0.004)]),
                     self.aged([(8, None, None)], note="not run: it refused"))
        self.assertIn("| split, load 0.95 (not run: it refused) | 16.0% / 0.4% | - | - | - |", made)


if __name__ == "__main__":
    unittest.main()
