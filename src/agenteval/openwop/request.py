"""What a command line asks of an AgentEvalSuite."""

from dataclasses import dataclass
from pathlib import Path
from shlex import quote


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class SuiteRequest:
    """The options of `agenteval run` for a suite; empty or None where they are not given.

    `replays` is the folder of recordings, `modes` are names with commas between, and `baseline` is the option that
    asks for a comparison.
    """

    replays: Path | None = None
    modes: str = ""
    agent_id: str = ""
    model_class: str = ""
    judge: str = ""
    pass_score: float | None = None
    baseline: str = ""

    @property
    def mode_names(self) -> list[str]:
        """The modes one by one."""
        return [mode.strip() for mode in self.modes.split(",") if mode.strip()]

    def given(self) -> list[str]:
        """The given options that only mean something for a suite."""
        return list(self._named())

    def words(self) -> str:
        """The same with their values, quoted for a shell."""
        return "".join(f" {option} {quote(str(value))}" for option, value in self._named().items())

    def _named(self) -> dict[str, Path | str]:
        named: dict[str, Path | str | None] = {
            "--replays": self.replays,
            "--modes": self.modes,
            "--agent-id": self.agent_id,
            "--model-class": self.model_class,
            "--judge": self.judge,
        }
        return {option: value for option, value in named.items() if value}
