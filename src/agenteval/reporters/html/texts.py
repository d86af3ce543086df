"""Texts and values as the HTML report shows them: harmless, cut to a length that a browser lays out at once."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agenteval.alignment import stretches
from agenteval.shortening import ends, head

ON_THE_LINE = 240
"""Characters of a text that show on the line of a test."""
AT_ONCE = 1_200
"""Characters of a text that show without being asked for."""
LONGEST = 20_000
"""Characters of a text that the report holds; the files of the run hold the rest."""
LONGEST_ON_A_LINE = 80
"""Characters of a JSON value that stays on one line."""
MOST_WORDS = 2_000
"""Words, signs and spaces of two texts that are compared word by word; longer ones are shown beside each other."""

_WORD = re.compile(r"\w+|[^\w\s]|\s+")


@dataclass(slots=True, frozen=True)
class Part:
    """A stretch of a text; `mark` is `ins` or `del` where two texts differ, else empty."""

    text: str
    mark: str = ""


@dataclass(slots=True, frozen=True)
class Text:
    """A text in three parts: shown at once, shown on demand, and left out (a count of characters)."""

    head: Sequence[Part]
    more: str = ""
    left_out: int = 0


def shortened(value: str) -> str:
    """The text as it stands on the line of a test, which is opened for the rest."""
    return ends(value, ON_THE_LINE)


def text(value: str) -> Text:
    """A text, cut."""
    if len(value) <= AT_ONCE:
        return Text((Part(value),))
    first, held = head(value, AT_ONCE), head(value, LONGEST)
    return Text((Part(first),), held[len(first) :], len(value) - len(held))


def shown(value: Any) -> str:
    """A JSON value for a reader: a text as it is, all else as JSON, indented when it is long."""
    if isinstance(value, str):
        return value
    line = json.dumps(value, ensure_ascii=False, default=str)
    if len(line) <= LONGEST_ON_A_LINE or not isinstance(value, dict | list):
        return line
    return json.dumps(value, ensure_ascii=False, default=str, indent=2)


def named_values(values: Mapping[str, Any]) -> list[tuple[str, Text]]:
    """The entries of a mapping as texts, without those that are null or empty."""
    return [(str(name), text(shown(value))) for name, value in _told(values).items()]


def _told(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: told for name, each in value.items() if (told := _told(each)) not in (None, [], {})}
    return value


def compared(before: str, now: str) -> tuple[Text, Text]:
    """Two texts, with the words that only one has marked, unless they are too long for that."""
    if before == now or max(len(before), len(now)) > LONGEST:
        return text(before), text(now)
    old_words, new_words = _WORD.findall(before), _WORD.findall(now)
    if max(len(old_words), len(new_words)) > MOST_WORDS:
        return text(before), text(now)
    old: list[Part] = []
    new: list[Part] = []
    for same, gone, come in stretches(old_words, new_words):
        if gone:
            old.append(Part("".join(old_words[gone.start : gone.stop]), "" if same else "del"))
        if come:
            new.append(Part("".join(new_words[come.start : come.stop]), "" if same else "ins"))
    return Text(old), Text(new)
