"""Made-up rows of a record for the tests of reports."""
from report.record import Record

ROW = {"job": "j", "experiment": "split", "kind": "measured", "form": "32 keys a call",
       "workload": "uniform", "slots": float(1 << 25), "entries": 26843545.0, "load": 0.8,
       "key_bytes": 16.0, "value_bytes": 16.0, "lanes_per_call": 32.0, "core_count": 1.0,
       "metric": "lookups_m_per_s", "operations": 1000.0, "page_bytes": float(2 << 20),
       "table_bytes": float(40 << 25), "first_bytes": float(8 << 25),
       "second_bytes": float(32 << 25), "note": ""}
ROUNDS = 5


def rates(ours=30.0, peer=20.0, ceiling=40.0):
    """What each entrant reaches at every miss ratio, without noise."""
    return {("roost_flow_table", "32 keys a call"): ours,
            ("roost_flow_table", "256 keys a call"): ours * 1.1,
            ("rte_hash", "32 keys a call"): peer,
            ("ceiling_two_line", "T0"): ceiling * 0.9, ("ceiling_two_line", "NTA"): ceiling}


def lookup_rows(entrants, slow_rounds=(), **fields):
    """Rows of 5 rounds; in slow rounds everyone is at half speed."""
    return [ROW | {"contestant": contestant, "form": form, "miss_ratio": miss,
                   "round": float(number), "value": rate / (2 if number in slow_rounds else 1)}
            | fields
            for (contestant, form), rate in entrants.items() for miss in (0.0, 0.5, 1.0)
            for number in range(ROUNDS)]


def record(entrants=None, facts=None, **named):
    return Record(lookup_rows(entrants or rates(), **named), facts)
