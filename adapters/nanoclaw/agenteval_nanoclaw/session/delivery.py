"""What the agent's texts and sends became: which message went out, where to, and whether it arrived."""

import re
from dataclasses import dataclass, field
from typing import Any

from agenteval.lazyregex import lazy
from agenteval_nanoclaw.session.markup import elements
from agenteval_nanoclaw.session.runs import CLOCK_SLACK, Run
from agenteval_nanoclaw.session.store import Outbound

_BLOCK = lazy(r'<(message) to="([^"]*)"')
_INTERNAL = lazy(r"<internal>.*?(?:</internal>|\Z)", re.DOTALL)
_SENT_ID = lazy(r"\(id: ([\w-]+)")
_SENT_TO = lazy(r"(?:\A|[()])(?>[^()]*?\bsent to (?=[^()\s]))([^()]+) \(id:")
"""Tried once for each stretch without brackets, not for each "sent to" in it."""

RUNNER_FAILED = "Error: "
"""How a message begins that NanoClaw sends when the agent's process failed: it is no answer."""
LATEST = 600_000
"""Milliseconds after which a message is no longer taken for what a text became."""


@dataclass(slots=True)
class Part:
    """A part of a final text that goes to one destination; none is named where there is only the conversation."""

    to: str
    text: str


def parts_of(text: str, generation: str) -> list[Part]:
    """What of a final text is sent. `generation` is `v2`, `v1`, or empty for an agent without NanoClaw."""
    if generation == "v2":
        shown = _INTERNAL.sub("", text)
        blocks = elements(shown, _BLOCK)
        return [Part(each.opening[2], text) for each in blocks if (text := each.inner.strip())]
    shown = _INTERNAL.sub("", text).strip() if generation == "v1" else text.strip()
    return [Part("", shown)] if shown else []


@dataclass(slots=True)
class Outbox:
    """The messages that went out in the session of a run, each claimed by what sent it."""

    run: Run
    _claimed: set[str] = field(default_factory=set)

    @property
    def is_stored(self) -> bool:
        """Whether the recording tells what went out."""
        return self.run.session is not None and self.run.session.outbound_is_stored

    def conversation(self) -> list[str]:
        """The names of where the run's messages came from: where its answers go."""
        session = self.run.session
        names = [each.message.origin for each in self.run.received]
        if session:
            rows = [each.row for each in self.run.received if each.row]
            names += [session.name_of(row.channel, row.platform_id) for row in rows if row.platform_id]
            if not any(names):
                names.append(session.name_of(*session.routing))
        return list(dict.fromkeys(name for name in names if name))

    def by_answer(self, answer: str) -> Outbound | None:
        """The message that a send tool's answer names."""
        if named := _SENT_ID.search(answer):
            for row in self._rows():
                if named[1] in (row.seq, row.id):
                    self._claimed.add(row.id)
                    return row
        return None

    def by_text(self, text: str, time: int) -> Outbound | None:
        """The message that a part of a final text became."""
        for row in self._rows():
            if self._fits(row, text, time):
                self._claimed.add(row.id)
                return row
        return None

    def _fits(self, row: Outbound, text: str, time: int) -> bool:
        near = time - CLOCK_SLACK <= row.time <= time + LATEST
        return row.id not in self._claimed and near and row.text.strip() == text

    def has_text(self, text: str, time: int) -> bool:
        """Whether a final text went out as it stands; what tools send is in reply to nothing."""
        return any(row.in_reply_to and self._fits(row, text, time) for row in self._rows())

    def runner_failures(self) -> list[Outbound]:
        """The messages that say that the agent's process failed in this run."""
        ids = {each.row.id for each in self.run.received if each.row}
        return [
            row
            for row in self._rows()
            if row.id not in self._claimed and row.in_reply_to in ids and row.text.startswith(RUNNER_FAILED)
        ]

    def told(self, answer: str, args: dict[str, Any]) -> dict[str, Any]:
        """The result of a successful send: its answer, where it went, and whether it arrived."""
        row = self.by_answer(answer)
        own = self.conversation()
        to = args.get("to") or sent_to(answer) or (own[0] if len(own) == 1 else "")
        if row and self.run.session:
            to = self.run.session.name_of(row.channel, row.platform_id)
        result: dict[str, Any] = {"text": answer}
        if to:
            result["to"] = to
        return {**result, **proof(row)}

    def _rows(self) -> list[Outbound]:
        return self.run.session.outbound if self.run.session else []


def sent_to(answer: str) -> str:
    """Where a message went, as a send tool's answer says; empty when it does not."""
    named = _SENT_TO.search(answer)
    return named[1] if named else ""


def proof(row: Outbound | None) -> dict[str, Any]:
    """What shows that a message went out, and arrived."""
    if row is None:
        return {}
    shown: dict[str, Any] = {"message_id": row.id, "delivered": row.delivered}
    if row.platform_message_id:
        shown["platform_message_id"] = row.platform_message_id
    return shown
