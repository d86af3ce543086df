"""Rows of text in aligned columns."""

from collections.abc import Sequence

from agenteval.reporters.terminal import Terminal
from agenteval.shortening import cells


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """One line for each row; the last cell is not padded."""
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell + " " * (width - cells(cell)) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def tell_rows(terminal: Terminal, rows: Sequence[Sequence[str]]) -> None:
    """Print rows in columns; on a terminal that is too narrow, the other cells of a row go below its first."""
    lines = columns(rows)
    if all(cells(line) <= terminal.room for line in lines):
        for line in lines:
            terminal.emit(line)
        return
    for first, *others in rows:
        terminal.emit(first)
        terminal.paragraph("  ".join(others), indent=2)
