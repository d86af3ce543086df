"""The test case: the content of one `test.yaml` (SPEC 13), as strict models.

Every mapping accepts keys that start with `x-`; they are the author's own and mean nothing here.
"""

from dataclasses import field
from pathlib import PurePath
from typing import Annotated, Any, ClassVar, Literal

from agenteval.contracts.json_values import MISSING, moment, time_zone
from agenteval.contracts.models import Between, Matching, Model, NotEmpty, OpenMapping, WrongPart, model
from agenteval.text.fitting import plural
from agenteval.text.names import closest

SCHEMA_VERSION = "0.1"

Severity = Literal["critical", "warning"]
Trigger = Literal["user_message", "scheduler"]
Name = Annotated[str, NotEmpty()]

MEMORY_KEYS = ("group_id", "source", "path")
"""The keys of memory that have a meaning. Not `content`: whatever its key is called, every other string is content."""
Memory = Annotated[dict[str, Any] | list[Any] | str, OpenMapping(*MEMORY_KEYS)]
"""Memory text in any arrangement: every string is content, but for group_id, session_id, source and path."""

OtherGroups = Annotated[
    dict[str, Any] | list[Any], OpenMapping(*MEMORY_KEYS, "session_id", "memory_snapshot", "memory")
]


def check_schedule(context: dict[str, Any] | None) -> None:
    """Refuse a moment or a time zone of the scheduler that is none: what needs it would not be judged. Raises ValueError."""
    known = context or {}
    due, zone = known.get("scheduled_for"), known.get("timezone")
    if due is not None and moment(due) is None:
        message = (
            f"scheduled_for is {due!r}: expected a moment in ISO 8601, such as 2026-01-31T08:00:00+01:00"
        )
        raise WrongPart(f"{message}{_meant_moment(due)}", "scheduler_context", "scheduled_for")
    if zone is not None and time_zone(zone) is None:
        raise WrongPart(f"there is no time zone {zone!r}{_meant_zone(zone)}", "scheduler_context", "timezone")


def _meant_moment(written: Any) -> str:
    """The moment that `22.11.2026 08:00` means, to suggest."""
    import re

    match = re.fullmatch(
        r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?:,?[ T]+(\d{1,2}):(\d{2}).*)?", str(written).strip()
    )
    if not match:
        return ""
    day, month, year, hour, minute = match.groups(default="0")
    meant = f"{year}-{month:>02}-{day:>02}T{hour:>02}:{minute:>02}"
    return f"; did you mean {meant!r}?" if moment(meant) else ""


def _meant_zone(written: Any) -> str:
    """The time zone that a misspelt name means, to suggest."""
    from zoneinfo import available_timezones

    known = sorted(available_timezones())
    if isinstance(written, str) and len(written) < LONGEST_ZONE and (meant := closest(written, known)):
        return f", did you mean {meant!r}?"
    return ": expected a name such as Europe/Berlin, or an offset such as +01:00"


LONGEST_ZONE = 50
FURTHEST_UNTIL = 366
"""The most days that a test may not block: a later day would be forgotten."""


@model
class Message(Model):
    """One message of a conversation."""

    role: Literal["user", "assistant", "system", "tool", "agent"]
    """The speaker; `agent` is another agent, which wrote to this one."""
    content: str
    """The text of the message."""
    sender: str | None = None
    """The sender's display name, where the chat has one."""
    ts: str | None = None
    """The time at which it was sent, ISO 8601."""

    def __post_init__(self) -> None:
        if self.ts is not None and moment(self.ts) is None:
            message = f"ts is {self.ts!r}: expected a moment in ISO 8601, such as 2026-01-31T08:00:00+01:00"
            raise WrongPart(f"{message}{_meant_moment(self.ts)}", "ts")


@model
class Scenario(Model):
    """The situation the agent was in."""

    group_id: Name
    """The chat group that the agent acts for."""
    trigger: Trigger
    """The event that woke the agent: a message, which another agent may have sent, or the scheduler."""
    input_messages: list[Message]
    """The messages that the agent has to answer."""
    session_id: str | None = None
    """The session within the group."""
    prior_messages: list[Message] = field(default_factory=list)
    """Earlier messages, oldest first."""
    memory_snapshot: Memory | None = None
    """The group's memory at the start: a list of {group_id, source, path, content}, or any mapping."""
    other_group_state: OtherGroups | None = None
    """Memory of other groups, which must not leak: a list of {group_id, memory_snapshot}, or group to memory."""
    mounts: list[Any] = field(default_factory=list)
    """Folders mounted into the agent's container."""
    scheduler_context: (
        Annotated[
            dict[str, Any], OpenMapping("task_id", "scheduled_for", "timezone", "series_id", "recurrence")
        ]
        | None
    ) = None
    """The scheduled task: task_id, scheduled_for, timezone, and what else the scheduler knows."""

    def __post_init__(self) -> None:
        check_schedule(self.scheduler_context)


