"""What a run took: tokens, once for each answer of the model."""

from collections.abc import Iterable
from typing import Any

KINDS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")

MOST = 1 << 40
"""No answer takes so many tokens: more is no count."""


class Usage:
    """Adds up the tokens of answers. Every line of an answer repeats its usage: the last one counts, once."""

    def __init__(self) -> None:
        self._by_answer: dict[str, dict[str, Any]] = {}
        self._ended: set[str] = set()

    @property
    def output_is_recorded(self) -> bool:
        """Whether a line of each answer says how it ended: one that had only begun does not tell its length."""
        return len(self._ended) == len(self._by_answer)

    def add(self, message: dict[str, Any]) -> None:
        """Take in one line of an answer."""
        usage = message.get("usage")
        if not isinstance(usage, dict):
            return
        name = str(message.get("id"))
        self._by_answer[name] = usage
        if message.get("stop_reason") is not None:
            self._ended.add(name)

    def total(self) -> dict[str, Any] | None:
        """Tokens by kind; None when no answer says. Output tokens are left out where they were not recorded."""
        if not self._by_answer:
            return None
        kinds = [kind for kind in KINDS if kind != "output_tokens" or self.output_is_recorded]
        return {kind: _sum(usage.get(kind) for usage in self._by_answer.values()) for kind in kinds}


def _sum(counts: Iterable[Any]) -> int:
    return sum(count for count in counts if isinstance(count, int) and 0 <= count <= MOST)
