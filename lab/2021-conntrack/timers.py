"""Timers alone: the wheel beside DPDK's rte_timer."""
from lb.timer_jobs import TimerJob
from report.section import Section, Table, cell

TIMERS = 1 << 22
NAMES = {"timer_wheel": "the wheel", "rte_timer": "rte_timer"}
METRICS = {"arm_ns": "arm", "arm_again_ns": "arm again, later", "disarm_ns": "disarm",
           "fire_ns": "fire"}


def jobs(full):
    yield TimerJob("timers", TIMERS if full else TIMERS // 16, tuple(NAMES),
                   rounds=5 if full else 2)


def sections(record):
    part = record.select(experiment="timers")
    if not part.measured().rows:
        return
    section = Section(f"Timers alone, {part.rows[0]['entries']:,.0f} of them", notes=[
        "Nanoseconds a timer, in random order. rte_timer goes by the processor's clock, so it "
        "cannot stand behind cells, whose clock is their packets'."])
    rows = [[NAMES[name], *(cell(part.median(contestant=name, metric=metric), 0)
                            for metric in METRICS),
             cell(part.median(contestant=name, metric="bytes_a_timer"), 0)] for name in NAMES]
    section.tables.append(Table(["", *METRICS.values(), "bytes a timer"], rows))
    yield section
