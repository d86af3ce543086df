"""The text of a drafted test: YAML as a person would write it, with the reasons as comments."""

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Any

from agenteval.drafting.suggestions import Suggestion

WIDTH = 110
DECIDE = "decide"
"""What begins a comment on something that a person has to settle."""


def document(
    spec: dict[str, Any],
    assertions: Sequence[Suggestion],
    *,
    header: str = "",
    heading: Sequence[str] = (),
    closing: Sequence[str] = (),
) -> str:
    """The test file: `spec` without its assertions, and the assertions, each under the reason for it.

    `header` is the line for editors; `heading` and `closing` are comments, a paragraph each.
    """
    lines = [header] if header else []
    lines += [line for paragraph in heading for line in comment(paragraph)]
    for key, value in spec.items():
        if key == "expected":
            continue
        if key == "title":
            lines += comment(f"{DECIDE}: say in one line what this test is for")
        if key in ("scenario", "tools", "adapter_input"):
            lines.append("")
        lines += dumped({key: value})
    lines += ["", "assertions:"]
    for each in assertions:
        lines += [f"  {line}" for line in _assertion(each)]
    if "expected" in spec:
        lines += ["", *dumped({"expected": spec["expected"]})]
    if closing:
        lines.append("")
        lines += [line for paragraph in closing for line in comment(paragraph)]
    return "\n".join(lines) + "\n"


def _assertion(suggestion: Suggestion) -> Iterator[str]:
    yield from comment(suggestion.why, WIDTH - 2)
    if suggestion.decide:
        yield from comment(f"{DECIDE}: {suggestion.decide}", WIDTH - 2)
    yield from dumped([suggestion.as_data()])


def comment(text: str, width: int = WIDTH) -> list[str]:
    """A text as comment lines."""
    flat = " ".join(text.split())
    return [f"# {line}" for line in wrap(flat, width - 2, break_long_words=False, break_on_hyphens=False)]


def dumped(data: Any) -> list[str]:
    """Data as lines of YAML: in the order given, texts of several lines as blocks."""
    import yaml

    from agenteval.reading.yamlscalars import FOLDED

    class Dumper(yaml.SafeDumper):
        """Lists under a key are indented, and texts of several lines keep them."""

        def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002 - its name
            super().increase_indent(flow, indentless=False)

        def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - its name
            return True

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        style = "|" if "\n" in value else '"' if value[:1].isdigit() else None
        if not FOLDED.isdisjoint(value):
            style = '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    written = yaml.dump(data, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=WIDTH)
    return written.rstrip("\n").split("\n")
