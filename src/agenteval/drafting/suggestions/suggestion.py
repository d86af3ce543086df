"""One suggested assertion."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True, kw_only=True)
class Suggestion:
    """An assertion, why it is suggested, and what about it a person has to decide."""

    id: str
    type: str
    why: str
    params: dict[str, Any] = field(default_factory=dict)
    decide: str = ""
    """What a person must settle; empty when it can stand as it is."""
    severity: str = "critical"
    telling: bool = False
    """Whether a run that does not pass it shows something that a person should know."""
    instead: "list[Suggestion]" = field(default_factory=list)
    """Weaker ones, of which the first that passes is taken when this one does not."""
    excepting: "Suggestion | None" = None
    """The same but for named exceptions: taken, if it passes, when none of the others does, which is told all the same."""

    def as_data(self) -> dict[str, Any]:
        """The entry of `assertions`."""
        data: dict[str, Any] = {"id": self.id, "type": self.type}
        if self.severity != "critical":
            data["severity"] = self.severity
        if self.params:
            data["params"] = self.params
        return data
