"""Files made to break their reader: each ends in an error that says what is wrong, never in a crash or a hang."""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agenteval.contracts.errors import FileError, SpecError
from agenteval.loading.discovery import discover
from agenteval.loading.testfile import LoadedTest, load_test
from agenteval.reading.jsonsource import load_json, parse_json
from agenteval.reading.yamlsource import load_yaml
from builders import make_spec


def spec_text(**overrides: Any) -> str:
    """A valid test file, as text."""
    return yaml.safe_dump(make_spec(**overrides), sort_keys=False)


def in_bytes(text: str) -> bytes:
    """The text in UTF-8."""
    return text.encode()


BOMB = "\n".join(
    ["x-0: &x0 [a, a, a, a, a, a, a, a, a, a]"]
    + [f"x-{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 10)}]" for n in range(1, 30)]
)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (in_bytes(BOMB), "yaml.too_many_nodes"),
        (in_bytes(spec_text() + BOMB), "yaml.too_many_nodes"),
        (in_bytes("x-a: &a [*a]"), "yaml.recursive_alias"),
        (in_bytes("[" * 200_000), "yaml.too_deep"),
        (in_bytes("- " * 200_000), "yaml.too_deep"),
        (in_bytes("{a: " * 200_000), "yaml.too_deep"),
        (in_bytes("? " * 200_000), "yaml.too_deep"),
        (in_bytes("".join(" " * n + "a:\n" for n in range(500))), "yaml.too_deep"),
        (in_bytes("!!python/object/apply:os.system ['exit 1']"), "yaml.tag"),
        (in_bytes("x-a: !!python/name:os.system ''"), "yaml.tag"),
        (in_bytes("x-a: !ENV HOME"), "yaml.tag"),
        (in_bytes("a: 1\0"), "file.nul_byte"),
        ("a: é".encode("latin-1"), "file.encoding"),
        ("a: é".encode("utf-16"), "file.encoding"),
        ("a: é".encode("utf-32"), "file.encoding"),
        (b"a: \xed\xa0\x80", "file.encoding"),
        (in_bytes("a: \x1b[2J"), "yaml.syntax"),
        (in_bytes("a: 1\na: 2"), "yaml.duplicate_key"),
        (in_bytes(f"a: {'9' * 100_000}"), "yaml.number"),
        (in_bytes("a: .inf"), "yaml.number"),
        (in_bytes('a: "\\ud800"'), "yaml.syntax"),
        (in_bytes("%TAG ! !foo\n---\n!x a"), "yaml.tag"),
        (in_bytes("a: " + "&a " * 1000), "yaml.syntax"),
        (in_bytes("a: |" + "9" * 100), "yaml.syntax"),
        (b"", "yaml.empty"),
        (b"\xef\xbb\xbf", "yaml.empty"),
        (in_bytes("---\n---\n"), "yaml.multiple_documents"),
        (in_bytes('{"a": 1}' * 2), "yaml.syntax"),
    ],
)
def test_hostile_yaml(tmp_path: Path, content: bytes, code: str) -> None:
    """Within seconds, and with the reason code that says what is wrong."""
    path = tmp_path / "test.yaml"
    path.write_bytes(content)
    started = time.perf_counter()
    with pytest.raises(SpecError) as caught:
        load_test(path)
    assert time.perf_counter() - started < 5
    assert [problem.reason_code for problem in caught.value.problems] == [code]
    assert str(path) in str(caught.value)


