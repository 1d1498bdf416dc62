"""The jobs of the experiment `functions`, each a process."""
import dataclasses

from harness.process_job import ProcessJob

FIREWALL, NAT, RULES, CACHE = "firewall", "nat", "rules", "cache"
RAW = ("raw_io", "raw_io_parse")
CONTESTANTS = {FIREWALL: (*RAW, "balancer", "firewall", "firewall_denied"),
               NAT: (*RAW, "nat", "nat_on_rte_hash"),
               RULES: ("classifier", "classifier_rules", "rte_acl"),
               CACHE: ("cache_on", "cache_off", "cache_auto")}
FLOWS = 1 << 22
DENYING_RULES = 1_000
RULE_COUNTS = (100, 1_000, 10_000)
FLOW_COUNTS = (1_000, 10_000, 100_000, 1_000_000)
RULES_OF_CACHE = (20, 1_000)  # few masks, and many
PACKETS_OF_CACHE = 1 << 22  # a round: eight windows of the flow register, one of which it counts

# A pass is short, so that a slow second of the machine is everyone's; the next one goes on with the
# flows that follow.
ROUNDS_PER_CYCLE = 8
ROUNDS = 40

BYTES_PER_FLOW = 1_024  # buffers, and all tables, with a margin
BYTES_OF_RULES = 3 << 30  # what rte_acl may take while it builds
BYTES_FIXED = 512 << 20


@dataclasses.dataclass(frozen=True)
class FunctionsJob(ProcessJob):
    """`slots`: flows, or rules; `rules`: those beside so many flows."""

    PROGRAM = "roost_lab_functions"

    experiment: str
    slots: int
    rounds: int = ROUNDS
    packets: int = FLOWS // ROUNDS_PER_CYCLE  # a pass; of rules: different ones
    passes: int = 1
    rules: int = DENYING_RULES

    @property
    def contestants(self):
        return CONTESTANTS[self.experiment]

    @property
    def command(self):
        return "rules" if self.experiment in (RULES, CACHE) else "functions"

    @property
    def name(self):
        return f"{self.experiment} {self.slots}" + (
            f" {self.rules}" if self.experiment == CACHE else "")

    def words(self, _beside):
        words = [self.command, "--experiment", self.experiment, "--pages", self.pages,
                 "--rounds", str(self.rounds), "--packets", str(self.packets)]
        if self.experiment == RULES:
            return [*words, "--rules", str(self.slots), "--passes", str(self.passes)]
        if self.experiment == CACHE:
            return [*words, "--rules", str(self.rules), "--passes", str(self.passes), "--cache"]
        return [*words, "--flows", str(self.slots), "--rules", str(self.rules)]

    def table_bytes(self):
        return (BYTES_OF_RULES if self.command == "rules"
                else self.slots * BYTES_PER_FLOW) + BYTES_FIXED

    def seconds(self):
        passes = len(self.contestants) * self.rounds * self.passes * self.packets
        filling = 0 if self.command == "rules" else 3 * self.slots
        return (passes + filling) * 5e-7 + 5

    def tiny(self):
        if self.experiment == RULES:
            return dataclasses.replace(self, slots=min(self.slots, 500), packets=2_048, passes=1,
                                       rounds=2, pages="4K")
        if self.experiment == CACHE:
            return dataclasses.replace(self, slots=500, packets=500, passes=4, rounds=2, pages="4K")
        return dataclasses.replace(self, slots=20_000, packets=10_000, rounds=2, pages="4K",
                                   rules=100)


def jobs(size, _available):
    rounds = ROUNDS if size != "quick" else 10
    found = [FunctionsJob(FIREWALL, FLOWS, rounds=rounds), FunctionsJob(NAT, FLOWS, rounds=rounds)]
    # Different packets are as many as fit in no cache; those of 10,000 rules take as long.
    found += [FunctionsJob(RULES, count, rounds=7, packets=1 << 16, passes=16)
              for count in RULE_COUNTS]
    found += [FunctionsJob(CACHE, flows, rounds=7, packets=flows, rules=rules,
                           passes=max(1, PACKETS_OF_CACHE // flows))
              for flows in FLOW_COUNTS for rules in RULES_OF_CACHE]
    return found
