"""Holds all settings of a project, with their defaults."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import field, fields
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from agenteval.contracts.errors import FileError, Problem, SpecError, UsageError
from agenteval.contracts.models import (
    Between,
    Invalid,
    Matching,
    Model,
    NotEmpty,
    Rule,
    model,
    parse,
)
from agenteval.reading.documents import MAX_FILE_BYTES, MAX_YAML_NODES, keep_inside, read_text
from agenteval.reading.places import Fault, Places, fault_of, problem_at, problems_at
from agenteval.redaction.occurrences import SHORTEST_TEXT
from agenteval.redaction.redactor import RedactionRules
from agenteval.redaction.secrets import detect
from agenteval.text.lazy_regexes import lazy
from agenteval.text.names import closest

SETTINGS_FILE = "agenteval.yaml"
"""The file of a project's settings, in its root."""
MAX_RESULT_BYTES = 128 * 2**20
"""The default limit on a file that a run writes about one test, in bytes."""

SuiteId = Annotated[str, Matching(r"[a-z0-9.-]+\.evals\.[a-z0-9-]+")]
Version = Annotated[str, Matching(r"[0-9]+\.[0-9]+\.[0-9]+")]


@model
class SuiteConfig(Model):
    """The suite that a run's results are scored as (OpenWOP)."""

    id: SuiteId | None = None
    """The suite's id, `<scope>.<org>.evals.<name>`."""
    version: Version = "0.1.0"
    """The suite's version, x.y.z."""
    pass_score: Annotated[float, Between(0, 1)] | None = None
    """The score, from 0 to 1, that the run must reach to exit 0; no failed test is excused by it."""
    max_cost_usd: Annotated[float, Between(0)] | None = None
    """The most that all tasks together may cost, in US dollars."""
    max_p95_latency_ms: Annotated[float, Between(0)] | None = None
    """The most that 95% of the tasks may take, in milliseconds."""


@model
class LimitsConfig(Model):
    """Bounds on what is read and written, against files that would take all memory, time or space."""

    max_file_bytes: Annotated[int, Between(1)] = MAX_FILE_BYTES
    """The most bytes of any file."""
    max_events: Annotated[int, Between(1)] = 1_000_000
    """The most events of a trace."""
    max_yaml_nodes: Annotated[int, Between(1)] = MAX_YAML_NODES
    """The most values and keys of a test file; what an alias stands for counts each time it is used."""
    max_result_bytes: Annotated[int, Between(1)] = MAX_RESULT_BYTES
    """The most bytes of a file that a run writes about one test: a longer trace is not written, a result is cut."""
    pattern_seconds: Annotated[float, Between(0.001)] = 2.0
    """The seconds of processor time that all patterns and JSON Schemas of one assertion may take together."""
    step_seconds: Annotated[float, Between(0.001)] = 10.0
    """The seconds of processor time that checking a file, judging by an assertion or redacting a text may take."""


@model
class RedactionConfig(Model):
    """The kinds of values that are found by their form, and kept out of everything that is written or shown."""

    kinds: list[Literal["secrets", "email"]] = field(default_factory=lambda: ["secrets", "email"])
    """`secrets`: keys, tokens and passwords; `email`: addresses. An empty list turns this off."""


class _Rule(Rule):
    """A rule for a text: a function that explains why it does not fit, or returns ""."""

    def __init__(self, fault: Callable[[str], str]) -> None:
        self._fault = fault

    def fault(self, value: Any) -> str:
        return self._fault(value)


def _path_fault(name: str) -> str:
    """Explain why a path cannot be used; "" if it can. The file need not exist."""
    return f"{name!r} is no path: it has a NUL character" if "\0" in name else ""


def _fault_inside(name: str, what: str = "tests are") -> str:
    """Explain why a path leads out of the project's root, as far as its words show; "" if it stays below."""
    path = Path(os.path.normpath(name))
    outside = path.is_absolute() or path.parts[:1] == (os.pardir,)
    message = f"{name!r} is outside the project: {what} named relative to its root"
    return _path_fault(name) or (message if outside else "")


def _fault_of_travelling(name: str) -> str:
    """Explain why a path or glob cannot name files that travel; "" if it can."""
    return _fault_inside(name, "files are")


