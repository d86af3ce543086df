"""The documentation is complete: whatever can be written, set, asked for or met stands on the page it belongs on."""

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
import typer

from agenteval.assertions import assertion_types
from agenteval.cli.app import COMMANDS, _app
from agenteval.comparing import baseline, comparison
from agenteval.contracts import results, testcase, trace
from agenteval.contracts.errors import ExitCode
from agenteval.contracts.explaining import Finding
from agenteval.loading import config
from agenteval.loading.config import Config
from agenteval_nanoclaw import bundle
from pages import DOCS, PAGES, ROOT, name_of, prose, text_of

README = ROOT / "README.md"
TROUBLESHOOTING = DOCS / "troubleshooting.md"
SOURCES = [*(ROOT / "src").rglob("*.py"), *(ROOT / "adapters").rglob("*.py")]

CODE = re.compile(r"[a-z]+\.[a-z_]+")
IN_TEXT = re.compile(r"^([a-z]+\.[a-z_]+): |error\[([a-z]+\.[a-z_]+)\]")
PYTEST_OPTIONS = {
    *(
        "--agenteval",
        "--agenteval-artifacts",
        "--agenteval-live",
        "--continue-on-collection-errors",
        "--lf",
        "--runxfail",
    )
}
"""Of pytest, where it runs our tests: the plugin's own, and its."""
FINDINGS: tuple[str, ...] = get_args(Finding.__annotations__["code"])


def cells(text: str, column: int = 0) -> list[str]:
    """The cells of one column of all tables in a text."""
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("| ")]
    return [row[column].strip() for row in rows if not set(row[column].strip()) <= {"-"}]


def quoted(text: str) -> set[str]:
    """What stands in backticks."""
    return set(re.findall(r"`([^`]+)`", text))


def section(page: Path, heading: str) -> str:
    """The text under a heading of the second level."""
    (text,) = re.findall(
        rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text_of(page), re.MULTILINE | re.DOTALL
    )
    return str(text)


