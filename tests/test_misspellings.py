"""No misspelling in an example gets past `agenteval validate`: neither of a key nor of a value that means something.

Each key and value is misspelt in one way; over all examples, each kind of them is in all ways.

Which values those are stands here: all texts, but for the ones listed as free. What only the recording knows
is at least a warning.
"""

import json
import shutil
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from agenteval.cli import main
from agenteval.contracts.models import DataPath
from runs import EXAMPLES, run_command

SPECS = sorted(EXAMPLES.rglob("test.yaml"))

FREE = frozenset(
    {
        *("id", "title", "description", "tags.*"),
        *(
            "assertions.*.id",
            "assertions.*.description",
            "expected.reason",
            "expected.outcome",
            "expected.failure_categories.*",
        ),
        *("scenario.memory_snapshot.*.source", "scenario.memory_snapshot.*.path"),
        "scenario.memory_snapshot.*.content",
        *(f"scenario.other_group_state.*.memory_snapshot.*.{name}" for name in ("source", "path", "content")),
        *("scenario.input_messages.*.sender", "scenario.input_messages.*.ts"),
        *(f"scenario.scheduler_context.{name}" for name in ("scheduled_for", "timezone", "recurrence")),
        "tools.fixtures.*.description",
        *(f"tools.fixtures.*.error.{name}" for name in ("error_type", "message")),
    }
)
"""Names that the author gives, and texts for people: nothing says how they are spelt."""
FREE_OF_ADAPTER = {"otel": frozenset({"scenario.group_id"})}
"""What only the test knows, since a recording of this kind does not tell it."""
FREE_PARAMETERS = frozenset(
    {
        *("any_of", "all_of", "patterns", "regex", "topics", "allowed_failure_phrases", "forbidden_content"),
        *("expected_memory_fact", "new_value", "old_value", "retry_on_error_types", "allow"),
        *("required_keys", "args_contains", "args_equal", "args", "expected_args", "ignore_args"),
        *("allowed", "forbidden"),
    }
)
"""Parameters that hold what the agent may say, and arguments of its tools."""
OF_ARGUMENTS = frozenset({"args_contains", "args_equal", "regex"})
"""Mappings whose keys are names of arguments: only the recording knows them."""
AS_RECORDED = frozenset(
    {
        *("scenario.group_id", "scenario.session_id", "scenario.input_messages.*.content"),
        "scenario.scheduler_context.task_id",
    }
)
"""What the recording says too: where it differs, there is a warning, or an error when the test itself differs."""


