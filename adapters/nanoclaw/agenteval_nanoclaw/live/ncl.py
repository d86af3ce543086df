"""The host's side of `ncl`, NanoClaw's command for agents: tasks, and what agents look up of their own group.

The program in the sandbox is the checkout's own. It writes each request into the agent's database and waits for a row
of the host. Here that row is made, from the scratch install, with the same values. What an owner has to approve is
held, as on a host where nobody has tapped yet.
"""

import json
import re
import shlex
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from agenteval.reading.documents import sha256
from agenteval_nanoclaw.live.schedule import Schedule
from agenteval_nanoclaw.session.values import iso, record_of

if TYPE_CHECKING:
    from agenteval_nanoclaw.live.workspace import Workspace

PROGRAM = "ncl"
_PLACES = (PROGRAM, f"/usr/local/bin/{PROGRAM}")
_MOST_DAILY = 4
"""The most times a day that a task may wake the agent, unless its own script lets the agent sleep."""
_TOO_OFTEN = (
    "Warning: this task has not been scheduled: it would run more than 4 times a day. Give it a --script that decides "
    "whether it needs to run, or, once the user has confirmed it, --dangerously-override-recurrence-limit"
)
_LOG_LINES = 10
_LOOK_SECONDS = 0.1
_PROMPT_SHOWN = 120
_LIVE = ("pending", "paused")
_ID = re.compile(r"[a-z0-9-]+")
_TASK_COLUMNS = "id, series_id, status, process_after, recurrence, content, timestamp, tries, seq"

_Args = dict[str, Any]
_TASK_FLAGS: dict[str, tuple[str, ...]] = {
    "list": ("status", "session", "all"),
    "get": ("session",),
    "create": (
        "name", "prompt", "recurrence", "dangerously_override_recurrence_limit", "process_after", "script",
    ),
    "append-log": ("msg",),
    "update": (
        "prompt", "process_after", "recurrence", "dangerously_override_recurrence_limit", "script", "session",
    ),
    "cancel": ("all", "session"),
    "run": ("session",),
    "pause": ("session",),
    "resume": ("session",),
    "delete": ("session",),
}  # fmt: skip
"""The verbs of tasks, with the flags of each; those that name the group are filled in."""
_SWITCHES = ("all", "dangerously_override_recurrence_limit")
_FILLED = ("id", "agent_group_id", "group")
_LOOKED_UP = {
    "groups": ("agent_groups", "id", "id, name, folder, created_at"),
    "sessions": (
        "sessions",
        "agent_group_id",
        "id, agent_group_id, messaging_group_id, thread_id, agent_provider, status, container_status, last_active, created_at",
    ),
    "members": ("agent_group_members", "agent_group_id", "user_id, agent_group_id, added_by, added_at"),
}
"""The resources of their own group that agents may list: the table, its column with the group, the shown columns."""
_APPROVED = {
    "groups": (
        "create", "update", "delete", "restart", "config-update", "config-add-mcp-server",
        "config-remove-mcp-server", "config-add-package", "config-remove-package",
    ),
    "destinations": ("add", "remove"),
    "members": ("add", "remove"),
    "wirings": ("update",),
}  # fmt: skip
"""The verbs that wait for an owner's approval, by resource."""
_OF_HOST = ("messaging-groups", "users", "roles", "user-dms", "dropped-messages", "approvals", "policies")


