"""Maps one run to the normalized trace (SPEC 16)."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from agenteval.contracts.trace import (
    AdapterInfo,
    Capabilities,
    Trace,
    TraceBuilder,
    TraceMessage,
    TraceScenario,
    reports_failure,
)
from agenteval.matching.sends import OUTBOUND
from agenteval.text.fitting import counted
from agenteval_nanoclaw.session.answers import REFUSAL, Ending, Usage
from agenteval_nanoclaw.session.lines import MAIN_AGENT, Entry, read_lines
from agenteval_nanoclaw.session.memory import MemoryEvents
from agenteval_nanoclaw.session.ncl import asked_in, refusal_of
from agenteval_nanoclaw.session.outgoing import SentMessages
from agenteval_nanoclaw.session.prompts import parse_prompt
from agenteval_nanoclaw.session.results import (
    RETRYABLE,
    Call,
    api_error,
    canonical,
    error_type,
    fitting,
    result_text,
    whole_text,
)
from agenteval_nanoclaw.session.runs import CLOCK_SLACK, Reading, Received, Run
from agenteval_nanoclaw.session.store import Request
from agenteval_nanoclaw.session.transcript import (
    SPAWNS,
    TASKS,
    detail_of,
    is_interruption,
    notices_of,
    prompt_of,
)
from agenteval_nanoclaw.session.values import Record, iso, record_of, records_in, text_of

FAILED = {"failed": "", "killed": "aborted", "stopped": "aborted"}
"""The statuses of a notice about failed work, with the kind of error; empty: taken from its summary."""
PEER = "agent"
"""The role of another agent of the install in a conversation."""
SENDERS = {"task": "scheduler", "webhook": "system"}
"""The actor of a received message, by its kind. Any other kind is the user's."""
IMPLICIT = "memory that was loaded into the prompt is not recorded: without a read by a tool, nothing shows whether it was known"
NO_PROMPT = "the prompt: a stream does not tell what the agent was asked"
NOT_DELIVERED = "sends are known by their calls, the answer by its text"
MOUNTS = "memory under /workspace/extra belongs to the group that the folder is named for"


