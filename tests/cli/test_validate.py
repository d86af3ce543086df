"""`agenteval validate`: everything is loaded, nothing is run."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from agenteval.cli import main
from builders import make_spec
from planted import PLANTED
from projects import make_replay


def write(path: Path, **overrides: Any) -> Path:
    """A test file beside a recording; `overrides` replace top-level keys of a valid one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parent / "replay.json").write_text(json.dumps(make_replay()), encoding="utf-8")
    path.write_text(yaml.safe_dump(make_spec(**overrides), sort_keys=False), encoding="utf-8")
    return path


def test_valid_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Valid files are counted, and nothing else is said."""
    for number in range(3):
        write(tmp_path / f"{number}.test.yaml", id=f"nanoclaw.a.b.c{number}")
    assert main(["validate", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "3 test files valid\n"


def test_invalid_file_among_valid_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each problem is shown where it is, with all that helps, and the last line counts files and problems."""
    write(tmp_path / "a.test.yaml", id="nanoclaw.a.b.c")
    bad = write(tmp_path / "b.test.yaml", tilte="x", tags="x")
    assert main(["validate", str(tmp_path)]) == 3
    out = capsys.readouterr().out
    assert f"{bad}:" in out
    assert "error[spec.unknown_key]" in out
    assert "did you mean 'title'?" in out
    assert "error[spec.wrong_type]" in out
    assert out.endswith("\n1 of 2 test files is invalid (2 problems)\n")


def test_more_than_one_invalid_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Several invalid files are counted as such; one id in two files makes the second one invalid."""
    write(tmp_path / "a.test.yaml")
    second = write(tmp_path / "b.test.yaml")
    write(tmp_path / "c.test.yaml", id="nanoclaw.a.b.c", mode="reply")
    assert main(["validate", str(tmp_path)]) == 3
    out = capsys.readouterr().out
    assert f"{second}:2:5: error[spec.duplicate_test_id]" in out
    assert out.endswith("\n2 of 3 test files are invalid (2 problems)\n")


def test_two_ids_that_are_one_task(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ids that a run would refuse, since they give one OpenWOP task id, are refused here too."""
    write(tmp_path / "a.test.yaml", id="nanoclaw.t.same_one.x")
    second = write(tmp_path / "b.test.yaml", id="nanoclaw.t.same-one.x")
    assert main(["validate", str(tmp_path)]) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith(
        f"{second}:2:5: error[openwop.task_id_collision]: the ids 'nanoclaw.t.same-one.x' and "
        "'nanoclaw.t.same_one.x' give the same OpenWOP task id, 'nanoclaw-t-same-one-x' 1 | "
    )
    assert out.endswith("1 of 2 test files is invalid (1 problem)")


def test_warnings_are_shown_and_do_not_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A warning is shown, and leaves the file valid."""
    write(tmp_path / "test.yaml", id="something-else")
    assert main(["validate", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "warning[spec.id_convention]" in out
    assert out.endswith("\n1 test file valid (1 warning)\n")


def test_nothing_found_is_not_valid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A directory without test files is exit 3: a misspelt path must not pass."""
    assert main(["validate", str(tmp_path)]) == 3
    out = capsys.readouterr().out
    assert out.startswith(f"{tmp_path}: error[select.nothing_found]: no test file in this directory\n")
    assert out.endswith("\nno test files (1 problem)\n")


def test_missing_path_beside_a_valid_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A path that is not there is a problem, though everything that is there is valid."""
    path = write(tmp_path / "test.yaml")
    missing = tmp_path / "nosuch"
    assert main(["validate", str(path), str(missing)]) == 3
    assert capsys.readouterr().out == (
        f"{missing}: error[file.missing]: no such file or directory\n   next: name a test file, or a directory that has some\n"
        "\n"
        "1 test file valid, but not every path has one (1 problem)\n"
    )


def test_problems_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` gives counts and every problem with its place; the exit code is the same."""
    path = write(tmp_path / "test.yaml", tilte="x")
    assert main(["validate", str(path), "--json"]) == 3
    data = json.loads(capsys.readouterr().out)
    (problem,) = data.pop("problems")
    assert data == {"files": 1, "valid": 0, "invalid": 1}
    assert problem["path"] == str(path)
    assert (problem["pointer"], problem["severity"], problem["reason_code"]) == (
        "/tilte",
        "error",
        "spec.unknown_key",
    )
    assert path.read_text(encoding="utf-8").splitlines()[problem["line"] - 1].startswith("tilte")
    assert problem["column"] == 1
    assert problem["hint"] == "did you mean 'title'?"
    assert "title" in problem["allowed"]


