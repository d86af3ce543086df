"""The shape of the final output: lists, paragraphs, JSON, length (SPEC 14, output and correctness)."""

# ruff: noqa: RUF002 - the signs of lists are meant

import json
import re
from collections.abc import Iterator
from dataclasses import field
from typing import Annotated, Any, ClassVar, Literal

from agenteval.assertions.base import Assertion, Category, Proof, Verdict, failed, passed, vacuous
from agenteval.assertions.telling import first_of, has_output, no_output, output_events
from agenteval.contracts.json_values import MISSING, lookup
from agenteval.contracts.models import Between, WrongPart, model
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import Trace
from agenteval.matching.json_schemas import schema_differences, schema_error
from agenteval.text.fitting import around, counted, cut
from agenteval.text.parts import blocks, bullets, numbered_items, paragraphs, sentences, words
from agenteval.text.regexes import lazy

Format = Literal["bullet_list", "numbered_list", "paragraphs", "json", "max_length"]

PARAMETERS: dict[str, tuple[str, ...]] = {
    "bullet_list": ("min_bullets", "max_bullets", "max_sentences_per_bullet"),
    "numbered_list": ("min_items", "max_items", "max_sentences_per_bullet"),
    "paragraphs": ("exact_paragraphs", "min_paragraphs", "max_paragraphs"),
    "json": ("required_keys", "json_schema"),
    "max_length": ("max_chars", "max_words", "max_lines"),
}
"""The parameters that belong to each format."""


