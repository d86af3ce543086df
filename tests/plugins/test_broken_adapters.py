"""Adapters that are not as they should be: each is named with its error, and none makes a test green."""

from pathlib import Path

import pytest

from agenteval.cli import main
from plugin_projects import ADAPTER, PLUGIN, asserting, plugged
from runs import run_command

NEXT = "correct the plugin, or remove it from `plugins` in the configuration"
AUTHOR = "correct the adapter, or report it to its author"
OF_THE_ADAPTER = "this is a bug in the adapter: report it with the recording that shows it"


@pytest.fixture(autouse=True)
def _in_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def having(lines: str) -> str:
    """The adapter `canned` with more in its class; `Answer` is a model."""
    model = "import sys\n\nfrom agenteval.contracts.adapters import *\nfrom agenteval.contracts.models import Model, model\n\n\n"
    model += "@model\nclass Answer(Model):\n    answer: str\n\n\nclass Canned:"
    return ADAPTER.replace("class Canned:", model).replace('"1.2"\n', f'"1.2"\n{lines}\n')


def making(lines: str) -> str:
    """The adapter `canned`, which does this to the trace before it returns it."""
    text = ADAPTER.replace("        return TraceBuilder(", "        builder = TraceBuilder(")
    start, rest = text.split("        ).build(")
    built, end = rest.split("        )\n\n\nPLUGINS")
    events = (
        '        builder.add("tool_call", {"tool": "web_search", "call_id": "c", "args": {}})\n'
        '        builder.add("tool_result", {"tool": "web_search", "call_id": "c", "success": True, "result": 1})\n'
    )
    return (
        f"{start}        )\n{events}        trace = builder.build({built}        )\n"
        f"        {lines}\n        return trace\n\n\nPLUGINS{end}"
    )


TRACES = {
    "nothing": ("trace = None", "it is nothing: expected Trace"),
    "arguments as text": (
        "trace.events[0].data['args'] = '{}'",
        "events[0].data.args is a value of type str: expected dict",
    ),
    "a success that is a word": (
        "trace.events[1].data['success'] = 'no'",
        "events[1].data.success is a value of type str: expected bool",
    ),
    "a call of no tool": ("del trace.events[0].data['tool']", "events[0].data.tool is nothing: expected str"),
    "what is not JSON": (
        "trace.events[1].data['result'] = [{1, 2}]",
        "events[1].data holds a value of type set, which is not JSON",
    ),
    "a number that Python does not write": (
        "trace.events[1].data['result'] = 10**5000",
        "events[1].data holds a number with thousands of digits, which is not JSON",
    ),
    "no data": ("trace.events[1].data = 'x'", "events[1].data is a value of type str: expected dict"),
    "no list of events": (
        "trace.events = tuple(trace.events)",
        "events is a value of type tuple: expected list",
    ),
    "an output that is a text": (
        "trace.final_output = 'HELLO'",
        "final_output is a value of type str: expected TraceMessage",
    ),
    "a flag that is a word": (
        "trace.capabilities.supports_replay = 'no'",
        "capabilities.supports_replay is a value of type str: expected bool",
    ),
    "a number that is a switch": (
        "trace.metrics.retry_count = True",
        "metrics.retry_count is a value of type bool: expected int",
    ),
    "a measure that is no number": (
        "trace.metrics.timing_ms_total = float('nan')",
        "metrics.timing_ms_total is nan: expected a number",
    ),
    "an unknown status": (
        "trace.status = 'fine'",
        "status is 'fine': expected one of success, partial, failed, blocked",
    ),
    "notes that are no texts": ("trace.notes = [None]", "notes[0] is nothing: expected str"),
    "the trace of another test": (
        "trace.test_case_id = 'canned.other'",
        "test_case_id is 'canned.other', not the id of the test",
    ),
}


