"""Citations of an output: references, numbered citations and named sources, and whether the sources know them."""

# ruff: noqa: RUF001 - apostrophes and brackets that outputs use are meant

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from agenteval.grounding.corpus import Corpus, squash
from agenteval.grounding.facts import NUMBERED
from agenteval.grounding.links import Link, links, within
from agenteval.grounding.stems import content, row, words
from agenteval.text.dates import MONTHS, weekday
from agenteval.text.fitting import cut
from agenteval.text.lazy_regexes import lazy
from agenteval.text.parts import blocks, composed, fold
from agenteval.text.words import plain_form

TITLE_OVERLAP = 0.6
"""The share of a reference line's content words that one span of a source must have."""


class Citation(NamedTuple):
    """One citation of an output, as written.

    `link` is set for a `reference`. `number` and `line` are set for a `number`: the line is the entry of the output's
    list of sources that explains the number.
    """

    kind: Literal["reference", "number", "name"]
    text: str
    link: Link | None = None
    number: int = 0
    line: str | None = None


def citations(output: str) -> list[Citation]:
    """List all citations of an output, each once: references, then numbers, then named sources."""
    output = composed(output)
    found = [Citation(kind="reference", text=link.text, link=link) for link in links(output)]
    spoken = (block.text for block in blocks(output) if block.kind not in ("code", "rule"))
    prose = _INLINE_CODE.sub(" ", "\n".join(spoken))
    found += _numbered(output, prose)
    found += [Citation(kind="name", text=name) for name in dict.fromkeys(_named(prose))]
    seen: dict[tuple[str, str], Citation] = {}
    for citation in found:
        seen.setdefault((citation.kind, citation.link.key if citation.link else citation.text), citation)
    return list(seen.values())


_INLINE_CODE = lazy(r"`[^`\n]*`")
_NUMBERED = lazy(NUMBERED + r"(?!\()")
_REFERENCE_LINE = lazy(r"[ \t]*(?:[-*•+][ \t]+)?\[\^?(\d{1,3})\](?::[ \t]*|[ \t]+(?![a-z]+ ))(\S.*)")
_LIST_LINE = lazy(r"[ \t]*\(?(\d{1,3})[.):][ \t]+(\S.*)")
_SOURCES_HEADING = lazy(r"\W{0,6}(?:sources?|references?|citations?|bibliography|links?)\W{0,6}\Z")


def _numbered(output: str, prose: str) -> Iterator[Citation]:
    # Most outputs cite nothing by number. Looking for the brackets first saves reading their lines.
    if "[" not in prose and "【" not in prose:
        return
    lines = _reference_lines(output)
    cited: dict[int, None] = {}
    for match in _NUMBERED.finditer(prose):
        for number in _numbers_in(match.group(1)):
            cited.setdefault(number)
    for number in cited:
        line = lines.get(number, "" if lines else None)
        yield Citation(kind="number", text=f"[{number}]", number=number, line=line)


def _numbers_in(text: str) -> Iterator[int]:
    for part in re.split(r"[,;]", text):
        ends = [int(number) for number in re.findall(r"\d+", part)]
        # "[3-900]" is a range, but nobody cites 900 sources: at most 50 of them are checked.
        yield from range(ends[0], min(ends[-1], ends[0] + 50) + 1) if ends[0] <= ends[-1] else ends


def _reference_lines(output: str) -> dict[int, str]:
    """Return the entry that explains each number: a line `[1] …`, or `1. …` under a heading such as "Sources"."""
    found: dict[int, str] = {}
    in_sources = False
    for line in output.splitlines():
        if _SOURCES_HEADING.fullmatch(fold(line.strip())):
            in_sources = True
        elif match := _REFERENCE_LINE.match(line) or (_LIST_LINE.match(line) if in_sources else None):
            found.setdefault(int(match.group(1)), match.group(2).strip())
    return found


_NAME = r"[A-Z][\w&’'-]{0,40}(?:\.[A-Z]\.?)?(?: (?:(?:of|the|and|for|de|&) )?[A-Z][\w&’'-]{0,40}){0,5}"
_ACCORDING = lazy(
    rf"\b(?i:according to|as reported by|reported by|published by|as cited by|cited by|citing|(?<=[(\[])via|(?<=, )via) (?i:the |an? )?({_NAME})"
)
_REPORTS = lazy(
    rf"(?<![\w.&’'-])(?:[Tt]he )?({_NAME}) (?:has |had |have |also |first |recently )?"
    r"(?:(?:reported|writes|wrote|says|said|stated|noted|claimed|announced|confirmed)\b"
    r"|(?:reports|states|notes|claims)\b(?! (?:are|were|was|have|had|(?:dis)?agree|show|suggest|indicate|say|differ|from|of|for|about|by|due|came|come)\b))"
)
_SIGNS_OF_SOURCE = ("according to", "reported by", "published by", "cited by", "citing", "via ")
_SIGNS_OF_REPORT = (
    "report",
    " writes",
    " wrote",
    " says",
    " said",
    " state",
    " note",
    " claim",
    " announced",
    " confirmed",
)
_SOURCE_LABEL = lazy(r"(?:^\W{0,4}|\()(?i:sources?|via|source link): ?([^\n)]{1,300})", re.MULTILINE)
_NOT_A_SOURCE = frozenset(
    re.findall(
        r"\w+",
        "i we you he she it they this that these those who which what there users user people analysts experts critics"
        " officials researchers scientists investors customers sources studies reviewers authors many some others"
        " two three four five six seven eight nine ten recent new annual several most everyone nobody someone none both all each another one report reports article articles",
    )
)


