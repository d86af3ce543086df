"""Events and texts as evidence shows them: one line each, cut to a length a person reads."""

import json
from collections.abc import Iterable
from typing import Any

from agenteval.redaction import Redactor
from agenteval.results import Excerpt
from agenteval.shortening import abridged, ends
from agenteval.trace import Event

LONGEST_TEXT = 200
"""Characters of a text in evidence; longer ones are cut, after redaction."""
LONGEST_LINE = 600
"""Characters of a line of a message, which may hold two such texts: expected and got."""
MOST_EXCERPTS = 8
MOST_LINES = 40
MOST_ITEMS = 100


def message(text: str, redactor: Redactor) -> str:
    """A message, redacted, with long lines and very many lines cut: what was expected comes first, what was got last."""
    text = redactor.text(text)
    if len(text) <= LONGEST_LINE and "\n" not in text:
        return text
    lines = text.split("\n")
    kept = [ends(line, LONGEST_LINE) for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        kept.append(f"… ({len(lines) - MOST_LINES} more lines)")
    return "\n".join(kept)


def observed(data: Any, redactor: Redactor) -> Any:
    """Observed values, redacted, with long texts and long lists cut."""
    return _shortened(redactor.data(data))


_AS_IT_IS = frozenset((bool, int, float, type(None)))


def _shortened(data: Any) -> Any:
    kind = type(data)
    if kind is str:
        return data if len(data) <= LONGEST_TEXT else abridged(data, LONGEST_TEXT)
    if kind is dict:
        return {key: v if type(v) in _AS_IT_IS else _shortened(v) for key, v in data.items()}
    if kind is list or kind is tuple:
        kept = [item if type(item) in _AS_IT_IS else _shortened(item) for item in data[:MOST_ITEMS]]
        if len(data) > MOST_ITEMS:
            kept.append(f"… ({len(data) - MOST_ITEMS} more)")
        return kept
    return data


def excerpts(pairs: Iterable[tuple[Event, str]], redactor: Redactor) -> list[Excerpt]:
    """The first few events, each with its note."""
    found = []
    for (event, note), _ in zip(pairs, range(MOST_EXCERPTS), strict=False):
        text = abridged(redactor.text(describe(event, redactor)), LONGEST_TEXT)
        said = ends(redactor.text(note), LONGEST_LINE)
        found.append(Excerpt(event_id=event.event_id, text=text, note=said))
    return found


def describe(event: Event, redactor: Redactor) -> str:
    """One event on one line: what it is, and its content."""
    data = redactor.data(event.data)
    kind = event.type
    if kind == "tool_call":
        args = data.get("args")
        text = f"{data.get('tool')} {'with arguments that are not recorded' if args is None else _json(args)}"
    elif kind == "tool_result":
        outcome = "ok" if data.get("success") else "failed"
        text = f"{data.get('tool')} {outcome}: {_json(data.get('result'))}"
    elif kind == "error":
        text = f"{data.get('tool') or data.get('scope')} {data.get('error_type')}: {data.get('message')}"
    elif kind in ("memory_read", "memory_write"):
        content = data.get("content") or data.get("change_summary") or ""
        place = data.get("path") or data.get("source") or ""
        text = f"{kind} {data.get('group_id') or event.group_id} {place}: {_json(content)}"
    else:
        text = f"{kind} {data.get('role')}: {data.get('content')}"
    return " ".join(text.split())


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