def _plugin_fault(name: str) -> str:
    """Explain why a name cannot be a plugin's: a file inside the project, or the dotted name of a module."""
    if name.endswith(".py") or _path_fault(name):
        return _fault_inside(name, "a plugin's file is")
    if all(part.isidentifier() for part in name.split(".")):
        return ""
    return f"expected a file of the project that ends in .py, or the dotted name of an installed module, got {name!r}"


@model
class LiveNanoClaw(Model):
    """The place of NanoClaw, for tests of its agents."""

    checkout: Annotated[str, _Rule(_path_fault)] = ""
    """The checkout, relative to the project's root; by default the project itself."""
    image: str = ""
    """The image of its containers, for docker and podman."""
    node_modules: Annotated[str, _Rule(_path_fault)] = ""
    """The installed packages of its agent-runner; by default those in the checkout."""
    claude: Annotated[str, _Rule(_path_fault)] = ""
    """The CLI of the agent; by default the one among its packages."""
    groups: Annotated[str, _Rule(_path_fault)] = ""
    """A folder with templates of group folders, by group: `container.json` and what its MCP servers need, in git."""


@model
class LiveCommand(Model):
    """The command that starts an agent of `adapter: command`."""

    run: list[Annotated[str, NotEmpty()]] = field(default_factory=list)
    """The program with its arguments, started in the project's root: `[.venv/bin/python, agent.py]`."""
    mounts: list[Annotated[str, NotEmpty(), _Rule(_path_fault)]] = field(default_factory=list)
    """Other folders and files that the agent may read, relative to the project's root, or absolute."""
    image: str = ""
    """The image to run it in, for docker and podman."""


@model
class LiveModel(Model):
    """The real model, for `--live record` and `--live real`."""

    base_url: Annotated[str, NotEmpty()] = "https://api.anthropic.com"
    """The service's address."""
    key_env: str | None = ""
    """The environment variable that holds the key, which never enters the sandbox; by default the first known one that is set.

    Null for a service that needs no key.
    """
    auth: Literal["key", "bearer"] | None = None
    """The way in which the Messages API is sent the key: as `x-api-key`, or as `Authorization: Bearer`, as tokens are.

    By default the name of the variable decides: tokens are named `..._AUTH_TOKEN` or `..._OAUTH_TOKEN`.
    """


@model
class LiveConfig(Model):
    """The settings for running agents again (`--live`)."""

    runtime: Literal["auto", "bwrap", "docker", "podman"] = "auto"
    """The sandbox; `auto` takes the first that works."""
    nanoclaw: LiveNanoClaw = field(default_factory=LiveNanoClaw)
    """The place of NanoClaw."""
    command: LiveCommand = field(default_factory=LiveCommand)
    """The command that starts any other agent."""
    model: LiveModel = field(default_factory=LiveModel)
    """The real model."""
    max_requests: Annotated[int, Between(1)] = 200
    """The most requests of one run to its model."""
    max_cost_usd: Annotated[float, Between(0)] | None = None
    """The most that one run with the real model may cost, in US dollars."""
    prices: dict[str, list[Annotated[float, Between(0)]]] = field(default_factory=dict)
    """US dollars for a million tokens in and out, by name or glob of a model: `{"gpt-5*": [1.25, 10]}`."""

    def __post_init__(self) -> None:
        for name, price in self.prices.items():
            if len(price) != 2:
                raise ValueError(f"the price of {name} has two numbers: for a million tokens in, and out")


TenantName = Annotated[str, Matching(r"[A-Za-z0-9._-]{1,64}")]


@model
class ServeAgent(Model):
    """An agent that the host evaluates: from its recordings, or run again."""

    replays: Annotated[str, _Rule(_fault_inside)] = ""
    """The folder of its recordings, `<taskId>/replay.json`, relative to the project's root; by default `replays` beside the suite."""
    live: bool = False
    """Run the agent again for every task, its tools replaced by what the suite injects."""
    model_class: str = ""
    """The class of its model, as suites name them."""
    judge: str = ""
    """The judge of rubrics: `recorded`, `command:PROGRAM`, or the name of a plugin."""
    input_schema: Annotated[str, _Rule(_fault_inside)] = ""
    """A file with the JSON Schema of its input, relative to the project's root; a suite with another input is refused."""
    tenants: list[TenantName] = field(default_factory=list)
    """The tenants that may evaluate it; all, when left out."""


