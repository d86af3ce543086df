"""Compares the parts of a valid test: names with their declarations, and checks that judge nothing.

An undeclared name may be right: a tool that the agent must not have, a group that must not leak. But one that
differs from a declared name by a typing slip is refused as a misspelling: a check for a tool that does not exist
would pass for ever. A tool that the agent need not have may be the twin of a declared one, as `set_reminder` is of
`get_reminder`: there it is a warning.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from agenteval.assertions.base import AGENTS, EXEMPT, GROUPS, TASKS, TOOL_PARAMETERS, Assertion, names_in
from agenteval.contracts.json_values import MISSING, lookup
from agenteval.contracts.models import DataPath
from agenteval.contracts.testcase import TestCase, ToolPolicy, other_groups
from agenteval.contracts.trace import Trace, tool_names
from agenteval.matching.patterns import shown
from agenteval.matching.selectors import ArgsMatch, agents_of, is_named
from agenteval.reading.places import Fault
from agenteval.text.lazy_regexes import lazy
from agenteval.text.names import (
    closest,
    glob_slip_of,
    is_glob,
    may_be_twins,
    name_matches,
    same_but_for_separators,
    slip_of,
)

Checks = Sequence[tuple[int, Assertion]]
"""The checks of a test, each with its index in the file."""
Named = tuple[DataPath, str, str]
"""The path to a name, the parameter it stands in, and the name."""
Place = tuple[DataPath, str, bool]
"""The path to the name of a tool, the name, and whether it stands there as a key."""

_LIMITING = ("must_not_call_tool", "max_tool_calls")
"""The types of assertion that pass when the tool they name is not called."""
JUDGES_POLICY = "tools_within_policy"
"""The type of assertion that judges `tools.policy`."""
FEWEST_PARTS = 3
"""The fewest parts of an id, which names the adapter, the behaviour and the expectation."""
_VALUES = frozenset({"const", "enum", "default", "examples"})
"""Keywords of a JSON Schema that hold values, not schemas."""
_SIGNS = lazy(r"\\[bdsw](?![a-z])|\.[*+]")
"""Signs of regular expressions that phrases hardly ever have: `\\b`, `\\d+`, `.*`; not `C:\\docs`."""


def misspelt_names(case: TestCase, checks: Checks) -> Iterator[Fault]:
    """The faults of a test whose parts are each valid."""
    named, scenario = _named(case, checks), case.scenario
    yield from _tools(case, _tool_places(case, named))
    groups = [(path, name) for path, where, name in named if where in GROUPS]
    groups += _group_ids(scenario.memory_snapshot, ("scenario", "memory_snapshot"))
    groups += [
        (path, name)
        for path, name in _group_ids(scenario.other_group_state, ("scenario", "other_group_state"))
        if "memory_snapshot" in path or "memory" in path
    ]
    yield from _slips(
        groups,
        dict.fromkeys([scenario.group_id, *other_groups(scenario)]),
        ("spec.unknown_group", "the scenario has no group {!r}"),
        "correct it; if that is really the group's name, add it to scenario.other_group_state",
    )
    scheduled = (scenario.scheduler_context or {}).get("task_id")
    yield from _slips(
        [(path, name) for path, where, name in named if where in TASKS],
        [scheduled] if isinstance(scheduled, str) else [],
        ("spec.unknown_task", "the task {!r} is not the one in scenario.scheduler_context"),
    )
    ids = [spec.id for spec in case.assertions]
    for index, name in enumerate(case.expected.assertions if case.expected else ()):
        if name not in ids:
            yield Fault(
                code="spec.unknown_assertion_id",
                message=f"no assertion of the test has the id {name!r}",
                data_path=("expected", "assertions", index),
                suggestion=closest(name, ids),
                allowed=ids,
            )


def misspelt_in_run(case: TestCase, checks: Checks, trace: Trace) -> Iterator[Fault]:
    """The faults that only a run shows: names that neither the test nor the run has, though one of them has a name like it."""
    named = _named(case, checks)
    yield from _tools(case, _tool_places(case, named), trace)
    yield from _forbidden_arguments(case, checks, trace)
    if of_agents := [(path, name) for path, where, name in named if where in AGENTS]:
        agents = dict.fromkeys(name for event in trace.events for name in agents_of(event, trace))
        for path, name in of_agents:
            if not any(name_matches(name, agent) for agent in agents):
                yield from _slips(
                    [(path, name)],
                    agents,
                    ("spec.unknown_agent", "the recording has no agent {!r}"),
                    f"correct it; if that is really the agent's name, write it as a glob: {_in_brackets(name)}",
                    _slip,
                )


def _slips(
    named: Iterable[tuple[DataPath, str]],
    known: Collection[str],
    what: tuple[str, str],
    next_step: str = "",
    slip: Callable[[str, Collection[str]], str | None] = slip_of,
) -> Iterator[Fault]:
    """The faults of names that are slips of known ones; `what` is their reason code and message."""
    for path, name in named:
        if name not in known and (meant := slip(name, known)):
            yield Fault(
                code=what[0],
                message=what[1].format(name),
                data_path=path,
                suggestion=meant,
                allowed=list(known),
                next_step=next_step,
            )


def _slip(name: str, known: Collection[str]) -> str | None:
    return glob_slip_of(name, known) if is_glob(name) else slip_of(name, known)


def _forbidden_arguments(case: TestCase, checks: Checks, trace: Trace) -> Iterator[Fault]:
    """Arguments of what is forbidden that no call has, though one has an argument like it: nothing would ever be forbidden."""
    for index, path, match in _forbidden(case, checks):
        params = case.assertions[index].params
        every = [call.args for call in trace.calls()]
        known = {name: None for args in every for name in args}
        for place, key in match.named():
            if all(lookup(args, key) is MISSING for args in every) and (meant := slip_of(key, known)):
                yield Fault(
                    code="spec.unknown_argument",
                    message=f"no call of the recording has the argument {key!r}",
                    data_path=("assertions", index, "params", *_in_file((*path, *place), params)),
                    at_key=isinstance(place[-1], str),
                    suggestion=meant,
                    next_step="correct it; an argument that calls may have all the same can stand in json_schema",
                )


def _forbidden(case: TestCase, checks: Checks) -> Iterator[tuple[int, DataPath, ArgsMatch]]:
    """List the matches of arguments under which a call is forbidden, each with its assertion and its parameter.

    Only those in the file count: looking at arguments notes which calls lack them.
    """
    for index, check in checks:
        holders: list[tuple[DataPath, Any]] = [(("args",), check)] if check.type in _LIMITING else []
        following = enumerate(getattr(check, "forbid_following", ()))
        holders += [(("forbid_following", number, "args"), each) for number, each in following]
        for path, holder in holders:
            match = getattr(holder, "args", None)
            if isinstance(match, ArgsMatch) and path[0] in case.assertions[index].params:
                yield index, path, match


def _named(case: TestCase, checks: Checks) -> list[Named]:
    """List the names in parameters that stand in the file, each with its place."""
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


def _tool_places(case: TestCase, named: Sequence[Named]) -> list[Place]:
    """List the names of tools in a test: in parameters, fixtures and the policy."""
    places = [
        (path, name, False) for path, where, name in named if where in TOOL_PARAMETERS or where in EXEMPT
    ]
    for index, fixture in enumerate(case.tools.fixtures):
        places.append((("tools", "fixtures", index, "tool"), fixture.tool, False))
    policy = case.tools.policy or ToolPolicy()
    for key, items in (("allow", policy.allow), ("deny", policy.deny)):
        places += [(("tools", "policy", key, index), name, False) for index, name in enumerate(items or ())]
    if isinstance(policy.max_calls, dict):
        places += [(("tools", "policy", "max_calls", name), name, True) for name in policy.max_calls]
    return places


def _tools(case: TestCase, places: Sequence[Place], trace: Trace | None = None) -> Iterator[Fault]:
    """Names that mean no tool of `tools.available`, nor, once there is a trace, of the run.

    What the run calls `WebSearch` may be meant for `web_search`: that is left to the run. It does not repeat what was
    said without it.
    """
    available = case.tools.available
    answering = {fixture.tool for fixture in case.tools.fixtures}
    known = list(available)
    if trace:
        had = [*map(tool_names, available), *sorted(trace.tools)]
        known = [*dict.fromkeys(name for names in had for name in names)]
    where = (
        "neither tools.available nor the recording has a tool {!r}"
        if trace
        else "the tool {!r} is not in tools.available"
    )
    for path, name, at_key in places:
        if any(name in tool_names(tool) or name_matches(tool, name) for tool in available):
            continue
        meant = _meant_tool(name, available)
        if trace:
            # A slip of `tools.available` was an error before the run.
            of_fixture = path[:2] == ("tools", "fixtures")
            meant = None if meant or of_fixture or is_named(name, known) else _slip(name, known)
        elif name in answering and path[0] != "tools":
            meant = None
        if meant:
            yield Fault(
                code="spec.unknown_tool",
                message=where.format(name),
                data_path=path,
                at_key=at_key,
                suggestion=meant,
                allowed=known,
                next_step=_how_to_name(name),
                severity="warning" if _need_not_be_had(case, path) and may_be_twins(name, meant) else "error",
            )


def _meant_tool(name: str, available: Collection[str]) -> str | None:
    """Return the available tool that a name is a slip of, unless it may be the runtime's spelling: `WebSearch`."""
    meant = None if is_glob(name) else slip_of(name, available)
    return None if meant and name != name.lower() and same_but_for_separators(name, meant) else meant


