"""Strict models in words, and in JSON Schema: why data does not fit one, and what it would have to be."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import islice
from typing import Any, Literal, NamedTuple, get_args, get_origin

from agenteval.contracts.models import DataPath, Flaw, Model, Steps, describe, dotted
from agenteval.text.names import closest


class Finding(NamedTuple):
    """One thing wrong with the data, at `path` (keys and list indices from the top).

    `message` says what, and `sentence` also where. `at_key` says that the key itself is at fault, not its
    value; `name` is the key that is unknown or missing, `next_step` what to do where that is known.
    """

    code: Literal["unknown_key", "missing_key", "wrong_type", "wrong_value"]
    path: DataPath
    message: str
    allowed: Sequence[str] = ()
    suggestion: str | None = None
    at_key: bool = False
    name: str = ""
    next_step: str = ""

    @property
    def sentence(self) -> str:
        """The message with the place in words, such as `scenario.group_id: expected a string …`."""
        if not self.name:
            return f"{dotted(self.path)}: {self.message}" if self.path else self.message
        owner = self.path[:-1] if self.code == "unknown_key" else self.path
        return f"{self.message} in {dotted(owner)}" if owner else self.message


MAX_FINDINGS = 1000
"""The most flaws of one document that become findings."""


def findings(flaws: Sequence[Flaw]) -> list[Finding]:
    """What the check of a model noted, in words, each thing once."""
    found: dict[tuple[DataPath, str], Finding] = {}
    expected: dict[DataPath, list[str]] = {}
    for flaw in islice(flaws, MAX_FINDINGS):
        finding = _finding(flaw, expected)
        key = finding.path, finding.message if finding.at_key else finding.code
        found[key] = finding
    outer = {finding.path[:length] for finding in found.values() for length in range(len(finding.path))}
    meant = {
        (*each.path[:-1], each.suggestion)
        for each in found.values()
        if each.code == "unknown_key" and each.suggestion
    }
    # A union complains once per member; what is said of the best fit, the deepest, is kept. And a key that is there
    # under a misspelt name is not missing as well.
    return [
        finding
        for finding in found.values()
        if not (finding.code == "missing_key" and (*finding.path, finding.name) in meant)
        and not (finding.code == "wrong_type" and finding.path in outer)
    ]


def _finding(flaw: Flaw, expected: dict[DataPath, list[str]]) -> Finding:
    """The finding of a flaw; `expected` has what values should have been, by path: the members of a union add to it."""
    path, about = _path(flaw.steps), flaw.about
    match flaw.code:
        case "unknown_key":
            return _unknown(flaw, path)
        case "missing_key":
            return Finding(flaw.code, path, f"missing required key {about!r}", at_key=True, name=about)
        case "wrong_tag":
            message, choices = f"unknown {path[-1]} {flaw.value!r}", about
        case "wrong_value" if isinstance(about, str):
            return Finding(flaw.code, path, about, at_key=not path)
        case _:
            choices = list(get_args(about)) if get_origin(about) is Literal else []
            expected.setdefault(path, []).append(_expectation(about, choices))
            message = _mismatch(flaw.value, " or ".join(dict.fromkeys(expected[path])))
    return Finding(
        "wrong_type" if flaw.code == "wrong_type" else "wrong_value",
        path,
        message,
        allowed=choices,
        suggestion=closest(str(flaw.value), choices) if choices and isinstance(flaw.value, str) else None,
    )


def _path(steps: Steps) -> DataPath:
    path: list[str | int] = []
    while steps:
        steps, step, _ = steps
        path.append(step)
    return tuple(reversed(path))


def _unknown(flaw: Flaw, path: DataPath) -> Finding:
    outer, name, owner = flaw.steps
    name = str(name)
    home = _home(name, outer, owner) if owner else ""
    names = field_names(owner) if owner else []
    return Finding(
        "unknown_key",
        path,
        f"unknown key {name!r}",
        allowed=names,
        suggestion=flaw.about or (None if home else closest(name, names)),
        at_key=True,
        name=name,
        next_step=home,
    )


def _home(name: str, outer: Steps, owner: type[Model]) -> str:
    """Where a key belongs that its mapping does not know: into one of its neighbours, or further out."""
    for held in fields(owner):  # type: ignore[arg-type]
        if any(name in field_names(kind) for kind in _models_in(held.type)):
            return f"move it into {held.name!r}"
    while outer:
        outer, step, around = outer
        if around and name in field_names(around):
            return f"put it next to {step!r}"
    return ""


def field_names(cls: type[Model]) -> list[str]:
    """The keys of its mappings."""
    return [field.name for field in fields(cls) if field.init]  # type: ignore[arg-type]


def _models_in(kind: Any) -> Iterator[type[Model]]:
    """The models that a value of this kind is, or is a list of."""
    if isinstance(kind, type) and issubclass(kind, Model):
        yield kind
    elif get_origin(kind) is not dict:
        for inner in get_args(kind):
            yield from _models_in(inner)


_EXPECTATIONS = {str: "a string", int: "an integer", float: "a number", bool: "true or false", list: "a list"}


def _expectation(about: Any, choices: Sequence[str]) -> str:
    if choices:
        return f"one of {', '.join(choices)}" if len(choices) > 1 else repr(choices[0])
    return about if isinstance(about, str) else _EXPECTATIONS.get(get_origin(about) or about, "a mapping")


def _mismatch(value: Any, wanted: str) -> str:
    message = f"expected {wanted}, got {describe(value)}"
    if isinstance(value, bool) and "string" in wanted:
        return f"{message} (YAML reads yes, no, on and off as booleans: quote it)"
    if isinstance(value, int | float) and not isinstance(value, bool) and "string" in wanted:
        return f"{message} (put it in quotes, as it is written)"  # not what it was read as: 010 is 8
    return message


def json_schema(cls: Any, *, name: str, title: str, extensible: bool = True) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a model; `x-` keys are allowed wherever keys are fixed, if it is extensible."""
    from pydantic import TypeAdapter

    schema = TypeAdapter(cls).json_schema()
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"https://agenteval.dev/schemas/0.1/{name}.schema.json",
        **schema,
        "title": title,
    }
    if extensible:
        allow_extensions(schema)
    return schema


def allow_extensions(schema: Any) -> None:
    """Let `x-` keys through every object of the schema that closes its keys."""
    if isinstance(schema, dict):
        if schema.get("additionalProperties") is False and "properties" in schema:
            schema["patternProperties"] = {"^x-": True}
        for value in schema.values():
            allow_extensions(value)
    elif isinstance(schema, list):
        for value in schema:
            allow_extensions(value)