@model
class FixtureError(Model):
    """The error that a tool answered with."""

    error_type: Name
    """The kind of error, for instance `timeout`."""
    message: str = ""
    """The message of the tool."""
    retryable: bool = False
    """True if trying again could help."""


@model
class FixtureMatch(Model):
    """The arguments a call must have for a fixture to be its answer."""

    args_contains: dict[str, Any] | None = None
    """Strings by substring (no digits inside a longer number), everything else by equality."""
    args_equal: dict[str, Any] | None = None
    """Arguments that must be equal."""


@model
class Fixture(Model):
    """A deterministic tool answer: `file`, `response` or `error`. With none of them, it documents what recordings hold."""

    id: Name
    """The name by which replay steps refer to it."""
    tool: Name
    """The tool that answers so."""
    description: str | None = None
    """The meaning of the fixture."""
    file: str | None = None
    """A JSON file beside the test, for instance `fx.web_search.current_ai_news.json`."""
    response: Any = field(default_factory=lambda: MISSING)
    """The answer itself; it may be null."""
    error: FixtureError | None = None
    """The error that the tool answers with."""
    match: FixtureMatch | None = None
    """The arguments that this answer belongs to."""

    def __post_init__(self) -> None:
        given = [key for key in ("file", "response", "error") if getattr(self, key) not in (None, MISSING)]
        if len(given) > 1:
            raise ValueError(
                f"a fixture has at most one of file, response and error; this one has {' and '.join(given)}"
            )

    @property
    def answers(self) -> bool:
        """True if the fixture holds an answer, be it null; otherwise it documents what recordings hold under its id."""
        return not (self.file is None and self.error is None and self.response is MISSING)


@model
class ToolPolicy(Model):
    """The tools that may be used, and the most calls of each."""

    allow: list[str] | None = None
    """Tools that may be called (names or globs); everything else may not."""
    deny: list[str] = field(default_factory=list)
    """Tools that must not be called (names or globs)."""
    max_calls: int | dict[str, int] | None = None
    """The most calls in all, or by tool."""

    def __post_init__(self) -> None:
        limits = self.max_calls.values() if isinstance(self.max_calls, dict) else (self.max_calls or 0,)
        if min(limits, default=0) < 0:
            raise ValueError("max_calls is negative: 0 allows no call")


@model
class Tools(Model):
    """The tools that the agent could use."""

    available: list[Name]
    """The tools that the agent had."""
    fixtures: list[Fixture] = field(default_factory=list)
    """Deterministic answers of tools."""
    policy: ToolPolicy | None = None
    """The tools that may be used."""


@model
class AssertionSpec(Model):
    """The envelope of one assertion (SPEC 15)."""

    id: Name
    """Unique in the file."""
    type: Name
    """A type of the catalogue: see `agenteval explain`."""
    severity: Severity = "critical"
    """The effect of a failure: it fails the test, or only warns."""
    params: dict[str, Any] = field(default_factory=dict)
    """The parameters of the type."""
    requires_capabilities: list[str] = field(default_factory=list)
    """Adapter capabilities without which the assertion is skipped."""
    description: str | None = None
    """The reason for the assertion."""
    needs: Literal["real_model"] | None = None
    """`real_model`: skipped where the model's answers are played from a cassette."""


@model
class Policy(Model):
    """The rules by which the test is judged."""

    on_missing_capability: Literal["skip", "fail"] = "skip"
    """The outcome of an assertion for which the recording lacks something."""


@model
class Expected(Model):
    """The expected outcome. `status: fail` marks a known bug or a negative control; the rest is never judged."""

    outcome: str | None = None
    """In words."""
    failure_categories: list[str] = field(default_factory=list)
    """The kinds of failure that this test is meant to catch."""
    status: Literal["pass", "fail"] = "pass"
    """`fail`: the test passes exactly when the assertions named fail, and no other."""
    assertions: list[Name] = field(default_factory=list)
    """The ids of the assertions that are expected to fail. Goes with `status: fail`."""
    reason: str | None = None
    """The reason why they fail: the bug, or what the control shows. Goes with `status: fail`."""

    def __post_init__(self) -> None:
        given = [name for name in ("assertions", "reason") if getattr(self, name)]
        if self.status == "pass" and given:
            raise ValueError(f"{' and '.join(given)} {plural(len(given), 'goes', 'go')} with status: fail")
        if self.status == "fail" and not self.assertions:
            raise ValueError("status: fail needs assertions: the ids of those that are to fail")
        if self.status == "fail" and not (self.reason or "").strip():
            raise ValueError("status: fail needs a reason: the bug, or what the control shows")


@model
class Reporting(Model):
    """The files that are written about the test."""

    save_trace: bool = False
    """Write the normalized trace beside the result."""
    redact_fields: list[str] = field(default_factory=list)
    """Fields with values that are never written or shown: key names, dotted paths or globs."""


