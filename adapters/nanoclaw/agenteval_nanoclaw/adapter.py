"""The adapter itself: which input a test gives, and which reader it goes to."""

from collections.abc import Callable, Mapping
from pathlib import Path

from agenteval.adapters import AdapterContext
from agenteval.errors import AdapterError
from agenteval.spec import TestCase
from agenteval.strict import EXTENSION_PREFIX, closest
from agenteval.trace import AdapterInfo, Trace

NAME = "nanoclaw"
VERSION = "0.1.0"


class NanoClawAdapter:
    """Reads a recording of NanoClaw that a test names in `adapter_input` (SPEC 12, 22)."""

    name = NAME
    version = VERSION
    supports_live_run = False

    @property
    def input_schemas(self) -> Mapping[str, type]:
        """The models of the files that tests name in `adapter_input`, by schema name."""
        from agenteval_nanoclaw.bundle import ReplayBundle

        return {"replay": ReplayBundle}

    def reads(self, path: Path) -> bool:
        """Whether a file looks like a replay bundle; what is wrong with it is told when it is read."""
        return path.suffix == ".json" and looks_like_bundle(path)

    def trace(self, case: TestCase, context: AdapterContext) -> Trace:
        """The trace of one test. Raises `AdapterError`, with every problem of the recording."""
        for key in case.adapter_input:
            if key not in INPUTS and not key.startswith(EXTENSION_PREFIX):
                raise _unknown_input(key)
        given = [key for key in INPUTS if key in case.adapter_input]
        if not given:
            raise AdapterError(
                "adapter_input names no recording: replay_file is missing",
                reason_code="adapter.input_missing",
                next_step="name the recording beside the test: adapter_input: {replay_file: replay.json}",
            )
        return INPUTS[given[0]](case, context)

    def check_input(self, case: TestCase, context: AdapterContext) -> None:
        """Read what the test names, as a run would. Raises `AdapterError`, with every problem of the recording."""
        self.trace(case, context)


def looks_like_bundle(path: Path) -> bool:
    """Whether a JSON file speaks of a script of steps, or is named as bundles are."""
    if path.name == "replay.json":
        return True
    try:
        with path.open("rb") as file:
            return any(b'"script"' in line for line in file)
    except OSError:
        return False


def _trace_of_bundle(case: TestCase, context: AdapterContext) -> Trace:
    from agenteval_nanoclaw.bundle import load_bundle
    from agenteval_nanoclaw.files import find_file
    from agenteval_nanoclaw.fixtures import answers_of
    from agenteval_nanoclaw.normalize import normalize

    path = find_file(
        case.adapter_input["replay_file"],
        context,
        setting="adapter_input.replay_file",
        missing="adapter.replay_missing",
        next_step="correct adapter_input.replay_file in the test, or put the recording there",
    )
    bundle = load_bundle(path, max_bytes=context.max_file_bytes)
    answers = answers_of(bundle, path, case, context)
    return normalize(bundle, answers, case, context, AdapterInfo(name=NAME, version=VERSION))


INPUTS: dict[str, Callable[[TestCase, AdapterContext], Trace]] = {"replay_file": _trace_of_bundle}
"""The keys of `adapter_input`, and who reads what each names."""


def _unknown_input(key: str) -> AdapterError:
    near = closest(key, INPUTS)
    meant = f", did you mean {near!r}?" if near else ""
    return AdapterError(
        f"unknown key {key!r} in adapter_input{meant} (allowed: {', '.join(INPUTS)})",
        reason_code="adapter.unknown_input",
        next_step="correct the key in the test; keys that begin with x- are your own",
    )
