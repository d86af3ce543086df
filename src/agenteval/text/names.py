"""Names of tools and keys: matching by glob, misspellings, and suggestions for a wrong name."""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from agenteval.text.lazy_regexes import lazy

SHORTEST = 4
"""The length of a name from which on it can be misspelt. Shorter names differ by one character from too many others.
"""


def is_spelled_like(pattern: str, name: str) -> bool:
    """Return whether a pattern, a name or a glob, means the tool of this name in any spelling.

    Case, separators, camel case, invisible characters, lookalike letters of other alphabets, the brackets of a call,
    and a server or namespace before the name make no difference: `functions.deleteAll()` is `delete_all`.
    """
    return any(
        name_matches(_spelled(pattern), each) or same_but_for_separators(_spelled(pattern), each)
        for each in _spellings(name)
    )


@lru_cache(maxsize=1024)
def _spelled(name: str) -> str:
    """Return a name in lower case, with its words joined by `_`, and without what models add (`<|channel|>commentary`, `:0`)."""
    import unicodedata

    plain = _NOT_OF_NAME.sub("", unicodedata.normalize("NFKC", name)).translate(_LOOKALIKES)
    plain = "".join(sign for sign in plain if unicodedata.category(sign) not in ("Cf", "Mn")).strip()
    return _WORD_BORDER.sub("_", plain.removesuffix("()")).replace("-", "_").replace(" ", "_").casefold()


@lru_cache(maxsize=1024)
def _spellings(name: str) -> tuple[str, ...]:
    """Return the spellings of a name: as it is, with namespaces as words of it, and without each of them."""
    plain = _spelled(name)
    inner = [plain[match.end() :] for match in _NAMESPACE.finditer(plain)]
    return (plain, _NAMESPACE.sub("_", plain), *filter(None, inner))


_WORD_BORDER = lazy(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NAMESPACE = lazy(r"__|[./:]+")
_NOT_OF_NAME = lazy(r"(?s)<\|.*|:[0-9]+\s*\Z|[\"'`]")
_LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u04cf\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406"
    "\u03b1\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u0391\u0392\u0395\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a7\u0131\u0261\u2010\u2011\u2012\u2013\u2212\uff3f",
    "aeopcyxijsdhlABEKMHOPCTXIaeikvoptuxABEIKMNOPTXig-----_",
)
"""Cyrillic and Greek letters, and dashes, that look like characters of names."""


def is_glob(name: str) -> bool:
    """Return whether a tool name is a glob."""
    return "*" in name or "?" in name or "[" in name


def name_matches(pattern: str, name: str) -> bool:
    """Return whether a name equals a pattern, or matches it as a glob with `*`, `?` or `[`; case matters.

    A chat may be called `[Team] Family`, so equality counts for globs too. The time is bounded by the product of both
    lengths: fnmatch never takes back what a `*` has matched.
    """
    return pattern == name or (is_glob(pattern) and _glob_matches(pattern, name))


@lru_cache(maxsize=2048)
def _glob_matches(pattern: str, name: str) -> bool:
    """Match a glob, with a cache: the same few names are matched over and over."""
    from fnmatch import fnmatchcase

    return fnmatchcase(name, pattern)


def slip_of(name: str, known: Iterable[str]) -> str | None:
    """Return the known name of which this one is a slip, or None.

    A slip is one letter left out, doubled, swapped or replaced, or other case and separators. Names that differ in a
    digit, or in a word of one letter (`team-a` and `team-b`), are names of their own.
    """
    folded = _folded(name)
    return next(
        (
            each
            for each in known
            if each != name and (_is_slip(folded, _folded(each)) or same_but_for_separators(name, each))
        ),
        None,
    )


def same_but_for_separators(name: str, other: str) -> bool:
    """Return whether two names differ only in case and separators: `WebSearch` and `web.search`;

    not `v1.2` and `v12`.
    """
    one, two = (_SEPARATORS.sub("", each.casefold()) for each in (name, other))
    return one == two and len(one) >= SHORTEST


_SEPARATORS = lazy(r"(?<!\d)[-_.:/ ]+|[-_.:/ ]+(?!\d)")


