"""The agent's final texts in a run: each answer that ended a stretch of work."""

from collections.abc import Iterable
from dataclasses import dataclass

from agenteval_nanoclaw.session.saying import MAIN_AGENT, Said
from agenteval_nanoclaw.session.transcript import Line
from agenteval_nanoclaw.session.values import text_of

CUT_OFF = ("max_tokens", "model_context_window_exceeded")
"""Reasons for which an answer stops in the middle."""


@dataclass(slots=True, eq=False)
class Answer:
    """One final text. `last` is the line that completes it."""

    id: str
    text: str
    last: Line
    stop_reason: str = ""


def final_answers(lines: Iterable[Said]) -> list[Answer]:
    """The final texts of the agent itself, in order: of answers that call no tool. `lines` are of type `assistant`."""
    found: dict[str, Answer] = {}
    parts: dict[str, list[str]] = {}
    calling: set[str] = set()
    for said in lines:
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
    return [answer for name, answer in found.items() if name not in calling]
