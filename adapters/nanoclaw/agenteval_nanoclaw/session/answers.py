"""What the agent said when it was done, what became of it and of its sends, how the run ended, and what it took."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from agenteval.contracts.trace import TraceBuilder, TraceMessage, TraceStatus
from agenteval.matching.sends import OUTBOUND
from agenteval.text.fitting import clipped
from agenteval.text.lazy_regexes import lazy
from agenteval_nanoclaw.session.lines import MAIN_AGENT, Said
from agenteval_nanoclaw.session.runs import CLOCK_SLACK, Run
from agenteval_nanoclaw.session.store import Outbound
from agenteval_nanoclaw.session.transcript import Line
from agenteval_nanoclaw.session.values import Record, elements, iso, record_of, text_of

CUT_OFF = ("max_tokens", "model_context_window_exceeded")
"""Reasons for which an answer stops in the middle."""
REFUSAL = "refusal"
LIMITS = "error_max_"
"""How the subtype of a result begins when a limit that was set ended the run."""
RUNNER_FAILED = "Error: "
"""How a message begins that NanoClaw sends when the agent's process failed: it is no answer."""
LATEST = 600_000
"""Milliseconds after which a message is no longer taken for what a text became."""
LONGEST_QUOTE = 200
_BLOCK = lazy(r'<(message) to="([^"]*)"')
_INTERNAL = lazy(r"(?s)<internal>.*?(?:</internal>|\Z)")
_SENT_ID = lazy(r"\(id: ([\w-]+)")
_SENT_TO = lazy(r"(?:\A|[()])(?>[^()]*?\bsent to (?=[^()\s]))([^()]+) \(id:")
"""Tried once for each stretch without brackets, not for each "sent to" in it."""


@dataclass(slots=True, eq=False)
class Answer:
    """One final text. `last` is the line that completes it."""

    id: str
    text: str
    last: Line
    stop_reason: str = ""
    aside: bool = False
    """Whether it only says something of a notice, after the answer to the message."""


def final_answers(lines: Iterable[Said]) -> list[Answer]:
    """The final texts of the agent itself, in order: of answers that call no tool. What a stream tells as its result
    is one, too.
    """
    found: dict[str, Answer] = {}
    parts: dict[str, list[str]] = {}
    calling: set[str] = set()
    spoken: list[str] = []
    """The answers without an id since anybody else spoke: a call right after a text belongs to the same answer."""
    for said in lines:
        if said.line.type == "user" and said.agent == MAIN_AGENT:
            spoken.clear()
        if said.line.type == "result":
            name, text = f"result-{said.line.number}", told_by(said.record)
            if text and [each.text.strip() for each in found.values()][-1:] != [text.strip()]:
                found[name] = Answer(name, text, said.line)
            continue
        if said.line.type != "assistant" or said.agent != MAIN_AGENT or said.is_made_up:
            continue
        name, reason = said.answer_id, text_of(said.message.get("stop_reason"))
        spoken += [] if said.has_id else [name]
        if reason == "tool_use" or any(said.blocks("tool_use")):
            calling.update([name] if said.has_id else spoken)
        answer = found.setdefault(name, Answer(name, "", said.line))
        answer.stop_reason = reason
        if texts := [text for text in said.texts() if text]:
            before = parts.get(name, [])
            if before and texts[0].startswith(before[-1]):  # written again, or further than before
                before = before[:-1]
            parts[name] = [*before, *texts]
            answer.text, answer.last = "\n".join(parts[name]), said.line
    answers = [answer for name, answer in found.items() if name not in calling]
    for answer in [each for each in answers if each.text.strip()][1:]:
        answer.aside = answer.last.aside
    return answers


def told_by(result: Record) -> str:
    """The answer that the result of a stream tells; empty when it tells a failure."""
    if is_failed(result):
        return ""
    structured = result.get("structured_output")
    return text_of(result.get("result")) or ("" if structured is None else json.dumps(structured))


def is_failed(result: Record) -> bool:
    """Whether the result of a stream tells a failure, or that a limit ended the run."""
    return bool(result.get("is_error")) or result.get("subtype", "success") != "success"


class Part(NamedTuple):
    """A part of a final text that goes to one destination; none is named where there is only the conversation."""

    to: str
    text: str


def parts_of(text: str, generation: str) -> list[Part]:
    """What of a final text is sent. `generation` is `v2`, `v1`, or empty for an agent without NanoClaw."""
    shown = _INTERNAL.sub("", text) if generation else text
    if generation == "v2":
        blocks = elements(shown, _BLOCK)
        return [Part(each.opening[2], text) for each in blocks if (text := each.inner.strip())]
    return [Part("", shown.strip())] if shown.strip() else []


def sent_to(answer: str) -> str:
    """Where a message went, as a send tool's answer says; empty when it does not."""
    named = _SENT_TO.search(answer)
    return named[1] if named else ""


