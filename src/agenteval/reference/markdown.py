"""docs/assertions.md, made from the classes: a test keeps the page and the classes equal."""

import re

from agenteval.reference.explanation import Explanation, Parameter, by_category

_WRAPPED_WIDTH = 100
_ITEM = re.compile(r"`\w+`:|\(\d\) ")
_REFERENCE_HEAD = """\
# Assertions

Every assertion type, with its parameters and an example. This page is made by `agenteval explain --markdown`
from the classes themselves; `agenteval explain TYPE` shows the same on the command line, with a whole test file.
"""


_PLUGINS_HEAD = """\
# Assertions of plugins

Every assertion type that the project's plugins bring, with its parameters and an example. This page is made by
`agenteval explain --markdown --plugins` from the classes themselves.
"""


def reference_markdown(explanations: list[Explanation], *, plugins: bool = False) -> str:
    """docs/assertions.md: every type, by category; or the same page about types of `plugins`."""
    groups = by_category(explanations)
    lines = [_PLUGINS_HEAD if plugins else _REFERENCE_HEAD, "| category | types |", "| --- | --- |"]
    for category, items in groups.items():
        lines.append(f"| {category} | {', '.join(f'[`{item.type}`](#{item.type})' for item in items)} |")
    for category, items in groups.items():
        lines += ["", f"## {category}"]
        for item in items:
            lines += _section(item)
    shapes = {shape.name: shape for items in groups.values() for item in items for shape in item.shapes}
    if shapes:
        lines += ["", "## Mappings inside parameters"]
        for shape in shapes.values():
            lines += ["", f"### {shape.name}", "", shape.description, "", *_markdown_table(shape.fields)]
    return "\n".join(lines) + "\n"


def _section(item: Explanation) -> list[str]:
    needs = ", ".join(f"`{flag}`" for flag in item.implied_capabilities) or "nothing"
    return [
        *("", f"### {item.type}", "", *markdown_prose(item.description), ""),
        f"Needs {needs}. Failure category: {item.failure_category}."
        + (f" From the plugin `{item.plugin}`." if item.plugin else ""),
        *("", *_markdown_table(item.parameters), "", "```yaml"),
        *(f"- id: {item.type.replace('_', '-')}", f"  type: {item.type}", "  params:"),
        *(f"    {line}" for line in (item.example or "{}").splitlines()),
        "```",
    ]


def markdown_prose(text: str) -> list[str]:
    """The lines of a docstring with its deliberate breaks kept: before items, and where the next word had room."""
    lines = text.splitlines()
    prose = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        room = len(line) + len(following.split(" ")[0]) < _WRAPPED_WIDTH and line.endswith((".", ":", ";"))
        broken = line and following and (room or _ITEM.match(following))
        prose.append(f"{line}\\" if broken else line)
    return prose


def _markdown_table(parameters: list[Parameter]) -> list[str]:
    if not parameters:
        return ["No parameters."]
    rows = [" | ".join(_cell(text) for text in (f"`{p.name}`", p.rule, p.description)) for p in parameters]
    return ["| parameter | value | meaning |", "| --- | --- | --- |", *(f"| {row} |" for row in rows)]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
