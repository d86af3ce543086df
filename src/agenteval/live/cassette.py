"""A cassette: the answers of a model, recorded beside a test, found again by what of a request counts.

One JSON file a test. Texts stand in it once, by their digest; answers are whole messages; there are no headers. What is
sensitive is redacted before anything is compared, so that a recorded and a played request are alike.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

from agenteval.contracts.json_values import find_differences, json_in
from agenteval.live.options import Stale
from agenteval.live.wires import NAMED_ONLY, TOOL, Part, PartKind
from agenteval.reading.documents import refuse_link_out, sha256
from agenteval.redaction.redactor import Redactor

FORMAT = "agenteval-cassette/1"
_SHOWN = 60
"""Characters of a text that a miss shows around a change."""
_MOST_SHOWN = 4
_PROMPT = "system prompt"
_CERTAIN_LINE, _CERTAIN_ANYWHERE = 16, 40
"""The letters and digits from which a line that stands somewhere in an author's files is the author's: in parts that are open to authors, and in others."""
_OPEN_TO_AUTHORS = re.compile(rf"(?:{_PROMPT}|reminder)|{TOOL}(?:Agent|Bash|Task|Skill|SlashCommand)$")
"""The names of vendor's parts in which the CLI puts words of an author: agents, skills, the signature of commits.

Other tools it describes alone. `Usage:` and `Send a message to another agent.` in them stand in files of authors as well.
"""
_ENTRY = re.compile(r"- [\w:-]+: (\S+ .+?)(?: \(Tools: [^()]*\))?$")
"""The description of an agent or a skill in a list of them: its name and its tools stand elsewhere in the author's files."""
_ENDS_OF_PROMPT = (
    "When working with tool results, write down",
    "When the conversation grows long, some or all of the current context",
    "When you have enough information to act, act.",
    "<total_tokens>",
)
"""The beginnings of the lines with which the prompt of the CLI ends, from 2.1.128 to 2.1.332.

The appended text stands beside them, where a line that stands in no file counts as the author's.
"""
_STRING = re.compile(r"\"((?:[^\"\\\n]|\\.)+)\"|'((?:[^'\\\n]|\\.)+)'|`([^`]+)`")
"""A text in the quotes of most languages: a prompt that stands in code is sent without them."""
_VALUE = re.compile(r"^\s*(?:- +)?(?:[\w.-]+\s*[:=]\s*)?[\"'`]*(.*)$")
"""The text of a line without the sign of a list, a key before it, and quotes that end on another line."""


@dataclass(slots=True)
class Exchange:
    """A request, as its parts, and what the model answered: a message, or the status and body of an error.

    `api` is the wire format of both, `parts` maps a part's name to its kind and the digest of its text.
    """

    api: str
    parts: dict[str, tuple[PartKind, str]]
    answer: dict[str, Any]
    played: int = 0


@dataclass(slots=True)
class Difference:
    """The difference of a part of a request from the recorded one: its text before and after, None if there was none."""

    name: str
    kind: PartKind
    before: str | None
    after: str | None

    def in_words(self) -> str:
        """The difference in words."""
        if self.before is None:
            return f"{self.name} is new: {_line(self.after or '')!r}"
        if self.after is None:
            return f"{self.name} is gone"
        one, other = json_in(self.before), json_in(self.after)
        if one is not None and other is not None and (found := [*find_differences(one, other)]):
            more = f"; and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else ""
            return f"{self.name} changed: {'; '.join(map(str, found[:_MOST_SHOWN]))}{more}"
        before, after = _around_change(self.before, self.after)
        return f"{self.name} changed: {before!r} → {after!r}"


