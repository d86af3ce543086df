"""`adapter: command`: any agent that a command starts, run again in a sandbox; what it leaves behind is the trace."""

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from typing import Annotated, Any

from agenteval.contracts.adapters import AdapterContext, find_adapter
from agenteval.contracts.errors import AdapterError
from agenteval.contracts.models import EXTENSION_PREFIX, Model, NotEmpty, model, plain
from agenteval.contracts.testcase import TestCase, memory_text
from agenteval.contracts.trace import AdapterInfo, Trace
from agenteval.live.options import live_error
from agenteval.live.proxy import Proxy
from agenteval.live.run import LiveAgent, LiveSetup, standalone
from agenteval.live.sandbox import Sandbox, is_of_system
from agenteval.loading.adapter_input import find_file, unknown_key
from agenteval.loading.checkout import git
from agenteval.reading.documents import opened, read_bytes, read_data

NAME = "command"
VERSION = "0.1.0"
REPLAY_FILE = "replay_file"
FOLDER, HOME, OUT = "/workspace", "/agent", "/out"
"""The agent's folders in the sandbox: the project's files, its home, and the folder for its own recording."""
CONFIG_FOLDER = ".claude"
BUNDLE = "replay.json"
"""The name of an agent's own recording in that folder."""
FROM_WIRE = "wire"
"""The source of a trace that was made of the requests to the model."""
_SPANS = "resourceSpans"
_SHOWN = 300
_VENV = "pyvenv.cfg"
_SPAN_FILES = "*.otlp.json*"


@model
class CommandInput(Model):
    """The recording that is replayed when the test does not run live."""

    replay_file: Annotated[str, NotEmpty()] | None = None
    """A replay bundle or spans in OTLP JSON, relative to the test; a live run leaves one."""


class CommandAdapter:
    """Runs `live.command.run` of the project's configuration; replays the recording of such a run."""

    name = NAME
    version = VERSION
    supports_live_run = True

    @property
    def input_model(self) -> type[Model]:
        """The model of `adapter_input`."""
        return CommandInput

    def live_agent(self, setup: LiveSetup) -> "CommandAgent":
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
        with opened(path) as file:
            are_spans = _SPANS.encode() in file.read(4096)
        trace = find_adapter("otel" if are_spans else "nanoclaw").trace(case, context)
        trace.adapter = AdapterInfo(name=NAME, version=VERSION)
        return trace

    def check_input(self, case: TestCase, context: AdapterContext) -> None:
        """Read what the test names, as a run would. Raises `AdapterError`."""
        self.trace(case, context)


# Before the run -----------------------------------------------------------------------------------------------


