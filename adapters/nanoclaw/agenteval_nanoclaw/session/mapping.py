"""From one run to the normalized trace (SPEC 16)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agenteval.contracts.trace import (
    AdapterInfo,
    Capabilities,
    Trace,
    TraceBuilder,
    TraceMessage,
    says_failed,
)
from agenteval.matching.sends import OUTBOUND
from agenteval.text.fitting import counted
from agenteval_nanoclaw.session.context import Owned, generation_of, mounts_are_known, scenario_of
from agenteval_nanoclaw.session.ending import REFUSAL, Ending, Usage, final_answers
from agenteval_nanoclaw.session.evidence import notes_on
from agenteval_nanoclaw.session.outgoing import Outbox, Outgoing
from agenteval_nanoclaw.session.prompts import parse_prompt
from agenteval_nanoclaw.session.reading import Reading
from agenteval_nanoclaw.session.remembering import Call, MemoryTelling
from agenteval_nanoclaw.session.results import (
    RETRYABLE,
    api_error,
    canonical,
    error_type,
    fitting,
    result_text,
    whole_text,
)
from agenteval_nanoclaw.session.runs import Run
from agenteval_nanoclaw.session.saying import MAIN_AGENT, Place, Said, read_sayings
from agenteval_nanoclaw.session.transcript import SPAWNS, TASKS, detail_of, notices_of, prompt_of
from agenteval_nanoclaw.session.values import Record, iso, record_of, text_of

FAILED = {"failed": "", "killed": "aborted", "stopped": "aborted"}
"""What a notice says of work that did not succeed, with the kind of error; empty: as its summary says."""
SENDERS = {"task": "scheduler", "webhook": "system"}
"""Who acts when a message is received, by its kind; any other is the user's."""


@dataclass(slots=True, kw_only=True)
class Told:
    """The trace of a run, and what it shows of memory files beside its events."""

    trace: Trace
    before: dict[Owned, str | None]
    """What memory files held when the run first touched them, where that is recorded; None: they were not there."""
    written: set[str]
    """The paths of the memory files that it wrote."""
    tools: list[str]
    """The tools that the agent had; empty where the recording does not say."""


