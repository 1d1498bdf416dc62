"""The experiment `2019-halo`: what the instructions of a lookup are, what locking takes of them,
and the flow register, on made-up figures, both ways."""
import sys
import unittest
from pathlib import Path

LAB = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(LAB))

import lab  # noqa: E402  (found by the line above)
import rows  # noqa: E402
from report import render_text  # noqa: E402
from report.record import Record  # noqa: E402

HALO = lab.load_experiment("2019-halo")
MIX = HALO.instruction_mix
FLOWS = HALO.flow_register
AS_CLAIMED = {"instructions": 210.0, "loads": 76.0, "stores": 24.8}


def count_rows(plain=None, times=None, left_out=()):
    """Counts without other threads; with them, by flag, so many times as many."""
    times = {MIX.PLAIN: 1.0, MIX.LOCKED: 1 / (1 - 0.131), MIX.LOCK_FREE: 1 / (1 - 0.131),
             **(times or {})}
    return Record([rows.ROW | {"experiment": "instructions", "contestant": readers,
                               "key_bytes": float(key_bytes), "metric": metric,
                               "value": value * share}
                   for key_bytes in MIX.KEY_BYTES if key_bytes not in left_out
                   for readers, share in times.items()
                   for metric, value in (plain or AS_CLAIMED).items()])


def words(record, which, of=MIX):
    return [verdict.verdict for verdict in of.sections(record)[which].verdicts]


class Instructions(unittest.TestCase):
    def test_figures_as_claimed_are_reproduced(self):
        self.assertEqual(words(count_rows(), 0), ["reproduced"] * 4)

    def test_each_figure_is_judged_alone(self):
        for metric, found in (("instructions", ["partly", "partly", "partly", "partly"]),
                              ("loads", ["reproduced", "partly", "reproduced", "partly"])):
            other = AS_CLAIMED | {metric: AS_CLAIMED[metric] * 0.84}
            self.assertEqual(words(count_rows(other), 0), found, metric)

    def test_keys_of_16_bytes_are_those_that_count(self):
        self.assertEqual(words(count_rows(left_out=(16,)), 0), ["not run"] * 4)

    def test_the_report_says_what_is_not_counted(self):
        text = render_text.render({}, MIX.sections(count_rows()), [])
        self.assertIn("Of arithmetic and the rest", text)
        self.assertIn("48.0 %", text)


class Locking(unittest.TestCase):
    def test_the_share_is_of_the_lookup_with_locking(self):
        # Of 1.151 instructions for each one without, 13.1 % are locking's.
        self.assertEqual(words(count_rows(), 1), ["reproduced"] * 2)
        self.assertAlmostEqual(MIX.locking_share(count_rows(), MIX.LOCKED, 16), 0.131)

    def test_each_kind_of_readers_is_judged_alone(self):
        self.assertEqual(words(count_rows(times={MIX.LOCKED: 1.5}), 1), ["not", "reproduced"])
        self.assertEqual(words(count_rows(times={MIX.LOCK_FREE: 1.0}), 1), ["reproduced", "not"])

    def test_a_length_left_out_gives_no_verdict(self):
        self.assertEqual(words(count_rows(left_out=(64,)), 1), ["not run"] * 2)


def flow_rows(deviation, left_out=None, **others):
    """Errors by deviation(bits, share)."""
    return Record([rows.ROW | {"experiment": "fig8b", "kind": "simulated", "slots": float(bits),
                               "load": float(share), "metric": metric, "value": value}
                   for bits in FLOWS.BITS for share in FLOWS.SHARES if (bits, share) != left_out
                   for metric, value in ({"bias": 0.0, "saturated": 0.0} | others
                                         | {"deviation": deviation(bits, share)}).items()])


class FlowRegister(unittest.TestCase):
    def test_good_to_twice_the_bits_and_no_further_is_reproduced(self):
        made = flow_rows(lambda _, share: 0.2 if share <= 2 else 0.3)
        self.assertEqual(words(made, 0, FLOWS), ["reproduced", "reproduced"])

    def test_registers_that_are_good_beyond_are_said(self):
        made = flow_rows(lambda bits, share: 0.2 if share <= 2 or bits > 32 else 0.3)
        self.assertEqual(words(made, 0, FLOWS), ["reproduced", "not"])

    def test_a_bad_estimate_ends_it_though_more_flows_are_good_again(self):
        made = flow_rows(lambda _, share: 0.3 if share == 1 else 0.1)
        self.assertEqual(words(made, 0, FLOWS), ["not", "reproduced"])

    def test_bias_and_saturation_count_too(self):
        for other in ({"bias": -0.2}, {"bias": 0.2}, {"saturated": 0.02}):
            made = flow_rows(lambda *_: 0.1, **other)
            self.assertEqual(words(made, 0, FLOWS)[0], "not", other)

    def test_a_point_left_out_gives_no_verdict(self):
        made = flow_rows(lambda *_: 0.1, left_out=(64, 2))
        self.assertEqual(words(made, 0, FLOWS), ["not run"] * 2)


if __name__ == "__main__":
    unittest.main()