@model
class ServeSuite(Model):
    """A suite, or a folder of suites, for some tenants."""

    path: Annotated[str, NotEmpty(), _Rule(_fault_inside)]
    """The file or folder, relative to the project's root."""
    tenants: list[TenantName] = field(default_factory=list)
    """The tenants that may run it; all, when left out."""


@model
class ServeKey(Model):
    """Somebody who may ask for runs."""

    sha256: Annotated[str, Matching(r"[0-9a-f]{64}")]
    """The SHA-256 of the key, which itself stands in no file: `agenteval serve --new-key TENANT`."""
    tenant: TenantName
    """The tenant of the runs that they may see."""
    subject: Annotated[str, NotEmpty()] = "key"
    """Their name for the record."""


@model
class ServeLimits(Model):
    """The most work that a host takes on."""

    max_tasks_per_suite: Annotated[int, Between(1)] = 200
    """The most tasks of a suite."""
    max_cost_usd_per_suite: Annotated[float, Between(0)] = 5.0
    """The most that the tasks of a run may cost together, in US dollars."""
    runs_at_once: Annotated[int, Between(1)] = 2
    """The most runs at the same time."""
    max_body_bytes: Annotated[int, Between(1)] = 1_000_000
    """The most bytes of a request."""
    keep_days: Annotated[float, Between(0)] = 0.0
    """For how many days a run that has ended is kept, with its files; 0 keeps all."""


@model
class ServeConfig(Model):
    """The OpenWOP host (`agenteval serve`)."""

    suites: list[Annotated[str, NotEmpty(), _Rule(_fault_inside)] | ServeSuite] = field(default_factory=list)
    """Suites, or folders with suites, relative to the project's root; `{path, tenants}` for some tenants alone."""
    agents: dict[str, ServeAgent] = field(default_factory=dict)
    """The agents by id."""
    keys: list[ServeKey] = field(default_factory=list)
    """The clients that may ask; with none, everybody on this machine, as the tenant `local`."""
    limits: ServeLimits = field(default_factory=ServeLimits)
    """The most work that the host takes on."""


@model
class CheckConfig(Model):
    """The settings of `agenteval check`; the command line overrides them."""

    against: Annotated[str, NotEmpty()] = "HEAD"
    """The revision to compare with: a commit, a tag, or a branch."""
    trials: Annotated[int, Between(1, 10_000)] = 6
    """The number of trials on each side of a test that is measured."""
    margin: Annotated[float, Between(0.01, 1)] = 0.2
    """The fall of a rate that counts as none, from 0 to 1: `held` means that a larger one is ruled out. `compare` takes it, too."""
    model: Literal["played", "real"] = "played"
    """`real`: ask the real model of `live.model` where the change reaches a test."""


@model
class Config(Model):
    """The settings of a project for all runs; the command line overrides them."""

    tests: list[Annotated[str, NotEmpty(), _Rule(_fault_inside)]] = field(default_factory=list)
    """The test files and directories that a command without paths is about, relative to the project root."""
    artifacts_dir: Annotated[str, NotEmpty(), _Rule(_path_fault)] = "artifacts"
    """The folder to which runs are written, relative to the project root."""
    strict: bool = False
    """Warnings fail a test or the run."""
    fail_on_vacuous: bool = False
    """A pass that had nothing to judge fails."""
    strict_capabilities: bool = False
    """An assertion for which the recording lacks something fails instead of being skipped."""
    save_traces: bool = False
    """Write every test's normalized trace."""
    baseline: Annotated[str, NotEmpty(), _Rule(_path_fault)] = "agenteval-baseline.json"
    """The file that `--update-baseline` writes, relative to the project root."""
    color: Literal["auto", "always", "never"] = "auto"
    """The use of colour on the console."""
    plugins: list[Annotated[str, _Rule(_plugin_fault)]] = field(default_factory=list)
    """Modules with assertion types and adapters to use: files relative to the project's root, or dotted names."""
    cluster_files: list[Annotated[str, NotEmpty(), _Rule(_fault_of_travelling)]] = field(default_factory=list)
    """Files that git ignores and that travel to a cluster all the same: paths or globs, relative to the project root."""
    cluster_wait: Annotated[float, Between(0, 86_400)] = 60.0
    """The seconds that a run waits for a worker of its cluster while that has none."""
    secrets: list[Annotated[str, NotEmpty()]] = field(default_factory=list)
    """Environment variables to redact: their values are hidden wherever they stand."""
    redaction: RedactionConfig = field(default_factory=RedactionConfig)
    """The values that are redacted without being named."""
    suite: SuiteConfig = field(default_factory=SuiteConfig)
    """The OpenWOP suite."""
    limits: LimitsConfig = field(default_factory=LimitsConfig)
    """Bounds on what is read."""
    live: LiveConfig = field(default_factory=LiveConfig)
    """The settings for running agents again."""
    check: CheckConfig = field(default_factory=CheckConfig)
    """The settings of `agenteval check`."""
    serve: ServeConfig = field(default_factory=ServeConfig)
    """The OpenWOP host."""


