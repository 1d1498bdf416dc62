"""The experiment `2019-halo`: its verdicts on made-up figures, both ways, its packets, and that a
run with other counters than the case says fails."""
import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

LAB = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(LAB))

import lab  # noqa: E402  (found by the line above)
import rows  # noqa: E402
from report import render_text  # noqa: E402
from report.record import Record  # noqa: E402

HALO = lab.load_experiment("2019-halo")
CASES = HALO.cases.CASES


def load_measure():
    spec = importlib.util.spec_from_file_location("halo_measure", LAB / "2019-halo" / "measure.py")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(LAB / "2019-halo"))  # as when it is a program
    spec.loader.exec_module(module)
    return module


def case_rows(name, roost, **ovs):
    """Three rounds; of moving a packet 100 cycles."""
    figures = {"raw": (100, 100, 100), "roost": roost, **{f"ovs_{c}": v for c, v in ovs.items()}}
    return [made_row("ovs", who, name, "cycles", value, number)
            for who, values in figures.items() for number, value in enumerate(values)]


def made_row(part, who, name, metric, value, number=0):
    return rows.ROW | {"experiment": part, "contestant": who, "form": "", "workload": name,
                       "metric": metric, "value": float(value), "round": float(number),
                       "job": f"{part} {name}", "page_bytes": None, "table_bytes": None}


def words(name, roost, **ovs):
    section = HALO.sections(Record(case_rows(name, roost, **ovs)))[0]
    return [verdict.verdict for verdict in section.verdicts]


class Verdicts(unittest.TestCase):
    def test_moving_a_packet_is_taken_off_both(self):
        # (300 - 100) / (600 - 100) = 0.4, where 300 / 600 would be 0.5.
        self.assertEqual(words("1_subtable", (300, 300, 300), off=(600, 600, 600)),
                         ["must reached", "aim reached"])

    def test_the_median_of_rounds_decides(self):
        self.assertEqual(words("1_subtable", (200, 351, 400), off=(600, 600, 600)),
                         ["MISSED", "MISSED"])
        self.assertEqual(words("1_subtable", (200, 349, 400), off=(600, 600, 600)),
                         ["must reached", "MISSED"])

    def test_the_best_of_its_caches_counts(self):
        slow, quick = (2_000, 2_000, 2_000), (600, 600, 600)
        for ovs in ({"emc": slow, "smc": quick, "off": slow}, {"emc": quick, "smc": slow,
                                                               "off": slow}):
            self.assertEqual(words("many_flows", (320, 320, 320), **ovs), ["MISSED", "MISSED"])
            self.assertEqual(words("many_flows", (290, 290, 290), **ovs),
                             ["must reached", "MISSED"])

    def test_the_report_says_which_cache(self):
        made = case_rows("cached", (300, 300, 300), emc=(600, 600, 600))
        text = render_text.render({}, HALO.sections(Record(made)), [])
        self.assertIn("500 (emc)", text)
        self.assertIn("0.40 (0.40 to 0.40)", text)


class Fig3(unittest.TestCase):
    """By case: cycles with the exact-match cache on, off, its hits, and ours."""

    AS_CLAIMED = ((340, 500, 0.99, 300), (400, 500, 0.7, 300), (600, 590, 0.1, 350),
                  (800, 790, 0.1, 400), (993, 980, 0.1, 450))

    def verdicts(self, figures):
        made = [made_row("fig3", "ovs_emc", HALO.cases.ONE_FLOW, "cycles", 235),
                made_row("fig3", "roost", HALO.cases.ONE_FLOW, "cycles", 200)]
        for name, (on, off, hits, ours) in zip(HALO.cases.FIG3, figures):
            made += [made_row("fig3", "ovs_emc", name, "cycles", on),
                     made_row("fig3", "ovs_off", name, "cycles", off),
                     made_row("fig3", "ovs_emc", name, "cached", hits),
                     made_row("fig3", "roost", name, "cycles", ours)]
        return [verdict.verdict for verdict in HALO.sections(Record(made))[0].verdicts]

    def test_figures_as_claimed_are_reproduced(self):
        self.assertEqual(self.verdicts(self.AS_CLAIMED), ["reproduced"] * 5)

    def test_cycles_that_do_not_rise_are_not(self):
        flat = [(340, *figures[1:]) for figures in self.AS_CLAIMED]
        self.assertEqual(self.verdicts(flat)[0], "partly")
        self.assertEqual(self.verdicts(flat)[2], "not")

    def test_a_cache_that_goes_on_helping_is_not(self):
        helped = [(on, on + 300, 0.99, ours) for on, _, _, ours in self.AS_CLAIMED]
        self.assertEqual(self.verdicts(helped)[3], "not")

    def test_ours_that_takes_more_is_not(self):
        slow = [(on, off, hits, 1_200) for on, off, hits, _ in self.AS_CLAIMED]
        self.assertEqual(self.verdicts(slow)[4], "not")

    def test_a_part_of_the_configurations_gives_no_verdict_on_all(self):
        self.assertEqual(self.verdicts(self.AS_CLAIMED[:3])[0], "not run")


