"""The real NanoClaw v2, run live from cassettes that a made-up model recorded.

`AGENTEVAL_NANOCLAW` names a checkout, `NANOCLAW_PACKAGES` the installed packages of its agent-runner (by
default those in it), `CLAUDE_CLIS` the CLIs to try, divided by colons (by default the one in the packages).
"""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from fork_projects import ForkProject, track, tree
from live_projects import kept_by, needs_sandbox, remove_kept, tool_use
from nanoclaw.recordings import unpack

CHECKOUT = os.environ.get("AGENTEVAL_NANOCLAW", "")
PACKAGES = os.environ.get("NANOCLAW_PACKAGES", "")
CLIS = list(filter(None, os.environ.get("CLAUDE_CLIS", "").split(":"))) or [""]
pytestmark = [
    needs_sandbox,
    pytest.mark.skipif(not CHECKOUT, reason="AGENTEVAL_NANOCLAW names no checkout of NanoClaw v2"),
]
MEMORY = "/workspace/agent/CLAUDE.local.md"
SEARCH = tool_use("mcp__web__web_search", query="AI news today")
DIGEST = "AI digest\n• Lab A shipped model X (https://news.example.com/a)\n• Chip maker B record quarter (https://news.example.com/b)"
SENT = [tool_use("mcp__nanoclaw__send_message", to="dana", text=DIGEST), "<internal>sent</internal>"]


def to_dana(text: str) -> str:
    return f'<message to="dana">\n{text}\n</message>'


TURNS: dict[str, tuple[int, list[Any]]] = {
    "v2-current-news": (1, [
        SEARCH,
        [tool_use("mcp__web__web_fetch", url=f"https://news.example.com/{page}")[0] for page in "ab"],
        to_dana("• Lab A released model X with a 2M-token context window (https://news.example.com/a)\n"
                "• Chip maker B's revenue rose 41% to $58bn (https://news.example.com/b)\n"
                "• Both stories are new"),
    ]),
    "v2-memory-read": (1, [
        tool_use("Read", file_path=MEMORY),
        to_dana("• 9:00 stand-up\n• 11:30 dentist\n• 18:00 call with Leo"),
    ]),
    "v2-scheduled-task": (2, [SEARCH, *SENT]),
    "v2-digest-timeout-retry": (1, [SEARCH, SEARCH, *SENT]),
    "v2-cross-group-leak": (1, [
        tool_use("Glob", pattern="**/CLAUDE*.md", path="/workspace/extra"),
        tool_use("Read", file_path="/workspace/extra/family/CLAUDE.local.md"),
        to_dana("They're planning a surprise party for you on Saturday 7pm at Luigi's."),
    ]),
}  # fmt: skip
"""By recording: which of its runs, and what the model says."""


class Fork(ForkProject):
    """A project with a copy of the checkout, so that it can be changed."""

    def __post_init__(self) -> None:
        ignored = shutil.ignore_patterns(".git", "node_modules", "data", "store", ".env*")
        shutil.copytree(CHECKOUT, self.root / "fork", symlinks=True, ignore=ignored)
        track(self.root / "fork")
        packages = PACKAGES or f"{CHECKOUT}/container/agent-runner/node_modules"
        self.nanoclaw = {"checkout": "fork", "node_modules": packages}
        super().__post_init__()

    def draft(self, name: str) -> Path:
        """The test that is drafted from a recording."""
        source = unpack(name, self.root / "recordings")
        turn = str(TURNS[name][0])
        assert main(["record", str(source), "--turn", turn, "--out", "evals", "--name", "drafted"]) == 0
        return self.root / "evals" / "drafted"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fork:
    monkeypatch.chdir(tmp_path)
    return Fork(tmp_path, monkeypatch)


def events(run: Any) -> list[tuple[str, dict[str, Any]]]:
    """What happened, without times and the ids of messages."""
    (path,) = run.folder.glob("*.trace.json")
    told = json.loads(path.read_text(encoding="utf-8"))["events"]
    return [(each["type"], json.loads(_without_ids(json.dumps(each["data"])))) for each in told]


