"""What the final output says, and what it must not say; whether it asks (SPEC 14, output and correctness)."""

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Annotated, Any, ClassVar

from agenteval.assertions.base import Assertion, Category, Proof, Verdict, failed, passed, unsupported
from agenteval.assertions.telling import (
    check_phrases,
    first_of,
    has_output,
    listed_names,
    no_output,
    nothing_said,
    output_events,
)
from agenteval.contracts.models import Between, WrongPart, model
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import ToolCall, Trace
from agenteval.matching.patterns import pattern_error, search, shown
from agenteval.matching.selectors import is_any_of
from agenteval.text.fitting import around, around_words, counted, cut
from agenteval.text.parts import composed, fold, holds, line_at, place_of, readings, straight
from agenteval.text.questions import questions


def check_patterns(name: str, patterns: str | Sequence[str], *, case_sensitive: bool) -> None:
    """Refuse a pattern that every text matches, and what is not a regular expression. Raises ValueError."""
    for index, pattern in enumerate([patterns] if isinstance(patterns, str) else patterns):
        path = (name,) if isinstance(patterns, str) else (name, index)
        if not pattern:
            raise WrongPart(f"{name} holds an empty pattern, which every output matches: remove it", *path)
        if error := pattern_error(pattern, case_sensitive=case_sensitive):
            raise WrongPart(f"the pattern {shown(pattern)} is not a regular expression: {error}", *path)