PREFIX = "AGENTEVAL_"
"""The beginning of the environment variables that configure: AGENTEVAL_ARTIFACTS_DIR, AGENTEVAL_SUITE_ID …"""

_MISNAMED = "agenteval.yml"
_PYPROJECT = "pyproject.toml"
_TABLES = ("\n[tool.agenteval", "\n[[tool.agenteval", "\ntool.agenteval", "\n[tool]", "\ntool={")
"""The ways in which the table may begin, once blanks and quotes are removed."""
_PATHS = ("artifacts_dir", "baseline")
"""The settings that name a file or folder; plugins have a rule of their own."""
CONFIGURING = (SETTINGS_FILE, _PYPROJECT)
"""The names of files that may hold settings."""
_CHECKOUT = ".git"
_ROOT_MARKS = (*CONFIGURING, _CHECKOUT)
_SHARED = 2
"""The parts of a path to a folder at the top of the file system, such as /tmp, which belongs to nobody."""


def project_root(paths: Sequence[str] = ()) -> Path:
    """The project that the paths belong to (by default: that the current directory belongs to).

    The nearest directory, from what the paths have in common upwards, that holds agenteval.yaml,
    pyproject.toml or .git; when there is none, the current directory if the paths are inside it, else what
    they have in common.
    """
    current = Path.cwd()
    common = _common_directory([current / path.partition("::")[0] for path in paths] or [current])
    for folder in (common, *common.parents):
        if any((folder / mark).exists() for mark in _ROOT_MARKS):
            return folder
    return current if common.is_relative_to(current) else common


def readable_root(test: Path) -> Path:
    """The folder in which a test may name files, wherever it is run from.

    Its checkout: the nearest folder upwards that holds .git. Without one, its project: the nearest that holds
    agenteval.yaml or pyproject.toml. With neither, the folder two above its own, which holds its suite and what lies beside
    that; but not the home directory, nor what holds it, nor the top of the file system or a folder there.
    """
    folder = Path(os.path.abspath(test.parent))  # noqa: PTH100 - without `..`
    upwards = (folder, *folder.parents)
    for marks in ((_CHECKOUT,), CONFIGURING):
        for each in upwards:
            if any(os.path.lexists(f"{each}{os.sep}{mark}") for mark in marks):
                return each
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - which raises nothing
    shared = (each for each in upwards[2:0:-1] if len(each.parts) > _SHARED and not home.is_relative_to(each))
    return next(shared, folder)


def checkout_of(root: Path) -> Path:
    """The checkout that a project is in, out of which no link is followed; the project itself when there is none."""
    return next((each for each in (root, *root.parents) if os.path.lexists(each / _CHECKOUT)), root)


def from_here(root: Path, setting: str) -> Path:
    """A path of the configuration, which is relative to the project's root, relative to the current directory."""
    return Path(os.path.relpath(root / setting))


def _common_directory(paths: Sequence[Path]) -> Path:
    directories = [path if path.is_dir() else path.parent for path in map(Path.absolute, paths)]
    try:
        return Path(os.path.commonpath([os.path.normpath(directory) for directory in directories]))
    except ValueError:  # different drives
        return directories[0]


