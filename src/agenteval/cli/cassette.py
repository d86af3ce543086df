"""`agenteval cassette ACTION PATH...`: shows a cassette, compares two, and lists the changes by an agent's vendor."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from agenteval.cli.options import AllowOutsideOption, argument
from agenteval.contracts.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from agenteval.live.cassette import Cassette, Exchange
    from agenteval.reporters.terminal import Terminal

ACTIONS = ("show", "diff", "drift")
_SHOWN = 100


def command(
    action: Annotated[str, argument("ACTION", "show, diff or drift.")],
    paths: Annotated[list[Path], argument("PATH...", "One cassette (show), two (diff), or tests (drift).")],
    allow_outside: AllowOutsideOption = False,
) -> ExitCode:
    """Show a cassette, compare two, or run agents with the model played to see what their vendor changed.

    show: each request with what it added to the conversation, and the answer. diff: how two cassettes differ, request
    by request. drift: what the agent's vendor changed since. Which cassettes a change of yours makes stale: agenteval check.

    Exit codes: 0, 2 an error, 3 an invalid test file.
    """
    from agenteval.reporters.terminal import Terminal

    wanted = {"show": 1, "diff": 2}.get(action, len(paths))
    if action not in ACTIONS:
        raise UsageError(
            f"agenteval cassette {action}: the actions are {', '.join(ACTIONS)}",
            next_step="agenteval check PATH" if action == "status" else "agenteval cassette show FILE",
        )
    if len(paths) != wanted:
        raise UsageError(
            f"agenteval cassette {action} takes {'one cassette' if wanted == 1 else 'two cassettes'}",
            next_step=f"agenteval cassette {action} {' '.join(['FILE'] * wanted)}",
        )
    from agenteval.loading.project import open_project

    open_project(
        [str(path) for path in paths]
    )  # what is read stays inside it, and what is printed is redacted
    terminal = Terminal(sys.stdout)
    if action == "show":
        _show(_read(paths[0]), terminal)
    elif action == "diff":
        _diff(_read(paths[0]), _read(paths[1]), terminal)
    else:
        return _drift(paths, terminal, allow_outside=allow_outside)
    return ExitCode.PASSED


def _read(path: Path) -> "Cassette":
    from agenteval.live.cassette import loaded
    from agenteval.reading.documents import read_text

    try:
        return loaded(path, read_text(path))
    except ValueError as error:
        raise UsageError(str(error), reason_code="live.cassette_invalid") from None


def _show(cassette: "Cassette", terminal: "Terminal") -> None:
    cost = "" if cassette.cost_usd is None else f", {cassette.cost_usd:.4f} US dollars"
    terminal.emit(f"recorded {cassette.recorded_at or 'at an unknown time'} from {cassette.client}{cost}")
    seen: set[str] = set()
    for number, exchange in enumerate(cassette.exchanges, 1):
        terminal.gap()
        terminal.emit((f"request {number}", "bold"), f"  {exchange.api}, {len(exchange.parts)} parts")
        for name, (kind, digest) in exchange.parts.items():
            if digest not in seen and kind != "vendor":
                terminal.clipped(f"  {name}: {_line(cassette.texts[digest])}")
            seen.add(digest)
        for line in _answer(exchange):
            terminal.clipped(f"  → {line}")


def _line(text: str) -> str:
    from agenteval.text.fitting import cut

    return cut(" ".join(text.split()), _SHOWN)


def _answer(exchange: "Exchange") -> Iterator[str]:
    """Yield a line for each text and each tool call of an answer of the model."""
    from agenteval.live.cassette import tool_inputs
    from agenteval.text.parts import texts

    answer = exchange.answer
    if "error_status" in answer:
        yield f"error {answer['error_status']}: {_line(json.dumps(answer['error'], ensure_ascii=False))}"
        return
    blocks: list[Any] = answer.get("content") or answer.get("output") or answer.get("choices") or []
    for block in blocks:
        called = list(tool_inputs(block))
        for name, given in called:
            yield f"{name} {given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)}"
        if not called:
            text = block.get("text") if isinstance(block, dict) else None
            yield _line(text if isinstance(text, str) else " ".join(texts(block)))


def _diff(before: "Cassette", after: "Cassette", terminal: "Terminal") -> None:
    from itertools import zip_longest

    from agenteval.live.cassette import differences

    if before.client != after.client:
        terminal.emit(f"client: {before.client} → {after.client}")
    same = True
    for number, (old, new) in enumerate(zip_longest(before.exchanges, after.exchanges), 1):
        if old is None or new is None:
            lines = ["only in the second" if old is None else "only in the first"]
        else:
            lines = [each.in_words() for each in differences(before, old, after.parts_of(new))]
            if old.answer.get("content") != new.answer.get("content"):
                lines += [f"- {line}" for line in _answer(old)] + [f"+ {line}" for line in _answer(new)]
        for line in lines:
            same = False
            terminal.clipped(f"request {number}: {line}")
    if same:
        terminal.emit("the same requests, and the same answers")


def _drift(paths: Sequence[Path], terminal: "Terminal", *, allow_outside: bool) -> ExitCode:
    """Run the agents of tests with the model played, and list the changes by the vendor of each."""
    from agenteval.contracts.adapters import runs_live
    from agenteval.judging.runner import RunOptions, run_test
    from agenteval.live.options import LiveOptions
    from agenteval.live.scratch import scratch_folder
    from agenteval.loading.project import open_project
    from agenteval.reporters.console import Console
    from agenteval.running.collection import collect

    names = [str(path) for path in paths]
    project = open_project(names)
    collection = collect(names, project)
    console = Console(sys.stderr)
    for problem in collection.problems:
        console.problem(problem)
    code = ExitCode.INVALID if collection.errors else ExitCode.PASSED
    with scratch_folder(keep=False) as scratch:
        live = LiveOptions(
            every=True, stale="mark", scratch=scratch, config=project.config.live, root=project.root
        )
        options = RunOptions(
            run_id="cassette",
            root=project.root,
            registry=project.registry,
            redaction=project.rules,
            limits=project.config.limits,
            allow_outside=allow_outside,
            live=live,
        )
        for test in collection.tests:
            if not runs_live(project.registry.find_adapter(test.case.adapter), test.case, every=True):
                continue
            result = run_test(test, options).result
            if result.error and not result.error.reason_code.startswith("live.cassette_miss"):
                code = max(code, ExitCode.ERROR)
            drift = result.live.drift if result.live else []
            if not (drift or result.error):
                continue
            word = ("drift", "yellow") if drift else ("error", "red")
            terminal.columns([word, f" {test.case.id}"], _cost(test))
            for line in drift or [result.error.message if result.error else ""]:
                terminal.paragraph(line, indent=2)
    return code


def _cost(test: Any) -> str:
    from agenteval.contracts.errors import FileError
    from agenteval.contracts.testcase import LiveSpec
    from agenteval.live.cassette import loaded
    from agenteval.reading.documents import read_text

    path = test.path.parent / (test.case.live or LiveSpec()).cassette
    try:
        cassette = loaded(path, read_text(path))
    except (FileError, ValueError):
        return "no cassette"
    cost = "at an unknown cost" if cassette.cost_usd is None else f"for {cassette.cost_usd:.4f} US dollars"
    return f"recorded {cassette.recorded_at[:10]}, {cost}"
