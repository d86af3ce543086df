"""Records anew into an existing test. Its assertions stay word for word, and all comments outside the scenario too."""

import os
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agenteval.comparing.behaviour import changes
from agenteval.contracts.adapters import LIVE_KEY, REPLAY_FILE, RecordedRun
from agenteval.contracts.errors import FileError, SpecError, UsageError
from agenteval.contracts.trace import tool_names
from agenteval.judging.runner import Outcome, RunOptions, run_test
from agenteval.judging.verdicts import JudgingRules
from agenteval.loading.discovery import TEST_FILE, is_test_file
from agenteval.loading.testfile import LoadedTest, load_test
from agenteval.plugins.registry import Registry
from agenteval.reading.documents import read_bytes, read_text
from agenteval.reading.jsonsource import load_json
from agenteval.reading.yamlsource import load_yaml, loader_of_texts
from agenteval.recording.cleaning import Cleaner
from agenteval.recording.draft import Drafting, dumped, trial
from agenteval.redaction.redactor import RedactionRules


@dataclass(slots=True, kw_only=True)
class Update:
    """A new recording of a test, not written yet: its files by name, and the changes in behaviour.

    `unused` are fixture files of the old recording that the new one does not use. `status` is the result of the test
    with the new recording: `pass`, `fail` …
    """

    folder: Path
    files: dict[str, bytes]
    changes: list[str]
    status: str
    unused: list[str] = field(default_factory=list)


def find_test(path: Path) -> Path:
    """Return the test file at a path, which may be its folder. Raises `UsageError` (`record.no_test`)."""
    file = path / TEST_FILE if path.is_dir() else path
    if not file.is_file():
        raise UsageError(
            f"{path} is not a test to record into",
            reason_code="record.no_test",
            next_step="name a test file, or a folder with a test.yaml",
        )
    return file


def update(drafting: Drafting, run: RecordedRun, path: Path) -> Update:
    """Prepare the recording of a run into the test at `path`, without writing it.

    Raises `SpecError` for an invalid test, `AdapterError` for a run that cannot be recorded, and `UsageError`
    (`record.other_adapter`, `record.no_replay_file`, `record.not_rewritable`, `record.does_not_fit`, `record.exists`).
    """
    test = load_test(path, registry=drafting.registry)
    own = drafting.source.adapter.name
    if test.case.adapter != own:
        raise UsageError(
            f"{path} is read by the adapter {test.case.adapter!r}, the recording by {own!r}",
            reason_code="record.other_adapter",
            next_step="record into a test of the same adapter, or make a new one with --out",
        )
    replay = _own_replay_file(test)
    options = RunOptions(
        run_id="record", registry=drafting.registry, redaction=drafting.rules, rules=drafting.judging
    )
    before = _replayed(test, options)
    parts = drafting.parts(drafting.convert(run), Cleaner(drafting.rules))
    files = {replay if name == REPLAY_FILE else name: content for name, content in parts.files.items()}
    fixtures = parts.tools.get("fixtures", [])
    files[path.name] = _rewritten(path, parts.scenario, fixtures).encode()
    with trial(drafting.registry, drafting.rules) as place:
        place.write(files)
        try:
            after = _replayed(load_test(place.folder / path.name, registry=drafting.registry), options)
        except SpecError as error:  # an assertion names what is no longer there, for instance
            raise UsageError(
                f"{path} would be invalid with the new recording: {error.problems[0].message}",
                reason_code="record.does_not_fit",
                next_step="correct the test first, or make a new one with --out",
            ) from error
    old = {fixture.file for fixture in test.case.tools.fixtures if fixture.file}
    _must_be_no_others(files.keys() - old - {path.name, replay}, path)
    return Update(
        folder=path.parent,
        files=files,
        changes=[*changes(before, after), *_not_taken_over(test, parts.tools["available"])],
        status=after.result.status,
        unused=sorted(old.difference(files)),
    )


def _not_taken_over(test: LoadedTest, tools: Sequence[str]) -> Iterator[str]:
    """List the tools of a recording that the test does not have. The author decides which tools the agent may use."""
    available = {name for tool in test.case.tools.available for name in tool_names(tool)}
    if new := [tool for tool in tools if available.isdisjoint(tool_names(tool))]:
        yield f"not in tools.available, which stays as it is: {', '.join(new)}"