class TraceMapper:
    """Turns the lines of a run into events, one after the other. `default_group` is the group where none is recorded.

    Afterwards, `memory` holds the contents of memory files that the run shows, and `tools` the tools that the agent had,
    where the recording lists them.
    """

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
        self.lines, self.lost = read_lines(run, reading.source, max_line=reading.max_bytes)
        self.builder = TraceBuilder(
            adapter=adapter,
            capabilities=Capabilities(supports_tool_trace=True, supports_replay=True),
            scenario=_scenario(run, default_group, is_v2=reading.source.kind == "v2"),
        )
        self.outgoing = SentMessages(run, self.lines, self.builder, reading)
        self.memory = MemoryEvents(run, reading, self.builder, self.lines)
        self.usage = Usage()
        self.ending = Ending()
        self.calls: dict[str, Call] = {}
        """The calls by their recorded ids. Of several calls with one id, this is the last."""
        self.early: dict[str, tuple[Entry, Record]] = {}
        """Results before their call, by the id of the call."""
        self.waiting = list(run.received)
        self.tasks: dict[str, str] = {}
        """The ids of calls, by the name of the background work in their results."""
        self.served = 0
        """The number of calls that the model's service ran itself. They are counted, not read."""
        self.requests = list(run.session.requests) if run.session and run.index.timed else []
        """The session's requests to the host that no call has claimed yet."""
        self.took: list[float] = []
        """The durations of a stream's turns, in milliseconds."""
        self.cost: float | None = None
        self.tools: list[str] = []
        self.notes: list[str] = []

    def trace(self, case_id: str, run_id: str) -> Trace:
        """Build the trace of the run, with the ids of the test case and of the test run."""
        run, flags = self.run, self.builder.capabilities
        for entry in self.lines:
            self._line(entry)
        self.outgoing.end()
        last = self.lines[-1]
        unanswered = [call for call in self.calls.values() if not call.answered]
        for call in unanswered:
            self._error(last, "aborted", "the run ended before the tool answered", call=call)
        failures = [("runner_failed", text) for text in self.outgoing.failures]
        for kind, message in [*failures, *(("task_failed", row.error) for row in run.rows if row.error)]:
            self.ending.failure = kind
            self._error(last, kind, message)
        # v1 loads memory into the prompt without a trace of it: without events, nothing shows whether memory was known.
        flags.supports_memory_events = run.generation == "v2" or self.memory.has_events
        flags.supports_scheduler_context = bool(run.task if run.by_scheduler else run.session)
        flags.supports_container_metadata = run.mounts_are_known
        return self.builder.build(
            test_case_id=case_id,
            test_run_id=run_id,
            input_messages=[
                TraceMessage(role=_speaker(each)[0], content=each.message.text) for each in run.received
            ],
            final_output=self.outgoing.output,
            status=self.ending.status(run, self.outgoing.final, [call.time for call in unanswered]),
            timing_ms_total=sum(self.took) or (run.ended - run.started) * run.index.timed,
            token_usage=self.usage.total(),
            cost_usd=self.cost,
            unseen=list(self._unseen()),
            notes=[*self.notes, *self.outgoing.notes, *self._not_shown()],
        )

    def _line(self, entry: Entry) -> None:
        kind = entry.record.get("type")
        if kind == "assistant":
            self._assistant(entry)
        elif kind == "system":
            self._system(entry)
        elif kind == "result":
            self._result_of_stream(entry)
        else:
            if entry.agent == MAIN_AGENT:
                self.ending.stopped |= is_interruption(entry.record)
                self._messages(entry)
            for block in entry.blocks("tool_result"):
                self._result(entry, block)
            self.memory.add_loaded(entry)
        if prompt_of(entry.record) is None:
            self._notices(entry)

    def _messages(self, entry: Entry) -> None:
        text = prompt_of(entry.record)
        for message in parse_prompt(text).messages if text is not None else ():
            received = next((each for each in self.waiting if each.message == message), None)
            if received is None:  # the harness handed the same message to the agent again
                continue
            self.waiting.remove(received)
            row = received.row
            role, actor = _speaker(received)
            data: dict[str, Any] = {"role": role, "content": message.text}
            sender = message.sender or (row.sender if row else "")
            if sender := message.origin or sender if role == PEER else sender:
                data["sender"] = sender
            if name := row.id if row else message.seq:
                data["message_id"] = name
            time = row.time if row and message.kind != "task" else entry.line.time
            self.builder.add("message_received", data, actor=actor, ts=iso(time))

    def _assistant(self, entry: Entry) -> None:
        if entry.is_failure:
            failure = text_of(entry.message.get("stop_reason")) or "api_error"
            self._fails(entry, failure)
            kind = failure if failure == REFUSAL else "api_error"
            self._error(entry, kind, "\n".join(entry.texts()), scope="model")
        elif not entry.is_made_up:
            if entry.agent == MAIN_AGENT:
                # Whatever the agent says after a failure or an interruption shows that the run went on.
                self.ending = Ending(working=any(entry.blocks("tool_use")), stated=self.ending.stated)
            self.usage.add(entry)
            for block in entry.blocks("tool_use"):
                self._call(entry, block)
            blocks = records_in(entry.message.get("content"))
            self.served += sum(text_of(block.get("type")).endswith("_tool_use") for block in blocks)
            self.outgoing.add_sent(entry.line)

    def _fails(self, entry: Entry, failure: str) -> None:
        if entry.agent == MAIN_AGENT:
            self.ending.failure = failure

    def _call(self, entry: Entry, block: Record) -> None:
        name, call_id = text_of(block.get("name")), text_of(block.get("id"))
        if not call_id or not name:
            return
        known, message = self.calls.get(call_id), text_of(entry.message.get("id"))
        args = fitting(record_of(block.get("input")))
        # A line may repeat a call, or complete it: streams write the first lines before all arguments are there.
        if known and known.message == message and (message or not known.answered):
            known.args.update(args)
            return
        # Some services use one id for many calls, one after the other: `call_0` is in every answer.
        number = known.number + 1 if known else 1
        own_id = call_id if number == 1 else f"{call_id}#{number}"
        folder, tool = text_of(entry.record.get("cwd")), canonical(name, self.aliases)
        call = Call(own_id, name, tool, args, folder, entry.line.time, message, number)
        self.calls[call_id] = call
        sent, given = self.outgoing.args_of(call.id, args)
        data = {"tool": tool, "call_id": call.id, "args": sent, "recorded_tool": name}
        if given:
            data["said"] = given
        parent = self.calls.get(entry.spawn)
        if parent:
            data["parent_call_id"] = parent.id
        call.event_id = self.builder.add(
            "tool_call",
            data,
            ts=iso(entry.line.time),
            agent_id=entry.agent,
            parent_event_id=parent.event_id if parent else None,
        ).event_id
        if call_id in self.early:
            self._result(*self.early.pop(call_id))

    def _result(self, entry: Entry, block: Record) -> None:
        call_id = text_of(block.get("tool_use_id"))
        call = self.calls.get(call_id)
        if call is None:
            self.early[call_id] = entry, block
            return
        if call.answered:
            return
        call.answered = True
        # A later result may name background work by the id in this one.
        detail = record_of(detail_of(entry.record))
        self.tasks.update((name, call_id) for key in TASKS if (name := text_of(detail.get(key))))
        text, whole = whole_text(
            result_text(block, detail, call.recorded),
            self.run.transcript.path,
            self.reading.source,
            max_bytes=self.reading.max_bytes,
        )
        if not whole:
            self.notes.append(
                f"the result of {call.id} ({call.tool}) is cut: the file with the whole of it is missing"
            )
        # Most tools state `is_error` only for a failure, and some report a failure as text alone.
        stated = block.get("is_error")
        success = not reports_failure(text) if stated is None else stated is not True
        result: Any = text
        if success and call.tool == OUTBOUND:
            result = self.outgoing.sent(call.id, call.args, text)
        if call.recorded == "Bash":
            self._ask_host(entry, call, text, success=success)
        self._answer(entry, call, result, success=success)
        # A tool may report a success though the host never delivered the message: then a second result fails.
        if success and (lost := self.outgoing.not_arrived(call)):
            self._answer(entry, call, lost, success=False)
        if success:
            self.memory.add_uses(entry, call, text, detail)
        else:
            kind = error_type(text)
            self._error(entry, kind, text, call=call, retryable=kind in RETRYABLE)

    def _take_requests(self, start: int, end: int) -> list[Request]:
        """Take the requests that may have come in that time. One request is of one call only."""
        during = [each for each in self.requests if each.until >= start and each.time <= end]
        self.requests = [each for each in self.requests if each not in during]
        return during

    def _ask_host(self, entry: Entry, call: Call, text: str, *, success: bool) -> None:
        """Add the task requests of a shell command (`ncl tasks …`) as calls of their own, below the call of the shell."""
        during = self._take_requests(call.time, entry.line.time + CLOCK_SLACK)
        asked = asked_in(text_of(call.args.get("command")), during)
        for number, each in enumerate(asked, 1):
            refusal = refusal_of(each.answer)
            done, shown = success, text  # of the shell, where the host's answer is not recorded
            if each.answer:
                done = not refusal
                # One request alone: the shell printed its answer as the agent read it.
                shown = text if len(asked) == 1 else refusal or json.dumps(each.answer.get("data"))
            inner = Call(
                f"{call.id}:{number}",
                each.command,
                each.tool,
                each.args,
                call.folder,
                call.time,
                call.message,
            )
            data = {"tool": inner.tool, "call_id": inner.id, "args": fitting(inner.args)}
            inner.event_id = self.builder.add(
                "tool_call",
                {**data, "recorded_tool": inner.recorded, "parent_call_id": call.id},
                ts=iso(call.time),
                agent_id=entry.agent,
                parent_event_id=call.event_id,
            ).event_id
            self._answer(entry, inner, shown, success=done)
            if not done:
                kind = error_type(refusal or text)
                self._error(entry, kind, refusal or text, call=inner, retryable=kind in RETRYABLE)

    def _notices(self, entry: Entry) -> None:
        """Add results that arrive in notices. The result of their call only stated that the work began."""
        for notice in notices_of(entry.record):
            call = self.calls.get(notice.call) or self.calls.get(self.tasks.get(notice.task, ""))
            if call is None:
                continue
            result = notice.result
            if not result and notice.status == "completed" and call.recorded in SPAWNS:
                result = self._last_text(notice.task) or notice.summary
            failed = notice.status in FAILED
            if result or failed:
                self._answer(entry, call, result or notice.summary, success=not failed)
            if failed:
                kind = FAILED[notice.status] or error_type(notice.summary)
                self._error(entry, kind, notice.summary, call=call)

    def _last_text(self, agent: str) -> str:
        spoken = (entry for entry in reversed(self.lines) if entry.agent == agent)
        return next(("\n".join(texts) for entry in spoken if (texts := entry.texts())), "")

    def _result_of_stream(self, entry: Entry) -> None:
        result = entry.record
        if isinstance(took := result.get("duration_ms"), int | float) and took >= 0:
            self.took.append(took)
        costs, first = self.run.index.costs, self.run.lines[0].place
        for cost in (each for place, each in costs if place == entry.line.place):
            before = [0.0, *(each for place, each in costs if place < first)][-1]
            self.cost = (
                round(cost - before, 9) if cost >= before else cost
            )  # the cost of the process: it adds up, and a new process begins at 0
        self.usage.add_total(result.get("usage"))
        self.outgoing.add_sent(entry.line)
        if not (entry.line.aside and self.ending.stated) and (kind := self.ending.ends(result)):
            errors = result.get("errors")
            texts = [text_of(result.get("result")), *(errors if isinstance(errors, list) else [])]
            message = next((text for text in texts if text_of(text)), f"the run ended with {kind}")
            self._error(entry, kind, message, scope="model" if kind == "api_error" else "runtime")

    def _answer(self, entry: Entry, call: Call, result: Any, *, success: bool) -> None:
        data = {"tool": call.tool, "call_id": call.id, "success": success, "result": result}
        self.builder.add("tool_result", data, actor="tool", ts=iso(entry.line.time), agent_id=entry.agent)

    def _error(
        self,
        entry: Entry,
        kind: str,
        message: str,
        *,
        scope: str = "runtime",
        call: Call | None = None,
        retryable: bool = False,
    ) -> None:
        data = {
            "scope": "tool" if call else scope,
            "tool": call.tool if call else None,
            "call_id": call.id if call else None,
            "error_type": kind,
            "message": message,
            "retryable": retryable,
        }
        actor = "tool" if call else "system"
        self.builder.add("error", data, actor=actor, ts=iso(entry.line.time), agent_id=entry.agent)

    def _system(self, entry: Entry) -> None:
        subtype = entry.record.get("subtype")
        if subtype == "init":
            listed = entry.record.get("tools")
            names = [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
            self.tools = list(dict.fromkeys(canonical(name, self.aliases) for name in names))
        elif subtype in ("api_error", "api_retry"):
            self._error(entry, *api_error(entry.record), scope="model", retryable=True)
        elif subtype == "model_refusal_no_fallback":
            self._fails(entry, REFUSAL)
        elif subtype == "compact_boundary":
            self.notes.append(
                "the conversation was compacted in this run: what the agent knew from before is only a summary"
            )

    def _unseen(self) -> Iterator[str]:
        run = self.run
        if not run.begun:
            yield "what came before the first line of the run"
        yield from dict.fromkeys(self.lost)
        if run.damaged:
            yield f"what is in {counted(run.damaged, 'line')} that cannot be read"
        if self.early:
            yield f"the calls of {counted(len(self.early), 'tool result')}"
        if self.served:
            yield f"{counted(self.served, 'call')} that the model's service ran itself"
        if run.last and run.index.cut:
            yield "what came after the last line, which is cut"
        elif run.index.stream and not any(line.type == "result" for line in run.lines):
            yield "what came after the last line, which is no result"

    def _not_shown(self) -> Iterator[str]:
        """List notes on facts that the recording cannot show, beside the unseen parts of the run."""
        run = self.run
        for command in self.memory.memory.unclear:
            yield f"a command names memory in a way that is not understood; what it did there is not shown: {command}"
        if run.begun and not run.received:
            no_prompt = f"not in the recording: {NO_PROMPT}"
            yield no_prompt if run.index.stream else "no message of a user began this run"
        if not self.usage.output_is_recorded:
            yield "output tokens were not recorded"
        if run.generation != "v2":
            yield IMPLICIT
        if run.by_scheduler and run.task is None:
            yield "no database says which task this was: scheduler context is not judged"
        if not run.outbound_is_stored:
            yield f"what was delivered is not recorded: {NOT_DELIVERED}"
        if run.generation and not run.mounts_are_known:
            yield f"mounts are not recorded: {MOUNTS}"
        if unknown := run.index.skipped:
            kinds = ", ".join(f"{kind} ({count})" for kind, count in sorted(unknown.items()))
            yield f"unknown lines of the transcript were ignored: {kinds}"


def _speaker(received: Received) -> tuple[str, str]:
    """Return role and actor of a message: the user, another agent of the install, the host, or the scheduler."""
    if received.is_note:
        return "system", "system"
    return (PEER, "agent") if received.is_of_peer else ("user", SENDERS.get(received.message.kind, "user"))


def _scenario(run: Run, default_group: str, *, is_v2: bool) -> TraceScenario:
    scenario = TraceScenario(
        trigger="scheduler" if run.by_scheduler else "user_message",
        group_id=(run.group.folder if run.group else run.transcript.owner) or default_group or None,
        session_id=run.session.id if run.session and is_v2 else run.transcript.sdk_session,
    )
    if run.by_scheduler:
        scenario.task_id = run.task.id if run.task else None
        scenario.scheduler_context = _scheduler_context(run)
    return scenario


def _scheduler_context(run: Run) -> dict[str, Any]:
    """Return the facts about the task of a run that the databases, or the prompt, hold."""
    context: dict[str, Any] = {"timezone": run.timezone} if run.timezone else {}
    task = run.task
    if task is None:
        return context
    context["task_id"] = task.id
    if task.process_after is not None:
        context["scheduled_for"] = iso(task.process_after)
    if task.series and task.series != task.id:
        context["series_id"] = task.series
    # The recurrence of a series moves on to the next occurrence when one is done, so this row may have none.
    rows = run.session.inbound if run.session and task.series else []
    series = [task, *(row for row in rows if row.series == task.series)]
    if recurrence := next((row.recurrence for row in series if row.recurrence), ""):
        context["recurrence"] = recurrence
    return context