def _prepared(setup: LiveSetup) -> "CommandAgent":
    config, root = setup.config.command, setup.root
    if not config.run:
        raise _wrong(
            "live.no_command",
            "the configuration does not say how the agent is started",
            "set live.command.run in agenteval.yaml: live: {command: {run: [.venv/bin/python, agent.py]}}",
        )
    source = setup.source_of(root)
    tracked = _shown_files(setup, source)
    folder, home, out = (setup.scratch / name for name in ("project", "home", "out"))
    copy_files(source, tracked, folder)
    for made in (home / CONFIG_FOLDER, out):
        made.mkdir(parents=True)
    runtime = setup.runtime(config.image)
    program, visible, read_only = config.run[0], dict[str, Path](), dict[str, Path]()
    if runtime == "bwrap":  # an image has programs of its own
        program, visible = _program(program, root)
        read_only = {str(root): folder, **visible}
    words = [program, *(_word(named, root) for named in config.run[1:])]
    mounted = [os.path.realpath(root / name) for name in config.mounts]
    for named in config.run:
        inside, real = _in_project(named, root), os.path.realpath(root / named)
        ways = (real, os.path.join(root, inside))  # noqa: PTH118 - a program of an environment is a link out of it
        is_shown = any(Path(way).is_relative_to(shown) for way in ways for shown in (*mounted, *visible))
        if inside and os.path.isfile(real) and inside not in tracked and not is_shown:  # noqa: PTH113 - any text
            raise _wrong(
                "live.untracked",
                f"git does not track {named}, so the agent's sandbox does not have it",
                f"git add {inside}, or add it to live.command.mounts",
            )
    for name in config.mounts:
        if not (root / name).exists():
            raise _wrong(
                "live.no_mount",
                f"live.command.mounts names {name}, which is not there",
                "correct the path, which is relative to the project's root",
            )
        read_only[name if Path(name).is_absolute() else f"{FOLDER}/{name}"] = _of_base(setup, root / name)
    for inside, ours in read_only.items():  # a read-only folder has to have what others are mounted on
        for place in (str(root), FOLDER):
            if inside.startswith(f"{place}/"):
                made = folder / inside[len(place) + 1 :]
                (made if ours.is_dir() else made.parent).mkdir(parents=True, exist_ok=True)
                if not ours.is_dir():
                    made.touch()
    asked = {
        "schema": "0.1",
        "test_id": setup.case.id,
        "scenario": plain(setup.case.scenario),
        "tools": setup.case.tools.available,
        "out_dir": OUT,
    }
    return CommandAgent(
        sandbox=Sandbox(
            command=words,
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
        provenance={"command": " ".join(config.run), **git_state(source)},
        skills=frozenset(path.parent.name for path in folder.glob(".claude/skills/*/SKILL.md")),
        copies={folder: source, **_mounted(root, config.mounts, tracked)},
        leaves={FOLDER: (), OUT: (BUNDLE, _SPAN_FILES), HOME: (f"{CONFIG_FOLDER}/projects/**/*",)},
        root=root,
        scratch=setup.scratch,
        case=setup.case,
    )


def _of_base(setup: LiveSetup, mount: Path) -> Path:
    """Return the same place in the base that runs, if it has one: packages, which git does not track, are only here."""
    theirs = setup.source_of(mount)
    return theirs if theirs.exists() else mount


def _mounted(root: Path, mounts: Sequence[str], tracked: Sequence[str]) -> dict[Path, Path]:
    """The mounted folders of the project that have tracked files: there, an agent opens the files themselves."""
    folders = [os.path.normpath(name) for name in mounts]
    return {
        root / folder: root / folder
        for folder in folders
        if any(each == folder or each.startswith(f"{folder}/") for each in tracked)
    }


def _in_project(named: str, root: Path) -> str:
    """The path, relative to the root, of what a word of a command names in the project; empty for any other word.

    It is as git lists it: without links in its folders, while the file itself may be a tracked link.
    """
    path = os.path.join(root, named)  # noqa: PTH118 - a word may be no path at all
    if not os.path.lexists(path):
        return ""
    folder, name = os.path.split(path)
    real = os.path.join(os.path.realpath(folder), name)  # noqa: PTH118
    if name in ("", os.curdir, os.pardir):
        real = os.path.realpath(path)
    inside = os.path.relpath(real, root)
    return "" if Path(inside).parts[:1] == (os.pardir,) else inside


def _word(named: str, root: Path) -> str:
    """A word of the command as it is right in the sandbox, where the project is the current folder."""
    leads_away = os.path.isabs(named) or os.path.normpath(named).startswith(os.pardir)  # noqa: PTH117
    inside = _in_project(named, root) if leads_away else ""
    return str(Path(FOLDER, inside)) if inside else named


def _shown_files(setup: LiveSetup, source: Path) -> list[str]:
    """The tracked files, without virtual environments that git tracks by mistake. Raises `AdapterError`."""
    tracked = tracked_files(source)
    hint = "" if (source / ".gitignore").exists() else " (there is none)"
    for name in [each for each in tracked if each.rsplit("/", 1)[-1] == ".env"]:
        setup.context.warn(
            f"git tracks {name}, so the agent sees what is in it: put it into .gitignore{hint}"
        )
    for folder in [each.removesuffix(f"/{_VENV}") for each in tracked if each.endswith(f"/{_VENV}")]:
        kept = [each for each in tracked if not each.startswith(f"{folder}/")]
        setup.context.warn(
            f"git tracks the virtual environment {folder}, {len(tracked) - len(kept):,} files, which are not copied for "
            f"the agent: put {folder}/ into .gitignore{hint}, and git rm -r -q --cached {folder}"
        )
        tracked = kept
    return tracked


def git_state(folder: Path) -> dict[str, str]:
    """The commit of a checkout, and whether anything there differs from it; empty outside of git."""
    commit = git(folder, "rev-parse", "--short", "HEAD")
    changed = git(folder, "status", "--porcelain", "--untracked-files=no")
    if commit is None or changed is None:
        return {}
    return {"commit": commit.strip() + (" (changed since)" if changed else "")}


def tracked_files(root: Path) -> list[str]:
    """The files of the project that the agent may see: those that git tracks. Raises `AdapterError`."""
    listed = git(root, "ls-files", "-z")
    if listed is None:
        raise _wrong(
            "live.untracked",
            f"{root} is no git repository, and only files that git tracks are shown to an agent",
            "git init, and git add what the agent needs; keys and data stay out",
        )
    return list(filter(None, listed.split("\0")))


def copy_files(root: Path, names: Sequence[str], folder: Path) -> None:
    folder.mkdir()
    for name in names:
        source, target = root / name, folder / name
        if source.is_symlink() or source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)


def _wrong(reason_code: str, message: str, next_step: str) -> AdapterError:
    return live_error(reason_code, message, next_step, "adapter")


