"""Redaction: applied once, where results are made, before anything is written or shown (SPEC 13, `redact_fields`).

Verdicts are judged on the real values. A redacted value becomes `[redacted:field:<short hash>]`, so that equal
values can still be seen to be equal; a long piece of one becomes `[redacted:part]`.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from agenteval.patterns import is_glob

SHORTEST_TEXT = 4
"""A redacted text this long is also replaced where it stands inside other texts; shorter ones only as values."""
SHORTEST_PIECE = 16
"""A piece of a redacted text this long is replaced too: messages quote texts in part. A shorter piece is replaced
when it is the beginning of the text and an ellipsis follows."""
PIECE = "[redacted:part]"

_BLANKS = str.maketrans("\n\r\t\u00a0", "    ")


class Redactor:
    """Replaces the values of named fields, and their text wherever else it occurs, whatever its case.

    A name without a dot matches a key at any depth; a dotted path matches the end of a path (list indices are
    not part of it); both may be globs: `token`, `args.api_key`, `*.password`.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = [tuple(name.split(".")) for name in names]
        self._learned: set[str] = set()
        self._texts: dict[str, dict[str, str]] = {}
        self._pieces: set[str] = set()

    def learn(self, data: Any) -> None:
        """Remember the texts under redacted fields of `data`, to find them in messages too."""
        if self.names:
            self._learn(data, ())

    def _learn(self, data: Any, path: tuple[str, ...]) -> None:
        if path and self._named(path):
            for text in _texts(data):
                self._remember(text)
        elif isinstance(data, dict):
            for key, value in data.items():
                self._learn(value, (*path, *str(key).split(".")))
        elif isinstance(data, list | tuple):
            for value in data:
                self._learn(value, path)
        elif isinstance(data, str) and data.lstrip()[:1] in ("{", "["):
            self._learn(_json_in(data), path)

    def _remember(self, text: str) -> None:
        if text in self._learned:
            return
        self._learned.add(text)
        for spelling in _spellings(text):
            folded = _folded(spelling)
            if len(folded) >= SHORTEST_TEXT:
                alike = self._texts.setdefault(folded[:SHORTEST_TEXT], {})
                alike.setdefault(folded, token(text))
            self._pieces.update(
                folded[at : at + SHORTEST_PIECE] for at in range(len(folded) - SHORTEST_PIECE + 1)
            )

    def text(self, text: str) -> str:
        """The text, without what was learned."""
        if not self._texts:
            return text
        folded = _folded(text)
        kept: list[str] = []
        at = start = 0
        while at <= len(folded) - SHORTEST_TEXT:
            length, replacement = self._found(folded, at)
            if length:
                kept += [text[start:at], replacement]
                start = at = at + length
            else:
                at += 1
        return "".join((*kept, text[start:])) if kept else text

    def _found(self, folded: str, at: int) -> tuple[int, str]:
        """How much of the text at a place has to go (0: nothing), and what comes in its place."""
        end = at
        while folded[end : end + SHORTEST_PIECE] in self._pieces:
            end += 1
        piece = end - at + SHORTEST_PIECE - 1 if end > at else 0
        alike = self._texts.get(folded[at : at + SHORTEST_TEXT])
        if alike is None:
            return piece, PIECE
        whole = max((found for found in alike if folded.startswith(found, at)), key=len, default="")
        if whole and len(whole) >= piece:
            return len(whole), alike[whole]
        cut_at = folded.find("…", at, at + SHORTEST_PIECE + 1)
        head = folded[at:cut_at].rstrip() if cut_at > 0 else ""
        if not piece and head and any(each.startswith(head) for each in alike):
            return len(head), PIECE
        return piece, PIECE

    def data(self, data: Any, path: tuple[str, ...] = ()) -> Any:
        """The data, without redacted fields and without what was learned."""
        if not self.names:
            return data
        if path and self._named(path):
            return token(data if isinstance(data, str) else json.dumps(data, sort_keys=True, default=str))
        if isinstance(data, str):
            return self.text(data)
        if isinstance(data, dict):
            return {
                self.text(str(key)): self.data(value, (*path, *str(key).split(".")))
                for key, value in data.items()
            }
        if isinstance(data, list | tuple):
            return [self.data(value, path) for value in data]
        if _is_number(data) and str(data) in self._learned and len(str(data)) >= SHORTEST_TEXT:
            return token(str(data))
        return data

    def _named(self, path: tuple[str, ...]) -> bool:
        return any(
            len(name) <= len(path) and all(map(_same, name, path[len(path) - len(name) :]))
            for name in self.names
        )


def _same(pattern: str, key: str) -> bool:
    return fnmatchcase(key, pattern) if is_glob(pattern) else pattern == key


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for value in data.values():
            yield from _texts(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from _texts(value)
    elif _is_number(data):
        yield str(data)


def _is_number(data: Any) -> bool:
    return isinstance(data, int | float) and not isinstance(data, bool)


def _json_in(text: str) -> Any:
    """The JSON that a text holds, as results of tools often do, or None."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _spellings(text: str) -> Iterator[str]:
    """A text as messages may spell it: itself, on one line, escaped, and each of its lines."""
    yield text.strip()
    yield " ".join(text.split())
    yield json.dumps(text)[1:-1]
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield repr(text)[1:-1]
    for line in text.splitlines():
        yield line.strip()


def _folded(text: str) -> str:
    """Equal for texts that differ in case or in the kind of blanks, and as long as the text."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in text)
    return lowered.translate(_BLANKS)


def plain(value: Any) -> Any:
    """The value with models and dataclasses as dicts, at any depth."""
    kind: Any = type(value)
    if kind is str:
        return value
    if kind is list:
        return [item if type(item) in _PLAIN else plain(item) for item in value]
    if kind is dict:
        return {key: item if type(item) in _PLAIN else plain(item) for key, item in value.items()}
    if not (names := _field_names(kind)):
        return value
    return {name: v if type(v := getattr(value, name)) in _PLAIN else plain(v) for name in names}


_PLAIN = frozenset((str, bool, int, float, type(None)))


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind)) if is_dataclass(kind) else ()


def token(text: str) -> str:
    """What stands in the place of a redacted value."""
    from hashlib import sha256  # loads OpenSSL

    return f"[redacted:field:{sha256(text.encode(errors='surrogatepass')).hexdigest()[:8]}]"
