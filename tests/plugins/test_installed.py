"""Plugins of installed packages, in an interpreter that finds them as it finds any package."""

from pathlib import Path

import pytest

from plugin_projects import ADAPTER, SHOUTS, agenteval, asserting, install, plugged, write
from projects import Project, make_replay

LOUD = make_replay(final_output={"role": "assistant", "content": "TWO WORDS"})


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Where the package `acme-checks` is installed, which brings `shouts`."""
    return install(
        tmp_path / "site", "acme-checks", {"shouts": "acme_checks:Shouts"}, {"acme_checks": SHOUTS}
    )


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project without plugins of its own."""
    (tmp_path / "project").mkdir()
    return Project(tmp_path / "project")


def in_words(text: str) -> str:
    """The text with all blanks alike: long lines are wrapped."""
    return " ".join(text.split())


def test_a_test_uses_the_type(project: Project, site: Path) -> None:
    """Nothing has to be configured: what is installed is there."""
    project.add("pass", replay=LOUD, assertions=asserting())
    project.add("typo", assertions=asserting("shuots"))
    project.add("wrong", assertions=asserting(min_words="many"))
    out = agenteval(project.root, "run", "tests", "--no-artifacts", sites=[site], code=3).stdout
    assert "PASS nanoclaw.t.pass.x" in out
    assert "did you mean 'shouts'?" in out
    assert "parameter 'min_words' of shouts: expected an integer, got 'many'" in out


def test_the_type_is_documented(project: Project, site: Path) -> None:
    """In `explain`, `schema` and `doctor`, with the package and its version."""
    out = agenteval(project.root, "explain", "--plugins", sites=[site]).stdout
    assert "  shouts  The final output is all upper case. (acme-checks 1.0)\n" in out
    assert '"shouts"' in agenteval(project.root, "schema", "test-case", sites=[site]).stdout
    out = agenteval(project.root, "doctor", sites=[site]).stdout
    assert "plugin        assertion shouts (acme-checks 1.0)\n" in out


def test_what_is_not_used_is_not_loaded(project: Project, tmp_path: Path) -> None:
    """A run that uses built-in types only does not import the package, broken as it is."""
    trap = f"open({str(tmp_path / 'trap')!r}, 'w').close()\n1 / 0\n"
    site = install(tmp_path / "site", "acme-trap", {"trap": "acme_trap:Trap"}, {"acme_trap": trap})
    project.add("pass")
    done = agenteval(project.root, "run", "tests", "--no-artifacts", sites=[site])
    assert "acme" not in done.stdout + done.stderr
    assert not (tmp_path / "trap").exists()


@pytest.mark.parametrize(
    ("module", "error"),
    [
        (
            "x = (\n",
            "acme_checks:Shouts failed to load: SyntaxError: '(' was never closed (acme_checks.py, line 1)",
        ),
        ("1 / 0\n", "acme_checks:Shouts failed to load: ZeroDivisionError: division by zero"),
        ("raise SystemExit(0)\n", "acme_checks:Shouts failed to load: SystemExit: 0"),
        (
            "x = 1\n",
            "acme_checks:Shouts failed to load: AttributeError: module 'acme_checks' has no attribute 'Shouts'",
        ),
        (
            "class Shouts: pass\n",
            "Shouts (line 1) breaks the contract: expected a subclass of agenteval.assertions.base.Assertion, decorated",
        ),
        (
            SHOUTS.replace('"shouts"', '"yells"'),
            "Shouts has the type 'yells', but its package announces it as 'shouts'",
        ),
    ],
)
def test_a_broken_one(module: str, error: str, project: Project, site: Path) -> None:
    """The test that uses it is invalid, with the error of the plugin; the others run; `doctor` shows it."""
    write(site / "acme_checks.py", module)
    project.add("broken", assertions=asserting())
    project.add("pass")
    out = in_words(agenteval(project.root, "run", "tests", "--no-artifacts", sites=[site], code=3).stdout)
    assert (
        "tests/broken/test.yaml:19:9: error[plugin.broken]: the assertion type 'shouts' cannot be used: the plugin "
        f"acme-checks 1.0 is broken: {error}"
    ) in out
    assert "next: correct, reinstall or uninstall the package" in out
    assert "PASS nanoclaw.t.pass.x" in out
    out = in_words(agenteval(project.root, "doctor", sites=[site], code=2).stdout)
    assert f"plugin the plugin acme-checks 1.0 is broken: {error}" in out


def test_a_reserved_name(project: Project, tmp_path: Path) -> None:
    """The built-in type stays what it is, and `doctor` names both."""
    text = SHOUTS.replace('"shouts"', '"must_call_tool"')
    site = install(tmp_path / "site", "acme", {"must_call_tool": "acme:Shouts"}, {"acme": text})
    project.add("pass")
    agenteval(project.root, "run", "tests", "--no-artifacts", sites=[site])
    out = in_words(agenteval(project.root, "doctor", sites=[site], code=2).stdout)
    assert (
        "the plugin acme 1.0 is broken: it claims the assertion type 'must_call_tool', which is built in "
        "(agenteval.assertions.process.MustCallTool)"
    ) in out


