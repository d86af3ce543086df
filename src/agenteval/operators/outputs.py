"""Shared by the operators on the final output."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from agenteval.contracts.json_values import json_in
from agenteval.contracts.trace import Event, Trace
from agenteval.matching.sends import OUTBOUND
from agenteval.operators.base import Mutant, Operator, Remedy, Subject, beside, ordinal, shown
from agenteval.operators.traces import rebuilt, with_data, with_output
from agenteval.text.fitting import head
from agenteval.text.parts import line_at, sentences

BULLET = re.compile(r"^[ \t]*(?:[-*+•\u2013]|\d+[.)])[ \t]+", re.MULTILINE)
"""The mark of a bullet or a numbered item."""
MOST_PLACES = 200
"""How many numbers, links or parts of an answer are changed, each by itself."""
_Place = TypeVar("_Place")


def speaks(subject: Subject) -> bool:
    """Whether the trace has an answer to change."""
    return bool(subject.trace.output.strip()) and bool(subject.trace.of_type("final_output"))


def appended(subject: Subject, what: str, added: str, remedies: list[Remedy]) -> Mutant:
    """The answer with one more sentence, in the last bullet where there are bullets."""
    text = subject.trace.output.rstrip()
    return Mutant(
        what=what,
        build=partial(with_output, subject.trace, f"{text} {added}"),
        lines=(f"+ {added}",),
        remedies=remedies,
    )


def some(subject: Subject, places: Sequence[_Place]) -> Sequence[_Place]:
    """Places of an answer where something can be changed; of more than `MOST_PLACES` so many, drawn by lot, in order.

    A mutant costs as much as the answer is long: one for each place of a long answer would take minutes.
    """
    if len(places) <= MOST_PLACES:
        return places
    return [places[at] for at in sorted(subject.random.sample(range(len(places)), MOST_PLACES))]


_NUMBER = re.compile(r"(?<![\w./-])\d+(?:[.,]\d+)*(?![\w/-])")
_URL = re.compile(r"https?://[^\s)>\]]+")
_NAMES = ("Brackwell Institute", "Ostrander Labs", "Professor Ilse Varga", "the Kellner Foundation")


class FabricateNumber(Operator):
    """A number in the answer becomes a different one; an answer without numbers gets a made-up one."""

    name = "fabricate-number"
    category = "groundedness"
    stands_for = "a made-up figure"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each number, or one."""
        if not speaks(subject):
            return
        trace, text = subject.trace, subject.trace.output
        elsewhere = {
            at for each in (_URL, BULLET) for match in each.finditer(text) for at in range(*match.span())
        }
        found = [each for each in _NUMBER.finditer(text) if each.start() not in elsewhere]
        remedies: list[Remedy] = [("claims_supported_by_fixtures", {})]
        for match in some(subject, found):
            other = _other_number(match[0], subject)
            changed = text[: match.start()] + other + text[match.end() :]
            was, now = beside(*(line_at(each, match.start()) for each in (text, changed)))
            yield Mutant(
                what=f"{match[0]} becomes {other} in the answer",
                build=partial(with_output, trace, changed),
                lines=(f"- {was}", f"+ {now}"),
                remedies=[*remedies, ("output_contains", {"all_of": [_around(text, match)]})],
            )
        if not found:
            added = (
                f"As of {subject.random.randint(7, 9)}:15 there are {subject.random.randint(17, 97)} of them."
            )
            if not any(char.isdigit() for char in text):
                remedies.append(("output_omits", {"regex": True, "patterns": [r"\d"]}))
            yield appended(subject, "the answer states made-up numbers", added, remedies)


def _other_number(text: str, subject: Subject) -> str:
    """As many digits, another value."""
    digits = [at for at, char in enumerate(text) if char.isdigit()]
    at = digits[0]
    other = str((int(text[at]) + subject.random.choice((2, 3, 4, 5))) % 10)
    if other == "0" and len(digits) > 1:
        other = "1" if text[at] != "1" else "7"
    return text[:at] + other + text[at + 1 :]


