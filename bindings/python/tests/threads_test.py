"""Batches run without the interpreter's lock; a table still works for one thread at a time."""

import threading
import time
import unittest

import numpy
import roost

KEYS = numpy.arange(4_000_000, dtype="u8")


class Threads(unittest.TestCase):
    def test_the_interpreter_runs_on_while_a_batch_does(self):
        table = roost.Table(8, 8, entries_max=len(KEYS))
        span = []

        def insert():
            begin = time.monotonic()
            table.insert(KEYS, KEYS)
            span.extend((begin, time.monotonic()))

        worker = threading.Thread(target=insert)
        worker.start()
        moments = [time.monotonic()]
        while worker.is_alive():
            moments.append(time.monotonic())
        worker.join()
        begin, end = span
        inside = [begin, *(moment for moment in moments if begin < moment < end), end]
        longest_pause = max(numpy.diff(inside))
        # With the lock held the pause is the whole call.
        self.assertLess(longest_pause, (end - begin) / 2)

    def test_two_tables_work_in_two_threads_at_once(self):
        tables = [roost.Table(8, 8, entries_max=len(KEYS)) for _ in range(2)]
        spans = {}

        def work(number):
            begin = time.monotonic()
            tables[number].insert(KEYS, KEYS + number)
            out, hits = tables[number].lookup(KEYS, out=numpy.empty(len(KEYS), "u8"))
            spans[number] = begin, time.monotonic(), hits.all() and (out == KEYS + number).all()

        workers = [threading.Thread(target=work, args=(number,)) for number in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertTrue(spans[0][2] and spans[1][2])
        overlap = min(spans[0][1], spans[1][1]) - max(spans[0][0], spans[1][0])
        self.assertGreater(overlap, 0)

    def test_threads_on_one_table_take_turns(self):
        table = roost.Table(8, 8, capacity=1 << 16)
        keys = KEYS[:20_000]
        failures = []

        def work(number):
            own = keys[number::4].copy()
            for turn in range(30):
                if (table.insert(own, own + turn) == roost.Outcome.FULL).any():
                    failures.append("full")
                out, hits = table.lookup(own, out=numpy.empty(len(own), "u8"))
                if not hits.all() or (out != own + turn).any():
                    failures.append("lost")
                if not table.erase(own).all():
                    failures.append("not erased")

        workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertEqual(failures, [])
        self.assertEqual(len(table), 0)
        self.assertEqual(table.stats()["lookups"], 30 * len(keys))
        table.audit()


if __name__ == "__main__":
    unittest.main()