@model
class OutputMatchesFormat(Assertion):
    """The final output has the right format. Each format has its own parameters.

    `bullet_list`: the output has bullets, within the limits on their number and length. A bullet is a line
    that starts, after optional spaces, with `-`, `*`, `+`, `•` or `–` and a space. Nested bullets count too,
    and other text is allowed.
    `numbered_list`: the same for lines that start with `1.`, `1)` or `(1)`.
    `paragraphs`: runs of prose between blank lines. Headings, lists, tables, quotations and code do not
    count.
    `json`: the whole output, or one code block that is the whole output, is valid JSON: no comments, no
    `NaN`, no duplicate keys.
    `max_length`: characters, words or lines, not counting white space at the start and the end.

    Fails if the final output is missing or blank. Vacuous if any number is allowed (a minimum of 0 and no maximum),
    unless there are items whose sentences are limited.
    """

    type: ClassVar[str] = "output_matches_format"
    category: ClassVar[Category] = "outcome"
    failure_category: ClassVar[str] = "wrong output format"
    proves: ClassVar[tuple[Proof, ...]] = ("pass", "fail")
    example: ClassVar[str] = """\
format: bullet_list
min_bullets: 2
max_bullets: 5
max_sentences_per_bullet: 1
"""

    format: Format
    """The expected format."""
    min_bullets: Annotated[int, Between(0)] | None = None
    """bullet_list: the minimum number of bullets; 1 by default."""
    max_bullets: Annotated[int, Between(0)] | None = None
    """bullet_list: the maximum number of bullets."""
    max_sentences_per_bullet: Annotated[int, Between(1)] | None = None
    """bullet_list, numbered_list: the maximum number of sentences in a bullet or item. A citation, link or bracketed remark after a sentence does not count as one."""
    min_items: Annotated[int, Between(0)] | None = None
    """numbered_list: the minimum number of items; 1 by default."""
    max_items: Annotated[int, Between(0)] | None = None
    """numbered_list: the maximum number of items."""
    exact_paragraphs: Annotated[int, Between(1)] | None = None
    """paragraphs: the exact number of paragraphs."""
    min_paragraphs: Annotated[int, Between(0)] | None = None
    """paragraphs: the minimum number of paragraphs; 1 by default."""
    max_paragraphs: Annotated[int, Between(0)] | None = None
    """paragraphs: the maximum number of paragraphs."""
    required_keys: list[str] = field(default_factory=list)
    """json: keys that must be present. Dotted paths lead into objects and lists: `items.0.url`."""
    json_schema: dict[str, Any] | None = None
    """json: a JSON Schema that the value must match."""
    max_chars: Annotated[int, Between(1)] | None = None
    """max_length: the maximum number of characters."""
    max_words: Annotated[int, Between(1)] | None = None
    """max_length: the maximum number of words, separated by white space; signs alone, such as that of a bullet, are none. Each Chinese or Japanese character counts as a word."""
    max_lines: Annotated[int, Between(1)] | None = None
    """max_length: the maximum number of lines, including blank ones."""

    def __post_init__(self) -> None:
        own = PARAMETERS[self.format]
        for other, names in PARAMETERS.items():
            for name in names:
                if name not in own and getattr(self, name) not in (None, []):
                    raise WrongPart(f"{name} belongs to {other}, not to {self.format}", name)
        if self.format == "max_length" and all(getattr(self, name) is None for name in own):
            raise ValueError("max_length needs at least one of max_chars, max_words and max_lines")
        for low, high in (*_BOUNDS, *_AROUND_EXACT):
            least, most = getattr(self, low), getattr(self, high)
            if least is not None and most is not None and least > most:
                raise WrongPart(f"{low} is {least}, which is more than {high}, {most}", low)
        if self.json_schema is not None and (error := schema_error(self.json_schema)):
            raise WrongPart(f"json_schema is not a JSON Schema: {error}", "json_schema")

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - the output is all it judges
        """Judge one trace."""
        if not has_output(trace):
            return no_output(f"the output to be {_NAMES[self.format]}", trace)
        judges = {
            "bullet_list": self._bullets,
            "numbered_list": self._items,
            "paragraphs": self._paragraphs,
            "json": self._json,
            "max_length": self._length,
        }
        reasons, got, observed = judges[self.format](trace.output)
        events = output_events(trace)
        if reasons:
            return failed(first_of(reasons), events=events, **observed)
        if self._any_number_fits() and not (self.max_sentences_per_bullet and observed["sentences"]):
            return vacuous(f"any number fits, and the output has {got}", **observed)
        return passed(f"the output is {_NAMES[self.format]}: {got}", events=events, **observed)

    def _any_number_fits(self) -> bool:
        return self.exact_paragraphs is None and (0, None) in (
            (getattr(self, low), getattr(self, high)) for low, high in _BOUNDS
        )

    def _bullets(self, output: str) -> "_Finding":
        found = bullets(output)
        counts = list(map(_sentences, found))
        reasons = self._list_reasons("bullet", found, counts, (self.min_bullets, self.max_bullets))
        if not found and reasons:
            reasons[0] += _instead_of_bullets(output)
        return reasons, counted(len(found), "bullet"), {"bullets": len(found), "sentences": counts}

    def _items(self, output: str) -> "_Finding":
        found = numbered_items(output)
        counts = list(map(_sentences, found))
        reasons = self._list_reasons("numbered item", found, counts, (self.min_items, self.max_items))
        if not found and reasons and (others := len(bullets(output))):
            reasons[0] += f" ({counted(others, 'bullet')} instead)"
        return reasons, counted(len(found), "numbered item"), {"items": len(found), "sentences": counts}

    def _list_reasons(
        self, name: str, found: list[str], counts: list[int], bounds: tuple[int | None, int | None]
    ) -> list[str]:
        reasons = list(_outside(name, len(found), *bounds))
        limit = self.max_sentences_per_bullet
        for number, (item, count) in enumerate(zip(found, counts, strict=True), 1):
            if limit is not None and count > limit:
                allowed = counted(limit, "sentence")
                reasons.append(
                    f'expected at most {allowed} per {name}, got {count} in {name} {number}: "{cut(item, 120)}"'
                )
        return reasons

    def _paragraphs(self, output: str) -> "_Finding":
        found = paragraphs(output)
        exact = self.exact_paragraphs
        least, most = (self.min_paragraphs, self.max_paragraphs) if exact is None else (exact, exact)
        reasons = list(_outside("paragraph", len(found), least, most))
        starts = [cut(paragraph, 60) for paragraph in found]
        return reasons, counted(len(found), "paragraph"), {"paragraphs": len(found), "starts": starts}

    def _json(self, output: str) -> "_Finding":
        text, outside = _json_text(output)
        try:
            value = json.loads(
                text, parse_int=_integer, parse_constant=_refuse_constant, object_pairs_hook=_refuse_doubles
            )
        except RecursionError:
            return ["expected the output to be JSON, but it is nested too deeply to read"], "", {}
        except ValueError as error:
            from agenteval.reading.jsonsource import in_words

            wrong = in_words(error, "the output")
            hint = " (a code block holds JSON, but there is text outside it)" if outside else ""
            return [f"expected the output to be JSON, but it is not: {wrong}{hint or _beside(error)}"], "", {}
        missing = [key for key in self.required_keys if lookup(value, key) is MISSING]
        differences = schema_differences(self.json_schema, value) if self.json_schema is not None else []
        reasons = []
        if missing:
            reasons.append(f"expected the JSON to have {', '.join(missing)}, got {_describe(value)}")
        if differences:
            reasons.append(f"expected the JSON to fit json_schema, but {'; '.join(differences)}")
        return reasons, _describe(value), {"missing_keys": missing, "schema_differences": differences}

    def _length(self, output: str) -> "_Finding":
        text = output.strip()
        sizes = {"chars": len(text), "words": len(words(text)), "lines": len(text.splitlines())}
        names = {"chars": "character", "words": "word", "lines": "line"}
        reasons = []
        for unit, size in sizes.items():
            limit = getattr(self, f"max_{unit}")
            if limit is not None and size > limit:
                reasons.append(f"expected at most {counted(limit, names[unit])}, got {size}")
        got = ", ".join(counted(size, names[unit]) for unit, size in sizes.items())
        return reasons, got, dict(sizes)


