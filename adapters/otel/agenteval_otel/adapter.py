"""The adapter: reads the spans that a test names in `adapter_input.replay_file`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from agenteval.contracts.adapters import AdapterContext
from agenteval.contracts.errors import AdapterError
from agenteval.contracts.models import EXTENSION_PREFIX, Model
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import AdapterInfo, Trace, TraceScenario
from agenteval.text.fitting import cut

if TYPE_CHECKING:
    from agenteval.contracts.adapters import Recorder
    from agenteval_otel.receiver import Receiver
    from agenteval_otel.runs import Run
    from agenteval_otel.spans import Spans

NAME = "otel"
VERSION = "0.1.0"
REPLAY_FILE = "replay_file"
TRACE_ID = "trace_id"
INPUTS = (REPLAY_FILE, TRACE_ID)
MOST_NAMED = 6
"""The number of conventions that an error lists."""


class OtelAdapter:
    """Reads the OpenTelemetry spans of any instrumented agent."""

    name = NAME
    version = VERSION
    supports_live_run = False
    info: ClassVar[AdapterInfo] = AdapterInfo(name=NAME, version=VERSION)

    @property
    def input_model(self) -> type[Model]:
        """The model of `adapter_input`."""
        from agenteval_otel.recorder import OtelInput

        return OtelInput

    @property
    def recorder(self) -> "Recorder":
        """Lists the runs in a file of spans, and makes tests of them."""
        from agenteval_otel.recorder import OtelRecorder

        return OtelRecorder()

    def receive(self, file: Path, address: tuple[str, int] | Path, *, max_bytes: int) -> "Receiver":
        """Receive the exports of a running agent into a file that this adapter reads (see `receiver`)."""
        from agenteval_otel.receiver import Receiver

        return Receiver(file, address, max_bytes=max_bytes)

    def trace(self, case: TestCase, context: AdapterContext) -> Trace:
        """Read the trace of one test. Raises `AdapterError`, and `FileError` for a file that is no text."""
        from agenteval_otel.normalize import normalize
        from agenteval_otel.runs import runs_of
        from agenteval_otel.spans import read_spans

        path = _file(case.adapter_input, context)
        found = read_spans(path, max_bytes=context.max_file_bytes)
        run = chosen(runs_of(found), case.adapter_input.get(TRACE_ID), path, found)
        stated = case.scenario
        session = run.conversation or stated.session_id
        scenario = TraceScenario(trigger=stated.trigger, group_id=stated.group_id, session_id=session)
        ids = {"test_case_id": case.id, "test_run_id": context.run_id}
        trace = normalize(run, scenario, self.info, **ids, cut=found.cut)
        for fixture in case.tools.fixtures:
            if fixture.answers:
                context.warn(f"fixture {fixture.id!r} is not used: results are those in the spans")
        if stated.session_id not in (None, session):
            context.warn(
                f"the scenario's session_id is {stated.session_id!r} in the test and {session!r} in the spans"
            )
        expected = [message.content for message in stated.input_messages if message.role == "user"]
        asked = [message.content for message in trace.input_messages]
        if asked and expected != asked:
            context.warn(
                f'the scenario\'s input_messages are not those in the spans, which begin with "{cut(asked[0], 80)}"'
            )
        return trace

    check_input = trace
    """Reads the input of a test as a run would read it."""


def chosen(runs: Sequence["Run"], trace_id: Any, path: Path, found: "Spans") -> "Run":
    """Return the run with the trace id; without an id, the only run. Raises `AdapterError`."""
    if not runs:
        raise nothing_done(path, found)
    known = ", ".join(run.trace_id for run in runs)
    if trace_id is None and len(runs) == 1:
        return runs[0]
    if run := next((run for run in runs if trace_id == run.trace_id), None):
        return run
    several = trace_id is None
    raise AdapterError(
        f"{path} holds {len(runs)} traces: {known}"
        if several
        else f"{path} has no trace {trace_id!r}; it holds {known}",
        reason_code="adapter.otlp_choose_trace",
        next_step="name one: adapter_input: {trace_id: ...}" if several else "correct adapter_input.trace_id",
    )


def nothing_done(path: Path, found: "Spans") -> AdapterError:
    """Return the error for a file without a run. It lists the conventions of the spans in the file."""
    from collections import Counter

    from agenteval_otel.conventions import convention

    names = Counter(convention(span) or f"spans named {cut(span.name, 40)!r}" for span in found.spans)
    names.update(f"log records of {log.scope or 'no scope'}" for log in found.logs)
    held = ", ".join(f"{name} ({count})" for name, count in names.most_common(MOST_NAMED))
    more = f", and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return AdapterError(
        f"{path} has no span of an agent, a model call or a tool call in a convention that is read; "
        f"it holds {held or 'no spans'}{more}",
        reason_code="adapter.otlp_no_run",
        next_step="instrument the agent with an instrumentation that docs/otel.md lists, and export its spans again",
    )


def _file(given: dict[str, Any], context: AdapterContext) -> Path:
    """Find the file that a test names, inside the project. Raises `AdapterError`."""
    from agenteval.loading.adapter_input import find_file, unknown_key

    for key in given:
        if key not in INPUTS and not key.startswith(EXTENSION_PREFIX):
            raise unknown_key(key, INPUTS)
    if given.get(REPLAY_FILE) is None:
        raise AdapterError(
            "adapter_input names no spans: replay_file is missing",
            reason_code="adapter.input_missing",
            next_step="name the file next to the test: adapter_input: {replay_file: spans.json}",
        )
    return find_file(
        given[REPLAY_FILE],
        context,
        setting="adapter_input.replay_file",
        missing="adapter.replay_missing",
        next_step="correct adapter_input.replay_file in the test, or put the spans there",
    )
