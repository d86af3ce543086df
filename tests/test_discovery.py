"""Which test files the paths on a command line mean."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agenteval.contracts.errors import Problem, SpecError
from agenteval.loading.discovery import discover


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(*names: str) -> None:
    """Make empty files, and the directories they are in."""
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()


def found(*paths: str) -> list[str]:
    """What is found, as text; a selection of assertions stands behind `::`, an error is its reason code and path."""
    lines = []
    for each in discover(paths):
        if isinstance(each, SpecError):
            lines += [f"{problem.reason_code} {problem.path}" for problem in each.problems]
        else:
            lines.append(f"{each.path}::{'+'.join(sorted(each.only))}" if each.only else str(each.path))
    return lines


def only_problem(paths: Sequence[str]) -> Problem:
    """The only thing found, which is an error."""
    (error,) = discover(paths)
    assert isinstance(error, SpecError)
    (problem,) = error.problems
    return problem


@pytest.mark.usefixtures("root")
class TestDirectories:
    """A directory is searched with all that is below it."""

    def test_tests_are_known_by_their_names(self) -> None:
        """test.yaml, test.yml, *.test.yaml and *.test.yml; hidden files are no tests."""
        make("test.yaml", "a.test.yaml", "b.test.yml", "c/test.yml")
        make("tests.yaml", "atest.yaml", "replay.json", ".a.test.yaml", "test.yaml.bak", "TEST.YAML")
        assert found(".") == ["a.test.yaml", "b.test.yml", "test.yaml", "c/test.yml"]

    def test_order_is_by_name_files_first(self) -> None:
        """The same on every machine, whatever the file system gives."""
        make("b/test.yaml", "b/a/test.yaml", "a/z/test.yaml", "a/z/y/test.yaml", "c.test.yaml")
        assert found(".") == [
            "c.test.yaml",
            "a/z/test.yaml",
            "a/z/y/test.yaml",
            "b/test.yaml",
            "b/a/test.yaml",
        ]

    def test_paths_begin_as_they_were_named(self, root: Path) -> None:
        """Relative stays relative, absolute stays absolute."""
        make("a/b/test.yaml")
        assert found("a") == ["a/b/test.yaml"]
        assert found("./a/") == ["a/b/test.yaml"]
        assert found("a/../a") == ["a/../a/b/test.yaml"]
        assert found(str(root)) == [f"{root}/a/b/test.yaml"]

    def test_some_directories_are_not_entered(self) -> None:
        """Hidden ones, dependencies, caches, what a run has written, and virtual environments."""
        make(
            *(
                f"{name}/test.yaml"
                for name in (".git", "artifacts", "node_modules", "__pycache__", "env", "a")
            )
        )
        make("env/pyvenv.cfg")
        assert found(".") == ["a/test.yaml"]

    def test_a_directory_that_is_named_is_entered(self) -> None:
        """Who names it means it."""
        make("artifacts/test.yaml", ".hidden/test.yaml", "env/pyvenv.cfg", "env/test.yaml")
        assert found("artifacts", ".hidden", "env") == [
            "artifacts/test.yaml",
            ".hidden/test.yaml",
            "env/test.yaml",
        ]

    def test_loops_of_links_end(self) -> None:
        """A directory is entered once, whatever leads to it."""
        make("a/test.yaml", "a/b/test.yaml")
        Path("a/b/up").symlink_to("..", target_is_directory=True)
        Path("a/self").symlink_to("self")
        Path("a/x.test.yaml").symlink_to("x.test.yaml")
        assert found("a") == ["a/test.yaml", "a/x.test.yaml", "a/b/test.yaml"]

    def test_a_linked_directory_is_searched(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        """Links lead to tests too."""
        elsewhere = tmp_path_factory.mktemp("elsewhere")
        (elsewhere / "test.yaml").touch()
        Path("link").symlink_to(elsewhere, target_is_directory=True)
        assert found(".") == ["link/test.yaml"]

    def test_nothing_found_is_an_error(self) -> None:
        """A path that selects nothing must not turn a run green."""
        make("a/test.yaml", "b/replay.json")
        assert found("a", "b") == ["a/test.yaml", "select.nothing_found b"]
        assert only_problem(["b"]).render() == (
            "b: error[select.nothing_found]: no test file in this directory\n"
            "   next: test files are named test.yaml, test.yml, *.test.yaml or *.test.yml"
        )

    def test_a_directory_called_as_a_test_is_an_error(self) -> None:
        """It looks as if there were a test."""
        make("a/test.yaml/test.yaml", "b/x.test.yml/y")
        assert found("a") == ["file.not_a_file a/test.yaml"]
        assert found("b", "a/test.yaml") == ["file.not_a_file b/x.test.yml", "file.not_a_file a/test.yaml"]
        assert only_problem(["a"]).message == "a directory, though it is named like a test file"

    def test_a_directory_that_cannot_be_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """It is told of, and the search goes on."""
        make("a/test.yaml", "b/test.yaml", "c/test.yaml")
        scandir = os.scandir

        def refuse(path: str) -> object:
            if path.endswith("b"):
                raise PermissionError(13, "Permission denied")
            return scandir(path)

        monkeypatch.setattr("os.scandir", refuse)
        assert found(".") == ["a/test.yaml", "file.unreadable ./b".replace("./", ""), "c/test.yaml"]
        assert only_problem(["b"]).message == "the directory cannot be read: Permission denied"

    def test_deep_directories_are_no_trouble(self) -> None:
        """Deeper than Python recurses."""
        folders = [Path("/".join(["d"] * depth)) for depth in range(1, 1201)]
        for folder in folders:
            folder.mkdir()
        last = folders[-1] / "test.yaml"
        last.touch()
        assert found("d") == [str(last)]
        last.unlink()  # one by one: the clean-up of temporary files recurses
        for folder in reversed(folders):
            folder.rmdir()


@pytest.mark.usefixtures("root")
class TestFiles:
    """A file is a test because it is named."""

    def test_a_file_may_have_any_name(self) -> None:
        """The patterns are for searching."""
        make("spec.yaml", "other")
        assert found("spec.yaml", "other") == ["spec.yaml", "other"]

    def test_a_missing_path(self) -> None:
        """An error for that path; the others run."""
        make("a.yaml")
        assert found("b.yaml", "a.yaml") == ["file.missing b.yaml", "a.yaml"]
        assert only_problem(["b"]).render() == (
            "b: error[file.missing]: no such file or directory\n   next: name a test file, or a directory that has some"
        )

    def test_a_file_comes_once(self) -> None:
        """Whatever leads to it: its name, another name, its directory, a link."""
        make("a/test.yaml", "a/b/test.yaml")
        Path("link.yaml").symlink_to("a/test.yaml")
        assert found("a/test.yaml", "a", "./a/test.yaml", "a/b/../test.yaml", "link.yaml", "a") == [
            "a/test.yaml",
            "a/b/test.yaml",
        ]
        assert found("link.yaml", "a") == ["link.yaml", "a/b/test.yaml"]

    def test_directories_may_overlap(self) -> None:
        """A directory in one that is named too is not empty, whichever comes first; one without tests is."""
        make("a/b/test.yaml", "a/c/readme.md")
        Path("link").symlink_to("a", target_is_directory=True)
        for paths in (("a", "a/b"), ("a/b", "a"), ("a", "a/"), ("a", "link")):
            assert [Path(each).resolve() for each in found(*paths)] == [Path("a/b/test.yaml").resolve()]
        assert found("a", "a/c") == ["a/b/test.yaml", "select.nothing_found a/c"]

    def test_a_pipe_is_left_to_the_loader(self, root: Path) -> None:
        """Which says what is wrong with it."""
        os.mkfifo(root / "test.yaml")
        assert found(".") == ["test.yaml"]


NAME_ONE = "   next: name a test file, or a directory that has some"
FILE = "evals/umbrella/test.yaml"
HOLDS_A_TEST = "schema_version: '0.1'\nadapter: nanoclaw\nassertions:\n  - id: a\n"


def overlooked(*paths: str) -> list[str]:
    """The files that hold tests and are not found, as text."""
    problems: list[Problem] = []
    list(discover(paths, problems))
    return [str(problem.path) for problem in problems]


@pytest.mark.usefixtures("root")
class TestNearlyATest:
    """A test whose name is only nearly that of a test would never be run, and nobody would know."""

    @pytest.mark.parametrize(
        "name",
        ["tests.yml", "Test.yaml", "test.yaml.txt", "test-digest.yml", "digest_test.yaml", "a.tests.yaml"],
    )
    def test_a_test_by_another_name_is_told(self, name: str) -> None:
        """It is not run, and the run says so."""
        make("a/test.yaml", f"b/{name}")
        Path("b", name).write_text(HOLDS_A_TEST)
        assert found(".") == ["a/test.yaml"]
        assert overlooked(".") == [f"b/{name}"]

    def test_what_it_says(self) -> None:
        """What is wrong, and what to do."""
        Path("tests.yml").write_text(HOLDS_A_TEST)
        problems: list[Problem] = []
        list(discover(["."], problems))
        (problem,) = problems
        assert problem.render() == (
            "tests.yml: warning[select.misnamed]: it holds a test, but its name keeps it from being run\n"
            "   next: rename it: test files are named test.yaml, test.yml, *.test.yaml or *.test.yml"
        )

    @pytest.mark.parametrize(
        "name", ["_test.yaml", ".tests.yml", "scenario.yaml", "contest.yaml", "tests.yaml.bak"]
    )
    def test_other_names_are_left_alone(self, name: str) -> None:
        """They are on purpose."""
        Path(name).write_text(HOLDS_A_TEST)
        assert overlooked(".") == []

    def test_other_contents_are_left_alone(self) -> None:
        """A configuration called tests.yml is no test; neither is what cannot be read."""
        Path("tests.yml").write_text("jobs:\n  - assertions: 3\n    adapter: x\n")
        Path("test-plug.yml").write_text("adapter: usb-c\n")
        Path("test-proof.yml").write_text("assertions: []\n")
        Path("test-all.yml").mkdir()
        os.mkfifo("test_pipe.yml")
        assert overlooked(".") == []

    def test_a_test_among_artifacts_is_told(self) -> None:
        """A folder of tests that is about artifacts would be left out, and nobody would know."""
        make("evals/artifacts/test.yaml", "evals/artifacts/upload/test.yml", "evals/artifacts/run-1/x.yaml")
        make("node_modules/artifacts/test.yaml")
        for path in Path().rglob("*.y*ml"):
            path.write_text(HOLDS_A_TEST)
        make("evals/artifacts/empty/test.yaml")
        assert found(".") == ["select.nothing_found ."]
        problems: list[Problem] = []
        list(discover(["."], problems))
        assert [problem.render() for problem in problems] == [
            f"evals/artifacts/{name}: warning[select.misnamed]: it holds a test, but it is not run: "
            "a folder called artifacts is for what runs write, and is not searched\n"
            "   next: rename the folder, or name the file on the command line"
            for name in ("test.yaml", "upload/test.yml")
        ]
        assert overlooked("evals/artifacts", ".") == []

    def test_one_that_is_named_is_run(self) -> None:
        """And nothing is said of it, whatever comes first."""
        Path("tests.yml").write_text(HOLDS_A_TEST)
        assert overlooked("tests.yml", ".") == []
        assert overlooked(".", "tests.yml") == []


@pytest.mark.usefixtures("root")
class TestDangling:
    """A link to a folder of tests that is gone takes them along."""

    def test_it_is_told(self) -> None:
        """Wherever it stands; a link that leads somewhere, and one to a file, are left alone."""
        make("a/test.yaml", "b/test.yaml")
        Path("a/shared").symlink_to("../gone")
        Path("a/notes.txt").symlink_to("../gone.txt")
        Path("again").symlink_to("b")
        Path("round").symlink_to("round")
        problems: list[Problem] = []
        assert [str(each) for each in found(".")] == ["a/test.yaml", "again/test.yaml"]
        list(discover(["."], problems))
        assert [problem.render() for problem in problems] == [
            f"{path}: warning[select.dangling]: this link leads nowhere: tests that were behind it are not run\n"
            "   next: mend the link, or remove it"
            for path in ("round", "a/shared")
        ]

    def test_one_that_may_not_be_followed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Counts as one that leads nowhere, and ends no search; nor does a file with nearly the name of a test."""
        make("a/test.yaml")
        Path("a/shared").symlink_to("../locked/tests")
        Path("a/tests.yaml").symlink_to("../locked/tests.yaml")
        really = os.stat

        def refusing(path: Any, **rest: Any) -> os.stat_result:
            if os.path.normpath(path) in ("a/shared", "a/tests.yaml"):
                raise PermissionError(13, "Permission denied", str(path))
            return really(path, **rest)

        monkeypatch.setattr(os, "stat", refusing)
        problems: list[Problem] = []
        assert [str(each) for each in discover(["."], problems) if isinstance(each, SpecError)] == []
        assert [(problem.reason_code, str(problem.path)) for problem in problems] == [
            ("select.dangling", "a/shared")
        ]