@pytest.mark.parametrize(("lines", "odd"), TRACES.values(), ids=TRACES)
def test_a_trace_of_wrong_types_is_an_error(lines: str, odd: str, tmp_path: Path) -> None:
    """It is refused before anything is judged on it; the same trace is judged as it is made."""
    always = [{"id": "a", "type": "output_contains", "params": {"any_of": ["HELLO"]}}]
    for text, status in ((making("pass"), "pass"), (making(lines), "error")):
        (tmp_path / status).mkdir()
        project = plugged(tmp_path / status, text)
        path = project.add("a", adapter="canned", adapter_input={"answer": "HELLO"}, assertions=always)
        result = run_command([path], tmp_path / status / "out").only_result()
        assert result["status"] == status
    assert (result["reason_code"], result["next_step"]) == ("adapter.invalid_trace", AUTHOR)
    assert result["error"]["message"] == f"adapter canned 1.2 made an invalid trace: {odd}"


@pytest.mark.parametrize(
    ("raised", "shown"), [("ValueError('no')", "ValueError: no"), ("GeneratorExit", "GeneratorExit: ")]
)
def test_an_adapter_that_cannot_be_made(raised: str, shown: str, tmp_path: Path) -> None:
    """One of the project is corrected there, not reinstalled."""
    project = plugged(tmp_path, having(f"    def __init__(self):\n        raise {raised}"))
    result = run_command([project.add("a", adapter="canned")], tmp_path / "out").only_result()
    assert (result["reason_code"], result["next_step"]) == ("adapter.broken", NEXT)
    assert result["error"]["message"] == f"adapter 'canned' ({PLUGIN}) failed to load: {shown}"


INPUTS = {
    "a model that raises": (
        "    @property\n    def input_model(self):\n        raise ValueError('no')",
        "input_model: ValueError: no",
    ),
    "schemas that leave": (
        "    @property\n    def input_schemas(self):\n        sys.exit(0)",
        "input_schemas: SystemExit: 0",
    ),
    "no model": (
        "    input_model = dict",
        "input_model: TypeError: expected subclasses of agenteval.contracts.models.Model, got <class 'dict'>",
    ),
    "no model in the mapping": (
        "    input_schemas = {'a': 5}",
        "input_schemas: TypeError: expected subclasses of agenteval.contracts.models.Model, got 5",
    ),
}


