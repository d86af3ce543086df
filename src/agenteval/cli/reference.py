"""`agenteval explain` and `schema`: show the assertion types and the JSON Schemas of files, both made from the classes."""

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from agenteval.cli.options import argument, option, reject_combination
from agenteval.contracts.errors import ExitCode

if TYPE_CHECKING:
    from agenteval.plugins.registry import Registry
    from agenteval.reference.explanation import Explanation, Parameter


_WIDTH = 100
_LONGEST = 120
"""The longest line of a docstring that is not wrapped anew."""


def explain_types(
    name: Annotated[
        str | None, argument("[TYPE]", "An assertion type; if omitted, all types are listed.")
    ] = None,
    as_json: Annotated[bool, option("--json", "Print as JSON.")] = False,
    markdown: Annotated[
        bool, option("--markdown", "Print the whole reference as Markdown (docs/assertions.md).")
    ] = False,
    plugins: Annotated[bool, option("--plugins", "Only types from plugins.")] = False,
) -> ExitCode:
    """List the assertion types, or show one with its parameters, its rules and an example to paste.

    The explanation of a type is a valid test file: every line of prose is a YAML comment.

    Exit codes: 0 shown, 2 there is no such type.
    """
    if markdown:
        reject_combination("--markdown", {"--json": as_json, "TYPE": name})
    if plugins:
        reject_combination("--plugins", {"TYPE": name})
    from agenteval.reporters.terminal import Terminal, write
    from agenteval.text.fitting import visible, visible_in_json

    room = Terminal(sys.stdout).room
    with redirect_stdout(sys.stderr):  # a plugin may print
        registry = _registry(name, built_in=markdown and not plugins)
        if name is None:
            text = _all(registry, room, as_json=as_json, markdown=markdown, plugins=plugins)
        else:
            text = _one(name, registry, room, as_json=as_json)
    write(sys.stdout, visible_in_json(text) if as_json else visible(text))
    return ExitCode.PASSED


def _registry(name: str | None, *, built_in: bool) -> "Registry":
    """Return the registry of the types; the project's plugins are loaded only if they can be meant."""
    from agenteval.assertions import assertion_class
    from agenteval.loading.project import project_registry
    from agenteval.plugins.registry import BUILT_IN

    if built_in or (name is not None and assertion_class(name) is not None):
        return BUILT_IN
    return project_registry()


def _all(registry: "Registry", room: int, *, as_json: bool, markdown: bool, plugins: bool) -> str:
    from agenteval.plugins.registry import warnings_about
    from agenteval.reference.explanation import explain_all, reference_markdown
    from agenteval.reporters.problems import print_problems

    print_problems(warnings_about(registry.plugins()))
    everything = [item for item in explain_all(registry) if item.plugin or not plugins]
    if markdown:
        return reference_markdown(everything)
    return _json([item.as_json() for item in everything]) if as_json else _catalogue(everything, room)


def _one(name: str, registry: "Registry", room: int, *, as_json: bool) -> str:
    from agenteval.reference.explanation import explain

    explanation = explain(name, registry)
    example = _example(name, registry)
    if as_json:
        return _json({**explanation.as_json(), "example_test": example})
    prose = _lines(explanation, room - len("# "))
    return "".join(f"# {line}".rstrip() + "\n" for line in prose) + "\n" + example


def _json(data: Any) -> str:
    import json

    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _example(name: str, registry: "Registry") -> str:
    from agenteval.reference.explanation import example_spec

    cls = registry.assertion_class(name)
    assert cls is not None, name
    return example_spec(cls)


def _catalogue(explanations: "list[Explanation]", room: int) -> str:
    from agenteval.reference.explanation import by_category

    if not explanations:
        return "no plugin provides an assertion type\n"
    width = max(len(item.type) for item in explanations)
    lines = []
    for category, items in by_category(explanations).items():
        lines.append(category)
        for item in items:
            origin = f" ({item.plugin})" if item.plugin else ""
            lines += _wrapped(f"  {item.type:<{width}}  {item.summary}{origin}", " " * (width + 4), room)
        lines.append("")
    lines.append("agenteval explain TYPE shows one, with an example to paste")
    return "\n".join(lines) + "\n"


