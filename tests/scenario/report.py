"""A report for people: tables of numbers, and a mark at each line that does not hold."""

LABEL_WIDTH = 46
NUMBER_WIDTH = 12


class Report:
    def __init__(self, title):
        self.lines = [title]
        self.wrong_count = 0

    def heading(self, text, *columns):
        self.lines += ["", self._line(text, columns)]

    def row(self, text, *numbers, holds=True):
        """`holds`: whether the numbers are what they have to be."""
        self.wrong_count += not holds
        self.lines.append(self._line(f"  {text}", numbers) + ("" if holds else "  <- WRONG"))

    def note(self, text):
        self.lines.append(f"    {text}")

    @staticmethod
    def _line(text, cells):
        shown = (f"{cell:,}" if isinstance(cell, int) else cell for cell in cells)
        return (text.ljust(LABEL_WIDTH) + "".join(c.rjust(NUMBER_WIDTH) for c in shown)).rstrip()

    def holds(self):
        return self.wrong_count == 0

    def text(self):
        end = "Every line holds." if self.holds() else f"{self.wrong_count} lines are wrong."
        return "\n".join([*self.lines, "", end])