def _program(named: str, root: Path) -> tuple[str, dict[str, Path]]:
    """The program as it is called in the sandbox, and what it needs to be visible there, inside and outside alike.

    Of a virtual environment that is the environment, and the installation of the interpreter that it names.
    """
    path = root / named if os.sep in named else Path(shutil.which(named) or named)
    if not path.exists():
        raise _wrong(
            "live.no_command",
            f"live.command.run starts {named}, which is not there",
            "correct the first word of live.command.run: a program on the PATH, or one of the project",
        )
    path = _behind_shim(path.absolute(), root)
    visible: dict[str, Path] = {}
    environment = path.parent.parent
    if (environment / _VENV).is_file():
        visible[str(environment)] = environment
        settings = read_bytes((environment / _VENV).resolve()).decode(errors="replace").splitlines()
        home = next((line.partition("=")[2].strip() for line in settings if line.startswith("home")), "")
        for folder in (Path(home).parent, path.resolve().parent.parent):
            if home and not is_of_system(str(folder)):
                visible[str(folder)] = folder
    elif inside := _in_project(str(path), root):
        return f"{FOLDER}/{inside}", visible
    elif not is_of_system(str(path)):
        real = path.resolve()
        installation = real.parent.parent
        if any(installation.glob("lib/python3*/os.py")) and not is_of_system(str(installation)):
            path = real  # an interpreter of its own: it finds its library beside the folder that it is in
            visible[str(installation)] = installation
        else:
            visible[str(path)] = real
    return str(path), visible


def _behind_shim(path: Path, root: Path) -> Path:
    """The program that a shim of a version manager (pyenv, asdf, mise) starts in this project; any other as it is.

    A shim finds the program with files that no sandbox shows. Raises `AdapterError`.
    """
    if path.parent.name != "shims" or _in_project(str(path), root):
        return path
    home = path.parent.parent
    manager = "mise" if path.resolve().name == "mise" else home.name.lstrip(".").removesuffix("-data")
    own = home / "bin" / manager
    program = own if own.is_file() else shutil.which(manager) or path.resolve()
    with suppress(OSError, subprocess.TimeoutExpired):
        line = [str(program), "which", path.name]
        done = subprocess.run(line, cwd=root, capture_output=True, check=False, timeout=20)  # noqa: S603
        found = Path(os.fsdecode(done.stdout).strip() or path)
        if done.returncode == 0 and found.is_file() and found.parent.name != "shims":
            return found.absolute()
    raise _wrong(
        "live.no_command",
        f"{path} is a shim of {manager}, which does not say what it starts",
        f"name the program itself in live.command.run: see `{manager} which {path.name}`",
    )


