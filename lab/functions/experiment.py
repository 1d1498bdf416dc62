"""a firewall beside the balancer, a NAT on our tables and on rte_hash, rules beside rte_acl, what
the flow register makes of the exact-match cache

Parts, for --only: firewall, nat, rules, cache.
"""
import statistics

from functions.jobs import CACHE, CONTESTANTS, FIREWALL, NAT, RAW, RULES, jobs
from report.section import (Section, Table, Verdict, cell, markdown_table, not_run_section,
                            size_name)

__all__ = ["jobs", "readme_block", "sections"]

NS = "ns_per_packet"
MUST_FIREWALL = 0.9  # of the balancer's, beyond raw I/O and parsing
MUST_DENIED = 0.5  # of the rate of connections' packets
MUST_NAT = 1.3  # times ours, on rte_hash
MUST_CACHE = 1.05  # times the better of on and off
NAMES = {RAW[0]: "raw I/O", RAW[1]: "raw I/O and parsing", "balancer": "balancer",
         "firewall": "firewall, packets of connections",
         "firewall_denied": "firewall, packets that 1,000 rules deny",
         "nat": "NAT", "nat_on_rte_hash": "NAT on rte_hash",
         "classifier": "classifier, as it ships", "classifier_rules": "classifier, rules alone",
         "rte_acl": "rte_acl", "cache_on": "cache on", "cache_off": "cache off",
         "cache_auto": "by the flow register"}
SYNTHETIC = ("Synthetic packets, one worker. The device (net_pcap, infinite_rx) copies them from "
             "its buffers and drops what is sent; each packet is of another flow.")


def sections(record):
    found = []
    for name, make in ((FIREWALL, firewall_section), (NAT, nat_section), (RULES, rules_section),
                       (CACHE, cache_section)):
        part = record.select(experiment=name, metric=NS).measured()
        if part.rows:
            found.append(make(part))
    return found + not_run_section(record)


def own_ns(part, contestant):
    """By round, what a packet costs beyond raw I/O and parsing."""
    whole, raw = (part.by_round(contestant=name) for name in (contestant, RAW[1]))
    return {key: whole[key] - raw[key] for key in whole if key in raw}


def ratios(above, below):
    return [above[key] / below[key] for key in above if below.get(key, 0) > 0]


def spread(values, digits=1):
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}" if values else "-"


def packet_table(part, contestants):
    rows = []
    for contestant in contestants:
        whole = list(part.by_round(contestant=contestant).values())
        own = [] if contestant in RAW else list(own_ns(part, contestant).values())
        rows.append([NAMES[contestant], cell(statistics.median(whole) if whole else None),
                     cell(statistics.median(own) if own else None), spread(own)])
    return Table(["", "ns a packet", "beyond raw I/O and parsing", "least to greatest"], rows)


def judged(part, claim, found, is_reached):
    """A verdict where contestants stand on equal pages of 2 MiB."""
    return verdict_of(part, claim, found, is_reached) if part.on_equal_huge_pages() else []


def verdict_of(part, claim, found, is_reached):
    if not found:
        return []
    ratio = statistics.median(found)
    return [Verdict(part.rows[0]["experiment"], claim,
                    "must reached" if is_reached(ratio) else "MISSED",
                    f"{ratio:.2f} ({spread(found, 2)})")]


def firewall_section(part):
    section = Section(f"Firewall beside the balancer, {size_name(part.values('slots')[0])} live "
                      "connections", notes=[SYNTHETIC])
    section.tables.append(packet_table(part, CONTESTANTS[FIREWALL]))
    own = {name: own_ns(part, name) for name in ("balancer", "firewall")}
    section.verdicts += judged(
        part, f"beyond raw I/O and parsing at most {MUST_FIREWALL} of the balancer's",
        ratios(own["firewall"], own["balancer"]), lambda ratio: ratio <= MUST_FIREWALL)
    whole = {name: part.by_round(contestant=name) for name in ("firewall", "firewall_denied")}
    section.verdicts += judged(
        part, "packets of unknown flows, denied by 1,000 rules, pass at no less than "
        f"{MUST_DENIED} of the rate of connections' packets",
        ratios(whole["firewall"], whole["firewall_denied"]), lambda ratio: ratio >= MUST_DENIED)
    return section