def test_two_packages_with_one_name(project: Project, site: Path, tmp_path: Path) -> None:
    """Neither is used, and both are named."""
    other = install(tmp_path / "other", "loud", {"shouts": "loud:Shouts"}, {"loud": SHOUTS})
    project.add("pass", assertions=asserting())
    out = in_words(agenteval(project.root, "validate", "tests", sites=[site, other], code=3).stdout)
    assert (
        "error[plugin.broken]: the assertion type 'shouts' cannot be used: the plugin acme-checks 1.0 is broken: "
        "it claims the assertion type 'shouts', as does the plugin loud 1.0"
    ) in out


def test_a_package_installed_twice(project: Project, site: Path, tmp_path: Path) -> None:
    """The same package in two places is one, as it is for Python."""
    again = install(
        tmp_path / "again", "acme-checks", {"shouts": "acme_checks:Shouts"}, {"acme_checks": SHOUTS}
    )
    project.add("pass", replay=LOUD, assertions=asserting())
    agenteval(project.root, "run", "tests", "--no-artifacts", sites=[site, again])


def test_a_name_of_the_project_and_of_a_package(tmp_path: Path, site: Path) -> None:
    """Neither wins silently."""
    plugged(tmp_path).add("pass", assertions=asserting())
    out = in_words(agenteval(tmp_path, "validate", "tests", sites=[site], code=3).stdout)
    assert (
        "the plugin checks/shouting.py is broken: it claims the assertion type 'shouts', as does the plugin "
        "acme-checks 1.0"
    ) in out


def test_an_adapter(project: Project, tmp_path: Path) -> None:
    """The group of adapters is found as before."""
    site = install(
        tmp_path / "site",
        "acme-canned",
        {"canned": "acme_canned:Canned"},
        {"acme_canned": ADAPTER},
        group="agenteval.adapters",
    )
    answers = [{"id": "a", "type": "output_contains", "params": {"all_of": ["HELLO"]}}]
    project.add("pass", adapter="canned", adapter_input={"answer": "HELLO"}, assertions=answers)
    assert "canned 1.2" in agenteval(project.root, "run", "tests", "--no-artifacts", sites=[site]).stdout


def test_two_packages_with_one_adapter(project: Project, tmp_path: Path) -> None:
    """Which of them reads a recording is not left to chance."""
    sites = [
        install(
            tmp_path / name, name, {"canned": f"{name}:Canned"}, {name: ADAPTER}, group="agenteval.adapters"
        )
        for name in ("one", "two")
    ]
    project.add("pass", adapter="canned")
    out = agenteval(project.root, "run", "tests", "--no-artifacts", sites=sites, code=2).stdout
    assert "the adapter 'canned' is registered twice: one:Canned, two:Canned" in in_words(out)


@pytest.mark.parametrize(
    ("module", "error"),
    [
        ("def found():\n    1 / 0\n\nfound()\n", "ZeroDivisionError: division by zero"),
        ("raise SystemExit(0)\n", "SystemExit: 0"),
        ("x = 1\n", "AttributeError: module 'acme' has no attribute 'Canned'"),
        (
            ADAPTER.replace('version = "1.2"', ""),
            "AttributeError: 'Canned' object has no attribute 'version'",
        ),
    ],
)
def test_an_adapter_that_does_not_load(module: str, error: str, project: Project, tmp_path: Path) -> None:
    """The tests that use it are errors, the others run; with -v the place is shown, for whoever mends it."""
    site = install(
        tmp_path / "site", "acme", {"canned": "acme:Canned"}, {"acme": module}, group="agenteval.adapters"
    )
    project.add("broken", adapter="canned")
    project.add("pass")
    out = agenteval(project.root, "run", "tests", "--no-artifacts", "-v", sites=[site], code=2).stdout
    assert f"error[adapter.broken]: adapter 'canned' (acme:Canned) failed to load: {error}" in in_words(out)
    assert "next: reinstall the package that provides the adapter, or report it to its author" in in_words(
        out
    )
    assert "PASS nanoclaw.t.pass.x" in out
    assert (f'File "{site / "acme.py"}", line 2, in found' in out) is ("def found" in module)


def test_an_adapter_of_the_project_and_of_a_package(tmp_path: Path) -> None:
    """Neither wins silently."""
    site = install(
        tmp_path / "site", "acme", {"canned": "acme:Canned"}, {"acme": ADAPTER}, group="agenteval.adapters"
    )
    plugged(tmp_path, ADAPTER).add("pass", adapter="canned")
    out = agenteval(tmp_path, "run", "tests", "--no-artifacts", sites=[site], code=2).stdout
    assert (
        "the adapter 'canned' cannot be used: the plugin checks/shouting.py is broken: it claims the adapter "
        "'canned', as does an installed package"
    ) in in_words(out)


def test_a_project_of_the_current_directory_is_found(tmp_path: Path) -> None:
    """`explain` in a folder of a project with plugins knows them; elsewhere it does not."""
    folder = tmp_path / "project" / "tests"
    folder.mkdir(parents=True)
    plugged(folder.parent)
    assert "(checks/shouting.py)" in agenteval(folder, "explain", "--plugins").stdout
    assert agenteval(tmp_path, "explain", "--plugins").stdout == "no plugin provides an assertion type\n"
