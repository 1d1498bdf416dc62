"""A plot of what `roost advise CAPTURE --json` has found: connections, arrivals and packets by
second, packets of a connection, and what each timeout would have cut.

    ./dev plot REPORT.json OUT.png
"""

INCHES = (11, 10)


def is_report(report):
    return isinstance(report, dict) and "by_second" in report.get("survey", {})


def draw_seconds(survey, axes):
    seconds = survey["by_second"]
    times = range(len(seconds))
    for one, name, label in zip(axes, ("alive", "begun", "packets"),
                                ("connections alive", "connections begun a second",
                                 "packets a second")):
        one.step(times, [second[name] for second in seconds], where="post")
        one.set_ylabel(label)
        one.set_ylim(bottom=0)
        one.set_xlabel("second of the capture")


def draw_packets(survey, axes):
    """The share of connections with so many packets or fewer."""
    shares, packets = zip(*survey["packets_each"]["quantiles"])
    axes.step(packets + (survey["packets_each"]["max"],), shares + (1,), where="post")
    axes.set_xscale("log")
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("packets of a connection")
    axes.set_ylabel("share of connections")
    axes.set_title(f"the largest 1 % have {survey['largest_share']:.1%} of the packets",
                   fontsize="small")


def draw_ladder(survey, advised, axes):
    ladder = survey["ladder_seconds"]
    for name, timeout in survey["timeouts"].items():
        if not timeout["connections"]:
            continue
        shares = [cut / timeout["connections"] for cut in timeout["cut"]]
        seen = [(seconds, share) for seconds, share in zip(ladder, shares)
                if seconds < survey["seconds"]]
        if not seen:
            continue
        line, = axes.plot(*zip(*seen), marker=".", label=f"{name} ({advised[name]:g} s advised)")
        axes.axvline(advised[name], color=line.get_color(), linewidth=0.8, linestyle=":")
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=1e-4)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("timeout, seconds")
    axes.set_ylabel("share of connections cut that spoke again")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize="small")


def draw(report, figure):
    survey = report["survey"]
    axes = figure.subplots(3, 2).flat
    draw_seconds(survey, axes[:3])
    draw_packets(survey, axes[3])
    draw_ladder(survey, report["timeouts"], axes[4])
    axes[5].axis("off")
    axes[5].text(0, 0.5, f"{survey['connections']} connections, {survey['packets']} packets\n"
                 f"{survey['alive_peak']} alive at once, {report['held']} held\n"
                 f"advised: {report['connections']} in each worker, {report['bytes']} bytes",
                 va="center")
    for one in axes[:5]:
        one.grid(alpha=0.3)
    figure.suptitle(f"roost advise: {survey['file']}", fontsize="medium")
