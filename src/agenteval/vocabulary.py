"""Names that refer to what a test declares: tools, groups, the scheduled task, assertions.

An undeclared name may be right: a tool that the agent must not have, a group that must not leak. But one that
differs from a declared name by a typing slip is refused as a misspelling: a check for a tool that does not exist
would pass for ever. A tool that the agent need not have may be the twin of a declared one, as `set_reminder` is of
`get_reminder`: there it is a warning. The scenario's own group is refused where the groups whose memory is
forbidden are named.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from agenteval.assertions.base import Assertion
from agenteval.assertions.looks import EXEMPT, GROUPS, LOOKED_AT, TASKS, names_in
from agenteval.findings import DataPath
from agenteval.misspelling import closest, may_be_twins, slip_of
from agenteval.patterns import is_glob, name_matches
from agenteval.reading.faults import Fault
from agenteval.spec import TestCase, other_groups


def misspelt_names(case: TestCase, checks: Sequence[tuple[int, Assertion]]) -> Iterator[Fault]:
    """The faults of a test whose parts are each valid; `checks` come with their index in the file."""
    named = [
        (("assertions", index, "params", *path), parameter, name)
        for index, check in checks
        for path, parameter, name in names_in(check)
        if path[0] in case.assertions[index].params
    ]
    yield from _tools(case, [each for each in named if each[1] in LOOKED_AT or each[1] in EXEMPT])
    yield from _groups(case, [each for each in named if each[1] in GROUPS])
    yield from _own_group(case, checks)
    yield from _tasks(case, [each for each in named if each[1] in TASKS])
    yield from _assertions(case)


Named = tuple[DataPath, str, str]
"""The path to a name, the parameter it stands in, and the name."""


_LIMITING = ("must_not_call_tool", "max_tool_calls")
"""The types of assertion that pass when the tool they name is not called."""


def _need_not_be_had(case: TestCase, path: DataPath) -> bool:
    """Whether the tool at a path is forbidden, limited, passed over, or of a policy, so that the agent need not have it."""
    if path[0] == "tools":
        return path[1] == "policy"
    limits = case.assertions[int(path[1])].type in _LIMITING
    return limits or any(step in EXEMPT or str(step).startswith("forbid") for step in path[3:])


def _tools(case: TestCase, named: Sequence[Named]) -> Iterator[Fault]:
    available = case.tools.available
    known = {*available, *(fixture.tool for fixture in case.tools.fixtures)}
    given = [(path, name, False) for path, _, name in named if name not in known]
    for index, fixture in enumerate(case.tools.fixtures):
        given.append((("tools", "fixtures", index, "tool"), fixture.tool, False))
    if policy := case.tools.policy:
        for key in ("allow", "deny"):
            items = getattr(policy, key) or ()
            given += [(("tools", "policy", key, index), name, False) for index, name in enumerate(items)]
        if isinstance(policy.max_calls, dict):
            given += [(("tools", "policy", "max_calls", name), name, True) for name in policy.max_calls]
    for path, name, at_key in given:
        if is_glob(name) or any(name_matches(tool, name) for tool in available):
            continue
        if meant := slip_of(name, available):
            yield Fault(
                code="spec.unknown_tool",
                message=f"the tool {name!r} is not in tools.available",
                data_path=path,
                at_key=at_key,
                suggestion=meant,
                allowed=available,
                next_step="correct it, or add it to tools.available if the agent has that tool; "
                f"of a tool that the agent must not even have, write the name as a glob: {name[:-1]}[{name[-1]}]",
                severity="warning" if _need_not_be_had(case, path) and may_be_twins(name, meant) else "error",
            )


def _groups(case: TestCase, named: Sequence[Named]) -> Iterator[Fault]:
    scenario = case.scenario
    known = dict.fromkeys([scenario.group_id, *other_groups(scenario)])
    given = [(path, name) for path, _, name in named]
    given += _group_ids(scenario.memory_snapshot, ("scenario", "memory_snapshot"))
    given += [
        (path, name)
        for path, name in _group_ids(scenario.other_group_state, ("scenario", "other_group_state"))
        if "memory_snapshot" in path or "memory" in path
    ]
    for path, name in given:
        if name not in known and (meant := slip_of(name, known)):
            yield Fault(
                code="spec.unknown_group",
                message=f"the scenario has no group {name!r}",
                data_path=path,
                suggestion=meant,
                allowed=list(known),
                next_step="correct it; if that is really the group's name, add it to scenario.other_group_state",
            )


def _own_group(case: TestCase, checks: Sequence[tuple[int, Assertion]]) -> Iterator[Fault]:
    """The scenario's group among forbidden ones, where no `current_group_id` takes its place."""
    own = case.scenario.group_id
    for index, check in checks:
        forbidden = getattr(check, "forbidden_group_ids", None) or []
        if own in forbidden and getattr(check, "current_group_id", own) is None:
            yield Fault(
                code="spec.wrong_parameter",
                message=f"the scenario's group {own!r} is among forbidden_group_ids: a group may use its own memory",
                data_path=("assertions", index, "params", "forbidden_group_ids", forbidden.index(own)),
                next_step="remove it, or name the group that the agent acts for in current_group_id",
            )


def _group_ids(state: Any, path: DataPath) -> Iterator[tuple[DataPath, str]]:
    """The group ids in memory, however it is arranged."""
    if isinstance(state, dict):
        for key, value in state.items():
            if key == "group_id" and isinstance(value, str):
                yield (*path, key), value
            else:
                yield from _group_ids(value, (*path, key))
    elif isinstance(state, list):
        for index, value in enumerate(state):
            yield from _group_ids(value, (*path, index))


def _tasks(case: TestCase, named: Sequence[Named]) -> Iterator[Fault]:
    scheduled = (case.scenario.scheduler_context or {}).get("task_id")
    for path, _, name in named:
        if isinstance(scheduled, str) and slip_of(name, [scheduled]):
            yield Fault(
                code="spec.unknown_task",
                message=f"the task {name!r} is not the one in scenario.scheduler_context",
                data_path=path,
                suggestion=scheduled,
                allowed=[scheduled],
            )


def _assertions(case: TestCase) -> Iterator[Fault]:
    if case.expected is None:
        return
    ids = [spec.id for spec in case.assertions]
    for index, name in enumerate(case.expected.assertions):
        if name not in ids:
            yield Fault(
                code="spec.unknown_assertion_id",
                message=f"no assertion of the test has the id {name!r}",
                data_path=("expected", "assertions", index),
                suggestion=closest(name, ids),
                allowed=ids,
            )
