"""A report as text."""


def _table(table):
    rows = [[str(field) for field in row] + [table.kind] for row in table.rows]
    header = [*table.header, "kind"]
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    for row in [header, *rows]:
        cells = [text.ljust(width) if column == 0 else text.rjust(width)
                 for column, (text, width) in enumerate(zip(row, widths))]
        yield "  " + "  ".join(cells).rstrip()


def render(facts, sections, broken):
    """`broken` says what makes the whole run worthless, if anything does."""
    lines = [f"{name}: {value}" for name, value in facts.items()]
    lines += ["", *(f"BROKEN BENCH: {what}; no figure counts" for what in broken)]
    for section in sections:
        lines += ["", section.title, "-" * len(section.title), *section.notes]
        for table in section.tables:
            lines += _table(table)
        for verdict in section.verdicts:
            lines.append(f"  {verdict.verdict.upper():<10} {verdict.source}: {verdict.claim} "
                         f"({verdict.said})")
    return "\n".join(lines).strip() + "\n"
