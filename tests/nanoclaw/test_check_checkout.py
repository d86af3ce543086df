"""`agenteval check` of the real NanoClaw v2, its real agent-runner and CLI, with a model that is made up.

`AGENTEVAL_NANOCLAW` names a checkout, `NANOCLAW_PACKAGES` the installed packages of its agent-runner.
"""

import json
import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from agenteval.cli import main
from fork_projects import ForkProject, track
from live_projects import Service, needs_sandbox

CHECKOUT = os.environ.get("AGENTEVAL_NANOCLAW", "")
PACKAGES = os.environ.get("NANOCLAW_PACKAGES") or f"{CHECKOUT}/container/agent-runner/node_modules"
pytestmark = [
    needs_sandbox,
    pytest.mark.skipif(not CHECKOUT, reason="AGENTEVAL_NANOCLAW names no checkout of NanoClaw v2"),
]
SAYS = '<message to="dana">3 bullets</message>'
TOOLS = "container/agent-runner/src/mcp-tools/core.ts"
SKILL = "container/skills/welcome/SKILL.md"
GROUP = "evals/groups/main/CLAUDE.md"


class Fork(ForkProject):
    """A copy of the checkout with its tests in it, so that its host's code is in the repository that is checked."""

    def __post_init__(self) -> None:
        ignored = shutil.ignore_patterns(".git", "node_modules", "data", "store", ".env*", "groups")
        shutil.copytree(CHECKOUT, self.root, symlinks=True, ignore=ignored, dirs_exist_ok=True)
        with (self.root / ".gitignore").open("a") as file:
            file.write("\nartifacts/\n!evals/**\n")
        self.nanoclaw = {"checkout": ".", "node_modules": PACKAGES}
        super().__post_init__()

    def check(self, *flags: str) -> tuple[int, dict[str, Any]]:
        """A check, and its report."""
        self.runs += 1
        run_id = f"check-{self.runs}"
        code = main(["check", "evals", "--run-id", run_id, "--no-progress", *flags])
        return code, json.loads((self.root / "artifacts" / run_id / "check.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Fork, Service]]:
    """A fork with one test, recorded and committed, and the service that is there for its checks."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [each for each in os.environ if each.startswith("AGENTEVAL_")]:
            patch.delenv(name)  # what names the parts of tests is no setting
        folder = tmp_path_factory.mktemp("fork")
        patch.chdir(folder)
        made = Fork(folder, patch)
        made.test("Give me my brief")
        track(folder)
        with made.serving([SAYS] * 99) as service:
            assert made.live("--live", "record").exit_code == 0
            track(folder)
            yield made, service


@pytest.mark.parametrize(
    ("file", "before", "after", "code", "reach", "seen"),
    [
        (TOOLS, "Send a message to a named destination", "Say something to a destination", 2, "reached", "requests"),
        (TOOLS, "if (!text) return", "if (text) return", 0, "unreached", "opened"),
        (SKILL, "description: ", "description: Loud. ", 2, "reached", "requests"),
        ("src/router.ts", "", "// a remark about routing\n", 0, "unreached", "host"),
        (SKILL, "\n---\n", "\n---\nShout all of it out loud.\n", 0, "unreached", "unseen"),
        ("README.md", "", "A new line about the project.\n", 0, "unreached", "unseen"),
    ],
)  # fmt: skip
def test_the_reach_of_a_change_of_the_fork(
    recorded: tuple[Fork, Service], file: str, before: str, after: str, code: int, reach: str, seen: str
) -> None:
    """Tools and skills as the real runner and CLI send them; code of the host runs in no live run."""
    fork, service = recorded
    asked, path = len(service.bodies), fork.root / file
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), encoding="utf-8")
    try:
        got, report = fork.check()
    finally:
        path.write_text(text, encoding="utf-8")
    assert (got, report["tests"][0]["reach"]) == (code, reach)
    assert [(each["path"], each["seen"]) for each in report["files"]] == [(file, seen)]
    assert len(service.bodies) == asked


def test_trials_with_the_runner_of_the_base_and_of_today(recorded: tuple[Fork, Service]) -> None:
    """The model sees the old description as often as the new one."""
    fork, service = recorded
    asked, path = len(service.bodies), fork.root / TOOLS
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("Send a message to a named", "Say something to a"), encoding="utf-8")
    try:
        code, report = fork.check("--model", "real", "--trials", "3")
    finally:
        path.write_text(text, encoding="utf-8")
    made = report["tests"][0]["measurement"]
    assert (code, made["after"]["passed"]) == (0, made["after"]["judged"])
    bodies = [json.dumps(body["tools"]) for body in service.bodies[asked:] if body.get("tools")]
    old, new = (
        sum(words in body for body in bodies) for words in ("Send a message to a named", "Say something to a")
    )
    assert (old, new) == (made["before"]["judged"], made["after"]["judged"])
