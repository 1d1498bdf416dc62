"""Simulated parts of the experiment `2019-halo`: verdicts on planted rows, both ways; machines that
are written for points; jobs by size."""
import json
import re
import sys
import unittest
from pathlib import Path

LAB = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(LAB))

import lab  # noqa: E402  (found by the line above)
from report import intervals, render_text  # noqa: E402
from report.record import Record  # noqa: E402

HALO = lab.load_experiment("2019-halo")
SINGLE = HALO.single_tables
JOBS = SINGLE.jobs_of
MACHINE = (LAB.parent / "sim" / "machine.toml").read_text(encoding="utf-8")
FILES = JOBS.beside(LAB / "2019-halo" / "experiment.py", "machine_file")


def row(part, way, metric, value, **fields):
    return {"experiment": part, "kind": "simulated", "job": "j", "contestant": way, "form": "",
            "workload": JOBS.AS_WRITTEN, "slots": 1024.0, "entries": 819.0, "load": 0.8,
            "miss_ratio": 0.0, "core_count": 1.0, "round": 0.0, "metric": metric, "value": value,
            "table_bytes": None, "note": ""} | fields


def interval_rows(part, way, metric, interval, **fields):
    return [row(part, way, metric + end, value, **fields)
            for end, value in zip(intervals.ENDS, interval)]


def verdicts(rows, start):
    """Of the claims that begin so."""
    found = [one.verdict for section in SINGLE.sections(Record(rows))
             for one in section.verdicts if one.claim.startswith(start)]
    assert found, start
    return found


class Rules(unittest.TestCase):
    def test_what_is_claimed_lies_in_an_interval_near_it_or_elsewhere(self):
        for interval, verdict in (((2, 3, 4), "reproduced"), ((3.4, 3.5, 4), "partly"),
                                  ((1, 2, 2.5), "partly"), ((1, 2, 2.4), "not"),
                                  ((4.2, 5, 6), "not"), (None, "not run")):
            self.assertEqual(intervals.contains(interval, 3.3).verdict, verdict, interval)

    def test_a_range_meets_an_interval(self):
        self.assertEqual(intervals.meets((1, 2, 2.3), (2.3, 2.7)).verdict, "reproduced")
        self.assertEqual(intervals.meets((3.5, 4, 5), (2.3, 2.7)).verdict, "not")

    def test_bounds_hold_on_all_some_or_no_machines(self):
        for rule, interval, verdict in (
                (intervals.at_least, (1, 2, 3), "reproduced"),
                (intervals.at_least, (0.9, 2, 3), "partly"),
                (intervals.at_least, (0.1, 0.5, 0.9), "not"),
                (intervals.at_most, (0.1, 0.5, 1), "reproduced"),
                (intervals.at_most, (0.9, 2, 3), "partly"),
                (intervals.at_most, (1.1, 2, 3), "not"), (intervals.at_most, None, "not run")):
            self.assertEqual(rule(interval, 1).verdict, verdict, (rule, interval))

    def test_several_figures_lie_between(self):
        self.assertEqual(intervals.between([0.95, 1], 0.947, 1).verdict, "reproduced")
        self.assertEqual(intervals.between([0.95, 5], 0.947, 1).verdict, "partly")
        self.assertEqual(intervals.between([4, 5], 0.947, 1).verdict, "not")
        self.assertEqual(intervals.between([], 0.947, 1).verdict, "not run")