@model
class LiveSpec(Model):
    """The settings for running the agent again (`agenteval run --live`)."""

    cassette: Name = "cassette.json"
    """The recorded answers of the model, beside the test."""
    match: Literal["exact", "nearest"] = "exact"
    """The recorded result that a tool call gets: the one with equal arguments; or else the next one of the tool."""
    run_tools: list[Name] = field(default_factory=list)
    """Tools that really run, in the sandbox: names or globs. All others get fixtures and recorded results."""
    script: Name | None = None
    """Hand-written turns of the model, a YAML file beside the test, before the cassette or the real model answers."""
    timeout_s: Annotated[float, Between(0.1)] = 120
    """The most seconds that the agent may take."""
    trials: Annotated[int, Between(1, 10_000)] = 1
    """The number of times that the test is run; `--trials` has the last word."""
    pass_at_least: Annotated[float, Between(0.0001, 1)] = 1.0
    """The share of the trials that must pass, above 0 and up to 1."""
    blocking: bool = True
    """True if the test can fail the run. A new one may be reported only, until a day: `until`."""
    owner: Name | None = None
    """The owner of a test that does not block."""
    until: Annotated[str, Matching(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")] | None = None
    """The last day, as YYYY-MM-DD, on which the test does not block; at most a year from now."""

    def __post_init__(self) -> None:
        path = PurePath(self.cassette)
        if path.is_absolute() or ".." in path.parts or not path.name or "\0" in self.cassette:
            raise ValueError(f"cassette is {self.cassette!r}: expected the name of a file beside the test")
        if not self.blocking and not (self.owner and self.until):
            raise ValueError("blocking: false needs an owner, and until: the last day on which it holds")
        if self.blocking and (self.owner or self.until):
            raise ValueError("owner and until go with blocking: false")
        if self.until:
            _check_until(self.until)


def _check_until(until: str) -> None:
    from datetime import UTC, datetime, timedelta

    last = datetime.now(UTC).date() + timedelta(days=FURTHEST_UNTIL)
    if (day := moment(until)) is None:
        raise WrongPart(f"until is {until}: this day does not exist", "until")
    if day.date() > last:
        raise WrongPart(f"until is {until}, more than a year away: expected a day up to {last}", "until")


@model
class TestCase(Model):
    """One scenario with its fixtures and assertions (SPEC 13)."""

    __test__: ClassVar[bool] = False  # not a pytest class

    schema_version: Literal["0.1"]
    """The version of this format."""
    id: Name
    """`<adapter>.<area>.<behavior>.<expectation>`, unique in a run (SPEC 19)."""
    title: str
    """The subject of the test, in a line."""
    adapter: Name
    """The adapter that reads the recording, for instance `nanoclaw`."""
    mode: Literal["replay", "live"]
    """The source of the behaviour."""
    scenario: Scenario
    """The situation."""
    tools: Tools
    """The tools that the agent could use."""
    assertions: list[AssertionSpec]
    """The conditions that must be true."""
    description: str | None = None
    """The subject of the test and the reason for it, at length."""
    tags: list[str] = field(default_factory=list)
    """Names to select tests by."""
    adapter_input: dict[str, Any] = field(default_factory=dict)
    """The input of the adapter; the core hands it over unread."""
    policy: Policy = field(default_factory=Policy)
    """The rules by which the test is judged."""
    expected: Expected | None = None
    """The outcome that a person expects."""
    reporting: Reporting = field(default_factory=Reporting)
    """The files that are written about the test."""
    live: LiveSpec | None = None
    """The settings for running the agent again."""
    variants: Annotated[list[Name], NotEmpty()] | None = None
    """Phrasings of the last message of the user, of which every trial of a live run takes the next one."""


def memory_text(memory: Any) -> list[str]:
    """All memory content in a `memory_snapshot`, whatever its arrangement, in document order: texts, numbers, and keys of several words."""
    if isinstance(memory, str):
        return [memory]
    if isinstance(memory, int | float) and not isinstance(memory, bool):
        return [str(memory)]
    if isinstance(memory, list):
        return [text for item in memory for text in memory_text(item)]
    texts: list[str] = []
    for key, item in memory.items() if isinstance(memory, dict) else ():
        if key not in ("group_id", "session_id", "source", "path"):
            # `the dentist: Monday` is a note; a key of one word, such as `facts`, only arranges them.
            texts += [key] * (" " in key) + memory_text(item)
    return texts


def other_memories(scenario: Scenario) -> list[tuple[str, Any]]:
    """List the memory of every other group in the scenario, by group id, or an object that has it."""
    state = scenario.other_group_state
    if isinstance(state, dict) and "group_id" not in state:
        return list(state.items())
    entries = [state] if isinstance(state, dict) else state if isinstance(state, list) else []
    return [(str(each.get("group_id", "")), each) for each in entries if isinstance(each, dict)]


def other_groups(scenario: Scenario) -> dict[str, list[str]]:
    """The memory texts of every other group in the scenario, by group id."""
    groups: dict[str, list[str]] = {}
    for group_id, memory in other_memories(scenario):
        groups.setdefault(group_id, []).extend(memory_text(memory))
    return groups
