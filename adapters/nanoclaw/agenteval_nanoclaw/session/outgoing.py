"""What went out in a run: the final output, and what else its final texts sent."""

from typing import Any

from agenteval.outbound import OUTBOUND
from agenteval.shortening import clipped
from agenteval.trace import TraceBuilder, TraceMessage
from agenteval_nanoclaw.session.clock import iso
from agenteval_nanoclaw.session.delivery import Outbox, Part, parts_of, proof
from agenteval_nanoclaw.session.ending import Answer
from agenteval_nanoclaw.session.transcript import Line

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