def nat_section(part):
    section = Section(f"NAT, {size_name(part.values('slots')[0])} live mappings", notes=[
        SYNTHETIC, "Packets go from inside to outside. On rte_hash, connections stand in records "
        "beside it and expire by a scan of it."])
    section.tables.append(packet_table(part, CONTESTANTS[NAT]))
    section.verdicts += judged(
        part, f"beyond raw I/O and parsing, rte_hash takes at least {MUST_NAT} times ours",
        ratios(own_ns(part, "nat_on_rte_hash"), own_ns(part, "nat")),
        lambda ratio: ratio >= MUST_NAT)
    return section


def rules_section(part):
    section = Section("Five-tuple rules: our classifier beside rte_acl", notes=[
        "Synthetic rules, as an access list has them, and packets, half of them of a rule, the "
        "others drawn from all; lookups alone, of packets that are there as each wants them. All "
        "answers were equal.",
        "As it ships the classifier has megaflows and an exact-match cache, which answer packets "
        "that come again."])
    section.tables.append(rules_table(part))
    return section


def rules_table(part):
    rows = []
    for slots in part.values("slots"):
        mine = part.select(slots=slots)
        medians = {name: mine.median(contestant=name) for name in CONTESTANTS[RULES]}
        fastest = min((name for name in medians if medians[name]), key=medians.get)
        notes = {row["contestant"]: row["note"] for row in mine.rows}
        rows.append([f"{slots:,.0f}", *(cell(medians[name]) for name in CONTESTANTS[RULES]),
                     notes["classifier"], notes["rte_acl"], NAMES[fastest]])
    return Table(["rules", *(f"{NAMES[name]}, ns a packet" for name in CONTESTANTS[RULES]),
                  "tuple space", "rte_acl's registers", "fastest"], rows)


def cache_section(part):
    section = Section("The exact-match cache: on, off, and by the flow register", notes=[
        "Synthetic five-tuple rules, and packets of so many flows in turns, half of them of a "
        "rule, the others drawn from all; lookups alone. All answers were equal. A cache has "
        "131,072 entries."])
    rows = []
    for rules in part.values("entries"):
        for flows in part.values("slots"):
            mine = part.select(entries=rules, slots=flows)
            times = {name: mine.by_round(contestant=name) for name in CONTESTANTS[CACHE]}
            better = {key: min(times["cache_on"][key], times["cache_off"][key])
                      for key in times["cache_on"] if key in times["cache_off"]}
            found = ratios(times["cache_auto"], better)
            name = f"{flows:,.0f} flows, {rules:,.0f} rules"
            rows.append([name, *(cell(mine.median(contestant=each)) for each in times),
                         spread(found, 2)])
            section.verdicts += verdict_of(
                mine, f"{name}: by the register at most {MUST_CACHE} times the better of on and "
                "off", found, lambda ratio: ratio <= MUST_CACHE)
    section.tables.append(Table(["ns a packet", *(NAMES[each] for each in CONTESTANTS[CACHE]),
                                 "of the better of on and off"], rows))
    return section


def readme_block(record, name):
    """`packets`: firewall and NAT; `rules`: the classifier beside rte_acl."""
    parts = {part: record.select(experiment=part, metric=NS) for part in CONTESTANTS}
    if name == RULES:
        table = rules_table(parts[RULES])
        return markdown_table(table.header, table.rows)
    firewall, nat = (packet_table(parts[part], CONTESTANTS[part]) for part in (FIREWALL, NAT))
    return markdown_table(firewall.header, firewall.rows + nat.rows[len(RAW):])