def _proof(row: Outbound | None) -> dict[str, Any]:
    if row is None:
        return {}
    shown: dict[str, Any] = {"message_id": row.id, "delivered": row.delivered}
    if row.platform_message_id:
        shown["platform_message_id"] = row.platform_message_id
    return shown


NOT_WRAPPED = "the last text was not delivered: nothing in it is in <message to=…>, and no text after it was"
OTHER_TEXT = "another text with which the agent ended a turn is not the final output: {text}"
FINAL_TEXT = "final text"
NOT_SENT = "no message went out for what the final text says to {to}"


class Outgoing:
    """Tells what a run sent: by tools, and by its final texts.

    The last text that goes to the conversation is the final output, but for what is said of a notice after that. What
    other final texts, or other parts of it, send is an `outbound_send` of its own, whose `recorded_tool` is
    `final text`; where no text is sent, they are only noted. When no text goes to the conversation, but tools sent
    there, the final output is what they sent, and names them in `sent_by`.
    """

    def __init__(self, run: Run, answers: list[Answer], builder: TraceBuilder) -> None:
        self.run = run
        self.builder = builder
        self.rows = run.session.outbound if run.session else []
        """The messages that went out in the session."""
        self.claimed: set[str] = set()
        """The ids of those of which it is known what sent them."""
        self.own = self._conversation()
        """The names of where the run's messages came from: where its answers go."""
        self.parts = {answer.id: parts_of(answer.text, run.generation) for answer in answers}
        if not any(self.parts.values()):  # older releases of v2 send texts without a destination, too
            self.parts = {answer.id: self._bare(answer) for answer in answers}
        self.delivers = bool(run.generation) or run.outbound_is_stored
        # what is said of a notice, once the message is answered, is no answer to it
        counted = [answer for answer in answers if self.delivers or not answer.aside] or answers
        speaking = [answer for answer in counted if any(self._is_own(part) for part in self.parts[answer.id])]
        self.final = (speaking or counted)[-1] if answers else None
        self.by_last_line = {id(answer.last): answer for answer in answers}
        self.sends: list[tuple[str, str]] = []
        self.output: TraceMessage | None = None
        others = [] if self.delivers else [each.text.strip() for each in answers if each is not self.final]
        self.notes = [OTHER_TEXT.format(text=clipped(text, LONGEST_QUOTE)) for text in others if text]

    def _conversation(self) -> list[str]:
        session = self.run.session
        names = [each.message.origin for each in self.run.received]
        if session:
            names += [
                session.name_of(row.channel, row.platform_id) for row in self.run.rows if row.platform_id
            ]
            if not any(names):
                names.append(session.name_of(*session.routing))
        return list(dict.fromkeys(name for name in names if name))

    def sent(self, call_id: str, args: dict[str, Any], answer: str) -> dict[str, Any]:
        """The result of a successful send by tool: its answer, where it went, and whether it arrived."""
        named = _SENT_ID.search(answer)
        row = next((row for row in self.rows if named and named[1] in (row.seq, row.id)), None)
        to = args.get("to") or sent_to(answer) or (self.own[0] if len(self.own) == 1 else "")
        if row and self.run.session:
            self.claimed.add(row.id)
            to = self.run.session.name_of(row.channel, row.platform_id)
        texts = [args.get(key) for key in ("text", "fallbackText", "question", "title")]
        text = next((text for text in texts if isinstance(text, str) and text.strip()), "")
        if text and to in ("", *self.own):
            self.sends.append((call_id, text))
        return {"text": answer, **({"to": to} if to else {}), **_proof(row)}

    def runner_failures(self) -> list[str]:
        """The messages that say that the agent's process failed in this run."""
        ids = {row.id for row in self.run.rows}
        unclaimed = [row for row in self.rows if row.id not in self.claimed and row.in_reply_to in ids]
        return [row.text for row in unclaimed if row.text.startswith(RUNNER_FAILED)]

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

    def _is_own(self, part: Part) -> bool:
        return not part.to or not self.own or part.to in self.own

    def _bare(self, answer: Answer) -> list[Part]:
        """A text that went out as it stands; what tools send is in reply to nothing."""
        parts, time = parts_of(answer.text, "v1"), answer.last.time
        return [part for part in parts if any(row.in_reply_to for row in self._rows_of(part.text, time))]

    def _rows_of(self, text: str, time: int) -> list[Outbound]:
        """The messages that a part of a final text may have become."""
        near = [row for row in self.rows if time - CLOCK_SLACK <= row.time <= time + LATEST]
        return [row for row in near if row.text.strip() == text and row.id not in self.claimed]

    def _claim(self, part: Part, answer: Answer) -> Outbound | None:
        row = next(iter(self._rows_of(part.text, answer.last.time)), None)
        self.claimed |= {row.id} if row else set()
        return row

    def _send(self, part: Part, answer: Answer, call_id: str) -> None:
        row = self._claim(part, answer)
        to = part.to or (self.own[0] if self.own else "")
        success = row is not None or not self.run.outbound_is_stored
        ts = iso(answer.last.time)
        args = {"to": to, "text": part.text} if to else {"text": part.text}
        call = {"tool": OUTBOUND, "call_id": call_id, "args": args, "recorded_tool": FINAL_TEXT}
        self.builder.add("tool_call", call, ts=ts)
        result = {"tool": OUTBOUND, "call_id": call_id, "success": success, "result": _proof(row)}
        self.builder.add("tool_result", result, actor="tool", ts=ts)
        if not success:
            self.notes.append(NOT_SENT.format(to=to))

    def _final(self, own: list[Part], answer: Answer) -> None:
        data: dict[str, Any] = {"role": "assistant", "content": "\n\n".join(part.text for part in own)}
        if own:
            names = list(dict.fromkeys(part.to for part in own if part.to)) or self.own
            rows = [self._claim(part, answer) for part in own]
            if names:
                data["to"] = names[0] if len(names) == 1 else names
            if self.run.outbound_is_stored:
                found = [row for row in rows if row]
                data |= _proof(found[0] if found else None)
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
        self.builder.add("final_output", data, ts=iso(answer.last.time))


