"""The formats of reports, one line each. To add one takes a line here, and its module.

A module has `render(run, redactor)`, which returns the report as bytes from `sealing`. It uses only what the run's
directory holds, so that a run and a later `agenteval report` write the same.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from agenteval.contracts.errors import AgentEvalError

if TYPE_CHECKING:
    from agenteval.judging.stored import StoredRun
    from agenteval.redaction.redactor import Redactor


class MissingExtraError(AgentEvalError):
    """A report needs a package that is not installed (exit 2)."""

    default_reason = "report.extra_missing"


class Format(NamedTuple):
    """A format: its name is its option (`--junit-xml`); its module is imported when it is asked for.

    `needs` is a package that only the extra of the format's name installs. `of_traces`: it shows traces, so that a run
    keeps them.
    """

    name: str
    module: str
    help: str
    needs: str = ""
    of_traces: bool = False

    def check(self) -> None:
        """Check that the package it needs is there. Raises `MissingExtraError`."""
        if self.needs and find_spec(self.needs) is None:
            raise MissingExtraError(
                f"--{self.name} needs the package {self.needs}, which is not installed",
                next_step=f"pip install 'agenteval[{self.name}]'",
            )

    def render(self, run: "StoredRun", redactor: "Redactor") -> bytes:
        """Render the report. Raises `LeakError`, `StoredRunError`, `FileError`."""
        content: bytes = import_module(f"agenteval.reporters.{self.module}").render(run, redactor)
        return content


FORMATS = (
    Format("junit-xml", "junit", "JUnit XML, for CI servers"),
    Format("sarif", "sarif", "SARIF 2.1.0, for code scanning"),
    Format("markdown", "markdown", "Markdown, for a comment on a pull request"),
    Format("ndjson", "ndjson", "events, one JSON object per line; a run writes them as they happen"),
    Format("html", "html", "one self-contained HTML file", needs="jinja2", of_traces=True),
)
"""All formats, in the order in which the options are shown."""
