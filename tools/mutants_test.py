"""Tests of what tools/mutants.py is made of; what it finds in the tree is another matter."""

import contextlib
import os
import pathlib
import tempfile
import threading
import time
import unittest

import mutant_list
import mutant_record
import mutants
from mutant_list import CannotPlant, Edit, Mutant
from mutant_turns import Commands, Turns
from mutant_workshop import Verdict


def mutant(name, *edits):
    return Mutant(name, ("net",), edits, "debug", "", "tests/mutants/net.toml", 1)


def in_file(number, file):
    return mutant(f"net-{number}", Edit(file, "a", "b"))


class EditTest(unittest.TestCase):
    def edited(self, text, *edits):
        return mutant_list.edited_files(mutant("net-a", *edits), {"f": text}.get)

    def test_edits_of_one_file_add_up(self):
        self.assertEqual({"f": "x 2\n"},
                         self.edited("a 1\n", Edit("f", "a", "x"), Edit("f", "1", "2")))

    def test_what_cannot_be_planted_is_told_with_its_file(self):
        for edit, words in ((Edit("f", "b", "c"), "is not in f"),
                            (Edit("f", "a", "c"), "is 2 times in f"),
                            (Edit("f", "", "c"), "make find longer"),
                            (Edit("f", "a1", "a1"), "changes nothing in f"),
                            (Edit("g", "a", "c"), "no file g")):
            with self.subTest(words), self.assertRaisesRegex(CannotPlant, words):
                self.edited("a1 a2", edit)


class SliceTest(unittest.TestCase):
    LIST = [in_file(number, file) for number, file in enumerate("cabacb" * 5)]

    def test_slices_are_all_mutants_once(self):
        slices = [mutants.chosen(self.LIST, [], (number, 7)) for number in range(1, 8)]
        self.assertEqual(sorted(self.LIST), sorted(sum(slices, [])))
        self.assertEqual({4, 5}, {len(part) for part in slices})

    def test_a_slice_has_its_share_of_each_file(self):
        for number in (1, 2):
            files = [found.edits[0].file for found in mutants.chosen(self.LIST, [], (number, 2))]
            self.assertEqual([5, 5, 5], [files.count(file) for file in "abc"])

    def test_words_choose_by_name(self):
        found = mutants.chosen(self.LIST, ["net-7", "net-11"], (1, 1))
        self.assertEqual({"net-7", "net-11"}, {one.name for one in found})

    def test_slices_that_are_none_are_refused(self):
        for text in ("0/3", "4/3", "1", "a/b", "-1/2"):
            with self.subTest(text), self.assertRaises(mutants.argparse.ArgumentTypeError):
                mutants.slice_of(text)


class RecordTest(unittest.TestCase):
    def test_a_line_is_replaced_others_stay_and_the_gone_go(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "record.csv"
            file.write_text("name,verdict,caught_by,seconds,commit\n"
                            "net-a,SURVIVED,,9,0\nnet-b,caught,net,8,0\nnet-gone,caught,net,7,0\n")
            record = mutant_record.Record(file, mutants.ROOT, {"net-a", "net-b", "net-c"})
            record.add("net-c", Verdict("BROKEN", "", "does not compile", ""), 0.4)
            record.add("net-a", Verdict("caught", "net", "by net", ""), 12.6)
            rows = mutant_record.rows_of(file.read_text())
        self.assertEqual(["net-a", "net-b", "net-c"], list(rows))
        self.assertEqual(("caught", "net", "13"),
                         tuple(rows["net-a"][key] for key in ("verdict", "caught_by", "seconds")))
        self.assertEqual("0", rows["net-b"]["commit"])

    def test_another_file_is_not_written_over(self):
        with self.assertRaises(ValueError):
            mutant_record.rows_of("key,value\n1,2\n")


class TurnsTest(unittest.TestCase):
    def run_together(self, count, work):
        threads = [threading.Thread(target=work) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def most_together(self, turns, count, turn):
        """The most of `count` threads that had their turn at a time."""
        lock, now, most = threading.Lock(), [], []

        def work():
            with turn():
                with lock:
                    now.append(0)
                    most.append(len(now))
                time.sleep(0.01)
                with lock:
                    now.pop()
        self.run_together(count, work)
        return max(most)

    def test_no_more_processors_are_taken_than_there_are(self):
        turns = Turns(3)
        self.assertLessEqual(self.most_together(turns, 12, lambda: turns.taken(1)), 3)
        self.assertEqual(1, self.most_together(turns, 6, lambda: turns.taken(2)))
        self.assertEqual(1, self.most_together(turns, 6, lambda: turns.taken(9)))

    def test_as_many_work_together_as_there_are_processors(self):
        turns, meeting = Turns(3), threading.Barrier(3)

        def work():
            with turns.taken(1):
                meeting.wait(60)
        self.run_together(3, work)
        self.assertFalse(meeting.broken)

    def test_one_test_is_not_run_beside_itself(self):
        turns = Turns(4)
        self.assertEqual(1, self.most_together(turns, 6, lambda: turns.test("net", 1)))

    def test_who_wants_many_is_not_passed_by_for_ever(self):
        turns, order = Turns(2), []

        def wide():
            with turns.taken(2):
                order.append("wide")

        def narrow():
            with turns.taken(1):
                order.append("narrow")
        with turns.taken(1):
            first = threading.Thread(target=wide)
            first.start()
            while not turns._waiting:
                time.sleep(0.001)
            second = threading.Thread(target=narrow)
            second.start()
            time.sleep(0.02)
            self.assertEqual([], order)
        first.join()
        second.join()
        self.assertEqual(["wide", "narrow"], order)


class CommandsTest(unittest.TestCase):
    def run_in_shell(self, script, seconds=None, commands=None):
        return (commands or Commands()).run(["sh", "-c", script], "/", dict(os.environ), seconds)

    def has_ended(self, process):
        with contextlib.suppress(FileNotFoundError):
            return "State:\tZ" in pathlib.Path(f"/proc/{process}/status").read_text()
        return True

    def end_of(self, process):
        for _ in range(200):
            if self.has_ended(process):
                return True
            time.sleep(0.01)
        return False

    def test_output_and_status_are_kept(self):
        outcome = self.run_in_shell("echo out; echo error >&2; exit 3")
        self.assertEqual((3, "out\nerror\n", False), outcome)

    def test_what_is_late_ends_with_its_children(self):
        for seconds in (0.2, 2, 20):  # on a busy machine the shell may not have said it by then
            outcome = self.run_in_shell("sleep 100 & echo $!; wait", seconds)
            self.assertTrue(outcome.is_late)
            self.assertNotEqual(0, outcome.status)
            process = outcome.output.split()[0]
            if process.isdecimal():
                break
        self.assertTrue(self.end_of(int(process)))

    def test_what_a_command_leaves_behind_ends_with_it(self):
        outcome = self.run_in_shell("sleep 100 & echo $!")
        self.assertEqual(0, outcome.status)
        self.assertTrue(self.end_of(int(outcome.output)))

    def test_after_the_stop_nothing_runs(self):
        commands = Commands()
        outcomes = []
        thread = threading.Thread(
            target=lambda: outcomes.append(self.run_in_shell("sleep 100", commands=commands)))
        thread.start()
        while not commands._running:
            time.sleep(0.001)
        commands.stop()
        thread.join()
        self.assertNotEqual(0, outcomes[0].status)
        with self.assertRaises(InterruptedError):
            self.run_in_shell("true", commands=commands)


if __name__ == "__main__":
    unittest.main()