# After the run ------------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class CommandAgent(LiveAgent):
    """One run of the command. `scratch` has its folders: `project`, `home` and `out`."""

    root: Path
    scratch: Path
    case: TestCase

    def replay(self, proxy: Proxy, context: AdapterContext) -> dict[str, Any]:
        """The one thing that the run left, by what it is. Raises `AdapterError`."""
        for name in self._unheard(proxy):
            context.warn(
                f"scenario.{name} reached no request to the model: the agent has it on its standard input, as JSON"
            )
        out = self.scratch / "out"
        left = [*out.glob(BUNDLE), *sorted(out.glob(_SPAN_FILES))] or [
            *self._transcripts(proxy),
            *self._received(proxy, context),
        ]
        if not left:
            return self._given(self._of_stdout(proxy, context))
        if len(left) > 1:
            raise _several(f"{len(left)} recordings of what it did, {left[0].name} and {left[1].name}")
        replay = self._given(
            _json(left[0], context) if left[0].name == BUNDLE else _recorded(left[0], context)
        )
        proxy.fixtures.correct_bundle(replay)
        return replay

    def _unheard(self, proxy: Proxy) -> Iterator[str]:
        """The parts of the scenario that no request has a word of: the last question, and memory."""
        scenario = self.case.scenario
        asked = [(at, each.content) for at, each in enumerate(scenario.input_messages) if each.role == "user"]
        given = {f"input_messages[{at}]": text for at, text in asked[-1:]}
        given["memory_snapshot"] = "\n".join(memory_text(scenario.memory_snapshot))
        for name, text in given.items():
            # an agent may hand the whole JSON on to its model
            forms = (text, *(json.dumps(text, ensure_ascii=each)[1:-1] for each in (True, False)))
            if not any(map(proxy.has_heard, forms)):
                yield name

    def _transcripts(self, proxy: Proxy) -> list[Path]:
        """Copy the transcripts of the Claude CLI, with the answers of fixtures in place of denials."""
        transcripts = sorted(self.scratch.glob(f"home/{CONFIG_FOLDER}/projects/*/*.jsonl"))
        for file in transcripts:
            for each in (file, *file.with_suffix("").rglob("*.jsonl")):
                proxy.fixtures.correct(each)
        return transcripts

    def _received(self, proxy: Proxy, context: AdapterContext) -> list[Path]:
        """Write the spans that the agent sent, through the adapter that receives spans of running agents."""
        if not proxy.spans:
            return []
        file, address = self.scratch / "received.otlp.jsonl", self.scratch / "otlp.sock"
        adapter: Any = find_adapter("otel")
        refused: list[str] = []
        with adapter.receive(file, address, max_bytes=context.max_file_bytes):
            for path, headers, content in proxy.spans:
                connection = HTTPConnection("agenteval")
                with socket.socket(socket.AF_UNIX) as connection.sock:
                    connection.sock.connect(str(address))
                    connection.request("POST", path, content, dict(headers))
                    reply = connection.getresponse()
                    if reply.status >= HTTPStatus.BAD_REQUEST:
                        refused.append(f"{path}: {reply.read().decode(errors='replace')[:_SHOWN]}")
        if refused:
            raise live_error(
                "live.no_replay",
                f"{len(refused)} of {len(proxy.spans)} exports that the agent sent cannot be read, first that to {refused[0]}",
                "have it send OTLP as protobuf or JSON, each export within the bounds of a file",
            )
        return [file]

    def _of_stdout(self, proxy: Proxy, context: AdapterContext) -> dict[str, Any]:
        """Make a replay bundle of the agent's output, after the calls and results that went through the proxy.

        An agent that offered its model no tools has no calls there: it may call them by what the model writes.
        """
        printed = read_data(self.scratch.parent / "stdout.txt", context.max_file_bytes)
        text = printed.decode(errors="replace").strip()
        if not text:
            raise live_error(
                "live.nothing_left",
                "the agent left nothing: no replay.json, no spans, no transcript, and no word on its standard output",
                f"have it print its answer, send spans, or write {OUT}/replay.json (agenteval schema replay)",
            )
        asked, seen, has_tools = self.case.scenario.input_messages, proxy.seen, bool(proxy.accounts.offered)
        if has_tools:
            self.provenance = {**self.provenance, "source": FROM_WIRE}
        names = self.names if proxy.fixtures.has_harness else lambda tool: (tool,)
        return {
            "schema_version": "0.1",
            "scenario": {},
            "input_messages": [{"role": each.role, "content": each.content} for each in asked],
            "script": seen.script(names, proxy.fixtures.let) if has_tools else [],
            "status": "success",
            "capabilities": {"supports_tool_trace": has_tools},
            "unseen": list(seen.unclear),
            "final_output": {"content": text},
        }

    def _given(self, replay: dict[str, Any]) -> dict[str, Any]:
        """The replay with the scenario of the test: a transcript knows of no group and no trigger."""
        if _SPANS in replay or "scenario" not in replay:
            return replay
        scenario_of_test = self.case.scenario
        scenario: dict[str, Any] = {
            "trigger": scenario_of_test.trigger,
            "group_id": scenario_of_test.group_id,
        }
        if scenario_of_test.scheduler_context is not None:
            scenario["scheduler_context"] = scenario_of_test.scheduler_context
        for step in replay.get("script") or []:
            if isinstance(step, dict) and step.get("group_id") == replay["scenario"].get("group_id"):
                step.pop("group_id", None)
        return {**replay, "scenario": scenario}


def _several(what: str) -> AdapterError:
    return live_error(
        "live.several_turns",
        f"the run left {what}, and a test judges one",
        f"have the agent answer the scenario in one conversation, and leave one recording; what it writes to {OUT} "
        "counts before spans and transcripts",
    )


def _json(path: Path, context: AdapterContext) -> dict[str, Any]:
    from agenteval.reading.jsonsource import load_json

    data = load_json(path, max_bytes=context.max_file_bytes)
    if not isinstance(data, dict):
        raise live_error(
            "live.no_replay",
            f"{OUT}/{path.name} holds no JSON object",
            "write a replay bundle (agenteval schema replay)",
        )
    return data


def _recorded(path: Path, context: AdapterContext) -> dict[str, Any]:
    """The one run in a transcript or in spans, as what a replay reads. Raises `AdapterError`."""
    reader: Any = find_adapter("otel" if ".otlp." in path.name else "nanoclaw")
    unheard = replace(context, base_dir=path.parent, root=path.parent, warnings=[])
    runs = reader.recorder.inspect(path, unheard).runs
    if len(runs) != 1:
        raise _several(f"{len(runs)} turns of a conversation")
    recorded = reader.recorder.convert(path, runs[0], unheard)
    return standalone(recorded.replay, recorded.fixtures)
