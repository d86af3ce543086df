"""Reads JSON strictly. If something is wrong, a second reading finds the place of it."""

import json
import re
from collections.abc import Iterator, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from agenteval.contracts.errors import FileError
from agenteval.contracts.models import DataPath, Invalid, Model, parse
from agenteval.reading.documents import INTEGERS, MAX_DEPTH, MAX_FILE_BYTES, read_text
from agenteval.reading.places import Fault, Place, fault_of, place_at, problem_at, problems_at
from agenteval.text.lazy_regexes import lazy

Refusal = tuple[str, str, int, int]
"""Reason code, message, offset, span."""

_NEXT = lazy(r"[^\s,:]")
_LITERAL = lazy(r'[^\s,:"\[\]{}]+')
_NUMBER = lazy(r"-?[0-9]+(?P<fraction>(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)")
_CONSTANT = lazy("NaN|-?Infinity")
_SURROGATE = lazy(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair
    r"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


class _FoundError(Exception):
    """Something that the walk refuses."""

    def __init__(self, code: str, message: str, offset: int, span: int) -> None:
        super().__init__(message)
        self.refusal: Refusal = (code, message, offset, span)


Span = tuple[int, int]


def _walk(text: str) -> Iterator[tuple[DataPath, Span | None, Span]]:
    """Every value as it begins: its path, where its key is, and where itself (of a container: the bracket).

    Raises `_FoundError` at the first thing that strict JSON must not have.
    """
    path: list[Any] = []  # a key or index for each container around
    keys: list[set[str] | None] = []  # of each; None for a list
    key: Span | None = None
    position = 0
    while found := _NEXT.search(text, position):
        start = found.start()
        sign = text[start]
        if sign in "]}":
            path.pop()
            keys.pop()
            position = start + 1
            continue
        value, position = _token(text, start)
        if keys and (had := keys[-1]) is not None and key is None:
            if value in had:
                message = f"the key {value!r} is given twice"
                raise _FoundError("json.duplicate_key", message, start, position - start)
            had.add(value)
            path[-1], key = value, (start, position)
            continue
        if keys and key is None:
            path[-1] += 1
        yield tuple(path), key, (start, position)
        key = None
        if sign in "[{":
            path.append(-1)
            keys.append(set() if sign == "{" else None)
            if len(keys) > MAX_DEPTH:
                message = f"mappings and lists are nested more than {MAX_DEPTH} levels deep"
                raise _FoundError("json.too_deep", message, start, 1)


def _token(text: str, start: int) -> tuple[str, int]:
    """The value of a string, or a number or word as it is written, with its end. Checks numbers."""
    if text[start] == '"':
        value, end = scanstring(text, start + 1, True)
        return value, end
    if text[start] in "[{":
        return text[start], start + 1
    found = _LITERAL.match(text, start)
    assert found
    if why := _number_error(found.group()):
        raise _FoundError("json.number", why, start, len(found.group()))
    return found.group(), found.end()


def _number_error(word: str) -> str:
    if found := _CONSTANT.match(word):
        return f"{found.group()} is not a number in JSON"
    found = _NUMBER.match(word)
    if not found:
        return ""
    number, fraction = found.group(), found["fraction"]
    if fraction:
        return "the number is too large" if float(number) in (float("inf"), float("-inf")) else ""
    return "" if len(number) <= 20 and int(number) in INTEGERS else "the integer does not fit into 64 bits"


def refusal(text: str) -> Refusal:
    """The first thing that the walk refuses in a text that the strict parser has refused."""
    try:
        for _ in _walk(text):
            pass
    except _FoundError as found:
        return found.refusal
    raise AssertionError("the parser refused what the walk accepts")


def lone_surrogate(text: str) -> Refusal | None:
    """The first escape in valid JSON that is half a character, if any."""
    for found in _SURROGATE.finditer(text):
        if found["lone"]:
            message = f"{found.group()} is half a character: a surrogate without its partner"
            return "json.surrogate", message, found.start(), len(found.group())
    return None


def whole_characters(text: str) -> str:
    """A JSON text with U+FFFD for each escape that is half a character, as programs leave it that cut texts."""
    if "\\ud" not in text and "\\uD" not in text:
        return text
    return _SURROGATE.sub(lambda found: r"\ufffd" if found["lone"] else found[0], text)


def places(text: str, wanted: Sequence[tuple[DataPath, bool]]) -> list[Place]:
    """Find values, or with `at_key` their keys, in a JSON text, by (path, at_key); else the nearest above."""
    missing = {path for path, _ in wanted}
    above = {path[:length] for path in missing for length in range(len(path) + 1)}
    found: dict[DataPath, tuple[Span | None, Span]] = {}
    for path, at, where in _walk(text):
        if path in above:
            found[path] = at, where
            missing.discard(path)
            if not missing:
                break

    def located(path: DataPath, *, at_key: bool) -> Place:
        while path not in found:
            path = path[:-1]
        key, (start, end) = found[path]
        # A whole mapping or list is too much to underline, so its key stands for it.
        if key and (at_key or text[start] in "[{"):
            start, end = key
        return place_at(text, start, end - start)

    return [located(path, at_key=at_key) for path, at_key in wanted]


_SYNTAX = {
    "Expecting value": "expected a value",
    "Expecting property name enclosed in double quotes": "expected a key in double quotes",
    "Expecting ':' delimiter": "expected ':' after the key",
    "Expecting ',' delimiter": "expected ',' or the end of the mapping or list",
    "Extra data": "expected the end of {whole}",
}


def in_words(error: ValueError, whole: str) -> str:
    """Explain why `whole` is not JSON, and where, in a clause made of the error of the standard library."""
    if not isinstance(error, json.JSONDecodeError):
        return str(error)
    _, message, offset, _ = syntax_error(error.doc, error, whole=whole)
    place = place_at(error.doc, offset, 1)
    return f"{message.removeprefix(_NOT_VALID)} at line {place.line}, column {place.column}"


_NOT_VALID = "not valid JSON: "


def syntax_error(text: str, error: json.JSONDecodeError, *, whole: str = "the file") -> Refusal:
    """Explain why a text is not JSON."""
    if not text.strip(" \t\r\n"):
        return "json.empty", f"{whole} is empty: it holds no data", 0, 1
    offset = error.pos
    for beginning, message in _SYNTAX.items():
        if error.msg.startswith(beginning):
            word = _LITERAL.match(text, offset)
            found = repr(word.group()[:20] if word else text[offset : offset + 1])
            got = f", got {found}" if offset < len(text) else f", got the end of {whole}"
            return "json.syntax", f"{_NOT_VALID}{message.format(whole=whole)}{got}", offset, 1
    return "json.syntax", f"{_NOT_VALID}{error.msg.removesuffix(' at')}", offset, 1


M = TypeVar("M", bound=Model)


def load_model(cls: type[M], path: Path, *, max_bytes: int = MAX_FILE_BYTES, within: Path | None = None) -> M:
    """A model from a JSON file, which lies `within` a folder.

    Raises `FileError`: what `load_json` raises, or all faults of the data (`json.unknown_key`, `json.missing_key`,
    `json.wrong_type`, `json.wrong_value`).
    """
    text = read_text(path, max_bytes=max_bytes, within=within)
    data = parse_json(text, path)
    try:
        return parse(cls, data)
    except Invalid as invalid:
        faults = [fault_of(finding, "json") for finding in invalid.findings]
    raise FileError(problems_at(faults, text=text, places=places, path=path))


def load_json(path: Path, *, max_bytes: int = MAX_FILE_BYTES, within: Path | None = None) -> Any:
    """The data of a JSON file `within` a folder: dict, list, str, int, float, bool and None.

    Raises `FileError`: what `documents.read_text` and `parse_json` raise.
    """
    return parse_json(read_text(path, max_bytes=max_bytes, within=within), path)


def parse_json(text: str, path: Path) -> Any:
    """The data of a JSON text; `path` is used in errors only.

    Raises `FileError`, located: `json.syntax`, `json.duplicate_key`, `json.number`, `json.surrogate`,
    `json.too_deep` or `json.empty`.
    """
    try:
        data = _DECODER.decode(text)
    except (_RefusedError, RecursionError):
        _refuse(text, path)
    except json.JSONDecodeError as error:
        _refuse(text, path, error)
    if text.count("[") + text.count("{") > MAX_DEPTH and is_too_deep(data):
        _refuse(text, path)
    if ("\\ud" in text or "\\uD" in text) and (found := lone_surrogate(text)):
        raise _located(text, path, *found)
    return data


def _refuse(text: str, path: Path, error: json.JSONDecodeError | None = None) -> NoReturn:
    """Raise what the parser refused, which is looked for only now."""
    raise _located(text, path, *(syntax_error(text, error) if error else refusal(text))) from None


def _located(text: str, path: Path, code: str, message: str, offset: int, span: int) -> FileError:
    return FileError([problem_at(place_at(text, offset, span), Fault(code, message), path)])


class _RefusedError(Exception):
    """The text holds something that is refused; the place is looked for later."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _RefusedError
    return made


def _integer(digits: str) -> int:
    if len(digits) < 19:
        return int(digits)
    if len(digits) > 20 or (value := int(digits)) not in INTEGERS:
        raise _RefusedError
    return value


def _float(digits: str) -> float:
    value = float(digits)
    if value - value:  # infinity less itself is NaN, which counts as true
        raise _RefusedError
    return value


def _constant(_: str) -> NoReturn:
    raise _RefusedError


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant
)


def is_too_deep(data: Any) -> bool:
    """Return whether mappings and lists nest more than `MAX_DEPTH` deep, by looking at one level after the other."""
    level = [data] if type(data) in _HOLDERS else []
    for _ in range(MAX_DEPTH):
        if not level:
            return False
        level = [
            value
            for holder in level
            for value in (holder.values() if type(holder) is dict else holder)
            if type(value) in _HOLDERS
        ]
    return bool(level)


_HOLDERS = frozenset((dict, list))