class TestNotInForce:
    """Settings further in than the root of the project are for nobody, and tests may be green for want of them."""

    def test_settings_of_a_folder_with_tests(self, root: Path) -> None:
        """They are told, in whichever file they stand; those of the root, and of folders without tests, are not."""
        make(
            "agenteval.yaml",
            "a/agenteval.yaml",
            "a/b/test.yaml",
            "ab/test.yaml",
            "c/agenteval.yaml",
            "d/test.yaml",
        )
        Path("d/pyproject.toml").write_text("[tool.agenteval]\nstrict = true\n")
        Path("ab/pyproject.toml").write_text('[project]\ndependencies = ["agenteval"]\n')
        problems: list[Problem] = []
        list(discover(["."], problems))
        step = "run these tests on their own, or set what they need at the root"
        assert [problem.render() for problem in problems] == [
            f"{file}: warning[config.not_in_force]: the tests below are judged without these settings: "
            f"the root of the project is {root}\n   next: {step}"
            for file in ("a/agenteval.yaml", "d/pyproject.toml")
        ]

    def test_two_projects_in_one_run(self, root: Path) -> None:
        """The root is what they have in common: neither is judged by its own settings."""
        make("a/agenteval.yaml", "a/test.yaml", "b/agenteval.yaml", "b/test.yaml")
        assert overlooked("a", "b") == ["a/agenteval.yaml", "b/agenteval.yaml"]
        assert overlooked("a") == []
        assert overlooked(str(root / "a")) == []


