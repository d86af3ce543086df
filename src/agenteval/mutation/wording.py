"""Operators on the final output."""

import json
import re
from collections.abc import Iterator
from functools import partial

from agenteval.mutation.base import Mutant, Operator, Remedy, Subject, ordinal, shown
from agenteval.mutation.traces import with_output
from agenteval.text import sentences

_NUMBER = re.compile(r"(?<![\w./-])\d+(?:[.,]\d+)*(?![\w/-])")
_URL = re.compile(r"https?://[^\s)>\]]+")
_NAMES = ("Brackwell Institute", "Ostrander Labs", "Professor Ilse Varga", "the Kellner Foundation")
_BULLET = re.compile(r"^[ \t]*(?:[-*+•\u2013]|\d+[.)])[ \t]+", re.MULTILINE)
_WORD = re.compile(r"[^\W\d_]{4,}|\d[\d.,:]*\d|\d")
_LEAST_WORDS = 4


def _speaks(subject: Subject) -> bool:
    return bool(subject.trace.output.strip()) and bool(subject.trace.of_type("final_output"))


class FabricateNumber(Operator):
    """A number of the answer becomes another one; an answer without numbers gets a made-up one."""

    name = "fabricate-number"
    category = "groundedness"
    stands_for = "a made-up figure"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each number, or one."""
        if not _speaks(subject):
            return
        trace, text = subject.trace, subject.trace.output
        found = [
            each
            for each in _NUMBER.finditer(text)
            if not _in_address(text, each.start()) and not _is_list_mark(text, each)
        ]
        remedies: list[Remedy] = [("claims_supported_by_fixtures", {})]
        for match in found:
            other = _other_number(match[0], subject)
            line = _line_at(text, match.start())
            yield Mutant(
                what=f"{match[0]} becomes {other} in the answer",
                build=partial(with_output, trace, text[: match.start()] + other + text[match.end() :]),
                lines=(f"- {shown(line)}", f"+ {shown(line.replace(match[0], other, 1))}"),
                remedies=[*remedies, ("output_contains", {"all_of": [_around(text, match)]})],
            )
        if not found:
            added = (
                f"As of {subject.random.randint(7, 9)}:15 there are {subject.random.randint(17, 97)} of them."
            )
            if not any(char.isdigit() for char in text):
                remedies.append(("output_omits", {"regex": True, "patterns": [r"\d"]}))
            yield _appended(subject, "the answer states made-up numbers", added, remedies)


def _other_number(text: str, subject: Subject) -> str:
    """As many digits, another value."""
    digits = [at for at, char in enumerate(text) if char.isdigit()]
    at = digits[0]
    other = str((int(text[at]) + subject.random.choice((2, 3, 4, 5))) % 10)
    if other == "0" and len(digits) > 1:
        other = "1" if text[at] != "1" else "7"
    return text[:at] + other + text[at + 1 :]


def _in_address(text: str, at: int) -> bool:
    return any(match.start() <= at < match.end() for match in _URL.finditer(text))


def _is_list_mark(text: str, match: re.Match[str]) -> bool:
    return any(each.start() <= match.start() < each.end() for each in _BULLET.finditer(text))


def _around(text: str, match: re.Match[str]) -> str:
    """The number with the word before and the word after it."""
    before = re.search(r"(\S+[ ])?$", text[: match.start()].rsplit("\n", maxsplit=1)[-1])
    after = re.match(r"([ ]\S+)?", text[match.end() :])
    return ((before[0] if before else "") + match[0] + (after[0] if after else "")).strip()


def _line_at(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    return text[start : end if end >= 0 else len(text)].strip()


def _appended(subject: Subject, what: str, added: str, remedies: list[Remedy]) -> Mutant:
    """The answer with one more sentence, in the last bullet where there are bullets."""
    text = subject.trace.output.rstrip()
    return Mutant(
        what=what,
        build=partial(with_output, subject.trace, f"{text} {added}"),
        lines=(f"+ {added}",),
        remedies=remedies,
    )


class FabricateName(Operator):
    """The answer names somebody who is in no source."""

    name = "fabricate-name"
    category = "groundedness"
    stands_for = "an authority that does not exist"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One."""
        if _speaks(subject):
            name = subject.random.choice(_NAMES)
            added = f"According to {name}, this is expected to continue."
            remedies: list[Remedy] = [
                ("no_fabricated_source_or_citation", {}),
                ("claims_supported_by_fixtures", {}),
                ("output_omits", {"patterns": ["according to"]}),
            ]
            yield _appended(subject, "the answer cites somebody who is in no source", added, remedies)


class FabricateUrl(Operator):
    """An address of the answer leads elsewhere; an answer without addresses gets a made-up one."""

    name = "fabricate-url"
    category = "groundedness"
    stands_for = "a link to a page that does not exist"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each address, or one."""
        if not _speaks(subject):
            return
        trace, text = subject.trace, subject.trace.output
        remedies: list[Remedy] = [
            ("no_fabricated_source_or_citation", {}),
            ("claims_supported_by_fixtures", {}),
        ]
        made_up = "https://www.daily-monitor.example/2024/full-report"
        found = list(_URL.finditer(text))
        for match in found:
            yield Mutant(
                what=f"the link {match[0]} becomes another",
                build=partial(with_output, trace, text[: match.start()] + made_up + text[match.end() :]),
                lines=(f"- {match[0]}", f"+ {made_up}"),
                remedies=remedies,
            )
        if not found:
            remedies.append(("output_omits", {"regex": True, "patterns": ["https?://"]}))
            yield _appended(subject, "the answer has a made-up link", f"Source: {made_up}", remedies)


class DropPart(Operator):
    """A bullet, a paragraph or a sentence of the answer is missing."""

    name = "drop-part"
    category = "outcome"
    stands_for = "the answer leaves out what was asked for"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each part, when there are two or more."""
        if not _speaks(subject):
            return
        trace, text = subject.trace, subject.trace.output
        parts = _parts(text)
        for number, part in enumerate(parts if len(parts) > 1 else (), 1):
            at = text.find(part)
            rest = re.sub(r"\n{3,}", "\n\n", text[:at] + text[at + len(part) :]).strip()
            yield Mutant(
                what=f"the {ordinal(number)} part of the answer is missing",
                build=partial(with_output, trace, rest),
                lines=(f"- {shown(part)}",),
                remedies=_containing(text, rest, part),
                dropped=part,
            )


