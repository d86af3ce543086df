"""Operators that make something up in the final output: a number, a name, an address."""

import re
from collections.abc import Iterator
from functools import partial

from agenteval.mutation.answers import BULLET, appended, some, speaks
from agenteval.mutation.base import Mutant, Operator, Remedy, Subject, beside
from agenteval.mutation.traces import with_output
from agenteval.text import line_at

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
