"""The adapter itself: which input a test gives, and which reader it goes to."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agenteval.contracts.adapters import AdapterContext
from agenteval.contracts.errors import AdapterError
from agenteval.contracts.models import EXTENSION_PREFIX, Model
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import AdapterInfo, Trace

if TYPE_CHECKING:
    from agenteval.contracts.adapters import Recorder
    from agenteval.live.run import LiveAgent, LiveSetup

NAME = "nanoclaw"
VERSION = "0.1.0"
INFO = AdapterInfo(name=NAME, version=VERSION)
INPUTS = ("replay_file", "session")
"""The keys of `adapter_input` that name a recording."""
OF_SESSION = ("turn", "message", "task_id", "time", "tool_aliases")
"""The other keys, which go with `session`."""


class NanoClawAdapter:
    """Reads a recording of NanoClaw that a test names in `adapter_input` (SPEC 12, 22)."""

    name = NAME
    version = VERSION
    supports_live_run = True
    never_runs_live = ("src/*", "setup/*", "scripts/*", "*.sh", "package.json", "pnpm-lock.yaml")
    """The code of the host, of which a live run reads constants and executes nothing: globs of paths in a checkout."""

    @property
    def input_schemas(self) -> Mapping[str, type]:
        """The models of the files that tests name in `adapter_input`, by schema name."""
        from agenteval_nanoclaw.bundle import ReplayBundle

        return {"replay": ReplayBundle}

    @property
    def input_model(self) -> type[Model]:
        """The model of `adapter_input`."""
        from agenteval_nanoclaw.session.runs import NanoClawInput

        return NanoClawInput

    def reads(self, path: Path) -> bool:
        """Return whether a file looks like a replay bundle; its errors are reported when it is read."""
        from agenteval.reading.documents import opened

        if path.suffix != ".json":
            return False
        try:
            with opened(path) as file:
                if file.read(1 << 10).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):  # as a stream may be
                    return False
                file.seek(0)
                return any(b'"script"' in line or b'"schema_version"' in line for line in file)
        except OSError:
            return False

    @property
    def recorder(self) -> "Recorder":
        """Reads real recordings of NanoClaw, for `agenteval record`."""
        from agenteval_nanoclaw.session.recorder import SessionRecorder

        return SessionRecorder(INFO)

    def reads_with(self, given: Mapping[str, Any], folder: Path) -> list[Path]:
        """List the files that belong to the recording of a session without being named."""
        from agenteval_nanoclaw.session.source import belonging

        named = given.get("session")
        return belonging(folder / named) if named and isinstance(named, str) else []

    def live_agent(self, setup: "LiveSetup") -> "LiveAgent":
        """NanoClaw, ready to run a test's scenario again. Raises `AdapterError`."""
        from agenteval_nanoclaw.live.agent import prepared

        return prepared(setup, self)

    def trace(self, case: TestCase, context: AdapterContext) -> Trace:
        """The trace of one test. Raises `AdapterError`, with every problem of the recording."""
        given = [key for key in INPUTS if key in case.adapter_input]
        of_bundle = given == ["replay_file"]
        allowed = INPUTS if of_bundle else (*INPUTS, *OF_SESSION)
        for key in case.adapter_input:
            if key in OF_SESSION and of_bundle:
                raise _invalid(
                    f"adapter_input.{key} belongs with session, not with replay_file",
                    f"remove {key}, or name the recording as session",
                )
            if key not in allowed and not key.startswith(EXTENSION_PREFIX):
                from agenteval.loading.adapter_input import unknown_key

                raise unknown_key(key, allowed)
        if not given:
            raise AdapterError(
                "adapter_input names no recording: replay_file or session is missing",
                reason_code="adapter.input_missing",
                next_step="name the recording next to the test: adapter_input: {replay_file: replay.json}",
            )
        if len(given) > 1:
            raise _invalid(f"adapter_input names two recordings: {' and '.join(given)}", "keep one of them")
        return _trace_of_bundle(case, context) if of_bundle else _trace_of_session(case, context)

    def check_input(self, case: TestCase, context: AdapterContext) -> Trace:
        """The trace of what the test names, as a run would read it. Raises `AdapterError`, with every problem of the recording."""
        return self.trace(case, context)


def _invalid(message: str, next_step: str) -> AdapterError:
    return AdapterError(message, reason_code="adapter.invalid_input", next_step=next_step)


def _find(case: TestCase, context: AdapterContext, key: str) -> Path:
    from agenteval.loading.adapter_input import find_file

    return find_file(
        case.adapter_input[key],
        context,
        setting=f"adapter_input.{key}",
        missing="adapter.replay_missing",
        next_step=f"correct adapter_input.{key} in the test, or put the recording there",
        folders=key == "session",
    )


def _trace_of_bundle(case: TestCase, context: AdapterContext) -> Trace:
    from agenteval_nanoclaw.bundle import load_bundle
    from agenteval_nanoclaw.fixtures import answers_of
    from agenteval_nanoclaw.normalize import normalize

    path = _find(case, context, "replay_file")
    bundle = load_bundle(path, max_bytes=context.max_file_bytes)
    return normalize(bundle, answers_of(bundle, path, case, context), case, context, INFO)


def _trace_of_session(case: TestCase, context: AdapterContext) -> Trace:
    from agenteval_nanoclaw.normalize import situation_differs
    from agenteval_nanoclaw.session.mapping import TraceMapper
    from agenteval_nanoclaw.session.runs import check_options, choose, read_recording

    given = case.adapter_input
    check_options(given)
    path = _find(case, context, "session")
    reading = read_recording(path, context, within=None if context.allow_outside else context.root)
    run = choose(reading.runs, given)
    group, aliases = case.scenario.group_id, given.get("tool_aliases", {})
    mapper = TraceMapper(run, reading, aliases=aliases, adapter=INFO, default_group=group)
    trace = mapper.trace(case.id, context.run_id)
    messages = trace.input_messages if run.received else None  # a stream, for one, does not tell of any
    for warning in situation_differs(case, trace.scenario, messages):
        context.warn(warning)
    return trace
