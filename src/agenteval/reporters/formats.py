"""The formats in which a stored run can be told to others: one line each. Adding one is a line here, and its module.

A module has `render(run, redactor)`: the bytes of the report, made of what the run's directory holds and of nothing
else, so that a run and a later `agenteval report` write the same. The bytes come from `sealing`.
"""

from importlib import import_module
<<<<<<< HEAD
from importlib.util import find_spec
from typing import NamedTuple, Protocol

from agenteval.errors import AgentEvalError
from agenteval.redaction import Redactor
from agenteval.stored import StoredRun


class MissingExtraError(AgentEvalError):
    """A report needs a package that is not installed (exit 2)."""

    default_reason = "report.extra_missing"


class Renderer(Protocol):
    """What a format's module is."""

    def render(self, run: StoredRun, redactor: Redactor, **compared: StoredRun | None) -> bytes:
        """The report; `compared` is the `baseline` of a format that compares. Raises `LeakError`, `StoredRunError`, `FileError`."""
=======
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from agenteval.redaction import Redactor
    from agenteval.stored import StoredRun
>>>>>>> reports


class Format(NamedTuple):
    """A format: its name is its option (`--junit-xml`), its module is imported when it is asked for.

    `needs` is a package that only the extra of the format's name installs. `of_traces` says that it shows the traces,
    and that a run keeps them for it; `compares`, that its `render` takes another run, as `baseline`.
    """

    name: str
    module: str
    help: str
    needs: str = ""
    of_traces: bool = False
    compares: bool = False

    def check(self) -> None:
        """Raises `MissingExtraError` when the package that it needs is not there."""
        if self.needs and find_spec(self.needs) is None:
            raise MissingExtraError(
                f"--{self.name} needs the package {self.needs}, which is not installed",
                next_step=f"pip install 'agenteval[{self.name}]'",
            )

    def render(self, run: "StoredRun", redactor: "Redactor") -> bytes:
        """The report. Raises `LeakError`, `StoredRunError`, `FileError`."""
        content: bytes = import_module(f"agenteval.reporters.{self.module}").render(run, redactor)
        return content


FORMATS = (
    Format("junit-xml", "junit", "JUnit XML, for CI servers"),
    Format("sarif", "sarif", "SARIF 2.1.0, for code scanning"),
    Format("markdown", "markdown", "Markdown, for a comment on a pull request"),
    Format("ndjson", "ndjson", "events, one JSON object a line; a run writes them as they happen"),
    Format("tap", "tap", "TAP 14, a line per test"),
    Format("html", "html", "one HTML file, for reading", needs="jinja2", of_traces=True, compares=True),
)
"""In the order in which the options are shown."""