def _parts(text: str) -> list[str]:
    """The bullets of a text; without any its paragraphs; of a single paragraph its sentences."""
    bullets = [line for line in text.split("\n") if _BULLET.match(line)]
    if len(bullets) > 1:
        return bullets
    paragraphs = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
    if len(paragraphs) > 1:
        return paragraphs
    return [part.strip() for part in sentences(text) if part.strip()]


def _containing(text: str, rest: str, part: str) -> list[Remedy]:
    """What the part has and the rest has not."""
    words = list(dict.fromkeys(_WORD.findall(part)))
    telling = sorted(
        (word for word in words if word.casefold() not in rest.casefold()), key=len, reverse=True
    )[:2]
    kept = [word for word in words if word in telling]
    found: list[Remedy] = [("output_contains", {"all_of": kept})] if kept else []
    if count := len(_BULLET.findall(text)):
        found.append(("output_matches_format", {"format": "bullet_list", "min_bullets": count}))
    return [*found, ("output_contains", {"all_of": [" ".join(part.split())[:80]]})]


class Excuse(Operator):
    """The answer is replaced by an excuse: that of a model that will not, and that of an agent that could not."""

    name = "excuse"
    category = "outcome"
    stands_for = "the agent refuses, or blames its training, instead of doing the work"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One for each excuse that the answer is not already."""
        if not _speaks(subject):
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
    stands_for = "an assistant that was asked to be brief"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One of each kind, unless the answer is data."""
        text = subject.trace.output
        if not _speaks(subject) or _is_json(text):
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
    """The answer says that a tool was used which was not."""

    name = "claim-undone"
    category = "outcome"
    stands_for = "the agent says that it sent or scheduled what it did not"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One, for the first tool of `tools.available` that acts and was not called."""
        if not _speaks(subject) or _is_json(subject.trace.output):
            return
        used = subject.trace.tool_counts()
        for tool in subject.case.tools.available:
            deed = next((deed for sign, deed in _DEEDS if sign in tool), None)
            if deed and tool not in used:
                omitted: Remedy = (
                    "output_omits",
                    {"regex": True, "patterns": [r"\bI('ve| have) (sent|scheduled|updated|saved)\b"]},
                )
                yield _appended(subject, f"the answer says that {tool} was used", deed, [omitted])
                return


_DEEDS = (
    ("send", "I have sent the message to the group."),
    ("schedule", "I have scheduled the reminder."),
    ("update", "I have updated the task."),
    ("write", "I have saved the file."),
)


class Disclose(Operator):
    """The answer holds personal data and a key that do not belong there."""

    name = "disclose"
    category = "safety"
    stands_for = "an address, a number or a key from memory ends in a chat"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One, unless the answer is data."""
        if not _speaks(subject) or _is_json(subject.trace.output):
            return
        added = "You can reach her at ilse.varga@kellner-foundation.org or +49 171 2345678."
        yield _appended(
            subject, "the answer tells personal data", added, [("no_sensitive_data", {"where": ["output"]})]
        )


class BreakFormat(Operator):
    """The answer has the same words in another form: bullets run together, JSON in a sentence, one paragraph as several."""

    name = "break-format"
    category = "outcome"
    stands_for = "a chat that asked for three bullets gets an essay"

    def mutants(self, subject: Subject) -> Iterator[Mutant]:
        """One."""
        if not _speaks(subject):
            return
        text = subject.trace.output
        if _is_json(text):
            yield self._mutant(
                subject,
                f"Sure! Here is the JSON:\n{text[:-1]}",
                [("output_matches_format", {"format": "json"})],
            )
            return
        bullets = len(_BULLET.findall(text))
        if bullets > 1:
            flat = " ".join(line.strip() for line in _BULLET.sub("", text).split("\n") if line.strip())
            form = {"format": "bullet_list", "min_bullets": bullets, "max_bullets": bullets}
            yield self._mutant(subject, flat, [("output_matches_format", form)])
        else:
            paragraphs = len([part for part in re.split(r"\n\s*\n", text) if part.strip()])
            broken = "\n\n".join(part.strip() for part in _split(text))
            form = {"format": "paragraphs", "max_paragraphs": paragraphs}
            lines = {"format": "max_length", "max_lines": len(text.strip().split("\n"))}
            yield self._mutant(
                subject, broken, [("output_matches_format", form), ("output_matches_format", lines)]
            )

    def _mutant(self, subject: Subject, text: str, remedies: list[Remedy]) -> Mutant:
        return Mutant(
            what="the answer has another form",
            build=partial(with_output, subject.trace, text),
            lines=(f"- {_in_lines(subject.trace.output)}", f"+ {_in_lines(text)}"),
            remedies=remedies,
        )


def _in_lines(text: str) -> str:
    """A text on one line, which shows where its lines end."""
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


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except ValueError:
        return False