@dataclass(kw_only=True)
class Cassette:
    """Recorded exchanges in order. `client` is the program that made the requests, with its version."""

    client: str = ""
    recorded_at: str = ""
    cost_usd: float | None = None
    texts: dict[str, str] = field(default_factory=dict)
    exchanges: list[Exchange] = field(default_factory=list)
    written: Callable[[], "Written"] = lambda: Written([])
    """All that the author has written: to find the author's words in the vendor's prompt."""
    _compared: dict[tuple[str, str], list[Difference]] = field(default_factory=dict)

    def add(self, api: str, parts: Sequence[Part], answer: Mapping[str, Any]) -> None:
        """Record an exchange."""
        self.texts |= {_digest(part.text): part.text for part in parts}
        named = {part.name: (part.kind, _digest(part.text)) for part in parts}
        self.exchanges.append(Exchange(api, named, dict(answer)))

    def play(
        self, api: str, parts: Sequence[Part], *, client: str, stale: Stale = "miss"
    ) -> tuple[dict[str, Any] | None, list[Difference], str]:
        """The answer to a request, and what differs though it is answered; or None, and why there is none.

        An exchange is played once; the same request asked again, a retry, gets the same. A change by the vendor,
        between versions of the client, is no miss, nor is the result of a tool that really ran. A change by the
        author is a miss, unless `stale` only marks it.
        """
        is_other = client != self.client
        tolerated = {"tool", *(["vendor"] if is_other else [])}
        tolerated |= {"author"} if stale == "mark" else set()
        compared = [
            (
                each,
                [*(self.authors_changes(each, parts) if is_other else ()), *differences(self, each, parts)],
                number,
            )
            for number, each in enumerate(self.exchanges, 1)
            if each.api == api
        ]
        if not compared:
            return None, [], f"no request of the {api} API was recorded"
        fitting = [each for each in compared if all(d.kind in tolerated for d in each[1])]
        if fitting:
            # the closest first, then what was not played yet, in the order of recording
            chosen, found, _ = min(fitting, key=lambda each: (len(each[1]), each[0].played))
            chosen.played += 1
            return chosen.answer, found, ""
        _, found, number = min(compared, key=lambda each: len(each[1]))
        found = [each for each in found if each.kind not in tolerated]
        changes = "; ".join(each.in_words() for each in found[:_MOST_SHOWN])
        more = f"; and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else ""
        versions = f" (recorded with {self.client}, asked by {client})" if is_other else ""
        return None, found, f"compared with recorded request {number}: {changes}{more}{versions}"

    def authors_changes(self, exchange: Exchange, parts: Sequence[Part]) -> list[Difference]:
        """The changes of the author's own words within the vendor's parts, of a request of another version of the CLI.

        An author appends to the prompt of the CLI, and describes agents that stand in the description of its tool. A
        change of these words is no drift: the whole part counted as the vendor's once, and every changed prompt played.
        """
        before, after = _of_vendor(self.parts_of(exchange)), _of_vendor(parts)
        found = []
        for name in {**before, **after}:
            old, new = before.get(name, ""), after.get(name, "")
            key = _digest(old), _digest(new)
            if old != new and key not in self._compared:
                gone, come = _changed_by_author(name, old, new, self.written())
                changed = Difference(f"the author's words in {name}", "author", gone, come)
                self._compared[key] = [changed] if gone or come else []
            found += self._compared.get(key, [])
        return found

    def parts_of(self, exchange: Exchange) -> list[Part]:
        """The parts of a recorded request."""
        return [Part(name, kind, self.texts[digest]) for name, (kind, digest) in exchange.parts.items()]

    @property
    def unplayed(self) -> int:
        """The number of recorded exchanges that no request has used."""
        return sum(not each.played for each in self.exchanges)


def differences(cassette: Cassette, exchange: Exchange, parts: Sequence[Part]) -> list[Difference]:
    """List the parts that differ from those of an exchange: first the author's, then the vendor's, then the conversation."""
    found = []
    now = {part.name: part for part in parts}
    for name, (recorded, digest) in exchange.parts.items():
        part = now.get(name)
        if part is None:
            found.append(Difference(name, recorded, cassette.texts[digest], None))
        elif _digest(part.text) != digest:
            # whether definitions are kept back is the CLI's doing; whether a tool really runs is told by this run
            kept_back = NAMED_ONLY in (cassette.texts[digest], part.text)
            kind = "vendor" if kept_back else part.kind
            found.append(Difference(name, kind, cassette.texts[digest], part.text))
    found += [
        Difference(part.name, part.kind, None, part.text) for part in parts if part.name not in exchange.parts
    ]
    return sorted(found, key=lambda each: ("author", "vendor", "tool", "conversation").index(each.kind))