class Fig9(unittest.TestCase):
    """Of each size its bytes, and what LOOKUP_B and software reach; all readings alike."""

    SIZES = {8: 1 << 10, 32: 4 << 10, 1 << 17: 5 << 20, 1 << 24: 600 << 20}

    def rows(self, in_llc=(3, 3.3, 3.5), beyond=(2, 2.1, 2.2), few=(0.5, 0.6, 0.7),
             nb_rate=0.96, over_ours=(1, 1.2, 1.4), cycles=30.0, occupied=3.3, sizes=None):
        made = []
        for reading in JOBS.READINGS:
            for size, table_bytes in (sizes or self.SIZES).items():
                times = few if size == 8 else beyond if table_bytes > 32 << 20 else in_llc
                at = {"slots": float(size), "workload": reading,
                      "table_bytes": float(table_bytes)}
                made += interval_rows("fig9", "blocking", "times", times, form="over rte_hash",
                                      **at)
                for way in ("blocking", "non-blocking", "overlapped"):
                    made += interval_rows("fig9", way, "times", over_ours, form="over roost-32",
                                          **at)
                    made.append(row("fig9", way, "lookups_per_second",
                                    nb_rate if way == "non-blocking" else 1.0, **at))
                    made.append(row("fig9", way, "cycles_per_lookup", cycles, **at))
        made += interval_rows("fig9", "blocking", "times", (occupied,) * 3, form="over rte_hash",
                              slots=float(1 << 17), load=0.25)
        return made

    def check(self, start, verdict, **made):
        found = verdicts(self.rows(**made), start)
        self.assertEqual(set(found), {verdict}, (start, made))

    def test_speed_ups_as_claimed_and_others(self):
        claim = "LOOKUP_B is up to 3.3 times rte_hash in the LLC"
        self.check(claim, "reproduced")
        self.check(claim, "not", in_llc=(0.4, 0.5, 0.6))
        self.check(claim, "not", in_llc=(14, 16, 17))
        self.check("beyond the LLC it is 2.1 times", "reproduced")
        self.check("beyond the LLC it is 2.1 times", "not", beyond=(0.5, 0.5, 0.6))

    def test_a_size_beyond_the_cache_is_not_in_it(self):
        """16M slots would be the best one."""
        self.check("LOOKUP_B is up to 3.3", "not", in_llc=(1, 1, 1), beyond=(3, 3.3, 3.5))

    def test_few_entries(self):
        claim = "software is better up to about 10 entries"
        self.check(claim, "reproduced")
        self.check(claim, "partly", few=(5, 6, 7))
        self.check(claim, "partly", in_llc=(0.3, 0.3, 0.4))
        self.check(claim, "not", few=(5, 6, 7), in_llc=(0.3, 0.3, 0.4))

    def test_non_blocking_below_blocking(self):
        self.check("LOOKUP_NB is below LOOKUP_B", "reproduced")
        self.check("LOOKUP_NB is below LOOKUP_B", "not", nb_rate=5.0)
        self.check("LOOKUP_NB is below LOOKUP_B", "not", nb_rate=0.9)

    def test_occupancies(self):
        self.check("occupancy does not change", "reproduced")
        self.check("occupancy does not change", "not", occupied=1.0)

    def test_the_largest_table_and_the_cache(self):
        self.check("a table of 2^24 entries", "not")
        self.check("a table of 2^24 entries", "reproduced",
                   sizes=self.SIZES | {1 << 24: 32 << 20})
        self.check("a table of 2^24 entries", "not run", sizes={8: 1024, 32: 4096})

    def test_near_a_tcam(self):
        self.check("in the LLC LOOKUP_B is near a TCAM", "reproduced")
        self.check("in the LLC LOOKUP_B is near a TCAM", "not", cycles=220.0)

    def test_software_that_batches(self):
        for way in ("blocking", "non-blocking", "overlapped"):
            self.check(f"{way}, friendly: at least as fast", "reproduced")
            self.check(f"{way}, friendly: at least as fast", "partly", over_ours=(0.9, 1, 1.4))
            self.check(f"{way}, friendly: at least as fast", "not", over_ours=(0.1, 0.2, 0.3))

    def test_the_report_says_simulated_in_every_line(self):
        text = render_text.render({}, SINGLE.sections(Record(self.rows())), [])
        self.assertRegex(text, r"128K +5\.00 +3\.00 to 3\.50 \(3\.30\).*simulated")


class Fig10(unittest.TestCase):
    """Three machines, on which software's access to data differs by a cycle."""

    def rows(self, blocking, software, place=JOBS.IN_LLC):
        forms = (JOBS.WHOLE, JOBS.NO_LOCKS, JOBS.NO_LATENCY)
        return [row("fig10", way, "cycles_per_lookup",
                    value + (number - 1 if way == "rte_hash" and form != JOBS.NO_LATENCY else 0),
                    form=form, workload=f"{place}, as written", round=float(number))
                for way, cycles in (("blocking", blocking), ("rte_hash", software))
                for form, value in zip(forms, cycles) for number in range(3)]

    def test_figures_as_claimed_and_others(self):
        claimed = self.rows((82.9, 81.9, 51.9), (223, 223, 100))
        self.assertEqual(verdicts(claimed, "computing takes 48.1%"), ["reproduced"])
        self.assertEqual(verdicts(claimed, "time for access to data is 4.1"),
                         ["reproduced"])
        self.assertEqual(verdicts(claimed, "locks take almost"), ["reproduced"])
        other = self.rows((220, 190, 20), (110, 110, 60))
        for claim in ("computing takes 48.1%", "time for access to data is 4.1",
                      "locks take almost"):
            self.assertEqual(verdicts(other, claim), ["not"], claim)

    def test_in_dram_the_claim_is_another(self):
        found = verdicts(self.rows((150, 150, 50), (260, 260, 100), JOBS.IN_DRAM),
                         "time for access to data is 1.6")
        self.assertEqual(found, ["reproduced"])


