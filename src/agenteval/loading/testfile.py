"""Loads a test file: its content, every problem it has, and its assertions ready to judge."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agenteval.assertions.base import Assertion
from agenteval.contracts.errors import FileError, PluginError, Problem, SpecError
from agenteval.contracts.models import DataPath, Invalid, dotted, parse
from agenteval.contracts.results import TestResult
from agenteval.contracts.testcase import SCHEMA_VERSION, AssertionSpec, TestCase
from agenteval.contracts.trace import CAPABILITY_FLAGS, Trace
from agenteval.loading.config import LimitsConfig, readable_root
from agenteval.loading.consistency import misspelt_names, remarks
from agenteval.loading.discovery import TEST_FILE
from agenteval.plugins.contract import error_line
from agenteval.plugins.registry import BUILT_IN, Registry
from agenteval.reading.documents import checking, is_inside, read_text
from agenteval.reading.places import Fault, fault_of, problem_at, problems_at
from agenteval.reading.yamlsource import Starts, load_yaml, places
from agenteval.redaction.redactor import RedactionRules, Redactor
from agenteval.text.names import closest

if TYPE_CHECKING:
    from agenteval.contracts.explaining import Finding

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
    """The content of a test file: its text, its data, and the offsets in the text at which its assertions begin."""

    text: str
    data: Any
    starts: list[int]


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class LoadedTest:
    """A valid test, ready to run. `warnings` are about the file, not about the agent.

    `written` is the content of the file; None for a test that is made of something else, as a task of a suite is. The
    recording and the cassette of that one are in `folder`, and nothing outside `root` is read. `responses` are the
    answers of tools in a live run of the task, by tool and in order, each once. They are None where the fixtures of
    the case and its recording answer. `fits` refuses a recording that is none of the task (`AdapterError`), and gives
    warnings. `share` scores the result of the task: the points that were reached, and all points; None leaves it to
    its critical assertions.
    """

    case: TestCase
    path: Path
    checks: list[BoundAssertion]
    warnings: list[Problem] = field(default_factory=list)
    written: Written | None = None
    folder: Path | None = None
    root: Path | None = None
    responses: Sequence[tuple[str, Any]] | None = None
    fits: Callable[[Trace], Iterable[str]] | None = None
    share: Callable[[TestResult], tuple[int, int]] | None = None

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
        test = path.with_name(TEST_FILE)
        step = f"name the test that replays it{f': {test}' if test.is_file() else ''}"
        raise _refused(
            [_problem("select.recording", "a recording, which has a script but no assertions", path, step)],
            path,
        )
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


def _problem(code: str, message: str, path: Path, next_step: str) -> Problem:
    return Problem(reason_code=code, message=message, path=path, next_step=next_step)


def _refused(problems: Sequence[Problem], path: Path) -> SpecError:
    """The error for a file; a link among somebody's tests must not make us print any file on the machine."""
    root = readable_root(path)
    if not is_inside(path, root) and any(problem.excerpt for problem in problems):
        message = f"a link leads out of the project {root}, to a file that is not a valid test"
        step = f"see what is wrong with the file itself: agenteval validate {path.resolve()}"
        problems = [_problem("file.outside_root", message, path, step)]
    return SpecError(problems)


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
            faults = [
                self.envelope_fault(finding) for finding in invalid.findings if not self.is_in_params(finding)
            ]
            named = {
                index: fault
                for index, given in enumerate(self.items("assertions"))
                if (fault := self.type_as_key(index, given))
            }
            self.faults += [
                fault
                for fault in faults
                if fault.data_path[:1] != ("assertions",) or not {*fault.data_path[1:2]} & {*named}
            ]
            self.faults += named.values()
            return None
        if not case.assertions:
            step = "add one, such as {id: searched, type: must_call_tool, params: {tool: web_search}}"
            self.fault(
                "spec.no_assertions",
                "a test needs at least one assertion",
                "assertions",
                at_key=True,
                next_step=step,
            )
        return case

    def is_in_params(self, finding: "Finding") -> bool:
        """Return whether a missing key of an assertion stands among its parameters, where the error is shown."""
        match finding.path:
            case ("assertions", int(index)) if finding.code == "missing_key":
                params = self.data["assertions"][index].get("params")
                return isinstance(params, dict) and finding.name in params
        return False

    def type_as_key(self, index: int, given: Any) -> Fault | None:
        """The one fault of an assertion that has its type where a key belongs: `- must_call_tool: web_search`."""
        name = (
            given if isinstance(given, str) else next(iter(given), None) if isinstance(given, dict) else None
        )
        if not isinstance(name, str) or (isinstance(given, dict) and "type" in given):
            return None
        with suppress(PluginError):
            if (cls := self.registry.assertion_class(name)) is not None:
                key = next(iter(each.name for each in fields(cls) if each.init), "")  # type: ignore[arg-type]
                step = (
                    f"write {{id: …, type: {name}, params: {{{key}: …}}}}"
                    if key
                    else f"write {{id: …, type: {name}}}"
                )
                path: DataPath = (
                    ("assertions", index) if isinstance(given, str) else ("assertions", index, name)
                )
                message = f"{name!r} is a type of assertion, and stands under 'type'"
                return Fault("spec.wrong_type", message, path, at_key=isinstance(given, dict), next_step=step)
        return None

    def envelope_fault(self, finding: "Finding") -> Fault:
        """The fault of a finding about anything but parameters."""
        fault = fault_of(finding, "spec")
        match finding.path:
            case ("schema_version",):
                version = self.data["schema_version"]
                message = f"schema_version {version!r} is not supported, only {SCHEMA_VERSION!r} is"
                if isinstance(version, float) and str(version) == SCHEMA_VERSION:
                    message = f'schema_version is a number here: quote it, "{SCHEMA_VERSION}"'
                step = f'write schema_version: "{SCHEMA_VERSION}"'
                return Fault("spec.unsupported_version", message, finding.path, next_step=step)
            case () if finding.code == "missing_key" and finding.name == "schema_version":
                return fault._replace(next_step=f'begin the file with schema_version: "{SCHEMA_VERSION}"')
            case (str(name),) if finding.code == "unknown_key" and name in _INPUTS:
                return fault._replace(next_step="move it into 'adapter_input'")
            case ("adapter_input",) if isinstance(self.data["adapter_input"], str):
                return fault._replace(next_step=f"write {{replay_file: {self.data['adapter_input']}}}")
            case ("assertions", int(index), "params") if finding.code == "wrong_type":
                return fault._replace(next_step=self.first_parameter(index) or fault.next_step)
            case ("assertions", int(index), str(name)) if finding.code == "unknown_key":
                with suppress(PluginError):
                    given = self.data["assertions"][index]
                    names = fields_of(self.registry.assertion_class(str(given.get("type"))))
                    if "params" not in given and isinstance(given[name], dict) and {*given[name]} & {*names}:
                        return fault._replace(suggestion="params", next_step="")
                    if name in names:
                        return fault._replace(next_step="move it into 'params'")
        return fault

    def first_parameter(self, index: int) -> str:
        """The advice to name the parameters of an assertion: its first, with what is given for all of them."""
        given = self.data["assertions"][index]
        with suppress(PluginError):
            cls = self.registry.assertion_class(str(given.get("type")))
            names = [each.name for each in fields(cls) if each.init] if cls else []  # type: ignore[arg-type]
            if names:
                value = given["params"]
                return f"write params: {{{names[0]}: {value if isinstance(value, str) and value.isidentifier() else '…'}}}"
        return ""

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
            return None  # the envelope has a fault of its own
        at_type = ("assertions", index, "type")
        try:
            cls = self.registry.assertion_class(kind)
            if cls is not None:
                return parse(cls, params)
            self.unknown_type(kind, at_type)
        except PluginError as error:
            self.fault("plugin.broken", error.message, *at_type, next_step=error.next_step)
        except Invalid as invalid:
            cls = self.registry.assertion_class(kind)
            place = ("assertions", index, "params") if "params" in given else at_type
            faults = [_parameter_fault(kind, finding, place, fields_of(cls)) for finding in invalid.findings]
            # A parameter that stands next to 'params' is not missing as well: there, one error explains where it belongs.
            beside = _has_parameter_beside(given, fields_of(cls))
            self.faults += [
                fault for fault in faults if not (fault.code == "spec.missing_parameter" and beside)
            ]
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if not (origin := self.registry.origin(kind)):
                raise
            message = f"the plugin {origin} crashed on the parameters of {kind}: {error_line(error)}"
            step = "correct the plugin, or report it to its author"
            self.fault("plugin.broken", message, *at_type, next_step=step)
        return None

    def unknown_type(self, kind: str, at_type: DataPath) -> None:
        """Add the fault of a type that does not exist, or may exist in a plugin that does not load."""
        code, message, next_step = "spec.unknown_assertion_type", f"unknown assertion type {kind!r}", ""
        for plugin in self.registry.suspects():
            code, next_step = "plugin.broken", plugin.next_step
            message += f"; it may belong to the plugin {plugin.origin}, which is broken: {plugin.error}"
        types = self.registry.assertion_types()
        allowed = () if next_step else types  # with a broken plugin, the type may be right
        near = closest(kind, types)
        if not (near or next_step):
            next_step = "see what each type judges: agenteval explain"
        self.fault(code, message, *at_type, suggestion=near, allowed=allowed, next_step=next_step)

    def check_capabilities(self, flags: Any, index: int) -> None:
        """Find capabilities that do not exist, so that no adapter could have them."""
        for position, flag in enumerate(flags if isinstance(flags, list) else ()):
            if isinstance(flag, str) and flag not in CAPABILITY_FLAGS:
                self.fault(
                    "spec.unknown_capability",
                    f"unknown capability {flag!r}",
                    *("assertions", index, "requires_capabilities", position),
                    suggestion=closest(flag, CAPABILITY_FLAGS),
                    allowed=CAPABILITY_FLAGS,
                )

    def check_unique(self, what: str, *path: str) -> None:
        """Find ids that occur twice in one list."""
        seen = set()
        for index, given in enumerate(self.items(*path)):
            item_id = given.get("id") if isinstance(given, dict) else None
            if isinstance(item_id, str) and item_id in seen:
                message = f"two {what}s have the id {item_id!r}"
                step = f"give each {what} an id of its own"
                self.fault(f"spec.duplicate_{what}_id", message, *path, index, "id", next_step=step)
            elif isinstance(item_id, str):
                seen.add(item_id)

    def items(self, *path: str) -> list[Any]:
        """The list at a path, or an empty one when there is none."""
        here = self.data
        for step in path:
            here = here.get(step) if isinstance(here, dict) else None
        return here if isinstance(here, list) else []

    def fault(self, code: str, message: str, *path: str | int, **rest: Any) -> None:
        """Add a fault."""
        self.faults.append(Fault(code=code, message=message, data_path=path, **rest))


