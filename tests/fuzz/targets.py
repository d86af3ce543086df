"""What is fuzzed, and what must hold of it whatever comes in (the invariants).

A target takes one input and raises when an invariant is broken: a crash, a reason code that is missing, a result that
cannot be written, a file where none may be. How long an input may take is the driver's business.
"""

import io
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from agenteval.assertions import assertion_class, assertion_types
from agenteval.cli import main
from agenteval.contracts import time_limits
from agenteval.contracts.adapters import AdapterContext, find_adapter
from agenteval.contracts.errors import AdapterError, AssertionCrashError, SpecError
from agenteval.contracts.models import Invalid, parse
from agenteval.contracts.testcase import AssertionSpec, TestCase
from agenteval.contracts.trace import check_trace
from agenteval.judging.verdicts import JudgingRules, judge_all
from agenteval.loading.testfile import BoundAssertion, LoadedTest, load_test
from agenteval.matching.patterns import (
    MOST_DIFFERENCES,
    pattern_error,
    schema_differences,
    schema_error,
    search,
)
from agenteval.redaction.redactor import Redactor
from agenteval.redaction.sealing import encode
from agenteval.text.names import name_matches
from builders import make_case, make_spec
from fuzz import material
from fuzz.material import FRAGMENTS, PATTERNS, Tape, clean, params_of

ROOT = Path(__file__).resolve().parents[2]
SEEDS = Path(__file__).resolve().parent / "seeds"
SECONDS = 0.05
"""The time limit of patterns while fuzzing: runaway patterns are wanted, waiting for them is not."""
TRICKS = (
    b"&a ",
    b"*a",
    b"<<: ",
    b"!!int ",
    b"? ",
    b"[" * 200,
    b"{a: " * 120,
    b"\\ud800",
    b"1e999",
    b"\xff\xfe",
    b"---\n",
)
SIGNS = (
    *"ab().*+?|[]{}^$\\<>=!:-,1",
    "(?:",
    "(?=",
    "(?<!",
    "(?P<n>",
    "(?i)",
    "\\p{L}",
    "\\1",
    "{2,}",
    "{1,3}",
    "&&",
    "(?R)",
    "ß",
)
BUGS = ("assertion.crashed", "adapter.crashed", "internal.bug")
"""Reason codes that say: this is a bug of ours."""


@dataclass(frozen=True)
class Target:
    """One thing to fuzz: `check` takes bytes.

    Bytes of `seeds` are files, as they are; a target without them reads its bytes as a tape. `near` makes files that are
    near to a seed out of a tape, for an engine that knows none.
    """

    name: str
    check: Callable[[bytes], None]
    seeds: Callable[[], list[bytes]] | None = None

    def from_tape(self, content: bytes) -> bytes:
        """The input that a tape stands for."""
        return near(self.seeds)(content) if self.seeds else content


@cache
def scratch() -> Path:
    """One directory of this process to write inputs into."""
    folder = Path(tempfile.mkdtemp(prefix="agenteval-fuzz-"))
    import atexit

    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


# The spec loader


def check_spec(content: bytes) -> None:
    """Any bytes are a test, or a spec error whose problems are located and can be shown."""
    time_limits.set_seconds(SECONDS)
    path = scratch() / "test.yaml"
    path.write_bytes(content)
    try:
        problems = load_test(path).warnings
    except SpecError as error:
        problems = error.problems
        assert problems, "an error without a problem"
    for problem in problems:
        assert problem.render().startswith(str(path)), problem.render()
        assert "." in problem.reason_code, problem


@cache
def spec_seeds() -> list[bytes]:
    """The test files of examples and negative controls, and those kept for fuzzing."""
    files = [*ROOT.glob("examples/**/*.yaml"), *ROOT.glob("tests/cases/**/*.yaml"), *SEEDS.glob("spec/*")]
    return [path.read_bytes() for path in sorted(files)]


# The bundle reader