class Budget(unittest.TestCase):
    def rows(self, fetched):
        machine = [row("table2", name, "middle", float(values[2]), form=values[0])
                   for name, values in FILES.numbers_of(MACHINE).items()]
        return machine + [row("budget", "blocking", "cycles_per_lookup", value, workload=variant)
                          for variant, value in ((JOBS.AS_WRITTEN, fetched),
                                                 ("key in the command", 105.0))]

    def test_the_key_costs_what_is_added_up(self):
        claim = "a key that is fetched costs"
        # 14 + 9 + 10 + 9 and 10 to write; 10 + 30 and 20 to snoop.
        self.assertEqual(verdicts(self.rows(105.0 + 52 + 60), claim), ["reproduced"])
        self.assertEqual(verdicts(self.rows(105.0 + 30), claim), ["not"])

    def test_one_line_is_added_up_over_all_ends(self):
        record = Record(self.rows(105.0) + [
            one | {"metric": metric, "value": float(FILES.numbers_of(MACHINE)[
                one["contestant"]][place])}
            for one in self.rows(105.0) if one["experiment"] == "table2"
            for place, metric in ((1, "low"), (3, "high"))])
        times = SINGLE.single_costs.line_times
        # Near 14 + 9 + 9, hops 10, slice 10 + 8; least: 12 + 6 + 6, 5, 20; greatest: 42, 15, 14.
        for found, by_hand in ((times(record, JOBS.IN_LLC, True), (49 / 20, 60 / 18, 71 / 14)),
                               (times(record, JOBS.IN_LLC, False)[1:2], (60 / 28,)),
                               (times(record, JOBS.IN_DRAM, True)[1:2], (189 / 147,))):
            for value, right in zip(found, by_hand, strict=True):
                self.assertAlmostEqual(value, right)

    def test_the_machine_is_the_papers(self):
        claim = "the middle machine has the paper's numbers"
        self.assertEqual(verdicts(self.rows(200.0), claim), ["reproduced"])
        wrong = [one | ({"value": 5.0} if one["contestant"] == "l2.ways" else {})
                 for one in self.rows(200.0)]
        self.assertEqual(verdicts(wrong, claim), ["not"])