def _how_to_name(tool: str) -> str:
    if is_glob(tool):
        return f"correct it; if it is really meant, put a letter in brackets: {_in_brackets(tool)}"
    return (
        "correct it, or add it to tools.available if the agent has that tool; "
        f"of a tool that the agent must not even have, write the name as a glob: {_in_brackets(tool)}"
    )


def _need_not_be_had(case: TestCase, path: DataPath) -> bool:
    """Return whether the agent need not have a tool: it is forbidden, limited, passed over, or part of a policy."""
    if path[0] == "tools":
        return path[1] == "policy"
    limits = case.assertions[int(path[1])].type in _LIMITING
    return limits or any(step in EXEMPT or str(step).startswith("forbid") for step in path[3:])


def _in_brackets(name: str) -> str:
    """A name, or a glob, that is meant as it is written: its last letter is in brackets."""
    at = max((place for place, sign in enumerate(name) if sign.isalnum()), default=len(name) - 1)
    return f"{name[:at]}[{name[at]}]{name[at + 1 :]}"


def _texts(data: Any, path: DataPath = ()) -> list[tuple[DataPath, str]]:
    """Every text, with the path to it."""
    if isinstance(data, str):
        return [(path, data)]
    found: list[tuple[DataPath, str]] = []
    if isinstance(data, dict | list):
        for key, item in data.items() if isinstance(data, dict) else enumerate(data):
            found += _texts(item, (*path, key))
    return found