def constants(file: Path) -> Iterator[str]:
    """The strings in a source file."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@cache
def families() -> frozenset[str]:
    """The families of reason codes, by the page about them."""
    return frozenset(quoted(section(DOCS / "exit-codes.md", "Reason codes")))


def spelled_codes() -> set[str]:
    """The reason codes that the source spells out."""
    found: set[str] = set()
    for file in SOURCES:
        for text in constants(file):
            candidates = [text] if CODE.fullmatch(text) else [a or b for a, b in IN_TEXT.findall(text)]
            found.update(code for code in candidates if code.partition(".")[0] in families())
    events = {"run.started", "run.completed", "run.failed", "run.cancelled"}  # of OpenWOP
    return {code for code in found - events if not code.endswith(("_", ".json", ".yaml", ".yml"))}


def composed_codes() -> set[str]:
    """The reason codes that the source puts together: of findings of models, of ids that occur twice, of bundles."""
    found = {f"{family}.{name}" for family in ("spec", "json", "config") for name in FINDINGS}
    found -= {"config.missing_key"}  # no setting is required
    found |= {"spec.duplicate_assertion_id", "spec.duplicate_fixture_id"}
    json_codes = {code for code in spelled_codes() | found if code.startswith("json.")}
    return found | {code.replace("json.", "bundle.") for code in json_codes}


def test_every_reason_code_is_explained_and_no_other() -> None:
    """The page about reason codes has each that a run can end in, once, and none that does not exist."""
    explained = [code for cell in cells(text_of(TROUBLESHOOTING)) for code in re.findall(r"`([^`]+)`", cell)]
    codes = [code for code in explained if CODE.fullmatch(code)]
    assert sorted(codes) == sorted(spelled_codes() | composed_codes())


def test_no_reason_code_escapes_by_its_family() -> None:
    """Each code that the source gives by keyword is of a family that the page about exit codes names."""
    for file in SOURCES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg in ("reason_code", "code"):
                value = getattr(node.value, "value", None)
                if isinstance(value, str) and value and value not in FINDINGS:
                    assert CODE.fullmatch(value), f"{file.name}:{node.value.lineno}: {value!r}"
                    assert value.partition(".")[0] in families(), (
                        f"{file.name}:{node.value.lineno}: {value!r}"
                    )


def test_composed_reason_codes_are_composed_so() -> None:
    """What this module knows of codes that are put together is what the source does."""
    source = "\n".join(file.read_text(encoding="utf-8") for file in SOURCES)
    found = re.findall(r'f"((?:[a-z]+|\{family\})\.[a-z_]*\{[^}]*\}[a-z_]*)"', source)
    composed = {code for code in found if code.partition(".")[0] in {*families(), "{family}"}}
    assert composed == {"{family}.{finding.code}", "spec.duplicate_{what}_id"}
    assert set(re.findall(r'fault_of\(\w+, "([a-z]+)"\)', source)) == {"spec", "json", "config"}
    assert set(re.findall(r'check_unique\("([a-z]+)"', source)) == {"assertion", "fixture"}
    assert '.replace("json.", "bundle.", 1)' in source


def test_exit_codes_are_on_their_pages() -> None:
    """The page about exit codes and the README list the codes there are."""
    codes = [str(int(code)) for code in ExitCode]
    (line,) = re.findall(r"^Exit codes: (.*)$", text_of(README), re.MULTILINE)
    assert re.findall(r"`(\d)`", line) == codes
    assert [cell for cell in cells(text_of(DOCS / "exit-codes.md")) if cell.isdecimal()] == codes


def test_every_command_has_its_exit_codes() -> None:
    """The table of who says what on the page about exit codes leaves none out."""
    said = quoted(" ".join(cells(section(DOCS / "exit-codes.md", "Who says what"))))
    assert {each.split()[0] for each in said} == set(COMMANDS)


def test_who_reads_files_outside_the_project() -> None:
    """The page about limits names the commands that have `--allow-outside`."""
    (told,) = re.findall(r"`--allow-outside`, of (.+?), lets", text_of(DOCS / "limits.md"))
    assert quoted(told) == {name for name, known in options().items() if "--allow-outside" in known}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_table_says_a_thing_twice(page: Path) -> None:
    """The first cells of a table are all different."""
    for table in re.findall(r"(?:^\|.*\n)+", text_of(page), re.MULTILINE):
        firsts = [cell for cell in cells(table) if cell]
        assert [cell for cell in firsts if firsts.count(cell) > 1] == []


@pytest.mark.parametrize("adapter", ["nanoclaw", "otel"])
def test_the_modules_of_an_adapter_are_in_its_readme(adapter: str) -> None:
    """Each in its table of modules, and no other."""
    folder = ROOT / "adapters" / adapter
    modules = {path.name for path in folder.rglob("*.py")} - {"__init__.py"}
    layout = section(folder / "README.md", "Layout")
    assert {
        name.split("/")[-1] for name in quoted(" ".join(cells(layout))) if name.endswith(".py")
    } == modules


def test_mutants_have_one_speed() -> None:
    """What the page about mutation says of it is what the page about benchmarks has measured."""
    measured = re.findall(r"([\d,]+) of ([\d,]+) a second", text_of(ROOT / "benchmarks" / "README.md"))
    told = re.findall(r"([\d,]+) a second of the ([\d,]+) mutants", text_of(DOCS / "mutation.md"))
    assert told == measured != []


def test_the_readme_knows_how_many_types_there_are() -> None:
    """And leads to the page that has them all."""
    assert f"[{len(assertion_types())} types of assertion](docs/assertions.md)" in text_of(README)


def settings() -> dict[str, Any]:
    """Every setting by its dotted key, with its default."""
    found = {}
    for path, _ in config._settings().values():
        here: Any = Config()
        for step in path:
            here = getattr(here, step)
        found[".".join(path)] = here
    return found


def test_settings_are_on_the_page_about_configuration() -> None:
    """Every key with its default, and no other."""
    import json

    text = section(DOCS / "configuration.md", "Settings")
    shown = [cell.strip("`") for cell in cells(text)[1:]]
    assert sorted(shown) == sorted(f"{key}: {json.dumps(default)}" for key, default in settings().items())


def options() -> dict[str, set[str]]:
    """The options of every command."""
    group: Any = typer.main.get_command(_app(list(COMMANDS)))
    return {
        name: {"--help", "-h"}
        | {
            spelled
            for param in command.params
            for spelled in (*param.opts, *param.secondary_opts)
            if spelled.startswith("-")
        }
        for name, command in group.commands.items()
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_options_are_on_the_page_about_the_command_line(command: str) -> None:
    """Every option of a command is in its section, and no other; that of help is every command's."""
    page = DOCS / "command-line.md"
    (heading,) = re.findall(rf"^## (agenteval {command}\b.*)$", text_of(page), re.MULTILINE)
    shown = set(re.findall(r"`(-[\w-]+)", section(page, heading)))
    assert shown == options()[command] - {"--help", "-h"}


