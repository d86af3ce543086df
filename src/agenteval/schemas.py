"""The JSON Schemas of everything that is read or written, generated from the models (SPEC 13, 16, 17).

`schemas/` holds them as files, for editors and other programs; a test keeps the two equal. Adapters add the
schemas of what they read through their attribute `input_schemas`.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, NamedTuple

from agenteval.adapters import input_schemas
from agenteval.assertions import assertion_class, assertion_types
from agenteval.assertions.base import Assertion
from agenteval.errors import AdapterError, UsageError
from agenteval.misspelling import closest
from agenteval.plugins.registry import BUILT_IN, Registry
from agenteval.strict import Model

JsonSchema = dict[str, Any]

_HEAD = ("$schema", "$id", "title", "description", "type", "properties", "required")
"""What a reader wants to see first; the definitions come last."""

_TEST_CASE_TITLE = "AgentEval test case (test.yaml)"

SHIPPED: tuple[str, ...] = (
    *("test-case", "replay", "trace", "result", "summary"),
    *("baseline", "comparison"),
    *("agent-eval-suite", "eval-summary", "eval-events"),
)
"""The schemas that `schemas/` holds."""


class Entry(NamedTuple):
    """One schema: its name, its title, and what makes it."""

    name: str
    title: str
    build: Callable[[], JsonSchema]


def schema_entries(registry: Registry) -> Iterator[Entry]:
    """All schemas, those of the registry's adapters last; an adapter that does not load adds none."""
    core = _core_entries(registry)
    yield from core
    yield from _adapter_entries(registry, {entry.name for entry in core})


def schema_text(name: str, registry: Registry = BUILT_IN) -> str:
    """The schema as the file says it: the same bytes every time. Raises `UsageError` (`usage.unknown_schema`).

    The files of `schemas/` tell of what comes with agenteval; the `test-case` of another registry also has the
    assertion types of its plugins.
    """
    schema = build_schema(name, registry)
    head = {key: schema[key] for key in _HEAD if key in schema}
    ordered = {**head, **{key: schema[key] for key in schema if key != "$defs"}, "$defs": schema["$defs"]}
    return json.dumps(ordered, indent=2, ensure_ascii=False) + "\n"


def build_schema(name: str, registry: Registry = BUILT_IN) -> JsonSchema:
    """The schema of that name. Raises `UsageError` (`usage.unknown_schema`)."""
    known = []
    for entry in schema_entries(registry):
        if entry.name == name:
            return entry.build()
        known.append(entry.name)
    raise _unknown(name, known)


def write_schemas(folder: Path) -> list[Path]:
    """Bring the files of `folder` up to date; returns those that were written. Raises `UsageError`."""
    written = []
    for name in drifted(folder):
        path = schema_path(folder, name)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(schema_text(name), encoding="utf-8", newline="\n")
        except OSError as error:
            raise UsageError(
                f"cannot write {path}: {error.strerror or error}",
                reason_code="usage.not_writable",
                next_step="name a folder that can be written with --dir",
            ) from error
        written.append(path)
    return written


def drifted(folder: Path) -> list[str]:
    """The names of the shipped schemas whose file in `folder` is missing or says something else."""
    return [name for name in SHIPPED if _content(schema_path(folder, name)) != schema_text(name)]


def schema_path(folder: Path, name: str) -> Path:
    """Where a schema is kept."""
    return folder / f"{name}.schema.json"


