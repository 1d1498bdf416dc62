"""What makes a whole run worthless: rules about the bench itself, on every job with ceilings.

A wrong answer is not here: the measuring program ends with it, and no record comes to be.
"""
import statistics

from report import record as records

PEER = "rte_hash"
PEER_SLOTS = 1 << 25
PEER_SHARE_MIN = 0.40  # of its ceiling on hits that rte_hash reaches on a bench that works
PEER_HINT = "T0"  # rte_hash prefetches into the first cache level, which its ceiling must do too
PLAIN = "32 keys a call"
OVER_CEILING_MAX = 0.05
PLACE = ("slots", "load", "miss_ratio", "core_count")


def ceiling_forms(record, row, hint=""):
    """The variants of the ceiling that a row is held against, as selections of rounds."""
    where = {"metric": records.LOOKUPS, "first_bytes": row["first_bytes"],
             "second_bytes": row["second_bytes"], "miss_ratio": row["miss_ratio"],
             "load": row["load"], "core_count": row["core_count"], "job": row.get("job"),
             "workload": row["workload"], "page_bytes": row["page_bytes"]}
    found = Ceilings(record.select(**where))
    return [found.rounds(form) for form in found.forms if form.startswith(hint)]


class Ceilings:
    def __init__(self, record):
        self.record = records.Record([row for row in record.rows
                                      if row["contestant"].startswith("ceiling_")], record.facts)
        self.forms = self.record.values("form")

    def rounds(self, form):
        return self.record.by_round(form=form)


def best_ceiling(record, row, hint=""):
    """The rounds of the best ceiling with this hint that a row is held against; none without."""
    if not row.get("first_bytes"):
        return {}
    return max(filter(None, ceiling_forms(record, row, hint)), default={},
               key=lambda rounds: statistics.median(rounds.values()))


def share_of_ceiling(record, contestant, form, hint="", **where):
    """By median within rounds, of the best ceiling with this hint; nothing without one."""
    mine = record.select(metric=records.LOOKUPS, contestant=contestant, form=form,
                         **where).measured()
    best = best_ceiling(record, mine.rows[0], hint) if mine.rows else {}
    shares = [value / best[key] for key, value in mine.by_round().items() if key in best]
    return statistics.median(shares) if shares else None


def broken(record):
    """Why the run is worthless, one sentence a reason."""
    uniform = record.select(metric=records.LOOKUPS, workload="uniform").measured()
    peer_shares = []
    for job in uniform.values("job"):
        part = uniform.select(job=job)
        for row in places(part):
            where = {field: row.get(field) for field in PLACE}
            share = share_of_ceiling(part, row["contestant"], row["form"], **where)
            if share is not None and share > 1 + OVER_CEILING_MAX:
                yield (f"{row['contestant']} ({row['form']}, {int(row['slots'])} slots, miss ratio "
                       f"{row['miss_ratio']:g}) reaches {share:.0%} of what memory allows")
            if (row["contestant"], row["form"], row["slots"], row["miss_ratio"],
                    row["core_count"]) == (PEER, PLAIN, PEER_SLOTS, 0.0, 1):
                peer_shares.append(share_of_ceiling(part, PEER, PLAIN, PEER_HINT, **where))
    peer_shares = [share for share in peer_shares if share is not None]
    if peer_shares and statistics.median(peer_shares) < PEER_SHARE_MIN:
        yield (f"{PEER} reaches {statistics.median(peer_shares):.1%} of the {PEER_HINT} ceiling on "
               f"hits at {PEER_SLOTS} slots, less than {PEER_SHARE_MIN:.0%}; "
               f"median of {len(peer_shares)} places")


def places(part):
    """A row of each contestant, form and place that was measured on huge pages."""
    seen = {}
    for row in part.rows:
        if row.get("table_bytes") and not row["contestant"].startswith(("ceiling_", "oracle_")):
            seen.setdefault((row["contestant"], row["form"], *map(row.get, PLACE)), row)
    return [row for row in seen.values()
            if row["page_bytes"] and row["page_bytes"] >= records.HUGE_PAGE]
