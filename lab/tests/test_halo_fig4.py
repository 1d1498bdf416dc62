"""HALO-F4, simulated: verdicts on planted rows, both ways; jobs by size."""
import math
import sys
import unittest
from pathlib import Path

LAB = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(LAB))

import lab  # noqa: E402  (found by the line above)
from report import intervals, render_text  # noqa: E402
from report.record import Record  # noqa: E402

HALO = lab.load_experiment("2019-halo")
FIG4 = HALO.fig4
CUCKOO, SINGLE = FIG4.CUCKOO, FIG4.SINGLE
FEW, MANY, LARGEST = 15_564.0, 124_518.0, 3_984_588.0
MIB = 1 << 20
LOADS = 50.0


def table(variant, entries, use, mib, l2, llc, stall):
    """Rows of one table: `l2` and `llc` in the middle, a tenth less and more at the ends."""
    def row(metric, value):
        return {"experiment": "fig4", "kind": "simulated", "job": f"{variant} {entries}",
                "contestant": FIG4.WAYS[variant], "workload": variant, "entries": entries,
                "table_bytes": float(mib * MIB), "round": 0.0, "metric": metric, "value": value,
                "note": ""}

    spread = zip(intervals.ENDS, (0.9, 1, 1.1))
    return [row("use", use), row("loads_per_lookup", LOADS), row("cycles_per_lookup", 100.0),
            *(row(metric + end, value * times) for end, times in spread
              for metric, value in (("l2_misses_per_lookup", l2), ("llc_misses_per_lookup", llc),
                                    ("stall_share", stall)))]


def rows(cuckoo_use=0.95, single_use=0.2, cuckoo_mib=30, cuckoo_llc=0.5, single_llc=1.5,
         single_stall=0.8, largest=LARGEST):
    made = []
    for entries, mib in ((FEW, 1), (MANY, 5), (largest, cuckoo_mib)):
        made += table(CUCKOO, entries, cuckoo_use, mib, 2.0, 0 if entries < largest else cuckoo_llc,
                      0.4)
        made += table(SINGLE, entries, single_use, 4 * mib, 2.0 if entries > FEW else 0.0,
                      single_llc if entries > FEW else 0.0, single_stall)
    return made


def verdicts(made):
    return [one.verdict for section in FIG4.sections(Record(made)) for one in section.verdicts]


AS_CLAIMED = ["reproduced"] * 7


class Verdicts(unittest.TestCase):
    def check(self, place, verdict, **made):
        """One verdict, and no other, is another one."""
        found = verdicts(rows(**made))
        self.assertEqual(found, [verdict if at == place else one
                                 for at, one in enumerate(AS_CLAIMED)], made)

    def test_as_claimed(self):
        self.assertEqual(verdicts(rows()), AS_CLAIMED)

    def test_uses(self):
        self.check(0, "not", cuckoo_use=0.7)
        self.check(1, "not", single_use=0.06)
        self.check(1, "not", single_use=0.5)

    def test_cuckoo_at_4m(self):
        self.check(2, "not", cuckoo_llc=1.1 / 0.9, single_llc=2.0)
        self.check(3, "not", cuckoo_mib=160)

    def test_the_single_function_table_from_100k_on(self):
        found = verdicts(rows(single_llc=0.05))
        self.assertEqual(found[4:6], ["not", "not"])
        found = verdicts(rows(single_use=0.2, single_llc=0.7))
        self.assertEqual(found[4:6], ["not", "partly"])  # 0.5 a lookup of the largest cuckoo table
        self.check(6, "not", single_stall=0.3)

    def test_few_flows_are_not_judged(self):
        """Its misses begin at 100K: smaller tables, which have none, are not among those."""
        self.assertEqual(verdicts([one for one in rows() if one["entries"] != FEW]), AS_CLAIMED)
        none_many = [one for one in rows() if one["entries"] == FEW]
        self.assertEqual(verdicts(none_many)[2:], ["not run"] * 5)

    def test_other_than_4m_flows_say_nothing_of_4m(self):
        self.assertEqual(verdicts(rows(largest=1_992_294.0))[2:4], ["not run"] * 2)

    def test_misses_are_of_a_thousand_loads(self):
        text = render_text.render({}, FIG4.sections(Record(rows())), [])
        # 2 and 0.5 of 50 loads.
        self.assertRegex(text, r"3,984,588 +cuckoo +95\.0 % +30\.0 +36\.0 to 44\.0 \(40\.0\) +"
                               r"9\.0 to 11\.0 \(10\.0\) +25 % +36 to 44 \(40\) +100 +simulated")


class Jobs(unittest.TestCase):
    def test_both_tables_at_every_size(self):
        for size, seconds in (("smoke", 10), ("quick", 60), ("full", 400)):
            points = list(FIG4.jobs(size))
            self.assertEqual(len({point.name for point in points}), len(points))
            self.assertLess(sum(point.seconds() for point in points), seconds)
            self.assertEqual({point.slots: 2 for point in points},
                             {slots: sum(one.slots == slots for one in points)
                              for slots in {point.slots for point in points}})
        self.assertLessEqual({1 << 10, 1 << 17, 1 << 22}, {point.slots for point in points})

    def test_a_cuckoo_table_has_the_slots_that_are_asked_for(self):
        """roost-halo takes the next power of two of buckets of eight."""
        for point in (*FIG4.jobs("full"), *HALO.single_tables.jobs("full")):
            if point.slots.bit_count() == 1 and point.format == "paper":
                buckets = math.ceil(point.entries / point.load / 8)
                self.assertEqual(max(2, 1 << (buckets - 1).bit_length()), max(2, point.slots // 8))


if __name__ == "__main__":
    unittest.main()
