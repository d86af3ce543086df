"""Names that refer to what a test declares: tools, groups, the scheduled task, assertions.

An undeclared name may be right: a tool that the agent must not have, a group that must not leak. But one that
differs from a declared name by a typing slip is refused as a misspelling: a check for a tool that does not exist
would pass for ever. A tool that the agent need not have may be the twin of a declared one, as `set_reminder` is of
`get_reminder`: there it is a warning. The scenario's own group is refused where the groups whose memory is
forbidden are named.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agenteval.assertions.base import AGENTS, EXEMPT, GROUPS, LOOKED_AT, TASKS, Assertion, names_in
from agenteval.contracts.errors import FileError, PluginError, Problem, SpecError
from agenteval.contracts.json_values import MISSING, lookup
from agenteval.contracts.models import DataPath, Invalid, dotted, parse
from agenteval.contracts.testcase import SCHEMA_VERSION, AssertionSpec, TestCase, ToolPolicy, other_groups
from agenteval.contracts.trace import CAPABILITY_FLAGS, Trace, tool_names
from agenteval.loading.config import LimitsConfig, reach_of
from agenteval.loading.discovery import TEST_FILE
from agenteval.matching.patterns import shown
from agenteval.matching.selectors import ArgsMatch, agents_of, is_named
from agenteval.plugins.contract import told
from agenteval.plugins.registry import BUILT_IN, Registry
from agenteval.reading.documents import checking, is_inside, read_text
from agenteval.reading.places import Fault, fault_of, problem_at, problems_at
from agenteval.reading.yamlsource import Starts, load_yaml, places
from agenteval.redaction.redactor import RedactionRules, Redactor
from agenteval.text.names import (
    closest,
    glob_slip_of,
    is_glob,
    may_be_twins,
    name_matches,
    same_but_for_separators,
    slip_of,
)

if TYPE_CHECKING:
    from agenteval.contracts.explaining import Finding


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


JUDGES_POLICY = "tools_within_policy"
"""The type of assertion that judges `tools.policy`."""
FEWEST_PARTS = 3
"""Of an id: with fewer, it cannot tell the adapter, what is tested and what is expected."""
_FORBIDS_PHRASES = "output_omits"
_CONTAINS_ARGS = ("trajectory_matches", "args")
"""The type and its parameter that compare arguments as `args_contains` does, without saying so."""
_VALUES = frozenset({"const", "enum", "default", "examples"})
"""Keywords of a JSON Schema that hold values, not schemas."""
_SIGNS = re.compile(r"\\[bdsw](?![a-z])|\.[*+]")
"""Signs of regular expressions that phrases hardly ever have: `\\b`, `\\d+`, `.*`; not `C:\\docs`."""


def remarks(case: TestCase) -> Iterator[Fault]:
    """What to warn of.

    `spec.id_convention`, `spec.policy_not_judged`, `spec.phrase_like_pattern`, `spec.empty_text`, `spec.format_not_judged`,
    `spec.parameter_not_judged`.
    """
    if unconventional := _unconventional(case):
        message, example = unconventional
        yield Fault(
            code="spec.id_convention",
            message=f"the id {case.id!r} {message}",
            data_path=("id",),
            next_step=f"for instance {example}",
        )
    if case.tools.policy not in (None, ToolPolicy()) and all(
        spec.type != JUDGES_POLICY for spec in case.assertions
    ):
        yield Fault(
            code="spec.policy_not_judged",
            message="no assertion of the test checks tools.policy: breaking it would fail nothing",
            data_path=("tools", "policy"),
            next_step=f"add an assertion of the type {JUDGES_POLICY}",
        )
    yield from _phrases_like_patterns(case)
    yield from _not_judged(case)
    yield from _idle_parameters(case)


def _phrases_like_patterns(case: TestCase) -> Iterator[Fault]:
    """Forbidden phrases that look like regular expressions, and so would never be found."""
    for index, spec in enumerate(case.assertions):
        if spec.type != _FORBIDS_PHRASES or spec.params.get("regex"):
            continue
        for number, phrase in enumerate(spec.params["patterns"]):
            if _SIGNS.search(phrase):
                yield Fault(
                    code="spec.phrase_like_pattern",
                    message=f"{shown(phrase)} looks like a regular expression, but is matched literally",
                    data_path=("assertions", index, "params", "patterns", number),
                    next_step="set `regex: true` next to patterns",
                )


def _not_judged(case: TestCase) -> Iterator[Fault]:
    """Texts that require less than they seem to: an empty one, which every text contains, and `format` in a JSON Schema."""
    for index, spec in enumerate(case.assertions):
        for path, text in _texts(spec.params):
            at: DataPath = ("assertions", index, "params", *path)
            if not text and (
                path[-2:-1] == ("args_contains",)
                or path[-3:-1] == ("result", "contains")
                or (spec.type, *path[-2:-1]) == _CONTAINS_ARGS
            ):
                yield Fault(
                    code="spec.empty_text",
                    message=f"every text contains '', so {path[-1]} may be any text",
                    data_path=at,
                    next_step=f"say what it has to contain; {'' if 'result' in path else 'args_'}equal requires an empty "
                    "text, required_keys any value",
                )
            if path[-1] == "format" and "json_schema" in path and _VALUES.isdisjoint(path):
                yield Fault(
                    code="spec.format_not_judged",
                    message=f"format only describes in a JSON Schema: a value of another form than {text!r} passes",
                    data_path=at,
                    next_step="use pattern to require a form",
                )


def _idle_parameters(case: TestCase) -> Iterator[Fault]:
    """Parameters that another one keeps from being judged, though both are allowed."""
    for index, spec in enumerate(case.assertions):
        kind, idle, name, value = _IDLE.get(spec.type, ("", "", "", None))
        if kind and idle in spec.params and spec.params.get(name) == value:
            yield Fault(
                code="spec.parameter_not_judged",
                message=f"{idle} is not judged: {kind} leaves it out",
                data_path=("assertions", index, "params", idle),
                next_step=f"leave out either {idle} or {kind}",
            )


_IDLE: dict[str, tuple[str, str, str, Any]] = {
    "memory_recall_same_group": ("evidence: event", "output", "evidence", "event"),
    "graceful_failure_output": (
        "must_not_claim_success: false",
        "forbidden_success_phrases",
        "must_not_claim_success",
        False,
    ),
}
"""What leaves a parameter of a type out, that parameter, and the name and the value of what does."""


def _texts(data: Any, path: DataPath = ()) -> list[tuple[DataPath, str]]:
    """Every text, with the path to it."""
    kind = type(data)
    if kind is str:
        return [(path, data)]
    found: list[tuple[DataPath, str]] = []
    if kind is dict or kind is list:
        for key, item in data.items() if kind is dict else enumerate(data):
            found += _texts(item, (*path, key))
    return found


def _unconventional(case: TestCase) -> tuple[str, str] | None:
    """Why the id is not `<adapter>.<area>.<behavior>.<expectation>` (SPEC 19), and one that is, to advise; None when it is.

    An area and a behavior may be told in more parts or in fewer, as in the ids of the SPEC's own examples.
    """
    parts = case.id.split(".")
    plain = all(part.isascii() and part.replace("-", "").replace("_", "").isalnum() for part in parts)
    if not plain or len(parts) < FEWEST_PARTS:
        message = "is not of the form <adapter>.<area>.<behavior>.<expectation>"
        return message, f"{case.adapter}.memory.same-group-recall.brief-bullets"
    first, *rest = parts
    if first != case.adapter:
        example = ".".join([case.adapter, *rest])
        return (
            f"begins with {first!r}, but the adapter is {case.adapter!r}",
            f"{example}, if the adapter is right",
        )
    return None


IN_PARAMS = "move it into 'params'"
BESIDE_PARAMS = "put it next to 'params'"
_DEFAULT_LIMITS = LimitsConfig()


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class BoundAssertion:
    """An assertion with its envelope. `requires` are its capabilities: implied ones, then those the author adds.

    `plugin` is where its type comes from; empty when it is built in.
    """

    spec: AssertionSpec
    check: Assertion
    requires: tuple[str, ...]
    plugin: str = ""


class Written(NamedTuple):
    """What a test file says: its text, its data, and the offsets in the text at which its assertions begin."""

    text: str
    data: Any
    starts: list[int]


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class LoadedTest:
    """A valid test, ready to run. `warnings` are about the file, not about the agent.

    `written` is the content of the file; None for a test that is made of anything else, such as a task of a suite, whose
    recording and cassette are in `folder`. `responses` are what tools answer in a live run of such a task, by tool and in
    order, each once; None where the fixtures of the case and its recording do.
    """

    case: TestCase
    path: Path
    checks: list[BoundAssertion]
    warnings: list[Problem] = field(default_factory=list)
    written: Written | None = None
    folder: Path | None = None
    responses: Sequence[tuple[str, Any]] | None = None

    def redactor(self, rules: RedactionRules) -> Redactor:
        """The redactor of the test. It has learned the file with the author's `x-` keys, but no recording."""
        redactor = Redactor(self.case.reporting.redact_fields, rules)
        read = self.written.data if self.written else self.case  # the file is shorter: it has no defaults
        redactor.learn_fields(self.case)
        redactor.learn_fields(read)
        redactor.learn_secrets(read)
        return redactor


