"""A complete test.yaml around the example of an assertion type, for `agenteval explain`."""

import json
from collections.abc import Iterator
from pathlib import Path
from string import Template
from textwrap import indent
from typing import Any

from agenteval.assertions.base import Assertion
from agenteval.assertions.looks import EXEMPT, LOOKED_AT, names_in
from agenteval.patterns import is_glob
from agenteval.strict import parse

_TEMPLATE = Path(__file__).parents[1] / "templates" / "example.yaml"

_GROUP, _OTHER_GROUP = "family", "work"


def example_spec(cls: type[Assertion]) -> str:
    """A minimal valid test.yaml with one assertion of the type, whose parameters are the class's example."""
    import yaml

    params = yaml.safe_load(cls.example) or {}
    tools = dict.fromkeys(_tools(parse(cls, params))) or ("web_search",)
    text = Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(
        area=cls.category.replace("_", "-"),
        slug=cls.type.replace("_", "-"),
        type=cls.type,
        scenario=indent("\n".join(_scenario(cls, params)), "  "),
        tools=", ".join(map(_quoted, tools)),
        params=indent(cls.example.strip("\n") if params else "{}", "      "),
    )
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def _quoted(text: str) -> str:
    """A text as a YAML flow scalar: bare when that is safe."""
    import yaml

    bare = text.isidentifier() and not isinstance(yaml.safe_load(text), bool)
    return text if bare else json.dumps(text)


def _tools(check: Assertion) -> Iterator[str]:
    """The tools that parameters name, defaults included; globs are not names."""
    for _, parameter, name in names_in(check):
        if parameter in LOOKED_AT | EXEMPT and not is_glob(name):
            yield name


def _scenario(cls: type[Assertion], params: dict[str, Any]) -> Iterator[str]:
    group = params.get("group_id") or params.get("current_group_id") or _GROUP
    scheduled = "supports_scheduler_context" in cls.implied or cls.category == "scheduler"
    yield f"group_id: {_quoted(str(group))}"
    yield f"trigger: {'scheduler' if scheduled else 'user_message'}"
    yield "input_messages:"
    yield "  - role: user"
    yield f"    content: {'Send the daily digest.' if scheduled else 'What is new in AI today?'}"
    if scheduled:
        yield "scheduler_context:"
        yield f"  task_id: {json.dumps(str(params.get('task_id') or 'daily-digest'))}"
        yield '  scheduled_for: "2026-01-05T08:00:00Z"'
        yield "  timezone: UTC"
    if cls.category == "memory":
        fact = params.get("expected_memory_fact") or params.get("old_value") or "Prefers short answers."
        yield "memory_snapshot:"
        yield from _memory(str(group), str(fact))
    if cls.category == "isolation":
        others = params.get("forbidden_group_ids") or [_OTHER_GROUP]
        yield "other_group_state:"
        for other in others:
            yield f"  - group_id: {_quoted(str(other))}"
            yield "    memory_snapshot:"
            yield from (f"    {line}" for line in _memory(str(other), "The budget review is on Friday."))


def _memory(group: str, content: str) -> Iterator[str]:
    yield f"  - group_id: {_quoted(group)}"
    yield "    source: CLAUDE.md"
    yield "    path: CLAUDE.md"
    yield f"    content: {json.dumps(content, ensure_ascii=False)}"
