"""The cells of the study by the names that its tables print, and what more than one part has."""
from lb.cell_jobs import SLOT_TIMERS

STORES = {"roost_split wheel": "ours, split", "roost_inline wheel": "ours, inline",
          "rte_hash wheel": "rte_hash", "tsl_hopscotch_map wheel": "hopscotch",
          "tsl_robin_map wheel": "robin", "chained_map wheel": "chained",
          "std_unordered_map wheel": "std", "boost_flat_map wheel": "boost"}
NAMES = {SLOT_TIMERS: "ours, as it ships"} | STORES
DPDK, CHAINED, STD = "rte_hash wheel", "chained_map wheel", "std_unordered_map wheel"
PROFILES = {"campus-like": 720, "backbone-like": 540}  # bytes of a frame, on average
CONNECTIONS = 1 << 22


PACKETS_A_SECOND = 4_000_000  # in the traffic's own time, at most
PACKETS_MIN = 16_000_000  # of a stream, so that it does not end before the last round


def steady(live, packets_of_each, closed_seconds=1.0, seconds_min=2, **more):
    """A stream's options by which so many connections are live at a time once the first have ended,
    each for so many seconds at least."""
    begin = min(PACKETS_A_SECOND // packets_of_each, live // seconds_min)
    lasts = live / begin - closed_seconds
    seconds = max(60 + 2 * (lasts + closed_seconds), PACKETS_MIN / (begin * packets_of_each))
    return {"law": "fixed", "mean": packets_of_each, "flows": int(begin * seconds),
            "seconds": seconds, "flow-seconds": lasts, "established": 30,
            "closed": closed_seconds} | more


def reached(is_reached):
    return "must reached" if is_reached else "MISSED"
