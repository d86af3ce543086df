"""Numbers of things, as people write them."""

from agenteval.plurals import counted, plural


def test_only_one_is_singular() -> None:
    """None, like many, takes the plural."""
    assert [counted(number, "call") for number in (0, 1, 2)] == ["0 calls", "1 call", "2 calls"]


def test_a_noun_may_have_a_plural_of_its_own() -> None:
    """What takes more than an `s` is given beside the noun."""
    assert [counted(number, "retry", "retries") for number in (1, 2)] == ["1 retry", "2 retries"]
    assert plural(3, "vacuous pass", "vacuous passes") == "vacuous passes"
