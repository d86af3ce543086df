"""Rows of a text, which say the same of several things: lines with a label, `lint: passed`, and those of a table."""

from collections.abc import Callable, Sequence
from itertools import takewhile

from agenteval.grounding.exchanges import Field, Item
from agenteval.lazyregex import lazy

NAMES: list[Field] = [(0,), (1,), (2,)]
"""The cells that may tell a row from others: its label, or the first ones."""
AROUND = 4000
"""How many characters before and after a line are looked through for other rows."""
LONGEST_ROW = 400
"""Characters of a row at most; longer lines are prose."""

_LABELLED = lazy(r"\s*(?:[-*•]\s+|\d+[.)]\s+)?([^\s:|][^:|]{0,60}):\s+(\S.*)")
_RULE = lazy(r"[\s|:+=-]+")
_APART = lazy(r"\t+| {2,}")


def rows_around(text: str, sentence: str) -> list[list[str]]:
    """The cells of the rows around a sentence of a text, without the heading; none, where it is in no table."""
    at = text.find(sentence)
    if at < 0:
        return []
    start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    line = text[start : end if end >= 0 else None]
    kind, width = _shape(line)
    if not width:
        return []
    after = text[start : start + AROUND].split("\n")
    before = text[max(0, start - AROUND) : start].split("\n")[:-1]
    above = takewhile(lambda line: _shape(line) == (kind, width), reversed(before))
    below = takewhile(lambda line: _shape(line) == (kind, width), after)
    lines = [*reversed(list(above)), *below]
    rules = [number for number, line in enumerate(lines) if _RULE.fullmatch(line)]
    rows = [_cells(line) for line in lines[rules[0] + 1 if rules else 0 :] if not _RULE.fullmatch(line)]
    return rows if _are_alike(rows) else []


def _cells(line: str) -> list[str]:
    labelled = _LABELLED.fullmatch(line)
    if "|" in line:
        cells = line.strip().strip("|").split("|")
    elif labelled:
        cells = [labelled[1], *labelled[2].rstrip(".").split(", ")]
    else:
        cells = _APART.split(line.strip())
    return [cell.strip() for cell in cells]


def _shape(line: str) -> tuple[str, int]:
    """Of what kind of table a line is a row, and with how many cells, labelled ones aside; no cells, where it is none."""
    if len(line) > LONGEST_ROW:
        return "", 0
    if "|" in line:
        return "|", len(_cells(line))
    if ": " in line and _LABELLED.fullmatch(line):
        return ":", 2
    cells = len(_cells(line)) if "  " in line or "\t" in line else 1
    return " ", cells if cells > 1 else 0


def _are_alike(rows: Sequence[Sequence[str]]) -> bool:
    """Whether rows are about several things, not the fields of one, as `From: Ada` and `Subject: Lunch` are.

    They are three or more that say two things or more of each, or say the same of some.
    """
    widths = {len(row) for row in rows}
    cells = [(at, cell.lower()) for row in rows for at, cell in enumerate(row) if at]
    return (len(rows) > 2 and len(widths) == 1 and max(widths) > 2) or len(set(cells)) < len(cells)


def as_items(rows: Sequence[Sequence[str]], content: Callable[[str], str]) -> list[Item]:
    """Each row by the signs of its cells, without words that all rows have in one place."""
    signs = [[content(cell) for cell in row] for row in rows]
    width = max(map(len, signs), default=0)
    shared = [
        frozenset.intersection(*(frozenset(row[at]) for row in signs if at < len(row))) for at in range(width)
    ]
    return [
        {
            (at,): "".join(sign for sign in cell if not at or sign not in shared[at])
            for at, cell in enumerate(row)
        }
        for row in signs
    ]