def load_test(
    path: Path,
    *,
    only: frozenset[str] | None = None,
    limits: LimitsConfig = _DEFAULT_LIMITS,
    registry: Registry = BUILT_IN,
) -> LoadedTest:
    """Load one test file; `only` selects assertions by id, `registry` knows the types of assertions.

    Raises `SpecError` with every problem of the file, in order of line. Reason codes: those of
    `documents.checking`, `documents.read_text` and `yamlsource.load_yaml`; `spec.unknown_key`, `spec.missing_key`, `spec.wrong_type`,
    `spec.wrong_value`, `spec.unsupported_version`, `spec.no_assertions`, `spec.duplicate_assertion_id`,
    `spec.duplicate_fixture_id`, `spec.unknown_assertion_type`, `spec.unknown_parameter`,
    `spec.missing_parameter`, `spec.wrong_parameter`, `spec.unknown_capability`, `spec.unknown_tool`,
    `spec.unknown_group`, `spec.unknown_task`, `spec.unknown_assertion_id`; `select.unknown_assertion`,
    `select.recording`; `plugin.broken`. Nothing is quoted of an invalid file to which a link leads out of the
    project: `file.outside_root`.
    """
    try:
        with checking(path):
            return _load(path, only, limits, registry)
    except SpecError:
        raise
    except FileError as error:
        raise _refused(error.problems, path) from None