def test_a_byte_order_mark_is_no_offence(tmp_path: Path) -> None:
    """Editors on Windows write one."""
    path = tmp_path / "test.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + spec_text().encode())
    assert load_test(path).case.title == "A test case"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (in_bytes("[" * 1_000_000), "json.too_deep"),
        (in_bytes('{"a":' * 1_000_000), "json.too_deep"),
        (in_bytes("[" * 101 + "]" * 101), "json.too_deep"),
        (in_bytes('{"a": [NaN]}'), "json.number"),
        (in_bytes("[1e400]"), "json.number"),
        (in_bytes(f"[{'9' * 1_000_000}]"), "json.number"),
        (in_bytes('{"a": 1, "a": 1}'), "json.duplicate_key"),
        (in_bytes('["\\udfff"]'), "json.surrogate"),
        (in_bytes('["\\ud800\\ud800"]'), "json.surrogate"),
        (in_bytes('"' + "a" * 1_000_000), "json.syntax"),
        (in_bytes('"' + "\\n" * 1_000_000), "json.syntax"),
        (in_bytes("[1,]"), "json.syntax"),
        (in_bytes("[1] // no"), "json.syntax"),
        (b"", "json.empty"),
        (b'"\xff"', "file.encoding"),
        (b'"\0"', "file.nul_byte"),
        ("[]".encode("utf-16-le"), "file.nul_byte"),
    ],
)
def test_hostile_json(tmp_path: Path, content: bytes, code: str) -> None:
    """Within seconds, and with the reason code that says what is wrong."""
    path = tmp_path / "replay.json"
    path.write_bytes(content)
    started = time.perf_counter()
    with pytest.raises(FileError) as caught:
        load_json(path)
    assert time.perf_counter() - started < 5
    assert [problem.reason_code for problem in caught.value.problems] == [code]
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("load", [load_test, load_json])
def test_a_huge_file_is_not_read(tmp_path: Path, load: Callable[[Path], object]) -> None:
    """A hundred megabytes of nothing, in a sparse file."""
    path = tmp_path / "test.yaml"
    with path.open("wb") as file:
        file.truncate(100 * 2**20)
    with pytest.raises(FileError, match=r"the file has 104,857,600 bytes; the limit is 67,108,864"):
        load(path)


def test_a_pipe_does_not_hang(tmp_path: Path) -> None:
    """Nobody ever writes into it."""
    path = tmp_path / "test.yaml"
    os.mkfifo(path)
    with pytest.raises(SpecError, match="a named pipe, not a file"):
        load_test(path)


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    """A directory called test.yaml, a loop of links and a link to nothing: found, and each refused."""
    (tmp_path / "a" / "test.yaml").mkdir(parents=True)
    (tmp_path / "b.test.yaml").symlink_to("b.test.yaml")
    (tmp_path / "c.test.yaml").symlink_to("nowhere")
    (tmp_path / "d").symlink_to(tmp_path)
    codes = []
    for found in discover([str(tmp_path)]):
        if isinstance(found, SpecError):
            codes.append(found.reason_code)
            continue
        with pytest.raises(SpecError) as caught:
            load_test(found.path)
        codes.append(caught.value.reason_code)
    assert codes == ["file.unreadable", "file.missing", "file.not_a_file"]


def test_hostile_files_are_safe_in_a_thread(tmp_path: Path) -> None:
    """Deep nesting does not depend on the stack of the main thread."""
    path = tmp_path / "test.yaml"
    path.write_text("[" * 100_000)
    codes = []

    def load(each: Callable[[Path], object]) -> None:
        try:
            each(path)
        except FileError as error:
            codes.append(error.reason_code)

    for each in (load_test, load_json):
        thread = threading.Thread(target=load, args=(each,))
        thread.start()
        thread.join()
    assert codes == ["yaml.too_deep", "json.too_deep"]


