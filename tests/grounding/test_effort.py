"""How much reading one output may cost."""

from typing import Any

import pytest

from agenteval.assertions.base import Verdict
from agenteval.errors import AssertionCrashError
from agenteval.grounding import effort
from agenteval.grounding.effort import Effort
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from builders import call, judge, make_trace, result


def supported(output: str, *results: Any) -> Verdict:
    """What the check says of an output that rests on the results of searches."""
    steps = [step for value in results for step in (call("web_search"), result("web_search", value=value))]
    return judge("claims_supported_by_fixtures", {}, make_trace(*steps, output=output))


def test_looks_are_counted() -> None:
    """One by one, by number, and as things are looked at that had to be found first."""
    spent = Effort()
    spent.spend()
    spent.spend(5)
    assert list(spent.spent_on("ab")) == ["a", "b"]
    assert spent.looks == 1 + 5 + 2 * effort.FOUND


def test_too_many_looks_are_an_error() -> None:
    """Exactly the limit is not too many."""
    spent = Effort()
    spent.spend(3_000_000)
    with pytest.raises(AssertionCrashError) as caught:
        spent.spend()
    assert caught.value.message == (
        "the output and its sources are too large to be compared: more than 3,000,000 places in the sources could "
        "support one of its claims"
    )
    assert caught.value.reason_code == "assertion.too_large"
    assert caught.value.next_step == (
        "name fewer tools in allowed_sources, or record a run with a shorter output"
    )


@pytest.mark.parametrize(
    "unit",
    [
        "- Anna Berg met 17 people on 3 May 2026 at a.example/{n}.\n",
        "- GPT-{n} costs $ {n}7.50, said Lab {n}.\n",
        '- The "report of week {n}" is at https://a.example/{n}?x={n}.\n',
    ],
)
def test_very_many_claims_on_very_many_sources_end(monkeypatch: pytest.MonkeyPatch, unit: str) -> None:
    """In an error, whatever the claims consist of."""
    monkeypatch.setattr(effort, "MOST_LOOKS", 10_000)
    output = "".join(unit.format(n=number) for number in range(1000))
    with pytest.raises(AssertionCrashError, match="too large to be compared"):
        supported(output, *(unit.format(n=number) for number in range(1000)), output)


@pytest.mark.parametrize(
    "unit",
    [
        "The meeting of Anna Berg is on 3 May 2026 at 14:30, costs $17.50, and is in Bremen. ",
        "arXiv:2401.00001 and 10.1234/abc ",
        "192.168.0.1 ",
        '"the same words again" ',
        "- GPT-5 is out.\n",
    ],
)
def test_an_output_that_repeats_itself_is_cheap(monkeypatch: pytest.MonkeyPatch, unit: str) -> None:
    """As that of a model which is caught in a loop: what was judged once is not judged again."""
    monkeypatch.setattr(effort, "MOST_LOOKS", 50_000)
    assert supported(unit * 1000, unit * 500).passed


def test_what_was_read_for_other_tests_makes_no_difference() -> None:
    """A word that only texts before had costs as much as one that no text had: a verdict depends on its own test."""

    def spent(word: str) -> int:
        sources = SourceText([json_source("e", "The pool opens at 9.")])
        assert not sources.has_any([word, f"{word}x"])
        return sources.passages._effort.looks

    before = spent("zanzibarium")
    assert SourceText([json_source("e", "A zanzibarium is rare.")]).has_any(["zanzibarium"])
    assert spent("zanzibarium") == before
