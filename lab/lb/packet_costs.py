"""What a packet costs beyond I/O and parsing, from a record of the experiment `lb`."""
import statistics

from lb.jobs import BALANCER, ON_RTE_HASH, RAW

NS = "ns_per_packet"


def own_ns(part, contestant, experiment="packets"):
    """By round."""
    whole = part.by_round(experiment=experiment, contestant=contestant)
    raw = part.by_round(experiment=experiment, contestant=RAW[1])
    return {key: whole[key] - raw[key] for key in whole if key in raw}


def ratios_over_rte_hash(part, experiment="packets"):
    """How many times ours the balancer on rte_hash costs, round by round."""
    ours, theirs = (own_ns(part, name, experiment) for name in (BALANCER, ON_RTE_HASH))
    return [theirs[key] / ours[key] for key in ours if key in theirs]


def median_over_rte_hash(part):
    return statistics.median(ratios_over_rte_hash(part))