_Finding = tuple[list[str], str, dict[str, Any]]
"""What is wrong, what there is in words, and the values judged."""

_BOUNDS = (("min_bullets", "max_bullets"), ("min_items", "max_items"), ("min_paragraphs", "max_paragraphs"))
_AROUND_EXACT = (("min_paragraphs", "exact_paragraphs"), ("exact_paragraphs", "max_paragraphs"))
_NAMES = {
    "bullet_list": "a bullet list",
    "numbered_list": "a numbered list",
    "paragraphs": "in paragraphs",
    "json": "JSON",
    "max_length": "short enough",
}


def _outside(name: str, got: int, least: int | None, most: int | None) -> Iterator[str]:
    """What is wrong with a number; without bounds, one is expected, unless the author allows none."""
    lowest = least if least is not None else min(1, 1 if most is None else most)
    if lowest <= got and (most is None or got <= most):
        return
    if least is not None and least == most:
        wanted = f"exactly {counted(least, name)}"
    elif least is not None and most is not None:
        wanted = f"{least} to {counted(most, name)}"
    elif most is not None and got > most:
        wanted = f"at most {counted(most, name)}"
    else:
        wanted = f"at least {counted(lowest, name)}"
    yield f"expected {wanted}, got {got or 'none'}"


def _sentences(item: str) -> int:
    """How many sentences an item has; a citation, link or remark in brackets after one is none."""
    first, *others = sentences(item) or [""]
    return bool(first) + sum(1 for other in others if not _REFERENCE.fullmatch(other))


_REFERENCE = lazy(
    r"(?:[^\w\s\[(]{1,3}\s)?(?:(?i:sources?|links?|read more|more) ?: ?)?"
    r"(?:(?:\[[^\[\]]*\](?:\([^\s()]*\))?|\([^()]*[^().!?\s]\)|https?://\S+(?=\s|\Z))[\s,;.|*_]*)+"
)


_NEARLY_BULLET = lazy(r"^[ \t]*([-*+•·‣▪◦○●—])(?=[^\s*_-])", re.MULTILINE)
_OTHER_SIGN = lazy(r"^[ \t]*([·‣▪◦○●—])[ \t]", re.MULTILINE)


def _instead_of_bullets(output: str) -> str:
    """What the output has that a person might take for bullets."""
    if others := len(numbered_items(output)):
        return f" ({counted(others, 'numbered item')} instead)"
    if match := _NEARLY_BULLET.search(output):
        line = output.count("\n", 0, match.start(1)) + 1
        return f" (line {line} starts with {match.group(1)!r}, but no space follows)"
    if match := _OTHER_SIGN.search(output):
        line = output.count("\n", 0, match.start(1)) + 1
        return f" (line {line} starts with {match.group(1)!r}, which is not a bullet)"
    return ""


_FENCE = lazy(r"(?:`{3,}|~{3,})[ \t]*(?:json)?[ \t]*", re.IGNORECASE)
_ON_ONE_LINE = lazy(r"```(?:json\b)?([^`\n]+)```", re.IGNORECASE)


def _json_text(output: str) -> tuple[str, bool]:
    """The text that should be JSON, and whether a code block stands beside other text."""
    stripped = output.strip()
    parts = blocks(stripped)
    if on_one_line := _ON_ONE_LINE.fullmatch(stripped):
        return on_one_line[1], False
    if len(parts) == 1 and parts[0].kind == "code":
        lines = stripped.splitlines()
        if _FENCE.fullmatch(lines[0]) and _FENCE.fullmatch(lines[-1]):
            return parts[0].text, False
    return stripped, len(parts) > 1 and any(part.kind == "code" for part in parts)


def _beside(error: ValueError) -> str:
    """The text around a JSON error, if that lies further on than evidence shows."""
    if isinstance(error, json.JSONDecodeError) and error.pos > 60:
        return f', near "{around(error.doc, error.pos, 80)}"'
    return ""


def _integer(digits: str) -> int | float:
    """A whole number; one of more digits than Python reads is, like any other number out of range, infinite."""
    try:
        return int(digits)
    except ValueError:
        return float(digits)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _refuse_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        double = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {double!r} occurs twice")
    return value


def _describe(value: Any) -> str:
    if isinstance(value, dict):
        keys = ", ".join(map(str, list(value)[:10])) or "no keys"
        return f"an object with {keys}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    names = {str: "the string", bool: "the boolean", type(None): "the value"}
    return f"{names.get(type(value), 'the number')} {cut(json.dumps(value, ensure_ascii=False), 60)}"