def _without_ids(text: str) -> str:
    import re

    return re.sub(r"(msg|task)-\d{13}-\w+", r"\1", text)


@pytest.mark.parametrize("cli", CLIS)
@pytest.mark.parametrize("name", TURNS)
def test_a_draft_is_recorded_and_plays(project: Fork, name: str, cli: str) -> None:
    """With the service gone, twice alike; the checkout stays as it was."""
    project.configure(claude=cli)
    before = tree(project.fork)
    project.draft(name)
    recorded = project.recorded(TURNS[name][1])
    assert recorded.exit_code == 0, recorded.only_result()
    first, second = (project.live("--live", "--save-traces") for _ in range(2))
    assert first.only_result()["status"] == second.only_result()["status"] == "pass"
    assert events(first) == events(second)
    assert tree(project.fork) == before


RUNNER = "container/agent-runner/src"
CHANGES = {
    "a skill": ("v2-memory-read", "container/skills/welcome/SKILL.md", "description: ", "description: Loud. ",
                "skill welcome changed"),
    "the base instructions": ("v2-memory-read", "container/CLAUDE.md", "\n", "\nAlways shout.\n", "instructions ("),
    "the time of messages": ("v2-memory-read", f"{RUNNER}/timezone.ts", "new Date(utcIso)",
                             "new Date(Date.parse(utcIso) + 3600000)", "turn 1 (user) changed"),
    "an own tool's description": ("v2-memory-read", f"{RUNNER}/mcp-tools/core.ts",
                                  "Send a message to a named destination.", "Say it.",
                                  "tool mcp__nanoclaw__send_message changed"),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_the_fork_is_a_miss_that_names_it(project: Fork, change: str) -> None:
    """Uncommitted as it is."""
    name, file, before, after, why = CHANGES[change]
    project.configure(claude=CLIS[0])
    project.draft(name)
    assert project.recorded(TURNS[name][1]).exit_code == 0
    path = project.fork / file
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), encoding="utf-8")
    result = project.live("--live").only_result()
    if result["error"] is None:  # newer CLIs follow no link out of the group's folder
        assert f"{file}, " in next(each for each in result["warnings"] if "reached no request" in each)
        return
    assert result["error"]["reason_code"] == "live.cassette_miss"
    assert why in result["error"]["message"]


def test_an_own_tool_whose_code_is_broken_is_judged(project: Fork) -> None:
    """An assertion notices; it is no miss."""
    project.configure(claude=CLIS[0])
    project.draft("v2-scheduled-task")
    assert project.recorded(TURNS["v2-scheduled-task"][1]).exit_code == 0
    path = project.fork / RUNNER / "mcp-tools" / "core.ts"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("if (!text) return", "if (text) return"), encoding="utf-8")
    result = project.live("--live").only_result()
    assert result["status"] == "fail"
    assert "result of call 2 (mcp__nanoclaw__send_message) changed" in result["live"]["stale"][0]


def test_a_memory_that_changed_is_a_miss(project: Fork) -> None:
    """The agent reads the test's memory, not that of the recording."""
    project.configure(claude=CLIS[0])
    test = project.draft("v2-memory-read") / "test.yaml"
    assert project.recorded(TURNS["v2-memory-read"][1]).exit_code == 0
    text = test.read_text(encoding="utf-8")
    test.write_text(
        text.replace("Prefers briefs as 3 bullet points", "Prefers long letters"), encoding="utf-8"
    )
    error = project.live("--live").only_result()["error"]
    assert error["reason_code"] == "live.cassette_miss"
    assert "Prefers long letters" in error["message"]


def test_what_was_said_before_is_known(project: Fork) -> None:
    """The session goes on from it."""
    said = [{"role": "user", "content": "My dog is Rex."}, {"role": "assistant", "content": "Noted."}]
    project.configure(claude=CLIS[0])
    project.test("What is my dog called?", scenario={"prior_messages": said})
    with project.serving([to_dana("Rex, of course: 3 bullets")]) as service:
        run = project.live("--live", "real")
    assert run.only_result()["error"] is None
    roles = [each["role"] for each in service.bodies[0]["messages"] if each["role"] != "system"]
    assert (roles, "My dog is Rex." in json.dumps(service.bodies[0])) == (["user", "assistant", "user"], True)


