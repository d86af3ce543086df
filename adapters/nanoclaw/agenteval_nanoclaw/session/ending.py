"""What the agent said when it was done, how a run ended, and what it took."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from agenteval.contracts.trace import TraceStatus
from agenteval_nanoclaw.session.runs import Run
from agenteval_nanoclaw.session.saying import MAIN_AGENT, Said
from agenteval_nanoclaw.session.transcript import Line, is_interruption
from agenteval_nanoclaw.session.values import Record, text_of

CUT_OFF = ("max_tokens", "model_context_window_exceeded")
"""Reasons for which an answer stops in the middle."""
REFUSAL = "refusal"
LIMITS = "error_max_"
"""How the subtype of a result begins when a limit that was set ended the run."""
KINDS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
MOST = 1 << 40
"""No answer takes so many tokens: more is no count."""


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
    is one, too. `lines` are of the types `assistant` and `result`.
    """
    found: dict[str, Answer] = {}
    parts: dict[str, list[str]] = {}
    calling: set[str] = set()
    for said in lines:
        if said.line.type == "result":
            name, text = f"result-{said.line.number}", told_by(said.record)
            if text and [each.text.strip() for each in found.values()][-1:] != [text.strip()]:
                found[name] = Answer(name, text, said.line)
            continue
        if said.agent != MAIN_AGENT or said.is_made_up:
            continue
        name = text_of(said.message.get("id")) or text_of(said.record.get("uuid"))
        reason = text_of(said.message.get("stop_reason"))
        if reason == "tool_use" or any(said.blocks("tool_use")):
            calling.add(name)
        texts = [text for block in said.blocks("text") if (text := text_of(block.get("text")))]
        answer = found.setdefault(name, Answer(name, "", said.line))
        answer.stop_reason = reason
        if texts:
            before = parts.get(name, [])
            if before and texts[0].startswith(before[-1]):  # written again, or further than before
                before = before[:-1]
            parts[name] = [*before, *texts]
            answer.text, answer.last = "\n".join(parts[name]), said.line
    answers = [answer for name, answer in found.items() if name not in calling]
    spoken = [answer for answer in answers if answer.text.strip()]
    for answer in spoken[1:]:
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

    def hears(self, said: Said) -> None:
        """Take in a line of a user."""
        if said.agent == MAIN_AGENT and is_interruption(said.record):
            self.stopped = True

    def goes_on(self, said: Said) -> None:
        """Take in a line of a model."""
        if said.agent == MAIN_AGENT:
            self.failure, self.stopped, self.working = "", False, any(said.blocks("tool_use"))

    def ends(self, result: Record) -> str:
        """Take in the result of a stream. The kind of what went wrong; empty when nothing did."""
        subtype = text_of(result.get("subtype"))
        self.failure = REFUSAL if result.get("stop_reason") == REFUSAL else ""
        self.told = "partial" if subtype.startswith(LIMITS) else "failed" if is_failed(result) else "success"
        kind = subtype.removeprefix("error_").replace("success", "api_error")
        return "" if self.told == "success" else kind

    def fails(self, said: Said, failure: str) -> None:
        """Take in that a model failed, or refused."""
        if said.agent == MAIN_AGENT:
            self.failure = failure

    def status(self, run: Run, final: Answer | None, unanswered: list[int]) -> TraceStatus:
        """The status of the run, whose answer is `final`; `unanswered` are the times of calls without a result."""
        acknowledged = {each.row.acknowledged for each in run.received if each.row}
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


class Usage:
    """Adds up the tokens of answers. Every line of an answer repeats its usage: the last one counts, once."""

    def __init__(self) -> None:
        self._by_answer: dict[str, dict[str, Any]] = {}
        self._ended: set[str] = set()
        self._totals: list[dict[str, Any]] = []

    @property
    def output_is_recorded(self) -> bool:
        """Whether a line of each answer says how it ended: one that had only begun does not tell its length."""
        return bool(self._totals) or len(self._ended) == len(self._by_answer)

    def add(self, message: dict[str, Any]) -> None:
        """Take in one line of an answer."""
        usage = message.get("usage")
        if not isinstance(usage, dict):
            return
        name = str(message.get("id"))
        self._by_answer[name] = usage
        if message.get("stop_reason") is not None:
            self._ended.add(name)

    def add_total(self, usage: dict[str, Any]) -> None:
        """Take in what a stream says that a turn took: it is whole, where its lines are only beginnings."""
        if usage:
            self._totals.append(usage)

    def total(self) -> dict[str, Any] | None:
        """Tokens by kind; None when no answer says. Output tokens are left out where they were not recorded."""
        if self._totals:
            return {kind: _sum(usage.get(kind) for usage in self._totals) for kind in KINDS}
        if not self._by_answer:
            return None
        kinds = [kind for kind in KINDS if kind != "output_tokens" or self.output_is_recorded]
        return {kind: _sum(usage.get(kind) for usage in self._by_answer.values()) for kind in kinds}


def _sum(counts: Iterable[Any]) -> int:
    return sum(count for count in counts if isinstance(count, int) and 0 <= count <= MOST)
