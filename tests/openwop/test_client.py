"""OpenWOP's own client, asking a host that serves what runs have written: it reads every summary, whole."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openwop_client import OpenwopClient

from agenteval.cli import main
from openwop.suites import SuiteProject, golden, make_task, normative, rubric
from projects import Project
from runs import CASES, EXAMPLES


class Host(BaseHTTPRequestHandler):
    """`GET …/runs/{runId}/eval-summary`, from the artifacts in the current directory."""

    def do_GET(self) -> None:
        """Serve the file as it is."""
        *_, runs, run_id, what = self.path.split("/")
        path = Path("artifacts", run_id, f"{what}.json")
        found = runs == "runs" and what == "eval-summary" and path.is_file()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(path.read_bytes() if found else b"{}")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that it is called by
        """Say nothing."""


@pytest.fixture
def client() -> Iterator[OpenwopClient]:
    """A client of a host on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Host)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield OpenwopClient(f"http://127.0.0.1:{server.server_port}", "key")
    server.shutdown()
    thread.join()
    server.server_close()


def read(client: OpenwopClient, run_id: str = "run-1") -> dict[str, Any]:
    """What the client makes of a run's summary, which is valid by the RFC's rules, and all that it says."""
    summary = client.runs_eval_summary(run_id)
    assert summary is not None
    written: dict[str, Any] = json.loads(Path("artifacts", run_id, "eval-summary.json").read_text())
    Draft202012Validator(normative("eval-summary")).validate(written)
    assert known(asdict(summary)) == written
    return written


def known(part: Any) -> Any:
    """Data without what is None."""
    if isinstance(part, dict):
        return {name: known(value) for name, value in part.items() if value is not None}
    return list(map(known, part)) if isinstance(part, list) else part


KINDS = ["pass", "fail", "warn", "skip", "error", "invalid"]


@pytest.mark.parametrize(
    ("kinds", "code"), [*(([kind], None) for kind in KINDS), (KINDS, 3), (["pass", "error"], 2), ([], 3)]
)
def test_runs_of_tests(
    suite: SuiteProject, client: OpenwopClient, kinds: list[str], code: int | None
) -> None:
    """Whatever came of them, and whatever could not be judged or was not there."""
    (suite.root / "tests").mkdir()
    project = Project(suite.root)
    for kind in kinds:
        project.add(kind)
    exit_code = main(["run", "tests", "--run-id", "run-1", "-q"])
    assert code in (None, exit_code)
    assert read(client)["taskCount"] == len([kind for kind in kinds if kind not in ("skip", "invalid")])


def test_runs_of_several_directories(
    suite: SuiteProject, client: OpenwopClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All examples and all failing and broken cases in one run, and the same compared with a run before it."""
    monkeypatch.setenv("AGENTEVAL_SUITE_MAX_COST_USD", "1")
    paths = [str(EXAMPLES / "nanoclaw"), *(str(CASES / name) for name in ("failing", "error"))]
    argv = ["run", *paths, "--artifacts-dir", str(suite.root / "artifacts"), "-q", "--allow-outside"]
    assert main([*argv, "--run-id", "run-1"]) == 2
    assert main([*argv, "--run-id", "run-2", "--baseline", "run-1"]) == 2
    assert read(client)["taskCount"] > 20
    assert read(client, "run-2")["regression"] == {"baselineRunId": "run-1", "scoreDelta": 0.0}


def test_runs_of_suites(suite: SuiteProject, client: OpenwopClient) -> None:
    """With findings, errors, rubrics, costs, a model class, and a baseline."""
    suite.write(
        make_task("cats", input={"q": 1}), make_task("mail"), make_task("gone"),
        make_task("dogs", golden("exact", "Dogs")), make_task("judged", rubric(0.1, 0.2)),
        modes=["golden", "rubric", "adversarial", "regression"], thresholds={"passScore": 0.1},
    )  # fmt: skip
    suite.record("mail", "Cats: write to cat@example.org.", metrics={"timing_ms_total": 0.4, "cost_usd": 0.1})
    (suite.root / "replays" / "gone" / "replay.json").unlink()
    suite.decide("judged", True, False)
    assert suite.run("--judge", "recorded") == 2
    assert (
        suite.run("--judge", "recorded", "--update-baseline", "--model-class", "coding", run_id="run-2") == 2
    )
    assert (
        suite.run("--judge", "recorded", "--baseline", "run-1", "--model-class", "coding", run_id="run-3")
        == 2
    )
    assert read(client)["tasks"][1]["safetyFindings"] == [{"kind": "sensitive-data", "severity": "critical"}]
    assert "regression" not in read(client, "run-2")
    assert (read(client, "run-3")["evaluatedModelClass"], read(client, "run-3")["passed"]) == ("coding", True)
    assert client.runs_eval_summary("run-4") is None