def _load(path: Path, only: frozenset[str] | None, limits: LimitsConfig, registry: Registry) -> LoadedTest:
    text = read_text(path, max_bytes=limits.max_file_bytes, a_test=True)
    starts: Starts = {}
    data = load_yaml(text, path, max_nodes=limits.max_yaml_nodes, starts=starts)
    loader = _Loader(text, data, registry)
    case = loader.case()
    if case is None and isinstance(data, dict) and "script" in data and "assertions" not in data:
        raise SpecError([_recording(path)])
    checks = loader.checks(case)
    loader.check_unique("assertion", "assertions")
    loader.check_unique("fixture", "tools", "fixtures")
    misspelt = [] if case is None else [*misspelt_names(case, loader.placed)]
    loader.faults += [fault for fault in misspelt if fault.severity == "error"]
    if case is None or loader.faults:
        raise _refused(problems_at(loader.faults, text=text, places=places, path=path), path)
    if only is not None:
        checks = _chosen(checks, only, path)
    doubts = [*remarks(case), *misspelt]
    spots = places(text, [(fault.data_path, fault.at_key) for fault in doubts]) if doubts else []
    warnings = [
        problem_at(spot, fault, path, severity="warning") for spot, fault in zip(spots, doubts, strict=True)
    ]
    written = Written(text, data, starts[id(data["assertions"])])
    return LoadedTest(case=case, path=path, checks=checks, warnings=warnings, written=written)


def _refused(problems: Sequence[Problem], path: Path) -> SpecError:
    """The error for a file; a link among somebody's tests must not make us print any file on the machine."""
    root = reach_of(path)
    if is_inside(path, root) or not any(problem.excerpt for problem in problems):
        return SpecError(problems)
    problem = Problem(
        reason_code="file.outside_root",
        message=f"a link leads out of the project {root}, to a file that is not a valid test",
        path=path,
        next_step=f"see what is wrong with the file itself: agenteval validate {path.resolve()}",
    )
    return SpecError([problem])