@cache
def _reader() -> tuple[Any, TestCase]:
    fixtures = [
        {"id": "fx.web_search.ai_news", "tool": "web_search", "response": {"items": ["news"]}},
        {"id": "f", "tool": "web_search", "error": {"error_type": "timeout"}},
    ]
    tools = {"available": ["web_search"], "fixtures": fixtures}
    return find_adapter("nanoclaw"), parse(TestCase, make_spec(tools=tools))


def check_bundle(content: bytes) -> None:
    """Any bytes are a trace that keeps the contract and can be written, or an adapter error with a reason and a step."""
    adapter, case = _reader()
    folder = scratch()
    (folder / "replay.json").write_bytes(content)
    context = AdapterContext(base_dir=folder, root=folder, run_id="run-1", max_file_bytes=10**7)
    try:
        trace = adapter.trace(case, context)
    except AdapterError as error:
        assert error.message, "an error without a message"
        assert "." in error.reason_code, error
        assert error.next_step, error
    else:
        check_trace(trace)
        json.loads(encode(trace))


@cache
def bundle_seeds() -> list[bytes]:
    """The recordings of examples and negative controls, and those kept for fuzzing."""
    patterns = ("examples/**/replay.json", "tests/cases/**/replay.json")
    files = [*(path for pattern in patterns for path in ROOT.glob(pattern)), *SEEDS.glob("bundle/*")]
    return [path.read_bytes() for path in sorted(files)]


# The assertions


def check_assertion(content: bytes) -> None:
    """Parameters are refused with a reason, or judged: twice to the same result, which can be written."""
    time_limits.set_seconds(SECONDS)
    tape = Tape(content)
    kind = tape.pick(assertion_types())
    cls = assertion_class(kind)
    assert cls is not None
    params, overrides, trace = params_of(cls, tape), material.case(tape), material.trace(tape)
    check_trace(trace)
    try:
        case = make_case(**deepcopy(overrides))
        with time_limits.step(AssertionCrashError):
            check = parse(cls, deepcopy(params))
    except Invalid as invalid:
        assert invalid.findings, "refused without a finding"
        assert all(finding.message for finding in invalid.findings), invalid.findings
        return
    spec = AssertionSpec(id="a", type=kind, params=params)
    bound = BoundAssertion(spec=spec, check=check, requires=cls.implied)
    test = LoadedTest(case=case, path=Path("test.yaml"), checks=[bound])
    before = encode(trace)
    (result,), failure = judge_all(test, trace, JudgingRules(), Redactor([]))
    assert encode(trace) == before, "the check changed the trace"
    if failure:
        assert failure.reason_code not in BUGS, f"{failure.message}\n{failure.details}"
        assert failure.next_step
        return
    assert result.status == "pass" or result.reason_code, result
    assert result.exercised or result.reason, result
    assert result.message
    json.loads(encode(result))
    if "time limit" not in result.message:
        (again,), failed = judge_all(test, trace, JudgingRules(), Redactor([]))
        assert failed or encode(again) == encode(result), "judged differently the second time"


# What authors match with


def check_matcher(content: bytes) -> None:
    """A schema, a pattern and a glob are refused in words, or judge any value: to a verdict, or to an error with a step."""
    time_limits.set_seconds(SECONDS)
    tape = Tape(content)
    schema, value, output = material.schema(tape), material.data(tape), material.text(tape)
    pattern = tape.pick(PATTERNS) if tape.chance(2) else "".join(tape.some(8, lambda each: each.pick(SIGNS)))
    try:
        with time_limits.step(AssertionCrashError):
            if isinstance(schema, dict) and schema_error(schema) is None:
                lines = schema_differences(schema, value)
                assert all(lines), lines
                assert len(lines) <= MOST_DIFFERENCES
        with time_limits.step(AssertionCrashError):
            if pattern_error(pattern) is None:
                search(pattern, output)
                search(pattern, output, case_sensitive=True)
    except AssertionCrashError as error:
        assert error.message, "an error without a message"
        assert error.reason_code.split(".")[0] in ("pattern", "schema"), error.reason_code
        assert error.next_step, error
    assert name_matches(pattern, output) in (True, False)


