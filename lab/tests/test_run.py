"""Runs: jobs done are not repeated, an interrupt loses no more than a job, failures are loud."""
import dataclasses
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
from pathlib import Path

import lab_path
from harness import run, run_folder
from harness.job import Job

# Stands in for the measuring program: notes its call, writes a row, fails or waits if told to.
PROGRAM = """\
#!/bin/sh
echo "$1 $3" >>"$LOG"
case "$3" in wrong) echo "it answered wrong" >&2; exit 1 ;; slow) exec sleep 60 ;; esac
while [ "$1" != --csv ]; do shift; done
printf 'contestant,round,value\\nx,1,1\\n' >"$2"
"""


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.log = self.folder / "log"
        self.program = self.folder / "program"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)
        os.environ["LOG"] = str(self.log)

    def jobs(self, *names):
        return [Job("lookups", name, 4096, ("x",), pages="4K") for name in names]

    def run_jobs(self, *names, identity="i"):
        folder = run_folder.RunFolder(self.folder / "run", identity)
        run.run_all(self.jobs(*names), self.program, folder)
        return folder

    def calls(self):
        return self.log.read_text().split("\n")[:-1]

    def test_a_run_goes_on_where_it_stopped(self):
        with self.assertRaisesRegex(run.JobFailed, "it answered wrong"):
            self.run_jobs("a", "wrong", "b")
        folder = self.run_jobs("a", "b")
        self.assertEqual(self.calls(), ["lookups a", "lookups wrong", "lookups b"])
        self.assertEqual(len(folder.rows()), 2)

    def test_another_commit_or_machine_begins_anew(self):
        self.run_jobs("a", identity="one")
        folder = self.run_jobs("b", identity="two")
        self.assertEqual([row["job"].split()[0] for row in folder.rows()], ["b"])

    def test_identity_is_of_commit_program_and_machine_but_not_of_the_hour(self):
        def identity(commit, *lines):
            return run_folder.identity(commit, self.program, lines)

        base = identity("c", "cpu: x", "date: 1", "load average before: 1")
        self.assertEqual(base, identity("c", "cpu: x", "date: 2", "load average before: 2"))
        self.assertNotEqual(base, identity("d", "cpu: x", "date: 1", "load average before: 1"))
        self.assertNotEqual(base, identity("c", "cpu: y", "date: 1", "load average before: 1"))
        self.program.write_text(PROGRAM + "\n")
        self.assertNotEqual(base, identity("c", "cpu: x", "date: 1", "load average before: 1"))

    def test_rows_of_a_job_that_was_not_marked_are_dropped(self):
        folder = self.run_jobs("a")
        folder._append([{"job": "half", "contestant": "y", "value": "2"}])
        self.assertEqual(len(run_folder.RunFolder(self.folder / "run", "i").rows()), 1)

    def test_processes_of_a_job_are_one_job_whose_rounds_go_on(self):
        folder = run_folder.RunFolder(self.folder / "run", "i")
        job = dataclasses.replace(*self.jobs("a"), processes=3, rounds=5)
        run.run_all(job.each_process(), self.program, folder)
        self.assertEqual(self.calls(), ["lookups a"] * 3)
        self.assertEqual([(row["job"], row["process"], row["round"]) for row in folder.rows()],
                         [(job.name, "0", "1"), (job.name, "1", "6"), (job.name, "2", "11")])

    def test_an_unfinished_process_of_a_job_is_run_again_alone(self):
        folder = run_folder.RunFolder(self.folder / "run", "i")
        job = dataclasses.replace(*self.jobs("a"), processes=2)
        run.run_all(job.each_process()[:1], self.program, folder)
        folder._append([{"job": job.name, "process": "1", "contestant": "half"}])
        folder = run_folder.RunFolder(self.folder / "run", "i")
        self.assertEqual([row["process"] for row in folder.rows()], ["0"])
        run.run_all(job.each_process(), self.program, folder)
        self.assertEqual([row["process"] for row in folder.rows()], ["0", "1"])

    def test_contestants_are_created_in_another_order_in_each_process(self):
        job = Job("lookups", "a", 4096, ("x", "y", "z"), processes=3)
        self.assertEqual([made.in_order_of_creation() for made in job.each_process()],
                         [("x", "y", "z"), ("y", "z", "x"), ("z", "x", "y")])
        self.assertEqual([made.counts for made in job.each_process()], [True, False, False])
        words = job.each_process()[1].words(None)
        at = words.index("--contestants")
        self.assertEqual(words[at + 1:at + 4], ["y", "z", "x"])

    def test_what_has_no_memory_is_a_row_that_says_so(self):
        folder = run_folder.RunFolder(self.folder / "run", "i")
        job = Job("lookups", "huge", 1 << 40, ("x", "y"))
        run.run_all([job], self.program, folder)
        self.assertEqual([row["contestant"] for row in folder.rows()], ["x", "y"])
        self.assertIn("not run: it needs", folder.rows()[0]["note"])
        self.assertFalse(self.log.exists())

    def test_ending_signals_give_the_pages_back_and_end_the_program(self):
        script = textwrap.dedent(f"""
            import sys
            sys.path.insert(0, {str(lab_path.LAB)!r})
            from pathlib import Path
            from harness import huge_pages, run, run_folder
            from harness.job import Job
            huge_pages.end_on_signals()
            place = Path({str(self.folder)!r})
            run.PAGE_FOLDERS["2M"] = (2 << 20, place)
            run.huge_pages.HugePages.__init__.__defaults__ = (place, place / "compact")
            folder = run_folder.RunFolder(place / "run", "i")
            run.run_all([Job("lookups", "slow", 4096, ("x",))], place / "program", folder)
        """)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            setting = self.folder / "nr_hugepages"
            setting.write_text("3\n")
            self.log.unlink(missing_ok=True)
            with subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL) as lab:
                deadline = time.monotonic() + 30
                while not self.log.exists() and time.monotonic() < deadline:
                    time.sleep(0.02)
                self.assertGreater(int(setting.read_text()), 3)
                lab.send_signal(number)
                self.assertEqual(lab.wait(timeout=30), 128 + number)
            self.assertEqual(int(setting.read_text()), 3)


if __name__ == "__main__":
    unittest.main()