class _RefusedError(Exception):
    """A command that is not carried out; `code` is the host's word for why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def is_plain_call(command: str) -> bool:
    """Return whether a shell command is one call of `ncl` and nothing else: no pipe, no second command, nothing to expand."""
    if any(each in command for each in "$`\n"):
        return False
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        return False
    operators = set("();<>|&")
    return bool(words) and words[0] in _PLACES and not any(word and set(word) <= operators for word in words)


class Desk:
    """Answers what the agent of a scratch install asks with `ncl`."""

    def __init__(self, workspace: "Workspace") -> None:
        self.workspace = workspace
        self.answered: set[str] = set()
        self._looked = 0.0

    def attend(self) -> None:
        """Answer what was asked since. Never raises for what an agent asks."""
        if time.monotonic() - self._looked < _LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        for row, kind, text in self.workspace.sent():
            asked = record_of(_json(text)) if kind == "system" and row not in self.answered else {}
            if asked.get("action") == "cli_request":
                self.answered.add(row)
                self._answer(row, asked)

    def _answer(self, row: str, asked: Mapping[str, Any]) -> None:
        request = str(asked.get("requestId") or row)
        frame: dict[str, Any] = {"id": request, "ok": True}
        try:
            frame |= self._dispatch(str(asked.get("command")), dict(record_of(asked.get("args"))))
        except _RefusedError as refusal:
            frame |= {"ok": False, "error": {"code": refusal.code, "message": str(refusal)}}
        response = {"type": "cli_response", "requestId": request, "frame": frame}
        # the client looks for `"requestId":"..."` in the text of the row, as JavaScript writes it
        content = json.dumps(response, ensure_ascii=False, separators=(",", ":"))
        self.workspace.answer(row, f"cli-resp-{request}", content)

    def _dispatch(self, command: str, args: _Args) -> dict[str, Any]:
        args = {name.replace("-", "_"): value for name, value in args.items()}
        if self.workspace.config.get("cliScope") == "disabled":
            raise _RefusedError("forbidden", "CLI access is disabled for this agent group.")
        resource, verb, rest = self._split(command)
        if rest:
            args.setdefault("id", rest)
        for key in ("agent_group_id", "group"):
            if args.setdefault(key, self.workspace.owner) != self.workspace.owner:
                raise _RefusedError("forbidden", "CLI access is scoped to this agent group.")
        if args.get("help") is True or verb == "help" or resource == "help":
            return _shown_as_is(self._help(resource))
        if verb in _APPROVED.get(resource, ()):
            self._hold(f"{resource}-{verb}", args)
            message = "Approval request sent to admin. You will be notified of the result."
            raise _RefusedError("approval-pending", message)
        try:
            if resource == "tasks":
                return self._task(verb, args)
            return {"data": self._look_up(resource, verb, args)}
        except (ValueError, sqlite3.Error) as error:
            raise _RefusedError("handler-error", str(error)) from None

    def _split(self, command: str) -> tuple[str, str, str]:
        """The resource and the verb of a command, whose words are joined by dashes, and the id that may follow."""
        verbs = self._verbs()
        for resource, known in verbs.items():
            if command == resource or not command.startswith(f"{resource}-"):
                continue
            said = command[len(resource) + 1 :]
            for verb in sorted(known, key=len, reverse=True):
                if said == verb or said.startswith(f"{verb}-"):
                    return resource, verb, said[len(verb) + 1 :]
        if command == "help":
            return "help", "", ""
        for resource in _OF_HOST:
            if command.startswith(resource):
                raise _RefusedError(
                    "forbidden", f'CLI access is scoped to this agent group. Cannot access "{resource}".'
                )
        known_of = next((each for each in verbs if command.startswith(each)), "")
        advice = (
            f" — verbs for {known_of}: {', '.join(verbs[known_of])}. Run `ncl {known_of} help <verb>` for flags and examples."
            if known_of
            else " Run `ncl help`."
        )
        raise _RefusedError("unknown-command", f'no command "{command}"{advice}')

    def _verbs(self) -> dict[str, list[str]]:
        found = {name: ["list", "get", "help"] for name in _LOOKED_UP}
        found |= {"destinations": ["list", "help"], "members": ["list", "help"], "wirings": ["get"]}
        found["groups"].append("config-get")
        for resource, verbs in _APPROVED.items():
            found[resource] += verbs
        if self.workspace.host.ncl_tasks:
            found["tasks"] = [*_TASK_FLAGS, "help"]
        return found

    def _help(self, resource: str) -> str:
        verbs = self._verbs()
        lines = ["CLI scope: group (--id and group args are auto-filled to your agent group)", ""]
        for name in [resource] if resource in verbs else verbs:
            lines.append(
                f"  {name.ljust(20)} verbs: {', '.join(each for each in verbs[name] if each != 'help')}"
            )
            if name == resource == "tasks":
                lines += [f"    {verb}: {_flags(flags)}" for verb, flags in _TASK_FLAGS.items()]
        return "\n".join(lines)

    # Tasks ------------------------------------------------------------------------------------------------------

    def _task(self, verb: str, args: _Args) -> dict[str, Any]:
        flags = _TASK_FLAGS[verb]
        for name, value in args.items():
            if name not in (*flags, *_FILLED):
                raise _RefusedError("invalid-args", f"unknown flag {_flags((name,))}")
            if value is True and name not in _SWITCHES:
                raise _RefusedError("invalid-args", f"{_flags((name,))} requires a value")
        for needed in {"create": ("prompt",), "append-log": ("msg",)}.get(verb, ()):
            if not args.get(needed):
                raise _RefusedError("invalid-args", f"{_flags((needed,))} is required")
        without_id = verb in ("list", "create", "append-log") or (verb == "cancel" and args.get("all"))
        if not without_id and not args.get("id"):
            raise _RefusedError("invalid-args", "--id is required")
        if verb == "list":
            listed = self._list(args)
            return {"data": listed, "human": self._table(listed)}
        handlers: dict[str, Callable[[_Args], Any]] = {
            "get": self._get, "create": self._create, "append-log": self._log, "update": self._update, "run": self._run,
            "delete": self._delete, "cancel": self._cancel,
            "pause": lambda given: self._change(given, "pending", "status = 'paused'"),
            "resume": lambda given: self._change(given, "paused", "status = 'pending'"),
        }  # fmt: skip
        return {"data": handlers[verb](args)}

    def _create(self, args: _Args) -> dict[str, Any]:
        recurrence, script = _text_or_none(args.get("recurrence")), _text_or_none(args.get("script"))
        self._check(recurrence, script, args)
        if recurrence and args.get("process_after") is None:
            due, is_recurring = self._first(recurrence), True
        else:
            due, is_recurring = self._moment(args.get("process_after")), False
        series = self._new_id(str(args.get("name") or ""), str(args["prompt"]))
        session = f"sess-{series}"
        content = {
            "prompt": args["prompt"],
            "script": script,
            "originSessionId": self.workspace.session.name,
        }
        self.workspace.open_series(session, series)
        row = {"id": series, "series_id": series, "process_after": due, "recurrence": recurrence}
        made = self.workspace.put_task(session, **row, status="pending", content=json.dumps(content))
        self._is_of_this_run(made["timestamp"], "created_at")
        if is_recurring:
            self._is_of_this_run(due, "process_after")
        return self._output(session, made)

    def _check(self, recurrence: str | None, script: str | None, args: Mapping[str, Any]) -> None:
        if not recurrence:
            return
        schedule = Schedule(recurrence, self.workspace.timezone)
        free = script is not None or _is_on(args.get("dangerously_override_recurrence_limit"))
        if not free and schedule.runs_a_day(datetime.now(UTC), _MOST_DAILY) > _MOST_DAILY:
            raise ValueError(_TOO_OFTEN)

    def _first(self, recurrence: str) -> str:
        return _iso(Schedule(recurrence, self.workspace.timezone).after(datetime.now(UTC)))

    def _moment(self, text: Any) -> str:
        """A time as the host reads it: without an offset, of the group's time zone."""
        if not isinstance(text, str) or not text:
            raise ValueError("--process-after is required")
        try:
            moment = datetime.fromisoformat(text.strip())
        except ValueError:
            raise ValueError(f"invalid --process-after: {text}") from None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=ZoneInfo(self.workspace.timezone))
        return _iso(moment.astimezone(UTC))

    def _new_id(self, name: str, prompt: str) -> str:
        """An id like the host's, the same in every run: a played model knows it from the recorded one."""
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:24].rstrip("-")
        taken = {row["series_id"] for _, row in self._rows()}
        for number in range(len(taken) + 1):
            digest = sha256(json.dumps([name, prompt, number]).encode())
            made = f"{slug}-{digest[:4]}" if slug else f"t-{digest[:6]}"
            if made not in taken:
                break
        return made

    def _rows(self, args: Mapping[str, Any] | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
        """The rows of all tasks, each with its session; those of one session where `args` name it."""
        wanted = (args or {}).get("session")
        for session in self.workspace.task_sessions():
            if wanted in (None, session):
                query = f"SELECT {_TASK_COLUMNS} FROM messages_in WHERE kind = 'task' ORDER BY seq"  # noqa: S608 - ours
                for row in self.workspace.read(session, query):
                    yield session, dict(zip(_TASK_COLUMNS.split(", "), row, strict=True))

    def _of(self, args: _Args) -> Iterator[tuple[str, dict[str, Any]]]:
        wanted = args["id"]
        yield from (each for each in self._rows(args) if wanted in (each[1]["id"], each[1]["series_id"]))

    def _shown(self, rows: list[tuple[str, dict[str, Any]]]) -> tuple[str, dict[str, Any]]:
        """The row that stands for a series: the next that is to run, else the last that ran."""
        live = [each for each in rows if each[1]["status"] in _LIVE]
        return next((each for each in live if not self._is_due(each[1])), live[0] if live else rows[-1])

    def _is_due(self, row: Mapping[str, Any]) -> bool:
        return row["status"] == "pending" and str(row["process_after"] or "") <= _iso(datetime.now(UTC))

    def _output(self, session: str, row: Mapping[str, Any]) -> dict[str, Any]:
        content = record_of(_json(row["content"]))
        prompt = str(content.get("prompt") or "")
        return {
            "agent_group_id": self.workspace.owner,
            "session_id": session,
            "series_id": row["series_id"] or row["id"],
            "row_id": row["id"],
            "status": row["status"],
            "process_after": row["process_after"],
            "recurrence": row["recurrence"],
            "prompt": prompt if len(prompt) <= _PROMPT_SHOWN else f"{prompt[: _PROMPT_SHOWN - 3]}...",
            "has_script": int(bool(content.get("script"))),
            "origin_session_id": content.get("originSessionId"),
            "created_at": row["timestamp"],
            "tries": row["tries"],
        }

    def _list(self, args: _Args) -> list[dict[str, Any]]:
        status = args.get("status")
        if status not in (None, *_LIVE):
            raise _RefusedError("invalid-args", "--status must be one of: pending, paused")
        by_series: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        for session, row in self._rows(args):
            by_series.setdefault(row["series_id"] or row["id"], []).append((session, row))
        listed = []
        for series, rows in by_series.items():
            live = [each for each in rows if each[1]["status"] in (_LIVE if status is None else (status,))]
            if not live:
                continue
            session, row = self._shown(live)
            ran = [each["process_after"] for _, each in rows if each["status"] == "completed"]
            listed.append(
                self._output(session, row)
                | {
                    "schedule": row["recurrence"] or "once",
                    "runs": len(ran),
                    "failed_runs": sum(each["status"] == "failed" for _, each in rows),
                    "last_run": max(filter(None, ran), default=None),
                    "next_run": row["process_after"],
                    "log": f"tasks/{series}.md",
                }
            )
        return listed

    def _table(self, listed: list[dict[str, Any]]) -> str:
        if not listed:
            return "No tasks."
        shown, plain = ([_cells(each, plain=plain) for each in listed] for plain in (False, True))
        if (text := _aligned(shown)) != (stand_in := _aligned(plain)):
            self.workspace.clock[text] = stand_in  # how long ago and how soon differ from run to run
        return text

    def _get(self, args: _Args) -> dict[str, Any]:
        rows = list(self._of(args))
        if not rows:
            raise ValueError(f"task not found: {args['id']}")
        session, row = self._shown(rows)
        content = record_of(_json(row["content"]))
        return self._output(session, row) | {
            "prompt": content.get("prompt") or "",
            "script": content.get("script"),
            "completed_runs": sum(each["status"] == "completed" for _, each in rows),
            "failed_runs": sum(each["status"] == "failed" for _, each in rows),
            "recent_log": self.workspace.logs.get(str(row["series_id"] or row["id"]), [])[-_LOG_LINES:],
        }

    def _change(self, args: _Args, status: str | None, change: str, **values: Any) -> dict[str, Any]:
        """Change the live rows of a series, or of all; the number of those that were."""
        found = self._of(args) if args.get("id") and not args.get("all") else self._rows(args)
        rows = [each for each in found if each[1]["status"] in (_LIVE if status is None else (status,))]
        for session, row in rows:
            self.workspace.change(session, f"{change} WHERE id = :id", id=row["id"], **values)
        if args.get("all"):
            return {"cancelled": len(rows)}
        if not rows:
            raise ValueError(f"no live task matched: {args['id']}")
        return {"series_id": args["id"], "touched": len(rows)}

    def _cancel(self, args: _Args) -> dict[str, Any]:
        return self._change(
            args | {"all": _is_on(args.get("all"))}, None, "status = 'cancelled', recurrence = NULL"
        )

    def _update(self, args: _Args) -> dict[str, Any]:
        rows = [each for each in self._of(args) if each[1]["status"] in _LIVE and not self._is_due(each[1])]
        fields: dict[str, Any] = {}
        content = {"prompt": args["prompt"]} if args.get("prompt") else {}
        if "process_after" in args:
            fields["process_after"] = self._moment(args["process_after"])
        if "script" in args:
            content["script"] = _text_or_none(args["script"])
        if "recurrence" in args:
            fields["recurrence"] = _text_or_none(args["recurrence"])
            before = record_of(_json(rows[0][1]["content"])).get("script") if rows else None
            self._check(fields["recurrence"], content.get("script", before), args)
        names = {
            "prompt": "prompt",
            "process_after": "processAfter",
            "recurrence": "recurrence",
            "script": "script",
        }
        changed = [name for key, name in names.items() if key in fields or key in content]
        if not changed:
            raise ValueError("nothing to update")
        if not rows:
            raise ValueError(f"no live task matched: {args['id']}")
        for session, row in rows:
            merged = json.dumps(record_of(_json(row["content"])) | content)
            sets = ", ".join(f"{name} = :{name}" for name in ("content", *fields))
            self.workspace.change(session, f"{sets} WHERE id = :id", id=row["id"], content=merged, **fields)
        return {"series_id": args["id"], "touched": len(rows), "fields": changed}

    def _run(self, args: _Args) -> dict[str, Any]:
        rows = list(self._of(args))
        if not rows:
            raise ValueError(f"task not found: {args['id']}")
        session, row = self._shown(rows)
        series = row["series_id"] or row["id"]
        made = self._new_id(f"{series}-run", f"{len(rows)}")
        due = {"process_after": _iso(datetime.now(UTC)), "recurrence": None, "status": "pending"}
        self.workspace.put_task(session, id=made, series_id=series, content=row["content"], **due)
        return {"series_id": series, "row_id": made, "status": "pending"}

    def _delete(self, args: _Args) -> dict[str, Any]:
        rows = list(self._of(args))
        if not rows:
            raise ValueError(f"no task matched: {args['id']}")
        for session, row in rows:
            if session == self.workspace.session.name:
                raise ValueError(f"task is running; wait for it to finish before deleting: {args['id']}")
            self.workspace.remove_task(session, row["id"])
        self.workspace.logs.pop(str(rows[0][1]["series_id"]), None)
        return {"series_id": args["id"], "touched": len({session for session, _ in rows})}

    def _log(self, args: _Args) -> dict[str, Any]:
        series = str(args.get("id") or self.workspace.series)
        if not series:
            raise ValueError("--id is required (no task session to derive it from)")
        if not _ID.fullmatch(series):
            raise ValueError(f"invalid task id: {series}")
        stamp = self.workspace.log_task(series, str(args["msg"]))
        self.workspace.clock[f'"timestamp": "{stamp}"'] = '"timestamp": "<now>"'
        return {
            "series": series,
            "timestamp": stamp,
            "path": f"groups/{self.workspace.group.name}/tasks/{series}.md",
            "ok": True,
        }

    def _is_of_this_run(self, moment: str, key: str) -> None:
        """A time that was taken from this run's clock counts by what it is, not by its value."""
        local = datetime.fromisoformat(moment).astimezone(ZoneInfo(self.workspace.timezone))
        for shown in (moment, local.strftime("%Y-%m-%d %H:%M")):
            self.workspace.clock[f'"{key}": "{shown}"'] = f'"{key}": "<of this run>"'

    # What else agents look up -----------------------------------------------------------------------------------

    def _look_up(self, resource: str, verb: str, args: Mapping[str, Any]) -> Any:
        workspace = self.workspace
        if resource == "destinations":
            return workspace.destinations()
        if (resource, verb) == ("groups", "config-get"):
            return {"agent_group_id": workspace.owner, **workspace.config}
        if resource == "wirings":
            raise _RefusedError("forbidden", "Wiring not found for this conversation.")
        table, owner, columns = _LOOKED_UP[resource]
        query = f"SELECT {columns} FROM {table} WHERE {owner} = ?"  # noqa: S608 - names of ours
        found = [
            dict(zip(columns.split(", "), row, strict=True))
            for row in workspace.central(query, workspace.owner)
        ]
        if verb == "list":
            return found
        wanted = args.get("id") or workspace.owner
        for row in found:
            if wanted in (row.get("id"), row.get("user_id")):
                return row
        raise ValueError(f"{resource.rstrip('s')} not found: {wanted}")

    def _hold(self, command: str, args: Mapping[str, Any]) -> None:
        options = {name: value for name, value in args.items() if name not in ("agent_group_id", "group")}
        payload = {"frame": {"command": command, "args": dict(args)}}
        shown = "".join(f" --{name} {value}" for name, value in options.items())
        self.workspace.hold("cli_command", payload, f"CLI: {command}", f"ncl {command}{shown}")


def _flags(names: tuple[str, ...]) -> str:
    return " ".join(f"--{name.replace('_', '-')}" for name in names)


def _shown_as_is(text: str) -> dict[str, Any]:
    return {"data": text, "human": text}


def _json(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return None


def _is_on(value: Any) -> bool:
    return value in (True, "true", "1")


def _text_or_none(value: Any) -> str | None:
    text = "" if value is None else str(value)
    return None if text.strip() in ("", "null", "none") else text


def _iso(moment: datetime) -> str:
    return iso(int(moment.timestamp() * 1000))


_HEADS = ("SERIES", "SCHEDULE", "RUNS", "FAILED", "LAST RUN", "NEXT RUN", "STATUS", "AGE", "PROMPT")
_CUT = 40


def _cells(task: Mapping[str, Any], *, plain: bool) -> list[str]:
    """The cells of a task in the table that people are shown; with `plain`, without what the time of day decides."""
    now = datetime.now(UTC)
    last, following, age = "-", "-", "-"
    if task["last_run"]:
        last = "<ago>" if plain else f"{_duration(now, task['last_run'])} ago"
    if task["next_run"]:
        due = datetime.fromisoformat(task["next_run"]) <= now
        following = "due" if due else "<later>" if plain else f"in {_duration(now, task['next_run'])}"
    if task["created_at"]:
        age = "<age>" if plain else _duration(now, task["created_at"])
    prompt = " ".join(str(task["prompt"]).split())
    prompt = prompt if len(prompt) <= _CUT else f"{prompt[: _CUT - 1]}…"
    counted = (str(task["runs"]), str(task["failed_runs"]))
    return [task["series_id"], task["schedule"], *counted, last, following, task["status"], age, prompt]


def _duration(now: datetime, moment: str) -> str:
    then = datetime.fromisoformat(moment)
    seconds = abs((now - (then if then.tzinfo else then.replace(tzinfo=UTC))).total_seconds())
    for most, size, unit in ((60, 1, "s"), (3600, 60, "m"), (86400, 3600, "h")):
        if seconds < most:
            return f"{int(seconds / size + 0.5)}{unit}"
    return f"{int(seconds / 86400 + 0.5)}d"


def _aligned(rows: list[list[str]]) -> str:
    widths = [max(len(head), *(len(row[index]) for row in rows)) for index, head in enumerate(_HEADS)]
    lines = ("  ".join(map(str.ljust, cells, widths)).rstrip() for cells in (_HEADS, *rows))
    return "\n".join(lines)