def _of_vendor(parts: Sequence[Part]) -> dict[str, str]:
    """The texts of the vendor's parts by name. The blocks of the prompt are one: versions divide it in other ways."""
    texts: dict[str, str] = {}
    for part in parts:
        if part.kind == "vendor" and part.name != "parameters":
            name = _PROMPT if part.name.startswith(_PROMPT) else part.name
            texts[name] = f"{texts[name]}\n{part.text}" if name in texts else part.text
    return texts


def _changed_by_author(name: str, before: str, after: str, written: "Written") -> tuple[str, str]:
    """The lines that an author took out of a vendor's text, and those put in.

    These stand in the author's files. What is appended to the prompt may be made up by code, and stand in no file: lines
    at its end, and lines beside or behind some that do, count as the author's as well. In doubt a change is a miss.
    """
    from difflib import SequenceMatcher

    old, new = (
        [line for line in map(str.strip, re.split(r"\n|\\n", text)) if line] for text in (before, after)
    )
    is_open = _OPEN_TO_AUTHORS.match(name) is not None

    def is_authors(line: str) -> bool:
        if not is_open:
            return written.has(line, _CERTAIN_ANYWHERE)
        entry = _ENTRY.match(line)
        return any(written.has(each) or written.has_short(each) for each in (line, entry[1] if entry else ""))

    if name == _PROMPT:
        old, new = ([line for line in lines if not _ends_prompt(line, written)] for lines in (old, new))
    gone, come, has_begun = list[str](), list[str](), False
    for kind, start, stop, new_start, new_stop in SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if kind == "equal":
            has_begun = has_begun or any(written.has(line) for line in old[start:stop])
            continue
        is_end = stop == len(old) and new_stop == len(new)
        is_beside = stop < len(old) and written.has(old[stop])
        all_of_it = name == _PROMPT and (has_begun or is_end or is_beside)
        gone += [line for line in old[start:stop] if all_of_it or is_authors(line)]
        come += [line for line in new[new_start:new_stop] if all_of_it or is_authors(line)]
    return "\n".join(gone), "\n".join(come)


def _ends_prompt(line: str, written: "Written") -> bool:
    """Return whether a line is known to be of the CLI. An author who has the same words in a file wrote them."""
    return line.startswith(_ENDS_OF_PROMPT) and not written.has(line)


class Written:
    """All that an author has written, made ready to look for lines of requests in it."""

    def __init__(self, texts: Iterable[str]) -> None:
        texts = list(texts)
        self._all = squeezed(" ".join(texts))
        self._short = {
            piece
            for text in texts
            for line in text.splitlines()
            for piece in pieces_of_line(line)
            if len(squeezed(piece)) < _CERTAIN_LINE
        }

    def has(self, line: str, least: int = _CERTAIN_LINE) -> bool:
        """Return whether the author has written a line of at least so many letters; in code it may be divided in any way."""
        plain = squeezed(line)
        return len(plain) >= least and plain in self._all

    def has_short(self, line: str) -> bool:
        """Return whether a line is a whole line of a file, a value or a quoted text. A key (`metadata:`) instructs nobody."""
        return line in self._short and not line.endswith(":")


def pieces_of_line(line: str) -> Iterator[str]:
    """Yield a line of a file, the texts in quotes in it, and its text without key and marks; each as it may be sent."""
    value = _VALUE.match(line)
    quoted = ("".join(found.groups(default="")) for found in _STRING.finditer(line))
    for text in (line, value[1] if value else "", *quoted):
        # a line of code that ends in `\n` within its quotes is sent with the end of a line there
        yield from filter(None, (each.strip(" \t\"'`,;") for each in re.split(r"\\[nt]", text)))


def squeezed(text: str) -> str:
    """The letters and digits of a text: in code, it is divided by quotes, operators and the ends of lines."""
    return re.sub(r"[\W_]+", "", text).casefold()


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass"))[:16]


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


