"""A cassette: the answers of a model, recorded beside a test, found again by what of a request counts.

One JSON file a test. Texts stand in it once, by their digest; answers are whole messages; there are no headers. What is
sensitive is redacted before anything is compared, so that a recorded and a played request are alike.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

from agenteval.live.options import Stale
from agenteval.live.wires import NAMED_ONLY, Part, PartKind
from agenteval.reading.documents import sha256
from agenteval.redaction.redactor import Redactor

FORMAT = "agenteval-cassette/1"
_SHOWN = 60
"""Characters of a text that a miss shows around a change."""
_MOST_SHOWN = 4


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
    """How a part of a request differs from the recorded one: its text before and after; None where there is none."""

    name: str
    kind: PartKind
    before: str | None
    after: str | None

    def told(self) -> str:
        """The difference in words."""
        if self.before is None:
            return f"{self.name} is new: {_line(self.after or '')!r}"
        if self.after is None:
            return f"{self.name} is gone"
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

    def add(self, api: str, parts: Sequence[Part], answer: Mapping[str, Any]) -> None:
        """Record an exchange."""
        self.texts |= {_digest(part.text): part.text for part in parts}
        named = {part.name: (part.kind, _digest(part.text)) for part in parts}
        self.exchanges.append(Exchange(api, named, dict(answer)))

    def play(
        self, api: str, parts: Sequence[Part], *, client: str, stale: Stale = "miss"
    ) -> tuple[dict[str, Any] | None, list[Difference], str]:
        """The answer to a request, and what differs though it is answered; or None, and why there is none.

        An exchange is played once; the same request asked again, a retry, gets the same. What the vendor changed between
        versions of the client is no miss, nor what a tool gave that really ran; what the author changed is one, unless
        `stale` says to mark it.
        """
        tolerated = {"tool", *(["vendor"] if client != self.client else [])}
        tolerated |= {"author"} if stale == "mark" else set()
        compared = [
            (each, differences(self, each, parts), number)
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
        told = "; ".join(each.told() for each in found[:_MOST_SHOWN])
        more = f"; and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else ""
        return None, found, f"compared with recorded request {number}: {told}{more}"

    def parts_of(self, exchange: Exchange) -> list[Part]:
        """The parts of a recorded request."""
        return [Part(name, kind, self.texts[digest]) for name, (kind, digest) in exchange.parts.items()]

    @property
    def unplayed(self) -> int:
        """How many recorded exchanges nobody asked for."""
        return sum(not each.played for each in self.exchanges)


def differences(cassette: Cassette, exchange: Exchange, parts: Sequence[Part]) -> list[Difference]:
    """How parts differ from those of an exchange: first the author's, then the vendor's, then the conversation."""
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
    """How many signs two texts have in common from their beginnings."""
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
