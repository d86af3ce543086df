"""Assertions on the final output: its content, its questions and its format (SPEC 14, output and correctness)."""

# ruff: noqa: RUF002 - the signs of lists are meant

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from agenteval.assertions.base import (
    Assertion,
    Category,
    Proof,
    Verdict,
    amount,
    check_phrases,
    failed,
    first_of,
    has_output,
    listed_names,
    no_output,
    nothing_said,
    output_events,
    passed,
    unsupported,
    vacuous,
)
from agenteval.contracts.json_values import MISSING, lookup, show
from agenteval.contracts.models import Between, WrongPart, model
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import ToolCall, Trace
from agenteval.matching.patterns import pattern_fault, schema_differences, schema_fault, search
from agenteval.matching.selectors import is_forbidden
from agenteval.text.fitting import around, around_words, counted, cut
from agenteval.text.lazy_regexes import lazy
from agenteval.text.parts import (
    blocks,
    bullets,
    composed,
    fold,
    holds,
    line_at,
    lines_with,
    numbered_items,
    paragraphs,
    place_of,
    readings,
    sentences,
    straight,
    words,
)
from agenteval.text.questions import questions


def check_patterns(name: str, patterns: str | Sequence[str], *, case_sensitive: bool) -> None:
    """Refuse a pattern that every text or no text matches, and text that is no regular expression. Raises ValueError."""
    for index, pattern in enumerate([patterns] if isinstance(patterns, str) else patterns):
        path = (name,) if isinstance(patterns, str) else (name, index)
        if not pattern:
            raise WrongPart(f"{name} holds an empty pattern, which every output matches: remove it", *path)
        if fault := pattern_fault(pattern, case_sensitive=case_sensitive):
            raise WrongPart(fault, *path)


@model
class OutputContains(Assertion):
    """The final output contains the given phrases and patterns.

    Phrases are found even inside words, but digits not inside a longer number: `11` is not in `711`. Spaces must match
    exactly; quotation marks may be typographic. In patterns, `^` and `$` match at every line. Fails without a final output.
    """

    type: ClassVar[str] = "output_contains"
    category: ClassVar[Category] = "outcome"
    failure_category: ClassVar[str] = "missing content in the output"
    proves: ClassVar[tuple[Proof, ...]] = ("pass", "fail")
    example: ClassVar[str] = """\
any_of: [meeting is moved, meeting has moved]
all_of: [Thursday]
regex: ['\\b1[0-9]:[0-5][0-9]\\b']
"""

    any_of: list[str] = field(default_factory=list)
    """Phrases. At least one of them must occur."""
    all_of: list[str] = field(default_factory=list)
    """Phrases that must all occur."""
    regex: list[str] | str = field(default_factory=list)
    """Regular expressions that must all match somewhere."""
    case_sensitive: bool = False
    """True if upper and lower case differ."""

    def __post_init__(self) -> None:
        if not (self.any_of or self.all_of or self.regex):
            raise ValueError("nothing to look for: give at least one of any_of, all_of and regex")
        check_phrases("any_of", self.any_of)
        check_phrases("all_of", self.all_of)
        check_patterns("regex", self.regex, case_sensitive=self.case_sensitive)

    @property
    def _patterns(self) -> list[str]:
        return [self.regex] if isinstance(self.regex, str) else self.regex

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        if not has_output(trace):
            return no_output(f"the output to contain {self._wanted()}", trace)
        output, events = composed(trace.output), output_events(trace)
        texts = readings(output)
        found = self._phrases_in(texts)
        matched = [pattern for pattern in self._patterns if self._matches(pattern, texts)]
        missing = [phrase for phrase in self.all_of if phrase not in found]
        unmatched = [pattern for pattern in self._patterns if pattern not in matched]
        reasons = [f"{_quoted([phrase])} is missing{_near(phrase, output)}" for phrase in missing]
        if self.any_of and not set(self.any_of) & set(found):
            missing += [phrase for phrase in self.any_of if phrase not in missing]
            reasons.append(self._none_of(output))
        reasons += [f"/{pattern}/ does not match" for pattern in unmatched]
        observed: dict[str, Any] = {"found": found + matched, "missing": missing + unmatched}
        if reasons:
            message = f"expected the output to contain {self._wanted()}; {first_of(reasons)}"
            return failed(message, events=events, **observed)
        return passed(f"the output contains {_quoted(found + matched)}", events=events, **observed)

    def _none_of(self, output: str) -> str:
        """Explain that no phrase of `any_of` occurs, with the nearest line of the output."""
        near = next(filter(None, (_near(phrase, output) for phrase in self.any_of)), "")
        if len(self.any_of) == 1:
            return f"{_quoted(self.any_of)} is missing{near}"
        return f"none of {_quoted(self.any_of)} occurs{near}"

    def _phrases_in(self, texts: Sequence[str]) -> list[str]:
        """Return the phrases that occur in one of the texts, which are readings of one output."""
        folded = [_comparable(text, case_sensitive=self.case_sensitive) for text in texts]
        found = []
        for phrase in [*self.any_of, *self.all_of]:
            wanted = _comparable(phrase, case_sensitive=self.case_sensitive)
            if any(holds(text, wanted) for text in folded):
                found.append(phrase)
        return found

    def _matches(self, pattern: str, texts: Sequence[str]) -> bool:
        pattern = composed(pattern)
        return any(search(pattern, text, case_sensitive=self.case_sensitive) for text in texts)

    def _wanted(self) -> str:
        parts = []
        if self.any_of:
            parts.append(("at least one of " if len(self.any_of) > 1 else "") + _quoted(self.any_of))
        if self.all_of:
            parts.append(("all of " if len(self.all_of) > 1 else "") + _quoted(self.all_of))
        parts += [f"a match of /{pattern}/" for pattern in self._patterns]
        return " and ".join(parts)


