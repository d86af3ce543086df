"""Explains strict models in words and in JSON Schema: why data does not fit, and what would fit."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, fields
from itertools import islice
from types import UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

from agenteval.contracts.models import DataPath, Model, Steps, Violation, describe, dotted
from agenteval.text.names import closest


class Finding(NamedTuple):
    """One thing wrong with the data, at `path` (keys and list indices from the top).

    `message` names the fault, and `sentence` also its place. With `at_key` the key itself is at fault, not its
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


def findings(violations: Sequence[Violation]) -> list[Finding]:
    """Describe in words all that the check of a model noted, each thing once."""
    found: dict[tuple[DataPath, str], Finding] = {}
    expected: dict[DataPath, list[str]] = {}
    for violation in islice(violations, MAX_FINDINGS):
        finding = _finding(violation, expected)
        key = finding.path, finding.message if finding.at_key else finding.code
        found[key] = finding
    outer = {finding.path[:length] for finding in found.values() for length in range(len(finding.path))}
    unknown = [each for each in found.values() if each.code == "unknown_key"]
    meant = {(*each.path[:-1], each.suggestion) for each in unknown if each.suggestion}
    moved = {each.name for each in unknown if each.next_step}

    def is_kept(finding: Finding) -> bool:
        # A union complains once per member; only the flaws of the best fit, the deepest, are kept.
        if finding.code == "wrong_type":
            return finding.path not in outer
        # A key that is there under a misspelt name, or at another place, is not missing as well.
        is_there = (*finding.path, finding.name) in meant or finding.name in moved
        return not (finding.code == "missing_key" and is_there)

    return [finding for finding in found.values() if is_kept(finding)]


def _finding(violation: Violation, expected: dict[DataPath, list[str]]) -> Finding:
    """The finding of a flaw; `expected` has what values should have been, by path: the members of a union add to it."""
    path, about = _path(violation.steps), violation.about
    match violation.code:
        case "unknown_key":
            return _unknown(violation, path)
        case "missing_key":
            return Finding(
                violation.code,
                path,
                f"missing required key {about!r}",
                at_key=True,
                name=about,
                next_step=_HOW_TO_ADD.get(about, f"add {about!r}"),
            )
        case "wrong_tag":
            message, choices = f"unknown {path[-1]} {violation.value!r}", about
        case "wrong_value" if isinstance(about, str):
            return Finding(violation.code, path, about, at_key=not path)
        case _:
            choices = list(get_args(about)) if get_origin(about) is Literal else []
            expected.setdefault(path, []).append(_expectation(about, choices))
            message = _mismatch(violation.value, " or ".join(dict.fromkeys(expected[path])))
    return Finding(
        "wrong_type" if violation.code == "wrong_type" else "wrong_value",
        path,
        message,
        allowed=choices,
        suggestion=closest(str(violation.value), choices)
        if choices and isinstance(violation.value, str)
        else None,
        next_step=_shaped(violation.value, about) if violation.code == "wrong_type" else "",
    )


def _shaped(value: Any, about: Any) -> str:
    """Return the advice how to write a value in the shape that is expected: most values are right, and only wrapped wrongly."""
    kind = get_origin(about) or about
    if kind is list:
        return _as_list(value, about)
    if kind is int and isinstance(value, str) and value.lstrip("-").isdigit():
        return f"write it without quotes: {value}"
    if kind is str and isinstance(value, list):
        return "write one"
    if isinstance(kind, type) and issubclass(kind, Model) and not isinstance(value, dict):
        return _as_model(value, kind)
    if kind is dict and not isinstance(value, dict):
        return "write a mapping: {key: value}"
    return "write a list of mappings" if about == _ONE_OR_MORE and isinstance(value, str) else ""


def _as_list(value: Any, about: Any) -> str:
    if isinstance(value, dict):
        return "begin each item with '- '"
    if not isinstance(value, str):
        return ""
    (item,) = get_args(about) or (Any,)
    inner = next(_models_in(item), None)
    if inner is not None:
        return f"write a list of mappings, each with {_listed(_needed(inner))}"
    return f"write it as a list: [{_quoted(value)}]"


def _as_model(value: Any, cls: type[Model]) -> str:
    """Return the advice how to write a value where a mapping belongs: under the key that it is most likely meant for."""
    needed = _needed(cls)
    declared = fields(cls)  # type: ignore[arg-type]
    words = [each.name for each in declared if isinstance(value, str) and value in get_args(each.type)]
    if words:
        return f"write {{{words[0]}: {value}}}"
    if open_ones := _open_mappings(cls):
        return f"write a mapping, for instance {{{open_ones[0]}: {{name: {_quoted(value)}}}}}"
    if len(needed) == 1 and (isinstance(value, str) or needed[0] in _required(cls)):
        return f"write {{{needed[0]}: {_quoted(value)}}}"
    return f"write a mapping with {_listed(needed)}" if isinstance(value, str) else ""


_ONE_OR_MORE = "a list or a mapping"


