"""A chart of bars as SVG, for light pages or dark ones; from the same figures, the same bytes.

A row has a bar of ours over one of the peer, and a ceiling beyond both: a line at its median in a
band from its least to its greatest. Text stays text, in whatever sans-serif the reader has: what
stands to its right has a place of its own, with room to spare.
"""
import dataclasses
import html
import math
import statistics

FONT = "-apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', Helvetica, Arial, sans-serif"
WIDTH = 840
AXIS_LEFT, AXIS_RIGHT = 244, 744
HEAD, LEGEND, HEADING, ROW, FOOT_LINE = 62, 34, 30, 40, 17
BAR = 14
BAND = {"fill_opacity": 0.2}
GRID_STEP = 50


@dataclasses.dataclass(frozen=True)
class Colours:
    text: str
    muted: str
    grid: str
    ours: str
    peer: str
    ceiling: str


LIGHT = Colours(text="#1f2328", muted="#59636e", grid="#d1d9e0", ours="#0969da", peer="#9aa4af",
                ceiling="#bc4c00")
DARK = Colours(text="#f0f6fc", muted="#9198a1", grid="#3d444d", ours="#2f81f7", peer="#6b7480",
               ceiling="#f0883e")


@dataclasses.dataclass
class Bar:
    """Of several rounds."""

    values: list

    @property
    def median(self):
        return statistics.median(self.values)

    @property
    def ends(self):
        return min(self.values), max(self.values)


@dataclasses.dataclass
class Row:
    name: str
    detail: str
    ours: Bar
    peer: Bar
    ceiling: Bar
    ratio: float


@dataclasses.dataclass
class Group:
    name: str
    detail: str
    rows: list


@dataclasses.dataclass
class Chart:
    """`ours`, `peer` and `ceiling` are the legend's words."""

    title: str
    detail: str
    ours: str
    peer: str
    ceiling: str
    ratio: str
    groups: list
    notes: list


class Drawing:
    """Elements, one a line, from above to below."""

    def __init__(self, chart, colours):
        self.colours = colours
        self.lines = []
        self.axis_end = GRID_STEP * math.ceil(max(
            row.ceiling.ends[1] for group in chart.groups for row in group.rows) / GRID_STEP)

    def x(self, value):
        return AXIS_LEFT + (AXIS_RIGHT - AXIS_LEFT) * value / self.axis_end

    def text(self, x, y, words, size=12, colour="text", **attributes):
        self.lines.append(f'<text x="{x:g}" y="{y:g}" font-size="{size}" '
                          f'fill="{getattr(self.colours, colour)}"{_written(attributes)}>'
                          f"{words}</text>")

    def box(self, left, top, right, bottom, colour, **attributes):
        self.lines.append(f'<rect x="{left:.1f}" y="{top:g}" width="{right - left:.1f}" '
                          f'height="{bottom - top:g}" fill="{getattr(self.colours, colour)}"'
                          f"{_written(attributes)}/>")

    def path(self, steps, colour, **attributes):
        self.lines.append(f'<path d="{steps}" stroke="{getattr(self.colours, colour)}" '
                          f'fill="none"{_written(attributes)}/>')

    def bar(self, y, bar, colour):
        """A bar, its spread over it, its figure before it."""
        self.box(AXIS_LEFT, y, self.x(bar.median), y + BAR, colour)
        least, greatest = map(self.x, bar.ends)
        middle = y + BAR / 2
        self.path(f"M{least:.1f} {middle - 3:g}v6M{least:.1f} {middle:g}H{greatest:.1f}"
                  f"M{greatest:.1f} {middle - 3:g}v6", "text", stroke_width=1.2)
        self.text(AXIS_LEFT - 8, y + 11, f"{bar.median:.1f}", text_anchor="end",
                  colour="text" if colour == "ours" else "muted",
                  font_weight=600 if colour == "ours" else 400)

    def ceiling(self, y, bar):
        bottom = y + 2 * BAR + 1
        least, greatest = map(self.x, bar.ends)
        self.box(least, y, greatest, bottom, "ceiling", **BAND)
        self.path(f"M{self.x(bar.median):.1f} {y:g}V{bottom:g}", "ceiling", stroke_width=2.5)
        self.text(round(greatest + 6), y + 19, f"{bar.median:.1f}", colour="ceiling")

    def row(self, y, row):
        self.text(12, y + 11, html.escape(row.name))
        self.text(12, y + 26, html.escape(row.detail), size=11, colour="muted")
        self.ceiling(y, row.ceiling)
        self.bar(y, row.ours, "ours")
        self.bar(y + BAR + 1, row.peer, "peer")
        self.text(WIDTH - 6, y + 20, f"{row.ratio:.2f}×", size=15, font_weight=600,
                  text_anchor="end", colour="ours")

    def legend(self, y, chart):
        left = 12
        for colour, words in (("ours", chart.ours), ("peer", chart.peer)):
            self.box(left, y - 10, left + 22, y + 1, colour)
            self.text(left + 29, y, html.escape(words))
            left += 205
        self.box(left, y - 12, left + 22, y + 3, "ceiling", **BAND)
        self.path(f"M{left + 14} {y - 12}v15", "ceiling", stroke_width=2.5)
        self.text(left + 29, y, html.escape(chart.ceiling))
        self.text(WIDTH - 6, y, html.escape(chart.ratio), text_anchor="end", colour="muted")

    def grid(self, top, bottom):
        for value in range(0, self.axis_end + 1, GRID_STEP):
            self.path(f"M{self.x(value):g} {top}V{bottom}", "grid",
                      stroke_width=1 if value else 2)

    def scale(self, y):
        for value in range(0, self.axis_end + 1, GRID_STEP):
            self.text(self.x(value), y, value, size=11, colour="muted", text_anchor="middle")

    def group(self, y, group):
        """Where its last row ends."""
        name, detail = html.escape(group.name), html.escape(group.detail)
        self.text(12, y + 18, f'<tspan font-weight="600">{name}</tspan> <tspan dx="4" '
                  f'fill="{self.colours.muted}">{detail}</tspan>', size=13)
        y += HEADING
        self.grid(y - 5, y + ROW * len(group.rows) - 5)
        for row in group.rows:
            self.row(y, row)
            y += ROW
        return y


def _written(attributes):
    return "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())


def render(chart, colours):
    drawing = Drawing(chart, colours)
    drawing.text(12, 24, html.escape(chart.title), size=18, font_weight=600)
    drawing.text(12, 45, html.escape(chart.detail), colour="muted")
    drawing.legend(HEAD + 14, chart)
    y = HEAD + LEGEND
    for group in chart.groups:
        y = drawing.group(y, group)
    drawing.scale(y + 12)
    y += 42
    for note in chart.notes:
        drawing.text(12, y, html.escape(note), size=11, colour="muted")
        y += FOOT_LINE
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" '
            f'height="{y}" font-family="{FONT}" role="img">\n'
            f"<title>{html.escape(chart.title)}</title>\n")
    return head + "\n".join(drawing.lines) + "\n</svg>\n"