@model
class OutputContains(Assertion):
    """The final output contains what it should.

    Passes if all given conditions hold: at least one phrase of `any_of`, every phrase of `all_of`, and a
    match of every pattern of `regex`. At least one of the three is required. Phrases are found anywhere in
    the text, even inside words, but no digits inside a longer number: `11` is not in `711` or `11.5`. Case is ignored unless `case_sensitive` is set; spaces and line breaks must
    match exactly, and typographic apostrophes and quotation marks are as good as straight ones. In patterns, `^` and `$` match at every line. Fails if the final output is missing or blank.
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
    """Phrases of which at least one must occur."""
    all_of: list[str] = field(default_factory=list)
    """Phrases that must all occur."""
    regex: list[str] | str = field(default_factory=list)
    """Regular expressions that must all match somewhere. A single one needs no list."""
    case_sensitive: bool = False
    """Whether phrases and patterns are case-sensitive."""

    def __post_init__(self) -> None:
        if not (self.any_of or self.all_of or self.regex):
            raise ValueError("nothing to look for: give at least one of any_of, all_of and regex")
        check_phrases("any_of", self.any_of, blanks_count=True)
        check_phrases("all_of", self.all_of, blanks_count=True)
        check_patterns("regex", self.regex, case_sensitive=self.case_sensitive)

    @property
    def _patterns(self) -> list[str]:
        return [self.regex] if isinstance(self.regex, str) else self.regex

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - the output is all it judges
        """Judge one trace."""
        if not has_output(trace):
            return no_output(f"the output to contain {self._wanted()}", trace)
        output, events = composed(trace.output), output_events(trace)
        texts = readings(output)
        folded = [_comparable(text, case_sensitive=self.case_sensitive) for text in texts]
        found = [phrase for phrase in [*self.any_of, *self.all_of] if self._occurs(phrase, folded)]
        matched = [pattern for pattern in self._patterns if self._matches(pattern, texts)]
        missing = [phrase for phrase in self.all_of if phrase not in found]
        unmatched = [pattern for pattern in self._patterns if pattern not in matched]
        reasons = [f"{_quoted([phrase])} is missing{_near(phrase, output)}" for phrase in missing]
        if self.any_of and not any(phrase in found for phrase in self.any_of):
            missing += [phrase for phrase in self.any_of if phrase not in missing]
            reasons.append(self._none_of_any(output))
        reasons += [f"/{pattern}/ does not match" for pattern in unmatched]
        observed: dict[str, Any] = {"found": found + matched, "missing": missing + unmatched}
        if reasons:
            message = f"expected the output to contain {self._wanted()}; {first_of(reasons)}"
            return failed(message, events=events, **observed)
        return passed(f"the output contains {_quoted(found + matched)}", events=events, **observed)

    def _none_of_any(self, output: str) -> str:
        if len(self.any_of) == 1:
            return f"{_quoted(self.any_of)} is missing{_near(self.any_of[0], output)}"
        hints = (_near(phrase, output, name=_quoted([phrase])) for phrase in self.any_of)
        return f"none of {_quoted(self.any_of)} occurs{next(filter(None, hints), '')}"

    def _occurs(self, phrase: str, folded: Sequence[str]) -> bool:
        wanted = _comparable(phrase, case_sensitive=self.case_sensitive)
        return any(holds(text, wanted) for text in folded)

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
    """The form in which phrases are looked for: typographic quotation marks are as good as straight ones."""
    return straight(fold(text, case_sensitive=case_sensitive))


def _quoted(phrases: Sequence[str]) -> str:
    return listed_names([f'"{phrase}"' for phrase in phrases])


def _near(phrase: str, output: str, *, name: str = "it") -> str:
    """How the output almost contains a phrase, which is called `name`, as the end of a sentence; empty when it does not."""
    wanted, text = _comparable(phrase), _comparable(output)
    if holds(text, wanted):
        return f" ({name} occurs in a different case)"
    if wanted in text:
        return f" ({name} occurs, but inside a longer number)"
    if " ".join(wanted.split()) in " ".join(text.split()):
        return f" ({name} occurs with different spaces or line breaks)"
    pairs = _pairs(phrase)
    best, closest = 0.0, ""
    for line in output.splitlines()[:500]:
        got = _pairs(line[:1000])
        share = len(pairs & got) / len(pairs) if pairs else 0.0
        if share > best:
            best, closest = share, line
    return f' (closest line: "{around_words(closest, phrase, 120)}")' if best >= 0.5 else ""


def _pairs(text: str) -> set[str]:
    text = fold(text)
    return {text[at : at + 3] for at in range(len(text) - 2)}


@model
class OutputOmits(Assertion):
    """The final output contains none of the given phrases or patterns.

    Passes if none of `patterns` occurs. They are phrases, found anywhere in the text, even inside words, but no digits inside a
    longer number: `11` is not in `711` or `11.5`. With
    `regex: true` they are regular expressions, in which `^` and `$` match at every line. Case is ignored
    unless `case_sensitive` is set. In phrases, typographic apostrophes and quotation marks are as good as straight
    ones. Vacuous if the final output is missing or blank.
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
    """Whether `patterns` are regular expressions."""
    case_sensitive: bool = False
    """Whether they are case-sensitive."""

    def __post_init__(self) -> None:
        if not self.patterns:
            raise ValueError("patterns is empty: give at least one thing that must not occur")
        check_phrases("patterns", self.patterns, blanks_count=True)
        if self.regex:
            check_patterns("patterns", self.patterns, case_sensitive=self.case_sensitive)

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - the output is all it judges
        """Judge one trace."""
        if not has_output(trace):
            return nothing_said(trace)
        texts = readings(composed(trace.output))
        found = [hit for pattern in self.patterns if (hit := self._hit(pattern, texts))]
        absent = [pattern for pattern in self.patterns if all(pattern != hit["pattern"] for hit in found)]
        events = output_events(trace)
        if found:
            places = first_of(
                [
                    f'{self._shown(hit["pattern"])} occurs in line {hit["line"]}: "{hit["text"]}"'
                    for hit in found
                ]
            )
            none = listed_names([*map(self._shown, self.patterns)])
            none = f"none of {none}" if len(self.patterns) > 1 else f"no {none}"
            return failed(
                f"expected {none} in the output; {places}", events=events, found=found, absent=absent
            )
        shown = listed_names([*map(self._shown, absent)])
        return passed(f"the output holds no {shown}", events=events, found=[], absent=absent)

    def _hit(self, pattern: str, texts: Sequence[str]) -> dict[str, Any] | None:
        for text in texts:
            place = self._first(pattern, text)
            if place is not None:
                line = text.count("\n", 0, place) + 1
                column = place - text.rfind("\n", 0, place) - 1
                return {"pattern": pattern, "line": line, "text": around(line_at(text, place), column, 120)}
        return None

    def _shown(self, pattern: Any) -> str:
        return f"/{pattern}/" if self.regex else f'"{pattern}"'

    def _first(self, pattern: str, output: str) -> int | None:
        """Offset of the first match in the output; for a phrase the line is exact, the column approximate."""
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

    Passes if the final output asks the user at least one question and at most `max_questions`, one of them
    mentions one of `topics`, and none of `forbidden_tools` was called before. A question is a sentence that
    ends in a question mark. Quotation marks, block quotes, code and URLs do not count, nor do courtesies such
    as "Anything else I can help with?". A list directly below a question belongs to it. A send that delivered
    the question (`sent_by`) is not forbidden. With `forbidden_tools`, the check is skipped if the recording
    does not show tool calls.
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
    """Phrases of which a question must mention at least one."""
    forbidden_tools: list[str] = field(default_factory=list)
    """Tools (names or globs) that must not be called before the agent has asked."""
    max_questions: Annotated[int, Between(1)] | None = None
    """The most questions the agent may ask."""

    def __post_init__(self) -> None:
        check_phrases("topics", self.topics)

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - the trace is all it judges
        """Judge one trace."""
        if self.forbidden_tools and not trace.capabilities.supports_tool_trace:
            return unsupported(
                "supports_tool_trace", "forbidden_tools needs supports_tool_trace, which the recording lacks"
            )
        if not has_output(trace):
            return no_output("the output to ask the user a question", trace)
        asked = list(questions(trace.output))
        on_topic = [question for question in asked if self._mentions_topic(question)]
        hasty = self._forbidden_calls(trace)
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
        count = "a question" if len(asked) == 1 else f"{len(asked)} questions"
        told = f'the output asks {count}: "{cut(on_topic[0], 120)}"'
        return passed(told, events=events, proven=not self.forbidden_tools, **observed)

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
            forbidden = ", ".join(self.forbidden_tools)
            yield f"expected no call of {forbidden} before the agent asked, got {calls}"

    def _mentions_topic(self, question: str) -> bool:
        return not self.topics or any(
            holds(_comparable(question), _comparable(topic)) for topic in self.topics
        )

    def _forbidden_calls(self, trace: Trace) -> list[ToolCall]:
        output = output_events(trace)
        end = output[0].seq if output else float("inf")
        asking = (output[0].data.get("sent_by") or ()) if output else ()
        return [
            call
            for call in trace.calls()
            if call.event.seq < end and call.call_id not in asking and is_any_of(self.forbidden_tools, call)
        ]