def _content(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _unknown(name: str, known: Sequence[str]) -> UsageError:
    near = closest(name, known)
    guess = f", did you mean {near!r}?" if near else ""
    return UsageError(
        f"unknown schema {name!r}{guess}",
        reason_code="usage.unknown_schema",
        next_step=f"name one of {', '.join(known)}",
    )


def _core_entries(registry: Registry) -> list[Entry]:
    from agenteval.comparing.baseline import BaselineFile
    from agenteval.comparing.comparison import Comparison
    from agenteval.openwop.models import AgentEvalSuite, EvalEvent, EvalSummary
    from agenteval.results import RunSummary, TestResult
    from agenteval.trace import Trace

    return [
        Entry("test-case", _TEST_CASE_TITLE, lambda: _test_case_schema(registry)),
        _output_entry(Trace, "trace", "AgentEval normalized trace"),
        _output_entry(TestResult, "result", "AgentEval test result"),
        _output_entry(RunSummary, "summary", "AgentEval run summary"),
        _entry(BaselineFile, "baseline", "AgentEval baseline"),
        _output_entry(Comparison, "comparison", "AgentEval comparison of two runs"),
        _entry(AgentEvalSuite, "agent-eval-suite", "OpenWOP AgentEvalSuite (RFC 0081)", extensible=False),
        _entry(EvalSummary, "eval-summary", "OpenWOP EvalSummary (RFC 0081)", extensible=False),
        _entry(
            EvalEvent,
            "eval-events",
            "One line of events.jsonl: an OpenWOP eval event (RFC 0081)",
            extensible=False,
        ),
    ]


def _entry(cls: Any, name: str, title: str, *, extensible: bool = True) -> Entry:
    return Entry(name, title, lambda: _schema(cls, name, title, extensible=extensible))


def _output_entry(cls: type[Any], name: str, title: str) -> Entry:
    return Entry(name, title, lambda: _all_present(_schema(cls, name, title)))


def _adapter_entries(registry: Registry, taken: set[str]) -> Iterator[Entry]:
    for adapter in registry.adapter_names():
        try:
            models = input_schemas(registry.find_adapter(adapter))
        except AdapterError:  # `agenteval doctor` says why
            continue
        for given, cls in models.items():
            name = f"{adapter}-{given}" if given in taken else given
            taken.add(name)
            yield _entry(cls, name, f"AgentEval {given} file of the {adapter} adapter")


def _schema(cls: Any, name: str, title: str, *, extensible: bool = True) -> JsonSchema:
    from agenteval.diagnosis import json_schema

    schema = json_schema(cls, name=name, title=title, extensible=extensible)
    _drop_noise(schema)
    return schema


def _test_case_schema(registry: Registry) -> JsonSchema:
    """The schema of `TestCase`, in which the parameters of every assertion are those of its type."""
    from pydantic import TypeAdapter

    from agenteval.diagnosis import allow_extensions, json_schema
    from agenteval.spec import AssertionSpec, Expected, Fixture, TestCase

    types = {name: cls for name in assertion_types() if (cls := assertion_class(name))}
    types |= {plugin.name: cls for plugin, cls in registry.plugin_types()}
    models: tuple[type[Model], ...] = (TestCase, AssertionSpec, Fixture, Expected)
    kinds: dict[str, type[Model]] = {**{cls.__name__: cls for cls in models}, **types}
    # One call for all, so that models shared by several types are defined once, and no two of one name collide.
    references, definitions = TypeAdapter.json_schemas(
        [(name, "validation", TypeAdapter(cls)) for name, cls in kinds.items()]
    )
    names = {name: reference["$ref"].removeprefix("#/$defs/") for (name, _), reference in references.items()}
    defs: dict[str, JsonSchema] = definitions["$defs"]
    allow_extensions(defs)
    case = defs.pop(names["TestCase"])
    envelope = defs[names["AssertionSpec"]]
    _add_rules(case, envelope, defs[names["Fixture"]], defs[names["Expected"]])
    _tie_params_to_type(envelope, types, names)
    head = json_schema(TestCase, name="test-case", title=_TEST_CASE_TITLE)
    schema = {**head, **case, "title": _TEST_CASE_TITLE, "$defs": defs}
    _drop_noise(schema)
    return schema


def _add_rules(case: JsonSchema, envelope: JsonSchema, fixture: JsonSchema, expected: JsonSchema) -> None:
    """What is checked in code, beyond the types of the models, as far as a schema can say it."""
    from agenteval.trace import CAPABILITY_FLAGS

    case["properties"]["assertions"]["minItems"] = 1
    envelope["properties"]["requires_capabilities"]["items"] = {"enum": list(CAPABILITY_FLAGS)}
    answers = ("file", "response", "error")
    given = {"not": {"type": "null"}}
    fixture["oneOf"] = [{"required": [name], "properties": {name: given}} for name in answers]
    expected["if"] = {"properties": {"status": {"const": "fail"}}, "required": ["status"]}
    expected["then"] = {
        "required": ["assertions", "reason"],
        "properties": {"assertions": {"minItems": 1}, "reason": {"type": "string", "pattern": "\\S"}},
    }
    expected["else"] = {"properties": {"assertions": {"maxItems": 0}, "reason": {"maxLength": 0}}}


def _tie_params_to_type(
    envelope: JsonSchema, types: Mapping[str, type[Assertion]], names: Mapping[str, str]
) -> None:
    """Editors complete from an if-then, and explain it better than a oneOf over all types."""
    from agenteval.reference.explanation import first_sentence

    envelope["properties"]["type"] |= {
        "enum": list(types),
        "enumDescriptions": [first_sentence(cls.__doc__ or "") for cls in types.values()],
    }
    envelope["allOf"] = [_when(cls, names[name]) for name, cls in types.items()]


def _when(cls: type[Assertion], definition: str) -> JsonSchema:
    then: JsonSchema = {"properties": {"params": {"$ref": f"#/$defs/{definition}"}}}
    if _required_parameters(cls):
        then["required"] = ["params"]
    return {"if": {"properties": {"type": {"const": cls.type}}, "required": ["type"]}, "then": then}


def _required_parameters(cls: type[Assertion]) -> list[str]:
    declared: Any = cls
    return [f.name for f in fields(declared) if f.default is MISSING and f.default_factory is MISSING]


def _all_present(schema: JsonSchema) -> JsonSchema:
    """What is written always has every field: nothing is left out for being empty."""
    for part in (schema, *schema.get("$defs", {}).values()):
        if "properties" in part:
            part["required"] = list(part["properties"])
    return schema


def _drop_noise(schema: Any) -> None:
    """Leave out what says nothing: titles that repeat a property's name, and defaults of null."""
    if isinstance(schema, dict):
        for part in schema.get("properties", {}).values():
            if isinstance(part, dict):
                part.pop("title", None)
                if part.get("default", ...) is None:
                    del part["default"]
        for value in schema.values():
            _drop_noise(value)
    elif isinstance(schema, list):
        for value in schema:
            _drop_noise(value)