def _named(prose: str) -> Iterator[str]:
    """Find named sources: "according to X", "X reports", "(Source: X)"."""
    folded = prose.lower()
    for pattern, signs in ((_ACCORDING, _SIGNS_OF_SOURCE), (_REPORTS, _SIGNS_OF_REPORT)):
        for match in pattern.finditer(prose) if any(map(folded.__contains__, signs)) else ():
            yield from _proper(match.group(1))
    for match in _SOURCE_LABEL.finditer(prose) if "source" in folded or "via" in folded else ():
        for part in re.split(r"[,;|]| and ", _without_links(match.group(1))):
            if named := re.match(rf"[\s\[*_\"“]*(?:[Tt]he )?({_NAME})", part):
                yield from _proper(named.group(1))


def _without_links(text: str) -> str:
    for link in reversed(links(text)):
        text = text[: link.start] + text[link.end :]
    return text


def _proper(name: str) -> Iterator[str]:
    said = [word.removesuffix("'s") for word in words(fold(name))]
    ordinary = not any(map(plain_form, said)) or (len(said) == 1 and said[0] in _NOT_A_SOURCE)
    dated = any(weekday(word) or (word in MONTHS and len(said) == 1) for word in said[:1])
    if not ordinary and not dated:
        yield name.rstrip("'’")


class Known:
    """The references, names and titles that an output may cite.

    `called` holds references in the arguments of calls, `given` those of the user, `allow` those of the test's
    author. `tools` are names of tools and of the files that they read: an output may name these as its source.
    """

    def __init__(
        self,
        sources: Corpus,
        *,
        called: Sequence[Link] = (),
        results: int,
        given: Sequence[Link] = (),
        allow: Sequence[Link] = (),
        tools: Sequence[str] = (),
    ) -> None:
        self.sources = sources
        self.called = called
        self.results = results
        self.allow = allow
        self.tools = frozenset(map(squash, tools))
        self.given = given

    @cached_property
    def source_hosts(self) -> set[str]:
        """The hosts of the sources' references."""
        return {link.host for link in (*self.sources.links, *self.called) if link.host}

    @cached_property
    def _domains(self) -> set[str]:
        """The hosts of the sources, with all their parent domains."""
        parts = (host.split(".") for host in self.source_hosts)
        return {".".join(each[at:]) for each in parts for at in range(len(each))}

    @cached_property
    def _by_host(self) -> dict[str, str]:
        """The first reference of each host."""
        return {link.host: link.text for link in reversed(self.sources.links) if link.host}

    def objection(self, citation: Citation) -> str | None:
        """Explain why a citation is not known, as the end of a sentence; None if it is known."""
        if citation.link is not None:
            return self._link_objection(citation.link)
        if citation.kind == "number":
            return self._number_objection(citation)
        return None if self._knows_name(citation.text) else "no source has this name"

    def _link_objection(self, link: Link) -> str | None:
        if self._is_given(link) or self._is_allowed(link) or self.sources.has_link(link):
            return None
        if any(link.key == each.key for each in self.called):
            return None
        # "according to example.com" names a site. A page of it, or of a subdomain, among the sources is enough.
        if link.host and link.key == link.host and link.host in self._domains:
            return None
        near = self._by_host.get(link.host)
        if near and link.kind == "url":
            return f"no source has it; the closest is {cut(near, 120)}"
        return "no source has it"

    def _is_given(self, link: Link) -> bool:
        is_domain = link.host and link.key == link.host
        return any(
            link.key == each.key or (is_domain and each.host and within(each.host, link.host))
            for each in self.given
        )

    def _is_allowed(self, link: Link) -> bool:
        for each in self.allow:
            if each.key == each.host and within(link.host, each.host):
                return True
            if link.key == each.key or link.key.startswith((each.key + "/", each.key + "?")):
                return True
        return False

    def _number_objection(self, citation: Citation) -> str | None:
        if citation.line is None:
            known = {link.key for link in (*self.sources.links, *self.called)}
            # Without a list of sources in the output, [3] can only mean the third source. More than there are is made up.
            most = len(known) or self.results
            if 1 <= citation.number <= most:
                return None
            return f"the output has no reference line for it, and there are only {most} sources"
        if not citation.line:
            return "the output has no reference line for it"
        named = links(citation.line)
        if named:
            return (
                None
                if any(self._link_objection(link) is None for link in named)
                else f"its reference line leads to {cut(named[0].text, 120)}, which no source has"
            )
        return (
            None
            if self._knows_title(citation.line)
            else f'no source has its reference line: "{cut(citation.line, 120)}"'
        )

    def _knows_title(self, line: str) -> bool:
        wanted = content(line)
        held: dict[int, int] = {}
        for stem in wanted:
            for number in self.sources.having(stem):
                held[number] = held.get(number, 0) + 1
        return bool(held) and max(held.values()) >= TITLE_OVERLAP * len(wanted)

    def _knows_name(self, name: str) -> bool:
        squashed = squash(name)
        if row(name) in self.sources.words or squashed in self.tools or squashed in self.sources.initials:
            return True
        hosts = [*self.source_hosts, *(each.host for each in self.allow)]
        return len(squashed) >= 3 and any(
            squashed == squash(label) or (len(squashed) >= 5 and squashed in squash(label))
            for host in hosts
            for label in host.split(".")[:-1]
        )