# The command line


@cache
def _examples() -> list[dict[str, Any]]:
    """The files of every example and negative control that has a recording, by name, as data."""
    found = []
    for spec in [*ROOT.glob("examples/nanoclaw/*/test.yaml"), *ROOT.glob("tests/cases/failing/*/test.yaml")]:
        files = {"test.yaml": yaml.safe_load(spec.read_text(encoding="utf-8"))}
        for path in spec.parent.glob("*.json"):
            files[path.name] = json.loads(path.read_text(encoding="utf-8"))
        found.append(files)
    return found


FLAGS = (
    *(
        "-x",
        "--strict",
        "--fail-on-vacuous",
        "--strict-capabilities",
        "--save-traces",
        "--json",
        "-q",
        "-v",
        "--durations=2",
    ),
    *(
        "--allow-outside",
        "--no-artifacts",
        "--maxfail=1",
        "-k=a",
        "-t=news",
        "--exclude-tag=x",
        "--collect-only",
        "--color=always",
    ),
    *("--run-id=../x", "--run-id=ok", "-k=(", "--unknown", "--maxfail=x", "--color=blue"),
)
COMMANDS = ("validate", "validate", "list", "doctor", "explain", "schema", "init", "nonsense")
PATHS: tuple[list[str], ...] = (
    ["."],
    ["tests/test.yaml"],
    ["tests/test.yaml::a"],
    ["nowhere"],
    ["tests", "tests"],
    [],
)
CONFIGS = (
    *(
        "",
        "strict: true",
        "limits: {max_events: 2}",
        "limits: {max_file_bytes: 900}",
        "limits: {max_yaml_nodes: 50}",
    ),
    *(
        "limits: {max_result_bytes: 500}",
        "limits: {pattern_seconds: 0}",
        "artifacts_dir: ../out",
        "strict: 3",
        "[",
        "a: 1",
    ),
    *(
        "suite: {id: core.acme.evals.all, pass_score: 0.5}",
        "plugins: [nowhere.py]",
        "save_traces: true",
        "artifacts_dir: tests",
    ),
)


def _places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from _places(value, (*path, key))


def project(tape: Tape) -> tuple[dict[str, bytes], list[str]]:
    """A directory made of an example with changes in its data and its bytes, and what stands on the command line."""
    files = deepcopy(tape.pick(_examples()))
    for _ in range(tape.below(4)):
        name = tape.pick(sorted(files))
        if places := list(_places(files[name])):
            _change(tape, files[name], tape.pick(places))
    made = {name: _dumped(name, data) for name, data in files.items()}
    if tape.chance(5):
        name = tape.pick(sorted(made))
        made[name] = mutated(tape, made[name])
    usual = f"limits: {{pattern_seconds: {SECONDS}}}\n"
    made["agenteval.yaml"] = (tape.pick(CONFIGS) if tape.chance(5) else usual).encode()
    command = tape.pick(COMMANDS) if tape.chance(5) else "run"
    flags = tape.some(3, lambda each: each.pick(FLAGS)) if command == "run" else []
    return made, [command, *(tape.pick(PATHS) if tape.chance(5) else ["tests"]), *flags]


def _change(tape: Tape, data: Any, path: tuple[Any, ...]) -> None:
    *above, last = path
    for step in above:
        data = data[step]
    match tape.pick(["replace", "replace", "remove", "rename", "double"]):
        case "replace":
            special: dict[Any, Callable[[Tape], Any]] = {
                "json_schema": material.schema,
                "regex": lambda each: each.pick(PATTERNS),
            }
            data[last] = special.get(last, material.data)(tape)
        case "remove":
            del data[last]
        case "rename" if isinstance(data, dict):
            data[material.word(tape)] = data.pop(last)
        case _ if isinstance(data, list):
            data.insert(last, deepcopy(data[last]))
        case _:
            data[last] = [data[last]]