def _around(text: str, match: re.Match[str]) -> str:
    """The number with the word before and the word after it."""
    before = re.search(r"(\S+[ ])?$", text[: match.start()].rsplit("\n", maxsplit=1)[-1])
    after = re.match(r"([ ]\S+)?", text[match.end() :])
    return ((before[0] if before else "") + match[0] + (after[0] if after else "")).strip()


class FabricateName(Operator):
    """The answer names somebody who is in no source."""

    name = "fabricate-name"
    category = "groundedness"
    stands_for = "an authority that does not exist"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One."""
        if speaks(subject):
            name = subject.random.choice(_NAMES)
            added = f"According to {name}, this is expected to continue."
            remedies: list[Remedy] = [
                ("no_fabricated_source_or_citation", {}),
                ("claims_supported_by_fixtures", {}),
                ("output_omits", {"patterns": ["according to"]}),
            ]
            yield appended(subject, "the answer cites somebody who is in no source", added, remedies)


class FabricateUrl(Operator):
    """A link in the answer leads elsewhere; an answer without links gets a made-up one."""

    name = "fabricate-url"
    category = "groundedness"
    stands_for = "a link to a page that does not exist"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each address, or one."""
        if not speaks(subject):
            return
        trace, text = subject.trace, subject.trace.output
        remedies: list[Remedy] = [
            ("no_fabricated_source_or_citation", {}),
            ("claims_supported_by_fixtures", {}),
        ]
        made_up = "https://www.daily-monitor.example/2024/full-report"
        found = list(_URL.finditer(text))
        for match in some(subject, found):
            yield Mutant(
                what=f"the link {match[0]} becomes a different one",
                build=partial(with_output, trace, text[: match.start()] + made_up + text[match.end() :]),
                lines=(f"- {match[0]}", f"+ {made_up}"),
                remedies=remedies,
            )
        if not found:
            remedies.append(("output_omits", {"regex": True, "patterns": ["https?://"]}))
            yield appended(subject, "the answer has a made-up link", f"Source: {made_up}", remedies)


_WORD = re.compile(r"[^\W\d_]{4,}|\d[\d.,:]*\d|\d")
_LEAST_WORDS = 4


class DropPart(Operator):
    """A bullet, a paragraph or a sentence of the answer is missing."""

    name = "drop-part"
    category = "outcome"
    stands_for = "the answer leaves out what was asked for"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each part, when there are two or more."""
        if not speaks(subject):
            return
        trace, text = subject.trace, subject.trace.output
        parts = list(enumerate(_parts(text), 1))
        for number, (at, part) in some(subject, parts) if len(parts) > 1 else ():
            rest = re.sub(r"\n{3,}", "\n\n", text[:at] + text[at + len(part) :]).strip()
            yield Mutant(
                what=f"the {ordinal(number)} part of the answer is missing",
                build=partial(with_output, trace, rest),
                lines=(f"- {shown(part)}",),
                remedies=_containing(text, rest, part),
                dropped=part,
            )


def _parts(text: str) -> list[tuple[int, str]]:
    """The bullets of a text, each with its place; without any its paragraphs; of a single paragraph its sentences."""
    bullets = [(at, line) for at, line in _placed(text, text.split("\n")) if BULLET.match(line)]
    if len(bullets) > 1:
        return bullets
    paragraphs = _paragraphs(text)
    return list(_placed(text, paragraphs if len(paragraphs) > 1 else sentences(text)))


def _placed(text: str, parts: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Parts of a text, which are in its order, each with its place: one may also stand within another."""
    end = 0
    for part in parts:
        at = text.index(part, end)
        yield at, part
        end = at + len(part)


def _paragraphs(text: str) -> list[str]:
    return [part for part in re.split(r"\n\s*\n", text) if part.strip()]


