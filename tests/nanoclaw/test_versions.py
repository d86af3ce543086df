"""What a live run takes from a checkout of NanoClaw, and what from the table of releases."""

import re

import pytest

from agenteval_nanoclaw.versions import RELEASES, Host, host_of, release_of
from fork_projects import COMPOSER, INIT, SCHEMA

NEW, OLD = RELEASES
RUNNER = "container/agent-runner/src"
CENTRAL, _, SESSION = SCHEMA.partition("export const INBOUND_SCHEMA")
FILES = {
    "src/db/schema.ts": CENTRAL,
    NEW.session_schema: f"export const INBOUND_SCHEMA{SESSION}",
    "src/claude-md-compose.ts": """
const COMPOSED_HEADER =
  '<!-- Ours. -->';
      if ((moduleName === 'cli' || moduleName === 'scheduling') && cliDisabled) continue;
""",
    "src/group-init.ts": """
const DEFAULT_SETTINGS_JSON =
  JSON.stringify(
    {
      autoMemoryEnabled: false,
      hooks: { PreCompact: [{ hooks: [{ type: 'command', command: 'bun /app/src/x.ts' }] }] },
    },
    null,
    2,
  ) + '\\n';
""",
    "src/group-persona.ts": "export const PERSONA_PREPEND_FILE = 'first.md';",
    f"{RUNNER}/memory/session-hook.ts": "",
    f"{RUNNER}/db/session-routing.ts": "const TASK_THREAD_PREFIX = 'system:tasks:';",
    f"{RUNNER}/mailbox/index.ts": "",
    "src/cli/resources/tasks.ts": "",
}


def host(files: dict[str, str]) -> Host:
    release = release_of(files.__contains__)
    assert release is not None
    return host_of(release, files.get)


def test_a_new_checkout_shows_what_its_host_does() -> None:
    """Nothing is taken from the table."""
    found = host(FILES)
    assert (found.release.name, found.header, found.persona) == ("2.2", "<!-- Ours. -->", "first.md")
    assert found.settings == {
        "autoMemoryEnabled": False,
        "hooks": {"PreCompact": [{"hooks": [{"type": "command", "command": "bun /app/src/x.ts"}]}]},
    }
    assert (found.without_cli, found.memory) == (("cli", "scheduling"), "memory/index.md")
    assert (found.series_sessions, found.session_context, found.guessed) == (True, True, ())


def test_an_old_checkout_shows_what_its_host_does() -> None:
    """Between two releases each part is known by itself: code moves piece by piece."""
    old = {"src/db/schema.ts": SCHEMA, "src/claude-md-compose.ts": COMPOSER, "src/group-init.ts": INIT}
    found = host(old)
    assert (found.release.name, found.persona, found.memory) == ("2.0", "", "CLAUDE.local.md")
    assert (found.series_sessions, found.session_context, found.without_cli) == (False, False, ())
    between = host({**old, f"{RUNNER}/memory-session-hook.ts": ""})
    assert (between.release.name, between.memory) == ("2.0", "memory/index.md")


@pytest.mark.parametrize(
    ("path", "part"), [("src/group-init.ts", "settings"), ("src/claude-md-compose.ts", "header")]
)
def test_a_file_that_is_not_there_is_made_up_for_by_the_table_and_named(path: str, part: str) -> None:
    """The author is told what was guessed."""
    found = host({name: text for name, text in FILES.items() if name != path})
    assert getattr(found, part) == getattr(NEW, part)
    (guess,) = found.guessed
    assert guess.startswith(f"{path} is not there, so ")
    assert guess.endswith("NanoClaw 2.2")


@pytest.mark.parametrize(
    ("path", "text", "why"),
    [
        (NEW.session_schema, "", "has no constant INBOUND_SCHEMA"),
        ("src/db/schema.ts", "", "has no constant SCHEMA"),
        ("src/group-init.ts", "const SETTINGS = 1;", "src/group-init.ts does not show what the settings of a new group are"),
        ("src/group-init.ts", FILES["src/group-init.ts"].replace("false", "off()"), "that are no plain values"),
        ("src/claude-md-compose.ts", "", "does not show how the instructions of a group begin"),
    ],
)  # fmt: skip
def test_a_file_that_says_something_else_is_refused(path: str, text: str, why: str) -> None:
    """What is there and not understood is not guessed."""
    with pytest.raises(ValueError, match=re.escape(why)):
        host({**FILES, path: text})


def test_what_is_no_checkout_has_no_release() -> None:
    """By its files, whatever its version says."""
    assert release_of(lambda path: path == "package.json") is None


def test_tasks_are_made_with_ncl_before_series_have_sessions_that_the_runner_names() -> None:
    """As in 2.1: the host's command shows the one, the runner the other."""
    found = host({path: text for path, text in FILES.items() if not path.endswith("session-routing.ts")})
    assert (found.ncl_tasks, found.series_sessions) == (True, False)


@pytest.mark.parametrize(
    ("rows", "routing", "zoned"),
    [
        ("VALUES (@id, @seq, datetime('now'), 'pending')", "", False),
        ("VALUES (@id, @seq, datetime('now'), 'pending')", "'system:tasks:'", False),
        ("VALUES (@id, @seq, @timestamp, 'pending'), datetime('now')", "", True),
        (None, "", False),
        (None, "'system:tasks:'", True),
    ],
)
def test_the_code_that_writes_tasks_shows_whether_their_times_have_a_zone(
    rows: str | None, routing: str, zoned: bool
) -> None:
    """Without that file, the release in which each series has its session does so."""
    files = {**FILES, f"{RUNNER}/db/session-routing.ts": routing}
    if rows is not None:
        files["src/modules/scheduling/db.ts"] = rows
    assert host(files).zoned_tasks == zoned
