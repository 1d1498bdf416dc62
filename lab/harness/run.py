"""Runs jobs one after another: pages for each, a progress bar with the time left, rows kept."""
import os
import subprocess
from pathlib import Path

import tqdm

from harness import huge_pages

# What the kernel, the program's code and its queries need beside the tables.
BYTES_LEFT_TO_OTHERS = 3 << 29
PAGE_FOLDERS = {"2M": (2 << 20, huge_pages.FOLDER),
                "1G": (1 << 30, huge_pages.FOLDER.with_name("hugepages-1048576kB"))}


class JobFailed(Exception):
    """The program ended with an error: a wrong answer, or something could not be set up."""


def memory_available():
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return 0


def pages_for(job, core_bytes=BYTES_LEFT_TO_OTHERS):
    """The reservation that a job needs; NoHugePages says why it failed."""
    page_bytes, folder = PAGE_FOLDERS[job.pages]
    needed, reserved = job.table_bytes(), job.reserved_bytes()
    if job.pages == "1G":  # every table rounds up to whole pages
        needed += (1 << 30) * (len(job.contestants) + 1) * job.cores
        reserved = needed
    room = memory_available() - core_bytes
    if needed > room:
        raise huge_pages.NoHugePages(f"it needs {needed / 2**30:.1f} GiB for its tables and the "
                                     f"machine has {max(room, 0) / 2**30:.1f} GiB to give")
    if not folder.exists():
        raise huge_pages.NoHugePages(f"the kernel has no pages of {job.pages}iB")
    return huge_pages.HugePages(reserved // page_bytes + 1, folder=folder)


def call_program(program, words, on_progress):
    """Runs the program to its end, which comes before this script's. The lines that do not tell of
    progress are what went wrong."""
    said = []
    with subprocess.Popen([program, *words], stderr=subprocess.PIPE, text=True,
                          env=os.environ | {"RUNTIME_DIRECTORY": "/tmp"}) as process:
        try:
            for line in process.stderr:
                kind, _, rest = line.partition(" ")
                if kind == "progress":
                    share, _, what = rest.partition(" ")
                    on_progress(float(share), what.strip())
                else:
                    said.append(line)
            if process.wait() != 0:
                raise JobFailed("".join(said).strip() or f"status {process.returncode}")
        finally:
            process.kill()


def minutes_left(jobs, done):
    """About how long the jobs take that are not done."""
    return sum(job.seconds() for job in jobs if job.process_name not in done) / 60


class Progress:
    """A bar over all jobs, in the seconds they are believed to take."""

    def __init__(self, jobs, done):
        self.bar = tqdm.tqdm(
            total=sum(job.seconds() for job in jobs), unit="s", smoothing=0,
            initial=0, disable=None,
            bar_format="{percentage:3.0f}% |{bar:24}| {elapsed}, {remaining} left  {desc}")
        self.finished = 0.0
        for job in jobs:
            if job.process_name in done:
                self.bar.total -= job.seconds()

    def show(self, job, share, what):
        self.bar.n = self.finished + share * job.seconds()
        self.bar.set_description_str(f"{job.name[:40]}: {what}"[:90])

    def finish(self, job):
        self.finished += job.seconds()
        self.bar.n = self.finished
        self.bar.refresh()

    def close(self):
        self.bar.close()


def first_row(job, contestant, load):
    return {"experiment": job.experiment, "kind": "measured", "contestant": contestant,
            "slots": job.slots, "load": load, "core_count": job.cores}


def say_not_run(job, folder, why):
    folder.add_not_run(job, [first_row(job, contestant, job.loads[-1])
                             for contestant in job.contestants], why)


def run_one(job, program, folder, core, progress):
    """One job; pages or memory that are not available become a row that says so."""
    csv_file = folder.folder / "job.csv"
    words = [*job.words(program), "--csv", str(csv_file)]
    if core is not None:
        words += ["--core", str(core)]

    def measure():
        call_program(job.program(program), words,
                     lambda share, what: progress.show(job, share, what))
        folder.add(job, csv_file)

    if job.not_run_because:
        say_not_run(job, folder, job.not_run_because)
        return
    if job.pages not in PAGE_FOLDERS:
        measure()
        return
    try:
        with pages_for(job):
            measure()
    except huge_pages.NoHugePages as missing:
        say_not_run(job, folder, str(missing))


def run_all(jobs, program, folder, core=None):
    """Runs those that are not done. An error says which job failed and why."""
    progress = Progress(jobs, folder.done)
    try:
        for job in jobs:
            if job.process_name in folder.done:
                continue
            progress.show(job, 0, "starting")
            try:
                run_one(job, program, folder, core, progress)
            except JobFailed as failed:
                raise JobFailed(f"{job.name}: {failed}") from failed
            progress.finish(job)
    finally:
        progress.close()