@pytest.mark.usefixtures("root")
class TestMissing:
    """A path that leads nowhere says what may have been meant."""

    @pytest.mark.parametrize(
        ("path", "rest"),
        [
            ("eval", "   did you mean 'evals'?"),
            ("evals/umbrela", "   did you mean 'evals/umbrella'?"),
            ("evals/xyz", NAME_ONE),
            ("nowhere/umbrella", NAME_ONE),
            (FILE + "l", f"   did you mean {FILE!r}?"),
            ("nowhere:12:3", NAME_ONE),
            (FILE + ":12:3", f"   next: name the file alone, {FILE}, or one of its assertions, {FILE}::ID"),
            (
                FILE + ":sent-once",
                f"   next: name the file alone, {FILE}, or one of its assertions, {FILE}::ID",
            ),
        ],
    )
    def test_what_is_meant(self, path: str, rest: str) -> None:
        """A neighbour of nearly the same name, or the file whose place was copied."""
        make(FILE)
        assert only_problem([path]).render() == (
            f"{path}: error[file.missing]: no such file or directory" + ("\n" + rest if rest else "")
        )


@pytest.mark.usefixtures("root")
class TestSelection:
    """`file::assertion-id` selects assertions."""

    def test_one_and_several_assertions(self) -> None:
        """All that are named of one file are selected together."""
        make("a.yaml", "b.yaml")
        assert found("a.yaml::x", "b.yaml", "a.yaml::y.z") == ["a.yaml::x+y.z", "b.yaml"]

    def test_assertions_under_several_names_of_a_file(self) -> None:
        """None is left out because the file was met before under another name."""
        make("a/test.yaml")
        Path("link.yaml").symlink_to("a/test.yaml")
        assert found("a/test.yaml::x", "./a/test.yaml::y", "link.yaml::z") == ["a/test.yaml::x+y+z"]

    def test_the_whole_file_wins(self) -> None:
        """Naming a file, or its directory, beside one of its assertions must not leave the others out."""
        make("a/test.yaml", "b/test.yaml")
        assert found("a/test.yaml::x", "a/test.yaml") == ["a/test.yaml"]
        assert found("a/test.yaml", "a/test.yaml::x") == ["a/test.yaml"]
        assert found("a/test.yaml::x", "a", "b/test.yaml::y") == ["a/test.yaml", "b/test.yaml::y"]
        assert found("a/test.yaml::x", "./a/test.yaml") == ["a/test.yaml"]
        assert found("a/test.yaml::x", ".") == ["a/test.yaml", "b/test.yaml"]

    def test_an_empty_selection_is_an_error(self) -> None:
        """As is one in a directory."""
        make("a/test.yaml")
        assert only_problem(["a/test.yaml::"]).render() == (
            "a/test.yaml: error[select.no_assertion]: no assertion is named after '::'"
        )
        assert only_problem(["a::x"]).render() == (
            "a: error[select.not_a_file]: an assertion is selected in a file; this is a directory"
        )

    def test_a_file_with_colons_in_its_name(self) -> None:
        """A file that is there is meant as such."""
        make("a::b.yaml")
        assert found("a::b.yaml") == ["a::b.yaml"]