class Teller:
    """Turns the lines of a run into events, one after the other. `default_group` is the group where none is recorded."""

    def __init__(
        self,
        run: Run,
        reading: Reading,
        *,
        aliases: Mapping[str, str],
        adapter: AdapterInfo,
        default_group: str,
    ) -> None:
        self.run = run
        self.reading = reading
        self.aliases = aliases
        self.generation = generation_of(run, reading)
        self.sayings = read_sayings(run, reading.source, max_line=reading.max_bytes)
        self.builder = TraceBuilder(
            adapter=adapter,
            capabilities=Capabilities(supports_tool_trace=True, supports_replay=True),
            scenario=scenario_of(run, reading, default_group),
        )
        self.outbox = Outbox(run)
        self.outgoing = Outgoing(
            final_answers(self.sayings.of_type("assistant", "result")),
            self.outbox,
            self.generation,
            self.builder,
        )
        self.memory = MemoryTelling(run, reading, self.builder, self.sayings)
        self.usage = Usage()
        self.calls: dict[str, Call] = {}
        """By the recorded id: the last one of it."""
        self.early: dict[str, tuple[Said, Record]] = {}
        """Results that stand before their call."""
        self.waiting = list(run.received)
        self.ending = Ending()
        self.tasks: dict[str, str] = {}
        """The ids of calls, by what their results call the work that goes on."""
        self.served = 0
        """How many calls the model's service ran itself: what they were is not read."""
        self.took: list[float] = []
        """How long the turns of a stream took, in milliseconds."""
        self.cost: float | None = None
        self.tools: list[str] = []
        """The tools that the agent had, where the recording says so."""
        self.notes: list[str] = []

    def told(self, case_id: str, run_id: str) -> Told:
        """The trace of the run, under the ids of the test case and of the test run."""
        for said in self.sayings:
            self._line(said)
        self._unanswered()
        self._runtime_errors()
        unanswered = [call.time for call in self.calls.values() if not call.answered]
        status = self.ending.status(self.run, self.outgoing.final, unanswered)
        self._flags()
        trace = self.builder.build(
            test_case_id=case_id,
            test_run_id=run_id,
            input_messages=[
                TraceMessage(role="user", content=each.message.text) for each in self.run.received
            ],
            final_output=self.outgoing.output,
            status=status,
            timing_ms_total=sum(self.took) or (self.run.ended - self.run.started) * self.run.index.timed,
            token_usage=self.usage.total(),
            cost_usd=self.cost,
            unseen=self._unseen(),
        )
        trace.notes += [*self.notes, *self.outgoing.notes, *self.memory.notes()]
        trace.notes += notes_on(self.run, self.reading, self.generation, self.usage)
        return Told(trace=trace, before=self.memory.before, written=self.memory.written, tools=self.tools)

    def _line(self, said: Said) -> None:
        kind = said.record.get("type")
        if kind == "assistant":
            self._assistant(said)
        elif kind == "system":
            self._system(said)
        elif kind == "result":
            self._result_of_stream(said)
        else:
            self.ending.hears(said)
            if said.agent == MAIN_AGENT:
                self._messages(said)
            for block in said.blocks("tool_result"):
                self._result(said, block)
            self.memory.tell_loaded(said)
        if prompt_of(said.record) is None:
            self._notices(said)

    def _messages(self, said: Said) -> None:
        text = prompt_of(said.record)
        if text is None:
            return
        for message in parse_prompt(text).messages:
            received = next((each for each in self.waiting if each.message == message), None)
            if received is None:  # handed out again
                continue
            self.waiting.remove(received)
            row = received.row
            data: dict[str, Any] = {"role": "user", "content": message.text}
            if sender := message.sender or (row.sender if row else ""):
                data["sender"] = sender
            if name := row.id if row else message.seq:
                data["message_id"] = name
            time = row.time if row and message.kind != "task" else said.line.time
            self.builder.add("message_received", data, actor=SENDERS.get(message.kind, "user"), ts=iso(time))

    def _assistant(self, said: Said) -> None:
        if said.is_failure:
            failure = text_of(said.message.get("stop_reason")) or "api_error"
            self.ending.fails(said, failure)
            text = "\n".join(text_of(block.get("text")) for block in said.blocks("text"))
            kind = failure if failure == REFUSAL else "api_error"
            self._error(said, {"scope": "model", "error_type": kind, "message": text, "retryable": False})
            return
        if said.is_made_up:
            return
        self.ending.goes_on(said)
        self.usage.add(said.message)
        for block in said.blocks("tool_use"):
            self._call(said, block)
        self.served += said.served()
        self.outgoing.tell(said.line)

    def _call(self, said: Said, block: Record) -> None:
        name, call_id = text_of(block.get("name")), text_of(block.get("id"))
        if not call_id or not name:
            return
        known, message = self.calls.get(call_id), text_of(said.message.get("id"))
        args = fitting(record_of(block.get("input")))
        # the same call, written again or further
        if known and known.message == message and (message or not known.answered):
            known.args.update(args)
            return
        # some services use an id for many calls, one after the other
        number = known.number + 1 if known else 1
        call = Call(
            id=call_id if number == 1 else f"{call_id}#{number}",
            number=number,
            recorded=name,
            tool=canonical(name, self.aliases),
            args=args,
            folder=text_of(said.record.get("cwd")),
            time=said.line.time,
            message=message,
        )
        self.calls[call_id] = call
        data = {"tool": call.tool, "call_id": call.id, "args": call.args, "recorded_tool": name}
        parent = self.calls.get(said.spawn)
        if parent:
            data["parent_call_id"] = parent.id
        event = self.builder.add(
            "tool_call",
            data,
            ts=iso(said.line.time),
            agent_id=said.agent,
            parent_event_id=parent.event_id if parent else None,
        )
        call.event_id = event.event_id
        if call_id in self.early:
            self._result(*self.early.pop(call_id))

    def _result(self, said: Said, block: Record) -> None:
        call_id = text_of(block.get("tool_use_id"))
        call = self.calls.get(call_id)
        if call is None:
            self.early[call_id] = said, block
            return
        if call.answered:
            return
        call.answered = True
        detail = detail_of(said.record)
        told = record_of(detail)
        self.tasks.update((name, call_id) for key in TASKS if (name := text_of(told.get(key))))
        text = result_text(block, detail, call.recorded)
        text, whole = whole_text(
            text, self.run.transcript.path, self.reading.source, max_bytes=self.reading.max_bytes
        )
        if not whole:
            self.notes.append(
                f"the result of {call.id} ({call.tool}) is cut: the file with the whole of it is missing"
            )
        stated = block.get("is_error")
        success = not says_failed(text) if stated is None else stated is not True
        result: Any = text
        if success and call.tool == OUTBOUND:
            result = self.outbox.told(text, call.args)
            self.outgoing.sent(call.id, call.args, result)
        data = {"tool": call.tool, "call_id": call.id, "success": success, "result": result}
        self.builder.add("tool_result", data, actor="tool", ts=iso(said.line.time), agent_id=said.agent)
        if success:
            self.memory.tell(said, call, text, detail)
        else:
            kind = error_type(text)
            error = {"scope": "tool", "tool": call.tool, "call_id": call.id, "error_type": kind}
            self._error(said, {**error, "message": text, "retryable": kind in RETRYABLE})

    def _notices(self, said: Said) -> None:
        """The results that come after the answer to their call, which only said that it began something."""
        for notice in notices_of(said.record):
            call = self.calls.get(notice.call) or self.calls.get(self.tasks.get(notice.task, ""))
            if call is None:
                continue
            result = notice.result
            if not result and notice.status == "completed" and call.recorded in SPAWNS:
                result = self.sayings.last_text(notice.task) or notice.summary
            failed = notice.status in FAILED
            if result or failed:
                text = result or notice.summary
                data = {"tool": call.tool, "call_id": call.id, "success": not failed, "result": text}
                self.builder.add(
                    "tool_result", data, actor="tool", ts=iso(said.line.time), agent_id=said.agent
                )
            if failed:
                kind = FAILED[notice.status] or error_type(notice.summary)
                error = {"scope": "tool", "tool": call.tool, "call_id": call.id, "error_type": kind}
                self._error(said, {**error, "message": notice.summary, "retryable": False})

    def _result_of_stream(self, said: Said) -> None:
        result = said.record
        if isinstance(took := result.get("duration_ms"), int | float) and took >= 0:
            self.took.append(took)
        costs = self.run.index.costs
        for cost in (each for place, each in costs if place == said.line.place):
            before = [0.0, *(each for place, each in costs if place < self.run.lines[0].place)][-1]
            self.cost = (
                round(cost - before, 9) if cost >= before else cost
            )  # it adds up, until it begins anew
        self.usage.add_total(record_of(result.get("usage")))
        self.outgoing.tell(said.line)
        if not (said.line.aside and self.ending.told) and (kind := self.ending.ends(result)):
            errors = result.get("errors")
            told = [text_of(result.get("result")), *(errors if isinstance(errors, list) else [])]
            message = next((text for text in told if text_of(text)), f"the run ended with {kind}")
            scope = "model" if kind == "api_error" else "runtime"
            self._error(said, {"scope": scope, "error_type": kind, "message": message, "retryable": False})

    def _error(self, said: Said | Place, data: dict[str, Any]) -> None:
        whole = {"scope": "runtime", "tool": None, "call_id": None, **data}
        actor = "tool" if whole["scope"] == "tool" else "system"
        self.builder.add("error", whole, actor=actor, ts=iso(said.line.time), agent_id=said.agent)

    def _system(self, said: Said) -> None:
        subtype = said.record.get("subtype")
        if subtype == "init":
            listed = said.record.get("tools")
            names = [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
            self.tools = list(dict.fromkeys(canonical(name, self.aliases) for name in names))
        elif subtype in ("api_error", "api_retry"):
            kind, message = api_error(said.record)
            self._error(said, {"scope": "model", "error_type": kind, "message": message, "retryable": True})
        elif subtype == "model_refusal_no_fallback":
            self.ending.fails(said, REFUSAL)
        elif subtype == "compact_boundary":
            self.notes.append(
                "the conversation was compacted in this run: what the agent knew from before is only a summary"
            )

    def _unanswered(self) -> None:
        last = self.sayings.places[-1]
        for call in self.calls.values():
            if not call.answered:
                error = {"scope": "tool", "tool": call.tool, "call_id": call.id, "error_type": "aborted"}
                self._error(
                    last, {**error, "message": "the run ended before the tool answered", "retryable": False}
                )

    def _unseen(self) -> list[str]:
        """The parts of the run that the recording does not show, in words."""
        run = self.run
        told = [] if run.begun else ["what came before the first line of the run"]
        told += dict.fromkeys(self.sayings.unseen)
        if run.damaged:
            told.append(f"what is in {counted(run.damaged, 'line')} that cannot be read")
        if self.early:
            told.append(f"the calls of {counted(len(self.early), 'tool result')}")
        if self.served:
            told.append(f"{counted(self.served, 'call')} that the model's service ran itself")
        if run.last and run.index.cut:
            told.append("what came after the last line, which is cut")
        elif run.index.stream and not any(line.type == "result" for line in run.lines):
            told.append("what came after the last line, which is no result")
        return told

    def _runtime_errors(self) -> None:
        last = self.sayings.places[-1]
        told = [("runner_failed", row.text) for row in self.outbox.runner_failures()]
        rows = [each.row for each in self.run.received if each.row]
        told += [("task_failed", row.error) for row in rows if row.error]
        for kind, message in told:
            self.ending.failure = kind
            self._error(last, {"error_type": kind, "message": message, "retryable": False})

    def _flags(self) -> None:
        flags = self.builder.capabilities
        flags.supports_memory_events = self.generation == "v2" or self.memory.told
        stored = self.run.session is not None
        flags.supports_scheduler_context = self.run.task is not None if self.run.by_scheduler else stored
        flags.supports_container_metadata = mounts_are_known(self.run, self.reading)
