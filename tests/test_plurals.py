"""Numbers of things, as people write them."""

from agenteval.text.fitting import counted, grouped, plural


def test_only_one_is_singular() -> None:
    """None, like many, takes the plural."""
    assert [counted(number, "call") for number in (0, 1, 2)] == ["0 calls", "1 call", "2 calls"]


def test_a_noun_may_have_a_plural_of_its_own() -> None:
    """What takes more than an `s` is given beside the noun."""
    assert [counted(number, "retry", "retries") for number in (1, 2)] == ["1 retry", "2 retries"]
    assert plural(3, "vacuous pass", "vacuous passes") == "vacuous passes"


def test_large_numbers_can_be_grouped() -> None:
    """By commas, in reports that people read."""
    assert [grouped(number, "test") for number in (1, 1200)] == ["1 test", "1,200 tests"]
    assert grouped(1_000_000, "retry", "retries") == "1,000,000 retries"