class Beyond(unittest.TestCase):
    def sharing(self, at_16, over_ours):
        made = []
        for variant in JOBS.DISPATCH:
            for way in ("blocking", "overlapped"):
                made += [row("sharing", way, "lookups_per_second", value * 1e6, workload=variant,
                             core_count=cores) for cores, value in ((1.0, 10.0), (16.0, at_16))]
            made += interval_rows("sharing", "overlapped", "times", over_ours, workload=variant,
                                  form="over roost-32", core_count=16.0)
        return made

    def test_one_table_on_many_cores(self):
        for at_16, over_ours, verdict in ((90.0, (1, 2, 3), "reproduced"),
                                          (20.0, (0.1, 0.2, 0.3), "not")):
            found = verdicts(self.sharing(at_16, over_ours), "16 cores ask one table")
            self.assertEqual(found, [verdict] * 6)

    def misses(self, lines):
        return [row("misses", "blocking", metric, value, workload=variant, miss_ratio=misses)
                for variant in JOBS.FORMATS for misses in (0.0, 1.0)
                for metric, value in (("lines_per_lookup", lines), ("key_lines_per_lookup", 1.0),
                                      ("hashes_per_lookup", 1.0), ("locks_per_lookup", 3.0))]

    def test_lines_of_misses(self):
        for lines, verdict in ((1.0, "reproduced"), (2.0, "not")):
            found = [one for start in ("with the filter a miss", "a miss in the paper's",
                                       "a hit in an inline", "a miss in an inline")
                     for one in verdicts(self.misses(lines), start)]
            self.assertEqual(found, [verdict] * 4)

    def test_energy_is_as_reported_and_holds_for_one_size(self):
        found = verdicts(self.misses(2.0), "a TCAM takes 48.2 times")
        self.assertEqual(found, ["not", "not", "not", "reproduced"])
        text = render_text.render({}, SINGLE.sections(Record(self.misses(2.0))), [])
        self.assertRegex(text, r"paper's format +0% +2\.00 +1\.00 +192\.00 +1\.00 +3\.00")

    def test_functions(self):
        def made(times, left_out=None):
            return [one for function, (sizes, *_) in JOBS.FUNCTIONS.items() for size in sizes
                    if (function, size) != left_out
                    for reading in (JOBS.AS_WRITTEN, JOBS.FRIENDLY)
                    for way in ("blocking", "non-blocking")
                    for one in interval_rows(
                        "fig13_accelerator", way, "times", times, form="over rte_hash",
                        workload=f"{function}, {reading}", entries=float(size))]
        for function in JOBS.FUNCTIONS:
            self.assertEqual(verdicts(made((2, 2.5, 3)), f"{function}:"), ["reproduced"] * 4)
            self.assertEqual(verdicts(made((0.3, 0.4, 0.5)), f"{function}:"), ["not"] * 4)
        self.assertEqual(verdicts(made((2, 2.5, 3), ("filter", 100)), "filter:"),
                         ["partly"] * 4)


class Machines(unittest.TestCase):
    def test_a_changed_machine_differs_in_what_was_asked_for(self):
        text = FILES.changed(MACHINE, {"key": "command"}, {"l2.hit_cycles": 3})
        self.assertEqual(FILES.switches_of(text), FILES.switches_of(MACHINE) | {"key": "command"})
        before, after = FILES.numbers_of(MACHINE), FILES.numbers_of(text)
        self.assertEqual({name for name in before if before[name] != after[name]},
                         {"l2.hit_cycles"})
        self.assertEqual(after["l2.hit_cycles"][1:4], (3, 3, 3))

    def test_what_a_machine_has_not_is_refused(self):
        for switches, closed in (({"keys": "command"}, {}), ({}, {"l2.cycles": 3})):
            with self.assertRaises(ValueError):
                FILES.changed(MACHINE, switches, closed)

    def test_the_first_draw_is_the_middle_and_draws_repeat(self):
        numbers = FILES.numbers_of(MACHINE)
        self.assertEqual(FILES.drawn(MACHINE, 0), {name: one[2] for name, one in numbers.items()})
        self.assertEqual(FILES.drawn(MACHINE, 5), FILES.drawn(MACHINE, 5))
        self.assertNotEqual(FILES.drawn(MACHINE, 5), FILES.drawn(MACHINE, 6))

    def test_costs_that_are_switched_off_are_numbers_of_the_machine(self):
        for _, off in JOBS.COSTS_OFF:
            FILES.changed(MACHINE, off.get("switches", {}),
                          dict.fromkeys(off.get("numbers", ()), 0))


class Jobs(unittest.TestCase):
    def test_points_have_names_of_their_own_and_say_what_is_asked(self):
        for size in ("smoke", "quick", "full"):
            points = list(JOBS.jobs(size))
            self.assertEqual(len({point.name for point in points}), len(points))
            for point in points:
                said = json.loads(point.words(LAB)[-1])
                FILES.changed(MACHINE, said["switches"], said["closed"])

    def test_quick_takes_minutes_and_full_has_every_size(self):
        self.assertLess(sum(point.seconds() for point in JOBS.jobs("quick")), 300)
        full = list(JOBS.jobs("full"))
        self.assertLess(sum(point.seconds() for point in full), 2_400)
        sizes = {point.slots for point in full if point.experiment == "fig9"}
        self.assertLessEqual({8, 1 << 24}, sizes)
        self.assertLess(sum(point.tiny().seconds() for point in JOBS.jobs("smoke")), 30)

    def test_every_reading_is_said_in_the_notes(self):
        for reading in JOBS.READINGS:
            self.assertRegex(" ".join(SINGLE.NOTES), re.compile(reading, re.IGNORECASE))


if __name__ == "__main__":
    unittest.main()
