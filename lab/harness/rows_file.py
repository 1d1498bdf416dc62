"""Rows as the measuring programs in Python write them: as those in C++ do."""
import csv


def write_rows_file(path, rows):
    """The fields are those of all rows; a row without one has nothing there."""
    fields = list(dict.fromkeys(field for row in rows for field in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fields, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
