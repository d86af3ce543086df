"""The report's page put into its templates: escaped by the engine, and locked by a policy that lets nothing else run."""

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from typing import Any

from agenteval.errors import AgentEvalError
from agenteval.reporters.html.page import CHANGES, CHECK_WORDS, KINDS, Page
from agenteval.reporters.html.texts import counted, visible
from agenteval.stored import StoredRun

_PACKAGE = "agenteval.reporters.html"


class MissingExtraError(AgentEvalError):
    """The package that HTML reports need is not installed (exit 2)."""

    default_reason = "html.extra_missing"


def render(run: StoredRun, baseline: StoredRun | None = None) -> Iterator[bytes]:
    """The report of a run, piece by piece, as UTF-8; with a baseline, both side by side.

    What the run did not keep is said to be missing: without traces there are the excerpts of the evidence.
    Raises `MissingExtraError`, `StoredRunError`, `FileError`.
    """
    template = _environment().get_template("report.html.jinja")
    style, script = (
        files(_PACKAGE).joinpath(name).read_text("utf-8") for name in ("report.css", "report.js")
    )
    page = Page(run, baseline)
    stream = template.stream(page=page, style=style, script=script, policy=_policy(style, script))
    stream.enable_buffering(64)
    return (piece.encode("utf-8", "backslashreplace") for piece in stream)


def _environment() -> Any:
    try:
        import jinja2
    except ImportError as error:
        raise MissingExtraError(
            "HTML reports need the package jinja2, which is not installed",
            next_step="pip install 'agenteval[html]'",
        ) from error
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("agenteval", "reporters/html"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=visible,  # whatever is put into the page passes through it
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(KINDS=KINDS, CHANGES=CHANGES, CHECK_WORDS=CHECK_WORDS)
    environment.filters["count"] = counted
    return environment


def _policy(style: str, script: str) -> str:
    """The Content-Security-Policy: our one style sheet and our one script by their digests, and nothing else at all."""
    digests = [b64encode(sha256(each.encode()).digest()).decode() for each in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )
