"""Made-up rows of the experiment `2024-parrot`, and what it says of them."""
import lab
import rows
from report.record import Record

PAPER = lab.load_experiment("2024-parrot")
CALL, PLAIN = "64 keys a call", "32 keys a call"
SIXTEEN = 16e6


def made(experiment, figures, metric, workload, **fields):
    """{contestant: figure} as rows of one round."""
    return [rows.ROW | {"experiment": experiment, "contestant": name, "form": CALL,
                        "workload": workload, "metric": metric, "value": value, "round": 0.0,
                        "load": 0.85, "slots": SIXTEEN, "entries": SIXTEEN,
                        "lanes_per_call": 64.0} | fields
            for name, value in figures.items()]


def verdicts(found_rows):
    return {f"{v.source}: {v.claim}": v for section in PAPER.sections(Record(found_rows))
            for v in section.verdicts}


def word(found_rows, part):
    words = {v.verdict for claim, v in verdicts(found_rows).items() if part in claim}
    assert len(words) == 1, (part, verdicts(found_rows))
    return words.pop()
