"""The agent's final texts in a run: each answer that ended a stretch of work."""

from collections.abc import Sequence
from dataclasses import dataclass

from agenteval_nanoclaw.session.saying import MAIN, Said
from agenteval_nanoclaw.session.transcript import text_of

CUT_OFF = ("max_tokens", "model_context_window_exceeded")
"""Reasons for which an answer stops in the middle."""


@dataclass(slots=True, eq=False)
class Answer:
    """One final text. `last` is the line that completes it."""

    id: str
    text: str
    last: Said
    stop_reason: str = ""


def final_answers(lines: Sequence[Said]) -> list[Answer]:
    """The final texts of the agent itself, in order: of answers that call no tool."""
    found: dict[str, Answer] = {}
    calling: set[str] = set()
    for said in lines:
        if said.agent != MAIN or said.record.get("type") != "assistant" or said.is_made_up:
            continue
        name = text_of(said.message.get("id")) or text_of(said.record.get("uuid"))
        reason = text_of(said.message.get("stop_reason"))
        if reason == "tool_use" or any(said.blocks("tool_use")):
            calling.add(name)
        texts = [text_of(block.get("text")) for block in said.blocks("text")]
        answer = found.setdefault(name, Answer(name, "", said))
        answer.stop_reason = reason
        if any(texts):
            answer.text, answer.last = "\n".join(filter(None, [answer.text, *texts])), said
    return [answer for name, answer in found.items() if name not in calling]