@pytest.mark.parametrize(("lines", "error"), INPUTS.values(), ids=INPUTS)
def test_models_of_an_input_that_cannot_be_used(
    lines: str, error: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The schemas go without, with a warning; `doctor` tells it too; a test of the adapter runs all the same."""
    project = plugged(tmp_path, having(lines))
    told = f"the plugin {PLUGIN} is broken: the adapter 'canned' has no usable {error}"
    for argv in (["schema"], ["schema", "test-case"]):
        assert main(argv) == 0
        captured = capsys.readouterr()
        assert "test-case" in captured.out
        assert " ".join(captured.err.split()) in ("", f"warning[plugin.broken]: {told} next: {NEXT}")
    assert captured.err
    assert main(["doctor"]) == 2
    assert f"plugin        {told}\n              next: {NEXT}\n" in capsys.readouterr().out
    path = project.add("a", adapter="canned", adapter_input={"answer": "HI"}, assertions=[SAYS_HI])
    assert run_command([path], tmp_path / "out").exit_code == 0


SAYS_HI = {"id": "a", "type": "output_contains", "params": {"any_of": ["HI"]}}


def test_a_schema_of_an_adapter_may_be_flat(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model without models in it has no definitions of its own."""
    plugged(tmp_path, having("    input_schemas = {'answers': Answer}"))
    assert main(["schema", "answers"]) == 0
    assert '"$defs": {}' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        ("    def check_input(self, case, context):\n        sys.exit(0)", "SystemExit"),
        ("    @property\n    def check_input(self):\n        raise ValueError", "ValueError"),
    ],
)
def test_a_check_of_the_input_that_crashes(
    lines: str, error: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`validate` tells it at the input that was looked at."""
    path = plugged(tmp_path, having(lines)).add(
        "a", adapter="canned", assertions=asserting("tools_within_policy")
    )
    assert main(["validate", str(path)]) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert f"error[adapter.crashed]: adapter canned crashed: {error} " in out


def test_a_live_run_has_no_input_to_check(tmp_path: Path) -> None:
    """What an adapter would say of a recording is not asked of a test without one."""
    text = having("    def check_input(self, case, context):\n        sys.exit(0)")
    project = plugged(tmp_path, text.replace("supports_live_run = False", "supports_live_run = True"))
    path = project.add("a", adapter="canned", mode="live", assertions=asserting("tools_within_policy"))
    assert main(["validate", str(path)]) == 0


RUN = (
    "RecordedRun(number=1, choice={}, started_at='2026-01-01T00:00:00Z', group_id='g', trigger='user_message', "
    "first_words='hi', tools={}, status='success')"
)
RECORDERS = {
    "raises": ("raise KeyError('lost')", "crashed", "adapter canned crashed: KeyError: 'lost'"),
    "leaves": ("sys.exit(0)", "crashed", "adapter canned crashed: SystemExit: 0"),
    "returns nothing": (
        "pass",
        "invalid_trace",
        "adapter canned made an invalid recording: it is nothing: expected Recording",
    ),
    "returns runs of another kind": (
        "return Recording(kind='log', runs=[1])",
        "invalid_trace",
        "adapter canned made an invalid recording: runs[0] is a value of type int: expected RecordedRun",
    ),
    "returns counts that are none": (
        f"run = {RUN}\n            run.tools = {{'a': 'b'}}\n            return Recording(kind='log', runs=[run])",
        "invalid_trace",
        "adapter canned made an invalid recording: runs[0].tools['a'] is a value of type str: expected int",
    ),
    "converts to nothing": (
        f"return Recording(kind='log', runs=[{RUN}])",
        "invalid_trace",
        "adapter canned made an invalid recording: it is nothing: expected RecordedTest",
    ),
}


@pytest.mark.parametrize(("body", "code", "message"), RECORDERS.values(), ids=RECORDERS)
def test_a_recorder_that_is_broken(
    body: str, code: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The adapter is named, and nothing is written."""
    recorder = (
        "    class recorder:\n"
        f"        @staticmethod\n        def inspect(source, context):\n            {body}\n\n"
        "        @staticmethod\n        def convert(source, run, context):\n            pass\n"
    )
    plugged(tmp_path, having(recorder))
    (tmp_path / "run.log").touch()
    assert main(["record", "run.log", "--adapter", "canned", "--out", "new"]) == 2
    step = OF_THE_ADAPTER if code == "crashed" else AUTHOR
    assert " ".join(capsys.readouterr().err.split()) == f"error[adapter.{code}]: {message} next: {step}"
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "lines", ["    def reads(self, path):\n        1 / 0", "    recorder = property(lambda _: 1 / 0)"]
)
def test_what_finds_a_recording_may_crash(
    lines: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whether an adapter knows a file, or has a recorder at all, is asked with the same care."""
    plugged(tmp_path, having(lines))
    (tmp_path / "run.log").write_text("x", encoding="utf-8")
    assert main(["trace", "run.log"]) == 2
    assert "error[adapter.crashed]: adapter canned crashed: ZeroDivisionError: " in capsys.readouterr().err


def test_a_broken_adapter_is_not_suggested(tmp_path: Path) -> None:
    """One without a name is not among those that a test may mean."""
    project = plugged(tmp_path, ADAPTER.replace('name = "canned"', "name = None"))
    result = run_command([project.add("a", adapter="canned")], tmp_path / "out").only_result()
    assert result["error"]["message"] == "unknown adapter 'canned' (installed: command, nanoclaw, otel)"


@pytest.mark.parametrize("deed", ["sys.stdout.close()", "sys.stdout = None"])
def test_an_adapter_that_takes_the_output_away(deed: str, tmp_path: Path) -> None:
    """Exit 2 with a word on stderr, or the run's own exit code; no traceback."""
    from plugin_projects import agenteval

    text = having("").replace("        return TraceBuilder(", f"        {deed}\n        return TraceBuilder(")
    path = plugged(tmp_path, text).add(
        "a", adapter="canned", adapter_input={"answer": "HI"}, assertions=[SAYS_HI]
    )
    closes = "close" in deed
    done = agenteval(tmp_path, "run", str(path), "--no-artifacts", code=2 if closes else 0)
    told = "standard output was closed while the command was running, probably by a plugin or an adapter"
    assert " ".join(done.stderr.split()) == (
        f"error[usage.io]: {told} next: make it leave sys.stdout open" if closes else ""
    )