def _comparable(text: str, *, case_sensitive: bool = False) -> str:
    """Return a text in the form in which phrases are compared: with straight quotation marks, and folded case."""
    return straight(fold(text, case_sensitive=case_sensitive))


def _quoted(phrases: Sequence[str]) -> str:
    return listed_names([f'"{phrase}"' for phrase in phrases])


def _near(phrase: str, output: str) -> str:
    """Explain how the output nearly contains a phrase, as the end of a sentence; "" if it does not."""
    if " ".join(_comparable(phrase).split()) in " ".join(_comparable(output).split()):
        return f" ({_quoted([phrase])} occurs in another case, with other blanks or inside a longer number)"
    pairs = _pairs(phrase)
    best, closest = 0.0, ""
    for line in output.splitlines()[:500]:
        share = len(pairs & _pairs(line[:1000])) / len(pairs) if pairs else 0.0
        if share > best:
            best, closest = share, line
    return f' (closest line: "{around_words(closest, phrase, 120)}")' if best >= 0.5 else ""


def _pairs(text: str) -> set[str]:
    text = fold(text)
    return {text[at : at + 3] for at in range(len(text) - 2)}


@model
class OutputOmits(Assertion):
    """The final output contains none of the given phrases or patterns.

    Phrases and patterns are found as by `output_contains`. Phrases are also found as people read them: across line breaks and
    non-breaking spaces, and with emphasis, soft hyphens and invisible characters inside. Vacuous without a final output.
    """

    type: ClassVar[str] = "output_omits"
    category: ClassVar[Category] = "outcome"
    failure_category: ClassVar[str] = "unwanted content in the output"
    proves: ClassVar[tuple[Proof, ...]] = ("pass", "fail")
    example: ClassVar[str] = """\
patterns: [as an AI language model, I cannot browse]
"""

    patterns: list[str]
    """Phrases, or regular expressions, that must not occur."""
    regex: bool = False
    """True if `patterns` are regular expressions."""
    case_sensitive: bool = False
    """True if upper and lower case differ."""

    def __post_init__(self) -> None:
        if not self.patterns:
            raise ValueError("patterns is empty: give at least one thing that must not occur")
        check_phrases("patterns", self.patterns)
        if self.regex:
            check_patterns("patterns", self.patterns, case_sensitive=self.case_sensitive)

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        if not has_output(trace):
            return nothing_said(trace)
        texts = readings(composed(trace.output))
        found = [hit for pattern in self.patterns if (hit := self._hit(pattern, texts))]
        absent = [pattern for pattern in self.patterns if all(pattern != hit["pattern"] for hit in found)]
        events = output_events(trace)
        if found:
            hits = [f'{self._shown(h["pattern"])} occurs in line {h["line"]}: "{h["text"]}"' for h in found]
            none = "none of" if len(self.patterns) > 1 else "no"
            wanted = f"expected {none} {listed_names([*map(self._shown, self.patterns)])} in the output"
            return failed(f"{wanted}; {first_of(hits)}", events=events, found=found, absent=absent)
        shown = listed_names([*map(self._shown, absent)])
        return passed(f"the output holds no {shown}", events=events, found=[], absent=absent)

    def _hit(self, pattern: str, texts: Sequence[str]) -> dict[str, Any] | None:
        for text in texts:
            place = self._first(pattern, text)
            if place is not None:
                line = text.count("\n", 0, place) + 1
                column = place - text.rfind("\n", 0, place) - 1
                return {"pattern": pattern, "line": line, "text": around(line_at(text, place), column, 120)}
        # No exact match: look across line breaks, emphasis and invisible characters, where only the line is known.
        for line in [] if self.regex else lines_with(pattern, texts[-1], case_sensitive=self.case_sensitive):
            return {
                "pattern": pattern,
                "line": line,
                "text": cut(texts[-1].split("\n")[line - 1].strip(), 120),
            }
        return None

    def _shown(self, pattern: Any) -> str:
        return f"/{pattern}/" if self.regex else f'"{pattern}"'

    def _first(self, pattern: str, output: str) -> int | None:
        """Return the offset of the first match in the output; for a phrase the line is exact, the column approximate."""
        if self.regex:
            match = search(composed(pattern), output, case_sensitive=self.case_sensitive)
            return int(match.start()) if match else None
        folded = _comparable(output, case_sensitive=self.case_sensitive)
        place = place_of(_comparable(pattern, case_sensitive=self.case_sensitive), folded)
        if place < 0:
            return None
        line = folded.count("\n", 0, place)  # folding moves offsets a little, but no line
        column = place - folded.rfind("\n", 0, place) - 1
        lines = output.split("\n")
        return sum(len(each) + 1 for each in lines[:line]) + min(column, len(lines[line]))


