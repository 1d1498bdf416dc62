"""A plot of what `roost trafficgen --json` has reported: packets and latencies by second.

    ./dev plot REPORT.json OUT.png
"""

INCHES = (9, 6)
LATENCIES = (("p50", "p50"), ("p99", "p99"), ("max", "greatest"))


def is_report(report):
    return isinstance(report, dict) and "by_second" in report and "steps" in report


def draw(report, figure):
    seconds = report["by_second"]
    times = range(len(seconds) + 1)  # the last one ends, too

    def by_second(value):
        values = [value(second) for second in seconds]
        return values + values[-1:]

    packets, latency = figure.subplots(2, sharex=True)
    for name, label in (("offered", "offered (due)"), ("returned", "returned")):
        packets.step(times, by_second(lambda second, name=name: second[name] / 1e6), where="post",
                     label=label)
    packets.set_ylabel("million packets a second")
    packets.set_ylim(bottom=0)
    for name, label in LATENCIES:
        latency.step(times, by_second(
            lambda second, name=name: second["latency_microseconds"][name] or None), where="post",
                     label=label)
    latency.set_yscale("log")
    latency.set_ylabel("latency, µs, from when due")
    latency.set_xlabel("second in which a packet was due")
    at = 0
    for step in report["steps"][:-1]:
        at += step["seconds"]
        for axes in (packets, latency):
            axes.axvline(at, color="grey", linewidth=0.8, linestyle=":")
    for axes in (packets, latency):
        axes.legend(loc="upper left", fontsize="small")
        axes.grid(alpha=0.3)
    loss = report["total"]["loss"]
    figure.suptitle(f"roost trafficgen, synthetic: {loss:.3%} lost; {report['verdict']}",
                    fontsize="medium")