def test_an_error_never_sends_control_signs_to_the_terminal(tmp_path: Path) -> None:
    """What a file holds is shown spelt out."""
    path = tmp_path / "test.yaml"
    path.write_text(spec_text() + '"\\e[2J\\u202e": 1\n"x\x9b": 2\n')
    with pytest.raises(SpecError) as caught:
        load_test(path)
    assert all(sign.isprintable() or sign == "\n" for sign in str(caught.value))


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file to write each example into."""
    return tmp_path_factory.mktemp("hostile") / "test.yaml"


def outcome(path: Path, content: bytes) -> None:
    """Load the content: a test or an error whose problems can be shown, and nothing else."""
    path.write_bytes(content)
    try:
        loaded = load_test(path)
    except SpecError as error:
        problems = error.problems
        assert problems
    else:
        assert isinstance(loaded, LoadedTest)
        problems = loaded.warnings
    for problem in problems:
        assert problem.render().startswith(str(path))
        assert "." in problem.reason_code


SHARED = settings(
    max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
SIGNS = st.sampled_from(list(": -?[]{},&*!|>'\"%@`#\n\t\\~<=0.1aé\0\x07\ufeff\U0001f600"))


@SHARED
@given(st.binary(max_size=200) | st.text(SIGNS, max_size=60).map(str.encode))
def test_any_bytes(scratch: Path, content: bytes) -> None:
    """A file may hold anything."""
    outcome(scratch, content)


@SHARED
@given(st.data())
def test_a_valid_file_with_a_few_bytes_changed(scratch: Path, data: st.DataObject) -> None:
    """What a slip of the hand, or of a disk, makes of a valid file."""
    content = bytearray(VALID)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        sign = data.draw(SIGNS).encode()
        match data.draw(st.sampled_from(["insert", "replace", "cut"])):
            case "insert":
                content[at:at] = sign
            case "replace":
                content[at : at + 1] = sign
            case _:
                del content[at : at + data.draw(st.integers(1, 30))]
    outcome(scratch, bytes(content))


VALID = spec_text(
    assertions=[
        {"id": "a", "type": "must_call_tool", "params": {"tool": "web_search", "min_calls": 1}},
        {"id": "b", "type": "tool_call_order", "params": {"before": {"tool": "a"}, "after": {"tool": "b"}}},
        {"id": "c", "type": "output_contains", "severity": "warning", "params": {"any_of": ["x"]}},
        {"id": "d", "type": "output_matches_format", "params": {"format": "bullet_list", "min_bullets": 2}},
        {"id": "e", "type": "no_cross_group_memory_use", "requires_capabilities": ["supports_memory_events"]},
    ],
    tools={
        "available": ["web_search"],
        "fixtures": [{"id": "f", "tool": "web_search", "response": {"x": [1, 2]}}],
        "policy": {"max_calls": {"web_search": 2}},
    },
    policy={"on_missing_capability": "skip"},
).encode()

JUNK: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from(
        [None, True, 0, -1, 1.5, 2**64 - 1, "", "a", "web_*", "(", "x-a", "tool", "0.1", "2026-01-01"]
    ),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "tool", "x-a", "é"]), inner)
    ),
    max_leaves=5,
)


def holders(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in the data that can be replaced: what holds it, and its key or index there."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield data, key
        yield from holders(value)


@SHARED
@given(st.data())
def test_a_valid_spec_with_some_values_changed(scratch: Path, data: st.DataObject) -> None:
    """Whatever the values and keys of a spec are, it is judged."""
    spec = yaml.safe_load(VALID)
    for _ in range(data.draw(st.integers(1, 4))):
        places = list(holders(spec))
        holder, key = places[data.draw(st.integers(0, len(places) - 1))]
        match data.draw(st.sampled_from(["replace", "remove", "add"])):
            case "replace":
                holder[key] = data.draw(JUNK)
            case "remove":
                del holder[key]
            case _ if isinstance(holder, dict):
                holder[data.draw(st.sampled_from(["tool", "id", "params", "regex", "tol", "x-a"]))] = (
                    data.draw(JUNK)
                )
            case _:
                holder.append(data.draw(JUNK))
    outcome(scratch, yaml.safe_dump(spec, sort_keys=False, allow_unicode=True).encode())


@SHARED
@given(st.text(SIGNS, max_size=60) | st.text(max_size=30))
def test_any_text_as_yaml_and_json(text: str) -> None:
    """Data or a `FileError` with one problem; what JSON accepts is what the standard library reads."""
    for load in (load_yaml, parse_json):
        try:
            data = load(text, Path("x"))
        except FileError as error:
            (problem,) = error.problems
            assert problem.render()
        else:
            json.dumps(data, allow_nan=False)


JSON_SIGNS = st.sampled_from(
    [*'[]{},:" \n\\u0dD8eE.-1ntrf', "null", "true", '"a":', "\\ud800", "NaN", "1e999"]
)


@SHARED
@given(st.lists(JSON_SIGNS, max_size=25).map("".join))
def test_any_json_like_text(text: str) -> None:
    """What is accepted is what the standard library reads; what it refuses is refused."""
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(FileError):
            parse_json(text, Path("x"))
        return
    with suppress(FileError):
        assert parse_json(text, Path("x")) == expected