def test_commands_are_on_the_page_about_the_command_line() -> None:
    """A section for each command, in the order of the help."""
    shown = re.findall(r"^## agenteval (\w+)", text_of(DOCS / "command-line.md"), re.MULTILINE)
    assert shown == list(COMMANDS)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pages_speak_of_commands_and_options_that_exist(page: Path) -> None:
    """`agenteval <command>` and `--option`, wherever a page mentions them."""
    known = (
        set().union(*options().values())
        | {"--version", "--install-completion", "--show-completion"}
        | PYTEST_OPTIONS
    )
    for text in quoted(prose(page)):
        assert set(re.findall(r"(?<![\w./-])agenteval ([a-z]+)\b", text)) <= set(COMMANDS)
        assert set(re.findall(r"(?<!\S)--[a-z][\w-]*", text)) <= known


def names(*models: type) -> set[str]:
    """The fields of models."""
    return {field.name for model in models for field in fields(model)}


@pytest.mark.parametrize(
    ("page", "known"),
    [
        (
            "test-format.md",
            names(
                *(
                    testcase.TestCase,
                    testcase.Scenario,
                    testcase.Message,
                    testcase.Tools,
                    testcase.Fixture,
                    testcase.FixtureError,
                ),
                *(
                    testcase.FixtureMatch,
                    testcase.ToolPolicy,
                    testcase.AssertionSpec,
                    testcase.Policy,
                    testcase.Expected,
                    testcase.Reporting,
                ),
            )
            - names(testcase.FixtureMatch),
        ),
        (
            "replay-bundles.md",
            names(
                *(bundle.ReplayBundle, bundle.RecordedMessage, bundle.FinalOutput, bundle.RecordedScenario),
                *(bundle.RecordedMetrics, *get_args(bundle.AnyStep), testcase.FixtureMatch),
            ),
        ),
        (
            "trace.md",
            names(
                trace.Trace,
                trace.Event,
                trace.AdapterInfo,
                trace.TraceMessage,
                trace.TraceScenario,
                trace.Metrics,
            )
            | set(trace.EVENT_TYPES)
            | set(trace.CAPABILITY_FLAGS)
            | set(get_args(trace.TraceStatus)),
        ),
        (
            "comparing.md",
            names(baseline.BaselineFile, baseline.TestFacts)
            | set(get_args(results.AssertionState))
            | set(comparison.KINDS),
        ),
        (
            "results.md",
            names(
                *(results.TestResult, results.AssertionResult, results.Counts, results.TraceSummary),
                *(
                    results.ErrorInfo,
                    results.Artifacts,
                    results.Evidence,
                    results.Excerpt,
                    results.CapabilityCheck,
                ),
                *(
                    results.RunSummary,
                    results.RunCounts,
                    results.CategoryScore,
                    results.TestRow,
                    results.InvalidSpec,
                ),
            )
            | set(get_args(results.TestStatus))
            | set(get_args(results.AssertionStatus)),
        ),
    ],
)
def test_fields_are_on_their_page(page: str, known: set[str]) -> None:
    """Every field of a format is named on the page about it."""
    words = {word for text in quoted(prose(DOCS / page)) for word in re.findall(r"\w+", text)}
    assert known - words == set()


def test_data_of_events_is_on_the_page_about_traces() -> None:
    """The table of event types has every type, with the keys that the examples' traces have in `data`."""
    from agenteval.contracts.adapters import AdapterContext, find_adapter
    from agenteval.loading.testfile import load_test

    text = section(DOCS / "trace.md", "Events")
    shown = {
        kind.strip("`"): quoted(data) for kind, data in zip(cells(text)[1:], cells(text, 1)[1:], strict=True)
    }
    assert list(shown) == list(trace.EVENT_TYPES)
    for path in (ROOT / "examples").rglob("test.yaml"):
        context = AdapterContext(base_dir=path.parent, root=ROOT, run_id="run-1", max_file_bytes=10**6)
        case = load_test(path).case
        for event in find_adapter(case.adapter).trace(case, context).events:
            assert set(event.data) <= shown[event.type], f"{path}: {event.event_id}"


def test_terms_are_those_of_the_code() -> None:
    """What a call, a failed call and a retry is, is said in the words of trace.py."""
    assert trace.__doc__ is not None
    defined = re.findall(r"^([a-z ]+)\n    ((?:.+\n(?:    )?)+?)(?=^\S|\n)", trace.__doc__, re.MULTILINE)
    shown = cells(section(DOCS / "trace.md", "Terms"))[1:]
    assert [term for term, _ in defined] == shown
