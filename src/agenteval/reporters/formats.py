"""The formats in which a stored run can be told to others: one line each. Adding one is a line here, and its module.

A module has `render(run, redactor)`: the bytes of the report, made of what the run's directory holds and of nothing
else, so that a run and a later `agenteval report` write the same. The bytes come from `sealing`.
"""

from importlib import import_module
from typing import NamedTuple, Protocol

from agenteval.redaction import Redactor
from agenteval.stored import StoredRun


class Renderer(Protocol):
    """What a format's module is."""

    def render(self, run: StoredRun, redactor: Redactor) -> bytes:
        """The report. Raises `LeakError`, `StoredRunError`, `FileError`."""


class Format(NamedTuple):
    """A format: its name is its option (`--junit-xml`), its module is imported when it is asked for."""

    name: str
    module: str
    help: str

    @property
    def renderer(self) -> Renderer:
        """The module that makes the report."""
        renderer: Renderer = import_module(f"agenteval.reporters.{self.module}")
        return renderer


FORMATS = (
    Format("junit-xml", "junit", "JUnit XML, for CI servers"),
    Format("sarif", "sarif", "SARIF 2.1.0, for code scanning"),
    Format("markdown", "markdown", "Markdown, for a comment on a pull request"),
    Format("ndjson", "ndjson", "events, one JSON object a line; a run writes them as they happen"),
    Format("tap", "tap", "TAP 14, a line per test"),
)
"""In the order in which the options are shown."""
