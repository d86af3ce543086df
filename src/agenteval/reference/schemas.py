"""The JSON Schemas of everything that is read or written, generated from the models (SPEC 13, 16, 17).

`schemas/` holds them as files, for editors and other programs; a test keeps the two equal. Adapters add the
schemas of what they read through their attribute `input_schemas`.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agenteval.errors import AdapterError, UsageError
from agenteval.misspelling import closest
from agenteval.plugins.contract import input_models
from agenteval.plugins.registry import BUILT_IN, Registry
from agenteval.reading.documents import read_bytes
from agenteval.reference.case_schema import TITLE as CASE_TITLE
from agenteval.reference.case_schema import case_schema, tell_rules
from agenteval.reference.explanation import JsonSchema

_HEAD = ("$schema", "$id", "title", "description", "type", "properties", "required")
"""The keys that come first; definitions come last."""

SHIPPED: tuple[str, ...] = (
    *("test-case", "config", "replay", "trace", "result", "summary"),
    *("baseline", "comparison"),
    *("agent-eval-suite", "eval-summary", "eval-events"),
)
"""The schemas that `schemas/` holds."""


CONFIG_TITLE = "AgentEval configuration (agenteval.yaml)"


class Entry(NamedTuple):
    """One schema: its name, its title, and what makes it."""

    name: str
    title: str
    build: Callable[[], JsonSchema]


def schema_entries(registry: Registry) -> Iterator[Entry]:
    """All schemas, those of the registry's adapters last; adapters that do not load are passed over."""
    core = _core_entries(registry)
    yield from core
    yield from _adapter_entries(registry, {entry.name for entry in core})


def schema_text(name: str, registry: Registry = BUILT_IN) -> str:
    """The schema as the file says it: the same bytes every time. Raises `UsageError` (`usage.unknown_schema`).

    The files of `schemas/` describe what comes with agenteval; with another registry `test-case` also has the assertion
    types of its plugins.
    """
    schema = build_schema(name, registry)
    head = {key: schema[key] for key in _HEAD if key in schema}
    ordered = {
        **head,
        **{key: schema[key] for key in schema if key != "$defs"},
        "$defs": schema.get("$defs", {}),
    }
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
                next_step="name a writable folder with --dir",
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
        return read_bytes(path).decode()
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
    from agenteval.settings import Config
    from agenteval.trace import Trace

    return [
        Entry("test-case", CASE_TITLE, lambda: _tidied(case_schema(registry))),
        Entry("config", CONFIG_TITLE, lambda: _tidied(_told(_declared(Config, "config", CONFIG_TITLE)))),
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
    return Entry(name, title, lambda: _all_present(_schema(cls, name, title, extensible=False)))


def _adapter_entries(registry: Registry, taken: set[str]) -> Iterator[Entry]:
    for adapter in registry.adapter_names():
        try:
            models = input_models(registry.find_adapter(adapter), "input_schemas")
        except AdapterError:  # `agenteval doctor` says why
            continue
        for given, cls in models.items():
            name = f"{adapter}-{given}" if given in taken else given
            taken.add(name)
            yield _entry(cls, name, f"AgentEval {given} file of the {adapter} adapter")


def _schema(cls: Any, name: str, title: str, *, extensible: bool = True) -> JsonSchema:
    schema: JsonSchema = _tidied(_declared(cls, name, title, extensible=extensible))
    return schema


def _declared(cls: Any, name: str, title: str, *, extensible: bool = True) -> JsonSchema:
    from agenteval.diagnosis import json_schema

    return json_schema(cls, name=name, title=title, extensible=extensible)


def _told(schema: JsonSchema) -> JsonSchema:
    """The schema of a file that people write, with what editors show of each key."""
    defs = schema.get("$defs", {})
    for part in (schema, *defs.values()):
        tell_rules(part, defs, {})
    return schema


def _all_present(schema: JsonSchema) -> JsonSchema:
    """The schema of an output, which always has all its fields and no other: empty ones are not left out."""
    for part in (schema, *schema.get("$defs", {}).values()):
        if "properties" in part:
            part |= {"required": list(part["properties"]), "additionalProperties": False}
    return schema


def _tidied(schema: Any) -> Any:
    """The schema made easier for readers, editors and code generators; it accepts the same.

    It loses titles that repeat a property's name, defaults of null, references to the specification, and
    `discriminator`, which is no keyword of JSON Schema. An `anyOf` of different types becomes one schema.
    """
    if isinstance(schema, list):
        return [_tidied(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    tidied = {key: _tidied_part(key, part) for key, part in _united(schema).items() if key != "discriminator"}
    for part in tidied.get("properties", {}).values():
        if isinstance(part, dict):
            part.pop("title", None)
            if part.get("default", ...) is None:
                del part["default"]
    for key in tidied.keys() & {"description", "markdownDescription"}:
        tidied[key] = re.sub(r" \(SPEC \d+\)", "", tidied[key])
    return tidied


def _tidied_part(keyword: str, part: Any) -> Any:
    if keyword in ("examples", "default", "const", "enum"):
        return part  # data
    if keyword in ("properties", "patternProperties", "$defs"):
        return {name: _tidied(schema) for name, schema in part.items()}
    return _tidied(part)


def _united(schema: JsonSchema) -> JsonSchema:
    """With `type: [string, null]` instead of an anyOf of the two, which editors would show twice."""
    members = schema.get("anyOf", [])
    kinds = [member.get("type") for member in members]
    alike = len(set(kinds)) < len(kinds) or not all(isinstance(kind, str) for kind in kinds)
    choices = any("const" in member or "enum" in member for member in members)
    if len(kinds) < 2 or alike or (choices and kinds != ["string", "null"]):
        return dict(schema)
    united = {key: value for key, value in schema.items() if key != "anyOf"}
    for member in members:
        united |= member
    if choices:
        united["enum"] = [*(united.get("enum") or [united.pop("const")]), None]
    return {**united, "type": kinds}
