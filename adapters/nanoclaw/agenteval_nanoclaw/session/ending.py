"""How a run ended, by what the agent said last."""

from dataclasses import dataclass

from agenteval.trace import TraceStatus
from agenteval_nanoclaw.session.answers import CUT_OFF, Answer
from agenteval_nanoclaw.session.runs import Run
from agenteval_nanoclaw.session.saying import MAIN_AGENT, Said
from agenteval_nanoclaw.session.transcript import is_interruption

REFUSAL = "refusal"


@dataclass(slots=True)
class Ending:
    """What is known of the end so far. Subagents have no part in it."""

    failure: str = ""
    """What the run failed with, when nothing came after it."""
    stopped: bool = False
    """Whether the agent was interrupted, and said nothing after it."""
    working: bool = False
    """Whether the last thing that the agent said is a call of a tool."""

    def hears(self, said: Said) -> None:
        """Take in a line of a user."""
        if said.agent == MAIN_AGENT and is_interruption(said.record):
            self.stopped = True

    def goes_on(self, said: Said) -> None:
        """Take in a line of a model."""
        if said.agent == MAIN_AGENT:
            self.failure, self.stopped, self.working = "", False, any(said.blocks("tool_use"))

    def fails(self, said: Said, failure: str) -> None:
        """Take in that a model failed, or refused."""
        if said.agent == MAIN_AGENT:
            self.failure = failure

    def status(self, run: Run, final: Answer | None, unanswered: list[int]) -> TraceStatus:
        """The status of the run, whose answer is `final`; `unanswered` are the times of calls without a result."""
        acknowledged = {each.row.acknowledged for each in run.received if each.row}
        if REFUSAL in (self.failure, final.stop_reason if final else ""):
            return "blocked"
        if self.failure or "failed" in acknowledged:
            return "failed"
        if final is None or final.stop_reason in CUT_OFF or "processing" in acknowledged:
            return "partial"
        unfinished = any(time >= final.last.time for time in unanswered) or self.stopped
        unfinished = unfinished or (self.working and "completed" not in acknowledged)
        cut = run.damaged or (run.last and run.index.cut) or not run.received
        return "partial" if unfinished or cut else "success"