def _around_change(before: str, after: str) -> tuple[str, str]:
    """The two texts, cut to where they differ."""
    start = _alike(before, after)
    end = _alike(before[start:][::-1], after[start:][::-1])
    lead, omitted = before.rfind("\n", 0, start) + 1, ""
    if lead < start - _SHOWN // 2:
        lead, omitted = start - _SHOWN // 2, "…"
        lead = before.find(" ", lead, start) + 1 or lead
    one, other = (omitted + _line(text[lead : len(text) - end + _SHOWN // 4]) for text in (before, after))
    return one, other


def _alike(one: str, other: str) -> int:
    """Count the signs that two texts have in common from their beginnings."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


class Redaction:
    """Hides what is sensitive in parts and answers. A text is hidden the same way whenever it comes: only the rules and
    the test itself decide.
    """

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor
        self._known: dict[str, str] = {}

    def text(self, text: str) -> str:
        """A text without what is sensitive."""
        if text not in self._known:
            self._known[text] = self.redactor.redacted(text)
        return self._known[text]

    def answer(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        """An answer without what is sensitive; ids and signatures, which are no one's secret, stay as they are."""
        return dict(self._hidden(answer))

    def _hidden(self, data: Any, key: str = "") -> Any:
        if isinstance(data, str):
            return data if key in _LEFT_ALONE else self.text(data)
        if isinstance(data, Mapping):
            return {name: self._hidden(value, name) for name, value in data.items()}
        if isinstance(data, list):
            return [self._hidden(each, key) for each in data]
        return data

    def needed(self, cassette: Cassette) -> str:
        """The first value that a tool call needs and that would be hidden, in words; empty when there is none."""
        for number, exchange in enumerate(cassette.exchanges, 1):
            for name, needed in tool_inputs(exchange.answer):
                if self._hidden(needed) != needed:
                    return (
                        f"in request {number}, the model calls {name} with a value that redaction hides, "
                        f"{_line(json.dumps(self._hidden(needed), ensure_ascii=False))}"
                    )
        return ""


_LEFT_ALONE = frozenset(("id", "call_id", "tool_use_id", "signature", "encrypted_content", "type", "model"))


def tool_inputs(answer: Any) -> Iterator[tuple[str, Any]]:
    """The tool calls in an answer of any wire format: the tool's name, and its arguments."""
    if isinstance(answer, list):
        for each in answer:
            yield from tool_inputs(each)
    elif isinstance(answer, dict):
        for key in ("input", "arguments"):
            if "name" in answer and key in answer:
                yield str(answer["name"]), answer[key]
        for each in answer.values():
            if isinstance(each, dict | list):
                yield from tool_inputs(each)


def dumped(cassette: Cassette, redact: Callable[[Mapping[str, Any]], Any] = dict) -> str:
    """The text of a cassette's file, the same for the same exchanges. `redact` hides what is sensitive in an answer."""
    data = {
        "format": FORMAT,
        "client": cassette.client,
        "recorded_at": cassette.recorded_at,
        "cost_usd": cassette.cost_usd,
        "texts": cassette.texts,
        "exchanges": [
            {"api": each.api, "parts": each.parts, "answer": redact(each.answer)}
            for each in cassette.exchanges
        ],
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def write(path: Path, text: str) -> None:
    """Write the text of a cassette, whole or not at all. Raises `FileError` where a link in the path leads out of the project."""
    refuse_link_out(path)
    path.parent.mkdir(parents=True, exist_ok=True)  # a suite's task may have had nothing there
    part = path.with_suffix(".part")
    part.unlink(missing_ok=True)  # a link in its place would be followed
    with part.open("x", encoding="utf-8") as file:
        file.write(text)
    part.replace(path)


def loaded(path: Path, text: str) -> Cassette:
    """The cassette that a file's text tells. Raises `ValueError` in words for what is none."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{path} is no cassette: {error}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f"{path} is no cassette: its format is not {FORMAT}")
    try:
        exchanges = [
            Exchange(
                each["api"], {name: (its[0], its[1]) for name, its in each["parts"].items()}, each["answer"]
            )
            for each in data["exchanges"]
        ]
        return Cassette(
            client=data.get("client", ""),
            recorded_at=data.get("recorded_at", ""),
            cost_usd=data.get("cost_usd"),
            texts=data["texts"],
            exchanges=exchanges,
        )
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"{path} is a damaged cassette: {type(error).__name__} {error}") from None
