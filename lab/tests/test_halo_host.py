"""The host check of `2019-halo`: verdicts on made-up points, which points count, the machine that
is made of what was found, and what is kept for roost-halo."""
import sys
import tomllib
import unittest
from pathlib import Path

LAB = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(LAB))

import lab  # noqa: E402  (found by the line above)
import rows  # noqa: E402
from report import render_text  # noqa: E402
from report.record import Record  # noqa: E402

HOST = lab.load_experiment("2019-halo").host
POINTS = HOST.host_points
MACHINE = HOST.host_machine
CACHES = {"l1d": (48 << 10, 12), "l2": (1 << 20, 16), "llc": (32 << 20, 16)}
FACTS = {"cpu": "a processor", "date": "2026-11-28 20:00 UTC"}


def row(kind, contestant, value, number=None, **fields):
    return rows.ROW | {"experiment": "host", "kind": kind, "contestant": contestant,
                       "form": "plain", "metric": "ns", "value": value, "round": number,
                       "job": "host", "slots": 0.0, "entries": 0.0, "table_bytes": None,
                       "page_bytes": None} | fields


def made(off=None, by=2.0, pages=float(2 << 20)):
    """All points; those of `off`, by (contestant, place), are predicted so many times as long."""
    found = [row("measured", "clock", 0.25, 0.0)]
    places = [("chase", {"table_bytes": float(size)}) for size, _ in MACHINE.chases(CACHES)]
    places += [(way, {"slots": float(slots), "entries": slots * 0.8})
               for slots in HOST.SLOTS for way in POINTS.WAYS]
    for place, (who, fields) in enumerate(places):
        found += [row("measured", who, 10.0 * share, float(number), page_bytes=pages, **fields)
                  for number, share in enumerate((0.9, 1.0, 5.0))]
        found.append(row("simulated", who, 11.0 * (by if place in (off or ()) else 1), **fields))
    sizes = {}
    for size, finds in MACHINE.chases(CACHES):
        sizes.setdefault(finds, []).append(str(size))
    found += [row("simulated", finds, 7.0, form=" ".join(places), metric="number", note="measured")
              for finds, places in sizes.items() if finds]
    return Record(found, FACTS)


def verdicts(**how):
    return [verdict.verdict for verdict in POINTS.sections(made(**how))[0].verdicts]


FINDS = [place for place, (_, finds) in enumerate(MACHINE.chases(CACHES)) if finds]


class Verdicts(unittest.TestCase):
    def test_predictions_within_bounds_hold_and_the_median_of_rounds_counts(self):
        self.assertEqual(verdicts(), ["reproduced"] * 5)  # 11 / 10, where the mean is 23

    def test_bounds_are_from_0_75_to_1_25(self):
        everything = range(24)
        for by, word in ((1.24 / 1.1, "reproduced"), (1.26 / 1.1, "not"),
                         (0.76 / 1.1, "reproduced"), (0.74 / 1.1, "not")):
            self.assertEqual(verdicts(off=everything, by=by), [word] * 5, by)

    def test_chases_that_find_numbers_do_not_count(self):
        self.assertEqual(verdicts(off=FINDS), ["reproduced"] * 5)

    def test_half_of_them_within_is_partly_and_less_is_not(self):
        others = [place for place in range(9) if place not in FINDS]
        self.assertEqual(verdicts(off=others[:1])[0], "partly")
        self.assertEqual(verdicts(off=others[:2])[0], "not")
        self.assertEqual(verdicts(off=others[:2])[1:4], ["reproduced"] * 3)
        self.assertEqual(verdicts(off=others[:2])[4], "partly")  # 11 of 13

    def test_what_was_tried_elsewhere_is_judged_but_not_independent(self):
        tried = [place for place in range(9, 24) if place % 3 == 1]
        self.assertEqual(verdicts(off=tried), ["reproduced"] * 3 + ["not", "reproduced"])
        said = POINTS.sections(made())[0].verdicts[3]
        self.assertIn("not independent", said.claim)
        self.assertIn("ten_instructions_cycles", " ".join(POINTS.sections(made())[0].notes))

    def test_every_point_stands_with_what_it_is(self):
        found = POINTS.points(made())
        standing = [point.standing for point in found]
        self.assertEqual(len(found), 24)
        self.assertEqual([standing.count(word) for word in ("independent", "after a trial")],
                         [13, 5])
        text = render_text.render({}, POINTS.sections(made(off=[10])), [])
        self.assertIn("finds dram.controller_cycles", text)
        self.assertIn("10.00 (9.00 to 50.00)", text)
        self.assertIn("The floor under speed-ups: 2.20, rte_hash, 32 keys a call, 819 entries",
                      text)

    def test_the_least_round_stands_beside_the_median(self):
        self.assertEqual({(row[3], row[4]) for row in POINTS.sections(made())[0].tables[0].rows},
                         {("1.10", "1.22")})  # 11 / 10, 11 / 9

    def test_small_pages_are_not_judged(self):
        self.assertEqual(verdicts(pages=4096.0), ["not run"] * 5)
        self.assertNotIn("floor", " ".join(POINTS.sections(made(pages=None))[0].notes))

    def test_nothing_measured_says_nothing(self):
        self.assertEqual(POINTS.sections(Record([])), [])


def several_checks(*times):
    """A check for each: all is predicted so many times as long as in made()."""
    found = [made_row | {"process": float(process), "value": made_row["value"] * (
                 times[process] if (made_row["kind"], made_row["metric"]) == ("simulated", "ns")
                 else 1)}
             for process in range(len(times)) for made_row in made().rows]
    return Record(found, FACTS)


