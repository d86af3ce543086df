"""Keys at the wrong level of a test file: where they belong."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from agenteval.contracts.errors import SpecError
from agenteval.loading.testfile import load_test
from builders import make_spec


def told(folder: Path, **overrides: Any) -> list[tuple[str, str, str]]:
    """Message, suggestion and next step of all that is wrong with a test in which some top-level keys are replaced."""
    path = folder / "test.yaml"
    path.write_text(yaml.safe_dump({**make_spec(), **overrides}))
    with pytest.raises(SpecError) as caught:
        load_test(path)
    return [(problem.message, problem.hint, problem.next_step) for problem in caught.value.problems]


def assertion(kind: str, params: dict[str, Any], **beside: Any) -> list[dict[str, Any]]:
    """A list of one assertion, with some keys beside its parameters."""
    return [{"id": "a", "type": kind, "params": params, **beside}]


SCENARIO = make_spec()["scenario"]


@pytest.mark.parametrize(
    ("overrides", "message", "next_step"),
    [
        ({"fixtures": []}, "unknown key 'fixtures'", "move it into 'tools'"),
        ({"save_trace": True}, "unknown key 'save_trace'", "move it into 'reporting'"),
        (
            {"scenario": {**SCENARIO, "tags": ["a"]}},
            "unknown key 'tags' in scenario",
            "put it next to 'scenario'",
        ),
        (
            {"assertions": assertion("must_call_tool", {"tool": "web_search"}, expected="fail")},
            "unknown key 'expected' in assertions[0]",
            "put it next to 'assertions'",
        ),
        (
            {"assertions": assertion("must_call_tool", {"tool": "web_search"}, min_calls=2)},
            "unknown key 'min_calls' in assertions[0]",
            "move it into 'params'",
        ),
        (
            {"assertions": assertion("must_call_tool", {"tool": "web_search", "severity": "warning"})},
            "must_call_tool has no parameter 'severity'",
            "put it next to 'params'",
        ),
        (
            {
                "assertions": assertion(
                    "must_call_tool", {"tool": "web_search", "args_contains": {"query": "a"}}
                )
            },
            "must_call_tool has no parameter 'args_contains'",
            "move it into 'args'",
        ),
        (
            {"assertions": assertion("must_call_tool", {"tool": "web_search", "args": {"min_calls": 2}})},
            "must_call_tool has no parameter 'args.min_calls'",
            "put it next to 'args'",
        ),
        (
            {
                "assertions": assertion(
                    "trajectory_matches", {"args": {}, "expected": [{"tool": "web_search"}]}
                )
            },
            "trajectory_matches has no parameter 'args'",
            "move it into 'expected'",
        ),
    ],
)
def test_a_key_at_the_wrong_level(
    tmp_path: Path, overrides: dict[str, Any], message: str, next_step: str
) -> None:
    """It is known elsewhere, so that is where it belongs; nothing else is suggested."""
    assert told(tmp_path, **overrides) == [(message, "", next_step)]


def test_a_misspelt_key_is_suggested_as_ever(tmp_path: Path) -> None:
    """It belongs nowhere."""
    assert told(tmp_path, tagz=[]) == [("unknown key 'tagz'", "did you mean 'tags'?", "")]
    nosuch = assertion("nosuch", {}, min_calls=2)
    assert [step for *_, step in told(tmp_path, assertions=nosuch)] == [
        "",
        "see what each type judges: agenteval explain",
    ]
    assert told(tmp_path, something=[]) == [("unknown key 'something'", "", "")]
