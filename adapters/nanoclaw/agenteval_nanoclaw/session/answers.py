"""The agent's answers, the status at the end of a run, and its tokens."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from agenteval.contracts.trace import TraceStatus
from agenteval_nanoclaw.session.lines import MAIN_AGENT, Entry
from agenteval_nanoclaw.session.runs import Run
from agenteval_nanoclaw.session.transcript import Line
from agenteval_nanoclaw.session.values import Record, record_of, text_of

CUT_OFF = ("max_tokens", "model_context_window_exceeded")
"""Stop reasons of an answer that stopped in the middle."""
REFUSAL = "refusal"
LIMITS = "error_max_"
"""The prefix of a result's subtype when a limit of the caller ended the run."""


@dataclass(slots=True, eq=False)
class Answer:
    """The text of one answer of the model. `last` is the line that completes it."""

    id: str
    text: str
    last: Line
    stop_reason: str = ""
    calls: bool = False
    """True if it calls tools as well, so that the agent goes on."""
    aside: bool = False
    """True if it only comments on a notice, after the answer to the message."""


def answers_in(lines: Iterable[Entry]) -> list[Answer]:
    """List the agent's own answers, in order. The result of a stream is an answer, too."""
    reader = _AnswerReader()
    for entry in lines:
        if entry.line.type == "user" and entry.agent == MAIN_AGENT:
            reader.without_id.clear()
        elif entry.line.type == "result":
            reader.add_result(entry)
        elif entry.line.type == "assistant" and entry.agent == MAIN_AGENT and not entry.is_made_up:
            reader.add_part(entry)
    answers = list(reader.answers.values())
    for answer in [each for each in answers if each.text.strip() and not each.calls][1:]:
        answer.aside = answer.last.aside
    return answers


class _AnswerReader:
    """Joins the lines of answers: Claude Code writes each block of an answer in a line of its own."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.parts: dict[str, list[str]] = {}
        self.without_id: list[str] = []
        """The answers without an id since the last user line. A call right after a text belongs to the same answer."""

    def add_result(self, entry: Entry) -> None:
        """Add the answer in the result of a stream, unless the last line has it already."""
        name, text = f"result-{entry.line.number}", answer_in(entry.record)
        if text and [each.text.strip() for each in self.answers.values()][-1:] != [text.strip()]:
            self.answers[name] = Answer(name, text, entry.line)

    def add_part(self, entry: Entry) -> None:
        """Add one line of an answer."""
        name, reason = entry.answer_id, text_of(entry.message.get("stop_reason"))
        self.without_id += [] if entry.has_id else [name]
        answer = self.answers.setdefault(name, Answer(name, "", entry.line))
        if reason == "tool_use" or any(entry.blocks("tool_use")):
            for each in [name] if entry.has_id else self.without_id:
                self.answers[each].calls = True
        answer.stop_reason = reason
        if texts := [text for text in entry.texts() if text]:
            before = self.parts.get(name, [])
            if before and texts[0].startswith(before[-1]):  # the line repeats the last text, perhaps longer
                before = before[:-1]
            self.parts[name] = [*before, *texts]
            answer.text, answer.last = "\n".join(self.parts[name]), entry.line


def answer_in(result: Record) -> str:
    """Return the answer in the result of a stream; empty for a failure."""
    if is_failed(result):
        return ""
    structured = result.get("structured_output")
    return text_of(result.get("result")) or ("" if structured is None else json.dumps(structured))


def is_failed(result: Record) -> bool:
    """Return whether the result of a stream is a failure, or a limit ended the run."""
    return bool(result.get("is_error")) or result.get("subtype", "success") != "success"


@dataclass(slots=True)
class Ending:
    """The facts about the end of the run, up to the current line. Subagents do not count."""

    failure: str = ""
    """The kind of the last failure; empty once the agent said or did something after it."""
    stopped: bool = False
    """True if the agent was interrupted, and said nothing after it."""
    working: bool = False
    """True if the last line of the agent calls a tool."""
    stated: TraceStatus | None = None
    """The status in the result of a stream."""

    def ends(self, result: Record) -> str:
        """Record the result of a stream. Returns the kind of the error; empty without one."""
        subtype = text_of(result.get("subtype"))
        self.failure = REFUSAL if result.get("stop_reason") == REFUSAL else ""
        self.stated = (
            "partial" if subtype.startswith(LIMITS) else "failed" if is_failed(result) else "success"
        )
        kind = subtype.removeprefix("error_").replace("success", "api_error")
        return "" if self.stated == "success" else kind

    def status(self, run: Run, final: Answer | None, unanswered: list[int]) -> TraceStatus:
        """Return the status of the run with the answer `final`; `unanswered` are the times of calls without a result."""
        acknowledged = {row.acknowledged for row in run.rows}
        if REFUSAL in (self.failure, final.stop_reason if final else ""):
            return "blocked"
        if self.failure or "failed" in (self.stated, *acknowledged):
            return "failed"
        if final is None or final.stop_reason in CUT_OFF or "processing" in acknowledged:
            return "partial"
        if run.index.stream:
            return self.stated or "partial"
        unfinished = any(time >= final.last.time for time in unanswered) or self.stopped
        unfinished = unfinished or (self.working and "completed" not in acknowledged)
        return "partial" if unfinished or _is_incomplete(run) else "success"


KINDS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
MOST = 1 << 40
"""The most tokens of an answer. A larger number is no count."""


class Usage:
    """Adds up the tokens of answers. Every line of an answer repeats its usage: the last one counts, once."""

    def __init__(self) -> None:
        self._by_answer: dict[str, Record] = {}
        self._ended: set[str] = set()
        self._totals: list[Record] = []

    @property
    def output_is_recorded(self) -> bool:
        """True if each answer has a line with a stop reason. The counts in an earlier line are those at its beginning."""
        return bool(self._totals) or len(self._ended) == len(self._by_answer)

    def add(self, entry: Entry) -> None:
        """Record the usage in one line of an answer."""
        if isinstance(usage := entry.message.get("usage"), dict):
            self._by_answer[entry.answer_id] = usage
            if entry.message.get("stop_reason") is not None:
                self._ended.add(entry.answer_id)

    def add_total(self, usage: Any) -> None:
        """Record the usage of a turn from the result of a stream. It is complete; the lines of a stream only have beginnings."""
        self._totals += [record_of(usage)] if record_of(usage) else []

    def total(self) -> dict[str, Any] | None:
        """Add up tokens by kind; None where no answer has them. Output tokens are left out where they were not recorded."""
        kinds = [kind for kind in KINDS if kind != "output_tokens" or self.output_is_recorded]
        usages = self._totals or list(self._by_answer.values())
        counts = {kind: [usage.get(kind) for usage in usages] for kind in kinds}
        return {kind: sum(filter(_is_count, each)) for kind, each in counts.items()} if usages else None


def _is_count(count: Any) -> bool:
    return isinstance(count, int) and 0 <= count <= MOST


def _is_incomplete(run: Run) -> bool:
    """Return whether a part of the run is not in the transcript: its beginning, its end, or a damaged line."""
    return bool(run.damaged) or (run.last and run.index.cut) or not run.begun