class SeveralChecks(unittest.TestCase):
    def test_the_one_counts_whose_ratio_is_the_median(self):
        for times, ratio in (((1, 3, 2), 2.2), ((3, 1), 1.1), ((0.5, 1, 9, 4, 2), 2.2)):
            points = POINTS.points(several_checks(*times))
            self.assertEqual(len(points), 24)
            self.assertEqual({round(point.ratio, 9) for point in points}, {ratio}, times)
        section, = POINTS.sections(several_checks(1, 0.9, 3))
        self.assertEqual([verdict.verdict for verdict in section.verdicts], ["reproduced"] * 5)

    def test_all_of_them_are_shown(self):
        text = render_text.render({}, POINTS.sections(several_checks(1, 3, 2)), [])
        self.assertIn("2.20 (1.10 to 3.30)", text)
        self.assertNotIn("1.10 (", render_text.render({}, POINTS.sections(made()), []))

    def test_a_number_is_the_median_of_theirs(self):
        checks = several_checks(1, 1, 1)
        for row, value in zip((one for one in checks.rows if one["metric"] == "number"
                               and one["contestant"] == "l2.hit_cycles"), (17.0, 14.0, 15.0)):
            row |= {"value": value, "note": f"of {value:g}"}
        self.assertEqual(POINTS.found_numbers(checks)["l2.hit_cycles"], (15, "of 15"))

    def test_a_full_run_makes_five(self):
        self.assertEqual(len({job.process_name for job in HOST.jobs("full")}), 5)
        self.assertEqual(len({job.name for job in HOST.jobs("full")}), 1)
        self.assertEqual(len(HOST.jobs("quick")), 1)


class Kept(unittest.TestCase):
    def test_it_has_every_point_and_of_which_machine(self):
        kept = tomllib.loads(POINTS.kept_text(made(off=[10])))
        self.assertEqual((kept["machine"], kept["date"]), (FACTS["cpu"], FACTS["date"]))
        self.assertEqual(len(kept["point"]), 24)
        self.assertEqual(kept["point"][10], {
            "name": "rte_hash, 32 keys a call, 819 entries", "standing": "after a trial",
            "measured_ns": 10.0, "predicted_ns": 22.0})

    def test_of_several_checks_it_has_the_one_of_the_median(self):
        kept = tomllib.loads(POINTS.kept_text(several_checks(1, 3, 2)))
        self.assertEqual(len(kept["point"]), 24)
        self.assertEqual({point["predicted_ns"] for point in kept["point"]}, {22.0})


def chase_cycles(quarter, half):
    """By chases that find numbers; of a quarter and half of the last-level cache as said."""
    steps = {"l1d.hit_cycles": [3.9], "l2.hit_cycles": [14.2], "mesh.request_cycles": [47.3],
             "llc.slice_bytes": [quarter, half], "dram.controller_cycles": [520.0]}
    return {(size, finds): steps[finds].pop(0) for size, finds in MACHINE.chases(CACHES) if finds}


class Found(unittest.TestCase):
    def test_numbers_come_from_where_they_are_said_to(self):
        cycles = chase_cycles(quarter=60, half=90)
        # A machine on which a line of the slice takes L2 and what is between, of DRAM 150 more.
        def simulate(found, size):
            between = found["mesh.request_cycles"][0] + found["mesh.fill_cycles"][0]
            return 14 + between + (150 if size > CACHES["llc"][0] else 0)

        base = MACHINE.found_without_chases(CACHES, 0.25)
        found = MACHINE.found_by_chases(base, CACHES, cycles, simulate)
        values = {name: value for name, (value, _) in found.items()}
        self.assertEqual(values["clock.megahertz"], 4_000)
        self.assertEqual((values["l1d.hit_cycles"], values["l2.hit_cycles"]), (4, 14))
        self.assertEqual((values["mesh.request_cycles"], values["mesh.fill_cycles"]), (16, 17))
        self.assertEqual(values["dram.controller_cycles"], 520 - 150 - 14 - 33)
        self.assertEqual(values["dram.read_cycles"], 57)  # 30 at 2,100 MHz
        self.assertEqual(values["snoop_filter.sets"], 2_048)
        machine = tomllib.loads(MACHINE.machine_text(found))
        self.assertEqual(machine["l2"]["hit_cycles"]["high"], 14)
        self.assertEqual(machine["core"]["window"]["source"], "sim/machine.toml's middle")
        self.assertEqual(machine["switches"]["llc"]["value"], "victim")

    def test_of_the_last_level_cache_what_chases_fit_in_is_ours(self):
        # Between the cache's 47 cycles and memory's 520 is 284.
        for quarter, half, mebibytes in ((60, 280, 32), (60, 290, 8), (290, 400, 4)):
            size, how = MACHINE.llc_bytes(CACHES, chase_cycles(quarter, half))
            self.assertEqual(size, mebibytes << 20)
            self.assertEqual("does not fit" in how, mebibytes < 32, how)

    def test_a_cache_of_odd_sets_gets_more_ways_and_about_as_many_bytes(self):
        self.assertEqual(MACHINE.geometry(48 << 10, 12), (48 << 10, 12))
        self.assertEqual(MACHINE.geometry(32 << 20, 16), (32 << 20, 16))
        size, ways = MACHINE.geometry(30 << 20, 20)  # 24,576 sets
        self.assertEqual((size, ways), (30 << 20, 30))


if __name__ == "__main__":
    unittest.main()
