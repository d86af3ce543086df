"""Numbers of things, as people write them."""


def counted(number: int, noun: str, nouns: str = "") -> str:
    """`1 call`, `2 calls`; `nouns` is the plural of a noun that takes more than an `s`."""
    return f"{number} {plural(number, noun, nouns)}"


def grouped(number: int, noun: str, nouns: str = "") -> str:
    """`1 test`, `1,200 tests`: as `counted`, where numbers grow large."""
    return f"{number:,} {plural(number, noun, nouns)}"


def plural(number: int, noun: str, nouns: str = "") -> str:
    """The noun alone, as it stands behind the number; or a verb, as it goes with so many."""
    return noun if number == 1 else nouns or f"{noun}s"
