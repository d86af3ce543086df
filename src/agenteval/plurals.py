"""Numbers of things, in words."""


def counted(number: int, noun: str, nouns: str = "") -> str:
    """`1 call`, `2 calls`; `nouns` is the plural of a noun that takes more than an `s`."""
    return f"{number} {plural(number, noun, nouns)}"


def grouped(number: int, noun: str, nouns: str = "") -> str:
    """`1 test`, `1,200 tests`: as `counted`, where numbers grow large."""
    return f"{number:,} {plural(number, noun, nouns)}"


def plural(number: int, noun: str, nouns: str = "") -> str:
    """The noun, or a verb, in the form that goes with the number."""
    return noun if number == 1 else nouns or f"{noun}s"