@dataclass(slots=True)
class Ending:
    """What is known of the end so far. Subagents have no part in it."""

    failure: str = ""
    """What the run failed with, when nothing came after it."""
    stopped: bool = False
    """Whether the agent was interrupted, and said nothing after it."""
    working: bool = False
    """Whether the last thing that the agent said is a call of a tool."""
    told: TraceStatus | None = None
    """What a stream says of its end."""

    def ends(self, result: Record) -> str:
        """Take in the result of a stream. The kind of what went wrong; empty when nothing did."""
        subtype = text_of(result.get("subtype"))
        self.failure = REFUSAL if result.get("stop_reason") == REFUSAL else ""
        self.told = "partial" if subtype.startswith(LIMITS) else "failed" if is_failed(result) else "success"
        kind = subtype.removeprefix("error_").replace("success", "api_error")
        return "" if self.told == "success" else kind

    def status(self, run: Run, final: Answer | None, unanswered: list[int]) -> TraceStatus:
        """The status of the run, whose answer is `final`; `unanswered` are the times of calls without a result."""
        acknowledged = {row.acknowledged for row in run.rows}
        if REFUSAL in (self.failure, final.stop_reason if final else ""):
            return "blocked"
        if self.failure or "failed" in (self.told, *acknowledged):
            return "failed"
        if final is None or final.stop_reason in CUT_OFF or "processing" in acknowledged:
            return "partial"
        if run.index.stream:
            return self.told or "partial"
        unfinished = any(time >= final.last.time for time in unanswered) or self.stopped
        unfinished = unfinished or (self.working and "completed" not in acknowledged)
        cut = run.damaged or (run.last and run.index.cut) or not run.begun
        return "partial" if unfinished or cut else "success"


KINDS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
MOST = 1 << 40
"""No answer takes so many tokens: more is no count."""


class Usage:
    """Adds up the tokens of answers. Every line of an answer repeats its usage: the last one counts, once."""

    def __init__(self) -> None:
        self._by_answer: dict[str, Record] = {}
        self._ended: set[str] = set()
        self._totals: list[Record] = []

    @property
    def output_is_recorded(self) -> bool:
        """Whether a line of each answer says how it ended: one that had only begun does not tell its length."""
        return bool(self._totals) or len(self._ended) == len(self._by_answer)

    def add(self, said: Said) -> None:
        """Take in one line of an answer."""
        if isinstance(usage := said.message.get("usage"), dict):
            self._by_answer[said.answer_id] = usage
            if said.message.get("stop_reason") is not None:
                self._ended.add(said.answer_id)

    def add_total(self, usage: Any) -> None:
        """Take in what a stream says that a turn took: it is whole, where its lines are only beginnings."""
        self._totals += [record_of(usage)] if record_of(usage) else []

    def total(self) -> dict[str, Any] | None:
        """Tokens by kind; None when no answer says. Output tokens are left out where they were not recorded."""
        kinds = [kind for kind in KINDS if kind != "output_tokens" or self.output_is_recorded]
        usages = self._totals or list(self._by_answer.values())
        counts = {kind: [usage.get(kind) for usage in usages] for kind in kinds}
        return {kind: sum(filter(_is_count, each)) for kind, each in counts.items()} if usages else None


def _is_count(count: Any) -> bool:
    return isinstance(count, int) and 0 <= count <= MOST