def _group_ids(state: Any, path: DataPath) -> list[tuple[DataPath, str]]:
    """The group ids in memory, however it is arranged."""
    return [(at, text) for at, text in _texts(state, path) if at[-1] == "group_id"]


def remarks(case: TestCase) -> Iterator[Fault]:
    """Find checks that judge less than they seem to, and ids that do not follow the convention.

    `spec.id_convention`, `spec.policy_not_judged`, `spec.phrase_like_pattern`, `spec.format_not_judged`.
    """
    if unconventional := _unconventional(case):
        message, example = unconventional
        yield Fault(
            code="spec.id_convention",
            message=f"the id {case.id!r} {message}",
            data_path=("id",),
            next_step=f"for instance {example}",
        )
    types = [spec.type for spec in case.assertions]
    if case.tools.policy not in (None, ToolPolicy()) and JUDGES_POLICY not in types:
        yield Fault(
            code="spec.policy_not_judged",
            message="no assertion of the test checks tools.policy: breaking it would fail nothing",
            data_path=("tools", "policy"),
            next_step=f"add an assertion of the type {JUDGES_POLICY}",
        )
    for index, spec in enumerate(case.assertions):
        for path, text in _texts(spec.params):
            if remark := _remark(spec.type, spec.params, path, text):
                code, message, step = remark
                yield Fault(code, message, ("assertions", index, "params", *path), next_step=step)


def _remark(kind: str, params: dict[str, Any], path: DataPath, text: str) -> tuple[str, str, str] | None:
    """Return the warning about a text of the parameters: reason code, message, next step; None if there is none."""
    if kind == "output_omits" and path[0] == "patterns" and not params.get("regex") and _SIGNS.search(text):
        message = f"{shown(text)} looks like a regular expression, but is matched literally"
        return "spec.phrase_like_pattern", message, "set `regex: true` next to patterns"
    if path[-1] == "format" and "json_schema" in path and _VALUES.isdisjoint(path):
        message = f"format only describes in a JSON Schema: a value of another form than {text!r} passes"
        return "spec.format_not_judged", message, "use pattern to require a form"
    return None


def _unconventional(case: TestCase) -> tuple[str, str] | None:
    """Explain why the id is not `<adapter>.<area>.<behavior>.<expectation>` (SPEC 19), and advise one; None if it is.

    An area and a behavior may have more parts or fewer, as in the ids of the SPEC's own examples.
    """
    parts = case.id.split(".")
    plain = all(part.isascii() and part.replace("-", "").replace("_", "").isalnum() for part in parts)
    if not plain or len(parts) < FEWEST_PARTS:
        message = "is not of the form <adapter>.<area>.<behavior>.<expectation>"
        return message, f"{case.adapter}.memory.same-group-recall.brief-bullets"
    first, *rest = parts
    if first == case.adapter:
        return None
    example = ".".join([case.adapter, *rest])
    return (
        f"begins with {first!r}, but the adapter is {case.adapter!r}",
        f"{example}, if the adapter is right",
    )