def glob_slip_of(glob: str, known: Collection[str]) -> str | None:
    """Return what a glob without a match is a slip of: a glob that matches some of the names, a name, or None.

    The slip is in the text between two wildcards, or in its case. A glob with a letter in brackets (`web_serc[h]`) is
    meant as it is written.
    """
    parts = re.split(r"([*?]|\[[^]]*\])", glob)
    if any(len(part) == 3 and part[0] == "[" for part in parts):
        return None
    meant = (
        glob_of_name
        for name in known
        for at, text in enumerate(parts)
        if len(text) >= SHORTEST
        for likely in _stretches(name, len(text))
        if slip_of(text, [likely])
        and name_matches(glob_of_name := "".join([*parts[:at], likely, *parts[at + 1 :]]), name)
    )
    found = next(meant, None)
    return found or next((name for name in known if name_matches(glob.casefold(), name.casefold())), None)


def _stretches(name: str, length: int) -> Iterator[str]:
    """Yield the parts of a name of about this length: a slip adds or drops a letter, or separators."""
    for size in (length + more for more in (0, 1, -1, 2, -2, 3, -3)):
        yield from (name[start : start + size] for start in range(len(name) - size + 1))


def _folded(name: str) -> str:
    return name.casefold().replace("-", "_")


def _is_slip(one: str, other: str) -> bool:
    if abs(len(one) - len(other)) > 1 or max(len(one), len(other)) < SHORTEST:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    left, right = one[start:], other[start:]
    while left and right and left[-1] == right[-1]:
        left, right = left[:-1], right[:-1]
    # Two letters that changed places: `serach` for `search`.
    if len(left) == len(right) == 2:
        return left == right[::-1] and not _has_digit(left)
    if len(left) > 1 or len(right) > 1 or _has_digit(left + right):
        return False
    # "team-a" and "team-b" differ by one letter, yet both are real names.
    # Taking a one-letter word for a slip made tests of two teams fail.
    return not (left and right and _stands_alone(one, start) and _stands_alone(other, start))


def may_be_twins(name: str, other: str) -> bool:
    """Return whether two names that differ by a slip may both be right: `get_it` and `set_it`, `list_item` and
    `list_items`.

    They have the same words, but one short word has another letter, or one word has an `s` at its end.
    """
    words, others = _folded(name).split("_"), _folded(other).split("_")
    if len(words) != len(others):
        return False
    pairs = [pair for pair in zip(words, others, strict=True) if pair[0] != pair[1]]
    return pairs != [] and all(
        (len(one) == len(two) <= SHORTEST and sorted(one) != sorted(two))
        or one + "s" == two
        or two + "s" == one
        for one, two in pairs
    )


def _has_digit(text: str) -> bool:
    return any(sign.isdigit() for sign in text)


def _stands_alone(text: str, place: int) -> bool:
    """Return whether the letter at a place is a word of its own."""
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    return not before.isalnum() and not after.isalnum()


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that a wrong name most likely means, or None.

    It may differ by more than a slip, or begin the wrong name: `max_calls` probably means `max`. Case, and `-` for
    `_`, make no difference.
    """
    name = _folded(name)
    known_by_form = {_folded(each): each for each in known}
    begins = max((item for item in known_by_form if name.startswith(f"{item}_")), key=len, default=None)
    least = _CLOSE if begins is None else _NEARLY_SAME  # max_totl is max_total, not max
    candidates = [item for item in known_by_form if _similarity_bound(name, item) >= least]
    if candidates:  # not so in most valid files, and difflib takes as long to import as they to load
        from difflib import get_close_matches

        if found := get_close_matches(name, candidates, n=1, cutoff=least):
            return known_by_form[found[0]]
    return None if begins is None else known_by_form[begins]


_CLOSE = 0.65
_NEARLY_SAME = 0.8


def _similarity_bound(one: str, other: str) -> float:
    """Return an upper bound of difflib's ratio: the ratio if the order of letters did not matter."""
    common = sum(min(one.count(letter), other.count(letter)) for letter in set(one))
    return 2 * common / (len(one) + len(other) or 1)