def merge_recording(
    replay: Path, path: Path, *, registry: Registry, rules: RedactionRules, judging: JudgingRules
) -> Update | None:
    """Prepare to use a live run of the test at `path` as its new recording, without writing it.

    Returns None for a file that no live run left. Raises `SpecError`, and `UsageError` (`record.other_test`,
    `record.no_replay_file`).
    """
    if replay.suffix != ".json" or not replay.is_file():
        return None
    data = load_json(replay)
    live = data.get(LIVE_KEY) if isinstance(data, dict) else None
    if not isinstance(live, dict):
        return None
    test = load_test(path, registry=registry)
    if live.get("test_id") != test.case.id:
        raise UsageError(
            f"{replay} is a run of the test {live.get('test_id')!r}, and {path} is {test.case.id!r}",
            reason_code="record.other_test",
            next_step="name the test that was run",
        )
    name = _own_replay_file(test)
    options = RunOptions(
        run_id="record", registry=registry, redaction=rules, rules=judging, allow_outside=True
    )
    before = _replayed(test, options)
    after = _replayed(test, options, adapter_input={"replay_file": str(replay.resolve())})
    return Update(
        folder=path.parent,
        files={name: read_bytes(replay)},
        changes=changes(before, after),
        status=after.result.status,
    )


def _replayed(test: LoadedTest, options: RunOptions, **changed: Any) -> Outcome:
    return run_test(replace(test, case=replace(test.case, mode="replay", **changed)), options)


def _must_be_no_others(new: AbstractSet[str], path: Path) -> None:
    """Refuse to write over a fixture that another test in the folder names. Raises `UsageError` (`record.exists`)."""
    there = sorted(name for name in new if os.path.lexists(path.parent / name))
    for other in sorted(path.parent.iterdir()) if there else ():
        if not is_test_file(other.name) or other.name == path.name or not other.is_file():
            continue
        text = read_bytes(other).decode(errors="replace")
        if names := [name for name in there if name in text]:
            raise UsageError(
                f"the new recording has {', '.join(names)}, which belongs to {other}",
                reason_code="record.exists",
                next_step="move one of the two tests to a folder of its own, with its files",
            )


def _own_replay_file(test: LoadedTest) -> str:
    name = test.case.adapter_input.get("replay_file")
    if not isinstance(name, str) or not _is_own(name, test.path):
        raise UsageError(
            f"{test.path} names no replay file in its own folder",
            reason_code="record.no_replay_file",
            next_step="only a test with adapter_input: {replay_file: replay.json} can be recorded again",
        )
    return name


def _is_own(name: str, test: Path) -> bool:
    """Return whether a file that a test names is in the test's folder, links followed, and is not the test itself."""
    file = test.parent / name
    if not Path(name).name or Path(name).is_absolute() or ".." in Path(name).parts:
        return False
    try:
        inside = file.parent.resolve().is_relative_to(test.parent.resolve())
        return inside and not file.is_dir() and file.resolve() != test.resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, a name no file can have
        return False


def _rewritten(path: Path, scenario: Mapping[str, Any], fixtures: Sequence[Mapping[str, Any]]) -> str:
    """Return the test file with another scenario and other fixtures. Every other line stays, with its line ending.

    `tools.available` stays, too: a recording shows which tools an agent used, not which it may use.

    Raises `UsageError` (`record.not_rewritable`) where these two have no lines of their own.
    """
    import yaml

    text = read_text(path)
    before = load_yaml(text, path)
    # A recording may know nothing of other groups. Their memory still must not leak, so the test keeps it.
    kept = {key: value for key, value in before["scenario"].items() if key == "other_group_state"}
    new_scenario = {**kept, **scenario}
    new_tools = {key: value for key, value in before["tools"].items() if key != "fixtures"}
    new_tools |= {"fixtures": [*fixtures]} if fixtures else {}
    lines = text.splitlines(keepends=True)
    line_end = "\r\n" if "\r\n" in text else "\n"
    node: Any = yaml.compose(text, Loader=loader_of_texts())
    blocks = [(key, value) for key, value in node.value if key.value in ("scenario", "tools")]
    # From the bottom up, so that the line numbers of the blocks above stay right.
    for key, value in sorted(blocks, key=lambda pair: -pair[0].start_mark.line):
        start, end = key.start_mark.line, _end_of_block(key, value, lines)
        data = new_tools if key.value == "tools" else new_scenario
        lines[start:end] = [f"{line}{line_end}" for line in dumped({key.value: data})]
    text = "".join(lines)
    if not text.endswith("\n"):
        text += line_end
    # Lines were replaced, not data. Reading the text again proves that nothing else changed: an anchor may reach further.
    with suppress(FileError):
        if load_yaml(text, path) == {**before, "scenario": new_scenario, "tools": new_tools}:
            return text
    raise UsageError(
        f"{path} cannot be recorded again: its scenario and tools cannot be replaced without touching anything else",
        reason_code="record.not_rewritable",
        next_step="begin every top-level key on a line of its own, not in {}, and use no YAML anchors from these two elsewhere",
    )


def _end_of_block(key: Any, value: Any, lines: list[str]) -> int:
    """Return the line after a block. YAML counts blank lines and comments below it as its own; these stay."""
    end: int = value.end_mark.line
    while end > key.start_mark.line + 1 and _says_nothing(lines[end - 1]):
        end -= 1
    # A value in brackets or quotes ends within a line, which then is part of the block.
    return end + 1 if value.end_mark.column and end == value.end_mark.line else end


def _says_nothing(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")
