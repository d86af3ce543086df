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
