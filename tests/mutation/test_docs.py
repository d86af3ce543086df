"""The page about mutation testing tells what the classes say."""

from agenteval.operators.catalogue import OPERATORS
from agenteval.operators.equivalence import RULES
from pages import DOCS, text_of

PAGE = DOCS / "mutation.md"


def test_every_operator_is_on_the_page() -> None:
    """Below its category, in the order of the catalogue, and no other."""
    names: dict[str, list[str]] = {}
    for each in OPERATORS:
        names.setdefault(each.category, []).append(f"`{each.name}`")
    rows = [f"| {category} | {', '.join(of)} |" for category, of in names.items()]
    assert "\n".join(["| category | operators |", "| --- | --- |", *rows, "", ""]) in text_of(PAGE)


def test_every_rule_is_on_the_page() -> None:
    """Name and reason of each rule, and no other."""
    rows = [f"| `{name}` | {' '.join((rule.__doc__ or '').split())} |" for name, (_, rule) in RULES.items()]
    assert "\n".join(["| --- | --- |", *rows, "", ""]) in text_of(PAGE)
