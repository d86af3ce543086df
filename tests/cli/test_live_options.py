"""Options for tests that run live, of a run in which none does."""

from pathlib import Path

import pytest

from agenteval.cli import main
from projects import Project


@pytest.fixture
def mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A test that is replayed, and one that runs live, without anything to run it with."""
    monkeypatch.chdir(tmp_path)
    made = Project(tmp_path)
    made.add("pass", "a")
    made.add("pass", "b", mode="live", tags=["live"])
    return made


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("--trials 5", "--trials 5"),
        ("--stale mark", "--stale mark"),
        ("--stale miss", "--stale miss"),
        ("--max-cost 1", "--max-cost 1.0"),
        ("--max-cost 0", "--max-cost 0.0"),
        ("--early-stop", "--early-stop"),
        ("--fail-on-approximate", "--fail-on-approximate"),
        ("--keep", "--keep"),
        ("--runtime auto", "--runtime auto"),
        ("--nanoclaw .", "--nanoclaw ."),
        ("--keep --trials 2 --collect-only", "--keep, --trials 2"),
        ("--trials 2 --exclude-tag live", "--trials 2"),
        ("--trials 2 --shard 1/1", "--trials 2"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(
    options: str, told: str, mixed: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """One judgement of a recording is not told as if it were five trials; what is given is named."""
    paths = ["tests" if "tag" in options else "tests/a"]
    assert main(["run", *paths, *options.split()]) == 2
    assert capsys.readouterr().err == (
        f"error[usage.live]: {told}: only for tests that run live, and none of the selected tests does\n"
        "  next: add --live, or `mode: live` to a test; a recording is judged once, and costs nothing\n"
    )
    assert not Path("artifacts").exists()


@pytest.mark.parametrize("paths", [["tests"], ["tests/b"], ["tests", "--shard", "1/2"]])
def test_a_live_test_among_the_selected_is_enough(
    paths: list[str], mixed: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where another shard has it."""
    main(["run", *paths, "--trials", "2", "--runtime", "auto", "-q"])
    assert "usage.live" not in capsys.readouterr().err


def test_settings_and_what_cannot_be_loaded_are_no_such_mistake(
    mixed: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """A configuration is for all runs; of an invalid test, or of none, the run says what is wrong."""
    Path("agenteval.yaml").write_text("live: {runtime: bwrap, max_cost_usd: 1}\n", encoding="utf-8")
    assert main(["run", "tests/a", "-q"]) == 0
    mixed.add("invalid", "c")
    assert main(["run", "tests/c", "--trials", "2", "-q"]) == 3
    assert main(["run", "tests/a", "--trials", "2", "-q", "-k", "nothing"]) == 3
    assert "usage.live" not in capsys.readouterr().err


def test_recordings_of_an_adapter_that_only_reads_are_no_live_tests(
    mixed: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--live` does not reach them: they would be replayed, and each replay be told as a trial."""
    mixed.add("pass", "d", adapter="otel")
    assert main(["run", "tests/d", "--live", "--trials", "3"]) == 2
    assert capsys.readouterr().err == (
        "error[usage.live]: --live play, --trials 3: only for tests that run live, and none of the selected tests does\n"
        "  next: leave them out: the adapters of these tests only read recordings\n"
    )