def load_config(root: Path, environment: Mapping[str, str] | None = None) -> Config:
    """The configuration in force: defaults, then the project's file, then `AGENTEVAL_*` of the environment.

    From now on no link is followed out of the project's checkout.

    Raises `SpecError` with everything that is wrong: `config.unknown_key`, `config.wrong_type`,
    `config.wrong_value`, `config.outside_root`, `config.two_files`, `config.misnamed`, `config.syntax`,
    `config.unknown_variable`, `config.wrong_variable`, and what reading a file raises. A variable that is empty counts as not set.
    """
    keep_inside(checkout_of(root))
    return read_config(root, environment)


def read_config(root: Path, environment: Mapping[str, str] | None = None) -> Config:
    """Read the configuration of a folder as `load_config` does, and change nothing that is in force."""
    environment = os.environ if environment is None else environment
    try:
        data = _from_file(root)
    except FileError as error:
        raise SpecError(error.problems) from None
    given = {name: value for name, value in environment.items() if name.startswith(PREFIX) and value}
    if not given:
        return parse(Config, data)
    return _with_variables(data, given)


def rules_of(config: Config, names: Sequence[str] | None = None) -> RedactionRules:
    """The rules of redaction that a configuration and a command line ask for.

    `names` are the environment variables of the command line; None is for a command that runs nothing, which accepts
    that a variable of the configuration is not set. Raises `UsageError`.
    """
    values = []
    for name in dict.fromkeys([*(names or ()), *config.secrets]):
        value = os.environ.get(name, "")
        if len(value.strip()) >= SHORTEST_TEXT:
            values.append(value)
        elif names is not None:
            raise _unusable_secret(name, is_set=bool(value.strip()))
    return RedactionRules(config.redaction.kinds, values)


def _unusable_secret(name: str, *, is_set: bool) -> UsageError:
    """The error of a variable that has no value to look for. Its name may be the value itself, given by mistake."""
    if is_set:
        return UsageError(
            f"the value of {name} has fewer than {SHORTEST_TEXT} characters: it would match everywhere",
            reason_code="usage.secret_short",
            next_step=f"use a longer value, or remove {name} from --secret and from `secrets` in the configuration",
        )
    named = bool(_NAME.fullmatch(name)) and not detect(name)
    return UsageError(
        f"the environment variable {name if named else f'{name[:3]}…'} is not set, so its value cannot be redacted",
        reason_code="usage.secret_unset",
        next_step=f"set {name}, or remove it from --secret and from `secrets` in the configuration"
        if named
        else 'give the name of a variable (MY_KEY), not its value ("$MY_KEY")',
    )


_NAME = lazy(r"[A-Z_][A-Z0-9_]*")


def config_files(root: Path) -> list[Path]:
    """The files that configure the project, whether or not they are valid; loading two of them is an error."""
    own, shared = root / SETTINGS_FILE, root / _PYPROJECT
    files = [own] if os.path.lexists(own) else []
    try:
        in_shared = shared.is_file() and _may_configure(read_text(shared))
    except FileError:
        in_shared = False
    return [*files, shared] if in_shared else files


def refuse_misnamed(root: Path) -> None:
    """Raises `SpecError` (`config.misnamed`) for a file that is meant to configure the project, and does not."""
    if os.path.lexists(root / _MISNAMED):
        message = f"the configuration is read from {SETTINGS_FILE}, not from this file"
        fault = Fault("config.misnamed", message, next_step=f"rename it to {SETTINGS_FILE}")
        raise SpecError([problem_at(None, fault, root / _MISNAMED)])


def _from_file(root: Path) -> Any:
    """The data of the project's file, known to be valid; empty without one."""
    own, shared = root / SETTINGS_FILE, root / _PYPROJECT
    refuse_misnamed(root)
    table = _from_toml(shared) if shared.is_file() else None
    if not os.path.lexists(own):
        return table or {}
    if table is not None:
        message = f"the project is configured twice: here, and in [tool.agenteval] of {_PYPROJECT}"
        step = f"move the settings of {_PYPROJECT} to {SETTINGS_FILE} and remove the table there, or remove this file"
        raise FileError([problem_at(None, Fault("config.two_files", message, next_step=step), own)])
    from agenteval.reading.yamlsource import load_yaml, places

    text = read_text(own)
    try:
        return _checked(load_yaml(text, own), text, own, places)
    except FileError as error:
        if error.reason_code == "yaml.empty":  # a file in which everything is commented out
            return {}
        raise


