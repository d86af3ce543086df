"""The page about mutation testing tells what the classes say."""

from agenteval.operators.catalogue import OPERATORS
from agenteval.operators.equivalence import RULES
from pages import DOCS, text_of

PAGE = DOCS / "mutation.md"


def told(thing: object) -> str:
    """A docstring on one line."""
    return " ".join((thing.__doc__ or "").split())


def test_every_operator_is_on_the_page() -> None:
    """Name, category, what is changed and what it stands for: in the order of the catalogue, and no other."""
    rows = [f"| `{each.name}` | {each.category} | {told(each)} | {each.stands_for} |" for each in OPERATORS]
    assert "\n".join(["| --- | --- | --- | --- |", *rows, "", ""]) in text_of(PAGE)


def test_every_rule_is_on_the_page() -> None:
    """Name and reason of each rule, and no other."""
    rows = [f"| `{name}` | {told(rule)} |" for name, (_, rule) in RULES.items()]
    assert "\n".join(["| --- | --- |", *rows, "", ""]) in text_of(PAGE)