def _recording(path: Path) -> Problem:
    """The problem of a recording named in place of its test: one, not one for every key that a test needs."""
    test = path.with_name(TEST_FILE)
    return Problem(
        reason_code="select.recording",
        message="a recording, which has a script but no assertions",
        path=path,
        next_step=f"name the test that replays it{f': {test}' if test.is_file() else ''}",
    )


class _Loader:
    """Reads one file's data part by part, and collects the faults of all parts."""

    def __init__(self, text: str, data: Any, registry: Registry) -> None:
        self.text = text
        self.data = data
        self.registry = registry
        self.faults: list[Fault] = []
        self.placed: list[tuple[int, Assertion]] = []
        """The checks that are valid, each with its place in the file."""

    def case(self) -> TestCase | None:
        """The test case, if all of it but the parameters of assertions is valid."""
        try:
            case = parse(TestCase, self.data)
        except Invalid as invalid:
            self.faults += map(self.envelope_fault, invalid.findings)
            return None
        if not case.assertions:
            self.fault("spec.no_assertions", "a test needs at least one assertion", "assertions", at_key=True)
        return case

    def envelope_fault(self, finding: "Finding") -> Fault:
        """The fault of a finding about anything but parameters."""
        if finding.path != ("schema_version",):
            fault = fault_of(finding, "spec")
            return fault._replace(next_step=IN_PARAMS) if self.is_parameter(finding) else fault
        version = self.data["schema_version"]
        message = f"schema_version {version!r} is not supported, only {SCHEMA_VERSION!r} is"
        if isinstance(version, float) and str(version) == SCHEMA_VERSION:
            message = f'schema_version is a number here: quote it, "{SCHEMA_VERSION}"'
        return Fault(code="spec.unsupported_version", message=message, data_path=finding.path)

    def is_parameter(self, finding: "Finding") -> bool:
        """Whether an unknown key of an assertion is a parameter of its type."""
        match finding.path:
            case ("assertions", int(index), str(name)) if finding.code == "unknown_key":
                with suppress(PluginError):
                    cls = self.registry.assertion_class(str(self.data["assertions"][index].get("type")))
                    return cls is not None and any(each.name == name for each in fields(cls))  # type: ignore[arg-type]
        return False

    def checks(self, case: TestCase | None) -> list[BoundAssertion]:
        """The valid assertions. The faults of the others are found even without a case."""
        bound = []
        for index, given in enumerate(self.items("assertions")):
            if not isinstance(given, dict):
                continue
            check = self.check(given, index)
            self.check_capabilities(given.get("requires_capabilities"), index)
            if check is not None:
                self.placed.append((index, check))
            if check is not None and case:
                spec = case.assertions[index]
                requires = tuple(dict.fromkeys((*check.implied, *spec.requires_capabilities)))
                origin = self.registry.origin(spec.type)
                bound.append(BoundAssertion(spec=spec, check=check, requires=requires, plugin=origin))
        return bound

    def check(self, given: dict[Any, Any], index: int) -> Assertion | None:
        """The check of an assertion, or None when its type or its params are wrong."""
        kind, params = given.get("type"), given.get("params", {})
        if not isinstance(kind, str) or not kind or not isinstance(params, dict):
            return None  # a fault of the envelope says so
        try:
            cls = self.registry.assertion_class(kind)
        except PluginError as error:
            self.plugin_fault(error.message, index, next_step=error.next_step)
            return None
        if cls is None:
            self.unknown_type(kind, index)
            return None
        try:
            return parse(cls, params)
        except Invalid as invalid:
            place = ("assertions", index, "params" if "params" in given else "type")
            self.faults += [_parameter_fault(kind, finding, place) for finding in invalid.findings]
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if not (origin := self.registry.origin(kind)):
                raise
            self.plugin_fault(
                f"the plugin {origin} crashed on the parameters of {kind}: {told(error)}", index
            )
        return None

    def unknown_type(self, kind: str, index: int) -> None:
        """Add the fault of a type that does not exist, or may exist in a plugin that does not load."""
        code, message, next_step = "spec.unknown_assertion_type", f"unknown assertion type {kind!r}", ""
        for plugin in self.registry.suspects():
            code, next_step = "plugin.broken", plugin.next_step
            message += f"; it may belong to the plugin {plugin.origin}, which is broken: {plugin.error}"
        types = self.registry.assertion_types()
        near = closest(kind, types)
        path = ("assertions", index, "type")
        allowed = () if next_step else types  # with a broken plugin, the type may be right
        self.fault(code, message, *path, suggestion=near, allowed=allowed, next_step=next_step)

    def plugin_fault(self, message: str, index: int, *, next_step: str = "") -> None:
        """Add the fault of the plugin that brings an assertion's type."""
        step = next_step or "correct the plugin, or report it to its author"
        self.fault("plugin.broken", message, "assertions", index, "type", next_step=step)

    def check_capabilities(self, flags: Any, index: int) -> None:
        """Find capabilities that do not exist, so that no adapter could have them."""
        for position, flag in enumerate(flags if isinstance(flags, list) else ()):
            if isinstance(flag, str) and flag not in CAPABILITY_FLAGS:
                near = closest(flag, CAPABILITY_FLAGS)
                path = ("assertions", index, "requires_capabilities", position)
                message = f"unknown capability {flag!r}"
                self.fault(
                    "spec.unknown_capability", message, *path, suggestion=near, allowed=CAPABILITY_FLAGS
                )

    def check_unique(self, what: str, *path: str) -> None:
        """Find ids that occur twice in one list."""
        first: dict[str, int] = {}
        twice: list[tuple[str, DataPath, DataPath]] = []
        for index, given in enumerate(self.items(*path)):
            item_id = given.get("id") if isinstance(given, dict) else None
            if isinstance(item_id, str) and first.setdefault(item_id, index) != index:
                twice.append((item_id, (*path, first[item_id], "id"), (*path, index, "id")))
        spots = places(self.text, [(spot, False) for _, *both in twice for spot in both]) if twice else []
        for (item_id, _, second), one, two in zip(twice, spots[::2], spots[1::2], strict=True):
            lines = f"line {one.line}" if one.line == two.line else f"lines {one.line} and {two.line}"
            self.fault(f"spec.duplicate_{what}_id", f"two {what}s have the id {item_id!r}: {lines}", *second)

    def items(self, *path: str) -> list[Any]:
        """The list at a path, or an empty one when there is none."""
        here = self.data
        for step in path:
            here = here.get(step) if isinstance(here, dict) else None
        return here if isinstance(here, list) else []

    def fault(self, code: str, message: str, *path: str | int, **rest: Any) -> None:
        """Add a fault."""
        self.faults.append(Fault(code=code, message=message, data_path=path, **rest))


