"""HALO's figure 8b: how good the flow register's estimate is, by its bits and by flows."""
import dataclasses

from harness.process_job import ProcessJob
from report.rules import NOT, NOT_RUN, PARTLY, REPRODUCED, Finding
from report.section import Section, Table, Verdict, cell

PART = "fig8b"
BITS = (32, 64, 128, 256, 1_024)
SHARES = (0.25, 0.5, 1, 1.5, 2, 3, 4)
ACCURATE_TO = 2  # flows over bits, as the paper has it
# An estimate is good if these are not exceeded: sixteen flows off at 64, and few windows without
# one.
DEVIATION_MAX, BIAS_MAX, SATURATED_MAX = 0.25, 0.1, 0.01
NOTES = [
    "Linear counting by the register's own code: windows of so many flows, whose hashes are by "
    "chance; bias and standard deviation of the estimate in shares of the flows, and how many "
    "windows left no bit unset, whose estimate is the least that they can mean.",
    f"Good is: bias of at most {BIAS_MAX:.0%}, deviation of at most {DEVIATION_MAX:.0%}, and at "
    f"most {SATURATED_MAX:.0%} of the windows saturated. The paper says \"about 2x\", and not what "
    "it calls accurate."]


@dataclasses.dataclass(frozen=True)
class FlowRegisterJob(ProcessJob):
    PROGRAM = "roost_lab_halo"

    trials: int = 4_000
    experiment: str = PART
    contestants: tuple = ("flow_register",)
    slots: int = BITS[0]
    rounds: int = 1
    name: str = PART
    pages: str = "any"

    def words(self, _beside):
        return ["flows", "--bits", *map(str, BITS), "--shares", *map(str, SHARES), "--trials",
                str(self.trials)]

    @staticmethod
    def table_bytes():
        return 0

    @staticmethod
    def seconds():
        return 2

    def tiny(self):
        return dataclasses.replace(self, trials=100)


def jobs(_size):
    return [FlowRegisterJob()]


def errors(part, bits, share):
    """(bias, deviation, saturated), or nothing."""
    found = [part.median(slots=float(bits), load=float(share), metric=metric)
             for metric in ("bias", "deviation", "saturated")]
    return None if None in found else found


def is_good(found):
    bias, deviation, saturated = found
    return (abs(bias) <= BIAS_MAX and deviation <= DEVIATION_MAX
            and saturated <= SATURATED_MAX)


def good_to(part, bits):
    """Up to how many flows over bits estimates are good; None if not all were simulated."""
    found = [errors(part, bits, share) for share in SHARES]
    if None in found:
        return None
    good = [share for place, share in enumerate(SHARES) if all(map(is_good, found[:place + 1]))]
    return max(good, default=0)


def verdict_on(ends, holds, said):
    """Of all registers; partly if of half of them."""
    if None in ends.values():
        return Finding(NOT_RUN, "nothing was simulated")
    number = sum(map(holds, ends.values()))
    words = ", ".join(f"{bits:,} bits: {end:g}" for bits, end in ends.items())
    verdict = (REPRODUCED if number == len(ends) else PARTLY if number >= len(ends) / 2 else NOT)
    return Finding(verdict, f"{said}: {words}")


def sections(record):
    part = record.select(experiment=PART)
    if not part.rows:
        return []
    section = Section("HALO-F8b: the flow register, simulated", notes=NOTES)
    section.tables.append(Table(
        ["flows over bits", *(f"{bits:,} bits" for bits in BITS)],
        [[f"{share:g}", *(" / ".join(cell(100 * value, 1, " %") for value in found) if found
                          else "-" for bits in BITS for found in [errors(part, bits, share)])]
         for share in SHARES], kind="simulated"))
    ends = {bits: good_to(part, bits) for bits in BITS}
    section.verdicts += [
        Verdict.of("HALO-F8b", f"estimates are good up to about {ACCURATE_TO} times the bits",
                   verdict_on(ends, lambda end: end >= ACCURATE_TO, "good up to")),
        Verdict.of("HALO-F8b", f"beyond {ACCURATE_TO} times the bits they are not",
                   verdict_on(ends, lambda end: end <= ACCURATE_TO, "good up to"))]
    return [section]
