"""What a recording holds and a test must not: secrets, people's folders, pictures, what a harness or an instruction says.

Equal values stay equal, so a cleaned test is about the same things as the run; and the same run gives the same bytes.
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
"""Elements with which a harness talks to its model, within texts that are a user's or a tool's."""
SHORTEST_BLOB = 256
"""Characters of base64 in a row that are a picture or a file: keys and hashes are shorter."""

_DATA_URL = lazy(r"data:(?P<kind>[\w.+-]+/[\w.+-]+)(?:;[\w=.+-]+)*;base64,(?P<data>[A-Za-z0-9+/=_-]+)")
_BASE64 = lazy(rf"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{{{SHORTEST_BLOB},}}={{0,2}}")


class Cleaner:
    """Cleans what belongs to one test. `rules` are those of the project."""

    def __init__(self, rules: RedactionRules) -> None:
        self.redactor = Redactor((), rules)
        self.owners: Owners = {}
        """Whose home folders the recording names."""

    def clean(self, recorded: RecordedTest) -> RecordedTest:
        """The scenario, replay, fixtures and tools without what a test must not hold; the trace is left as it was."""
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
        """One text of the same run, cleaned."""
        return self.redactor.redacted(scrubbed_text(text, self.owners))


def without_instructions(data: Any) -> Any:
    """The data without messages and steps whose role is `system`, but for those that a host sent to the agent, as its sender."""
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
    """The data, keys included, without home folders, the names of their owners, harness texts and blobs.

    The owners are those whose homes the data names, when not given. `is_name` is for a text that is the id of a fixture.
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
    """A text without home folders, the names of their owners, harness texts and blobs."""
    if "</" in text:
        text = _without_harness(text)
    if len(text) >= SHORTEST_BLOB or ";base64," in text:
        text = _DATA_URL.sub(lambda match: _blob(match["kind"], match["data"]), text)
        text = _BASE64.sub(_blob_or_word, text)
    return without_homes(text, owners)


def _blob(kind: str, data: str) -> str:
    return f"[{kind} {sha256(data.encode(errors='replace'))[:8]}]"


def _blob_or_word(match: re.Match[str]) -> str:
    """A long row of one letter, or of digits alone, is no base64."""
    found = match[0]
    mixed = any(map(str.isupper, found)) and any(map(str.islower, found)) and any(map(str.isdigit, found))
    return _blob("base64", found) if mixed else found


def _without_harness(text: str) -> str:
    """The text without these elements, and without the blanks before them. One that does not end is left."""
    for name in HARNESS:
        opening, closing = f"<{name}>", f"</{name}>"
        kept, at = [], 0
        while (start := text.find(opening, at)) >= 0 and (end := text.find(closing, start)) >= 0:
            kept.append(text[at:start].rstrip())
            at = end + len(closing)
        text = "".join((*kept, text[at:]))
    return text