def _needed(cls: type[Model]) -> list[str]:
    """The keys that a model needs; of one that needs none, the first that takes any text, else the first."""
    declared = [field for field in fields(cls) if field.init]  # type: ignore[arg-type]
    texts = [each.name for each in declared if each.type in (str, str | None)]
    return _required(cls) or texts[:1] or [declared[0].name]


def _required(cls: type[Model]) -> list[str]:
    declared = [field for field in fields(cls) if field.init]  # type: ignore[arg-type]
    return [each.name for each in declared if each.default is MISSING and each.default_factory is MISSING]


def _quoted(value: Any) -> str:
    """A value as YAML; of a long or odd one a stand-in."""
    if isinstance(value, list):
        return f"[{', '.join(map(_quoted, value))}]" if value and len(value) <= 4 else "[…]"
    if not isinstance(value, str) or len(value) > 60 or "\n" in value:
        return "…"
    return (
        value
        if value.replace("_", "a").isalnum() and not value[0].isdigit()
        else json.dumps(value, ensure_ascii=False)
    )


def _listed(names: Sequence[str]) -> str:
    quoted = [repr(name) for name in names]
    return " and ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))


def _path(steps: Steps) -> DataPath:
    path: list[str | int] = []
    while steps:
        steps, step, _ = steps
        path.append(step)
    return tuple(reversed(path))


def _unknown(violation: Violation, path: DataPath) -> Finding:
    outer, name, owner = violation.steps
    name = str(name)
    synonym = _synonym(name, owner) if owner else None
    home = _home(name, outer, owner) if owner else ""
    names = field_names(owner) if owner else []
    return Finding(
        "unknown_key",
        path,
        f"unknown key {name!r}",
        allowed=names,
        suggestion=(suggestion := violation.about or (None if home else synonym or closest(name, names))),
        at_key=True,
        name=name,
        next_step=home
        or _renamed(synonym, owner, violation.value)
        or ("" if suggestion or not owner else _argument(name, owner)),
    )


_SYNONYMS = {
    "name": ("id", "title", "tool"),
    "kind": ("type",),
    "check": ("type",),
    "assertion": ("type",),
    "args": ("params",),
    "parameters": ("params",),
    "with": ("params",),
    "text": ("content", "any_of"),
    "message": ("content",),
    "contains": ("any_of",),
    "value": ("any_of",),
    "level": ("severity",),
    "asserts": ("assertions",),
    "expect": ("assertions",),
    "checks": ("assertions",),
    "tool_name": ("tool",),
    "function": ("tool",),
    "order": ("sequence",),
    "steps": ("sequence",),
    "pattern": ("regex",),
    "input": ("input_messages",),
    "messages": ("input_messages",),
    "prompt": ("input_messages",),
    "replay": ("replay_file",),
    "times": ("min_calls",),
    "count": ("min_calls",),
}
"""Words that other tools have for our keys, each with the keys that may be meant."""


_HOW_TO_ADD = {
    "id": "add an id of its own",
    "title": "add a title: a few words about what is expected",
    "type": "add a type: agenteval explain lists them",
    "assertions": "add assertions: agenteval explain lists their types",
    "content": "add content: what the message reads",
}
"""Advice for a missing key, where the name alone is not enough."""


def _synonym(name: str, owner: type[Model]) -> str | None:
    names = field_names(owner)
    return next((each for each in _SYNONYMS.get(name.lower(), ()) if each in names), None)


def _renamed(synonym: str | None, owner: type[Model] | None, value: Any) -> str:
    """The advice to write a value under another name, where it needs another shape, too."""
    kinds = {each.name: each.type for each in fields(owner)} if owner and synonym else {}  # type: ignore[arg-type]
    kind = kinds.get(synonym or "")
    takes_list = any(get_origin(each) is list for each in (kind, *get_args(kind)))
    return f"write {synonym}: [{_quoted(value)}]" if takes_list and isinstance(value, str) else ""


def _argument(name: str, owner: type[Model]) -> str:
    """The advice for a key that may be an argument of a tool, where a model holds mappings of any keys."""
    open_ones = _open_mappings(owner)
    if open_ones:
        return f"write arguments below {' or '.join(map(repr, open_ones))}: {{{open_ones[0]}: {{{_quoted(name)}: …}}}}"
    for field in fields(owner):  # type: ignore[arg-type]
        for inner in _models_in(field.type):
            if found := _open_mappings(inner):
                return (
                    f"write an argument of the call as {field.name}: {{{found[0]}: {{{_quoted(name)}: …}}}}"
                )
    return ""


def _open_mappings(cls: type[Model]) -> list[str]:
    """The first two fields of a model that hold arguments of tools, which may have any keys."""
    found = []
    for field in fields(cls):  # type: ignore[arg-type]
        is_union = get_origin(field.type) in (Union, UnionType)
        kinds = get_args(field.type) if is_union else (field.type,)
        if dict[str, Any] in kinds and "args" in field.name:  # no schema, nor what an adapter takes
            found.append(field.name)
    return found[:2]


def _home(name: str, outer: Steps, owner: type[Model]) -> str:
    """Explain where a key belongs that its mapping does not know: into one of its neighbours, or further out."""
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