def _parameter_fault(kind: str, finding: "Finding", params: DataPath) -> Fault:
    """The fault of a finding about the parameters of a type."""
    name, step = dotted(finding.path), finding.next_step
    match finding.code:
        case "unknown_key":
            if name in AssertionSpec.__dataclass_fields__:
                step = BESIDE_PARAMS
            code, message = "spec.unknown_parameter", f"{kind} has no parameter {name!r}"
        case "missing_key":
            name = dotted((*finding.path, finding.name))
            code, message = "spec.missing_parameter", f"{kind} needs the parameter {name!r}"
        case _:
            whose = f"parameter {name!r} of {kind}" if name else kind
            code, message = "spec.wrong_parameter", f"{whose}: {finding.message}"
    return Fault(
        code=code,
        message=message,
        data_path=(*params, *finding.path),
        at_key=finding.at_key,
        suggestion=finding.suggestion,
        allowed=finding.allowed,
        next_step=step,
    )


def _chosen(checks: list[BoundAssertion], only: frozenset[str], path: Path) -> list[BoundAssertion]:
    """The assertions with the given ids."""
    ids = [bound.spec.id for bound in checks]
    unknown = sorted(only.difference(ids))
    if unknown:
        faults = [
            Fault(
                code="select.unknown_assertion",
                message=f"no assertion has the id {name!r}",
                suggestion=closest(name, ids),
                allowed=ids,
            )
            for name in unknown
        ]
        raise SpecError([problem_at(None, fault, path) for fault in faults])
    return [bound for bound in checks if bound.spec.id in only]
