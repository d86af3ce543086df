"""`adapter: command`: any agent that a command starts, run again in a sandbox; what it leaves behind is the trace."""

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Annotated, Any

from agenteval.contracts.adapters import NOT_THIS_KIND, Adapter, AdapterContext, find_adapter, own_adapters
from agenteval.contracts.errors import AdapterError, FileError
from agenteval.contracts.models import EXTENSION_PREFIX, Model, NotEmpty, model, plain
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import AdapterInfo, Trace
from agenteval.live.options import live_error
from agenteval.live.proxy import Proxy
from agenteval.live.run import LiveAgent, LiveSetup, git_state, standalone
from agenteval.live.sandbox import Sandbox, is_of_system
from agenteval.loading.adapter_input import find_file, unknown_key
from agenteval.reading.documents import opened, read_bytes

NAME = "command"
VERSION = "0.1.0"
REPLAY_FILE = "replay_file"
FOLDER, HOME, OUT = "/workspace", "/agent", "/out"
"""Where the agent finds the project's files, its home, and the folder for what it wants to tell."""
CONFIG_FOLDER = ".claude"
_SPANS = "resourceSpans"


@model
class CommandInput(Model):
    """What is replayed, where the test is not run live."""

    replay_file: Annotated[str, NotEmpty()] | None = None
    """A replay bundle or spans in OTLP JSON, relative to the test; a live run leaves one."""


class CommandAdapter:
    """Runs `live.command.run` of the project's configuration; replays what such a run left."""

    name = NAME
    version = VERSION
    supports_live_run = True

    @property
    def input_model(self) -> type[Model]:
        """The model of `adapter_input`."""
        return CommandInput

    def live_agent(self, setup: LiveSetup) -> LiveAgent:
        """The command, ready to run. Raises `AdapterError`."""
        return _prepared(setup)

    def trace(self, case: TestCase, context: AdapterContext) -> Trace:
        """The trace of a recording, which the adapter of its format reads. Raises `AdapterError`."""
        for key in case.adapter_input:
            if key != REPLAY_FILE and not key.startswith(EXTENSION_PREFIX):
                raise unknown_key(key, [REPLAY_FILE])
        if REPLAY_FILE not in case.adapter_input:
            raise AdapterError(
                "adapter_input names no recording: replay_file is missing",
                reason_code="adapter.input_missing",
                next_step="run the test live (mode: live, or --live), or name a recording that a live run left",
            )
        path = find_file(
            case.adapter_input[REPLAY_FILE],
            context,
            setting="adapter_input.replay_file",
            missing="adapter.replay_missing",
            next_step="correct adapter_input.replay_file in the test, or put the recording there",
        )
        trace = _reader_of(path).trace(case, context)
        trace.adapter = AdapterInfo(name=NAME, version=VERSION)
        return trace

    def check_input(self, case: TestCase, context: AdapterContext) -> None:
        """Read what the test names, as a run would. Raises `AdapterError`."""
        self.trace(case, context)


def _reader_of(path: Path) -> Adapter:
    """The adapter that reads a file: by the key that spans begin with."""
    with opened(path) as file:
        start = file.read(4096)
    return find_adapter("otel" if _SPANS.encode() in start else "nanoclaw")


# Before the run -----------------------------------------------------------------------------------------------


def _prepared(setup: LiveSetup) -> "CommandAgent":
    config, root = setup.config.command, setup.root
    if not config.run:
        raise live_error(
            "live.no_command",
            "the configuration does not say how the agent is started",
            "set live.command.run in agenteval.yaml: live: {command: {run: [.venv/bin/python, agent.py]}}",
            "adapter",
        )
    tracked = tracked_files(root)
    folder, home, out = (setup.scratch / name for name in ("project", "home", "out"))
    copy_files(root, tracked, folder)
    for made in (home / CONFIG_FOLDER, out):
        made.mkdir(parents=True)
    runtime = setup.runtime(config.image)
    program, visible = config.run[0], dict[str, Path]()
    if runtime == "bwrap":  # an image has programs of its own
        program, visible = _program(program, root)
    for named in config.run[1:]:
        if (root / named).is_file() and named not in tracked and not _is_mounted(named, config.mounts):
            raise live_error(
                "live.untracked",
                f"git does not track {named}, so the agent's sandbox does not have it",
                f"git add {named}, or add it to live.command.mounts",
                "adapter",
            )
    read_only = {str(root): folder, **visible} if runtime == "bwrap" else {}
    for name in config.mounts:
        path = root / name
        if not path.exists():
            raise live_error(
                "live.no_mount",
                f"live.command.mounts names {name}, which is not there",
                "correct the path, which is relative to the project's root",
                "adapter",
            )
        read_only[name if Path(name).is_absolute() else f"{FOLDER}/{name}"] = path
    for inside, ours in read_only.items():  # a read-only folder has to have what others are mounted on
        for place in (str(root), FOLDER):
            if inside.startswith(f"{place}/"):
                _make_place(folder / inside[len(place) + 1 :], ours)
    asked = {
        "schema": "0.1",
        "test_id": setup.case.id,
        "scenario": plain(setup.case.scenario),
        "tools": setup.case.tools.available,
        "out_dir": OUT,
    }
    return CommandAgent(
        sandbox=Sandbox(
            command=[program, *config.run[1:]],
            socket=setup.socket,
            env={**setup.env, "CLAUDE_CONFIG_DIR": f"{HOME}/{CONFIG_FOLDER}", "AGENTEVAL_OUT": OUT},
            read_only={**setup.read_only, **read_only},
            writable={FOLDER: folder, HOME: home, OUT: out},
            folder=FOLDER,
            home=HOME,
            runtime=runtime,
            image=config.image,
        ),
        stdin=json.dumps(asked, ensure_ascii=False).encode(),
        provenance={"command": " ".join(config.run), **git_state(root)},
        skills=frozenset(path.parent.name for path in folder.glob(".claude/skills/*/SKILL.md")),
        root=root,
        scratch=setup.scratch,
        case=setup.case,
    )