def walk(data: Any, path: DataPath = ()) -> Iterator[tuple[DataPath, Any]]:
    """Every value of a document, with its path."""
    yield path, data
    if isinstance(data, dict):
        for key, value in data.items():
            yield from walk(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from walk(value, (*path, index))


def pattern(path: DataPath) -> str:
    """A path with its indices left out."""
    return ".".join("*" if isinstance(step, int) else step for step in path)


def misspelt(text: str, number: int) -> Iterator[str]:
    """The text with a letter left out, doubled, swapped with the next, or replaced; each number has another fault.

    Nothing for a text without letters.
    """
    places = [at for at, sign in enumerate(text) if sign.isalpha()]
    if not places:
        return
    middle, last, third = places[len(places) // 2], places[-1], places[len(places) // 3]
    faults = [
        text[:middle] + text[middle + 1 :],
        text[:last] + text[last] + text[last:],
        text[:third] + ("q" if text[third] != "q" else "k") + text[third + 1 :],
    ]
    pairs = [at for at in places if text[at + 1 : at + 2].isalpha() and text[at] != text[at + 1]]
    if pairs:
        at = pairs[len(pairs) // 3]
        faults.append(text[:at] + text[at + 1] + text[at] + text[at + 2 :])
    yield faults[number % len(faults)]


def at(data: Any, path: DataPath) -> Any:
    """What stands at a path."""
    for step in path:
        data = data[step]
    return data


def with_key(data: Any, path: DataPath, key: str) -> Any:
    """The document with the last key of a path spelt otherwise."""
    changed = deepcopy(data)
    holder = at(changed, path[:-1])
    items = [(key if name == path[-1] else name, value) for name, value in holder.items()]
    holder.clear()
    holder.update(items)
    return changed


def with_value(data: Any, path: DataPath, value: str) -> Any:
    """The document with another value at a path."""
    changed = deepcopy(data)
    at(changed, path[:-1])[path[-1]] = value
    return changed


class Copy:
    """A copy of an example, whose test file can be replaced."""

    def __init__(self, spec: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "agenteval.yaml").touch()
        self.capsys = capsys
        self.path = shutil.copytree(spec.parent, folder / spec.parent.name) / "test.yaml"
        self.data = yaml.safe_load(spec.read_text(encoding="utf-8"))

    def write(self, data: Any) -> None:
        """Replace the test file, by JSON: it is YAML too."""
        self.path.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")

    def severities(self, data: Any) -> set[str]:
        """The severities of what `agenteval validate` finds in another test file."""
        self.write(data)
        self.capsys.readouterr()
        exit_code = main(["validate", str(self.path), "--json"])
        found = json.loads(self.capsys.readouterr().out)["problems"]
        severities = {each["severity"] for each in found if each["reason_code"] != "spec.id_convention"}
        assert exit_code == (3 if "error" in severities else 0)
        return severities


@pytest.fixture(params=SPECS, ids=lambda spec: spec.parent.name)
def copy(request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Copy:
    """A copy of each example."""
    return Copy(request.param, tmp_path, capsys)


def each_once(data: Any) -> Iterator[tuple[DataPath, Any]]:
    """The keys and values of a document; of those that stand in several items of a list, the first of its kind."""
    seen = set()
    for path, value in walk(data):
        kind = at(data, path[:2])["type"] if path[:1] == ("assertions",) and len(path) > 1 else ""
        said = value if isinstance(value, str) else ""
        if path and (pattern(path), kind, said) not in seen:
            seen.add((pattern(path), kind, said))
            yield path, value


MISSPELT: set[tuple[str, str, int]] = set()
"""The keys that were misspelt in some example, each with the type of its assertion and the way."""


def is_new(data: Any, path: DataPath, number: int) -> bool:
    """Whether a key of this kind is misspelt in this way for the first time: keys of parameters depend on the type."""
    kind = at(data, path[:2])["type"] if "params" in path else ""
    key = pattern(path), kind, number % 4
    first = key not in MISSPELT
    MISSPELT.add(key)
    return first


def names_of_arguments(path: DataPath) -> bool:
    """Whether the last key of a path is the name of a tool's argument."""
    within = path[-2:-1]
    return within in [(name,) for name in OF_ARGUMENTS] or (within == ("args",) and "expected" in path)


def is_memory_text(path: DataPath) -> bool:
    """Whether a path leads to the text of memory, which is read whatever its key is called."""
    return "memory_snapshot" in path and path[-1] == "content"


def is_free(path: DataPath, value: str, data: Any) -> bool:
    """Whether nothing says how a value is spelt."""
    name = pattern(path)
    if name in FREE | FREE_OF_ADAPTER.get(data["adapter"], frozenset()) or (
        path[:1] == ("assertions",) and FREE_PARAMETERS.intersection(map(str, path))
    ):
        return True
    if name == "tools.available.*":  # a tool that nothing else in the file names: coverage tells of it
        elsewhere = [given for where, given in walk(data) if where[:2] != ("tools", "available")]
        return value not in elsewhere
    return False


def test_an_example_as_it_is_has_no_problem(copy: Copy) -> None:
    """What the other tests find is what they did."""
    assert copy.severities(copy.data) == set()


def test_no_misspelt_key_is_valid(copy: Copy) -> None:
    """Whatever key is misspelt, at whatever depth, the file is refused."""
    passed = []
    for number, (path, _) in enumerate(each_once(copy.data)):
        if (
            isinstance(path[-1], str)
            and not names_of_arguments(path)
            and not is_memory_text(path)
            and is_new(copy.data, path, number)
        ):
            passed += [
                f"{pattern(path)} as {key}"
                for key in misspelt(path[-1], number)
                if "error" not in copy.severities(with_key(copy.data, path, key))
            ]
    assert passed == []


def test_no_misspelt_value_is_valid(copy: Copy) -> None:
    """Whatever value of the vocabulary is misspelt, the file is refused; what the recording knows, it tells."""
    passed = []
    for number, (path, value) in enumerate(each_once(copy.data)):
        if not isinstance(value, str) or is_free(path, value, copy.data):
            continue
        expected = {"error", "warning"} if pattern(path) in AS_RECORDED else {"error"}
        passed += [
            f"{pattern(path)}: {value} as {other}"
            for other in misspelt(value, number)
            if not expected & copy.severities(with_value(copy.data, path, other))
        ]
    assert passed == []


def test_no_test_passes_with_a_misspelt_argument(copy: Copy, tmp_path: Path) -> None:
    """The names of arguments, which only the recording knows, are found by running the test."""
    for number, (path, _) in enumerate(walk(copy.data)):
        if names_of_arguments(path):
            for key in misspelt(str(path[-1]), number):
                copy.write(with_key(copy.data, path, key))
                run = run_command([copy.path], tmp_path / f"artifacts-{number}")
                assert run.exit_code == 1, f"{pattern(path)} as {key}"
