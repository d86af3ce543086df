"""The hard facts of a text: codes, names, quotes, and what is left without them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.contracts.errors import AssertionCrashError
from agenteval.grounding import facts as module
from agenteval.grounding.facts import Facts, names, quotes


def test_each_fact_is_of_one_kind() -> None:
    """What is a link is no number, and a number of a code is none; the rest has a mark in the place of each."""
    stated = Facts("On 3 May Ada met GPT-4 at 9:30 for $5, see a.example/x [1] or +49 30 1234567 (v1.2.3).")
    assert [link.text for link in stated.links] == ["a.example/x"]
    assert [date.text for date in stated.dates] == ["3 May"]
    assert [number.text for number in stated.numbers] == ["9:30", "$5"]
    assert sorted(code.text for code in stated.codes) == ["+49 30 1234567", "GPT-4", "v1.2.3"]
    assert [name.text for name in stated.names] == ["Ada"]
    assert stated.rest.split() == "On 0 Ada met 0 at 0 for 0 , see | | or 0 (0 ).".split()  # noqa: SIM905


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("PO-77, us-east-1, Qwen2.5-72B", ["PO-77", "us-east-1", "Qwen2.5-72B"]),
        ("the 1990s, a 24-hour day, mid-2025, 5GB, 3rd, 2-3", []),
        ("2026-11-21T20:55:30.000Z", []),
        ("10.0.0.1 and 3.11.7", ["10.0.0.1", "3.11.7"]),
    ],
)
def test_codes(text: str, codes: list[str]) -> None:
    """Names with digits in them; no numbers with their unit, nor dates."""
    assert [code.text for code in Facts(text).codes] == codes


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Call Sam Altman, or ask Tim Cook.", ["Sam Altman", "Tim Cook"]),
        ("Yesterday Sam Altman met Tim Cook in Paris.", ["Sam Altman", "Tim Cook", "Paris"]),
        ("Neither Ada Brook nor Ben came.", ["Ada Brook", "Ben"]),
        ("Revenue rose at Lab A.", ["Lab A"]),
        ("NVIDIA and GitHub rose. Apples fell.", ["NVIDIA", "GitHub"]),
        ("The White House said so.", ["White House"]),
        ("He met Dr. Jane O'Neil-Smith.", ["Jane O'Neil-Smith"]),
        ("In Washington, D.C. it rains on Monday in May.", ["Washington", "D.C."]),
        ("I think A lab did it.", []),
        ("**Key Takeaway:** it rose.", []),
        ("BREAKING NEWS FROM THE LAB TODAY", ["BREAKING NEWS FROM THE LAB TODAY"]),
        ("Lab Ships New Model Today", []),
        ("Es ist auch am Hafen Bremen mit Herr Ek und den LED-Birnen", ["Bremen", "Ek", "LED"]),
    ],
)
def test_names(text: str, found: list[str]) -> None:
    """Capitalised words and runs of them, not the ordinary word that begins a sentence, nor a title; in German, fewer."""
    assert [name.text for name in names(text)] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            'He said "so it goes" and “never give up”, „nie im Leben“, "not this".',
            ["so it goes", "never give up", "nie im Leben"],
        ),
        (
            "She said 'so it goes' and ‘never give up’, ‚nie im Leben‘.",
            ["so it goes", "never give up", "nie im Leben"],
        ),
        ("``A giant step'' said he.", ["A giant step"]),
        ("He wrote 'it's the band's best' on it.", ["it's the band's best"]),
        ("The dogs' owner met the cats' owner at the '90s party of rock 'n' roll.", []),
        ("It’s the dogs’ owner who isn’t here, and that’s all.", []),
        ("They don't know what he's done since it's over.", []),
        ('Beta gamma delta" but then she told us "epsilon zeta is bad.', []),
        ('Beta gamma delta" but then she told us "so it goes".', ["so it goes"]),
        ('A 5" disk, and a 6" disk as well.', []),
    ],
)
def test_quotes(text: str, found: list[str]) -> None:
    """Three words or more in any quotation marks; apostrophes are none, nor is what stands between two quotations."""
    assert quotes(text) == found


@pytest.mark.parametrize(
    ("piece", "kind"), [("1 ", "numbers"), ("seven ", "numbers"), ("a.example/x ", "references")]
)
def test_too_many_facts_are_an_error(monkeypatch: pytest.MonkeyPatch, piece: str, kind: str) -> None:
    """Which names the limit."""
    monkeypatch.setattr(module, "MOST_FACTS", 20)
    Facts(piece * 20)
    with pytest.raises(AssertionCrashError) as caught:
        Facts(piece * 21)
    assert caught.value.reason_code == "assertion.too_large"
    assert caught.value.message == (
        f"the output and its sources are too large to be compared: a claim of it states more than 20 {kind}"
    )


@pytest.mark.parametrize(
    "piece", ["a", "A ", "A-", "A'", "Nov 1 ", "“", '"', "'", " 'a", "‘a", "‚a’", "`` ", "(a) "]
)
def test_a_long_text_is_read_in_linear_time(piece: str) -> None:
    """No text makes reading it explode."""
    text = piece * (12_000 // len(piece))
    start = time.process_time()
    assert Facts(text).names is not None
    quotes(text)
    assert time.process_time() - start < 5


@given(st.text(alphabet="aA1.,:/-%$ \"'“”()[]Nov202h\n"))
def test_any_text_can_be_read(text: str) -> None:
    """Offsets are those of the text without references."""
    stated = Facts(text)
    assert len(stated.plain) == len(stated.rest) == len(stated.text)
    for number in stated.numbers:
        assert stated.plain[number.start : number.end] == number.text
    assert isinstance(stated.names, list)
    quotes(text)
