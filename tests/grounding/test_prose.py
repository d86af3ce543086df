"""Negations, opposites, exchanged names, and what stands in the place of something else."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.grounding.corpus import Corpus
from agenteval.grounding.facts import Facts
from agenteval.grounding.prose import against_prose, denied, denies, opposites
from agenteval.grounding.sources import Source
from agenteval.grounding.stems import stem_of


def against(claim: str, passage: str) -> list[str]:
    """What the claim says against the passage."""
    return list(against_prose(Facts(claim), [passage], Corpus([Source("e", passage)])))


@pytest.mark.parametrize(
    ("claim", "passage", "parts"),
    [
        ("Leo is not allergic to peanuts.", "Leo is allergic to peanuts.", ["is not allergic"]),
        ("Revenue did not rise last year.", "Revenue rose last year.", ["did not rise"]),
        ("The lab hasn't released model X.", "The lab released model X.", ["lab hasn't released"]),
        ("The board approved the deal.", "The board has not approved the deal.", ["board approved the"]),
        ("No lab ships the model.", "The lab ships the model.", ["No lab"]),
        ("Node 16 is supported here.", "Node 16 is not supported here.", ["is supported here"]),
        (
            "The pool will be closed.",
            "The pool won't be closed; the swings will be replaced.",
            ["pool will be"],
        ),
        ("Hunde sind im Museum nicht erlaubt.", "Hunde sind im Museum erlaubt.", ["Museum nicht erlaubt"]),
        ("Honden zijn niet toegestaan.", "Honden zijn toegestaan.", ["zijn niet toegestaan"]),
        ("El wifi no es gratuito.", "El wifi es gratuito.", ["wifi no es"]),
        ("Les chèques ne sont pas acceptés.", "Les chèques sont acceptés.", ["sont pas acceptés"]),
    ],
)
def test_a_negation_that_only_one_has(claim: str, passage: str, parts: list[str]) -> None:
    """Among the same words, in several languages."""
    assert against(claim, passage) == parts


@pytest.mark.parametrize(
    ("claim", "passage", "parts"),
    [
        ("Prices rose in May for all.", "Prices fell in May for all.", ["rose"]),
        ("Girls cycle more often than boys.", "Girls cycle less often than boys.", ["more"]),
        ("She accepted the order of merit.", "She declined the order of merit.", ["accepted"]),
    ],
)
def test_an_opposite_in_its_place(claim: str, passage: str, parts: list[str]) -> None:
    """In any form of the two words."""
    assert against(claim, passage) == parts


@pytest.mark.parametrize(
    ("claim", "passage", "parts"),
    [
        ("It was formed in Tulsa by two men.", "It was formed in Joplin by two men.", ["Tulsa"]),
        ("The tower was built in 1968 by Ek.", "The tower was built in 1986 by Ek.", ["1968"]),
        ("It opens on 3 May at noon.", "It opens on 4 May at noon.", ["3"]),
        ("The hall holds 40 people.", "The hall holds 400 people.", ["40"]),
    ],
)
def test_another_name_number_or_date_in_its_place(claim: str, passage: str, parts: list[str]) -> None:
    """Between the same words."""
    assert against(claim, passage) == parts


@pytest.mark.parametrize(
    ("claim", "passage", "parts"),
    [
        ("Beta bought Alpha.", "On Monday Alpha bought Beta for cash.", ["Beta bought Alpha"]),
        (
            "Munich is a brewery in Pschorr.",
            "Pschorr is a brewery in Munich.",
            ["Munich is a brewery in Pschorr"],
        ),
        ("Ann Berg led Jo Hall.", "On Monday Jo Hall led Ann Berg.", ["Ann Berg led Jo Hall"]),
    ],
)
def test_names_that_changed_places(claim: str, passage: str, parts: list[str]) -> None:
    """Changed back, the sources have the words as they stand."""
    assert set(parts) <= set(against(claim, passage))


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Leo is not allergic to peanuts.", "Leo isn't allergic to peanuts."),
        ("No, Leo is allergic to peanuts.", "Leo is allergic to peanuts."),
        ("It is not only cheap but good.", "It is cheap and good."),
        ("The deal was signed.", "The deal was signed, but it does not name a price."),
        ("You can't check in before 15:00.", "Check in from 15:00."),
        ("The handle doesn't get hot.", "The handle stays cool."),
        ("Prices rose sharply in May, not in June.", "Prices rose in May and fell in June."),
        ("Beta was bought by Alpha.", "On Monday Alpha bought Beta for cash."),
        ("Beta and Alpha grew.", "Alpha and Beta grew."),
        ("The capital of France is Paris.", "Paris is the capital of France."),
        ("Apply until 15 January with a CV.", "Apply by January 15 with a CV."),
        ("It has about 400 seats.", "It has 412 seats."),
        ("Der Aufzug geht bis Dezember nicht.", "Der Aufzug ist bis Dezember außer Betrieb."),
        ("Ada Brook sold the firm.", "Ada Brook of Acme Corp sold the firm."),
        ("Nobody came.", "The weather was fine in the whole of the north."),
    ],
)
def test_what_is_no_contradiction(claim: str, passage: str) -> None:
    """The same in other words, negations of both, and passages about another thing."""
    assert against(claim, passage) == []


def test_negations_and_opposites() -> None:
    """What a negation may be about, and both directions of a pair."""
    assert denies("it isn't so")
    assert not denies("it is so")
    assert "degrad" in denied("search is not degraded at all")
    assert "search" not in denied("search is not degraded at all")
    assert stem_of("fell") in opposites(stem_of("rises"))
    assert stem_of("rose") in opposites(stem_of("falling"))
    assert opposites("tap") == frozenset()


@pytest.mark.parametrize("piece", ["Alpha bought Beta ", "A b ", "not ", "Ab not bc ", "'"])
def test_long_texts_are_compared_in_bounded_time(piece: str) -> None:
    """Names without end, and negations."""
    start = time.process_time()
    against("Gamma " + piece * 4_000, piece * 4_000 + "Beta bought Alpha")
    assert time.process_time() - start < 3


@given(st.text(alphabet="ABab not.no \n'5"), st.text(alphabet="ABab not.no \n'5"))
def test_any_two_texts_can_be_compared(claim: str, passage: str) -> None:
    """And a text says nothing against itself."""
    against(claim, passage)
    assert against(claim, claim) == []
