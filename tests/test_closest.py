"""Which known name is most likely meant by one that cannot be right."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.text.names import closest


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("min_cals", "min_calls"),
        ("min-calls", "min_calls"),
        ("MIN_CALLS", "min_calls"),
        ("tol", "tool"),
        ("argz", "args"),
        ("tool_name", "tool"),
        ("args_in_full", "args"),
        ("tool_cals", "tool_calls"),
        ("nothing", None),
        ("", None),
    ],
)
def test_closest(name: str, near: str | None) -> None:
    """A slip of the finger is recognised, and a word too many; another word is not."""
    assert closest(name, ["tool", "tool_calls", "min_calls", "args"]) == near


NAMES = st.text("abc_-AB", min_size=1, max_size=8)


@given(NAMES, st.lists(NAMES, max_size=4))
def test_closest_is_what_difflib_finds(name: str, known: list[str]) -> None:
    """The bound that saves its import excludes nothing that it would find; the first words of a name come before what
    is less close."""
    from difflib import get_close_matches

    plain = name.casefold().replace("-", "_")
    folded = {item.casefold().replace("-", "_"): item for item in known}
    begins = sorted((item for item in folded if plain.startswith(f"{item}_")), key=len)[-1:]
    found = get_close_matches(plain, list(folded), n=1, cutoff=0.8 if begins else 0.65) or begins
    assert closest(name, known) == (folded[found[0]] if found else None)
