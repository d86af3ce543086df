"""Names that stand for something else in the file: a slip of the finger is an error, another name is not."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agenteval.contracts.errors import Problem, SpecError
from agenteval.judging.runner import Outcome
from agenteval.loading.testfile import load_test
from agenteval.text.names import glob_slip_of, may_be_twins, name_matches, slip_of
from builders import Step, call, make_spec, make_trace
from run_builders import run_one

SCENARIO = make_spec()["scenario"]
AVAILABLE = ["web_search", "outbound_send"]


def problems(tmp_path: Path, **overrides: Any) -> list[Problem]:
    """What is wrong with a test of the given parts."""
    path = tmp_path / "test.yaml"
    path.write_text(yaml.safe_dump(make_spec(**overrides), sort_keys=False), encoding="utf-8")
    try:
        return load_test(path).warnings
    except SpecError as error:
        return error.problems


def told(found: list[Problem]) -> list[tuple[str, str, str]]:
    """Reason code, pointer and hint of each."""
    return [(each.reason_code, each.pointer, each.hint) for each in found]


def one(kind: str, **params: Any) -> dict[str, Any]:
    """The assertions of a test that has one."""
    return {"assertions": [{"id": "a", "type": kind, "params": params}]}


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("web_serch", "web_search", True),
        ("web.search", "web_search", True),
        ("mcp_github-search", "mcp__github__search", True),
        ("a-b", "ab", False),
        ("web_seearch", "web_search", True),
        ("web_saerch", "web_search", True),
        ("web_sezrch", "web_search", True),
        ("eb_search", "web_search", True),
        ("web-search", "web_search", True),
        ("WebSearch", "web_search", True),
        ("Web_Search", "web_search", True),
        ("web_fetch", "web_search", False),
        ("web_search", "web_search", False),
        ("team-a", "team-b", False),
        ("team_a_ops", "team_b_ops", False),
        ("a-team", "b-team", False),
        ("team-1", "team-2", False),
        ("team12", "team21", False),
        ("team1", "team", False),
        ("ls", "la", False),
        ("cat", "cut", False),
        ("read", "raed", True),
        ("", "abc", False),
        ("work", "word", True),
        ("web_sxyrch", "web_search", False),
        ("team_xork", "team_work", True),
        ("to_go", "to_gi", True),
    ],
)
def test_slips(name: str, known: str, meant: bool) -> None:
    """One letter left out, doubled, swapped or replaced; not a digit, and not a word of one letter."""
    assert slip_of(name, [known]) == (known if meant else None)


@given(st.text(max_size=12), st.text(max_size=12))
def test_slips_of_any_text(one: str, other: str) -> None:
    """Whatever two names are, the answer is one of them or none, and the same in both directions."""
    assert bool(slip_of(one, [other])) == bool(slip_of(other, [one]))


@pytest.mark.parametrize(
    ("name", "other", "twins"),
    [
        ("set_reminder", "get_reminder", True),
        ("list_items", "list_item", True),
        ("items-list", "item_list", True),
        ("web-search", "web_search", False),
        ("Web_Search", "web_search", False),
        ("lend_money", "Send_Money", True),
        ("web_serch", "web_search", False),
        ("websearch", "web_search", False),
        ("et_reminder", "get_reminder", False),
        ("mute", "mote", True),
        ("mute", "muet", False),
        ("mute_chat", "mote_chat", True),
        ("web_qearch", "web_search", False),
    ],
)
def test_twins(name: str, other: str, twins: bool) -> None:
    """Another letter of a short word, or an `s` at the end of any; not a letter left out, or two swapped."""
    assert may_be_twins(name, other) is may_be_twins(other, name) is twins


@pytest.mark.parametrize(
    ("parts", "pointer"),
    [
        (one("must_not_call_tool", tools=["web_fetch", "set_it"]), "/assertions/0/params/tools/1"),
        (one("max_tool_calls", tool="set_it", max=0), "/assertions/0/params/tool"),
        (
            one("ask_clarifying_when_ambiguous", forbidden_tools=["set_it"]),
            "/assertions/0/params/forbidden_tools/0",
        ),
        (
            one(
                "stop_after_success", success_event={"tool": "get_it"}, forbid_following=[{"tool": "set_it"}]
            ),
            "/assertions/0/params/forbid_following/0/tool",
        ),
        (one("no_duplicate_tool_calls", ignore_tools=["set_it"]), "/assertions/0/params/ignore_tools/0"),
        ({"tools": {"available": ["get_it"], "policy": {"deny": ["set_it"]}}}, "/tools/policy/deny/0"),
        ({"tools": {"available": ["get_it"], "policy": {"allow": ["set_it"]}}}, "/tools/policy/allow/0"),
        (
            {"tools": {"available": ["get_it"], "policy": {"max_calls": {"set_it": 1}}}},
            "/tools/policy/max_calls/set_it",
        ),
    ],
)
def test_a_twin_that_the_agent_need_not_have_is_a_warning(
    tmp_path: Path, parts: dict[str, Any], pointer: str
) -> None:
    """What is forbidden or passed over may be another tool; where it is misspelt, the warning tells it, at its place."""
    every = problems(tmp_path, **{"tools": {"available": ["get_it"]}, **parts})
    (found,) = (each for each in every if each.reason_code == "spec.unknown_tool")
    assert (found.pointer, found.hint, found.severity) == (pointer, "did you mean 'get_it'?", "warning")
    assert found.message == "the tool 'set_it' is not in tools.available"
    assert (
        found.next_step
        == "correct it, or add it to tools.available if the agent has that tool; of a tool that the agent must not even have, write the name as a glob: set_i[t]"
    )
    assert found.line is not None


@pytest.mark.parametrize(
    "parts",
    [one("must_call_tool", tool="set_it"), one("claims_supported_by_fixtures", allowed_sources=["set_it"])],
)
def test_a_twin_that_the_agent_is_to_call_is_an_error(tmp_path: Path, parts: dict[str, Any]) -> None:
    """What the agent is to call, it has."""
    (found,) = problems(tmp_path, **{"tools": {"available": ["get_it"]}, **parts})
    assert (found.reason_code, found.severity) == ("spec.unknown_tool", "error")


TOOLS = [
    (one("must_call_tool", tool="web_serch"), "/assertions/0/params/tool"),
    (one("must_not_call_tool", tools=["web_fetch", "web_serch"]), "/assertions/0/params/tools/1"),
    (
        one(
            "tool_call_order",
            before={"tool": "web_serch"},
            after={"event_type": "tool_call", "tool": "outbound_send"},
        ),
        "/assertions/0/params/before/tool",
    ),
    (
        one(
            "stop_after_success",
            success_event={"tool": "outbound_send"},
            allowed_following_tools=["web_serch"],
        ),
        "/assertions/0/params/allowed_following_tools/0",
    ),
    (
        one("claims_supported_by_fixtures", allowed_sources=["web_serch"]),
        "/assertions/0/params/allowed_sources/0",
    ),
    (
        one("ask_clarifying_when_ambiguous", forbidden_tools=["web_serch"]),
        "/assertions/0/params/forbidden_tools/0",
    ),
    (
        {
            "tools": {
                "available": AVAILABLE,
                "fixtures": [
                    {"id": "e", "tool": "web_search", "response": 1},
                    {"id": "f", "tool": "web_serch", "response": 1},
                ],
            }
        },
        "/tools/fixtures/1/tool",
    ),
    ({"tools": {"available": AVAILABLE, "policy": {"deny": ["web_serch"]}}}, "/tools/policy/deny/0"),
    ({"tools": {"available": AVAILABLE, "policy": {"allow": ["web_serch"]}}}, "/tools/policy/allow/0"),
    (
        {"tools": {"available": AVAILABLE, "policy": {"max_calls": {"web_serch": 1}}}},
        "/tools/policy/max_calls/web_serch",
    ),
]


@pytest.mark.parametrize(("parts", "pointer"), TOOLS, ids=[pointer for _, pointer in TOOLS])
def test_a_misspelt_tool_is_an_error_wherever_it_stands(
    tmp_path: Path, parts: dict[str, Any], pointer: str
) -> None:
    """In parameters, fixtures and policy, at its place, with the tool that is meant."""
    found = problems(tmp_path, **{"tools": {"available": AVAILABLE}, **parts})
    assert told(found) == [("spec.unknown_tool", pointer, "did you mean 'web_search'?")]
    assert found[0].message == "the tool 'web_serch' is not in tools.available"
    assert (
        found[0].next_step
        == "correct it, or add it to tools.available if the agent has that tool; of a tool that the agent must not even have, write the name as a glob: web_serc[h]"
    )
    assert found[0].line is not None


@pytest.mark.parametrize(
    "parts",
    [
        one("must_not_call_tool", tool="web_fetch"),
        one("must_not_call_tool", tool="rm"),
        one("must_not_call_tool", tool="web_serc[h]"),
        one("must_not_call_tool", tool="web_serc*"),
        one("must_not_call_tool", tool="web_searc?"),
        {
            **one("must_not_call_tool", tool="github_serch"),
            "tools": {"available": ["github_*", "github_search"]},
        },
        {
            **one("must_call_tool", tool="web_serch"),
            "tools": {"available": ["other"], "fixtures": [{"id": "f", "tool": "web_serch", "response": 1}]},
        },
        {**one("scheduler_outbound_count", exact=1), "tools": {"available": ["outbound_sent"]}},
    ],
    ids=["other", "short", "bracket", "glob", "one-sign", "available-glob", "of-a-fixture", "default"],
)
def test_a_tool_that_the_agent_does_not_have_may_be_named(tmp_path: Path, parts: dict[str, Any]) -> None:
    """A tool that is no slip of an available one, a glob, and what is not written in the file."""
    assert problems(tmp_path, **{"tools": {"available": AVAILABLE}, **parts}) == []


OTHERS = [{"group_id": "work", "memory_snapshot": [{"group_id": "work", "content": "The Falcon"}]}]


@pytest.mark.parametrize(
    ("scenario", "parts", "pointer", "meant"),
    [
        (
            {},
            one("memory_recall_same_group", expected_memory_fact="x", group_id="famly"),
            "/assertions/0/params/group_id",
            "family",
        ),
        (
            {"other_group_state": OTHERS},
            one("no_cross_group_memory_use", current_group_id="famliy"),
            "/assertions/0/params/current_group_id",
            "family",
        ),
        (
            {"other_group_state": OTHERS},
            one("no_cross_group_memory_use", forbidden_group_ids=["wrok"]),
            "/assertions/0/params/forbidden_group_ids/0",
            "work",
        ),
        (
            {"memory_snapshot": [{"group_id": "famiily", "content": "x"}]},
            {},
            "/scenario/memory_snapshot/0/group_id",
            "family",
        ),
        (
            {
                "other_group_state": [
                    {"group_id": "work", "memory_snapshot": [{"group_id": "wrk", "content": "x"}]}
                ]
            },
            {},
            "/scenario/other_group_state/0/memory_snapshot/0/group_id",
            "work",
        ),
        (
            {"other_group_state": {"work": {"memory": [{"group_id": "wrk", "content": "x"}]}}},
            {},
            "/scenario/other_group_state/work/memory/0/group_id",
            "work",
        ),
    ],
)
def test_a_misspelt_group_is_an_error(
    tmp_path: Path, scenario: dict[str, Any], parts: dict[str, Any], pointer: str, meant: str
) -> None:
    """A group that is a slip of one that the scenario tells of, in parameters and in memory."""
    found = problems(tmp_path, scenario={**SCENARIO, **scenario}, **parts)
    assert told(found) == [("spec.unknown_group", pointer, f"did you mean {meant!r}?")]


@pytest.mark.parametrize("groups", [["work"], ["work", "ops"], ["team-a", "team-b"], ["house"]], ids=" ".join)
def test_other_groups_may_be_named(tmp_path: Path, groups: list[str]) -> None:
    """A group need not be described to be forbidden."""
    scenario = {**SCENARIO, "other_group_state": {"work": "x", "team-c": "y"}}
    assert (
        problems(tmp_path, scenario=scenario, **one("no_cross_group_memory_use", forbidden_group_ids=groups))
        == []
    )


@pytest.mark.parametrize(
    "scenario",
    [
        {"memory_snapshot": [{"group_id": "family", "content": "famly"}]},
        {"memory_snapshot": {"group_id": 7}},
        {"other_group_state": {"work": {"chats": [{"group_id": "famly"}]}}},
    ],
    ids=["content", "number", "elsewhere"],
)
def test_what_names_no_group(tmp_path: Path, scenario: dict[str, Any]) -> None:
    """Only a text under `group_id`, in memory, is the id of a group."""
    assert problems(tmp_path, scenario={**SCENARIO, **scenario}) == []


def test_names_of_one_kind_are_no_slips_of_another(tmp_path: Path) -> None:
    """Tools, groups and tasks are each compared with their own kind alone."""
    scenario = {**SCENARIO, "trigger": "scheduler", "scheduler_context": {"task_id": "famoly"}}
    params = [
        ("must_call_tool", {"tool": "familly"}),
        ("no_cross_group_memory_use", {"current_group_id": "family", "forbidden_group_ids": ["work"]}),
        ("scheduler_task_runs", {"task_id": "famoly"}),
    ]
    assertions = [{"id": kind, "type": kind, "params": given} for kind, given in params]
    tools = {"available": ["familly"]}
    assert problems(tmp_path, scenario=scenario, tools=tools, assertions=assertions) == []


def test_a_task_that_has_no_name_is_no_slip(tmp_path: Path) -> None:
    """A scheduler context may number its tasks."""
    scenario = {**SCENARIO, "trigger": "scheduler", "scheduler_context": {"task_id": 7}}
    assert problems(tmp_path, scenario=scenario, **one("scheduler_task_runs", task_id="daily-digest")) == []


def test_what_is_allowed_is_told(tmp_path: Path) -> None:
    """The names that the file knows, and what to do with a group that it does not know; a key is shown as one."""
    tools = {"available": AVAILABLE, "policy": {"max_calls": {"web_serch": 1}}}
    params = {"expected_memory_fact": "x", "group_id": "famly"}
    found = problems(tmp_path, tools=tools, **one("memory_recall_same_group", **params))
    text = (tmp_path / "test.yaml").read_text(encoding="utf-8").split("\n")
    assert [(each.line, each.column, each.allowed) for each in found] == [
        (1 + text.index("      web_serch: 1"), 7, AVAILABLE),
        (1 + text.index("    group_id: famly"), 15, ["family"]),
    ]
    assert found[1].next_step == (
        "correct it; if that is really the group's name, add it to scenario.other_group_state"
    )


def test_a_group_described_is_no_slip(tmp_path: Path) -> None:
    """Two groups with much the same name are two groups, once the scenario tells of both."""
    scenario = {**SCENARIO, "other_group_state": {"famly": "x"}}
    params = {"current_group_id": "family", "forbidden_group_ids": ["famly"]}
    assert problems(tmp_path, scenario=scenario, **one("no_cross_group_memory_use", **params)) == []


def test_a_misspelt_task_is_an_error(tmp_path: Path) -> None:
    """The task of an assertion is that of the scheduler context, or clearly another one."""
    scenario = {**SCENARIO, "trigger": "scheduler", "scheduler_context": {"task_id": "daily-digest"}}
    found = problems(tmp_path, scenario=scenario, **one("scheduler_task_runs", task_id="daily-digset"))
    assert told(found) == [
        ("spec.unknown_task", "/assertions/0/params/task_id", "did you mean 'daily-digest'?")
    ]
    assert found[0].allowed == ["daily-digest"]
    assert problems(tmp_path, scenario=scenario, **one("scheduler_task_runs", task_id="weekly-report")) == []


def test_an_expected_failure_names_an_assertion_of_the_file(tmp_path: Path) -> None:
    """An id that the file does not have could never fail."""
    expected = {"status": "fail", "assertions": ["a", "searchs"], "reason": "x"}
    searches = {"id": "searches", "type": "must_call_tool", "params": {"tool": "web_search"}}
    found = problems(tmp_path, assertions=[{**searches, "id": "a"}, searches], expected=expected)
    assert told(found) == [
        ("spec.unknown_assertion_id", "/expected/assertions/1", "did you mean 'searches'?")
    ]
    assert found[0].message == "no assertion of the test has the id 'searchs'"
    assert found[0].allowed == ["a", "searches"]


def run_of(tmp_path: Path, *steps: Step, **overrides: Any) -> Outcome:
    """What becomes of a test of the given parts on a trace of these steps."""
    path = tmp_path / "test.yaml"
    path.write_text(yaml.safe_dump(make_spec(**overrides), sort_keys=False), encoding="utf-8")
    return run_one(load_test(path), make_trace(*steps))


def recorded(tool: str, name: str) -> Step:
    """A call of a tool that the runtime calls otherwise."""
    step = call(tool)
    step.data["recorded_tool"] = name
    return step


SEND = recorded("outbound_send", "mcp__nanoclaw__send_message")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("mcp__nanoclaw__send_mesage", "mcp__nanoclaw__send_message"),
        ("mcp_nanoclaw_send_message", "mcp__nanoclaw__send_message"),
        ("send-message", "send_message"),
        ("sendMessage", "send_message"),
        ("SEND_MESSAGE", "send_message"),
        ("Web_Search", "web_search"),
        ("mcp__nanclaw__*", "mcp__nanoclaw__*"),
        ("mcp__Nanoclaw__*", "mcp__nanoclaw__*"),
        ("mcp_nanoclaw_*", "mcp__nanoclaw*"),
        ("*_mesage", "*_message"),
        ("web_serc?", "web_searc?"),
        ("Web*search", "web_search"),
        ("send_messag[e]", None),
        ("send_message", None),
        ("send_*", None),
        ("mcp__*__send_message", None),
        ("outbound_*", None),
        ("mcp__github__*", None),
        ("web_fetch", None),
        ("web_*", None),
        ("Send*", "send*"),
    ],
)
@pytest.mark.parametrize("kind", ["must_not_call_tool", "must_call_tool"])
def test_a_name_that_only_the_run_knows_is_held_to_it(
    tmp_path: Path, kind: str, name: str, meant: str | None
) -> None:
    """A name, or a glob, that fits no tool of the test or of the run, and is a slip of one, is an error: it would judge nothing."""
    assertions = [{"id": "a", "type": kind, "params": {"tool": name}}]
    outcome = run_of(tmp_path, SEND, assertions=assertions, tools={"available": ["web_search"]})
    result = outcome.result
    if meant is None:
        assert result.status != "error"
        return
    assert (result.status, result.reason_code, result.assertions) == ("error", "spec.unknown_tool", [])
    assert result.error is not None
    head, *_ = result.error.message.split("\n")
    assert head.endswith(
        f"error[spec.unknown_tool]: neither tools.available nor the recording has a tool {name!r}"
    )
    assert f"did you mean {meant!r}?" in result.error.message


@pytest.mark.parametrize("name", ["WebSearch", "web_search", "mcp__nanoclaw__send_message", "send_message"])
def test_a_recorded_name_is_a_name(tmp_path: Path, name: str) -> None:
    """A name of the runtime is no misspelling of the canonical one."""
    steps = (recorded("web_search", "WebSearch"), SEND)
    outcome = run_of(
        tmp_path,
        *steps,
        assertions=[{"id": "a", "type": "must_call_tool", "params": {"tool": name}}],
        tools={"available": ["web_search", "outbound_send"]},
    )
    assert outcome.result.status == "pass"


def test_a_twin_of_a_tool_of_the_run_is_a_warning(tmp_path: Path) -> None:
    """What is forbidden may be another tool; one that was told when the file was read is not told again."""
    forbidden = one("must_not_call_tool", tools=["set_reminder", "set_*"])
    tools = {"available": ["web_search"]}
    outcome = run_of(tmp_path, call("get_reminder"), tools=tools, **forbidden)
    assert outcome.result.status == "pass"
    told = [each for each in outcome.result.warnings if "set_" in each]
    assert told[0] == (
        "neither tools.available nor the recording has a tool 'set_reminder', did you mean 'get_reminder'? "
        "correct it, or add it to tools.available if the agent has that tool; "
        "of a tool that the agent must not even have, write the name as a glob: set_reminde[r]"
    )
    assert [each.partition("? ")[0] for each in told[1:]] == [
        "neither tools.available nor the recording has a tool 'set_*', did you mean 'get_*'"
    ]
    tools = {"available": ["get_reminder"]}
    outcome = run_of(
        tmp_path, call("get_reminder"), tools=tools, **one("must_not_call_tool", tool="set_reminder")
    )
    assert len([each for each in outcome.result.warnings if "set_" in each]) == 1


@pytest.mark.parametrize(
    ("name", "meant"),
    [("explorer", "Explorer"), ("Explorr", "Explorer"), ("g-1", None), ("main", None), ("*", None)],
)
def test_an_agent_that_the_run_does_not_have(tmp_path: Path, name: str, meant: str | None) -> None:
    """A selector of an agent that is misspelt would never match."""
    start = call("agent", "c1", subagent_type="Explorer")
    inner = call("web_search", "c2")
    inner.data["parent_call_id"], inner.extra = "c1", {"agent_id": "g1"}
    order = one("tool_call_order", before={"agent": name}, after={"event_type": "final_output"})
    result = run_of(tmp_path, start, inner, **order).result
    assert (result.reason_code == "spec.unknown_agent") is (meant is not None)
    if meant and result.error:
        assert f"the recording has no agent {name!r}" in result.error.message
        assert f"did you mean {meant!r}?" in result.error.message


@given(
    st.text(alphabet="ab_*?[]-", max_size=10), st.lists(st.text(alphabet="ab_-[", max_size=10), max_size=3)
)
def test_globs_of_any_text(glob: str, known: list[str]) -> None:
    """A glob that is meant matches one of the names."""
    meant = glob_slip_of(glob, known)
    assert meant is None or any(name_matches(meant, name) for name in known)


@pytest.mark.parametrize(
    ("match", "place"),
    [
        ({"args_contains": {"comand": "push"}}, ("comand",)),
        ({"required_keys": ["command", "Command"]}, ()),
        ({"regex": {"command.x": "push"}}, None),
        ({"args_equal": {"command": "x"}}, None),
        ({"args_equal": {"nested.deep": 1}}, None),
        ({"args_equal": {"cwd": "/"}}, None),
        ({"json_schema": {"required": ["comand"]}}, None),
    ],
)
@pytest.mark.parametrize("kind", ["must_not_call_tool", "stop_after_success"])
def test_a_forbidden_argument_that_is_misspelt_is_an_error(
    tmp_path: Path, kind: str, match: dict[str, Any], place: tuple[str, ...] | None
) -> None:
    """It would forbid nothing. What is required fails in the run, and needs no such rule."""
    forbidden = {"tool": "bash", "args": match}
    params = forbidden
    if kind == "stop_after_success":
        params = {
            "success_event": {"tool": "bash"},
            "forbid_following": {"event_type": "tool_call", **forbidden},
        }
    steps = (call("bash", command="git push", nested={"deep": 1}), call("bash", command="ls"))
    outcome = run_of(tmp_path, *steps, tools={"available": ["bash"]}, **one(kind, **params)).result
    assert (outcome.reason_code == "spec.unknown_argument") is (place is not None)
    if place is not None and outcome.error:
        assert "did you mean 'command'?" in outcome.error.message
