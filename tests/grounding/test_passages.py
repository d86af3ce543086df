"""Sources as passages: the best sentences, where they stand, and numbers in the place of others."""

import pytest

from agenteval.grounding.effort import Effort
from agenteval.grounding.passages import Passages, Span, signs
from agenteval.grounding.sources import Source
from agenteval.language.signs import END, Signs


def passages(*texts: str) -> Passages:
    """One source per text, called evt-1, evt-2 and so on."""
    sources = [
        Source(f"evt-{number}", (text,), ((((), "data"), "result"),)) for number, text in enumerate(texts, 1)
    ]
    return Passages(sources, signs(), Effort())


def best(known: Passages, *words: str, joined: bool = True) -> tuple[int, Span] | None:
    """How many of the words the best passage has, and the passage."""
    found = known.best(signs().each(words), joined=joined)
    return (len(found.words), known.span(found)) if found else None


def test_the_first_of_the_best_passages() -> None:
    """The sentence with most words wins, the first of equals, with the next one when that adds to it."""
    known = passages(
        "The river is low.", "Boats wait. The river is high. Nobody sails.", "The river is high."
    )
    assert best(known, "river", "high") == (2, Span("evt-2", "The river is high.", "/data/result"))
    assert best(known, "river") == (1, Span("evt-1", "The river is low.", "/data/result"))
    assert best(known, "boat", "river") == (
        2,
        Span("evt-2", "Boats wait. The river is high.", "/data/result"),
    )
    assert best(known, "boat", "river", joined=False) == (
        1,
        Span("evt-1", "The river is low.", "/data/result"),
    )
    assert best(known, "absent") is None


def test_a_passage_ends_with_its_source() -> None:
    """The last sentence of one source and the first of the next are no passage."""
    assert best(passages("Boats wait.", "The river is high."), "boat", "river") == (
        1,
        Span("evt-1", "Boats wait.", "/data/result"),
    )


@pytest.mark.parametrize(
    ("before", "number", "after", "displaced"),
    [
        ("about", "50", "miles", True),
        ("about", "40", "miles", False),
        ("about", "50", "boats", False),
        ("rose", "1234", "times", False),
        ("a crew of", "9", "", True),
        ("", "8", "boats sail", True),
        ("", "8", "miles sail", False),
    ],
)
def test_a_number_in_the_place_of_another(before: str, number: str, after: str, displaced: bool) -> None:
    """The words on either side, or two on one side, are those of another number."""
    known = passages("It is about 40 miles. Then 7 boats sail with a crew of 12. It rose 1,234 times.")
    rows = (before.split(), number.split(), after.split())
    one, number, two = (signs().all(row) for row in rows)
    assert known.displaces(one[-2:] if not two else one[-1:], number, two) is displaced


def test_signs_are_given_anew_when_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long run does not keep every word that it ever read."""
    first = signs()
    assert signs() is first
    for limit in ("MOST_WORDS", "MOST_CHARACTERS"):
        with monkeypatch.context() as patch:
            first.all(["word"])
            patch.setattr(f"agenteval.language.signs.{limit}", 0)
            assert signs() is not first
        first = signs()


def test_more_words_than_signs() -> None:
    """Signs go on past the surrogates."""
    given = Signs()
    found = given.all(f"w{number}" for number in range(60_000))
    assert len(set(found)) == 60_000
    assert END not in found
    found.encode()


def test_of_passages_with_as_many_words_the_one_with_the_numbers_is_best() -> None:
    """It is what a short claim is about; words go before numbers."""
    known = passages("The river rose 12 cm. Profits fell 3 percent to 12 million. Rain fell.")

    def found(wanted: list[str], numbers: list[str]) -> tuple[int, str] | None:
        read = known.best(signs().each(wanted), list(signs().all(numbers)), joined=False)
        return (len(read.words), known.span(read).text) if read else None

    assert found(["profits", "rose"], ["12"]) == (1, "The river rose 12 cm.")
    assert found(["profits", "rose"], ["3", "12"]) == (1, "Profits fell 3 percent to 12 million.")
    assert found(["profits", "river", "rose"], ["3", "12"]) == (2, "The river rose 12 cm.")
    assert found([], ["3"]) == (0, "Profits fell 3 percent to 12 million.")
    assert found(["boats"], ["7"]) is None
