"""What is wrong with data that does not fit a strict model, told by the path to it."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

DataPath = tuple[str | int, ...]
"""Where in the data: keys and list indices from the top."""


class Finding(NamedTuple):
    """One thing wrong with the data, at `path` (keys and list indices from the top).

    `message` says what, and `sentence` also where. `at_key` says that the key itself is at fault, not its
    value; `name` is the key that is unknown or missing, `next_step` what to do where that is known.
    """

    code: Literal["unknown_key", "missing_key", "wrong_type", "wrong_value"]
    path: DataPath
    message: str
    allowed: Sequence[str] = ()
    suggestion: str | None = None
    at_key: bool = False
    name: str = ""
    next_step: str = ""

    @property
    def sentence(self) -> str:
        """The message with the place in words, such as `scenario.group_id: expected a string …`."""
        if not self.name:
            return f"{dotted(self.path)}: {self.message}" if self.path else self.message
        owner = self.path[:-1] if self.code == "unknown_key" else self.path
        return f"{self.message} in {dotted(owner)}" if owner else self.message


def dotted(path: DataPath) -> str:
    """A path as people write it: `scenario.input_messages[0].role`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


class Invalid(Exception):  # noqa: N818 - what it is, not what it does
    """The data does not fit the model; `findings` says everything that is wrong, in document order."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__("; ".join(finding.message for finding in findings))
        self.findings = list(findings)


class WrongPart(ValueError):  # noqa: N818 - what it is, not what it does
    """One part of a model's data breaks a rule; `path` leads to it from the model."""

    def __init__(self, message: str, *path: str | int) -> None:
        super().__init__(message)
        self.path = path


def describe(value: Any) -> str:
    """A value as an error message names it: its kind, and itself when that is short."""
    match value:
        case None:
            return "nothing (null)"
        case bool():
            return f"the boolean {str(value).lower()}"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"{value!r}" if len(value) <= 60 else f"a string of {len(value)} characters"
        case list():
            return "an empty list" if not value else "a list"
        case _:
            return "a mapping"
