"""The lab: `./dev lab table --quick` measures the flow table beside its peers and the ceiling.

This script gets huge pages for each job and gives them back, calls the measuring program, keeps the
record and judges. An experiment is a folder here with an `experiment.py`: its jobs by size, and
what a record of it says. What is timed and how: lab/README.md.
"""
import argparse
import datetime
import importlib.util
import re
import sys
import tempfile
from pathlib import Path

LAB = Path(__file__).resolve().parent
sys.path.insert(0, str(LAB))

from harness import huge_pages, machine, run, run_folder  # noqa: E402
from report import bench, readme, render_html, render_text  # noqa: E402
from report.record import Record  # noqa: E402

ROOT = LAB.parent
PROGRAM = ROOT / "build" / "release" / "lab" / "roost_lab"
RUNS = ROOT / "build" / "lab-runs"

EXIT_NOT_MEASURED = 1  # a wrong answer, or something could not be set up
EXIT_BROKEN_BENCH = 3


def experiment_names():
    return sorted(file.parent.name for file in LAB.glob("*/experiment.py"))


def load_experiment(name):
    place = LAB / name / "experiment.py"
    spec = importlib.util.spec_from_file_location(re.sub(r"\W", "_", f"experiment_{name}"), place)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def wanted_jobs(experiment, arguments, program):
    jobs = experiment.jobs(arguments.size, machine.contestants(program))
    if arguments.only:
        jobs = [job for job in jobs if job.experiment in arguments.only]
        if not jobs:
            names = sorted({job.experiment
                            for job in experiment.jobs(arguments.size,
                                                       machine.contestants(program))})
            sys.exit(f"lab: --only takes {', '.join(names)}")
    return [job.tiny() for job in jobs] if arguments.size == "smoke" else jobs


def report_files(csv):
    """Text and HTML of a record, from its CSV alone; the text, and what is broken."""
    record = Record.read(csv)
    experiment = load_experiment(record.facts.get("experiment", "table"))
    sections = experiment.sections(record)
    broken = list(bench.broken(record))
    title = f"Roost's lab: {record.facts.get('experiment', 'table')}"
    return (render_text.render(record.facts, sections, broken),
            render_html.render(title, record.facts, sections, broken), broken)


def write_report(csv, folder):
    text, page, broken = report_files(csv)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / csv.with_suffix(".txt").name).write_text(text, encoding="utf-8")
    (folder / csv.with_suffix(".html").name).write_text(page, encoding="utf-8")
    print(text, end="")
    return broken


def run_experiment(arguments):
    commit = machine.commit(ROOT)
    about = machine.facts(commit, arguments.program)
    about["experiment"] = arguments.name
    about["size"] = arguments.size
    experiment = load_experiment(arguments.name)
    jobs = wanted_jobs(experiment, arguments, arguments.program)
    lines = [f"{name}: {value}" for name, value in about.items()]
    with tempfile.TemporaryDirectory(prefix="roost-lab-") as temporary:
        place = Path(temporary) if arguments.size == "smoke" else arguments.runs
        folder = run_folder.RunFolder(place / f"{arguments.name}-{arguments.size}",
                                      run_folder.identity(commit, arguments.program, lines))
        if folder.is_resumed:
            print(f"lab: going on: {len(folder.done)} of {len(jobs)} processes are done")
        if arguments.size != "smoke":
            print(f"lab: about {run.minutes_left(jobs, folder.done):.0f} minutes on the machine "
                  "of our records")
        try:
            run.run_all(jobs, arguments.program, folder, arguments.core)
            if hasattr(experiment, "analytic_rows"):
                folder.add_rows("analytic", experiment.analytic_rows(ROOT))
        except run.JobFailed as failed:
            print(f"lab: {failed}", file=sys.stderr)
            return EXIT_NOT_MEASURED
        wanted = {job.name for job in jobs} | {"analytic"}
        rows = [row for row in folder.rows() if row["job"] in wanted]
        return finish(arguments, commit, about, folder, rows, Path(temporary))


def finish(arguments, commit, about, folder, rows, temporary):
    """Writes record and report. A smoke run leaves nothing behind."""
    now = datetime.datetime.now(datetime.timezone.utc)
    short = commit[:10] + ("-dirty" if commit.endswith("-dirty") else "")
    kept = temporary if arguments.size == "smoke" else arguments.record
    kept.mkdir(parents=True, exist_ok=True)
    csv = kept / f"{arguments.name}-{now:%Y%m%dT%H%MZ}-{short}.csv"
    Record.write(csv, about, rows)
    broken = write_report(csv, kept)
    if arguments.size != "smoke":
        folder.remove()
        print(f"record: {csv}, and the report beside it as .txt and .html")
    return EXIT_BROKEN_BENCH if broken else 0


def run_report(arguments):
    return EXIT_BROKEN_BENCH if write_report(arguments.csv, arguments.out) else 0


def run_readme(arguments):
    return readme.check(ROOT) if arguments.check else readme.renew(ROOT)


def parse(words):
    parser = argparse.ArgumentParser(prog="./dev lab", description="Measures Roost's tables.")
    commands = parser.add_subparsers(required=True)
    for name in experiment_names():
        command = commands.add_parser(name, help=load_experiment(name).__doc__.splitlines()[0])
        size = command.add_mutually_exclusive_group()
        for choice, meaning in (("quick", "minutes (the default)"), ("full", "an hour or more"),
                                ("smoke", "seconds, on ordinary pages: only shows that it works")):
            size.add_argument(f"--{choice}", dest="size", action="store_const", const=choice,
                              default="quick", help=meaning)
        command.add_argument("--only", nargs="+", help="these parts of it, as fig8")
        command.add_argument("--core", type=int,
                             help="the core to measure on; the last one if absent")
        command.add_argument("--record", type=Path, default=LAB / "record",
                             help="where the record goes")
        command.add_argument("--runs", type=Path, default=RUNS,
                             help="where unfinished runs are kept")
        command.add_argument("--program", type=Path, default=PROGRAM, help=argparse.SUPPRESS)
        command.set_defaults(run=run_experiment, name=name)
    again = commands.add_parser("report", help="the report of a record, from its CSV alone")
    again.add_argument("csv", type=Path)
    again.add_argument("--out", type=Path, default=ROOT / "out",
                       help="where text and HTML go; out/ if absent")
    again.set_defaults(run=run_report)
    figures = commands.add_parser("readme", help="README's figures from the records it names")
    figures.add_argument("--check", action="store_true", help="only say whether they differ")
    figures.set_defaults(run=run_readme)
    return parser.parse_args(words)


def main(words):
    huge_pages.end_on_signals()
    arguments = parse(words)
    return arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
