"""Test files in an editor: what yaml-language-server says, offers and shows. Skipped where it is not installed."""

import shutil
from collections.abc import Iterator

import pytest

from agenteval.assertions import assertion_types
from builders import make_spec
from language_server import CURSOR, LanguageServer, serving
from runs import CASES, EXAMPLES, PROJECT

PROGRAM = shutil.which("yaml-language-server")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="yaml-language-server is not installed")

HEAD = "# yaml-language-server: $schema={}\n"
TEST = HEAD.format("../../../schemas/test-case.schema.json")
CONFIG = HEAD.format("../../../schemas/config.schema.json")
ASSERTION = TEST + "assertions:\n  - id: a\n    type: {}\n    {}\n"


@pytest.fixture(scope="module")
def server() -> Iterator[LanguageServer]:
    """One server for all, which sees every text in a folder at the depth of an example."""
    assert PROGRAM is not None
    with serving(PROGRAM, EXAMPLES / "nanoclaw" / "none") as running:
        yield running


def test_examples_are_in_order(server: LanguageServer) -> None:
    """Nothing is marked in a file that loads."""
    paths = [*EXAMPLES.glob("*/*/test.yaml"), *CASES.glob("failing/*/test.yaml")]
    texts = [
        path.read_text(encoding="utf-8").replace("$schema=../../../../", "$schema=../../../")
        for path in paths
    ]
    assert len(texts) > 30
    assert [said for said in server.remarks(texts) if said] == []


WHOLE = """\
schema_version: "0.1"
id: nanoclaw.a.b.c
title: T
adapter: nanoclaw
mode: replay
scenario: {group_id: g, trigger: scheduler, input_messages: []}
tools: {available: [web_search]}
adapter_input: {replay_file: replay.json}
assertions:
  - id: a
    type: must_call_tool
    params:
      tool: web_search
"""
MISTAKES = [
    ("adapter: nanoclaw", "adaptor: nanoclaw", "5: Property adaptor is not allowed."),
    ("adapter: nanoclaw\n", "", '2: Missing property "adapter".'),
    ('"0.1"', "0.1", '2: Value must be "0.1".'),
    ("group_id: g", "grp: g", "7: Property grp is not allowed."),
    ("scheduler", "cron", '7: Value is not accepted. Valid values: "user_message", "scheduler".'),
    ("replay_file:", "replay:", "9: Property replay is not allowed."),
    ("type: must_call_tool", "type: must_call", "12: Value is not accepted. Valid values: "),
    ("      tool:", "      tol:", "14: Property tol is not allowed."),
    ("      tool:", "      max: 3\n      tool:", "14: Property max is not allowed."),
    ("      tool: web_search\n", "      min_calls: 1\n", '13: Missing property "tool".'),
    ("    params:\n      tool: web_search\n", "", '11: Missing property "params".'),
    ("tool: web_search", "tool: 7", '14: Incorrect type. Expected "string".'),
    (
        "[web_search]}",
        "[web_search], fixtures: [{id: f, tool: t, file: a, response: 1}]}",
        "8: a fixture has at most one of file, response and error",
    ),
    (
        "mode: replay",
        "mode: replay\nexpected: {status: fail, assertions: [a], reason: ''}",
        "7: status: fail needs a reason: the bug, or what the control shows",
    ),
]


def test_mistakes_are_marked_where_they_are(server: LanguageServer) -> None:
    """In words that name the key, or what is allowed."""
    texts = [TEST + WHOLE.replace(right, wrong, 1) for right, wrong, _ in MISTAKES]
    for (_, wrong, expected), said in zip(MISTAKES, server.remarks(texts), strict=True):
        assert any(remark.startswith(expected) for remark in said), (wrong, said)
    assert server.remarks([TEST + WHOLE]) == [[]]


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        (TEST + "mode: ‸", {"replay", "live"}),
        (TEST + "adapter: ‸", {"command", "nanoclaw", "otel"}),
        (TEST + "tools:\n  ‸", {"Tools", "available", "fixtures", "policy"}),
        (ASSERTION.format("‸", ""), set(assertion_types())),
        (
            ASSERTION.format("must_call_tool", "params:\n      ‸"),
            {"must_call_tool", "tool", "min_calls", "args", "result"},
        ),
        (ASSERTION.format("max_tool_calls", "params:\n      tool: x\n      ‸"), {"max", "max_total"}),
        (
            ASSERTION.format("tool_call_order", "params:\n      every: ‸"),
            {"true", "false", "before", "after"},
        ),
        (ASSERTION.format("must_call_tool", "severity: ‸"), {"critical", "warning"}),
        (CONFIG + "color: ‸", {"auto", "always", "never"}),
        (CONFIG + "redaction:\n  kinds: [‸]", {"secrets", "email"}),
    ],
)
def test_what_can_stand_there_is_offered(server: LanguageServer, text: str, labels: set[str]) -> None:
    """And nothing else: no parameters of another type."""
    assert set(server.offered(text)) == labels


def test_a_new_file_and_a_new_assertion_can_be_filled_in(server: LanguageServer) -> None:
    """All keys of a test are offered, and all of an assertion; `params` once its type is known."""
    assert set(make_spec()) <= set(server.offered(TEST + CURSOR))
    envelope = {"id", "type", "severity", "description", "requires_capabilities", "needs"}
    assert set(server.offered(TEST + "assertions:\n  - ‸")) == {"Assertion", *envelope}
    assert server.offered(ASSERTION.format("must_call_tool", CURSOR))["params"].startswith(
        "params:\n  tool: "
    )
    fixture = server.offered(TEST + "tools:\n  available: []\n  fixtures:\n    - ‸")
    assert fixture["response"] == "response: "


def test_keys_and_types_are_explained(server: LanguageServer) -> None:
    """With type and default; where its parameters begin, an assertion type with its example."""
    assert "The fewest calls.\n\n*integer ≥ 1 (default 1)*" in server.shown(
        ASSERTION.format("must_call_tool", "params:\n      tool: x\n      min_‸calls: 1")
    )
    assert "The event that must come first.\n\n*selector (optional)*" in server.shown(
        ASSERTION.format("tool_call_order", "params:\n      bef‸ore: {tool: x}")
    )
    told = server.shown(ASSERTION.format("must_call_tool", "par‸ams:\n      tool: x"))
    assert "A tool was called." in told
    assert "Example:\n\n```yaml\ntool: web_search\n" in told
    assert "Warnings fail a test or the run.\n\n*true or false (default false)*" in server.shown(
        CONFIG + "stri‸ct: true"
    )


def test_the_folder_is_as_deep_as_an_example() -> None:
    """So that the texts find the schemas."""
    assert (EXAMPLES / "nanoclaw" / "none" / "../../../schemas").resolve() == PROJECT / "schemas"
