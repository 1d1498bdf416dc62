"""A report as one HTML file with nothing beside it; plots are inline SVG."""
import collections
import html
import io
import re

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402  (after the choice of its backend)

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 95em; padding: 0 1em }
table { border-collapse: collapse; margin: .8em 0 } tr { border-bottom: 1px solid #ddd }
th, td { padding: .15em .7em; text-align: right } td { white-space: nowrap }
.wide { overflow-x: auto }
td:first-child, th:first-child { text-align: left }
.kind { color: #888; font-size: 85% } ul.verdicts { list-style: none; padding: 0 }
.verdict { display: inline-block; min-width: 7em; padding: 0 .5em; margin-right: .6em;
  color: #fff; text-align: center; background: #777 }
.reproduced, .aim, .must, .ahead { background: #2a7d3f } .partly { background: #b57a00 }
.not, .missed, .broken, .behind { background: #b3261e } .notrun { background: #777 }
pre { background: #f5f5f5; padding: .7em; overflow-x: auto } svg { max-width: 100%; height: auto }
"""
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "roost", "font.size": 9,
            "axes.grid": True, "grid.color": "#ddd"}


def _spans_magnitudes(places):
    return min(places) > 0 and max(places) >= 100 * min(places)


def _svg(plot):
    with pyplot.rc_context(SETTINGS):
        figure, axes = pyplot.subplots(figsize=(5.6, 3.2))
        for place, (name, curve) in enumerate(plot.curves.items()):
            axes.plot(*zip(*curve), marker="osv^D<>x"[place % 8], markersize=3.5, label=name)
        if plot.claims:
            axes.plot(*zip(*plot.claims), "k*", markersize=9, label="paper")
        axes.set(title=plot.title, xlabel=plot.x, ylabel=plot.y)
        points = (point for curve in plot.curves.values() for point in curve)
        is_wide, is_high = map(_spans_magnitudes, zip(*points))
        if is_wide:
            axes.set_xscale("log")
        if is_wide and is_high:
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
        axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.01, 1))  # it hides no curve
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None}, bbox_inches="tight")
        pyplot.close(figure)
    # The preamble belongs to a file of its own, and names of the parts must differ between plots.
    text = file.getvalue()
    text = text[text.index("<svg"):]
    prefix = re.sub(r"\W+", "-", plot.title)
    return re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{prefix}-", text)


def _table(table):
    def line(cells, tag):
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells)

    head = line(table.header, "th") + "<th class=kind>kind</th></tr>"
    body = "\n".join(line(row, "td") + f"<td class=kind>{table.kind}</td></tr>"
                     for row in table.rows)
    return f"<div class=wide><table>{head}\n{body}</table></div>"


def _verdict(verdict):
    kind = verdict.verdict.lower()
    kind = "notrun" if kind == "not run" else kind.split()[0]
    return (f'<li><span class="verdict {kind}">{html.escape(verdict.verdict)}</span>'
            f"<b>{html.escape(verdict.source)}</b> {html.escape(verdict.claim)} "
            f"<span class=kind>{html.escape(verdict.said)}</span></li>")


def _section(section):
    yield f"<h2>{html.escape(section.title)}</h2>"
    for note in section.notes:
        yield f"<p>{html.escape(note)}</p>"
    if section.verdicts:
        yield "<ul class=verdicts>" + "\n".join(map(_verdict, section.verdicts)) + "</ul>"
    for plot in section.plots:
        if any(plot.curves.values()):
            yield _svg(plot)
    for table in section.tables:
        yield _table(table)


def _summary(sections):
    """How many verdicts there are of each kind."""
    counts = collections.Counter(verdict.verdict.upper() for section in sections
                                 for verdict in section.verdicts)
    if counts:
        said = ", ".join(f"{count} {word}" for word, count in counts.most_common())
        yield f"<p>Verdicts: {html.escape(said)}.</p>"


def render(title, facts, sections, broken):
    parts = ["<!doctype html><html lang=en><head><meta charset=utf-8>"
             f"<title>{html.escape(title)}</title><style>{STYLE}</style></head><body>",
             f"<h1>{html.escape(title)}</h1>"]
    parts += [f'<p><span class="verdict broken">broken bench</span>{html.escape(what)}; '
              "no figure counts</p>" for what in broken]
    parts += _summary(sections)
    for section in sections:
        parts += _section(section)
    about = html.escape("\n".join(f"{name}: {value}" for name, value in facts.items()))
    parts.append(f"<h2>Machine and build</h2><pre>{about}</pre></body></html>\n")
    return "\n".join(parts)
