"""The sources of an output: what they have, and where."""

import pytest

from agenteval.contracts.errors import AssertionCrashError
from agenteval.grounding import corpus as module
from agenteval.grounding.corpus import Corpus, Said, squash
from agenteval.grounding.links import links
from agenteval.grounding.sources import Source
from agenteval.grounding.stems import row


def corpus(*values: object) -> Corpus:
    """Sources with these values."""
    return Corpus([Source(f"evt-{number}", value) for number, value in enumerate(values)])


def test_words_and_where_they_stand() -> None:
    """By their stems; a row does not go on from sentence to sentence."""
    found = corpus("Lab A released model X. It rains.", "The labs closed.")
    assert found.having("lab") == [0, 2]
    assert (found.has("releas"), found.has("the"), found.has("snow")) == (True, False, False)
    assert found.has_row(row("release model"))
    assert not found.has_row(row("X it"))


def test_what_is_around_a_passage() -> None:
    """The sentences within 250 characters of it in its source, and the objects that it is in."""
    found = corpus("One. Two. X" + "x" * 300 + ". Four.", "Five.")
    assert found.around(0) == [0, 1, 2]
    assert found.around(4) == [4]
    nested = corpus({"plan": "enterprise", "notes": ["A text of nine words is what this is here."]})
    assert nested.around(1) == [1, 0]


def test_the_nearest_passage() -> None:
    """The first with most of the words, by weight."""
    found = corpus("Ada swims. Ben runs fast. Ada runs.", {"name": "Ada", "sport": "swims runs fast"})
    assert found.best({"ada": 1.0, "swim": 1.0}) == 0
    assert found.best({"ada": 1.0, "swim": 1.0, "fast": 1.0}) == 3
    assert found.best({"snow": 1.0}) is None


def test_facts_are_read_when_they_are_asked_for() -> None:
    """And kept. Two times of a line tell how long it takes; what no digit or number word has is not read."""
    found = corpus("Open 11:00-12:30 on 3 May. It rains. Seven came.")
    assert found.stating == [0, 2]
    assert [number.text for number in found.numbers(0)] == ["11:00", "12:30", "11:00-12:30"]
    assert found.numbers(0)[-1].values == {5400, 48600}
    assert found.numbers(0) is found.numbers(0)
    assert [date.text for date in found.every_date] == ["3 May"]


def test_days_of_the_week() -> None:
    """Those that are named, in any language, or have a date on them; a span tells of all."""
    assert corpus("Lundi, on 2026-11-21").weekdays == {"monday", "saturday"}
    assert len(corpus("abre de martes a domingo").weekdays) == 7
    assert corpus("Tuesday it rains. Sunday is calm").weekdays == {"tuesday", "sunday"}


def test_what_can_be_counted() -> None:
    """The objects of a list, those that have the same in a field, and values of a list."""
    found = corpus(
        {
            "jobs": [{"ok": True, "by": "Ada"}, {"ok": True, "by": "Ben"}, {"ok": False, "by": "Ada"}],
            "tags": list("abcde"),
        }
    )
    assert {3, 2, 1, 5} <= found.counts
    assert not {4, 7} & found.counts


def test_names_initials_and_references() -> None:
    """In another form too."""
    found = corpus(
        "Advanced Micro Devices is at https://a.example/x?b=2&a=1.",
        {"pull_requests": [{"n": "x"}, {"n": "y"}]},
    )
    assert {"amd", "pr"} <= found.initials
    [known, other] = links("http://www.a.example/x?a=1&b=2 https://a.example/y")
    assert found.has_link(known)
    assert not found.has_link(other)
    assert squash("GPT-4 (v1.2)") == "gpt4v12"


def test_what_the_user_said() -> None:
    """Facts of it, and references in the arguments of calls."""
    said = Said([Source("e", "The picnic in Oslo is at 9 on May 5.")], [Source("c", ["https://a.example/x"])])
    assert [number.text for number in said.numbers] == ["9"]
    assert [date.text for date in said.dates] == ["May 5"]
    assert "oslo" in said.words
    assert said.links == {"a.example/x"}


def test_too_many_looks_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exactly the limit is not too many."""
    monkeypatch.setattr(module, "MOST_LOOKS", 10)
    found = corpus("One.")
    found.look(10)
    with pytest.raises(AssertionCrashError) as caught:
        found.look(1)
    assert caught.value.message == (
        "the output and its sources are too large to be compared: more than 10 places in the sources could support its claims"
    )
    assert caught.value.reason_code == "assertion.too_large"
    assert (
        caught.value.next_step == "name fewer tools in allowed_sources, or record a run with a shorter output"
    )