_INPUTS = frozenset(("replay_file", "session", "turn", "task_id", "message", "tool_aliases"))
"""Keys of `adapter_input` that beginners write at the top."""


def fields_of(cls: type[Assertion] | None) -> list[str]:
    """The names of the parameters of a type."""
    return [each.name for each in fields(cls) if each.init] if cls else []  # type: ignore[arg-type]


def _parameter_fault(kind: str, finding: "Finding", params: DataPath, known: Sequence[str]) -> Fault:
    """The fault of a finding about the parameters of a type, which are `known`."""
    name, step = dotted(finding.path), finding.next_step
    match finding.code:
        case "wrong_type" if step == "write one":
            several = f"{name}s"
            step = (
                f"name several under {several!r}"
                if several in known
                else "write one; for several, write an assertion for each"
            )
            code, message = "spec.wrong_parameter", f"parameter {name!r} of {kind}: {finding.message}"
        case "unknown_key":
            if name in AssertionSpec.__dataclass_fields__:
                step = "put it next to 'params'"
            code, message = "spec.unknown_parameter", f"{kind} has no parameter {name!r}"
        case "missing_key":
            name = dotted((*finding.path, finding.name))
            code, message = "spec.missing_parameter", f"{kind} needs the parameter {name!r}"
        case _:
            owner = f"parameter {name!r} of {kind}" if name else kind
            code, message = "spec.wrong_parameter", f"{owner}: {finding.message}"
    fault = fault_of(finding, "spec")
    return fault._replace(code=code, message=message, data_path=(*params, *finding.path), next_step=step)


def _chosen(checks: list[BoundAssertion], only: frozenset[str], path: Path) -> list[BoundAssertion]:
    """The assertions with the given ids."""
    ids = [bound.spec.id for bound in checks]
    faults = [
        Fault(
            code="select.unknown_assertion",
            message=f"no assertion has the id {name!r}",
            suggestion=closest(name, ids),
            allowed=ids,
        )
        for name in sorted(only.difference(ids))
    ]
    if faults:
        raise SpecError([problem_at(None, fault, path) for fault in faults])
    return [bound for bound in checks if bound.spec.id in only]


def _has_parameter_beside(given: Mapping[Any, Any], known: Collection[str]) -> bool:
    """Return whether a parameter of an assertion stands next to `params`, or in a mapping that is meant to be it."""
    misnamed = () if "params" in given else [each for each in given.values() if isinstance(each, dict)]
    return any(name in each for name in known for each in (given, *misnamed))