class Fig13(unittest.TestCase):
    """Nanoseconds a packet, by way; every function and size alike, but one."""

    def record(self, slow=None, left_out=None, bulk=100.0, ours=100.0):
        times = {HALO.cases.NO_TABLE: 40.0, HALO.cases.BY_ONE: 240.0, HALO.cases.BULK: bulk,
                 HALO.cases.OURS: ours}
        return Record([
            made_row("fig13", who, function, "ns_per_packet",
                     240.0 if (function, entries, who) == slow else value, number)
            | {"slots": float(entries)}
            for function, sizes in HALO.cases.FIG13.items() for entries in sizes
            if (function, entries) != left_out
            for who, value in times.items() for number in range(3)])

    def verdicts(self, **made):
        return [verdict.verdict for verdict in HALO.sections(self.record(**made))[0].verdicts]

    def test_software_that_is_as_fast_reaches_it(self):
        self.assertEqual(self.verdicts(), ["reproduced"] * 6)  # 240 / 100 = 2.4

    def test_software_that_is_nearly_as_fast_does_so_partly(self):
        self.assertEqual(self.verdicts(bulk=107.0), ["partly", "reproduced"] * 3)

    def test_software_that_is_not_does_not(self):
        self.assertEqual(self.verdicts(ours=160.0), ["reproduced", "not"] * 3)

    def test_the_worst_size_decides_and_of_its_function_only(self):
        found = self.verdicts(slow=("assets", 10_000, HALO.cases.OURS))
        self.assertEqual(found, ["reproduced"] * 3 + ["not"] + ["reproduced"] * 2)

    def test_a_size_left_out_gives_no_verdict_on_its_function(self):
        found = self.verdicts(left_out=("filter", 100))
        self.assertEqual(found, ["reproduced"] * 4 + ["not run"] * 2)

    def test_the_report_has_each_size_and_says_what_it_is_not(self):
        text = render_text.render({}, HALO.sections(self.record()), [])
        self.assertIn("NAT, 100,000 entries", text)
        self.assertIn("2.40", text)
        self.assertIn("Nothing here is an accelerator", text)

    def test_jobs_have_every_function_and_size_and_full_ones_more_rounds(self):
        by_size = {size: [job for job in HALO.jobs(size, ()) if job.experiment == "fig13"]
                   for size in ("quick", "full")}
        for found in by_size.values():
            self.assertEqual([(job.function, job.slots) for job in found],
                             [(name, slots) for name, sizes in HALO.cases.FIG13.items()
                              for slots in sizes])
        self.assertLess(by_size["quick"][0].rounds, by_size["full"][0].rounds)


class Packets(unittest.TestCase):
    def test_each_is_of_its_class_and_flows_are_distinct(self):
        case = CASES["10_subtables"]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "packets.pcap")
            HALO.cases.write_capture(case, path)
            body = path.read_bytes()[24:]
        size = 16 + HALO.cases.FRAME_BYTES
        self.assertEqual(len(body), case.flows * size)
        classes = [0] * case.classes
        for at in range(0, len(body), size):
            source = int.from_bytes(body[at + 16 + 6:at + 16 + 12], "big")
            classes[(source & -source).bit_length() - 1] += 1
        self.assertLessEqual(max(classes) - min(classes), 1)

    def test_rules_are_of_one_mask_a_class(self):
        lines = list(HALO.cases.rules(CASES["20_subtables"]))
        self.assertEqual(len(lines), 20 * 1_024)
        self.assertEqual(len({line.split("nw_dst")[0] for line in lines}), 20)


class Counters(unittest.TestCase):
    TOLD = ("packets received: 1000\n emc hits: {emc}\n smc hits: 0\n"
            " avg. subtable lookups per megaflow hit: {lookups}\n"
            " miss with success upcall: {upcalls}\n miss with failed upcall: 0\n")

    def checked(self, cache="off", emc=0, lookups=5.5, upcalls=0):
        measurement = self.measure.Measurement.__new__(self.measure.Measurement)
        measurement.case = CASES["10_subtables"]
        return measurement.checked(cache, self.TOLD.format(emc=emc, lookups=lookups,
                                                           upcalls=upcalls))

    def setUp(self):
        self.measure = load_measure()

    def test_what_the_case_says_passes(self):
        self.assertEqual(self.checked(), {"cached": 0, "lookups": 5.5})
        self.assertEqual(self.checked("emc", emc=990, lookups=1), {"cached": 0.99, "lookups": 1})

    def test_anything_else_fails(self):
        for other in ({"emc": 1}, {"lookups": 3}, {"lookups": 9}, {"upcalls": 1}):
            with self.assertRaises(RuntimeError, msg=other):
                self.checked(**other)


if __name__ == "__main__":
    unittest.main()
