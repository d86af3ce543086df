"""What a plain YAML scalar means: text, a number, true, false or nothing.

The same as in PyYAML's safe loader, except that dates and base-60 numbers (12:30) stay text, and that numbers which
JSON cannot hold are refused.
"""

from functools import lru_cache
from typing import Any

from yaml.resolver import Resolver

from agenteval.reading.documents import INTEGERS

WORDS: dict[str, Any] = {
    **{form: True for word in ("yes", "true", "on") for form in (word, word.title(), word.upper())},
    **{form: False for word in ("no", "false", "off") for form in (word, word.title(), word.upper())},
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
}
"""Words that do not mean themselves, with what they mean."""
NUMBER_SIGNS = frozenset("+-.0123456789")
"""What a number can begin with: a scalar that is no word and begins otherwise is text."""
FOLDED = frozenset("\x85\u2028\u2029")
"""What YAML takes for the ends of lines, and changes, unless it is escaped."""
MERGE = "<<"
"""The key that merges mappings into its own."""
KEY_WORDS = frozenset((*WORDS, MERGE))


class NoNumber:
    """A number that cannot be held, and why."""

    def __init__(self, why: str) -> None:
        self.why = why


def meaning(text: str) -> Any:
    """What a plain scalar means: str, int, float, bool, None, or a `NoNumber`."""
    if text in WORDS:
        return WORDS[text]
    if text[0] not in NUMBER_SIGNS:
        return text
    return _number(text) if len(text) < 50 else _number.__wrapped__(text)  # no long texts in the cache


@lru_cache(maxsize=1024)
def _number(text: str) -> int | float | str | NoNumber:
    """The number that a plain scalar means; the text itself when it means none."""
    if len(text) <= 18 and text.isdecimal() and text.isascii() and text[0] != "0":
        return int(text)
    for tag, pattern in Resolver.yaml_implicit_resolvers[text[0]]:
        kind = tag.rpartition(":")[2]
        if kind in ("int", "float") and pattern.match(text):
            if ":" in text:
                return text
            return _integer(text) if kind == "int" else _float(text)
    return text


def _integer(text: str) -> int | str | NoNumber:
    digits = text.replace("_", "")
    sign = -1 if digits[0] == "-" else 1
    digits = digits.lstrip("+-")
    base = {"0b": 2, "0x": 16}.get(digits[:2]) or (8 if digits[0] == "0" else 10)
    digits = digits[2:] if base in (2, 16) else digits
    if not digits:  # as in 0x_
        return text
    value = sign * int(digits, base) if len(digits) <= 100 else 2**100
    return value if value in INTEGERS else NoNumber("the integer does not fit into 64 bits")


def _float(text: str) -> float | NoNumber:
    digits = text.replace("_", "").lower()
    if digits.lstrip("+-") in (".inf", ".nan"):
        return NoNumber(f"{text} is not a number that JSON can hold")
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        return NoNumber("the number is too large")
    return value
