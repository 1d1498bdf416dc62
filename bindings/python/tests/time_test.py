"""Entries that live by timeouts, and the log of those that expired."""

import unittest
import warnings

import address_space
import numpy
import roost
from numpy.testing import assert_array_equal

KEYS = numpy.arange(1000, dtype="u8")


def rows(entries):
    keys, values = entries
    return list(zip(keys.view("u8").ravel().tolist(), values.view("u4").ravel().tolist()))


class Time(unittest.TestCase):
    def setUp(self):
        self.table = roost.Table(8, 4, capacity=4096, expiry=True, expiry_log=True)
        self.values = KEYS.astype("u4")

    def test_an_entry_lives_as_many_ticks_as_it_was_given(self):
        self.table.insert(KEYS, self.values, timeouts=KEYS.astype("u4"))
        for now in (0, 1, 500, 998, 999):
            self.table.advance(now)
            self.assertEqual(self.table.now, now)
            assert_array_equal(self.table.contains(KEYS), KEYS >= now)

    def test_timeouts_are_a_number_for_all_or_none_for_the_longest(self):
        self.table.insert(KEYS[:10], self.values[:10], timeouts=60)
        self.table.insert(KEYS[10:20], self.values[10:20], timeouts=numpy.uint16(70))
        self.table.insert(KEYS[20:30], self.values[20:30])
        for now, live in (60, 30), (61, 20), (70, 20), (71, 10), (1023, 10), (1024, 0):
            self.table.advance(now)
            self.assertEqual(self.table.contains(KEYS).sum(), live, now)

    def test_a_refresh_gives_new_time_to_the_live_only(self):
        self.table.insert(KEYS, self.values, timeouts=10)
        self.table.advance(5)
        every_other = numpy.where(KEYS % 2, 20, 5).astype("u4")
        self.assertTrue(self.table.refresh(KEYS, every_other).all())
        self.table.advance(11)
        assert_array_equal(self.table.refresh(KEYS, 100), KEYS % 2 == 1)

    def test_each_of_many_batches_of_timeouts_reaches_its_own_keys(self):
        table = roost.Table(8, 0, capacity=1 << 16, expiry=True)
        keys = numpy.arange(30_000, dtype="u8")
        table.insert(keys, timeouts=1)
        table.refresh(keys, (keys % 100).astype("u4"))
        table.advance(50)
        assert_array_equal(table.contains(keys), keys % 100 >= 50)

    def test_the_log_has_every_expired_entry_once_with_its_value(self):
        self.table.insert(KEYS, self.values + 7, timeouts=KEYS.astype("u4") % 3)
        self.table.erase(KEYS[:30])
        self.table.advance(2)
        self.table.insert(KEYS[30:60], self.values[30:60], timeouts=9)
        expired = rows(self.table.take_expired())
        self.assertEqual(expired, [(key, key + 7) for key in range(30, 60) if key % 3 < 2])
        freed = self.table.maintain()
        later = rows(self.table.take_expired())
        self.assertEqual(len(later), freed)
        expected = [(key, key + 7) for key in range(60, 1000) if key % 3 < 2]
        self.assertEqual(sorted(later), expected)
        self.assertEqual(rows(self.table.take_expired()), [])
        stats = self.table.stats()
        self.assertEqual(stats["expired"], len(expired) + len(later))
        self.assertEqual(stats["created"],
                         len(self.table) + stats["erased"] + stats["expired"])

    def test_maintain_goes_on_where_it_stopped(self):
        self.table.insert(KEYS, self.values, timeouts=0)
        self.table.advance(1)
        bucket_count = self.table.info()["bucket_count"]
        parts = [self.table.maintain(bucket_count // 4) for _ in range(4)]
        self.assertEqual(sum(parts) + self.table.maintain(bucket_count % 4), 1000)
        self.assertTrue(all(0 < part < 1000 for part in parts), parts)
        self.assertEqual(len(self.table), 0)

    def test_the_past_is_refused_and_an_overdue_scan_is_warned_of(self):
        self.table.advance(10)
        with self.assertRaisesRegex(ValueError, "now: 9 lies before the table's 10"):
            self.table.advance(9)
        self.assertEqual(self.table.now, 10)
        self.table.insert(KEYS, self.values)
        with self.assertWarnsRegex(RuntimeWarning, "scan_deadline"):
            self.table.advance(self.table.scan_deadline + 1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.table.maintain()
            self.table.advance(self.table.now + 1)

    def test_timeouts_that_are_none_are_refused(self):
        for wrong in (-1, 2**32, KEYS, self.values[:9].copy(), self.values.astype("i4")):
            with self.subTest(wrong), self.assertRaisesRegex(ValueError, "timeouts: "):
                self.table.insert(KEYS, self.values, wrong)
        with self.assertRaisesRegex(TypeError, "timeouts: "):
            self.table.insert(KEYS, self.values, 1.5)
        table = roost.Table(8, 0, capacity=4096)
        with self.assertRaisesRegex(ValueError, "expiry=True"):
            table.insert(KEYS, timeouts=5)
        with self.assertRaisesRegex(ValueError, "expiry_log=True"):
            table.take_expired()

    def test_a_log_that_finds_no_memory_says_how_many_it_lost(self):
        count = 400_000  # of 264 bytes: more than what freed memory may be lying about
        table = roost.Table(8, 256, capacity=500_000, expiry=True, expiry_log=True)
        table.insert(numpy.arange(count, dtype="u8"), numpy.zeros((count, 256), "u1"), timeouts=0)
        table.advance(1)
        with address_space.at_most_more(8 << 20), self.assertRaises(MemoryError) as raised:
            table.maintain()
        self.assertEqual(len(table), 0)
        keys, values = table.take_expired()
        self.assertEqual(len(keys), len(values))
        self.assertIn(f" {count - len(keys)} entries", str(raised.exception))
        self.assertGreater(len(keys), 0)


if __name__ == "__main__":
    unittest.main()
