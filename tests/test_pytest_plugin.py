"""The pytest plugin: test files as pytest's own tests, in runs of pytest as users start them."""

import json
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import agenteval
from actions import commands
from agenteval.cli import main
from planted import AWS, EMAIL
from plugin_projects import SHOUTS, plugged
from projects import FETCHES, NEEDS_LIVE, SEARCHES, VACUOUS, Project, make_replay

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parent.parent
EXPECTED = {"status": "fail", "assertions": ["fetches"], "reason": "it does not read what it finds"}
EVIDENCE = [
    "_ ERROR collecting tests/invalid/test.yaml _",
    """\
tests/invalid/test.yaml:23:1: error[spec.unknown_key]: unknown key 'tilte'
   21 | adapter_input:
   22 |   replay_file: replay.json
   23 | tilte: A test case
      | ^^^^^ did you mean 'title'?
""",
    "_ ERROR at setup of test nanoclaw.t.error.x _",
    """\
tests/error/test.yaml:23:16: error[adapter.replay_missing]: adapter_input.replay_file names 'replay.json', but tests/error/replay.json is
  not there
  A test case
  next: correct adapter_input.replay_file in the test, or put the recording there
  agenteval run tests/error/test.yaml
""",
    "_ test nanoclaw.t.fail.x _",
    """\
fetches: expected at least 1 call of web_fetch, got 0; the trace calls web_search×1
  A test case
  trace success · tools web_search×1 · retries 0
  ✗ fetches  must_call_tool  critical
      expected at least 1 call of web_fetch, got 0; the trace calls web_search×1
      evt-2 web_search {"query": "cats"}
          tool: expected web_fetch, got web_search
  ✓ 1 passed
  failure categories: required tool not used
  agenteval run tests/fail/test.yaml
""",
    """\
xfail.unexpected_pass: searches passed, though the test expects it to fail: take it out of `expected` when the cause \
is fixed, else find what hides it
""",
    "= agenteval remarks =",
    """\
tests/warn/test.yaml::nanoclaw.t.warn.x
  trace success · tools web_search×1 · retries 0
  ! warns  must_call_tool  warning
""",
    """\
SKIPPED [1] tests/skip/test.yaml:1: needs-live: skipped: it needs supports_live_run, which the adapter does not \
support for this recording
""",
    """\
XFAIL tests/known/test.yaml::nanoclaw.t.known.x - it does not read what it finds
""",
]
"""What a run of all kinds of tests shows."""
SILENT = make_replay({"type": "final_output", "content": "x"})
"""A recording in which no tool is called."""


@pytest.fixture(autouse=True, scope="module")
def every_module() -> None:
    """Pytester forgets what is imported while it is there: later tests would find classes without their module."""
    for module in walk_packages(agenteval.__path__, "agenteval."):
        if not module.name.endswith("__main__"):
            import_module(module.name)


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of whoever runs the tests; nor a machine on which pytest cuts lines otherwise."""
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS", "CI", "BUILD_NUMBER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A project whose pytest has the switch on in its settings."""
    pytester.makeini("[pytest]\nagenteval = true\n")
    return Project(pytester.path)


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """One run of pytest, without the plugins that only these tests' environment has."""
    others = ("hypothesispytest", "schemathesis", "anyio", "platformdirs")
    return pytester.runpytest_subprocess(*(f"-pno:{name}" for name in others), *arguments)


def collected(done: pytest.RunResult) -> list[str]:
    """The names of the tests in the output of `--collect-only -q`."""
    return [line.partition("::")[2] for line in done.outlines if "::" in line]


def cases(path: Path) -> dict[str, tuple[str, dict[str, str]]]:
    """The tests of a JUnit file by name: what each came to, and its properties."""
    found = {}
    for case in ET.parse(path).iter("testcase"):
        tags = [child.tag for child in case if child.tag != "properties"]
        facts = {each.attrib["name"]: each.attrib["value"] for each in case.iter("property")}
        found[case.attrib["name"]] = (tags[0] if tags else "passed", facts)
    return found


def test_without_the_switch_nothing_is_collected_or_imported(pytester: pytest.Pytester) -> None:
    """A project that has not switched the plugin on gets none of its tests, none of its lines, none of its modules."""
    Project(pytester.path).add("fail")
    pytester.makepyfile(
        """
        import sys

        def test_modules():
            loaded = {name for name in sys.modules if name.startswith("agenteval")}
            assert loaded == {"agenteval", "agenteval.pytest_plugin"}
        """
    )
    done = run(pytester, "-v")
    done.assert_outcomes(passed=1)
    told = [line for line in done.outlines if not line.startswith(("platform ", "plugins: "))]
    assert [line for line in told if "agenteval" in line] == []


