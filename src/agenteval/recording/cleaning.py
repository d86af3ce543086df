"""Removes the parts of a recording that a test must not hold: secrets, home folders, pictures, texts of a harness.

Equal values stay equal, so a cleaned test judges the same things as the run; and the same run gives the same bytes.
"""

import re
from typing import Any

from agenteval.contracts.adapters import Owners, RecordedTest, owners_of, without_homes, without_owners
from agenteval.reading.documents import sha256
from agenteval.redaction.redactor import RedactionRules, Redactor
from agenteval.text.lazy_regexes import lazy

HARNESS = (
    "system-reminder",
    "local-command-caveat",
    "local-command-stdout",
    "command-name",
    "command-message",
    "command-args",
    "task-notification",
)
"""Elements that a harness adds for its model inside the texts of users and tools."""
SHORTEST_BLOB = 256
"""The characters of base64 in a row from which on they are a picture or a file. Keys and hashes are shorter."""

_DATA_URL = lazy(r"data:(?P<kind>[\w.+-]+/[\w.+-]+)(?:;[\w=.+-]+)*;base64,(?P<data>[A-Za-z0-9+/=_-]+)")
_BASE64 = lazy(rf"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{{{SHORTEST_BLOB},}}={{0,2}}")


class Cleaner:
    """Cleans the parts of one test. `rules` are those of the project."""

    def __init__(self, rules: RedactionRules) -> None:
        self.redactor = Redactor((), rules)
        self.owners: Owners = {}
        """The people with a home folder in the recording."""

    def clean(self, recorded: RecordedTest) -> RecordedTest:
        """Return the recorded test with scenario, replay, fixtures and tools cleaned. The trace stays as it was."""
        parts = [recorded.scenario, recorded.replay, recorded.fixtures, recorded.tools]
        self.owners = owners_of([recorded.folder, *parts])
        scrubbed = [scrubbed_data(without_instructions(part), self.owners) for part in parts]
        self.redactor.learn(scrubbed)
        scenario, replay, fixtures, tools = (
            self.redactor.redact_values(self.redactor.data(part)) for part in scrubbed
        )
        return RecordedTest(
            scenario=scenario, replay=replay, fixtures=fixtures, tools=tools, trace=recorded.trace
        )

    def text(self, text: str) -> str:
        """Clean one text of the same run."""
        return self.redactor.redacted(scrubbed_text(text, self.owners))


def without_instructions(data: Any) -> Any:
    """Remove messages and steps with the role `system`. Those with a sender stay: the host sent them to the agent."""
    if isinstance(data, dict):
        return {key: without_instructions(value) for key, value in data.items()}
    if isinstance(data, list):
        return [without_instructions(item) for item in data if not _instructs(item)]
    return data


def _instructs(item: Any) -> bool:
    is_instruction = isinstance(item, dict) and item.get("role") == "system" and not item.get("sender")
    return is_instruction and "content" in item


NAMES_OF_FIXTURES = ("id", "fixture_id")


def scrubbed_data(data: Any, owners: Owners | None = None, *, is_name: bool = False) -> Any:
    """Remove home folders, their owners' names, harness texts and blobs from data, keys included.

    Without `owners`, they are found in the data. `is_name` is true for the id of a fixture, where only names are removed.
    """
    if owners is None:
        owners = owners_of(data)
    if isinstance(data, str):
        return without_owners(data, owners) if is_name else scrubbed_text(data, owners)
    if isinstance(data, list):
        return [scrubbed_data(item, owners) for item in data]
    if not isinstance(data, dict):
        return data
    if data.get("type") == "base64" and isinstance(data.get("data"), str):
        kind = str(data.get("media_type") or "data")
        data = {**data, "data": _blob(kind, data["data"])}
    return {
        scrubbed_text(str(key), owners): scrubbed_data(value, owners, is_name=key in NAMES_OF_FIXTURES)
        for key, value in data.items()
    }


def scrubbed_text(text: str, owners: Owners | None = None) -> str:
    """Remove home folders, their owners' names, harness texts and blobs from a text."""
    if "</" in text:
        text = _without_harness(text)
    if len(text) >= SHORTEST_BLOB or ";base64," in text:
        text = _DATA_URL.sub(lambda match: _blob(match["kind"], match["data"]), text)
        text = _BASE64.sub(_blob_or_word, text)
    return without_homes(text, owners)


def _blob(kind: str, data: str) -> str:
    return f"[{kind} {sha256(data.encode(errors='replace'))[:8]}]"


def _blob_or_word(match: re.Match[str]) -> str:
    """Replace a match by a blob, unless it is a long word: base64 of a file mixes capitals, small letters and digits."""
    found = match[0]
    mixed = any(map(str.isupper, found)) and any(map(str.islower, found)) and any(map(str.isdigit, found))
    return _blob("base64", found) if mixed else found


def _without_harness(text: str) -> str:
    """Remove the harness's elements, and the blanks before them. An element without an end stays."""
    for name in HARNESS:
        opening, closing = f"<{name}>", f"</{name}>"
        kept, at = [], 0
        while (start := text.find(opening, at)) >= 0 and (end := text.find(closing, start)) >= 0:
            kept.append(text[at:start].rstrip())
            at = end + len(closing)
        text = "".join((*kept, text[at:]))
    return text
