"""What is wrong with a claim, marked in it."""

import pytest

from agenteval.grounding.marking import marked


@pytest.mark.parametrize(
    ("text", "parts", "found"),
    [
        ("It rose 43% to $5.", ["43%"], "It rose >>43%<< to $5."),
        ("It rose 43% to $5.", ["$5", "43%"], "It rose >>43%<< to >>$5<<."),
        ("Both stories broke.", ["stories", "broke"], "Both >>stories broke<<."),
        ("A cart and a car.", ["car"], "A cart and a >>car<<."),
        ("Say “never give up”.", ['"never give up"'], "Say “>>never give up<<”."),
        ("Beta, Inc. bought Alpha.", ["Beta bought Alpha"], ">>Beta, Inc. bought Alpha<<."),
        ("Nothing is wrong.", ["absent"], "Nothing is wrong."),
        ("Line\nbreaks go.", ["go"], "Line breaks >>go<<."),
    ],
)
def test_marks(text: str, parts: list[str], found: str) -> None:
    """Each part once, those side by side together."""
    assert marked(text, parts, 100) == found


def test_a_long_claim_is_cut_around_the_first_mark() -> None:
    """With an ellipsis on either side."""
    text = " ".join(["before"] * 30 + ["wrong"] + ["after"] * 30)
    cut = marked(text, ["wrong"], 60)
    assert cut.startswith("… before ")
    assert ">>wrong<<" in cut
    assert cut.endswith(" after …")
    assert len(cut) <= 64