def test_a_test_file_that_is_named_without_the_switch_says_so(pytester: pytest.Pytester) -> None:
    """Any other YAML file is for other plugins."""
    Project(pytester.path).add("pass")
    (pytester.path / "other.test.yaml").write_text("stages: []\n", encoding="utf-8")
    done = run(pytester, "tests/pass/test.yaml::x")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    wanted = "tests/pass/test.yaml is a test of agenteval: add --agenteval, or set agenteval = true in pytest's configuration"
    assert wanted in str(done.stderr)
    assert "agenteval" not in str(run(pytester, "other.test.yaml").stderr)


def test_every_verdict_is_one_of_pytests_own(pytester: pytest.Pytester, project: Project) -> None:
    """Failures, errors, skips, expected failures and invalid files are told apart, each with its evidence."""
    for kind in ("pass", "fail", "warn", "skip", "error", "invalid"):
        project.add(kind)
    project.add("fail", "known", expected=EXPECTED)
    project.add("pass", "mended", expected={**EXPECTED, "assertions": ["searches"]})
    options = ("--continue-on-collection-errors", "-W", "error", "--junitxml=junit.xml", "-rsx", "-l")
    done = run(pytester, *options)
    done.assert_outcomes(passed=2, failed=2, skipped=1, errors=2, xfailed=1)
    text = "\n".join(done.outlines)
    assert [evidence for evidence in EVIDENCE if evidence not in text] == []
    assert "Traceback" not in text
    assert ".py:" not in text
    found = cases(pytester.path / "junit.xml")
    assert {name: kind for name, (kind, _) in found.items()} == {
        "tests.invalid.test.yaml": "error",
        "nanoclaw.t.error.x": "error",
        "nanoclaw.t.fail.x": "failure",
        "nanoclaw.t.known.x": "skipped",
        "nanoclaw.t.mended.x": "failure",
        "nanoclaw.t.pass.x": "passed",
        "nanoclaw.t.skip.x": "skipped",
        "nanoclaw.t.warn.x": "passed",
    }
    assert found["nanoclaw.t.fail.x"][1] == {
        "agenteval.id": "nanoclaw.t.fail.x",
        "agenteval.title": "A test case",
        "agenteval.adapter": "nanoclaw 0.1.0",
        "agenteval.mode": "replay",
        "agenteval.status": "fail",
        "agenteval.reason_code": "assertion.failed",
        "agenteval.failure_categories": "required tool not used",
        "agenteval.vacuous": "0",
        "agenteval.skipped": "0",
    }