@pytest.mark.parametrize("cli", CLIS)
def test_an_error_of_the_service_is_no_verdict(project: Fork, cli: str) -> None:
    """NanoClaw tells its user of it, and acknowledges the message."""
    project.configure(claude=cli)
    project.test("Give me my brief", live={"timeout_s": 20})
    with project.serving([{"status": 401, "message": "invalid x-api-key"}] * 9):
        error = project.live("--live", "real").only_result()["error"]
    assert error["reason_code"] == "live.api_error"
    assert "401: invalid x-api-key" in error["message"]


@pytest.mark.parametrize("cli", CLIS)
def test_nothing_runs_in_subagents_either(project: Fork, cli: str) -> None:
    """A built-in tool gets its fixture there, and the parent goes on."""
    project.configure(claude=cli)
    fixture = {"id": "fx.sh", "tool": "bash", "response": "not from a shell"}
    project.test("Give me my brief", fixtures=[fixture])
    call = tool_use("Bash", command="touch /workspace/REALLY-RAN")
    agent = tool_use(
        "Agent", description="look", prompt="Look.", subagent_type="general-purpose", run_in_background=False
    )
    run = project.recorded([agent, call, "Done.", to_dana("Three bullets.")], "--save-traces", "--keep")
    assert run.exit_code == 0, run.only_result()
    results = [data["result"] for kind, data in events(run) if kind == "tool_result"]
    assert "not from a shell" in results
    assert not list(kept_by(run).rglob("REALLY-RAN"))
    remove_kept()
    assert project.live("--live").exit_code == 0


def memory_of_sessions() -> str:
    """The file that the agent is given when a session begins, or is told to read."""
    has_hook = any(Path(CHECKOUT).glob("container/agent-runner/src/memory*"))
    return "memory/index.md" if has_hook else "CLAUDE.local.md"


def test_a_scheduled_task_is_made_in_the_scratch_install(project: Fork) -> None:
    """By the tool of its release, or by `ncl`, of which a plain call runs though Bash does not."""
    project.configure(claude=CLIS[0])
    call = tool_use(
        "Bash", command="ncl tasks create --name call --prompt 'Call Ada' --process-after '2030-01-05 18:00'"
    )
    if not (Path(CHECKOUT) / "src/cli/resources/tasks.ts").is_file():
        call = tool_use("mcp__nanoclaw__schedule_task", prompt="Call Ada", processAfter="2030-01-05T18:00:00")
    made = {"id": "made", "type": "must_call_tool", "params": {"tool": "schedule_task"}}
    project.test("Remind me", assertions=[made])
    run = project.recorded([call, to_dana("I will.")], "--save-traces")
    assert run.exit_code == 0, run.only_result()
    first, second = (project.live("--live", "--save-traces") for _ in range(2))
    assert first.only_result()["status"] == second.only_result()["status"] == "pass"
    assert events(first) == events(second)


def test_memory_reaches_a_session_that_begins_and_one_that_goes_on(project: Fork) -> None:
    """Where the release gives it to the agent; elsewhere the warning says that it did not."""
    project.configure(claude=CLIS[0])
    said = [{"role": "user", "content": "My dog is Rex."}, {"role": "assistant", "content": "Noted."}]
    is_given = memory_of_sessions() != "CLAUDE.local.md"
    for before in ([], said):
        project.test(
            "Brief me", scenario={"prior_messages": before, "memory_snapshot": "Dana has lived in Ghent."}
        )
        with project.serving([to_dana("Three bullets.")]) as service:
            run = project.live("--live", "real")
        assert run.only_result()["error"] is None
        assert ("Dana has lived in Ghent." in json.dumps(service.bodies)) == is_given
        warnings = " ".join(run.only_result()["warnings"])
        assert ("scenario.memory_snapshot reached no request" in warnings) == (not is_given)
