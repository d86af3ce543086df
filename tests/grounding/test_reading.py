"""Sources and claims as they are read, and what is kept of that."""

from dataclasses import replace
from functools import partial

from agenteval.grounding import reading as readings
from agenteval.grounding import statements, support
from agenteval.grounding.claims import LONGEST_KEPT, claims
from agenteval.grounding.effort import Effort
from agenteval.grounding.passages import Passages, Span, signs
from agenteval.grounding.reading import Reading, reading
from agenteval.grounding.sources import Source
from agenteval.grounding.statements import Statement, statement
from agenteval.grounding.support import Basis, supports


def test_what_a_source_holds() -> None:
    """Each kind of thing, over all texts of the source."""
    read = Reading(
        ["The Department of Energy met at a.example/x", "on 3 May 2026 with the GPT-4 team. It’s fine."]
    )
    assert (
        read.text
        == "The Department of Energy met at a.example/x\non 3 May 2026 with the GPT-4 team. It’s fine."
    )
    assert read.folded.endswith("gpt-4 team. it's fine.")
    assert read.streams[0] == " the department of energy met at a example x "
    assert read.link_keys == {"a.example/x"}
    assert [date.text for date in read.dates] == ["3 May 2026"]
    assert read.identifiers == {"gpt4"}
    assert read.initials == "tde"


def test_numbers_are_found_by_value() -> None:
    """With their scale or without, in separated groups, and as a tokenizer has taken them apart."""
    values, offsets = Reading(["Of 1,234 people 58bn, in 2 groups: 13, 000 paid 98. 7 each."]).numbers
    found = set(zip(values, offsets, strict=True))
    assert found >= {(1234, 3), (58, 16), (58e9, 16), (2, 25), (13, 35), (13_000, 35), (98, 48), (98.7, 48)}
    assert 77 not in values


def test_lower_case_keeps_places() -> None:
    """A capital whose small letter takes two characters stays as it is."""
    assert Reading(["İ Ten"]).lowered == "İ ten"


def test_a_source_is_read_once() -> None:
    """By its texts; a long one is read each time, so that memory stays bounded."""
    assert reading(["one", "two"]) is reading(["one", "two"])
    assert reading(["one", "two"]) is not reading(["one\ntwo"])
    long = "x" * readings.LONGEST_KEPT
    assert reading([long]) is reading([long])
    assert reading([long, "x"]) is not reading([long, "x"])


def test_the_claims_of_an_output_are_found_once() -> None:
    """Unless it is long."""
    assert claims("Lab A paid $5.") is claims("Lab A paid $5.")
    long = "Lab A paid $5. " * (LONGEST_KEPT // 15 + 1)
    assert claims(long) == claims(long)
    assert claims(long) is not claims(long)


def test_a_claim_is_read_once() -> None:
    """By its text, unless it is long."""
    assert statement("Lab A paid $5.") is statement("Lab A paid $5.")
    long = "x" * (statements.LONGEST_KEPT + 1)
    assert statement(long) is not statement(long)


def test_an_output_is_judged_once() -> None:
    """By its claims, what is asked, and what it may rest on, places included; unless that is long."""
    basis = partial(Basis, said=(Source("evt-1", ("Lab A?",)),))
    paid = Source("evt-2", ("Lab A paid $5.",), ((((), "data"), "result"),))
    stated = claims("Lab A paid $5.")
    first = supports(stated, basis(sources=(paid,)), ["numbers"])
    assert supports(stated, basis(sources=(replace(paid),)), ["numbers"]) is first
    assert first[0].span == Span("evt-2", "Lab A paid $5.", "/data/result")
    elsewhere = replace(paid, event_id="evt-3", paths=((((), "data"), "text"),))
    assert supports(stated, basis(sources=(elsewhere,)), ["numbers"])[0].span == Span(
        "evt-3", "Lab A paid $5.", "/data/text"
    )
    changed = replace(paid, texts=("Lab A paid $6.",))
    assert supports(stated, basis(sources=(changed,)), ["numbers"])[0].unsupported == ("$5",)
    assert supports(stated, basis(sources=(changed,)), ["names"])[0].unsupported == ()
    assert supports(claims("Lab A paid $7."), basis(sources=(paid,)), ["numbers"])[0].unsupported == ("$7",)
    assert supports(stated, Basis(sources=(changed,), called=(paid,)), ["numbers"])[0].unsupported == ("$5",)
    long = Basis(sources=(replace(paid, texts=("Lab A paid $5. " * (support.LONGEST_KEPT // 15 + 1),)),))
    assert supports(stated, long, ["numbers"]) == supports(stated, long, ["numbers"])
    assert supports(stated, long, ["numbers"]) is not supports(stated, long, ["numbers"])


def test_claims_of_the_same_words_have_one_judgement_each() -> None:
    """In the order of the output."""
    stated = claims("- Lab A paid $5.\n- Lab B paid $6.\n- Lab A paid $5.")
    judged = supports(stated, Basis(sources=(Source("evt-2", ("Lab A paid $5.",)),)), ["numbers"])
    assert [each.unsupported for each in judged] == [(), ("$6",), ()]
    assert judged[0] is judged[2]


def test_what_a_claim_states() -> None:
    """Links, dates, quantities and names are apart from each other; quotes are of the text as it is."""
    stated = Statement('On 3 May 2026 Anna Berg paid $5 for GPT-4 (https://a.example/7), "this is it".')
    assert [link.key for link in stated.links] == ["a.example/7"]
    assert [date.text for date in stated.dates] == ["3 May 2026"]
    assert [quantity.text for quantity in stated.quantities] == ["$5"]
    assert stated.identifiers == ["GPT-4"]
    assert [name.text for name in stated.names] == ["Anna Berg"]
    assert stated.quotes == {"this is it": [["this", "is", "it"]]}
    assert "5" in stated.words
    assert "5" not in stated.wording


def test_what_was_kept_costs_as_many_looks() -> None:
    """Whether an output is too large to be judged does not depend on what was judged before."""
    looks = []
    for _ in range(2):
        effort, given = Effort(), signs()
        passages = Passages([Source("e", ("The river is low. Boats wait at the old mill.",))], given, effort)
        passages.best(given.each(["river", "mill", "zebra"]))
        passages.best(given.each(["river", "boats"]))
        looks.append(effort.looks)
    assert looks == [looks[0]] * 2
    assert looks[0] > 0