def tracked_files(root: Path) -> list[str]:
    """The files of the project that the agent may see: those that git tracks. Raises `AdapterError`."""
    try:
        done = subprocess.run(  # noqa: S603
            ["git", "-C", str(root), "ls-files", "-z"],  # noqa: S607
            capture_output=True,
            check=False,
            timeout=60,
        )
        failed = done.returncode != 0
    except OSError:
        failed = True
    if failed:
        raise live_error(
            "live.untracked",
            f"{root} is no git repository, and only files that git tracks are shown to an agent",
            "git init, and git add what the agent needs; keys and data stay out",
            "adapter",
        )
    return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]


def copy_files(root: Path, names: Sequence[str], folder: Path) -> None:
    folder.mkdir()
    for name in names:
        source, target = root / name, folder / name
        if source.is_symlink() or source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)


def _is_mounted(name: str, mounts: Sequence[str]) -> bool:
    return any(Path(name).is_relative_to(mount) for mount in mounts)


def _make_place(path: Path, like: Path) -> None:
    """An empty file or folder on which another is mounted."""
    if path.exists():
        return
    if like.is_dir():
        path.mkdir(parents=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def _program(named: str, root: Path) -> tuple[str, dict[str, Path]]:
    """The program as it is called in the sandbox, and what it needs to be visible there, inside and outside alike.

    Of a virtual environment that is the environment, and the installation of the interpreter that it names.
    """
    path = root / named if os.sep in named else Path(shutil.which(named) or named)
    if not path.exists():
        raise live_error(
            "live.no_command",
            f"live.command.run starts {named}, which is not there",
            "correct the first word of live.command.run: a program on the PATH, or one of the project",
            "adapter",
        )
    path = path.absolute()
    visible: dict[str, Path] = {}
    environment = path.parent.parent
    if (environment / "pyvenv.cfg").is_file():
        visible[str(environment)] = environment
        settings = read_bytes((environment / "pyvenv.cfg").resolve()).decode(errors="replace").splitlines()
        home = next((line.partition("=")[2].strip() for line in settings if line.startswith("home")), "")
        for folder in (Path(home).parent, path.resolve().parent.parent):
            if home and not is_of_system(str(folder)):
                visible[str(folder)] = folder
    elif path.is_relative_to(root):
        return f"{FOLDER}/{path.relative_to(root)}", visible
    elif not is_of_system(str(path)):
        visible[str(path)] = path.resolve()
    return str(path), visible


# After the run ------------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class CommandAgent(LiveAgent):
    """One run of the command. `scratch` has its folders: `project`, `home` and `out`."""

    root: Path
    scratch: Path
    case: TestCase

    def replay(self, proxy: Proxy, context: AdapterContext) -> dict[str, Any]:
        """The one thing that the run left, by what it is. Raises `AdapterError`."""
        found = dict(self._left(proxy))
        for kinds in (("replay.json", "*.otlp.json"), ("spans", "transcript")):
            there = [kind for kind in kinds if kind in found]
            if len(there) > 1:
                raise live_error(
                    "live.two_sources",
                    f"the run left two things that tell what it did: {_CALLED[there[0]]}, and {_CALLED[there[1]]}",
                    f"have the agent leave one of them, or write the one that counts as {OUT}/replay.json",
                )
            if there:
                replay = self._given(found[there[0]](context))
                proxy.fixtures.correct_bundle(replay)
                return replay
        return self._given(self._of_stdout())

    def _left(self, proxy: Proxy) -> Iterator[tuple[str, Callable[[AdapterContext], dict[str, Any]]]]:
        out = self.scratch / "out"
        if (out / "replay.json").is_file():
            yield "replay.json", lambda context: _json(out / "replay.json", context)
        if files := sorted(out.glob("*.otlp.json*")):
            if len(files) > 1:
                raise _several(f"{len(files)} files of spans")
            yield "*.otlp.json", lambda context: _recorded(files[0], context)
        if proxy.spans:
            yield "spans", lambda context: self._of_spans(proxy, context)
        projects = self.scratch / "home" / CONFIG_FOLDER / "projects"
        if transcripts := sorted(projects.glob("*/*.jsonl")):
            yield "transcript", lambda context: self._of_transcripts(transcripts, proxy, context)

    def _of_transcripts(self, files: Sequence[Path], proxy: Proxy, context: AdapterContext) -> dict[str, Any]:
        for file in files:
            for each in (file, *file.with_suffix("").rglob("*.jsonl")):
                proxy.fixtures.correct(each)
        if len(files) > 1:
            raise _several(f"{len(files)} conversations")
        return _recorded(files[0], context)

    def _of_spans(self, proxy: Proxy, context: AdapterContext) -> dict[str, Any]:
        """What the agent sent, taken in by the adapter that receives spans of running agents."""
        file, address = self.scratch / "received.otlp.jsonl", self.scratch / "otlp.sock"
        adapter: Any = find_adapter("otel")
        with adapter.receive(file, address, max_bytes=context.max_file_bytes):
            for path, headers, content in proxy.spans:
                _post(address, path, headers, content)
        return _recorded(file, context)

    def _of_stdout(self) -> dict[str, Any]:
        """The output alone: nothing tells which tools were called."""
        text = read_bytes(self.scratch.parent / "stdout.txt").decode(errors="replace").strip()
        if not text:
            raise live_error(
                "live.nothing_left",
                "the agent left nothing: no replay.json, no spans, no transcript, and no word on its standard output",
                f"have it print its answer, send spans, or write {OUT}/replay.json (agenteval schema replay)",
            )
        return {
            "schema_version": "0.1",
            "scenario": {},
            "input_messages": [
                {"role": each.role, "content": each.content} for each in self.case.scenario.input_messages
            ],
            "script": [],
            "status": "success",
            "metrics": {"timing_ms_total": 0},
            "capabilities": {"supports_tool_trace": False},
            "final_output": {"content": text},
        }

    def _given(self, replay: dict[str, Any]) -> dict[str, Any]:
        """The replay with the scenario of the test: a transcript knows of no group and no trigger."""
        if _SPANS in replay or "scenario" not in replay:
            return replay
        told = self.case.scenario
        scenario: dict[str, Any] = {"trigger": told.trigger, "group_id": told.group_id}
        if told.scheduler_context is not None:
            scenario["scheduler_context"] = told.scheduler_context
        for step in replay.get("script") or []:
            if isinstance(step, dict) and step.get("group_id") == replay["scenario"].get("group_id"):
                step.pop("group_id", None)
        return {**replay, "scenario": scenario}


_CALLED = {
    "replay.json": f"{OUT}/replay.json",
    "*.otlp.json": f"{OUT}/*.otlp.json",
    "spans": "spans that it sent",
    "transcript": "a transcript of the Claude CLI",
}


def _several(what: str) -> AdapterError:
    return live_error(
        "live.several_turns",
        f"the run left {what}, and a test judges one",
        "have the agent answer the scenario in one conversation, and end",
    )


def _reads(adapter: Adapter, path: Path, context: AdapterContext) -> bool:
    recorder = getattr(adapter, "recorder", None)
    try:
        return recorder is not None and bool(recorder.inspect(path, context))
    except AdapterError as error:
        return error.reason_code != NOT_THIS_KIND


def _json(path: Path, context: AdapterContext) -> dict[str, Any]:
    from agenteval.reading.jsonsource import load_json

    try:
        data = load_json(path, max_bytes=context.max_file_bytes)
    except FileError as error:
        raise AdapterError.of(error.problems) from None
    if not isinstance(data, dict):
        raise live_error(
            "live.no_replay",
            f"{OUT}/{path.name} holds no JSON object",
            "write a replay bundle (agenteval schema replay)",
        )
    return data


def _recorded(path: Path, context: AdapterContext) -> dict[str, Any]:
    """The one run in a recording, as what a replay reads. Raises `AdapterError`."""
    reader = next(each for each in map(find_adapter, own_adapters()) if _reads(each, path, context))
    recorder = reader.recorder  # type: ignore[attr-defined]
    unheard = AdapterContext(
        base_dir=path.parent, root=path.parent, run_id="live", max_file_bytes=context.max_file_bytes
    )
    runs = recorder.inspect(path, unheard).runs
    if len(runs) != 1:
        raise _several(f"{len(runs)} turns of a conversation")
    recorded = recorder.convert(path, runs[0], unheard)
    return standalone(recorded.replay, recorded.fixtures)


def _post(socket_path: Path, path: str, headers: Mapping[str, str], content: bytes) -> None:
    """Send a body over HTTP to a unix socket."""
    connection = HTTPConnection("agenteval")
    with socket.socket(socket.AF_UNIX) as connection.sock:
        connection.sock.connect(str(socket_path))
        connection.request("POST", path, content, dict(headers))
        connection.getresponse().read()