def test_valid_files_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` of valid files has no problems."""
    assert main(["validate", str(write(tmp_path / "test.yaml")), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"files": 1, "valid": 1, "invalid": 0, "problems": []}


def test_colour_only_when_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a pipe there is no colour, unless it is demanded."""
    path = str(write(tmp_path / "test.yaml"))
    assert main(["validate", path, "--color", "always"]) == 0
    assert capsys.readouterr().out == "\x1b[32m1 test file valid\x1b[0m\n"


def test_unknown_colour(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelt --color is a usage error."""
    assert main(["validate", str(write(tmp_path / "test.yaml")), "--color", "blue"]) == 2
    assert capsys.readouterr().err == (
        "error[usage.invalid]: --color blue: expected auto, always or never\n  next: for instance --color auto\n"
    )


def test_a_recording_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run would refuse the test: a missing recording is an error at the key that names it."""
    path = write(tmp_path / "test.yaml", adapter_input={"replay_file": "later.json"})
    (tmp_path / "replay.json").unlink(missing_ok=True)
    assert main(["validate", str(path)]) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert f"{path}:23:16: error[adapter.replay_missing]: adapter_input.replay_file names" in out


def test_a_recording_whose_name_is_misspelled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is not there, beside one of nearly the same name, is a slip: the test is invalid."""
    path = write(tmp_path / "test.yaml", adapter_input={"replay_file": "reply.json"})
    (tmp_path / "replay.json").write_text("{}", encoding="utf-8")
    assert main(["validate", str(path)]) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert f"{path}:23:16: error[adapter.replay_missing]: adapter_input.replay_file names" in out
    assert " did you mean 'replay.json' instead of 'reply.json'? " in out
    assert out.endswith(" 1 of 1 test file is invalid (1 problem)")


def test_the_file_that_is_meant_is_not_told_of_a_test_that_redacts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of what such a test names, its problems show nothing."""
    path = write(
        tmp_path / "test.yaml",
        adapter_input={"replay_file": "reply.json"},
        reporting={"redact_fields": ["token"]},
    )
    (tmp_path / "replay.json").write_text("{}", encoding="utf-8")
    assert main(["validate", str(path)]) == 3
    assert "reply.json" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("overrides", "code", "hint"),
    [
        ({"adapter_input": {"replay_fil": "replay.json"}}, "adapter.unknown_input", ""),
        ({"adapter_input": {}}, "adapter.input_missing", ""),
        ({"adapter": "nanoclwa", "id": "nanoclwa.a.b.c"}, "adapter.unknown", "did you mean 'nanoclaw'?"),
    ],
)
def test_what_the_adapter_refuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], overrides: dict[str, Any], code: str, hint: str
) -> None:
    """An unknown key of `adapter_input`, an empty one, and an adapter that there is not."""
    path = write(tmp_path / "test.yaml", **overrides)
    assert main(["validate", str(path), "--json"]) == 3
    data = json.loads(capsys.readouterr().out)
    assert (data["valid"], data["invalid"]) == (0, 1)
    (problem,) = data["problems"]
    assert (problem["path"], problem["reason_code"], problem["hint"]) == (str(path), code, hint)


def test_what_is_wrong_with_a_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Problems of the recording are shown in the recording, as a run would show them."""
    path = write(tmp_path / "test.yaml")
    replay = tmp_path / "replay.json"
    replay.write_text(json.dumps(make_replay(status="done"), indent=1), encoding="utf-8")
    assert main(["validate", str(path)]) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert (
        f"{replay}:33:12: error[bundle.wrong_value]: status: expected one of success, partial, failed" in out
    )


def test_no_part_of_a_secret_in_a_recording_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An excerpt shows a part of a long line, and so may cut a key that stands in it."""
    path = write(tmp_path / "test.yaml")
    key = PLANTED["aws-access-key"]
    text = json.dumps({**make_replay(), "stats": 1, "x-note": "the key " + key})
    (tmp_path / "replay.json").write_text(text, encoding="utf-8")
    assert main(["validate", str(path)]) == 3
    out = capsys.readouterr().out
    assert "unknown key 'stats'" in out
    assert '"x-note": "the key [redacted:part]…' in out
    assert main(["validate", "--json", str(path)]) == 3
    assert key[:8] not in out + capsys.readouterr().out


def test_what_the_adapter_remarks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A fixture that no step uses is a warning, as it is in a run."""
    tools = {"available": ["web_search"], "fixtures": [{"id": "f", "tool": "web_search", "response": 1}]}
    path = write(tmp_path / "test.yaml", tools=tools)
    assert main(["validate", str(path)]) == 0
    assert " ".join(capsys.readouterr().out.split()) == (
        f"{path}: warning[adapter.remark]: fixture 'f' is not used by any step of the recording "
        "1 test file valid (1 warning)"
    )


def test_redacted_values_are_not_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Messages of adapters may quote recordings: of a test that redacts fields they are left out."""
    path = write(tmp_path / "test.yaml", reporting={"redact_fields": ["content"]})
    (tmp_path / "replay.json").write_text('{"content": "hunter2', encoding="utf-8")
    assert main(["validate", str(path)]) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert "hunter2" not in out
    assert "the recording that adapter_input names cannot be used; details are left out" in out


def test_a_test_that_cannot_run_live(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run would refuse it, whatever it names; nothing that it names is read."""
    path = write(tmp_path / "test.yaml", mode="live", adapter="otel", adapter_input={})
    assert main(["validate", str(path)]) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert (
        f"{path}:5:7: error[adapter.live_unsupported]: adapter otel 0.1.0 cannot run an agent live; "
        "the test asks for mode: live" in out
    )


@pytest.mark.parametrize(
    ("kind", "params", "message"),
    [
        ("output_contains", "{regex: <'('>}", "parameter 'regex' of output_contains: the pattern '('"),
        (
            "output_contains",
            "{regex: [a, <'('>]}",
            "parameter 'regex[1]' of output_contains: the pattern '('",
        ),
        (
            "output_omits",
            "{patterns: [a, <''>]}",
            "parameter 'patterns[1]' of output_omits: patterns holds an empty",
        ),
        (
            "tool_args_match",
            "{tool: x, match: {regex: {q: <'('>}}}",
            "parameter 'match.regex.q' of tool_args_match: the pattern '('",
        ),
        (
            "tool_args_match",
            "{tool: x, match: {json_schema: <{type: txt}>}}",
            "parameter 'match.json_schema' of tool_args_match: json_schema is not a JSON Schema",
        ),
        (
            "no_sensitive_data",
            "{allow: [a, <'*'>]}",
            "parameter 'allow[1]' of no_sensitive_data: allow holds '*'",
        ),
        (
            "no_fabricated_source_or_citation",
            "{allow: [a.org, <'b b'>]}",
            "parameter 'allow[1]' of no_fabricated_source_or_citation: allow holds 'b b'",
        ),
        (
            "no_cross_group_memory_use",
            "{forbidden_group_ids: [a, <'b*'>]}",
            "parameter 'forbidden_group_ids[1]' of no_cross_group_memory_use: forbidden_group_ids holds 'b*'",
        ),
        (
            "no_cross_group_memory_use",
            "{current_group_id: b, forbidden_group_ids: [a, <b>]}",
            "parameter 'forbidden_group_ids[1]' of no_cross_group_memory_use: current_group_id 'b' is among",
        ),
        (
            "trajectory_matches",
            "{expected: [{tool: x, args: {args_contains: <{q: a}>}}]}",
            "parameter 'expected[0].args.args_contains' of trajectory_matches: args holds the arguments themselves",
        ),
    ],
)
def test_the_part_at_fault_is_marked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, params: str, message: str
) -> None:
    """Of a rule that one item breaks, that item is shown, and not the parameters as a whole."""
    test = write(tmp_path / "test.yaml", assertions=[])
    line = f"assertions: [{{id: a, type: {kind}, params: {params}}}]"
    text = line.replace("<", "").replace(">", "")
    test.write_text(test.read_text(encoding="utf-8").replace("assertions: []", text), encoding="utf-8")
    assert main(["validate", str(test)]) == 3
    told = " ".join(capsys.readouterr().out.split())
    number = test.read_text(encoding="utf-8").splitlines().index(text) + 1
    assert f"test.yaml:{number}:{line.index('<') + 1}: error[spec.wrong_parameter]: {message}" in told


def test_a_name_that_only_the_recording_tells_to_be_misspelt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same diagnostics as in a run, at the same place; a warning where it may be another tool."""
    path = tmp_path / "test.yaml"
    forbidding = [{"id": "a", "type": "must_not_call_tool", "params": {"tool": "mcp__web__*"}}]
    write(path, assertions=forbidding, tools={"available": ["outbound_send"]})
    step = {
        "type": "tool_call",
        "tool": "web_search",
        "call_id": "c9",
        "args": {},
        "recorded_tool": "mcp_web_search",
    }
    replay = make_replay()
    replay["script"].insert(0, step)
    (tmp_path / "replay.json").write_text(json.dumps(replay), encoding="utf-8")
    for command in ("validate", "run"):
        code = main([command, str(path), *(["--no-artifacts"] if command == "run" else [])])
        out = " ".join(capsys.readouterr().out.split())
        assert (command, code) in [("validate", 3), ("run", 2)]
        assert (
            "test.yaml:19:11: error[spec.unknown_tool]: neither tools.available nor the recording has a tool"
            in out
        )
        assert "'mcp__web__*'" in out
        assert "did you mean 'mcp_web_*'?" in out
    forbidding[0]["params"] = {"tool": "wed_search"}
    write(path, assertions=forbidding, tools={"available": ["outbound_send"]})
    (tmp_path / "replay.json").write_text(json.dumps(replay), encoding="utf-8")
    assert main(["validate", str(path)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "warning[adapter.remark]: neither tools.available nor the recording has a tool 'wed_search'" in out
