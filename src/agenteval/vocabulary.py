"""Names that refer to what a test declares: tools, groups, the scheduled task, assertions.

An undeclared name may be right: a tool that the agent must not have, a group that must not leak. But one that
differs from a declared name by a typing slip is refused as a misspelling: a check for a tool that does not exist
would pass for ever. A tool that the agent need not have may be the twin of a declared one, as `set_reminder` is of
`get_reminder`: there it is a warning. The scenario's own group is refused where the groups whose memory is
forbidden are named.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from agenteval.assertions.base import Assertion
from agenteval.assertions.looks import AGENTS, EXEMPT, GROUPS, LOOKED_AT, TASKS, names_in
from agenteval.findings import DataPath
from agenteval.json_values import MISSING, lookup
from agenteval.misspelling import closest, glob_slip_of, may_be_twins, same_but_for_separators, slip_of
from agenteval.patterns import is_glob, name_matches
from agenteval.reading.faults import Fault
from agenteval.selectors import ArgsMatch, agents_of, is_named
from agenteval.spec import TestCase, other_groups
from agenteval.trace import Trace, tool_names


def misspelt_names(case: TestCase, checks: Sequence[tuple[int, Assertion]]) -> Iterator[Fault]:
    """The faults of a test whose parts are each valid; `checks` come with their index in the file."""
    named = _named(case, checks)
    yield from _tools(case, _of_tools(case, named))
    yield from _groups(case, [each for each in named if each[1] in GROUPS])
    yield from _own_group(case, checks)
    yield from _tasks(case, [each for each in named if each[1] in TASKS])
    yield from _assertions(case)


def misspelt_in_run(case: TestCase, checks: Sequence[tuple[int, Assertion]], trace: Trace) -> Iterator[Fault]:
    """The faults that only a run shows: names that neither the test nor the run has, though one of them has a name like it."""
    named = _named(case, checks)
    yield from _tools_in_run(case, _of_tools(case, named), trace)
    yield from _forbidden_arguments(case, checks, trace)
    of_agents = [(path, name) for path, where, name in named if where in AGENTS]
    agents = (
        dict.fromkeys(name for event in trace.events for name in agents_of(event, trace)) if of_agents else {}
    )
    for path, name in of_agents:
        fits = any(name_matches(name, agent) for agent in agents)
        if not fits and (meant := _slip(name, agents)):
            yield Fault(
                code="spec.unknown_agent",
                message=f"the recording has no agent {name!r}",
                data_path=path,
                suggestion=meant,
                allowed=list(agents),
                next_step=f"correct it; if that is really the agent's name, write it as a glob: {_in_brackets(name)}",
            )


def _forbidden_arguments(
    case: TestCase, checks: Sequence[tuple[int, Assertion]], trace: Trace
) -> Iterator[Fault]:
    """Arguments of what is forbidden that no call has, though one has an argument like it: nothing would ever be forbidden."""
    selectors: list[tuple[int, DataPath, Any]] = [
        (index, ("args",), check) for index, check in checks if check.type in _LIMITING
    ]
    selectors += [
        (index, ("forbid_following", number, "args"), each)
        for index, check in checks
        for number, each in enumerate(getattr(check, "forbid_following", ()))
    ]
    every: list[dict[str, Any]] | None = None
    for index, path, holder in selectors:
        match = getattr(holder, "args", None)
        params = case.assertions[index].params
        if not isinstance(match, ArgsMatch) or path[0] not in params:
            continue
        every = [call.args for call in trace.calls()] if every is None else every
        for place, key in match.named():
            known = {name: None for args in every for name in args}
            if all(lookup(args, key) is MISSING for args in every) and (meant := slip_of(key, known)):
                yield Fault(
                    code="spec.unknown_argument",
                    message=f"no call of the recording has the argument {key!r}",
                    data_path=("assertions", index, "params", *_in_file((*path, *place), params)),
                    at_key=isinstance(place[-1], str),
                    suggestion=meant,
                    next_step="correct it; an argument that calls may have all the same can stand in json_schema",
                )


Named = tuple[DataPath, str, str]
"""The path to a name, the parameter it stands in, and the name."""


def _named(case: TestCase, checks: Sequence[tuple[int, Assertion]]) -> list[Named]:
    """What the parameters name that stand in the file, where they do."""
    return [
        (("assertions", index, "params", *_in_file(path, params)), parameter, name)
        for index, check in checks
        for path, parameter, name in names_in(check)
        if path[0] in (params := case.assertions[index].params)
    ]


def _in_file(path: DataPath, data: Any) -> Iterator[str | int]:
    """The steps to a part of a parameter in the file, where a mapping may stand for a list of one."""
    for step in path:
        if not (isinstance(step, int) and isinstance(data, dict)):
            yield step
            data = data[step]


_LIMITING = ("must_not_call_tool", "max_tool_calls")
"""The types of assertion that pass when the tool they name is not called."""


def _need_not_be_had(case: TestCase, path: DataPath) -> bool:
    """Whether the tool at a path is forbidden, limited, passed over, or of a policy, so that the agent need not have it."""
    if path[0] == "tools":
        return path[1] == "policy"
    limits = case.assertions[int(path[1])].type in _LIMITING
    return limits or any(step in EXEMPT or str(step).startswith("forbid") for step in path[3:])


Place = tuple[DataPath, str, bool]
"""The path to the name of a tool, the name, and whether it stands there as a key."""


def _of_tools(case: TestCase, named: Sequence[Named]) -> list[Place]:
    """Where a test names tools: in parameters, fixtures and the policy."""
    places = [(path, name, False) for path, where, name in named if where in LOOKED_AT or where in EXEMPT]
    for index, fixture in enumerate(case.tools.fixtures):
        places.append((("tools", "fixtures", index, "tool"), fixture.tool, False))
    if policy := case.tools.policy:
        for key in ("allow", "deny"):
            items = getattr(policy, key) or ()
            places += [(("tools", "policy", key, index), name, False) for index, name in enumerate(items)]
        if isinstance(policy.max_calls, dict):
            places += [(("tools", "policy", "max_calls", name), name, True) for name in policy.max_calls]
    return places


def _tools(case: TestCase, named: Sequence[Place]) -> Iterator[Fault]:
    available = case.tools.available
    answering = {fixture.tool for fixture in case.tools.fixtures}
    for path, name, at_key in named:
        if is_glob(name) or _is_available(name, case) or (name in answering and path[0] != "tools"):
            continue
        meant = slip_of(name, available)
        if meant and not _may_be_recorded(name, meant):
            message = f"the tool {name!r} is not in tools.available"
            yield _unknown_tool(case, (path, name, at_key), message, meant, available)


def _tools_in_run(case: TestCase, named: Sequence[Place], trace: Trace) -> Iterator[Fault]:
    """Names that mean no tool of `tools.available` or of the run; what `_tools` has told is not told again."""
    available = case.tools.available
    had = [*map(tool_names, available), *sorted(trace.tools)]
    known = [*dict.fromkeys(name for names in had for name in names)]
    for path, name, at_key in named:
        if path[:2] == ("tools", "fixtures") or _is_available(name, case) or is_named(name, known):
            continue
        told = None if is_glob(name) else slip_of(name, available)
        if (told is None or _may_be_recorded(name, told)) and (meant := _slip(name, known)):
            message = f"neither tools.available nor the recording has a tool {name!r}"
            yield _unknown_tool(case, (path, name, at_key), message, meant, known)


def _is_available(name: str, case: TestCase) -> bool:
    return any(name in tool_names(tool) or name_matches(tool, name) for tool in case.tools.available)


def _may_be_recorded(name: str, meant: str) -> bool:
    """Whether a name may be what the runtime calls the tool that is meant, as `WebSearch` for `web_search`: the run tells."""
    return name != name.lower() and same_but_for_separators(name, meant)


def _slip(name: str, known: Collection[str]) -> str | None:
    return glob_slip_of(name, known) if is_glob(name) else slip_of(name, known)


def _unknown_tool(case: TestCase, place: Place, message: str, meant: str, allowed: Sequence[str]) -> Fault:
    path, name, at_key = place
    step = (
        f"correct it; if it is really meant, put a letter in brackets: {_in_brackets(name)}"
        if is_glob(name)
        else "correct it, or add it to tools.available if the agent has that tool; "
        f"of a tool that the agent must not even have, write the name as a glob: {_in_brackets(name)}"
    )
    return Fault(
        code="spec.unknown_tool",
        message=message,
        data_path=path,
        at_key=at_key,
        suggestion=meant,
        allowed=allowed,
        next_step=step,
        severity="warning" if _need_not_be_had(case, path) and may_be_twins(name, meant) else "error",
    )


def _in_brackets(name: str) -> str:
    """A name, or a glob, that is meant as it is written: its last letter is in brackets."""
    at = max((place for place, sign in enumerate(name) if sign.isalnum()), default=len(name) - 1)
    return f"{name[:at]}[{name[at]}]{name[at + 1 :]}"


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