def _from_toml(path: Path) -> Any:
    """Read the table in pyproject.toml; None when there is no such table."""
    text = read_text(path)
    if not _may_configure(text):
        return None
    import tomllib

    from agenteval.reading.places import as_json, toml_places, toml_syntax

    try:
        tool = tomllib.loads(text).get("tool")
    except tomllib.TOMLDecodeError as error:
        message, place = toml_syntax(text, str(error))
        raise FileError([problem_at(place, Fault("config.syntax", message), path)]) from None
    table = tool.get("agenteval") if isinstance(tool, dict) else None
    return None if table is None else _checked(as_json(table), text, path, toml_places)


def _may_configure(text: str) -> bool:
    """Return whether a pyproject.toml may have the table; parsing it as TOML takes longer than a small run."""
    if "agenteval" not in text:
        return False
    bare = "\n" + text.translate({ord(sign): None for sign in " \t\"'"})
    return any(table in bare for table in _TABLES)


def _checked(data: Any, text: str, path: Path, places: Places) -> Any:
    """The data, when it is valid. A project names only what is in it: whoever runs its tests may not know what its files say."""
    try:
        config = parse(Config, data)
    except Invalid as invalid:
        faults = [fault_of(finding, "config") for finding in invalid.findings]
    else:
        inside = checkout_of(path.parent.absolute())
        faults = [
            Fault(
                "config.outside_root",
                f"{name} names a place outside the project",
                (name,),
                next_step=f"name one inside, or give --{name.replace('_', '-')} or {PREFIX}{name.upper()} where it is to be elsewhere",
            )
            for name in _PATHS
            if not Path(os.path.abspath(path.parent / getattr(config, name))).is_relative_to(inside)  # noqa: PTH100 - without `..`
        ]
    if faults:
        raise FileError(problems_at(faults, text=text, places=places, path=path))
    return data


def _with_variables(data: Any, given: Mapping[str, str]) -> Config:
    """The configuration of a file, overridden by environment variables."""
    settings = _settings()
    data = deepcopy(data)
    problems = []
    for name, text in sorted(given.items()):
        if name not in settings:
            problems.append(_unknown_variable(name, settings))
            continue
        (*sections, key), kind = settings[name]
        here = data
        for section in sections:
            here = here.setdefault(section, {})
        here[key] = _value(text, kind)
    try:
        config = parse(Config, data)
    except Invalid as invalid:
        for finding in invalid.findings:  # the path may lead into a list
            name = next(name for name, (path, _) in settings.items() if finding.path[: len(path)] == path)
            message = f"{name}: {finding.message}"
            problems.append(Problem(reason_code="config.wrong_variable", message=message))
    if problems:
        raise SpecError(problems)
    return config


def _value(text: str, kind: Any) -> Any:
    """The value that the text of a variable means; the text itself, which is then refused, when it means none."""
    if get_origin(kind) is list:
        return [item.strip() for item in text.split(",") if item.strip()]
    if kind is bool:
        return {"1": True, "true": True, "0": False, "false": False}.get(text.lower(), text)
    if kind in (int, float):
        with suppress(ValueError):
            number = kind(text)
            return number if number - number == 0 else text  # not for NaN and infinity
    return text


def _settings() -> dict[str, tuple[tuple[str, ...], Any]]:
    """Every setting by the name of its environment variable: its path in the configuration, and its kind."""
    found = {}
    sections: list[tuple[tuple[str, ...], type[Model]]] = [((), Config)]
    for section, cls in sections:
        for declared in fields(cls):  # type: ignore[arg-type]
            path, kind = (*section, declared.name), declared.type
            while get_args(kind) and get_origin(kind) not in (Literal, list):  # without marks and None
                kind = get_args(kind)[0]
            if path == ("serve",):
                continue  # tables, which no variable can hold
            if isinstance(kind, type) and issubclass(kind, Model):
                sections.append((path, kind))
            else:
                found[PREFIX + "_".join(path).upper()] = path, kind
    return found


def _unknown_variable(name: str, settings: Collection[str]) -> Problem:
    near = closest(name.removeprefix(PREFIX), [each.removeprefix(PREFIX) for each in settings])
    return Problem(
        reason_code="config.unknown_variable",
        message=f"unknown environment variable {name}",
        hint=f"did you mean {PREFIX + near!r}?" if near else "",
        allowed=sorted(settings),
    )
