"""The errors of agenteval, each with its exit code.

A failing test is not an error: it is a result. An error keeps a test from being judged. Each has a stable
`reason_code`, advice (`next_step`) and, where one is known, a place in a file.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path
from typing import Any, ClassVar, Literal


class ExitCode(IntEnum):
    """The exit codes of the process (SPEC 17); the highest of those that occurred wins."""

    PASSED = 0
    FAILED = 1
    ERROR = 2
    INVALID = 3


@dataclass(slots=True, kw_only=True)
class Problem:
    """One located finding in a file: what is wrong, where, and what to do.

    `line` and `column` count from 1; None means "the file as a whole". `pointer` is a JSON pointer into the
    document. `span` is the length in characters of what is wrong. `excerpt` holds numbered lines, the last of
    which the caret underlines: `caret` is the number of cells before it and its width, when they are not
    `column - 1` and `span`. `allowed` lists the permitted names.
    """

    reason_code: str
    message: str
    path: Path | None = None
    pointer: str = ""
    line: int | None = None
    column: int | None = None
    span: int = 1
    excerpt: Sequence[tuple[int, str]] = ()
    caret: tuple[int, int] | None = None
    hint: str = ""
    allowed: Sequence[str] = ()
    next_step: str = ""
    severity: Literal["error", "warning"] = "error"

    @property
    def location(self) -> str:
        """`file:line:column`, as far as they are known."""
        parts = [str(self.path)] if self.path else []
        parts += [str(number) for number in (self.line, self.column) if number is not None]
        return ":".join(parts)

    @property
    def advice(self) -> str:
        """The next step, on one line, for a reader who sees no excerpt; empty when the message is enough."""
        if self.hint or not self.allowed:
            return "; ".join(filter(None, (self.hint, self.next_step))).replace("?; ", "? ")
        names = ", ".join(self.allowed)
        if self.next_step:
            return f"{self.next_step} (allowed: {names})"
        return f"write one of: {names}" if len(self.allowed) > 1 else f"write {names}"

    def render(self) -> str:
        """The problem as the command line shows it: location, message, excerpt with caret, JSON pointer, allowed names.

        Only JSON gets the pointer: machines write it in long lines and without comments, where a line helps little.
        """
        place = f"{self.location}: " if self.location else ""
        lines = [f"{place}{self.severity}[{self.reason_code}]: {self.message}"]
        width = max((len(str(number)) for number, _ in self.excerpt), default=0) + 3
        for number, text in self.excerpt:
            lines.append(f"{number:>{width}} | {text}".rstrip())
            if number == self.line and self.column is not None:
                before, length = self.caret or (self.column - 1, max(self.span, 1))
                lines.append(f"{'':>{width}} | {' ' * before}{'^' * length} {self.hint}".rstrip())
        if self.hint and not self.excerpt:
            lines.append(f"   {self.hint}")
        if self.pointer and self.path and self.path.suffix == ".json":
            lines.append(f"   at: {self.pointer if self.pointer.isprintable() else repr(self.pointer)}")
        if self.allowed:
            lines.append(f"   allowed: {', '.join(self.allowed)}")
        if self.next_step:
            lines.append(f"   next: {self.next_step}")
        return "\n".join(lines)


class AgentEvalError(Exception):
    """Base of all errors this package raises on purpose."""

    exit_code: ExitCode = ExitCode.ERROR
    default_reason: ClassVar[str] = "internal.error"
    problems: Sequence[Problem] = ()
    """The problems of a file, of which the message is made."""

    def __init__(self, message: str, *, reason_code: str = "", next_step: str = "") -> None:
        super().__init__(message)
        self.message = str(message)
        self.reason_code = reason_code or self.default_reason
        self.next_step = next_step

    def render(self) -> str:
        """The error as the command line shows it."""
        if self.problems:
            return self.message
        text = f"error[{self.reason_code}]: {self.message}"
        return f"{text}\n  next: {self.next_step}" if self.next_step else text


class UsageError(AgentEvalError):
    """A command line or a configuration that asks for something impossible (exit 2)."""

    default_reason = "usage.invalid"


class ClusterError(AgentEvalError):
    """A cluster that was lost while it worked (exit 2)."""

    default_reason = "cluster.lost"


class FileError(AgentEvalError):
    """A file that is not what it should be: all its problems, together."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        first = problems[0]
        super().__init__(
            "\n".join(problem.render() for problem in problems),
            reason_code=first.reason_code,
            next_step=first.next_step,
        )
        self.problems: list[Problem] = list(problems)

    def advising(self, step: str) -> "FileError":
        """The same error, with this next step for problems that have none."""
        return type(self)([replace(each, next_step=each.next_step or step) for each in self.problems])


class SpecError(FileError):
    """An invalid test spec or configuration file (exit 3)."""

    exit_code = ExitCode.INVALID


class AdapterError(AgentEvalError):
    """An adapter that cannot turn its input into a trace (exit 2).

    `problems` locates what is wrong inside the adapter's own files, when a file is wrong. `inputs` is the data that
    the message may quote: values of it that the author redacts are left out of the message. `where` is the path to
    what it is about in the test file, or with `at_key` to the value under that key; empty when it is nothing there.
    """

    default_reason = "adapter.failed"

    def __init__(
        self,
        message: str,
        *,
        reason_code: str = "",
        next_step: str = "",
        problems: Sequence[Problem] = (),
        inputs: Sequence[Any] = (),
        where: Sequence[str | int] = ("adapter_input",),
        at_key: bool = False,
    ) -> None:
        super().__init__(message, reason_code=reason_code, next_step=next_step)
        self.problems: list[Problem] = list(problems)
        self.inputs = list(inputs)
        self.where = tuple(where)
        self.at_key = at_key

    @classmethod
    def of(cls, problems: Sequence[Problem]) -> "AdapterError":
        """An adapter error made of the problems of one file."""
        text = "\n".join(problem.render() for problem in problems)
        first = problems[0]
        return cls(text, reason_code=first.reason_code, next_step=first.next_step, problems=problems)


class PluginError(AgentEvalError):
    """A plugin that cannot be used: it does not load, or breaks the contract (exit 2; in a test file, exit 3)."""

    default_reason = "plugin.broken"


class AssertionCrashError(AgentEvalError):
    """A check that could not come to a verdict: the test ends in `error`, never in `fail`."""

    default_reason = "assertion.crashed"


def saying(error: BaseException) -> str:
    """The text of an exception, or a substitute where the `__str__` of foreign code raises."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001
        return "an exception that cannot be shown"
