"""Puts the page into its templates: escaped by the engine, under a policy that lets no other script or style in."""

from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from agenteval.mutation.results import MutationReport, percent
from agenteval.plurals import grouped
from agenteval.redaction import Redactor
from agenteval.reporters.html.page import CHANGES, CHECK_WORDS, KINDS, SHOWN_REMARKS, Page
from agenteval.reporters.html.texts import shortened
from agenteval.reporters.sealing import sealed_text
from agenteval.stored import StoredRun

_PACKAGE = "agenteval.reporters.html"


def render(run: StoredRun, redactor: Redactor, baseline: StoredRun | None = None) -> bytes:
    """The report of a run, in UTF-8; with a baseline, what differs side by side.

    Without traces it shows the excerpts of the evidence, and says that traces are missing.
    Raises `LeakError`, `StoredRunError`, `FileError`.
    """
    style, script = (files(_PACKAGE).joinpath(name).read_text("utf-8") for name in ("style.css", "script.js"))
    template = _environment(redactor).get_template("report.html.jinja")
    page = Page(run, baseline)
    content: str = template.render(page=page, style=style, script=script, policy=_policy(style, script))
    return content.encode()


def render_mutants(report: MutationReport, redactor: Redactor) -> bytes:
    """The report of mutation testing, in UTF-8: survivors first, each with what to add. It has no script.

    Raises `LeakError`.
    """
    style = files(_PACKAGE).joinpath("style.css").read_text("utf-8")
    template = _environment(redactor).get_template("mutants.html.jinja")
    content: str = template.render(report=report, style=style, policy=_policy(style))
    return content.encode()


def _environment(redactor: Redactor) -> Any:
    import jinja2

    @lru_cache(4096)  # names, ids and words of our own come by thousands of times
    def written(text: str) -> str:
        return sealed_text(text, redactor).decode()

    def put(value: Any) -> Any:
        """What replaces a value in the page: every text passes through here before it is escaped."""
        return written(value) if type(value) is str else value

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("agenteval", "reporters/html"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=put,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        KINDS=KINDS, CHANGES=CHANGES, CHECK_WORDS=CHECK_WORDS, SHOWN_REMARKS=SHOWN_REMARKS
    )
    environment.filters.update(count=grouped, percent=percent, shortened=shortened)
    return environment


def _policy(style: str, script: str = "") -> str:
    """The Content-Security-Policy: our style sheet and our script by their digests, and nothing else."""
    digests = [b64encode(sha256(each.encode()).digest()).decode() for each in (style, script)]
    scripts = f"script-src 'sha256-{digests[1]}'; " if script else ""
    return (
        f"default-src 'none'; style-src 'sha256-{digests[0]}'; {scripts}base-uri 'none'; form-action 'none'"
    )
