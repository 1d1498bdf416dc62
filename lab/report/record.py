"""A record: the rows of a run and what is known of the machine, from its CSV alone.

The CSV begins with lines `# name: value` that tell of machine, build and commit. A figure is the
median over rounds; a ratio is taken within each round of one job, and the median is that of the
ratios, so that what slows a whole round down does not count.
"""
import csv
import statistics
from collections import defaultdict
from pathlib import Path

NUMBERS = ("slots", "entries", "load", "key_bytes", "value_bytes", "miss_ratio", "lanes_per_call",
           "core_count", "process", "round", "value", "operations", "seconds", "lines_per_lookup",
           "secondary_visits_per_lookup", "filter_false_positives_per_lookup", "kicks_per_insert",
           "page_bytes", "transparent_huge_bytes", "table_bytes", "first_bytes", "second_bytes")
HUGE_PAGE = 2 << 20
LOOKUPS = "lookups_m_per_s"
INSERTS = "inserts_m_per_s"


def _typed(row):
    """Numbers as numbers; empty ones as None."""
    return {field: (float(text) if text else None) if field in NUMBERS else text
            for field, text in row.items()}


class Record:
    def __init__(self, rows, facts=None, name=""):
        self.rows = rows
        self.facts = facts or {}
        self.name = name  # of the file that it was read from

    @classmethod
    def read(cls, path):
        with open(path, newline="", encoding="utf-8") as file:
            lines = file.read().splitlines()
        facts = dict(line[2:].partition(": ")[::2] for line in lines if line.startswith("# "))
        body = [line for line in lines if not line.startswith("#")]
        return cls([_typed(row) for row in csv.DictReader(body)], facts, Path(path).name)

    @staticmethod
    def write(path, facts, rows):
        fields = list(dict.fromkeys(field for row in rows for field in row))
        with open(path, "w", newline="", encoding="utf-8") as file:
            file.writelines(f"# {name}: {value}\n" for name, value in facts.items())
            writer = csv.DictWriter(file, fields, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    def select(self, **where):
        """The rows whose fields have these values. A field that a record has not is empty."""
        return Record([row for row in self.rows
                       if all(row.get(field) == value for field, value in where.items())],
                      self.facts)

    def measured(self):
        return Record([row for row in self.rows if row["value"] is not None], self.facts)

    def not_run(self):
        """What was not run, and why, each once."""
        found = {}
        for row in self.rows:
            if row.get("note", "").startswith("not run"):
                fields = ("experiment", "contestant", "slots", "load", "core_count")
                key = tuple(row.get(field) for field in fields)
                found.setdefault(key, row)
        return list(found.values())

    def values(self, field):
        """The values of a field, each once, in the order of the rows."""
        return list(dict.fromkeys(row.get(field) for row in self.rows))

    def median(self, **where):
        """Nothing where nothing was measured. Of several jobs the first counts."""
        rows = self.select(**where).measured().rows
        figures = [row["value"] for row in rows if row.get("job") == rows[0].get("job")]
        return statistics.median(figures) if figures else None

    def by_round(self, **where):
        """{(job, round): value}."""
        return {(row.get("job"), row.get("round")): row["value"]
                for row in self.select(**where).measured().rows}

    def ratios(self, above, below, **where):
        """Of two selections, round by round of one job: those of the first job that has both."""
        upper = self.by_round(**above, **where)
        lower = self.by_round(**below, **where)
        jobs = defaultdict(list)
        for key in upper:
            if lower.get(key):
                jobs[key[0]].append(upper[key] / lower[key])
        return next(iter(jobs.values()), [])

    def ratio(self, above, below, **where):
        found = self.ratios(above, below, **where)
        return statistics.median(found) if found else None

    def best_form(self, contestant, **where):
        """The form with the greatest median; nothing where nothing was measured."""
        mine = self.select(contestant=contestant, **where).measured()
        forms = {form: mine.median(form=form) for form in mine.values("form")}
        return max(forms, key=forms.get) if forms else None

    def curve(self, x, **where):
        """[(x, median)] over a field of the selected rows, by rising x."""
        mine = self.select(**where).measured()
        points = sorted(value for value in mine.values(x) if value is not None)
        return [(point, mine.median(**{x: point})) for point in points]

    def field(self, name, **where):
        """A field of the first row that has it; structural counts are the same in all."""
        return next((row[name] for row in self.select(**where).rows
                     if row.get(name) is not None), None)

    def on_equal_huge_pages(self):
        """Whether every table here was on the same pages, of 2 MiB or larger: else no ratio says
        anything."""
        pages = {row["page_bytes"] for row in self.rows if row.get("page_bytes")}
        return len(pages) == 1 and pages.pop() >= HUGE_PAGE
