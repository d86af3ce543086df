"""Claims that copy a sentence of the sources, but for one fact."""

import pytest

from agenteval.grounding.copies import replaced
from agenteval.grounding.statements import statement

FILM = "The comedy of 2007 was directed by Alki David, starring Billy Zane and Kelly Brook, about a father. John Wheeler sang."
RANCH = (
    "He was murdered on Monday at a ranch in Conway, Missouri, at the age of 24, and 12 robberies were told."
)


def found(claim: str, passage: str) -> list[str]:
    """The facts of a claim that have another one in their place."""
    return [held.text for held in replaced(statement(claim), passage)]


@pytest.mark.parametrize(
    ("claim", "passage", "facts"),
    [
        (FILM.replace("Kelly Brook", "John Wheeler").split(" John Wheeler sang")[0], FILM, ["John Wheeler"]),
        (RANCH.replace("Missouri", "Minnesota"), RANCH, ["Minnesota"]),
        (RANCH.replace("24", "42"), RANCH, ["42"]),
        (RANCH.replace("12", "two"), RANCH, ["two"]),
        (RANCH.replace("Monday", "Tuesday"), RANCH, ["Tuesday"]),
        (
            "It was opened in Leeds on 6 March 2026.",
            "It was opened in Leeds on 5 March 2026.",
            ["6 March 2026"],
        ),
        (
            "Graham Greene is an American author of novels.",
            "Alan Furst is an American author of novels.",
            ["Graham Greene"],
        ),
    ],
)
def test_another_fact_in_its_place(claim: str, passage: str, facts: list[str]) -> None:
    """Of the same kind, where all else is the same."""
    assert found(claim, passage) == facts


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (RANCH, RANCH),
        (FILM.replace("Billy Zane and Kelly Brook", "Kelly Brook and Billy Zane"), FILM),
        (RANCH.replace("Missouri", "MO"), RANCH.replace("Missouri", "MO (Missouri)")),
        ("She moved to the lab of Advanced Micro Devices in May.", "She moved to the lab of AMD in May."),
        ("She moved to the lab of Dr Brook in May.", "She moved to the lab of Kelly Brook in May."),
        ("The stock of the lab in Leeds rose about 40 %.", "The stock of the lab in Leeds rose 41 %."),
        ("The walk to the lab in Leeds takes 90 minutes.", "The walk to the lab in Leeds takes 1.5 hours."),
        ("The walk to the lab starts at 5 pm.", "The walk to the lab starts at 17:00."),
        ("Leo lives in Rome, they say.", "Dana lives in Oslo. Leo lives in Bern."),
        ("It is Rome.", "It is Oslo."),
        ("The lab in Leeds was opened on 6 March.", "The lab was sold in Leeds on 5 March."),
        (
            "She won the Halden Prize in 2011 and the Ortega Prize in 2003.",
            "She won the Ortega Prize in 2003 and the Halden Prize in 2011.",
        ),
        (
            "The hall in the town of Leeds holds 29 500 people.",
            "The hall in the town of Leeds holds 29,500 people.",
        ),
        (
            "Duane is a scholar of economy and of the state.",
            "Duane (born in Ohio) is a scholar of economy and of the state.",
        ),
    ],
)
def test_what_may_be_the_same(claim: str, passage: str) -> None:
    """Another spelling or order, something left out, and too little in common."""
    assert found(claim, passage) == []