def test_properties_show_no_secret(
    pytester: pytest.Pytester, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names are redacted too: a value of `secrets` may be the name of an adapter."""
    monkeypatch.setenv("MY_KEY", "hush-hush-hush")
    (project.root / "agenteval.yaml").write_text("secrets: [MY_KEY]\n", encoding="utf-8")
    project.add("pass", "hidden", adapter="hush-hush-hush")
    project.add("pass", "shown")
    run(pytester, "--junit-xml", "junit.xml").assert_outcomes(passed=1, errors=1)
    assert "hush-hush-hush" not in (pytester.path / "junit.xml").read_text(encoding="utf-8")
    found = cases(pytester.path / "junit.xml")
    assert found["nanoclaw.t.hidden.x"][1]["agenteval.adapter"].startswith("[redacted:env:")
    assert found["nanoclaw.t.shown.x"][1]["agenteval.adapter"] == "nanoclaw 0.1.0"


def test_a_pass_that_skipped_assertions_is_told(pytester: pytest.Pytester, project: Project) -> None:
    """Most of a test may have gone unjudged, and pytest knows no word for it; a skipped test has one."""
    project.add("pass", assertions=[SEARCHES, NEEDS_LIVE])
    project.add("skip")
    done = run(pytester)
    done.assert_outcomes(passed=1, skipped=1)
    assert (
        "1 test passed with an assertion that was skipped; "
        "strict_capabilities in agenteval.yaml fails such tests" in done.outlines
    )


def test_an_expected_failure_fails_when_it_is_not_to_be_expected(
    pytester: pytest.Pytester, project: Project
) -> None:
    """`--runxfail` makes failures of expected ones, as it does of all others, with the evidence."""
    project.add("fail", "known", expected=EXPECTED)
    done = run(pytester, "--runxfail", "-q")
    done.assert_outcomes(failed=1)
    assert "it does not read what it finds" in done.outlines
    assert "  ✗ fetches  must_call_tool  critical  expected to fail" in done.outlines


def test_the_verdicts_are_those_of_agenteval_run(pytester: pytest.Pytester, tmp_path: Path) -> None:
    """The examples and the controls, by two workers of pytest and by `agenteval run`: the same, test by test."""
    folders = [ROOT / "examples" / "nanoclaw", ROOT / "tests" / "cases" / "failing"]
    folders += [ROOT / "tests" / "cases" / "error" / name for name in ("replay-missing", "unknown-adapter")]
    paths = list(map(str, folders))
    main(["run", *paths, "--artifacts-dir", str(tmp_path), "--run-id", "x", "-q"])
    told = json.loads((tmp_path / "x" / "summary.json").read_text(encoding="utf-8"))
    verdicts = {row["test_case_id"]: "xfail" if row["xfail"] else row["status"] for row in told["tests"]}
    words = {"pass": "passed", "fail": "failure", "error": "error", "xfail": "skipped"}
    done = run(pytester, "-n", "2", "--agenteval", "--junitxml=junit.xml", "-c", "/dev/null", *paths)
    found = cases(pytester.path / "junit.xml")
    assert {name: facts["agenteval.status"] for name, (_, facts) in found.items()} == verdicts
    assert {name: kind for name, (kind, _) in found.items()} == {
        name: words[verdict] for name, verdict in verdicts.items()
    }
    assert set(verdicts.values()) == set(words)
    remarked = [line for line in done.outlines if line.endswith("recorded-current-news.sourced-bullets")]
    assert len(remarked) == 1


def test_tests_are_selected_by_id_title_and_tags(pytester: pytest.Pytester, project: Project) -> None:
    """-k looks at ids, titles and tags; -m at the tags of the marker, and at tags that the project declares as markers."""
    pytester.makeini(
        "[pytest]\nagenteval = true\naddopts = --strict-markers\nmarkers =\n    slow(seconds): takes long\n"
    )
    project.add("pass", "one", title="Reads the news", tags=["memory", "odd tag: (1)", "skip"])
    project.add("pass", "two", tags=["slow"])
    project.add("pass", "three")
    pytester.makepyfile("def test_other(): pass")
    one, two, three = (f"nanoclaw.t.{name}.x" for name in ("one", "two", "three"))
    for option, expression, names in (
        ("-k", "NEWS or three", {one, three}),
        ("-k", "memory", {one}),
        ("-m", "agenteval(tag='memory') or slow", {one, two}),
        ("-m", "skip", set()),
    ):
        done = run(pytester, "--collect-only", "-q", option, expression)
        assert set(collected(done)) == names, expression
    run(pytester, "-m", "agenteval").assert_outcomes(passed=3, deselected=1)


def test_a_tag_that_can_be_no_marker(pytester: pytest.Pytester, project: Project) -> None:
    """A name with `_` at its front may be declared, but pytest makes no such marker: the tag stays a tag."""
    pytester.makeini("[pytest]\nagenteval = true\nmarkers =\n    _x: hidden\n    slow: takes long\n")
    project.add("pass", "one", tags=["_x", "slow"])
    project.add("pass", "two")
    run(pytester, "-m", "agenteval(tag='_x') and slow").assert_outcomes(passed=1, deselected=1)


def test_what_failed_last_is_run_again(pytester: pytest.Pytester, project: Project) -> None:
    """--lf runs failures and errors again, and nothing else."""
    for kind in ("pass", "fail", "error", "skip"):
        project.add(kind)
    run(pytester).assert_outcomes(passed=1, failed=1, errors=1, skipped=1)
    run(pytester, "--lf").assert_outcomes(failed=1, errors=1)


def test_the_files_are_those_that_agenteval_run_finds(pytester: pytest.Pytester, project: Project) -> None:
    """Names, directories that are not entered unless named, one file by two names: as on the command line."""
    found = project.add("pass", "one")
    found.rename(found.with_name("other.test.yml"))
    project.add("pass", "two").rename(project.root / "tests" / "two" / "scenario.yaml")
    project.add("pass", "../artifacts/left-out", id="nanoclaw.t.left-out.x")
    project.add("pass", ".hidden", id="nanoclaw.t.hidden.x")
    (project.root / "tests" / "zlink").symlink_to(found.parent, target_is_directory=True)
    done = run(pytester, "--collect-only", "-q")
    assert (done.ret, collected(done)) == (0, ["nanoclaw.t.one.x"])
    done = run(pytester, "--collect-only", "-q", "artifacts", "tests/zlink/other.test.yml")
    assert collected(done) == ["nanoclaw.t.left-out.x", "nanoclaw.t.one.x"]
    done = run(pytester, "--collect-only", "-q", "tests/.hidden/test.yaml")
    assert collected(done) == ["nanoclaw.t.hidden.x"]


def test_an_id_that_two_files_have_is_an_error(pytester: pytest.Pytester, project: Project) -> None:
    """The second file with an id is not collected, and says which file has it; the same file twice is no error."""
    project.add("pass", "one")
    project.add("pass", "two", id="nanoclaw.t.one.x")
    done = run(pytester, "-q")
    done.assert_outcomes(errors=1)
    assert (
        "tests/two/test.yaml:2:5: error[spec.duplicate_test_id]: the id 'nanoclaw.t.one.x' is already used by"
        " tests/one/test.yaml" in done.outlines
    )
    twice = run(pytester, "-q", "--keep-duplicates", "tests/one/test.yaml", "tests/one")
    assert twice.ret == 0
    assert "agenteval remarks" not in "\n".join(twice.outlines)  # there are none


def test_a_strict_project_allows_no_warnings(pytester: pytest.Pytester) -> None:
    """A test with a warning fails whatever its assertions say, and a broken plugin the session."""
    pytester.makeini("[pytest]\nagenteval = true\n")
    project = Project(pytester.path)
    with (project.root / "agenteval.yaml").open("a", encoding="utf-8") as file:
        file.write("strict: true\n")
    project.add("pass")
    project.add("pass", "odd", id="odd")
    project.add("fail", "odd-xfail", id="odder", assertions=[SEARCHES, FETCHES], expected=EXPECTED)
    done = run(pytester, "-rA")
    done.assert_outcomes(passed=1, failed=2)
    done.stdout.fnmatch_lines(
        ["FAILED tests/odd/test.yaml::odd - 1 warning (strict allows none)", "FAILED *::odder - 1 warning*"]
    )
    assert "\n1 warning (strict allows none)\n  trace success" in "\n".join(done.outlines)
    with (project.root / "agenteval.yaml").open("a", encoding="utf-8") as file:
        file.write("plugins: [gone.py]\n")
    done = run(pytester, "tests/pass")
    done.assert_outcomes(passed=1)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    done.stdout.fnmatch_lines(["strict in agenteval.yaml allows no warning: the session fails"])


def test_the_configuration_of_the_project_holds(pytester: pytest.Pytester) -> None:
    """Plugins, strictness and limits are those of agenteval.yaml, and they are not those of other tests."""
    pytester.makeini("[pytest]\nagenteval = true\n")
    telling = SHOUTS.replace("got {text!r}", "got {text!r} within {time_limits.SECONDS} s")
    telling = telling.replace("from typing", "from agenteval.contracts import time_limits\nfrom typing")
    project = plugged(pytester.path, telling, "checks/gone.py")
    with (project.root / "agenteval.yaml").open("a", encoding="utf-8") as file:
        file.write("strict: true\nlimits: {pattern_seconds: 7}\nredaction: {kinds: []}\n")
    project.add("warn")
    project.add("pass", "shouts", assertions=[{"id": "loud", "type": "shouts"}])
    project.add("pass", "silent", assertions=[VACUOUS], replay=SILENT)
    pytester.makepyfile(
        test_zz="""
        from agenteval.contracts import time_limits
        from agenteval.redaction.redactor import redactor_in_force

        def test_others():
            assert time_limits.SECONDS == 2
            assert redactor_in_force().rules.kinds == {"secrets", "email"}
        """
    )
    done = run(pytester)
    done.assert_outcomes(passed=2, failed=2)
    text = "\n".join(done.outlines)
    assert "loud: expected a shout, got 'Cats.' within 7 s" in text
    assert "warns: expected at least 1 call of web_fetch, got 0; the trace calls web_search×1" in text
    assert (
        "warning[plugin.broken]: the plugin checks/gone.py is broken: there is no such file in the project"
        in text
    )
    assert (
        "1 test passed with an assertion that had nothing to judge (vacuous); "
        "fail_on_vacuous in agenteval.yaml fails such tests" in text
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("colour: never\n", "ERROR: agenteval.yaml:1:1: error[config.unknown_key]: unknown key 'colour'"),
        (
            "secrets: [NOT_SET_ANYWHERE]\n",
            "ERROR: the environment variable NOT_SET_ANYWHERE is not set, so its value cannot be redacted",
        ),
    ],
)
def test_a_configuration_that_is_wrong_is_told_before_anything_runs(
    pytester: pytest.Pytester, project: Project, settings: str, message: str
) -> None:
    """It is a usage error of pytest's, with our message."""
    (project.root / "agenteval.yaml").write_text(settings, encoding="utf-8")
    done = run(pytester)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert done.errlines[0].replace(f"{pytester.path}/", "") == message


@pytest.mark.parametrize("workers", [[], ["-n", "1"]], ids=["alone", "worker"])
def test_nothing_sensitive_shows(pytester: pytest.Pytester, project: Project, workers: list[str]) -> None:
    """Secrets and addresses stay out of the output, JUnit file, cache and artifacts of pytest."""
    answer = {"role": "assistant", "content": f"The key is {AWS}, ask {EMAIL}."}
    says = {"id": "says", "type": "output_contains", "params": {"all_of": [f"no {AWS}", "absent"]}}
    rest: dict[str, Any] = {
        "replay": make_replay(final_output=answer),
        "tags": [AWS],
        "title": f"About {EMAIL}",
    }
    project.add("fail", "one", id=f"nanoclaw.t.{AWS}.x", assertions=[says], **rest)
    project.add("warn", "two", assertions=[{**says, "severity": "warning"}], **rest)
    project.add(
        "fail", "three", assertions=[says, NEEDS_LIVE], expected={**EXPECTED, "assertions": ["says"]}, **rest
    )
    project.add("invalid", "four", description=AWS, tags=[AWS, {AWS: EMAIL}])
    options = ["--junitxml=junit.xml", "--agenteval-artifacts=out", "--continue-on-collection-errors"]
    done = run(pytester, "-vv", "-rA", "-l", "--full-trace", *options, *workers)
    done.assert_outcomes(failed=1, passed=1, xfailed=1, errors=1)
    written = [path for name in ("out", ".pytest_cache") for path in Path(name).rglob("*") if path.is_file()]
    assert len(written) > 3
    places = [*written, Path("junit.xml")]
    texts = [*done.outlines, *done.errlines, *(path.read_text(encoding="utf-8") for path in places)]
    assert [text for text in texts if AWS in text or EMAIL in text] == []
    assert "[redacted:aws-access-key:" in "\n".join(done.outlines)


def test_results_are_written_where_they_are_asked_for(pytester: pytest.Pytester, project: Project) -> None:
    """Nowhere by default; else into a directory of the run, of which the evidence tells, relative to the rootdir."""
    project.add("fail", reporting={"save_trace": True})
    before = set(pytester.path.rglob("*"))
    run(pytester, "-p", "no:cacheprovider")
    new = {path.name for path in set(pytester.path.rglob("*")) - before}
    assert new == {"stdout", "stderr", "runpytest-0", "runpytest-current"}  # which pytester makes
    done = run(pytester, "-o", "agenteval_artifacts=kept/runs")
    (folder,) = (pytester.path / "kept" / "runs").iterdir()
    assert {path.name for path in folder.iterdir()} == {
        "nanoclaw.t.fail.x.result.json",
        "nanoclaw.t.fail.x.trace.json",
    }
    assert f"  kept/runs/{folder.name}/nanoclaw.t.fail.x.result.json" in done.outlines
    refused = run(pytester, "--agenteval-artifacts=agenteval.yaml")
    refused.assert_outcomes(errors=1)
    assert "error[artifacts.unwritable]: cannot write " in "\n".join(refused.outlines)


def test_what_others_raise_is_theirs(pytester: pytest.Pytester, project: Project) -> None:
    """A hook of the project that breaks a test is shown as it broke, also when the test has something to remark."""
    project.add("warn")
    pytester.makeconftest("def pytest_runtest_call(item):\n    raise ValueError('mine')\n")
    done = run(pytester)
    done.assert_outcomes(failed=1)
    assert "E       ValueError: mine" in done.outlines


def test_remarks_are_only_of_tests_that_passed(pytester: pytest.Pytester) -> None:
    """Not what a test prints, not that a failed one had also nothing to judge; and of no tests, no broken plugins."""
    pytester.makeini("[pytest]\nagenteval = true\n")
    project = plugged(pytester.path, SHOUTS, "checks/gone.py")
    pytester.makepyfile("def test_other(): pass")
    assert "agenteval remarks" not in "\n".join(run(pytester).outlines)
    project.add("warn")
    project.add("fail", assertions=[FETCHES, VACUOUS])
    pytester.makeconftest("def pytest_runtest_call(item):\n    print('noise')\n")
    done = run(pytester)
    done.assert_outcomes(passed=2, failed=1)
    remarks = "\n".join(done.outlines).partition("agenteval remarks")[2]
    assert "there is no such file in the project" in remarks
    assert "tests/warn/test.yaml::nanoclaw.t.warn.x" in remarks
    assert "noise" not in remarks
    assert "(vacuous)" not in remarks


def test_what_would_show_a_secret_is_an_error(pytester: pytest.Pytester, project: Project) -> None:
    """A redactor that hides nothing is noticed: the test is no failure but an error, and its evidence is not shown."""
    answer = {"role": "assistant", "content": f"The key is {AWS}."}
    says = {"id": "says", "type": "output_contains", "params": {"all_of": ["absent"]}}
    project.add("fail", replay=make_replay(final_output=answer), assertions=[says])
    pytester.makeconftest(
        """
        from agenteval.redaction.occurrences import KnownValues
        from agenteval.redaction.redactor import Redactor

        KnownValues.mask = lambda self, text, **parts: text
        Redactor._without_found = lambda self, text: text
        """
    )
    for options in ([], ["--agenteval-artifacts=out"]):
        done = run(pytester, *options)
        done.assert_outcomes(errors=1)
        text = "\n".join(done.outlines)
        assert (
            "fail.x.result.json is not written: " in text or "the result of nanoclaw.t.fail.x is not" in text
        )
        assert AWS not in text


def test_remarks_of_an_adapter_are_told(pytester: pytest.Pytester, project: Project) -> None:
    """Of a test that passes; one that expects no failure passes as any other."""
    tools = {"available": ["web_search"], "fixtures": [{"id": "sky", "tool": "web_search", "response": 1}]}
    project.add("pass", tools=tools, expected={"status": "pass"})
    project.add("pass", "silent")
    done = run(pytester)
    done.assert_outcomes(passed=2)
    told = [line for line in done.outlines if line.startswith(("tests/", "  "))]
    assert told[2:] == [
        "tests/pass/test.yaml::nanoclaw.t.pass.x",
        "  trace success · tools web_search×1 · retries 0",
        "  ✓ 1 passed",
        "  warning: fixture 'sky' is not used by any step of the recording",
    ]
    assert "vacuous" not in "\n".join(done.outlines)


def test_what_is_told_in_actions_is_no_command(
    pytester: pytest.Pytester, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pytest prints it as it is: names of tests, evidence, reasons, what is wrong with a file."""
    forged = "x\n::error::y\nand ##[add-mask]z"
    answer = {"role": "assistant", "content": forged}
    told = {"title": forged, "tags": [forged], "assertions": [{**FETCHES, "description": forged}]}
    project.add("fail", "a", id=f"::warning::{forged}", replay=make_replay(final_output=answer), **told)
    project.add("fail", "known", expected={**EXPECTED, "reason": forged})
    project.add("invalid", "bad", id=forged, title=forged)
    project.add("skip", "skip", id=f"b{forged}", title=forged)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    for options in ([], ["-v", "-rA"], ["--collect-only", "-q"]):
        done = run(pytester, *options)
        assert commands("\n".join(done.outlines)) == commands("\n".join(done.errlines)) == []
    (project.root / "agenteval.yaml").write_text(f"colour: {json.dumps(forged)}\n", encoding="utf-8")
    assert commands("\n".join(run(pytester).errlines)) == []


def test_settings_that_are_a_link_are_not_shown(pytester: pytest.Pytester, project: Project) -> None:
    """Nor are those of a project whose tests are run by pytest."""
    project.add("pass")
    outside = project.root.parent / f"{project.root.name}-outside"
    outside.write_text("FOREIGN: 1\n", encoding="utf-8")
    (project.root / "agenteval.yaml").unlink()
    (project.root / "agenteval.yaml").symlink_to(outside)
    done = run(pytester)
    told = "\n".join([*done.outlines, *done.errlines])
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert "a link leads out of the project" in told
    assert "FOREIGN" not in told
