"""Reads JSON into plain data, strictly: what two readers could take differently is refused, with its place.

The standard library's parser does the work, with hooks that stop it. Only when something is wrong is the text walked
a second time, to find the place.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from agenteval.errors import FileError
from agenteval.findings import DataPath, Invalid
from agenteval.reading.documents import INTEGERS, MAX_DEPTH, MAX_FILE_BYTES, read_text
from agenteval.reading.faults import Fault, Place, fault_of, place_at, problem_at, problems_at
from agenteval.strict import Model, parse

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
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_too_deep(data):
        _refuse(text, path)
    if "\\ud" in text or "\\uD" in text:
        from agenteval.reading.jsonplaces import lone_surrogate

        if found := lone_surrogate(text):
            raise _located(text, path, *found)
    return data


def _refuse(text: str, path: Path, error: json.JSONDecodeError | None = None) -> NoReturn:
    """Raise what the parser refused, which is looked for only now."""
    from agenteval.reading.jsonplaces import refusal, syntax_error

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


def _is_too_deep(data: Any) -> bool:
    """Whether mappings and lists nest more than `MAX_DEPTH` deep, by looking at one level after the other."""
    level = [data]
    for _ in range(MAX_DEPTH):
        inner: list[Any] = []
        for holder in level:
            kind = type(holder)
            if kind is dict:
                inner += [value for value in holder.values() if type(value) is dict or type(value) is list]
            elif kind is list:
                inner += [value for value in holder if type(value) is dict or type(value) is list]
        if not inner:
            return False
        level = inner
    return True


def places(text: str, wanted: Sequence[tuple[DataPath, bool]]) -> list[Place]:
    """Where in a JSON text values, or with `at_key` their keys, are, by (path, at_key).

    For what is not there it is the place of what is nearest above.
    """
    from agenteval.reading.jsonplaces import find_places

    return find_places(text, wanted)
