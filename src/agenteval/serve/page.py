"""The page for people at `/`: the runs of their tenant, and the scorecard of each. Works without JavaScript."""

from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from fastapi import FastAPI
from starlette.responses import HTMLResponse, Response

from agenteval.reading.documents import read_bytes
from agenteval.serve.host import Host, Who
from agenteval.serve.store import TERMINAL
from agenteval.serve.wire import HostError, in_path

_SHOWN = 100
_POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'"
_MARKS = {"completed": "✓", "failed": "✗", "cancelled": "-", "running": "…", "pending": "·"}


def add_pages(app: FastAPI, host: Host) -> None:
    """Add the page, a page for each run, and their two files."""

    @app.get("/", include_in_schema=False)
    def runs(asked: Who) -> Response:
        """The newest runs."""
        page = host.page(asked, limit=_SHOWN)
        rows = "".join(map(_row, page["runs"]))
        body = (
            "<div class=scroll><table><caption>Newest first</caption><thead><tr><th scope=col>Run"
            "<th scope=col>Status<th scope=col>Suite<th scope=col>Asked for</thead>"
            f"<tbody>{rows}</tbody></table></div>"
            if rows
            else "<p>No runs yet. Ask for one: <code>POST /runs</code>."
        )
        live = any(run["status"] not in TERMINAL for run in page["runs"])
        return _page("Runs", body, live=live)

    @app.get("/page/runs/{run_id}", include_in_schema=False)
    def run(asked: Who, run_id: str) -> Response:
        """One run: its status, and its scorecard once it has ended."""
        found = host.run(asked, run_id)
        snapshot = host.snapshot(found, 2)
        facts = {
            "Status": _status(snapshot["status"]),
            "Suite": escape(snapshot["workflowId"]),
            "Agent": escape(str(found.asked.get("agentId", ""))),
            "Asked for": _time(snapshot["createdAt"]),
        }
        if found.summary:
            summary = host.summary(asked, run_id)
            facts["Score"] = (
                f"{summary['aggregateScore']:.3g}: {'passed' if summary['passed'] else 'not passed'}"
            )
            if regression := summary.get("regression"):
                facts["Against the baseline"] = f"{regression['scoreDelta']:+.3g}"
        if found.error:
            facts["Error"] = escape(f"{found.error['code']}: {found.error['message']}")
        body = "<dl>" + "".join(f"<dt>{name}<dd>{value}" for name, value in facts.items()) + "</dl>"
        body += _tasks(host.store.scored(found.id))
        body += _links(_kept(host, found.id), snapshot["runId"])
        body += '<p><a href="/">All runs</a>'
        return _page(f"Run {found.id}", body, live=snapshot["status"] not in TERMINAL)

    @app.get("/page/runs/{run_id}/files/{name}", include_in_schema=False)
    def file(asked: Who, run_id: str, name: str) -> Response:
        """Return a file of a run, redacted as it was written. Unlike all other answers it has the agent's words."""
        found = host.run(asked, run_id)
        if name not in _kept(host, found.id):
            raise HostError("not_found", "there is no such file")
        content = read_bytes(host.catalogue.project.runs / found.id / name)
        return Response(content, media_type="application/json", headers={"Content-Security-Policy": _POLICY})

    for name, kind in (("page.css", "text/css"), ("page.js", "text/javascript")):
        app.add_api_route(f"/page/{name}", _file(name, kind), include_in_schema=False)


def _kept(host: Host, run_id: str) -> list[str]:
    """List the names of a run's files on this machine. A link could lead out of the folder, so links are left out."""
    folder = host.catalogue.project.runs / run_id
    return sorted(each.name for each in folder.glob("*.json") if each.is_file() and not each.is_symlink())


def _file(name: str, kind: str) -> Any:
    text = files("agenteval.serve").joinpath(name).read_text("utf-8")

    def answer() -> Response:
        return Response(text, media_type=kind)

    return answer


def _row(run: dict[str, Any]) -> str:
    link = f'<a href="/page/runs/{in_path(run["runId"])}">{escape(run["runId"].rpartition("/")[2][:12])}</a>'
    return f"<tr><th scope=row>{link}<td>{_status(run['status'])}<td>{escape(run['workflowId'])}<td>{_time(run['createdAt'])}"


def _tasks(scored: Sequence[Mapping[str, Any] | None]) -> str:
    """Render the table of the tasks that have a score; others could not be judged."""
    rows = "".join(_task(each["task"]) for each in scored if each and "task" in each)
    if not rows:
        return "<p>No task has been scored yet."
    return (
        "<div class=scroll><table><caption>Tasks</caption><thead><tr><th scope=col>Task<th scope=col>Score"
        f"<th scope=col>Passed<th scope=col>Findings</thead><tbody>{rows}</tbody></table></div>"
    )


def _links(names: Sequence[str], run_id: str) -> str:
    """Render links to a run's files; nothing if another machine has them."""
    links = "".join(
        f'<li><a href="/page/runs/{in_path(run_id)}/files/{in_path(name)}">{escape(name)}</a>'
        for name in names
    )
    summary = "Files: what the agent did, and why it was judged so"
    return f"<details><summary>{summary}</summary><ul>{links}</ul></details>" if links else ""


def _task(task: Mapping[str, Any]) -> str:
    findings = ", ".join(f"{each['kind']} ({each['severity']})" for each in task.get("safetyFindings", ()))
    passed = "✓ yes" if task["passed"] else "✗ no"
    return (
        f"<tr><th scope=row>{escape(task['taskId'])}<td>{task['score']:.3g}<td>{passed}<td>{escape(findings)}"
    )


def _status(status: str) -> str:
    return f'<span class="status {status}"><span aria-hidden=true>{_MARKS[status]}</span> {status}</span>'


def _time(at: str) -> str:
    return f"<time datetime={at}>{at[:19].replace('T', ' ')}</time>"


def _page(title: str, body: str, *, live: bool) -> Response:
    """Render a page; a live one reloads itself while a run goes on."""
    script = '<script src="/page/page.js" defer></script>' if live else ""
    text = (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(title)} · agenteval</title>"
        '<meta name=viewport content="width=device-width,initial-scale=1">'
        f'<link rel=stylesheet href="/page/page.css">{script}'
        f"<header><p>agenteval: OpenWOP eval host</header><main><h1>{escape(title)}</h1>{body}</main></html>"
    )
    return HTMLResponse(text, headers={"Content-Security-Policy": _POLICY, "Cache-Control": "no-store"})
