"""HALO-F12, emulated: verdicts on planted rows, both ways; what is kept of a trace."""
import os
import sys
import tempfile
import threading
import unittest
from pathlib import Path

LAB = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(LAB))

import lab  # noqa: E402  (found by the line above)
from harness.beside import beside  # noqa: E402
from report import intervals, render_text  # noqa: E402
from report.record import Record  # noqa: E402

HALO = lab.load_experiment("2019-halo")
NEIGHBOURS = HALO.neighbours
TRACE = beside(LAB / "2019-halo" / "experiment.py", "neighbour_trace")
FEW, MANY = 1_000.0, 1_000_000.0
SAID = {"acl": 0.2, "matcher": 0.19, "server": 0.18}  # lost beside software, at the fewest flows


def planted(software=1.0, grows=1.4, blocking=0.01, blocking_grows=1, by_eight=0.02, waiting=0.0,
            misses=3.0, misses_blocking=1.02):
    """`software`: times what is said above; `grows`: times that at the most flows."""
    made = []

    def add(neighbour, flows, way, metric, middle):
        made.extend({"experiment": "fig12", "kind": "simulated", "job": f"fig12 {neighbour}",
                     "contestant": way, "workload": neighbour, "entries": flows, "round": 0.0,
                     "metric": metric + end, "value": middle * times, "note": ""}
                    for end, times in zip(intervals.ENDS, (0.8, 1, 1.25)))

    for neighbour, lost in SAID.items():
        for flows in (FEW, MANY):
            more, more_blocking = (grows, blocking_grows) if flows == MANY else (1, 1)
            for way, loss, miss in (
                    ("waiting", waiting, 1), ("rte_hash", software * lost * more, misses),
                    ("rte_hash-32", 0.3, 3), ("non-blocking", by_eight, 1.2),
                    ("blocking", blocking * more_blocking, misses_blocking)):
                add(neighbour, flows, way, "loss", loss)
                add(neighbour, flows, way, "l1d_miss_share", 0.01 * miss)
            add(neighbour, flows, "alone", "l1d_miss_share", 0.01)
    return made


def verdicts(made):
    return [one.verdict for section in NEIGHBOURS.sections(Record(made))
            for one in section.verdicts]


AS_CLAIMED = ["reproduced"] * 9


class Verdicts(unittest.TestCase):
    def check(self, changes, **made):
        """Only these verdicts are others, by place."""
        self.assertEqual(verdicts(planted(**made)),
                         [changes.get(at, one) for at, one in enumerate(AS_CLAIMED)], made)

    def test_as_claimed(self):
        self.check({})

    def test_software(self):
        self.check({0: "not", 1: "not"}, software=0.2)
        self.check({0: "not", 1: "not"}, software=2.0)
        self.check({2: "not"}, grows=1.0)

    def test_accelerator(self):
        self.check({3: "partly"}, blocking=0.03)  # 2.4 to 3.75 %
        self.check({3: "not", 5: "not"}, blocking=0.06)
        self.check({3: "not", 5: "not"}, blocking_grows=6)
        self.check({4: "not", 6: "not"}, by_eight=0.06)

    def test_what_half_a_window_costs_is_not_the_lookups_cost(self):
        self.check({3: "not", 4: "not"}, blocking=0.06, by_eight=0.06, waiting=0.05)

    def test_misses(self):
        self.check({7: "not"}, misses=1.2)
        self.check({8: "not"}, misses_blocking=1.4)

    def test_what_is_missing_is_not_run(self):
        some = [row for row in planted() if row["contestant"] != "rte_hash"]
        self.assertEqual(verdicts(some)[:3], ["not run"] * 3)
        self.assertEqual(verdicts(some)[3:7], ["reproduced"] * 4)
        one_size = [row for row in planted() if row["entries"] == FEW]
        self.assertEqual(verdicts(one_size)[2], "not run", "nothing to grow from")
        self.assertEqual(verdicts([]), [])

    def test_report(self):
        text = render_text.render({}, NEIGHBOURS.sections(Record(planted())), [])
        self.assertIn("server of 100 connections (nginx)", text)
        self.assertIn("16.0 to 25.0 (20.0)", text)


class Cuts(unittest.TestCase):
    """Ten instructions, the third of which loads; ready before the first, or never."""

    LINES = b"==1== Lackey\n" + b"".join(
        b"I  %08x,4\n" % (4096 + number) + (b" L 00002000,8\n" if number == 2 else b"")
        for number in range(10))

    def cut(self, instructions, is_ready=True):
        reading, writing = os.pipe()
        os.write(writing, self.LINES)
        os.close(writing)
        ready = threading.Event()
        if is_ready:
            ready.set()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "trace")
            reader = TRACE.Reader(reading, ready)
            kept = reader.cut(instructions, path)
            os.close(reading)
            return kept, reader.skipped, path.read_bytes()

    def test_has_so_many_instructions_and_what_the_last_one_accesses(self):
        kept, skipped, text = self.cut(3)
        self.assertEqual((kept, skipped), (3, 0))
        self.assertTrue(text.endswith(b"I  00001002,4\n L 00002000,8\n"), text)
        self.assertEqual(text.count(b"\nI  "), 3)

    def test_an_end_before_is_seen(self):
        self.assertEqual(self.cut(11)[0], 10)
        self.assertEqual(self.cut(10)[0], 10)

    def test_nothing_is_kept_before_the_program_is_ready(self):
        self.assertEqual(self.cut(3, is_ready=False), (0, 10, b""))


class Jobs(unittest.TestCase):
    def test_sizes(self):
        for size in ("smoke", "quick", "full"):
            jobs = list(NEIGHBOURS.jobs(size))
            self.assertEqual([job.neighbour for job in jobs], ["acl", "matcher", "server"])
            for job in jobs:
                self.assertEqual(job.flows[0], 1_000)
                words = job.words(Path("/build/lab/roost_lab"))
                self.assertIn("/build/apps/roost-halo", words)
                self.assertIn("/build/lab", words)
                self.assertEqual(job.tiny().samples, 0)


if __name__ == "__main__":
    unittest.main()