def _lines(explanation: "Explanation", room: int) -> list[str]:
    """List all lines about a type."""
    width = min(room, _WIDTH)
    needs = ", ".join(explanation.implied_capabilities) or "nothing"
    lines = [explanation.type, ""]
    for line in explanation.description.splitlines():
        lines += [line] if len(line) <= min(room, _LONGEST) else _wrapped(line, "", width)
    lines.append("")
    lines += [
        f"category:          {explanation.category}",
        f"failure category:  {explanation.failure_category}",
        f"default severity:  {explanation.default_severity}",
        f"needs:             {needs}",
        *([f"plugin:            {explanation.plugin}"] if explanation.plugin else []),
        "",
        "parameters:" if explanation.parameters else "parameters: none",
        *_table(explanation.parameters, width),
    ]
    for shape in explanation.shapes:
        lines += [
            "",
            *_wrapped(f"{shape.name}: {shape.description}", "", width),
            *_table(shape.fields, width),
        ]
    return [*lines, "", "A complete test file:"]


def _table(parameters: "list[Parameter]", width: int) -> list[str]:
    longest = max((len(parameter.name) for parameter in parameters), default=0)
    indent = " " * (longest + 4)
    lines = []
    for parameter in parameters:
        lines += _wrapped(f"  {parameter.name:<{longest}}  {parameter.rule}", indent, width)
        lines += _wrapped(indent + parameter.description, indent, width)
    return lines


def _wrapped(text: str, indent: str, width: int) -> list[str]:
    from textwrap import wrap

    return wrap(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def schema(
    name: Annotated[
        str | None, argument("[NAME]", "The schema to print; if omitted, all names are listed.")
    ] = None,
    write: Annotated[bool, option("--write", "Update the files in schemas/.")] = False,
    check: Annotated[bool, option("--check", "Exit 1 if a file in schemas/ is out of date.")] = False,
    folder: Annotated[
        Path | None,
        option("--dir DIR", "The directory of the schema files.", show_default="schemas/ of the project"),
    ] = None,
) -> ExitCode:
    """Print a JSON Schema, generated from the models.

    Editors check and complete test files with the schema `test-case`.

    Exit codes: 0 done, 1 --check found a file that is out of date, 2 there is no such schema.
    """
    if write or check:
        reject_combination("--write" if write else "--check", {"NAME": name, "--check": write and check})
        where = folder or _default_folder()
        return _write_schemas(where) if write else _check_schemas(where)
    if name:
        _print_schema(name)
    else:
        _say(*_names())
    return ExitCode.PASSED


def _default_folder() -> Path:
    from agenteval.loading.config import checkout_of, project_root
    from agenteval.reading.documents import keep_inside

    root = project_root()
    keep_inside(checkout_of(root))
    return root / "schemas"


def _names() -> list[str]:
    from agenteval.loading.project import project_registry
    from agenteval.reference.schemas import schema_entries

    entries = list(schema_entries(project_registry()))
    width = max(len(entry.name) for entry in entries)
    return [f"{entry.name:<{width}}  {entry.title}" for entry in entries]


def _print_schema(name: str) -> None:
    from agenteval.loading.project import project_registry
    from agenteval.plugins.registry import warnings_about
    from agenteval.reference.schemas import schema_text
    from agenteval.reporters.problems import print_problems
    from agenteval.reporters.terminal import write_encoded

    with redirect_stdout(sys.stderr):  # a plugin may print
        registry = project_registry()
        print_problems(warnings_about(registry.plugins()))
        text = schema_text(name, registry)
    write_encoded(sys.stdout, text)


def _say(*lines: str) -> None:
    from agenteval.reporters.terminal import Terminal

    terminal = Terminal(sys.stdout)
    for line in lines:
        terminal.emit(line)


def _write_schemas(folder: Path) -> ExitCode:
    from agenteval.reference.schemas import SHIPPED, schema_path, write_schemas

    written = write_schemas(folder)
    for name in SHIPPED:
        path = schema_path(folder, name)
        _say(f"{'written' if path in written else 'kept   '}  {path}")
    return ExitCode.PASSED


def _check_schemas(folder: Path) -> ExitCode:
    from agenteval.reference.schemas import SHIPPED, drifted, schema_path

    names = drifted(folder)
    for name in names:
        path = schema_path(folder, name)
        state = "does not match the models" if path.exists() else "is missing"
        _say(f"{path} {state}")
    if names:
        _say("next: run `agenteval schema --write` and commit the result")
        return ExitCode.FAILED
    _say(f"{len(SHIPPED)} schemas in {folder} are up to date")
    return ExitCode.PASSED