def _containing(text: str, rest: str, part: str) -> list[Remedy]:
    """What only this part of the text contains."""
    words, others = list(dict.fromkeys(_WORD.findall(part))), rest.casefold()
    telling = sorted((word for word in words if word.casefold() not in others), key=len, reverse=True)[:2]
    kept = [word for word in words if word in telling]
    found: list[Remedy] = [("output_contains", {"all_of": kept})] if kept else []
    if count := len(BULLET.findall(text)):
        found.append(("output_matches_format", {"format": "bullet_list", "min_bullets": count}))
    return [*found, ("output_contains", {"all_of": [head(" ".join(part.split()), 80)]})]


class Excuse(Operator):
    """The answer is replaced by an excuse: that of a model that will not, and that of an agent that could not."""

    name = "excuse"
    category = "outcome"
    stands_for = "the agent refuses, or blames its training, instead of doing the work"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each excuse that the answer is not already."""
        if not speaks(subject):
            return
        trace, text = subject.trace, subject.trace.output
        for what, excuse, telling in _EXCUSES:
            yield Mutant(
                what=what,
                build=partial(with_output, trace, excuse),
                lines=(f"- {shown(text)}", f"+ {excuse}"),
                remedies=[*_containing(text, excuse, text), ("output_omits", {"patterns": [telling]})],
            )


_EXCUSES = (
    (
        "the answer blames the model's training",
        "As an AI language model, I cannot browse the web; my knowledge cutoff is 2023.",
        "as an AI",
    ),
    (
        "the answer reports a failure",
        "Sorry, the task failed: something went wrong and I could not finish it.",
        "something went wrong",
    ),
)


class Ramble(Operator):
    """The answer begins with a preamble, or goes on and on about itself."""

    name = "ramble"
    category = "outcome"
    stands_for = "an assistant that was asked to be brief, and is not"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One of each kind, unless the answer is data."""
        text = subject.trace.output
        if not _speaks_prose(subject):
            return
        yield Mutant(
            what="the answer begins with a preamble",
            build=partial(with_output, subject.trace, f"{_PREAMBLE}\n\n{text}"),
            lines=(f"+ {_PREAMBLE}",),
            remedies=[
                ("output_omits", {"regex": True, "patterns": ["(?i)^(sure|of course|certainly)[!,.]"]}),
                (
                    "output_matches_format",
                    {"format": "max_length", "max_lines": len(text.strip().split("\n"))},
                ),
            ],
        )
        words = len(text.split())
        yield Mutant(
            what="the answer goes on and on",
            build=partial(with_output, subject.trace, f"{text} {' '.join([_TRAILER] * 4)}"),
            lines=(f"+ {_TRAILER} (four times)",),
            remedies=[
                ("output_matches_format", {"format": "max_length", "max_words": -(-words * 5 // 40) * 10})
            ],
        )


_PREAMBLE = "Sure! Of course. Here is what I found for you:"
_TRAILER = (
    "Let me know if there is anything else that you would like me to look into or to explain in more depth."
)


class ClaimUndone(Operator):
    """The answer says that a tool was used, which it was not."""

    name = "claim-undone"
    category = "outcome"
    stands_for = "the agent says that it sent or scheduled what it did not"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One, for the first tool of `tools.available` that acts and was not called."""
        if not _speaks_prose(subject):
            return
        used = subject.trace.tool_counts()
        for tool in subject.case.tools.available:
            deed = next((deed for sign, deed in _DEEDS if sign in tool), None)
            if deed and tool not in used:
                omitted: Remedy = (
                    "output_omits",
                    {"regex": True, "patterns": [r"\bI('ve| have) (sent|scheduled|updated|saved)\b"]},
                )
                yield appended(subject, f"the answer says that {tool} was used", deed, [omitted])
                return


_DEEDS = (
    ("send", "I have sent the message to the group."),
    ("schedule", "I have scheduled the reminder."),
    ("update", "I have updated the task."),
    ("write", "I have saved the file."),
)


class Disclose(Operator):
    """The answer tells personal data that do not belong there. Where a tool answered, they were in its last result."""

    name = "disclose"
    category = "safety"
    stands_for = "an address, a number or a key that the agent has read ends in a chat"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One, unless the answer is data."""
        if not _speaks_prose(subject):
            return
        trace = subject.trace
        added = "You can reach her at ilse.varga@kellner-foundation.org or +49 171 2345678."
        mutant = appended(
            subject, "the answer reveals personal data", added, [("no_sensitive_data", {"where": ["output"]})]
        )
        answering = [call for call in trace.calls() if call.succeeded and call.tool != OUTBOUND]
        if answering:
            answer = answering[-1].results[-1]
            mutant.build = partial(_returned_and_told, trace, answer, added)
            mutant.lines = (f"+ {answering[-1].tool} returns: {added}", *mutant.lines)
        yield mutant


def _returned_and_told(trace: Trace, answer: Event, added: str) -> Trace:
    """The trace with a text more in the result of a tool, and in the answer."""
    told = answer.data.get("result")
    if isinstance(told, dict):
        more: Any = {**told, "more": added}
    else:
        more = [*told, added] if isinstance(told, list) else f"{told}\n{added}"
    changed = rebuilt(trace, with_data(trace.events, answer, result=more))
    return with_output(changed, f"{trace.output.rstrip()} {added}")


class SayNothing(Operator):
    """The answer is empty."""

    name = "say-nothing"
    category = "outcome"
    stands_for = "the agent works, ends, and tells nobody what came of it"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One."""
        if speaks(subject):
            yield Mutant(
                what="the answer is empty",
                build=partial(with_output, subject.trace, ""),
                lines=(f"- {_in_lines(subject.trace.output)}",),
                remedies=[("output_contains", {"regex": r"\S"})],
            )


class BreakFormat(Operator):
    """The answer has the same words in another form: bullets run together, JSON in a sentence, one paragraph as several."""

    name = "break-format"
    category = "outcome"
    stands_for = "a chat that asked for three bullets gets an essay"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One."""
        if not speaks(subject):
            return
        text = subject.trace.output
        if json_in(text) is not None:
            yield self._mutant(
                subject,
                f"Sure! Here is the JSON:\n{text[:-1]}",
                [("output_matches_format", {"format": "json"})],
            )
            return
        bullets = len(BULLET.findall(text))
        if bullets > 1:
            flat = " ".join(line.strip() for line in BULLET.sub("", text).split("\n") if line.strip())
            form = {"format": "bullet_list", "min_bullets": bullets, "max_bullets": bullets}
            yield self._mutant(subject, flat, [("output_matches_format", form)])
        else:
            broken = "\n\n".join(part.strip() for part in _split(text))
            form = {"format": "paragraphs", "max_paragraphs": len(_paragraphs(text))}
            lines = {"format": "max_length", "max_lines": len(text.strip().split("\n"))}
            yield self._mutant(
                subject, broken, [("output_matches_format", form), ("output_matches_format", lines)]
            )

    def _mutant(self, subject: Subject, text: str, remedies: list[Remedy]) -> Mutant:
        return Mutant(
            what="the answer has a different form",
            build=partial(with_output, subject.trace, text),
            lines=(f"- {_in_lines(subject.trace.output)}", f"+ {_in_lines(text)}"),
            remedies=remedies,
        )


def _in_lines(text: str) -> str:
    """A text on one line, with its line ends made visible."""
    return shown(" ⏎ ".join(line.strip() for line in text.strip().split("\n")))


def _split(text: str) -> list[str]:
    """The text in several paragraphs, between words where there is no better place."""
    parts = [part for part in sentences(text) if part.strip()]
    if len(parts) > 1:
        return parts
    words = text.split()
    if len(words) < _LEAST_WORDS:
        return ["Of course! Here you go:", text]
    middle = len(words) // 2
    return [" ".join(words[:middle]), " ".join(words[middle:])]


def _speaks_prose(subject: Subject) -> bool:
    """Whether there is an answer to change, and it is not data."""
    return speaks(subject) and json_in(subject.trace.output) is None