@model
class AskClarifyingWhenAmbiguous(Assertion):
    """The agent asks the user instead of guessing.

    A question is a sentence of the final output that ends in a question mark, with the list directly below it. Quotations, code,
    URLs and courtesies like "Anything else?" are no questions. A tool call that delivered the question is not forbidden. With
    `forbidden_tools`, skipped if the recording does not show tool calls.
    """

    type: ClassVar[str] = "ask_clarifying_when_ambiguous"
    category: ClassVar[Category] = "outcome"
    failure_category: ClassVar[str] = "guessed instead of asking"
    proves: ClassVar[tuple[Proof, ...]] = ("fail",)
    example: ClassVar[str] = """\
topics: [which report, quarterly, annual]
forbidden_tools: [outbound_send]
max_questions: 2
"""

    topics: list[str] = field(default_factory=list)
    """Phrases. A question must mention at least one of them."""
    forbidden_tools: list[str] = field(default_factory=list)
    """Tools (names or globs) that must not be called before the question."""
    max_questions: Annotated[int, Between(1)] | None = None
    """The most questions the agent may ask."""

    def __post_init__(self) -> None:
        check_phrases("topics", self.topics)

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        if self.forbidden_tools and not trace.capabilities.supports_tool_trace:
            return unsupported("supports_tool_trace", "forbidden_tools")
        if not has_output(trace):
            return no_output("the output to ask the user a question", trace)
        asked = list(questions(trace.output))
        on_topic = [question for question in asked if self._mentions_topic(question)]
        hasty = self._forbidden_calls(trace, case)
        reasons = list(self._reasons(asked, on_topic, hasty))
        events = [*output_events(trace), *(call.event for call in hasty)]
        observed: dict[str, Any] = {
            "questions": asked,
            "on_topic": on_topic,
            "forbidden_calls": [call.event.event_id for call in hasty],
        }
        if reasons:
            kind = "" if hasty or not asked else "too many questions" if on_topic else "other question asked"
            return failed("; ".join(reasons), events=events, category=kind, **observed)
        number = "a question" if len(asked) == 1 else f"{len(asked)} questions"
        message = f'the output asks {number}: "{cut(on_topic[0], 120)}"'
        return passed(message, events=events, proven=not self.forbidden_tools, **observed)

    def _reasons(
        self, asked: Sequence[str], on_topic: Sequence[str], hasty: Sequence[ToolCall]
    ) -> Iterator[str]:
        if not asked:
            yield "expected the output to ask the user a question, but it asks none"
        elif not on_topic:
            topics = ("one of " if len(self.topics) > 1 else "") + _quoted(self.topics)
            yield f'expected a question about {topics}, but the output asks: "{cut(asked[0], 120)}"'
        if self.max_questions is not None and len(asked) > self.max_questions:
            yield f"expected at most {counted(self.max_questions, 'question')}, got {len(asked)}"
        if hasty:
            calls = ", ".join(f"{call.tool} ({call.event.event_id})" for call in hasty)
            yield f"expected no call of {', '.join(self.forbidden_tools)} before the agent asked, got {calls}"

    def _mentions_topic(self, question: str) -> bool:
        return not self.topics or any(
            holds(_comparable(question), _comparable(topic)) for topic in self.topics
        )

    def _forbidden_calls(self, trace: Trace, case: TestCase) -> list[ToolCall]:
        """Return the calls of forbidden tools before the question, without the calls that delivered it."""
        output = output_events(trace)
        end = output[0].seq if output else float("inf")
        asking = (output[0].data.get("sent_by") or ()) if output else ()
        return [
            call
            for call in trace.calls()
            if call.event.seq < end
            and call.call_id not in asking
            and is_forbidden(self.forbidden_tools, call, case.tools.available)
        ]


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
    """The final output has the right format.

    `bullet_list`: lines that start with `-`, `*`, `+`, `•` or `–` and a space, nested ones too; other text is allowed.
    `numbered_list`: lines that start with `1.`, `1)` or `(1)`.
    `paragraphs`: runs of prose between blank lines; no headings, lists, tables, quotations or code.
    `json`: the whole output, or one code block that is all of it, is strict JSON without duplicate keys.
    `max_length`: characters, words or lines, without white space around them.

    Fails without a final output. Vacuous if any number of items is allowed, unless there are items and their sentences are limited.
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
    """bullet_list: the fewest bullets; 1 by default."""
    max_bullets: Annotated[int, Between(0)] | None = None
    """bullet_list: the most bullets."""
    max_sentences_per_bullet: Annotated[int, Between(1)] | None = None
    """bullet_list, numbered_list: the most sentences in an item, without citations and links."""
    min_items: Annotated[int, Between(0)] | None = None
    """numbered_list: the fewest items; 1 by default."""
    max_items: Annotated[int, Between(0)] | None = None
    """numbered_list: the most items."""
    exact_paragraphs: Annotated[int, Between(1)] | None = None
    """paragraphs: the exact number."""
    min_paragraphs: Annotated[int, Between(0)] | None = None
    """paragraphs: the fewest; 1 by default."""
    max_paragraphs: Annotated[int, Between(0)] | None = None
    """paragraphs: the most."""
    required_keys: list[str] = field(default_factory=list)
    """json: keys, or dotted paths like `items.0.url`, that must be present."""
    json_schema: dict[str, Any] | None = None
    """json: a JSON Schema for the value."""
    max_chars: Annotated[int, Between(1)] | None = None
    """max_length: the most characters."""
    max_words: Annotated[int, Between(1)] | None = None
    """max_length: the most words; each Chinese or Japanese character is one."""
    max_lines: Annotated[int, Between(1)] | None = None
    """max_length: the most lines, blank ones included."""

    def __post_init__(self) -> None:
        own = PARAMETERS[self.format]
        for other, names in PARAMETERS.items():
            for name in names:
                if name not in own and getattr(self, name) not in (None, []):
                    raise WrongPart(f"{name} belongs to {other}, not to {self.format}", name)
        if self.format == "max_length" and all(getattr(self, name) is None for name in own):
            raise ValueError("max_length needs at least one of max_chars, max_words and max_lines")
        for low, high in _ORDERED:
            least, most = getattr(self, low), getattr(self, high)
            if least is not None and most is not None and least > most:
                raise WrongPart(f"{low} is {least}, which is more than {high}, {most}", low)
        if self.json_schema is not None and (fault := schema_fault(self.json_schema)):
            raise WrongPart(fault, "json_schema")

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        name = _NAMES[self.format]
        if not has_output(trace):
            return no_output(f"the output to be {name}", trace)
        judges = {"json": self._json, "max_length": self._length}
        reasons, got, observed = judges.get(self.format, self._items)(trace.output)
        if reasons:
            return failed(first_of(reasons), events=output_events(trace), **observed)
        any_fits = self.format in _COUNTED and self._bounds() == (0, None)
        if any_fits and not (self.max_sentences_per_bullet and observed["sentences"]):
            return vacuous(f"any number fits, and the output has {got}", **observed)
        return passed(f"the output is {name}: {got}", events=output_events(trace), **observed)

    def _bounds(self) -> tuple[int | None, int | None]:
        """Return the fewest and the most items that the test allows; None where it sets no bound."""
        if self.exact_paragraphs is not None:
            return self.exact_paragraphs, self.exact_paragraphs
        low, high = (
            name
            for name in PARAMETERS[self.format]
            if name[:4] in ("min_", "max_") and name[-7:] != "_bullet"
        )
        return getattr(self, low), getattr(self, high)

    def _items(self, output: str) -> "_Finding":
        name, find = _COUNTED[self.format]
        found = find(output)
        low, high = self._bounds()
        least = min(1, 1 if high is None else high) if low is None else low  # one, unless none is allowed
        reasons = []
        if len(found) < least or (high is not None and len(found) > high):
            wanted = amount(low if found else least, high, name)
            reasons.append(f"expected {wanted}, got {len(found) or 'none'}")
        got = counted(len(found), name)
        if self.format == "paragraphs":
            return reasons, got, {"paragraphs": len(found), "starts": [cut(each, 60) for each in found]}
        counts = list(map(_sentences, found))
        limit = self.max_sentences_per_bullet
        for number, (item, count) in enumerate(zip(found, counts, strict=True), 1):
            if limit is not None and count > limit:
                most = f"expected at most {counted(limit, 'sentence')} per {name}"
                reasons.append(f'{most}, got {count} in {name} {number}: "{cut(item, 120)}"')
        return reasons, got, {f"{name.split()[-1]}s": len(found), "sentences": counts}

    def _json(self, output: str) -> "_Finding":
        from agenteval.contracts.errors import FileError
        from agenteval.reading.jsonsource import parse_json

        text, outside = _json_text(output)
        try:
            value = parse_json(text, Path("the output"))
        except FileError as error:
            wrong = error.problems[0]
            fault = wrong.message.removeprefix("not valid JSON: ").replace("the file", "the output")
            hint = " (a code block holds JSON, but there is text outside it)" if outside else ""
            place = f"line {wrong.line}, column {wrong.column}"
            return [f"expected the output to be JSON, but at {place}: {fault}{hint}"], "", {}
        missing = [key for key in self.required_keys if lookup(value, key) is MISSING]
        differences = schema_differences(self.json_schema, value) if self.json_schema is not None else []
        got = (
            f"an object with {', '.join(list(value)[:10]) or 'no keys'}"
            if isinstance(value, dict)
            else cut(show(value), 60)
        )
        reasons = [f"expected the JSON to have {', '.join(missing)}, got {got}"] if missing else []
        if differences:
            reasons.append(f"expected the JSON to fit json_schema, but {'; '.join(differences)}")
        return reasons, got, {"missing_keys": missing, "schema_differences": differences}

    def _length(self, output: str) -> "_Finding":
        text = output.strip()
        sizes = {"character": len(text), "word": len(words(text)), "line": len(text.splitlines())}
        limits = {"character": self.max_chars, "word": self.max_words, "line": self.max_lines}
        reasons = [
            f"expected at most {counted(limit, unit)}, got {sizes[unit]}"
            for unit, limit in limits.items()
            if limit is not None and sizes[unit] > limit
        ]
        got = ", ".join(counted(size, unit) for unit, size in sizes.items())
        return reasons, got, dict(zip(("chars", "words", "lines"), sizes.values(), strict=True))


_Finding = tuple[list[str], str, dict[str, Any]]
"""The reasons to fail, a description of the output, and the values that were judged."""

# Pairs of parameters where the first must not exceed the second.
_ORDERED = (
    ("min_bullets", "max_bullets"),
    ("min_items", "max_items"),
    ("min_paragraphs", "max_paragraphs"),
    ("min_paragraphs", "exact_paragraphs"),
    ("exact_paragraphs", "max_paragraphs"),
)
_NAMES = {
    "bullet_list": "a bullet list",
    "numbered_list": "a numbered list",
    "paragraphs": "in paragraphs",
    "json": "JSON",
    "max_length": "short enough",
}
_COUNTED: dict[str, tuple[str, Callable[[str], list[str]]]] = {
    "bullet_list": ("bullet", bullets),
    "numbered_list": ("numbered item", numbered_items),
    "paragraphs": ("paragraph", paragraphs),
}


def _sentences(item: str) -> int:
    """Count the sentences of an item. A citation, a link or a remark in brackets behind a sentence does not count."""
    first, *others = sentences(item) or [""]
    return bool(first) + sum(1 for other in others if not _REFERENCE.fullmatch(other))


# A sentence that is only a reference: `(Source: [Reuters](https://…))`, `[1]`, `Read more: https://…`.
_REFERENCE = lazy(
    r"(?:[^\w\s\[(]{1,3}\s)?(?:(?i:sources?|links?|read more|more) ?: ?)?"
    r"(?:(?:\[[^\[\]]*\](?:\([^\s()]*\))?|\([^()]*[^().!?\s]\)|https?://\S+(?=\s|\Z))[\s,;.|*_]*)+"
)

_FENCE = lazy(r"(?i)(?:`{3,}|~{3,})[ \t]*(?:json)?[ \t]*")
# Models write fences on one line, too. To a Markdown parser these are inline code, not a code block.
_ON_ONE_LINE = lazy(r"(?i)```(?:json\b)?([^`\n]+)```")


def _json_text(output: str) -> tuple[str, bool]:
    """Return the text that should be JSON, and whether there is a code block beside other text."""
    stripped = output.strip()
    parts = blocks(stripped)
    if on_one_line := _ON_ONE_LINE.fullmatch(stripped):
        return on_one_line[1], False
    if len(parts) == 1 and parts[0].kind == "code":
        lines = stripped.splitlines()
        if _FENCE.fullmatch(lines[0]) and _FENCE.fullmatch(lines[-1]):
            return parts[0].text, False
    return stripped, len(parts) > 1 and any(part.kind == "code" for part in parts)
