"""What the agent's texts and sends became: which message went out, where to, and whether it arrived."""

import re
from dataclasses import dataclass, field
from typing import Any

from agenteval.contracts.trace import TraceBuilder, TraceMessage
from agenteval.matching.sends import OUTBOUND
from agenteval.text.fitting import clipped
from agenteval.text.regexes import lazy
from agenteval_nanoclaw.session.ending import Answer
from agenteval_nanoclaw.session.runs import CLOCK_SLACK, Run
from agenteval_nanoclaw.session.store import Outbound
from agenteval_nanoclaw.session.transcript import Line
from agenteval_nanoclaw.session.values import elements, iso

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


NOT_WRAPPED = "the last text was not delivered: nothing in it is in <message to=…>, and no text after it was"
OTHER_TEXT = "another text with which the agent ended a turn is not the final output: {text}"
LONGEST_QUOTE = 200
FINAL_TEXT = "final text"
NOT_SENT = "no message went out for what the final text says to {to}"


class Outgoing:
    """Tells the final texts of a run.

    The last text that goes to the conversation is the final output, but for what is said of a notice after that. What
    other final texts, or other parts of it, send is an `outbound_send` of its own, whose `recorded_tool` is
    `final text`; where no text is sent, they are only noted. When no text goes to the conversation, but tools sent
    there, the final output is what they sent, and names them in `sent_by`.
    """

    def __init__(self, answers: list[Answer], outbox: Outbox, generation: str, builder: TraceBuilder) -> None:
        self.outbox = outbox
        self.builder = builder
        self.own = outbox.conversation()
        self.parts = {answer.id: parts_of(answer.text, generation) for answer in answers}
        if not any(self.parts.values()):
            self.parts = {answer.id: self._bare(answer) for answer in answers}
        self.delivers = bool(generation) or outbox.is_stored
        # what is said of a notice, once the message is answered, is no answer to it
        counted = [answer for answer in answers if self.delivers or not answer.aside] or answers
        speaking = [answer for answer in counted if any(self._is_own(part) for part in self.parts[answer.id])]
        self.final = (speaking or counted)[-1] if answers else None
        self.by_last_line = {id(answer.last): answer for answer in answers}
        self.sends: list[tuple[str, str]] = []
        self.output: TraceMessage | None = None
        others = [] if self.delivers else [each.text.strip() for each in answers if each is not self.final]
        self.notes = [OTHER_TEXT.format(text=clipped(text, LONGEST_QUOTE)) for text in others if text]

    def sent(self, call_id: str, args: dict[str, Any], result: dict[str, Any]) -> None:
        """Take note of a successful send by tool."""
        texts = [args.get(key) for key in ("text", "fallbackText", "question", "title")]
        text = next((text for text in texts if isinstance(text, str) and text.strip()), "")
        if text and result.get("to", "") in ("", *self.own):
            self.sends.append((call_id, text))

    def tell(self, line: Line) -> None:
        """Tell what a line that completes a final text sends."""
        answer = self.by_last_line.get(id(line))
        if answer is None:
            return
        parts = self.parts[answer.id]
        own = [part for part in parts if answer is self.final and self._is_own(part)]
        for number, part in enumerate(parts, 1):
            if part not in own and self.delivers:
                self._send(part, answer, f"{answer.id}:{number}")
        if answer is self.final:
            self._final(own, answer)

    def _bare(self, answer: Answer) -> list[Part]:
        """A text without a destination that went out all the same, as older releases of v2 send it."""
        return [
            part for part in parts_of(answer.text, "v1") if self.outbox.has_text(part.text, answer.last.time)
        ]

    def _is_own(self, part: Part) -> bool:
        return not part.to or not self.own or part.to in self.own

    def _send(self, part: Part, answer: Answer, call_id: str) -> None:
        row = self.outbox.by_text(part.text, answer.last.time)
        to = part.to or (self.own[0] if self.own else "")
        success = row is not None or not self.outbox.is_stored
        ts = iso(answer.last.time)
        args = {"to": to, "text": part.text} if to else {"text": part.text}
        call = {"tool": OUTBOUND, "call_id": call_id, "args": args, "recorded_tool": FINAL_TEXT}
        self.builder.add("tool_call", call, actor="agent", ts=ts)
        result = {"tool": OUTBOUND, "call_id": call_id, "success": success, "result": proof(row)}
        self.builder.add("tool_result", result, actor="tool", ts=ts)
        if not success:
            self.notes.append(NOT_SENT.format(to=to))

    def _final(self, own: list[Part], answer: Answer) -> None:
        data: dict[str, Any] = {"role": "assistant", "content": "\n\n".join(part.text for part in own)}
        names = list(dict.fromkeys(part.to for part in own if part.to)) or self.own
        if own:
            rows = [self.outbox.by_text(part.text, answer.last.time) for part in own]
            if names:
                data["to"] = names[0] if len(names) == 1 else names
            if self.outbox.is_stored:
                found = [row for row in rows if row]
                data |= proof(found[0] if found else None)
                data["delivered"] = len(found) == len(rows) and all(row.delivered for row in found)
                if len(found) < len(rows):
                    self.notes.append(NOT_SENT.format(to=" and ".join(names) or "the conversation"))
        elif self.sends:
            data["content"] = "\n\n".join(text for _, text in self.sends)
            data["sent_by"] = [call_id for call_id, _ in self.sends]
        elif parts_of(answer.text, "v1"):
            self.notes.append(NOT_WRAPPED)
        if answer.text.strip() != data["content"]:
            data["raw"] = answer.text
        self.output = TraceMessage(role="assistant", content=data["content"])
        self.builder.add("final_output", data, actor="agent", ts=iso(answer.last.time))
