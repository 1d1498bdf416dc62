"""A run that can be interrupted: its folder knows which jobs are done, and goes on with the others.

The folder belongs to one commit, one build of the program and one machine; where any of them
differs, the run begins anew. A job's rows are added together, after it has ended well.
"""
import csv
import hashlib
import json
import shutil
from pathlib import Path

from harness.job import process_name


def identity(commit, program, machine_lines):
    """What must be the same for a run to go on. The date and the load may differ."""
    fixed = [line for line in machine_lines if not line.startswith(("date:", "load", "clock:"))]
    text = "\n".join([commit, hashlib.sha256(Path(program).read_bytes()).hexdigest(), *fixed])
    return hashlib.sha256(text.encode()).hexdigest()


class RunFolder:
    def __init__(self, folder, run_identity):
        self.folder = Path(folder)
        self.state_file = self.folder / "state.json"
        self.rows_file = self.folder / "rows.csv"
        self.is_resumed = self._state().get("identity") == run_identity
        if not self.is_resumed:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
            self._write_state({"identity": run_identity, "done": []})
        self._drop_rows_of_unfinished_jobs()

    @property
    def done(self):
        return self._state()["done"]

    def add(self, job, csv_file):
        """Takes the rows of a process that has ended well; its rounds follow those of the job's
        processes before."""
        with open(csv_file, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            if row.get("round"):
                row["round"] = int(row["round"]) + job.process * job.rounds
        self._append([{"job": job.name, "process": job.process, **row} for row in rows])
        self._mark(job.process_name)

    def add_not_run(self, job, rows, why):
        """Takes rows that say that a process was not run."""
        self._append([{"job": job.name, "process": job.process, **row, "note": f"not run: {why}"}
                      for row in rows])
        self._mark(job.process_name)

    def add_rows(self, job_name, rows):
        """Rows that no program measured; they replace those of before."""
        kept = [row for row in self.rows() if row["job"] != job_name]
        self.rows_file.unlink(missing_ok=True)
        self._append([*kept, *({"job": job_name, **row} for row in rows)])

    def rows(self):
        if not self.rows_file.exists():
            return []
        with open(self.rows_file, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def remove(self):
        shutil.rmtree(self.folder)

    def _append(self, rows):
        old = self.rows()
        fields = list(dict.fromkeys(field for row in [*old, *rows] for field in row))
        replacement = self.rows_file.with_suffix(".new")
        with open(replacement, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fields, restval="")
            writer.writeheader()
            writer.writerows([*old, *rows])
        replacement.replace(self.rows_file)

    def _mark(self, job_name):
        state = self._state()
        state["done"].append(job_name)
        self._write_state(state)

    def _drop_rows_of_unfinished_jobs(self):
        """Rows may be there whose job the interrupt kept from being marked."""
        rows = self.rows()
        done = self.done
        kept = [row for row in rows if process_name(row["job"], row.get("process")) in done]
        if len(kept) != len(rows):
            self.rows_file.unlink()
            self._append(kept)

    def _state(self):
        try:
            return json.loads(self.state_file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}

    def _write_state(self, state):
        replacement = self.state_file.with_suffix(".new")
        replacement.write_text(json.dumps(state, indent=1), encoding="utf-8")
        replacement.replace(self.state_file)