def _dumped(name: str, data: Any) -> bytes:
    if name.endswith(".yaml"):
        text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
    else:
        text = json.dumps(data, ensure_ascii=False)
    return clean(text).encode()


def check_command(content: bytes) -> None:
    """The command line ends in a code from 0 to 3, explains every no, and writes nothing but artifacts and cache."""
    files, argv = project(Tape(content))
    root = scratch() / "p"
    shutil.rmtree(root, ignore_errors=True)
    (root / "project" / "tests").mkdir(parents=True)
    for name, written in files.items():
        folder = root / "project" if name == "agenteval.yaml" else root / "project" / "tests"
        (folder / name).write_bytes(written)
    before = _tree(root)
    out, err = io.StringIO(), io.StringIO()
    with chdir(root / "project"), redirect_stdout(out), redirect_stderr(err):
        code = main(argv)
    told = out.getvalue() + err.getvalue()
    assert code in range(4), f"exit code {code}"
    assert "Traceback (most recent call last)" not in told, told
    assert "internal.bug" not in told, told
    assert code == 0 or told.strip(), "silence"
    if argv[0] == "init":
        return
    runs = {
        (root / "project" / name).resolve() for name in ("artifacts", ".agenteval_cache", "../out", "tests")
    }
    made = {path for path in _tree(root) - before if not any(_within(path[0], run) for run in runs)}
    assert not made, f"written outside of artifacts: {sorted(made)}"
    assert before <= _tree(root) | {entry for entry in before if _is_folder(entry)}, "a file was changed"
    for folder in runs:
        for path in folder.glob("*/*.result.json"):
            _check_result(json.loads(path.read_text(encoding="utf-8")))
        for path in folder.glob("*/summary.json"):
            summary = json.loads(path.read_text(encoding="utf-8"))
            assert summary["exit_code"] == code, (summary["exit_code"], code)


def _check_result(result: dict[str, Any]) -> None:
    assert result["status"] == "pass" or result["reason_code"], result
    assert result["reason_code"] not in BUGS, result["error"]
    for each in result["assertions"]:
        assert each["status"] == "pass" or each["reason_code"], each
        assert each["reason_code"] not in BUGS, each


def _tree(root: Path) -> set[tuple[str, int, bytes]]:
    return {
        (str(path.resolve()), path.stat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in root.rglob("*")
    }


def _is_folder(entry: tuple[str, int, bytes]) -> bool:
    return os.path.isdir(entry[0])  # noqa: PTH112


def _within(name: str, folder: Path) -> bool:
    return Path(name) == folder or folder in Path(name).parents


# Bytes near to valid ones


def mutated(tape: Tape, seed: bytes) -> bytes:
    """A seed with a few stretches cut, doubled or overwritten."""
    content = bytearray(seed)
    for _ in range(1 + tape.below(4)):
        at = tape.below(min(len(content) + 1, 65_536))
        length = tape.pick((0, 1, 2, 5, 30))
        stretch = bytes(content[at : at + length])
        put = (
            b"",
            tape.bytes(4),
            stretch * 2,
            tape.pick(FRAGMENTS).encode(errors="surrogatepass"),
            tape.pick(TRICKS),
        )
        content[at : at + length] = tape.pick(put)
    return bytes(content)


def near(seeds: Callable[[], list[bytes]]) -> Callable[[bytes], bytes]:
    """Turns a tape into bytes that are near to a seed."""

    def made(content: bytes) -> bytes:
        tape = Tape(content)
        return mutated(tape, tape.pick(seeds()))

    return made


def targets() -> list[Target]:
    """Everything there is to fuzz."""
    for flag in [name for name in os.environ if name.startswith("AGENTEVAL_")]:
        del os.environ[flag]
    return [
        Target("spec", check_spec, spec_seeds),
        Target("bundle", check_bundle, bundle_seeds),
        Target("assertions", check_assertion),
        Target("matchers", check_matcher),
        Target("command-line", check_command),
    ]
